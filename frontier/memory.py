"""The frontier in one process's memory: the readable reference and the oracle of the tests.

It guarantees the whole contract of :mod:`frontier.types` (for its one process, until that ends) and decides in the
same order as :class:`frontier.redis_frontier.RedisFrontier`, at a cost of O(authorities) a lease; but a host whose
address is to be asked for anew while it stands in that one's line is looked at now, there with its turn in the line.
The clock is injected."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from frontier import admin, intake, opt_outs, reports
from frontier.audit import AuditRow
from frontier.host import EXPIRED_AT_ONCE, MORE_MS, MOST_CREDIT, OPTED_OUT_AT_ONCE, PUT_BACK_MS, Host
from frontier.memory_tables import Address, Held, MemoryTables
from frontier.outcomes import DAY, SECOND
from frontier.payload import Element, behind_authority, read_element, read_hop
from frontier.types import BANDS, Bound, Candidate, Explanation, Grant, Kind, Lease, Outcome

NEVER = 2**62
ASK_AGAIN_MS = SECOND


class MemoryFrontier(MemoryTables):
    """See the module's text."""

    # -- intake ----------------------------------------------------------------------------------------------------

    def take_in(self, candidates: Iterable[Candidate]) -> int:
        """See :class:`frontier.types.Frontier`."""
        arrivals, refused = intake.arrivals(candidates, self.config)
        self.results.update(refused)
        return sum(reports.admit(self, arrival) for arrival in arrivals)

    # -- lease -----------------------------------------------------------------------------------------------------

    def lease(self, limit: int, ahead_ms: int = 0) -> Grant:
        """See :class:`frontier.types.Frontier`."""
        now_ms = self.clock()
        self._collect_expired(now_ms)
        closed = self.spent_budget(now_ms)
        self._narrowed = self.config.budget.narrowed(closed)
        if self._narrowed:
            return self._lease_requisites(limit, now_ms, ahead_ms)
        if closed:
            return Grant((), now_ms, None, closed)
        if self._better_ms > now_ms + self.config.better_wait_ms + PUT_BACK_MS:  # the clock was put back
            self._better_ms = 0
        self._credited_ms = min(self._credited_ms, now_ms)
        if (room := self._room()) <= 0:
            due_ms = self._next_due_ms(now_ms)
            return Grant((), now_ms, None if due_ms is None else max(due_ms, now_ms + ASK_AGAIN_MS))
        limit = min(limit, room)
        horizon_ms = now_ms + ahead_ms
        self._promote(now_ms, horizon_ms)
        line = sorted((host for host in self.known.values() if host.rank), key=lambda host: host.rank or ())
        better = [host for host in line if not self.is_least(host)]
        leases = self._try_all(better, limit, now_ms, horizon_ms)
        if self.config.least_credit is not None:
            leases += self._try_least(line[len(better) :], limit - len(leases), len(leases), now_ms, horizon_ms)
        if leases and not self.started_ms:
            self.started_ms = now_ms
        return Grant(tuple(leases), now_ms, self._next_due_ms(now_ms))

    def _lease_requisites(self, limit: int, now_ms: int, ahead_ms: int) -> Grant:
        """What pages embed alone, by the same rules."""
        horizon_ms = now_ms + ahead_ms
        for host in self.known.values():
            if host.rank and host.rank[0] > 0:
                host.rank = None
            stays = host.rank or host.token or host.paused
            ready_ms = None if stays else host.requisites_ms(self.config.obey_robots)
            if ready_ms is None or ready_ms > horizon_ms:
                continue
            host.unpark(max(now_ms, ready_ms))
            if host.hops or host.bands[0]:
                host.rank, host.waits = (0, host.served, host.authority.encode()), False
        line = sorted((host for host in self.known.values() if host.rank), key=lambda host: host.rank or ())
        leases = self._try_all(line, limit, now_ms, horizon_ms)
        return Grant(tuple(leases), now_ms, self._next_due_ms(now_ms), narrowed=True)

    def _promote(self, now_ms: int, horizon_ms: int) -> None:
        """Give those that have become due their places in line; what is parked may be worth more than a last place."""
        for host in self.known.values():
            ready_ms = host.ready_ms(self.config.obey_robots)
            if host.token or host.paused or ready_ms is None or ready_ms > horizon_ms:
                continue
            changed = self.is_least(host) and host.first_parked_ms() != host.looked_ms
            if host.rank and host.look_ms > horizon_ms and not changed:
                continue
            start_ms = max(now_ms, ready_ms)
            host.unpark(start_ms)
            # for a redirected robots.txt another host waits
            host.rank = (0 if host.hops else host.best_band(), host.served, host.authority.encode())
            host.looked_ms, host.waits = host.first_parked_ms(), False
            host.look_ms = host.looked_ms or NEVER
            if not self.is_least(host):
                host.look_ms = NEVER
            elif host.look_ms <= start_ms:  # more is due than comes at a time
                host.look_ms = now_ms + MORE_MS

    def _try_all(self, line: Sequence[Host], limit: int, now_ms: int, horizon_ms: int) -> list[Lease]:
        leases: list[Lease] = []
        for host in line:
            if len(leases) == limit:
                break
            if lease := self._try(host, now_ms, horizon_ms):
                leases.append(lease)
                if host.queued() and host.best_band() < BANDS - 1:
                    self._better_ms = max(self._better_ms, lease.due_ms + self.config.better_wait_ms)
        return leases

    def _try_least(self, line: Sequence[Host], limit: int, better: int, now_ms: int, horizon_ms: int) -> list[Lease]:
        """Of those that are worth least, after so many `better` leases."""
        credit, credited_ms = self._credit, self._credited_ms or now_ms
        credit += better * (self.config.least_credit or 0) + max(0, now_ms - credited_ms) / self.config.least_every_ms
        credit = min(credit, MOST_CREDIT)
        if now_ms >= self._better_ms:
            leases = self._try_all(line, limit, now_ms, horizon_ms)
        else:
            leases = self._try_all(line, min(limit, int(credit)), now_ms, horizon_ms)
            credit -= len(leases)
        if better or leases:
            self._credit, self._credited_ms = credit, now_ms
        return leases

    def _try(self, host: Host, now_ms: int, horizon_ms: int) -> Lease | None:
        address = host.address if host.address_until_ms > now_ms else ""
        state = self.addresses.setdefault(address, Address()) if address else Address()
        is_free = not state.token and state.next_ms <= horizon_ms
        if host.waits and not is_free:
            return None
        ready_ms = host.ready_ms(self.config.obey_robots)
        if ready_ms is None or ready_ms > horizon_ms:
            host.rank = None
            return None
        host.waits = not is_free
        if host.waits or self._over_quota(host, now_ms):
            return None
        return self._grant(host, address, max(now_ms, ready_ms, state.next_ms))

    def _over_quota(self, host: Host, now_ms: int) -> bool:
        """Whether a host had all its rules allow; then it rests for a day. What pages embed is fetched before, and ends
        it."""
        reason, until_ms = host.spent_quota(), now_ms + DAY
        if reason == "quota" and self.config.budget.requisites:
            if host.requisites() is not None:
                return False
            until_ms = min(until_ms, host.first_requisite_ms() or until_ms)
        if not reason:
            return False
        host.rest(until_ms, reason)
        host.rank = None
        return True

    def _is_narrowed_at(self, host: Host) -> bool:
        """Whether what pages embed alone is leased of a host."""
        return self._narrowed or (self.config.budget.requisites and host.spent_quota() == "quota")

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
            expiries=found.expiries,
            memo=b"" if found.kind is Kind.ROBOTS else found.memo,
            robots_ms=0 if found.kind is Kind.ROBOTS else host.robots_ms,
            hops=hops,
            uncounted=self._is_narrowed_at(host),
        )
        host.token, host.served = token, self._served
        if address:
            self.addresses[address].token = token
        self.held[token] = Held(lease, element)
        if self.config.audit:
            self.audit_rows.append(AuditRow.of_grant(lease))
        return lease

    def _next_element(self, host: Host, due_ms: int) -> tuple[bytes, Element | None]:
        """What to fetch next from a host that is ready; (b"", None) when all it had was opted out, or its rules do not
        hold then and may be asked for only later."""
        rules = self.opt_outs_at(host.authority)
        if "" in rules:
            self.results["opted_out"] += host.forget_urls()
            return b"", None
        if host.hops:
            element = host.hops.popleft()
            return element, read_element(host.authority, element)
        narrowed = self._is_narrowed_at(host)
        if narrowed and host.requisites() is None:
            return b"", None
        if host.wants_robots(due_ms, self.config):
            if host.robots_retry_ms > due_ms:
                # Its rules have ended since it was ready, or will before its address is free.
                host.next_ms = max(host.next_ms, host.robots_expires_ms)
                return b"", None
            return b"", Element(host.authority + "/robots.txt", Kind.ROBOTS, 0, 0, 1.0, 0, "", b"")
        host.unpark(due_ms)
        for _ in range(OPTED_OUT_AT_ONCE):
            queue = host.requisites() if narrowed else host.next_queue()
            if queue is None:
                break
            element = queue.popleft()
            path = behind_authority(element)
            if not any(opt_outs.lies_under(path, rule) for rule in rules):
                return element, read_element(host.authority, element)
            self.results["opted_out"] += 1
        return b"", None

    def _next_due_ms(self, now_ms: int) -> int | None:
        times = []
        for host in self.known.values():
            find_ms = host.requisites_ms if self._narrowed else host.ready_ms
            ready_ms = find_ms(self.config.obey_robots)
            if ready_ms is None or host.token or host.paused:
                continue
            if host.address and host.address_until_ms > now_ms:
                state = self.addresses.get(host.address, Address())
                if state.token:
                    continue
                ready_ms = max(ready_ms, state.next_ms)
            if self.is_least(host) and not self._narrowed:
                ready_ms = max(ready_ms, self._turn_of_least_ms())
            times.append(ready_ms)
        return min(times, default=None)

    def _turn_of_least_ms(self) -> int:
        """When one that is worth least may have a turn."""
        turn_ms = self._credited_ms + math.ceil((1 - self._credit) * self.config.least_every_ms)
        return min(self._better_ms, turn_ms)

    def _room(self) -> int:
        """How many leases there may be besides those that are held: each is a page at most, so that with them there are
        never more than the budget has."""
        most = self.config.budget.max_pages
        return most - self.totals["pages"] - len(self.held) if most else NEVER

    # -- ends of leases --------------------------------------------------------------------------------------------

    def _living(self, token: str, now_ms: int) -> Held | None:
        held = self.held.get(token)
        return held if held and held.lease.expires_ms > now_ms else None

    def _collect_expired(self, now_ms: int) -> None:
        expired = sorted(
            (held.lease.expires_ms, held.lease.authority.encode(), token)
            for token, held in self.held.items()
            if held.lease.expires_ms <= now_ms
        )
        for expires_ms, _, token in expired[:EXPIRED_AT_ONCE]:
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
        reports.check_address(address)
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
        held.lease = replace(lease, address=address, due_ms=due_ms)
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

    def explain(self, url: str) -> Explanation:
        """See :class:`frontier.types.Frontier`."""
        return admin.explain(self, url, self.config)
