"""The frontier in one process's memory: the readable reference and the oracle of the tests.

It guarantees the whole contract of :mod:`frontier.types` (for its one process, until that ends) and decides in the
same order as :class:`frontier.redis_frontier.RedisFrontier`, at a cost of O(authorities) a lease. The clock is
injected."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from frontier import admin, intake, reports, rescoring
from frontier.audit import Row as AuditRow
from frontier.config import FrontierConfig
from frontier.host import QUOTA_REST_MS, Host
from frontier.outcomes import SECOND
from frontier.payload import Element, read_element, read_hop
from frontier.types import (
    Bound,
    Candidate,
    Explanation,
    FrontierStatus,
    Grant,
    HostPolicy,
    HostState,
    Kind,
    Lease,
    Outcome,
    Queued,
    RobotsRecord,
    Waiting,
)

MOST_EXPIRED_AT_ONCE = 64
MOST_OPTED_OUT_AT_ONCE = 100


@dataclass(slots=True)
class Address:
    """[the record of an address] Who holds it, and its politeness."""

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


class MemoryFrontier:
    """See the module's text. `clock` gives epoch milliseconds, `jitter` numbers 0..1."""

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
        self.prefixes: dict[str, list[str]] = {}
        self.counters: dict[str, dict[str, list[int]]] = {}
        self.audit_rows: list[AuditRow] = []
        self._served = 0

    # -- intake ----------------------------------------------------------------------------------------------------

    def take_in(self, candidates: Iterable[Candidate]) -> int:
        """See :class:`frontier.types.Frontier`."""
        arrivals, refused = intake.arrivals(candidates, self.config)
        self.results.update(refused)
        return sum(reports.admit(self, arrival) for arrival in arrivals)

    def host_of(self, authority: str) -> Host:
        """The record of `authority`, made when new."""
        return self.known.setdefault(authority, Host(authority))

    # -- lease -----------------------------------------------------------------------------------------------------

    def lease(self, limit: int, ahead_ms: int = 0) -> Grant:
        """See :class:`frontier.types.Frontier`."""
        now_ms = self.clock()
        self._collect_expired(now_ms)
        if closed := self._spent_budget(now_ms):
            return Grant((), now_ms, None, closed)
        horizon_ms = now_ms + ahead_ms
        self._promote(now_ms, horizon_ms)
        leases: list[Lease] = []
        for host in sorted((h for h in self.known.values() if h.rank), key=lambda h: h.rank or ()):
            if len(leases) == limit:
                break
            if lease := self._try(host, now_ms, horizon_ms):
                leases.append(lease)
        if leases and not self.started_ms:
            self.started_ms = now_ms
        return Grant(tuple(leases), now_ms, self._next_due_ms(now_ms))

    def _promote(self, now_ms: int, horizon_ms: int) -> None:
        """Give those that have become due their places in line."""
        for host in self.known.values():
            ready_ms = host.ready_ms(self.config.obey_robots)
            if host.rank or host.token or host.paused or ready_ms is None or ready_ms > horizon_ms:
                continue
            if self._over_quota(host, now_ms):
                continue
            host.unpark(horizon_ms)
            host.rank = (host.best_band(), host.served, host.authority.encode())

    def _try(self, host: Host, now_ms: int, horizon_ms: int) -> Lease | None:
        ready_ms = host.ready_ms(self.config.obey_robots)
        if ready_ms is None or ready_ms > horizon_ms:
            host.rank = None
            return None
        if self._over_quota(host, now_ms):
            return None
        due_ms = max(now_ms, ready_ms)
        address = host.address if host.address_until_ms > now_ms else ""
        if address:
            state = self.addresses.setdefault(address, Address())
            due_ms = max(due_ms, state.next_ms)
            if state.token or due_ms > horizon_ms:
                return None
        return self._grant(host, address, due_ms)

    def _over_quota(self, host: Host, now_ms: int) -> bool:
        """Whether a host had all the pages its rules allow; then it rests."""
        if not host.policy.max_pages or host.pages < host.policy.max_pages:
            return False
        host.rest(now_ms + QUOTA_REST_MS, "quota")
        host.rank = None
        return True

    def _grant(self, host: Host, address: str, due_ms: int) -> Lease | None:
        element, found = self._next_element(host, due_ms)
        host.rank = None
        if found is None:
            return None
        self._served += 1
        token = f"{self._served:x}-0"
        source, hops = found.source, 0
        if found.kind is Kind.ROBOTS:
            source, hops = read_hop(found.memo) if found.memo else (host.authority, 0)
        lease = Lease(
            token=token,
            url=found.url,
            kind=found.kind,
            authority=host.authority,
            address=address,
            due_ms=due_ms,
            expires_ms=due_ms + self.config.lease_ms,
            source=source,
            depth=found.depth,
            score=found.score,
            attempt=found.attempt,
            memo=b"" if found.kind is Kind.ROBOTS else found.memo,
            robots_ms=0 if found.kind is Kind.ROBOTS else host.robots_ms,
            hops=hops,
        )
        host.token, host.served = token, self._served
        if address:
            self.addresses[address].token = token
        self.held[token] = Held(lease, element)
        if self.config.audit:
            self.audit_rows.append(AuditRow.of_grant(lease))
        return lease

    def _next_element(self, host: Host, due_ms: int) -> tuple[bytes, Element | None]:
        """What to fetch next from a host that is ready; (b"", None) when all it had was opted out."""
        rules = self.prefixes.get(host.authority, [])
        if "" in rules:
            self.results["opted_out"] += self._forget_urls(host)
            return b"", None
        if host.hops:
            element = host.hops.popleft()
            return element, read_element(host.authority, element)
        if host.wants_robots(due_ms, self.config):
            return b"", Element(host.authority + "/robots.txt", Kind.ROBOTS, 0, 1.0, 0, "", b"")
        host.unpark(due_ms)
        for _ in range(MOST_OPTED_OUT_AT_ONCE):
            queue = next((queue for queue in host.bands if queue), None)
            if queue is None:
                break
            element = queue.popleft()
            found = read_element(host.authority, element)
            if not any(found.url.startswith(host.authority + rule) for rule in rules):
                return element, found
            self.results["opted_out"] += 1
        return b"", None

    def _next_due_ms(self, now_ms: int) -> int | None:
        times = []
        for host in self.known.values():
            ready_ms = host.ready_ms(self.config.obey_robots)
            if ready_ms is None or host.token or host.paused:
                continue
            if host.address and host.address_until_ms > now_ms:
                state = self.addresses.get(host.address, Address())
                if state.token:
                    continue
                ready_ms = max(ready_ms, state.next_ms)
            times.append(ready_ms)
        return min(times, default=None)

    def _spent_budget(self, now_ms: int) -> str:
        budget = self.config.budget
        if budget.max_pages and self.totals["pages"] >= budget.max_pages:
            return "pages"
        if budget.max_bytes and self.totals["bytes"] >= budget.max_bytes:
            return "bytes"
        if budget.max_seconds and self.started_ms and now_ms - self.started_ms >= budget.max_seconds * SECOND:
            return "seconds"
        return ""

    # -- ends of leases --------------------------------------------------------------------------------------------

    def _living(self, token: str, now_ms: int) -> Held | None:
        held = self.held.get(token)
        return held if held and held.lease.expires_ms > now_ms else None

    def _collect_expired(self, now_ms: int) -> None:
        expired = sorted(
            (held.lease.expires_ms, token) for token, held in self.held.items() if held.lease.expires_ms <= now_ms
        )
        for expires_ms, token in expired[:MOST_EXPIRED_AT_ONCE]:
            ending = reports.Ending(Outcome(token, "expired"), now_ms, expires_ms, 1.0)
            reports.finish(self, self.held.pop(token), ending)

    def report(self, outcomes: Sequence[Outcome]) -> list[bool]:
        """See :class:`frontier.types.Frontier`."""
        now_ms = self.clock()
        for outcome in outcomes:
            reports.check(outcome)
        answers = []
        for outcome in outcomes:
            jitter = self._jitter()
            held = self._living(outcome.token, now_ms)
            if held:
                del self.held[outcome.token]
                end_ms = max(now_ms - max(0, outcome.ended_ago_ms), held.lease.due_ms)
                reports.finish(self, held, reports.Ending(outcome, now_ms, end_ms, jitter))
                self.done.add(outcome.token)
            answers.append(held is not None or outcome.token in self.done)
        return answers

    def bind(self, token: str, address: str) -> Bound:
        """See :class:`frontier.types.Frontier`."""
        now_ms = self.clock()
        held = self._living(token, now_ms)
        if held is None:
            return Bound(False, 0, "unknown_token")
        lease, host = held.lease, self.known[held.lease.authority]
        host.address, host.address_until_ms = address, now_ms + self.config.address_ttl_ms
        if lease.address == address:
            return Bound(True, lease.due_ms)
        state = self.addresses.setdefault(address, Address())
        due_ms = max(lease.due_ms, state.next_ms)
        busy = state.token != ""
        if busy or due_ms > max(now_ms, lease.due_ms) + self.config.bind_ahead_ms:
            self._give_back(token)
            return Bound(False, due_ms, "address_busy" if busy else "address_not_due")
        if lease.address:
            self.addresses[lease.address].token = ""
        state.token = token
        held.lease = reports.bound_lease(lease, address, due_ms)
        return Bound(True, due_ms)

    def release(self, tokens: Iterable[str]) -> int:
        """See :class:`frontier.types.Frontier`."""
        now_ms = self.clock()
        return sum(self._give_back(token) for token in tokens if self._living(token, now_ms))

    def _give_back(self, token: str) -> bool:
        held = self.held.pop(token)
        host = self.known[held.lease.authority]
        host.token = ""
        if held.lease.address:
            self.addresses[held.lease.address].token = ""
        if held.lease.kind is Kind.ROBOTS:
            if held.element:
                host.hops.appendleft(held.element)
        else:
            host.push(held.element, front=True)
        if self.config.audit:
            self.audit_rows.append(AuditRow.of_release(held.lease))
        return True

    def accepted(self, tokens: Iterable[str]) -> set[str]:
        """See :class:`frontier.types.Frontier`."""
        return self.done.intersection(tokens)

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
            self.host_of(authority).policy = policy

    def opt_out(self, prefixes: Iterable[str]) -> int:
        """See :class:`frontier.types.Frontier`."""
        new = 0
        for authority, path in admin.opt_out_rules(prefixes):
            rules = self.prefixes.setdefault(authority, [])
            if path not in rules:
                rules.append(path)
                new += 1
        return new

    def opted_out(self) -> list[str]:
        """See :class:`frontier.types.Frontier`."""
        return sorted(authority + path for authority, rules in self.prefixes.items() for path in rules)

    def park(self, authority: str, reason: str, for_ms: int) -> bool:
        """See :class:`frontier.types.Frontier`."""
        host = self.known.get(authority)
        if host is None:
            return False
        host.rest_ms, host.rest_reason, host.rank = self.clock() + for_ms, reason, None
        return True

    def unpark(self, authority: str) -> int:
        """See :class:`frontier.types.Frontier`."""
        host = self.known.get(authority)
        if host is None:
            return 0
        host.rest_ms = host.gate_ms = host.robots_retry_ms = 0
        host.rest_reason = host.gate_reason = ""
        host.rank = None
        return len(host.unpark(2**62, most=len(host.parked)))

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
        return self._forget_urls(host)

    def _forget_urls(self, host: Host) -> int:
        number = host.queued() + len(host.parked)
        for queue in host.bands:
            queue.clear()
        host.hops.clear()
        host.parked.clear()
        return number

    def status(self) -> FrontierStatus:
        """See :class:`frontier.types.Frontier`."""
        hosts = self.known.values()
        reasons = Counter(reason for host in hosts for _, _, reason in host.parked)
        return FrontierStatus(
            queued=sum(host.queued() for host in hosts),
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
            now_ms=self.clock(),
        )

    def hosts(self, limit: int = 50) -> list[HostState]:
        """See :class:`frontier.types.Frontier`."""
        states = [admin.host_state(host, self.config) for host in self.known.values()]
        return admin.in_order(states)[:limit]

    def host(self, authority: str) -> HostState | None:
        """See :class:`frontier.types.Frontier`."""
        host = self.known.get(authority)
        return admin.host_state(host, self.config) if host else None

    def peek(self, authority: str, limit: int = 20) -> list[Waiting]:
        """See :class:`frontier.types.Frontier`."""
        host = self.known.get(authority)
        return admin.waiting_of(host)[:limit] if host else []

    def parked(self, limit: int = 50) -> list[tuple[str, Waiting]]:
        """See :class:`frontier.types.Frontier`."""
        found = [(h.authority, w) for h in self.known.values() for w in admin.waiting_of(h) if w.until_ms]
        return sorted(found, key=lambda pair: (pair[1].until_ms, pair[0]))[:limit]

    def explain(self, url: str) -> Explanation:
        """See :class:`frontier.types.Frontier`."""
        leased = {held.lease.url for held in self.held.values()}
        return admin.explain(self, url, self.config, url if url in leased else "")

    def heads(self, authority: str, limit: int) -> list[Queued]:
        """See :class:`frontier.types.Frontier`."""
        host = self.known.get(authority)
        return rescoring.queued(authority, (e for band in host.bands for e in islice(band, limit))) if host else []

    def rescore(self, authority: str, scores: Sequence[tuple[Queued, float]]) -> int:
        """See :class:`frontier.types.Frontier`."""
        host = self.known.get(authority)
        return rescoring.move(host, rescoring.moves(scores)) if host else 0

    def add_counts(self, name: str, counts: Mapping[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
        """See :class:`frontier.types.Frontier`."""
        table = self.counters.setdefault(name, {})
        for key, values in counts.items():
            row = table.setdefault(key, [])
            row.extend([0] * (len(values) - len(row)))
            for place, value in enumerate(values):
                row[place] += value
        return {key: tuple(table[key][: len(values)]) for key, values in counts.items()}

    def get_counts(self, name: str) -> dict[str, tuple[int, ...]]:
        """See :class:`frontier.types.Frontier`."""
        return {key: tuple(row) for key, row in self.counters.get(name, {}).items()}
