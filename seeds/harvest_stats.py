"""What a harvest did, per feed and day, kept as additive counters that any number of processes add to.

A counter's name is `harvest:YYYY-MM-DD` (UTC), its key the feed's address, its value the figures of `PollStats` in
order. `rows` makes them the table and JSON of `scrapy harvest status`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass, fields
from datetime import UTC, datetime

from seeds.harvest import PollStats

__all__ = ["HarvestRow", "as_counts", "counter_name", "from_counts", "rows", "table"]

_FIELDS = tuple(part.name for part in fields(PollStats))


@dataclass(frozen=True, slots=True)
class HarvestRow:
    """One feed over the days asked for; `delay_s` is the mean time from publication to discovery, None if unknown."""

    feed: str
    stats: PollStats
    delay_s: float | None


def counter_name(now_ms: int) -> str:
    """The counters of the day."""
    return f"harvest:{datetime.fromtimestamp(now_ms / 1000, UTC):%Y-%m-%d}"


def as_counts(url: str, stats: PollStats) -> dict[str, tuple[int, ...]]:
    """What to add to the day's counters for one poll."""
    return {url: astuple(stats)}


def from_counts(counts: tuple[int, ...]) -> PollStats:
    """The figures in a counter; of an older, shorter one the missing are 0."""
    return PollStats(**dict(zip(_FIELDS, counts, strict=False)))


def rows(days: Iterable[Mapping[str, tuple[int, ...]]]) -> list[HarvestRow]:
    """The days together, a row a feed, those with the most new items first."""
    sums: dict[str, list[int]] = {}
    for day in days:
        for feed, counts in day.items():
            total = sums.setdefault(feed, [0] * len(_FIELDS))
            for number, count in enumerate(counts[: len(_FIELDS)]):
                total[number] += count
    found = []
    for feed, total in sums.items():
        stats = from_counts(tuple(total))
        found.append(HarvestRow(feed, stats, stats.delay_s / stats.dated if stats.dated else None))
    return sorted(found, key=lambda row: (-row.stats.new_items, row.feed))


def table(found: Iterable[HarvestRow]) -> list[tuple[str, ...]]:
    """Heading and lines as text, for a table."""
    lines: list[tuple[str, ...]] = [
        ("feed", "polls", "unchanged", "new", "gaps", "missed", "recovered", "errors", "delay")
    ]
    for row in found:
        figures = row.stats
        delay = "" if row.delay_s is None else _duration(row.delay_s)
        counts = (figures.polls, figures.unchanged, figures.new_items, figures.gaps, figures.missed, figures.recovered)
        lines.append((row.feed, *map(str, counts), str(figures.errors), delay))
    return lines


def _duration(seconds: float) -> str:
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"
