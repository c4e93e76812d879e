"""The audit: what was granted and how it ended, and the proof that no gap was too short.

A row is written when a lease ends (or is granted, with `event` "grant"); :func:`verify` needs only ends. Plain rows
(host, address, start, end), such as WARC dates and fetch times give, are checked by :func:`verify_plain`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from frontier.types import Lease, Outcome

TOLERANCE_MS = 2
"""Instants and durations are rounded to whole milliseconds; put together they may be off by so much."""


@dataclass(frozen=True, slots=True)
class AuditRow:
    """`event` is "grant", "end" or "release". Of an end: the answer's start and end, and the delays that run from it
    (None: nothing was sent, no gap is due)."""

    event: str
    token: str
    authority: str
    address: str
    due_ms: int
    start_ms: int = 0
    end_ms: int = 0
    result: str = ""
    delay_ms: int | None = None
    address_delay_ms: int | None = None

    @classmethod
    def of_grant(cls, lease: Lease) -> AuditRow:
        """Row of a lease handed out."""
        return cls("grant", lease.token, lease.authority, lease.address, lease.due_ms)

    @classmethod
    def of_release(cls, lease: Lease) -> AuditRow:
        """Row of a lease given back unused."""
        return cls("release", lease.token, lease.authority, lease.address, lease.due_ms)

    @classmethod
    def of_end(cls, lease: Lease, outcome: Outcome, end_ms: int, delays: tuple[int, int] | None) -> AuditRow:
        """Row of a lease that was reported or expired."""
        start_ms = end_ms - max(0, outcome.fetch_ms)
        own, address = delays or (None, None)
        place = lease.token, lease.authority, lease.address, lease.due_ms
        return cls("end", *place, start_ms, end_ms, outcome.result, own, address)


class Gap(NamedTuple):
    """A gap that was too short: `of` is the authority or address; `earlier` and `later` say when the fetches began, and
    of what."""

    of: str
    gap_ms: int
    needed_ms: int
    earlier: str
    later: str


class Fetch(NamedTuple):
    """A request: for whom it counts, when it began and ended, and the delay that runs from its end."""

    of: str
    start_ms: int
    end_ms: int
    needed_ms: int
    name: str


@dataclass(frozen=True, slots=True)
class Proof:
    """Result of a verification: fetches and gaps (of hosts and addresses) looked at, and those too short; the shortest
    gap of a host, where there is one."""

    fetches: int
    gaps: int
    short: tuple[Gap, ...]
    shortest_ms: int | None = None

    @property
    def ok(self) -> bool:
        """No gap was too short."""
        return not self.short


class Gaps:
    """Looks at requests as they come, those of one host or address in the order of their begin."""

    def __init__(self, tolerance_ms: int = 0) -> None:
        self._tolerance_ms = tolerance_ms
        self._last: dict[str, Fetch] = {}
        self.fetches = 0
        self.gaps = 0
        self.short: list[Gap] = []
        self.shortest_ms: int | None = None

    def __len__(self) -> int:
        """Hosts and addresses that are remembered."""
        return len(self._last)

    def follow(self, rows: Iterable[AuditRow]) -> None:
        """More rows of an audit stream; a lease ends before the next of its host begins, so they come in order."""
        for fetch in _fetches(rows):
            self.add(fetch)

    def add(self, fetch: Fetch) -> None:
        """One more."""
        of_host = not fetch.of.startswith("@")  # it comes for its address, too
        self.fetches += of_host
        before = self._last.get(fetch.of)
        if before:
            self.gaps += 1
            gap_ms = fetch.start_ms - before.end_ms
            if of_host and (self.shortest_ms is None or gap_ms < self.shortest_ms):
                self.shortest_ms = gap_ms
            if gap_ms + self._tolerance_ms < before.needed_ms:
                self.short.append(Gap(fetch.of, gap_ms, before.needed_ms, _which(before), _which(fetch)))
        if before is None or fetch.end_ms + fetch.needed_ms >= before.end_ms + before.needed_ms:
            self._last[fetch.of] = fetch

    def forget(self, ago_ms: int) -> None:
        """Let go of what had rested long enough so long before the newest request: its next gap, which cannot be too
        short, is not counted. `ago_ms` is longer than any request takes."""
        since_ms = max((fetch.end_ms for fetch in self._last.values()), default=0) - ago_ms
        self._last = {of: fetch for of, fetch in self._last.items() if fetch.end_ms + fetch.needed_ms > since_ms}


def verify(rows: Iterable[AuditRow], tolerance_ms: int = 0) -> Proof:
    """Check audit rows, of authorities and of addresses."""
    return _check(_fetches(rows), tolerance_ms)


class Visit(NamedTuple):
    """A request as anybody's log has it; `asked_ms` is the delay that the host itself asked for (Crawl-delay), `least`
    the (host, address) delays that were in force when it was made, where they are known, `url` what was asked for."""

    host: str
    address: str
    start_ms: float
    end_ms: float
    asked_ms: int = 0
    least: tuple[int, int] | None = None
    url: str = ""


def verify_plain(
    rows: Iterable[tuple[str, str, float, float] | Visit],
    delay_ms: int,
    address_delay_ms: int,
    tolerance_ms: int = 0,
    by_host: Mapping[str, tuple[int, int]] | None = None,
) -> Proof:
    """Check (host, address or "", start_ms, end_ms) rows against their own or these delays; `by_host` has
    the (host, address) delays of hosts that have their own. A host that asked for a longer delay must have had that."""
    return _check(_plain(rows, (delay_ms, address_delay_ms), by_host or {}), tolerance_ms)


def _fetches(rows: Iterable[AuditRow]) -> Iterator[Fetch]:
    for row in rows:
        if row.event != "end" or row.delay_ms is None:
            continue
        yield Fetch(row.authority, row.start_ms, row.end_ms, row.delay_ms, row.authority)
        if row.address:
            yield Fetch("@" + row.address, row.start_ms, row.end_ms, row.address_delay_ms or 0, row.authority)


def _plain(
    rows: Iterable[tuple[str, str, float, float] | Visit],
    usual: tuple[int, int],
    by_host: Mapping[str, tuple[int, int]],
) -> Iterator[Fetch]:
    for number, row in enumerate(rows):
        visit = Visit(*row)
        name = visit.url or f"row {number}"
        delay_ms, address_delay_ms = by_host.get(visit.host, visit.least or usual)
        start_ms, end_ms = int(visit.start_ms), int(visit.end_ms)
        yield Fetch(visit.host, start_ms, end_ms, max(delay_ms, visit.asked_ms), name)
        if visit.address:
            yield Fetch("@" + visit.address, start_ms, end_ms, address_delay_ms, name)


def _check(fetches: Iterable[Fetch], tolerance_ms: int) -> Proof:
    found = Gaps(tolerance_ms)
    for fetch in sorted(fetches, key=lambda f: (f.of, f.start_ms, f.end_ms)):
        found.add(fetch)
    return Proof(found.fetches, found.gaps, tuple(found.short), found.shortest_ms)


def _which(fetch: Fetch) -> str:
    second = datetime.fromtimestamp(fetch.start_ms // 1000, UTC).replace(tzinfo=None).isoformat()
    return f"{second}.{fetch.start_ms % 1000:03}Z {fetch.name}"
