"""What a URL takes along from the page that led to it, so that its own page is judged with that knowledge.

At most 12 bytes in the memo of a page's first lease: how many irrelevant pages lie between it and the last relevant
one, and the policy's bucket of the link. A memo that a revisit left is longer, so the two are never mistaken.
"""

from __future__ import annotations

from typing import NamedTuple

_LONGEST = 12


class LinkMemo(NamedTuple):
    """`since_relevant` and `bucket` as in :class:`relevance.policy.PageContext`."""

    since_relevant: int = 0
    bucket: str = ""

    def pack(self) -> bytes:
        """ValueError when the bucket is longer than a policy's may be."""
        packed = bytes((min(self.since_relevant, 255),)) + self.bucket.encode("ascii")
        if len(packed) > _LONGEST:
            raise ValueError(f"bucket {self.bucket!r} is longer than {_LONGEST - 1} characters")
        return packed


NO_LINK = LinkMemo()


def read_link_memo(memo: bytes) -> LinkMemo | None:
    """The memo of a first lease (of a seed or feed entry: :data:`NO_LINK`); None when the page was fetched before."""
    if not memo:
        return NO_LINK
    return LinkMemo(memo[0], memo[1:].decode("ascii", "replace")) if len(memo) <= _LONGEST else None
