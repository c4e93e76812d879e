"""Crawls of different names on one Redis take turns at the hosts and addresses that they share.

Each crawl's frontier knows only its own leases. So that a site is asked no faster by three crawls than by one, a lease
also takes the turn at its host and at its address, under keys that all crawls have in common, behind
``{ulwembu}:turns:``

==========  ===========================================================================================================
``t:NAME``  msgpack [crawl, token, until, delay, asked]: whose turn it is at an authority or address until its lease
            ends, and the delay after that as the lease knew it; without a token it rests, by the delay after that
            crawl's answer; without a crawl it is what was left of a rest when a lease ended with which nothing was
            sent. `asked`: until when the server has asked that crawl not to come; all others obey, whatever that one
            does
``r:NAME``  msgpack [crawl, until]: an authority's robots.txt has not answered, and other crawls do not ask for it
            before, either
``n:NAME``  msgpack [crawl, until, since]: who has been refused and is next; until then the last one must wait
==========  ===========================================================================================================

They expire by themselves: a place in line some seconds after its crawl was to ask again, a turn with its rest. One that
nobody ends, since its worker died, ends with the lease and the longer of two delays, the dead worker's and that of the
next one to ask, be they from the settings, from robots.txt or a slow server's. A Retry-After, without one the least
rest of a host that is busy or away, is written down before the lease is reported, so that a worker that dies meanwhile
leaves it to the others. Of the report itself they are told behind it (`tell_others`), and wait until then as for the
lease. A lease that is refused goes back, and its host, with the reason :data:`OTHER_CRAWL`, or its address rests for so
long, or where its rules still hold only its robots.txt is let be; all in one step, so that no other worker of the crawl
asks meanwhile and no longer rest is cut short. What Redis did not answer between two of the steps ends with the lease,
or goes back with the next :meth:`lease`.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from frontier import scripts, wire
from frontier.answering import answering
from frontier.config import FrontierConfig
from frontier.errors import FrontierElsewhere, FrontierUnavailable
from frontier.outcomes import OUTCOMES, RETRY_AFTER_CAP_MS
from frontier.redis_frontier import RedisFrontier
from frontier.types import Bound, Grant, Kind, Lease, Outcome

OTHER_CRAWL = "other_crawl"
PREFIX = "{ulwembu}:turns:"
_ASKED_FOR = frozenset(result for result, row in OUTCOMES.items() if row.sent)
"""Rests that are the server's doing; others (a quota, a trap) are this crawl's own."""
_BUSY = ("http_429", "http_503")
_NOTHING_SENT = wire.Rests()


class _Turn(NamedTuple):
    """A lease, the delays of its host and address after its end, and until when the rules hold that it is to replace;
    -1: it is not for its host's own robots.txt."""

    lease: Lease
    delay_ms: int
    address_delay_ms: int
    rules_until_ms: int

    @classmethod
    def of(cls, lease: Lease, record: bytes, config: FrontierConfig) -> _Turn:
        """By the record of the lease's host."""
        is_robots = lease.kind is Kind.ROBOTS and not lease.hops
        return cls(lease, *wire.delays_ms(record, config), wire.rules_until_ms(record) if is_robots else -1)

    def on(self, address: str, due_ms: int) -> _Turn:
        """The same on another address, and due then."""
        return self._replace(lease=replace(self.lease, address=address, due_ms=due_ms))


class TurnTakingFrontier(RedisFrontier):
    """See the module's text; for a crawl that has the Redis to itself it does as :class:`RedisFrontier` does."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._held: dict[str, _Turn] = {}
        self._reported: deque[tuple[_Turn, str]] = deque()  # with these results, and others are not told yet
        self._unsure: list[str] = []  # leased, but what came of their turns is not known
        self._turns = self._redis.register_script(scripts.turns_text())

    def lease(self, limit: int, ahead_ms: int = 0) -> Grant:
        """See :class:`frontier.types.Frontier`; hosts at which another crawl has its turn rest."""
        if self._unsure:
            self.release(self._unsure)
            self._unsure = []
        grant, records = self._grant(limit, ahead_ms)
        found = zip(grant.leases, records, strict=True)
        try:
            refused = self._take_turns([_Turn.of(one, data, self.config) for one, data in found])
        except FrontierUnavailable:
            self._unsure = [lease.token for lease in grant.leases]
            raise
        leases = tuple(lease for lease in grant.leases if lease.token not in refused)
        again = [*refused.values(), *([] if grant.next_due_ms is None else [grant.next_due_ms])]
        return replace(grant, leases=leases, next_due_ms=min(again, default=None))

    def bind(self, token: str, address: str) -> Bound:
        """See :class:`frontier.types.Frontier`; not granted with :data:`OTHER_CRAWL` while another has its turn."""
        bound = super().bind(token, address)
        turn = self._held.get(token)
        if turn is None:
            return bound
        lease = turn.lease
        if not bound.granted:
            self._held.pop(token, None)  # it may have been given back meanwhile
            self._end_turns([turn])
            return bound
        if lease.address and lease.address != address:
            self._ask_turns(ends=[_end(lease, _NOTHING_SENT, is_host=False)])
        refused = self._take_turns([turn.on(address, bound.due_ms)])
        return Bound(False, refused[token], OTHER_CRAWL) if refused else bound

    def report(self, outcomes: Sequence[Outcome]) -> list[bool]:
        """See :class:`frontier.types.Frontier`; others may ask when this crawl might."""
        answers = self.report_first(outcomes)
        self.tell_others()
        return answers

    def report_first(self, outcomes: Sequence[Outcome]) -> list[bool]:
        """See :class:`frontier.redis_frontier.RedisFrontier`: until others are told they wait as for a lease."""
        self._warn(outcomes)
        answers = super().report(outcomes)
        held = [self._held.pop(outcome.token, None) for outcome in outcomes]
        # The turn of a lease that had run out ends by itself, and so do those of which nothing can be said now.
        triples = zip(held, outcomes, answers, strict=True)
        self._reported.extend((turn, outcome.result) for turn, outcome, answer in triples if turn and answer)
        return answers

    def tell_others(self) -> None:
        """See :class:`frontier.redis_frontier.RedisFrontier`: they may ask when this crawl might."""
        ended = [self._reported.popleft() for _ in range(len(self._reported))]
        with contextlib.suppress(FrontierUnavailable):
            if ended:
                self._end_reported(ended)

    def release(self, tokens: Iterable[str]) -> int:
        """See :class:`frontier.types.Frontier`."""
        given = list(tokens)
        number = super().release(given)
        self._end_turns([turn for token in given if (turn := self._held.pop(token, None))])
        return number

    def _warn(self, outcomes: Sequence[Outcome]) -> None:
        """Let the others know for how long servers have asked to be left alone, at least: without a Retry-After the
        shortest of the rests that may be drawn."""
        warnings = []
        for one in outcomes:
            turn = self._held.get(one.token)
            if turn and one.result in _ASKED_FOR and one.result != "robots_redirect":
                rest_ms = one.retry_after_ms
                if rest_ms is None:
                    rest_ms = self.config.rule(one.result).rest_base_ms // 2
                if not rest_ms:
                    continue
                warnings.append([one.token, turn.lease.authority, min(RETRY_AFTER_CAP_MS, rest_ms) - one.ended_ago_ms])
        if warnings:
            self._ask_turns(warnings=warnings)

    def _end_reported(self, ended: Sequence[tuple[_Turn, str]]) -> None:
        """End turns of leases with these results; others may ask hosts and addresses when this crawl might."""
        rests = self._rests([turn.lease for turn, _ in ended])
        ends = []
        for (lease, *_), result in ended:
            rest = rests.get(lease.authority, _NOTHING_SENT)
            origin, robots_ms = "", 0
            if lease.kind is Kind.ROBOTS and result != "robots_redirect" and OUTCOMES[result].sent:
                origin, robots_ms = lease.source, rests.get(lease.source, _NOTHING_SENT).robots_ms
                if result in _BUSY and origin == lease.authority:
                    rest = rest._replace(asked_ms=max(rest.asked_ms, robots_ms))
            ends.append(_end(lease, rest, (origin, robots_ms)))
        self._ask_turns(ends=ends)

    def _rests(self, leases: Sequence[Lease]) -> dict[str, wire.Rests]:
        """Until when hosts and their addresses are left alone after the last answer, by authority."""
        names = dict.fromkeys(lease.authority for lease in leases)
        names |= dict.fromkeys(lease.source for lease in leases if lease.kind is Kind.ROBOTS)
        with answering(self.crawl):
            records = self._redis.mget(map(self.keys.record, names))
        found = zip(names, records, strict=True)
        return {name: wire.rests(data, self.config, _ASKED_FOR) for name, data in found if data}

    def _take_turns(self, turns: Sequence[_Turn]) -> dict[str, int]:
        """Take turns. The leases of those refused go back, and their hosts or addresses rest; of each its token and
        until when."""
        if not turns:
            return {}
        self._held.update({turn.lease.token: turn for turn in turns})
        asks = [
            [
                *(one.token, one.due_ms, one.expires_ms, one.authority, turn.delay_ms),
                *(one.address, turn.address_delay_ms, turn.rules_until_ms),
            ]
            for turn in turns
            for one in (turn.lease,)
        ]
        again = self._ask_turns(asks=asks)
        refused = {
            turn.lease.token: (turn.lease.due_ms, rests)
            for turn, rests in zip(turns, zip(again[::3], again[1::3], again[2::3], strict=True), strict=True)
            if any(rests)
        }
        if refused:
            self._run("release", [[*wire.token_parts(one), *rests, OTHER_CRAWL] for one, (_, rests) in refused.items()])
            for token in refused:
                self._held.pop(token, None)
        return {token: max(due_ms, *rests[:2]) for token, (due_ms, rests) in refused.items()}

    def _end_turns(self, turns: Sequence[_Turn]) -> None:
        """End turns with which nothing was sent: others may ask host and address when the lease might."""
        if turns:
            self._ask_turns(ends=[_end(turn.lease, _NOTHING_SENT) for turn in turns])

    def _ask_turns(
        self, *, warnings: Sequence[object] = (), ends: Sequence[object] = (), asks: Sequence[object] = ()
    ) -> list[int]:
        try:
            with answering(self.crawl):
                answer = self._turns(
                    keys=[PREFIX], args=[wire.encode([self.crawl, warnings, ends, asks]), *self._moment()]
                )
        except FrontierElsewhere:  # a Cluster: other crawls lie elsewhere, too
            return [0] * (3 * len(asks))
        return [int(instant) for instant in wire.decode(answer)]


def _end(lease: Lease, rests: wire.Rests, robots: tuple[str, int] = ("", 0), *, is_host: bool = True) -> list[object]:
    """The end of a lease's turns, of the address' alone when not `is_host`, as turns.lua wants it; `robots`: whose
    robots.txt was asked for, and when that may be again."""
    name, (host_ms, address_ms, asked_ms, _) = lease.authority if is_host else "", rests
    return [lease.token, lease.due_ms, name, host_ms, asked_ms, lease.address, address_ms, *robots]
