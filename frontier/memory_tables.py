"""The tables of the frontier in memory, and what people ask of them and change in them by hand."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from frontier import admin, opt_outs, rescoring
from frontier.audit import AuditRow
from frontier.config import FrontierConfig
from frontier.host import QUOTAS, Host
from frontier.types import (
    BANDS,
    Counts,
    FrontierStatus,
    HostPolicy,
    HostState,
    Lease,
    Once,
    Queued,
    RobotsRecord,
    Totals,
    Waiting,
)


@dataclass(slots=True)
class Address:
    """An IP address: the lease that holds it ("": none), and when it may be asked next."""

    token: str = ""
    next_ms: int = 0


@dataclass(slots=True)
class Held:
    """A lease and the queue element behind it (b"" for an authority's own robots.txt)."""

    lease: Lease
    element: bytes


def system_clock() -> int:
    """Epoch milliseconds of this machine."""
    return time.time_ns() // 1_000_000


class MemoryTables:
    """`clock` gives epoch milliseconds, `jitter` numbers 0..1; `opt_outs_of_all` may be made another crawl's.
    Transitions: :class:`frontier.memory.MemoryFrontier`."""

    def __init__(
        self,
        config: FrontierConfig | None = None,
        clock: Callable[[], int] = system_clock,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self.config = config or FrontierConfig()
        self.clock = clock
        self._jitter = jitter
        self.known: dict[str, Host] = {}
        self.addresses: dict[str, Address] = {}
        self.held: dict[str, Held] = {}
        self.done: set[str] = set()
        self.results: Counter[str] = Counter()
        self.totals: Counter[str] = Counter()
        self.started_ms = 0
        self.opt_outs: opt_outs.Table = {}
        self.opt_outs_of_all: opt_outs.Table = {}
        self.counters: dict[str, dict[str, list[int]]] = {}
        self._counted: dict[str, int] = {}  # by caller, its last call
        self.audit_rows: list[AuditRow] = []
        self._served = 0
        self._better_ms = self._credited_ms = 0  # those worth least wait until then, but for so many turns
        self._credit = 0.0
        self._narrowed = False  # whether the lease that is being made is of what pages embed alone

    def host_of(self, authority: str) -> Host:
        """The record of `authority`, made when new."""
        return self.known.setdefault(authority, Host(authority))

    def spent_budget(self, now_ms: int) -> str:
        """See :meth:`frontier.types.Budget.spent`."""
        for_ms = now_ms - self.started_ms if self.started_ms else 0
        return self.config.budget.spent(self.totals["pages"], self.totals["bytes"], for_ms)

    def is_narrowed(self) -> bool:
        """Whether what pages embed alone is leased."""
        return self.config.budget.narrowed(self.spent_budget(self.clock()))

    # -- robots, rules, people -------------------------------------------------------------------------------------

    def get_robots(self, authority: str) -> RobotsRecord | None:
        """See :class:`frontier.types.Frontier`."""
        host, now_ms = self.known.get(authority), self.clock()
        if host is None or host.robots is None or host.robots_expires_ms <= now_ms:
            return None
        return RobotsRecord(host.robots.kind, host.robots.body, host.robots_ms, host.robots_expires_ms - now_ms)

    def configure(self, policies: Mapping[str, HostPolicy]) -> None:
        """See :class:`frontier.types.Frontier`."""
        for authority, policy in policies.items():
            host = self.host_of(authority)
            host.policy = policy
            if host.rest_reason in QUOTAS:
                host.rest_ms, host.rest_reason, host.rank = 0, "", None

    def configured(self) -> list[str]:
        """See :class:`frontier.types.Frontier`."""
        return sorted(name for name, host in self.known.items() if host.policy != HostPolicy())

    def opt_out(self, prefixes: Iterable[str], *, all_crawls: bool = False) -> int:
        """See :class:`frontier.types.Frontier`."""
        return opt_outs.add(self._opt_outs(all_crawls), list(opt_outs.opt_out_rules(prefixes)))

    def withdraw_opt_out(self, prefix: str, *, all_crawls: bool = False) -> int:
        """See :class:`frontier.types.Frontier`."""
        return opt_outs.withdraw(self._opt_outs(all_crawls), opt_outs.opt_out_rules([prefix]))

    def opted_out(self, *, all_crawls: bool = False) -> list[str]:
        """See :class:`frontier.types.Frontier`."""
        return opt_outs.listed(self._opt_outs(all_crawls))

    def opted_out_by(self, url: str) -> str:
        """See :class:`frontier.types.Frontier`."""
        return opt_outs.against(url, self.opt_outs_at)

    def opt_outs_at(self, authority: str) -> list[str]:
        """Path prefixes that hold there: this crawl's, then those of all."""
        return self.opt_outs.get(authority, []) + self.opt_outs_of_all.get(authority, [])

    def _opt_outs(self, all_crawls: bool) -> opt_outs.Table:
        return self.opt_outs_of_all if all_crawls else self.opt_outs

    def is_least(self, host: Host) -> bool:
        """Whether its place in line is that of the last band, where its share is bounded."""
        return self.config.least_credit is not None and host.rank is not None and host.rank[0] == BANDS - 1

    def park(self, authority: str, reason: str, for_ms: int) -> bool:
        """See :class:`frontier.types.Frontier`."""
        host = self.known.get(authority)
        if host is None:
            return False
        host.rest(self.clock() + for_ms, reason)
        host.rank = None
        return True

    def unpark(self, authority: str) -> int:
        """See :class:`frontier.types.Frontier`."""
        host = self.known.get(authority)
        if host is None:
            return 0
        host.rest_ms = host.gate_ms = host.robots_retry_ms = host.equal_ms = 0
        host.rest_reason = host.gate_reason = ""
        host.robots_expires_ms = min(host.robots_expires_ms, self.clock())
        host.rank = None
        return len(host.unpark(2**62, most=len(host.parked) or 1))

    def pause(self, authority: str) -> bool:
        """See :class:`frontier.types.Frontier`."""
        return self._set_paused(authority, True)

    def resume(self, authority: str) -> bool:
        """See :class:`frontier.types.Frontier`."""
        return self._set_paused(authority, False)

    def _set_paused(self, authority: str, paused: bool) -> bool:
        host = self.known.get(authority)
        if host is None:
            return False
        host.paused, host.rank = paused, None
        return True

    def drop(self, authority: str) -> int:
        """See :class:`frontier.types.Frontier`."""
        host = self.known.get(authority)
        if host is None:
            return 0
        host.rank = None
        return host.forget_urls()

    def status(self) -> FrontierStatus:
        """See :class:`frontier.types.Frontier`."""
        hosts = self.known.values()
        reasons = Counter(reason for host in hosts for _, _, reason in host.parked)
        now_ms = self.clock()
        find_ms = Host.requisites_ms if self.is_narrowed() else Host.ready_ms
        free = (find_ms(host, self.config.obey_robots) for host in hosts if not host.token and not host.paused)
        return FrontierStatus(
            queued=sum(host.queued() for host in hosts),
            due=sum(ready_ms is not None and ready_ms <= now_ms for ready_ms in free),
            leased=len(self.held),
            parked=sum(len(host.parked) for host in hosts),
            parked_until_ms_min=min((host.parked[0][0] for host in hosts if host.parked), default=None),
            authorities=len(self.known),
            by_reason=dict(reasons),
            results=dict(self.results),
            pages=self.totals["pages"],
            fetched_bytes=self.totals["bytes"],
            words=self.totals["words"],
            started_ms=self.started_ms,
            now_ms=now_ms,
        )

    def hosts(self, limit: int = 50) -> list[HostState]:
        """See :class:`frontier.types.Frontier`."""
        return admin.in_order(map(self._state, self.known.values()))[:limit]

    def host(self, authority: str) -> HostState | None:
        """See :class:`frontier.types.Frontier`."""
        host = self.known.get(authority)
        return self._state(host) if host else None

    def _state(self, host: Host) -> HostState:
        return admin.host_state(host, self.config, self.held[host.token].lease.url if host.token else "")

    def peek(self, authority: str, limit: int = 20) -> list[Waiting]:
        """See :class:`frontier.types.Frontier`."""
        host = self.known.get(authority)
        return admin.waiting_of(host)[:limit] if host else []

    def parked(self, limit: int = 50) -> list[tuple[str, Waiting]]:
        """See :class:`frontier.types.Frontier`."""
        found = [(h.authority, w) for h in self.known.values() for w in admin.waiting_of(h) if w.until_ms]
        return sorted(found, key=lambda pair: (pair[1].until_ms, pair[0]))[:limit]

    def heads(self, authorities: Sequence[str], limit: int) -> list[list[Queued]]:
        """See :class:`frontier.types.Frontier`."""
        bands = ((name, self.known[name].bands if name in self.known else []) for name in authorities)
        return [rescoring.queued(name, (e for band in found for e in islice(band, limit))) for name, found in bands]

    def rescore(self, scores: Mapping[str, Sequence[tuple[Queued, float]]]) -> int:
        """See :class:`frontier.types.Frontier`."""
        found = ((self.known.get(name), queued) for name, queued in scores.items())
        return sum(rescoring.move(host, rescoring.moves(queued)) for host, queued in found if host)

    def add_counts(self, tables: Mapping[str, Counts], once: Once | None = None) -> Totals:
        """See :class:`frontier.types.Frontier`."""
        counts_again = once is not None and once.number <= self._counted.get(once.caller, 0)
        if once is not None and not counts_again:
            self._counted[once.caller] = once.number
        times = 0 if counts_again else 1
        return {name: self._add(self.counters.setdefault(name, {}), counts, times) for name, counts in tables.items()}

    @staticmethod
    def _add(table: dict[str, list[int]], counts: Counts, times: int) -> dict[str, tuple[int, ...]]:
        for key, values in counts.items():
            row = table.setdefault(key, [])
            row.extend([0] * (len(values) - len(row)))
            for place, value in enumerate(values):
                row[place] += value * times
        return {key: tuple(table[key][: len(values)]) for key, values in counts.items()}

    def get_counts(self, name: str) -> dict[str, tuple[int, ...]]:
        """See :class:`frontier.types.Frontier`."""
        rows = self.counters.get(name, {})
        most = max(map(len, rows.values()), default=0)
        return {key: (*row, *[0] * (most - len(row))) for key, row in rows.items()}

    def forget_counts(self, names: Sequence[str]) -> None:
        """See :class:`frontier.types.Frontier`."""
        for name in names:
            self.counters.pop(name, None)
