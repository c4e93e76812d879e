"""Crawls of different names on one Redis take turns at the hosts and addresses that they share.

Each crawl's frontier knows only its own leases. So that a site is asked no faster by three crawls than by one, a lease
also takes the turn at its host and at its address, under keys that all crawls have in common, behind
``{ulwembu}:turns:``

==========  ===========================================================================================================
``t:NAME``  msgpack [crawl, token, until]: whose turn it is at an authority or address; without a token nobody's, the
            delay (or the rest that the server has asked for) after that crawl's answer
``n:NAME``  msgpack [crawl, until]: who has been refused and is next; until then the last one must wait
==========  ===========================================================================================================

They expire by themselves: a turn with its lease, a place in line some seconds after its crawl was to ask again. A crawl
that is refused gives its lease back and lets the host rest for so long, with the reason :data:`OTHER_CRAWL`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from importlib.resources import files
from typing import Any

import redis

from frontier import wire
from frontier.answering import answering
from frontier.errors import FrontierUnavailable
from frontier.outcomes import OUTCOMES
from frontier.redis_frontier import RedisFrontier
from frontier.types import Bound, Grant, HostState, Lease, Outcome

OTHER_CRAWL = "other_crawl"
PREFIX = "{ulwembu}:turns:"
_ASKED_FOR = frozenset(result for result, row in OUTCOMES.items() if row.sent and row.rest_base_ms)
"""Rests that are the server's doing; others (a quota, a trap) are this crawl's own."""


class TurnTakingFrontier(RedisFrontier):
    """See the module's text; for a crawl that has the Redis to itself it does as :class:`RedisFrontier` does."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._held: dict[str, Lease] = {}
        self._taking, self._leaving = (
            self._redis.register_script((files("frontier") / "lua" / f"{name}.lua").read_text("utf-8"))
            for name in ("take_turns", "leave_turns")
        )

    def lease(self, limit: int, ahead_ms: int = 0) -> Grant:
        """See :class:`frontier.types.Frontier`; hosts at which another crawl has its turn rest."""
        grant = super().lease(limit, ahead_ms)
        refused = self._take_turns(grant.leases)
        leases = tuple(lease for lease in grant.leases if lease.token not in refused)
        again = [*refused.values(), *([] if grant.next_due_ms is None else [grant.next_due_ms])]
        return replace(grant, leases=leases, next_due_ms=min(again, default=None))

    def bind(self, token: str, address: str) -> Bound:
        """See :class:`frontier.types.Frontier`; not granted with :data:`OTHER_CRAWL` while another has its turn."""
        bound = super().bind(token, address)
        if not bound.granted:
            self._leave_turns([(token, 0, 0)])
        elif lease := self._held.get(token):
            refused = self._take_turns([replace(lease, address=address, due_ms=bound.due_ms)])
            if refused:
                return Bound(False, refused[token], OTHER_CRAWL)
        return bound

    def report(self, outcomes: Sequence[Outcome]) -> list[bool]:
        """See :class:`frontier.types.Frontier`; others may ask when this crawl might."""
        answers = super().report(outcomes)
        # What cannot be said now ends by itself, with the lease.
        with contextlib.suppress(FrontierUnavailable):
            tokens = [outcome.token for outcome in outcomes]
            names = {token: self._held[token].authority for token in tokens if token in self._held}
            rests = {name: _rests(state) for name, state in self._states(set(names.values()))}
            self._leave_turns([(token, *rests.get(name, (0, 0))) for token, name in names.items()])
        return answers

    def release(self, tokens: Iterable[str]) -> int:
        """See :class:`frontier.types.Frontier`."""
        given = list(tokens)
        number = super().release(given)
        dues = {token: self._held[token].due_ms for token in given if token in self._held}
        self._leave_turns([(token, due_ms, due_ms) for token, due_ms in dues.items()])
        return number

    def _states(self, authorities: Iterable[str]) -> Iterator[tuple[str, HostState]]:
        for name, data, _ in self._read(authorities):
            if data:
                yield name, wire.host_state(name, data, self.config)

    def _take_turns(self, leases: Sequence[Lease]) -> dict[str, int]:
        """Take the turns of leases. Those refused go back, and their hosts rest; of each its token and until when."""
        if not leases:
            return {}
        asked = [[one.token, one.due_ms, one.expires_ms, one.authority, one.address] for one in leases]
        again = [int(instant) for instant in self._turns(self._taking, asked)]
        self._held |= {lease.token: lease for lease in leases}
        refused = {lease.token: instant for lease, instant in zip(leases, again, strict=True) if instant}
        if refused:
            self.release(refused)
            now_ms = self._now()
            for lease in leases:
                if lease.token in refused:
                    self.park(lease.authority, OTHER_CRAWL, max(1, refused[lease.token] - now_ms))
        return refused

    def _leave_turns(self, ends: Iterable[tuple[str, int, int]]) -> None:
        """End turns: of each the token and from when on others may ask the host, and the address."""
        left: list[object] = []
        for token, host_ms, address_ms in ends:
            if lease := self._held.pop(token, None):
                left.append([token, lease.authority, host_ms, lease.address, address_ms])
        if left:
            self._turns(self._leaving, left)

    def _turns(self, script: Any, leases: Sequence[object]) -> Any:
        moment = [self._now_ms()] if self._now_ms else []
        try:
            with answering(self.crawl):
                return wire.decode(script(keys=[PREFIX], args=[wire.encode([self.crawl, leases]), *moment]))
        except redis.exceptions.MovedError:  # a Cluster: other crawls lie elsewhere, too
            return [0] * len(leases)


def _rests(state: HostState) -> tuple[int, int]:
    """Until when the host and its address are left alone after the last answer."""
    asked_for_ms = state.rest_ms if state.rest_reason in _ASKED_FOR else 0
    return max(state.next_ms, asked_for_ms), state.next_ms - state.delay_ms + state.address_delay_ms
