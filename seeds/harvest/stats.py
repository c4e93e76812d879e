"""What a harvest did, per feed and day, kept as additive counters that any number of processes add to.

A counter's name is `harvest:YYYY-MM-DD` (UTC), its key the feed's address, its value the figures of `PollStats` in
order. The last `KEPT_DAYS` days are kept. `rows` makes them the table and JSON of `scrapy harvest status`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass, fields
from datetime import UTC, datetime
from itertools import zip_longest

from seeds.harvest.types import PollStats

__all__ = [
    "HarvestRow",
    "as_counts",
    "counter_name",
    "duration",
    "from_counts",
    "rows",
    "stale_names",
    "table",
    "together",
]

KEPT_DAYS = 62
_FORGOTTEN_DAYS = 366  # looked for behind them: a crawl may have stood still for so long
_DAY_MS = 86_400_000
_FIELDS = tuple(part.name for part in fields(PollStats))


@dataclass(frozen=True, slots=True)
class HarvestRow:
    """One feed over the days asked for; `delay_s` is the mean time from publication to discovery, `fetch_delay_s` to
    the fetch of the item's page, None if unknown."""

    feed: str
    stats: PollStats
    delay_s: float | None
    fetch_delay_s: float | None = None


def counter_name(now_ms: int) -> str:
    """The counters of the day."""
    return f"harvest:{datetime.fromtimestamp(now_ms / 1000, UTC):%Y-%m-%d}"


def stale_names(now_ms: int) -> list[str]:
    """The counters of days that are kept no more."""
    return [counter_name(now_ms - back * _DAY_MS) for back in range(KEPT_DAYS, KEPT_DAYS + _FORGOTTEN_DAYS)]


def as_counts(url: str, stats: PollStats) -> dict[str, tuple[int, ...]]:
    """What to add to the day's counters for one poll."""
    return {url: astuple(stats)}


def together(counts: Iterable[Mapping[str, tuple[int, ...]]]) -> dict[str, tuple[int, ...]]:
    """Counts of several polls as one, to be added at once."""
    sums: dict[str, tuple[int, ...]] = {}
    for some in counts:
        for feed, figures in some.items():
            sums[feed] = tuple(map(sum, zip_longest(sums.get(feed, ()), figures, fillvalue=0)))
    return sums


def from_counts(counts: tuple[int, ...]) -> PollStats:
    """The figures in a counter; of an older, shorter one the missing are 0."""
    return PollStats(**dict(zip(_FIELDS, counts, strict=False)))


def rows(days: Iterable[Mapping[str, tuple[int, ...]]]) -> list[HarvestRow]:
    """The days together, a row a feed, those with the most new items first."""
    found = []
    for feed, total in together(days).items():
        stats = from_counts(total)
        found.append(
            HarvestRow(feed, stats, _mean(stats.delay_s, stats.dated), _mean(stats.fetch_delay_s, stats.fetched))
        )
    return sorted(found, key=lambda row: (-row.stats.new_items, row.feed))


def table(found: Iterable[HarvestRow]) -> list[tuple[str, ...]]:
    """Heading and lines as text, for a table."""
    lines: list[tuple[str, ...]] = [
        ("feed", "polls", "unchanged", "new", "gaps", "missed", "recovered", "errors", "delay", "fetched after")
    ]
    for row in found:
        figures = row.stats
        delays = ["" if delay is None else duration(delay) for delay in (row.delay_s, row.fetch_delay_s)]
        counts = (figures.polls, figures.unchanged, figures.new_items, figures.gaps, figures.missed, figures.recovered)
        lines.append((row.feed, *map(str, counts), str(figures.errors), *delays))
    return lines


def _mean(total: int, count: int) -> float | None:
    return total / count if count else None


def duration(seconds: float) -> str:
    """A span of time for people."""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"
