"""The fleet's figures at one instant, for progress lines and reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from frontier.redis_frontier import RedisFrontier


@dataclass(frozen=True, slots=True)
class HostRow:
    """One authority: answers of all kinds, pages kept, bytes fetched, clean target-language words."""

    authority: str
    fetched: int
    kept: int
    fetched_bytes: int
    words: int


@dataclass(frozen=True, slots=True)
class Figures:
    """`kept` and `left` count judged pages by language; `outcomes` leases by kind and result ("page:ok"). `hosts` are
    there where they were asked for."""

    queued: int
    leased: int
    parked: int
    parked_by_reason: Mapping[str, int]
    kept: Mapping[str, int]
    left: Mapping[str, int]
    outcomes: Mapping[str, int]
    hosts: tuple[HostRow, ...]

    @property
    def pages(self) -> int:
        """Pages fetched and judged."""
        return sum(self.kept.values()) + sum(self.left.values())

    @property
    def harvest_rate(self) -> float:
        """Kept pages a judged page, 0 when none was judged."""
        return sum(self.kept.values()) / self.pages if self.pages else 0.0

    def line(self) -> str:
        """One line for the log."""
        return (
            f"{self.pages} pages judged, {sum(self.kept.values())} kept (harvest rate {self.harvest_rate:.0%}), "
            f"{self.queued} queued, {self.leased} leased, {self.parked} parked"
        )

    def as_json(self) -> dict[str, Any]:
        """Plain values, the harvest rate included."""
        return {**asdict(self), "pages": self.pages, "harvest_rate": round(self.harvest_rate, 4)}


def gather(frontier: RedisFrontier, *, hosts: bool = True) -> Figures:
    """The figures now: three small reads, and one of all `hosts`, which takes as long as there are (three seconds for a
    hundred thousand, in parts between which Redis serves others)."""
    status = frontier.status()
    languages = {name: counts[0] for name, counts in frontier.get_counts("languages").items()}
    rows = [HostRow(host, *counts) for host, counts in (frontier.get_counts("hosts") if hosts else {}).items()]
    return Figures(
        queued=status.queued,
        leased=status.leased,
        parked=status.parked,
        parked_by_reason=dict(status.by_reason),
        kept=_part(languages, "kept:"),
        left=_part(languages, "left:"),
        outcomes={name: counts[0] for name, counts in sorted(frontier.get_counts("outcomes").items())},
        hosts=tuple(sorted(rows, key=lambda row: (-row.kept, -row.fetched, row.authority))),
    )


def _part(counts: Mapping[str, int], prefix: str) -> dict[str, int]:
    found = {name.removeprefix(prefix): n for name, n in counts.items() if name.startswith(prefix)}
    return dict(sorted(found.items(), key=lambda item: -item[1]))
