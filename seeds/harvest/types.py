"""What a poll asks for, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from seeds.feeds.types import FeedEntry


@dataclass(frozen=True, slots=True)
class PollRequest:
    """What to send for a lease: `url` may be an older page on the same host; it must pass robots.txt by itself."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FollowUp:
    """An address to take up: kind feed, sitemap (both recurring, by way of the sieve). `memo`: for its first poll."""

    url: str
    kind: str
    reason: str
    memo: bytes = b""


@dataclass(frozen=True, slots=True)
class PollWarning:
    """Something a person should know: gap, gap_open, gap_closed, gone, moved, refused, failing, memo_lost,
    over_limit."""

    reason: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class PollStats:
    """Additive counts of one poll; `delay_s` is the sum over `dated` new items of publication to discovery,
    `fetch_delay_s` that over `fetched` items of publication to the fetch of their pages; `left_out`: pages named beyond
    the limit of a sitemap, or sitemaps beyond that of an index, when that was told."""

    polls: int = 0
    unchanged: int = 0
    new_items: int = 0
    gaps: int = 0
    missed: int = 0
    recovered: int = 0
    errors: int = 0
    pages_back: int = 0
    dated: int = 0
    delay_s: int = 0
    fetched: int = 0
    fetch_delay_s: int = 0
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class PollResult:
    """What came of a poll. `again_in_ms` None: never again (the feed is gone or has moved)."""

    memo: bytes
    again_in_ms: int | None
    new_items: tuple[FeedEntry, ...] = ()
    follow_ups: tuple[FollowUp, ...] = ()
    warnings: tuple[PollWarning, ...] = ()
    stats: PollStats = PollStats()
