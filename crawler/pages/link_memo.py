"""What a URL takes along from the page that led to it, so that its own page is judged with that knowledge.

At most 16 bytes in the memo of a page's first lease: how many irrelevant pages lie between it and the last relevant
one, the policy's bucket of the link and, of a new item of a feed, when it was published. A memo that a revisit left is
longer, so the two are never mistaken.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal, NamedTuple

from frontier.payload import REQUISITE_MARK

Dated = Literal["", "day", "time"]
"""How far an instant tells when something was published: to the second, its day, or not at all."""
_LONGEST = 16
"""What a date leaves of it is as long as a policy's bucket may be."""
OWN_MARK = b"\xff\xff!"
"""Begins the memo of a spider's own request (crawler/pages/own_requests.py); no link's bucket begins like this."""
_DATED = 0xF8  # no byte of a bucket, which is ASCII; below it the bits of what the date is worth
_COUNTED = 0x01
_WORTH: tuple[Dated, ...] = ("", "day", "time", "")  # the last in 0xFF, as memos had it that did not say it


class LinkMemo(NamedTuple):
    """`since_relevant` and `bucket` as in :class:`relevance.PageContext`; `published_s`: 0 = not known; `dated`: what
    it is worth; `counted`: the time from then to the fetch tells how soon the feed is followed (of what its first poll
    found it does not)."""

    since_relevant: int = 0
    bucket: str = ""
    published_s: int = 0
    dated: Dated = ""
    counted: bool = False

    @property
    def published(self) -> str:
        """When the feed says that its item was published, ISO 8601: the second in UTC, or the day; "" = not known."""
        if not (self.published_s and self.dated):
            return ""
        when = datetime.fromtimestamp(self.published_s, UTC)
        return f"{when:%Y-%m-%dT%H:%M:%SZ}" if self.dated == "time" else f"{when:%Y-%m-%d}"

    def pack(self) -> bytes:
        """ValueError when the bucket is longer than a policy's may be."""
        mark = bytes((_DATED | _WORTH.index(self.dated) << 1 | self.counted,))
        dated = mark + self.published_s.to_bytes(4, "big") if 0 < self.published_s < 1 << 32 else b""
        packed = bytes((min(self.since_relevant, 255),)) + dated + self.bucket.encode("ascii")
        if len(packed) > _LONGEST:
            raise ValueError(f"bucket {self.bucket!r} is longer than {_LONGEST - 1 - len(dated)} characters")
        return packed


NO_LINK = LinkMemo()


def read_link_memo(memo: bytes) -> LinkMemo | None:
    """The memo of a first lease (of a seed, feed entry or spider's request: :data:`NO_LINK`); None when the page was
    fetched before, and of what is no page but embedded in one."""
    if not memo or memo.startswith(OWN_MARK):
        return NO_LINK
    if len(memo) > _LONGEST or memo.startswith(REQUISITE_MARK):
        return None
    mark = memo[1] if len(memo) > 5 else 0
    if mark < _DATED:
        return LinkMemo(memo[0], memo[1:].decode("ascii", "replace"))
    published_s, bucket = int.from_bytes(memo[2:6], "big"), memo[6:].decode("ascii", "replace")
    return LinkMemo(memo[0], bucket, published_s, _WORTH[mark >> 1 & 3], bool(mark & _COUNTED))
