"""Crawls of different names on one Redis take turns at the hosts and addresses that they share.

Each crawl's frontier knows only its own leases. So that a site is asked no faster by three crawls than by one, a lease
also takes the turn at its host and at its address, under keys that all crawls have in common, behind
``{ulwembu}:turns:``

==========  ===========================================================================================================
``t:NAME``  msgpack [crawl, token, until]: whose turn it is at an authority or address; without a token it rests, by
            the delay (or the rest that the server has asked for) after that crawl's answer; without a crawl it is
            what was left of a rest when a lease ended with which nothing was sent
``n:NAME``  msgpack [crawl, until, since]: who has been refused and is next; until then the last one must wait
==========  ===========================================================================================================

They expire by themselves: a turn with its lease and a delay, a place in line some seconds after its crawl was to ask
again. A lease that is refused goes back, and its host, with the reason :data:`OTHER_CRAWL`, or its address rests for so
long; both in one step, so that no other worker of the crawl asks meanwhile and no longer rest is cut short. What Redis
did not answer between two of the steps ends with the lease, or goes back with the next :meth:`lease`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from types import MappingProxyType
from typing import Any

import redis

from frontier import wire
from frontier.answering import answering
from frontier.errors import FrontierUnavailable
from frontier.outcomes import OUTCOMES
from frontier.redis_frontier import RedisFrontier
from frontier.types import Bound, Grant, Lease, Outcome

OTHER_CRAWL = "other_crawl"
PREFIX = "{ulwembu}:turns:"
_ASKED_FOR = frozenset(result for result, row in OUTCOMES.items() if row.sent and row.rest_base_ms)
"""Rests that are the server's doing; others (a quota, a trap) are this crawl's own."""


class TurnTakingFrontier(RedisFrontier):
    """See the module's text; for a crawl that has the Redis to itself it does as :class:`RedisFrontier` does."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._held: dict[str, Lease] = {}
        self._unsure: list[str] = []  # leased, but what came of their turns is not known
        self._turns = self._redis.register_script((files("frontier") / "lua" / "turns.lua").read_text("utf-8"))

    def lease(self, limit: int, ahead_ms: int = 0) -> Grant:
        """See :class:`frontier.types.Frontier`; hosts at which another crawl has its turn rest."""
        if self._unsure:
            self.release(self._unsure)
            self._unsure = []
        grant = super().lease(limit, ahead_ms)
        try:
            refused = self._take_turns(grant.leases)
        except FrontierUnavailable:
            self._unsure = [lease.token for lease in grant.leases]
            raise
        leases = tuple(lease for lease in grant.leases if lease.token not in refused)
        again = [*refused.values(), *([] if grant.next_due_ms is None else [grant.next_due_ms])]
        return replace(grant, leases=leases, next_due_ms=min(again, default=None))

    def bind(self, token: str, address: str) -> Bound:
        """See :class:`frontier.types.Frontier`; not granted with :data:`OTHER_CRAWL` while another has its turn."""
        bound = super().bind(token, address)
        lease = self._held.get(token)
        if lease is None:
            return bound
        if not bound.granted:
            self._end_turns([self._held.pop(token)])
            return bound
        if lease.address and lease.address != address:
            self._ask_turns([[token, lease.due_ms, "", 0, lease.address, 0]], [])
        refused = self._take_turns([replace(lease, address=address, due_ms=bound.due_ms)])
        return Bound(False, refused[token], OTHER_CRAWL) if refused else bound

    def report(self, outcomes: Sequence[Outcome]) -> list[bool]:
        """See :class:`frontier.types.Frontier`; others may ask when this crawl might."""
        answers = super().report(outcomes)
        held = [self._held.pop(outcome.token, None) for outcome in outcomes]
        # The turn of a lease that had run out ends by itself, and so do those of which nothing can be said now.
        ended = [lease for lease, answer in zip(held, answers, strict=True) if lease and answer]
        with contextlib.suppress(FrontierUnavailable):
            self._end_turns(ended, self._rests(ended) if ended else {})
        return answers

    def release(self, tokens: Iterable[str]) -> int:
        """See :class:`frontier.types.Frontier`."""
        given = list(tokens)
        number = super().release(given)
        self._end_turns([lease for token in given if (lease := self._held.pop(token, None))])
        return number

    def _rests(self, leases: Sequence[Lease]) -> dict[str, tuple[int, int]]:
        """Until when hosts and their addresses are left alone after the last answer, by authority."""
        names = list(dict.fromkeys(lease.authority for lease in leases))
        with answering(self.crawl):
            records = self._redis.mget(map(self.keys.record, names))
        found = zip(names, records, strict=True)
        return {name: wire.rests_ms(data, self.config, _ASKED_FOR) for name, data in found if data}

    def _take_turns(self, leases: Sequence[Lease]) -> dict[str, int]:
        """Take the turns of leases. Those refused go back, and their hosts or addresses rest; of each its token and
        until when."""
        if not leases:
            return {}
        self._held.update({lease.token: lease for lease in leases})
        # When a lease runs out, for its own crawl too an answer has just ended.
        delay_ms, address_delay_ms = self.config.delay_ms, self.config.address_delay_ms
        asks = [
            [
                *(one.token, one.due_ms, one.expires_ms),
                *(one.authority, one.expires_ms + delay_ms),
                *(one.address, one.expires_ms + address_delay_ms),
            ]
            for one in leases
        ]
        again = self._ask_turns([], asks)
        refused = {
            lease.token: (host_ms, address_ms)
            for lease, host_ms, address_ms in zip(leases, again[::2], again[1::2], strict=True)
            if host_ms or address_ms
        }
        if refused:
            self._run("release", [[*wire.token_parts(one), *rests, OTHER_CRAWL] for one, rests in refused.items()])
            for token in refused:
                self._held.pop(token, None)
        return {token: max(rests) for token, rests in refused.items()}

    def _end_turns(self, leases: Sequence[Lease], rests: Mapping[str, tuple[int, int]] = MappingProxyType({})) -> None:
        """End turns; others may ask host and address when `rests` says so, where it does not when the lease might."""
        if leases:
            ends = []
            for lease in leases:
                host_ms, address_ms = rests.get(lease.authority, (0, 0))
                ends.append([lease.token, lease.due_ms, lease.authority, host_ms, lease.address, address_ms])
            self._ask_turns(ends, [])

    def _ask_turns(self, ends: Sequence[object], asks: Sequence[object]) -> list[int]:
        moment = [self._now_ms()] if self._now_ms else []
        try:
            with answering(self.crawl):
                answer = self._turns(keys=[PREFIX], args=[wire.encode([self.crawl, ends, asks]), *moment])
        except redis.exceptions.MovedError:  # a Cluster: other crawls lie elsewhere, too
            return [0] * (2 * len(asks))
        return [int(instant) for instant in wire.decode(answer)]
