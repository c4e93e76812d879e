"""What a URL takes along from the page that led to it, so that its own page is judged with that knowledge.

At most 12 bytes in the memo of a page's first lease: how many irrelevant pages lie between it and the last relevant
one, the policy's bucket of the link and, of a new item of a feed, when it was published. A memo that a revisit left is
longer, so the two are never mistaken.
"""

from __future__ import annotations

from typing import NamedTuple

_LONGEST = 12
OWN_MARK = b"\xff\xff!"
"""Begins the memo of a spider's own request (crawler/pages/own_requests.py); no link's bucket begins like this."""
_DATED = 0xFF  # no byte of a bucket, which is ASCII


class LinkMemo(NamedTuple):
    """`since_relevant` and `bucket` as in :class:`relevance.PageContext`; `published_s`: 0 = not known."""

    since_relevant: int = 0
    bucket: str = ""
    published_s: int = 0

    def pack(self) -> bytes:
        """ValueError when the bucket is longer than a policy's may be."""
        dated = bytes((_DATED,)) + self.published_s.to_bytes(4, "big") if 0 < self.published_s < 1 << 32 else b""
        packed = bytes((min(self.since_relevant, 255),)) + dated + self.bucket.encode("ascii")
        if len(packed) > _LONGEST:
            raise ValueError(f"bucket {self.bucket!r} is longer than {_LONGEST - 1 - len(dated)} characters")
        return packed


NO_LINK = LinkMemo()


def read_link_memo(memo: bytes) -> LinkMemo | None:
    """The memo of a first lease (of a seed, feed entry or spider's request: :data:`NO_LINK`); None when the page was
    fetched before."""
    if not memo or memo.startswith(OWN_MARK):
        return NO_LINK
    if len(memo) > _LONGEST:
        return None
    dated = memo[1:2] == bytes((_DATED,))
    published_s = int.from_bytes(memo[2:6], "big") if dated else 0
    return LinkMemo(memo[0], memo[6 if dated else 1 :].decode("ascii", "replace"), published_s)
