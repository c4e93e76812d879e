"""Simulated crawls with delays: what may be fetched now is then seldom what is worth most, and time counts as well.

Hosts are asked again after the delay, some URLs are fetched at a time, and each takes half a second; the clock is
moved from event to event."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, replace

from bench.focus.crawl import Steered, reachable
from bench.focus.webs import Web
from frontier import FrontierConfig, Lease, Outcome
from relevance.steering.yield_policy import YieldPolicy

FETCH_MS = 500
AT_A_TIME = 32


@dataclass(frozen=True, slots=True)
class Crawled:
    """Fetches until enough was found, and seconds."""

    fetches: int
    seconds: float


class Delayed(Steered):
    """A crawl by `yield` with so many ms between an answer and the next request to its host.

    least_share: as FRONTIER_LEAST_SHARE; steered False: all links are worth the same, so each host's go in the order in
    which they were found."""

    def __init__(self, web: Web, delay_ms: int, least_share: float, *, steered: bool = True) -> None:
        self._now_ms = 1
        super().__init__(
            web,
            YieldPolicy(web.target, {}, web.model),
            FrontierConfig(
                delay_ms=delay_ms,
                least_share=least_share,
                least_every_ms=max(1, delay_ms / 2),
                better_wait_ms=2 * delay_ms + 1000,
            ),
            lambda: self._now_ms,
        )
        self._is_steered = steered

    def crawl(self, share: float) -> Crawled:
        """Until this share of the reachable relevant pages is found."""
        nodes = self._web.nodes
        missing = share * sum(nodes[place].relevant for place in reachable(self._web))
        self._begin()
        under_way: list[tuple[int, int, Lease]] = []  # by the instant of the answer
        fetches, begun = 0, 0
        while missing > 0:
            grant = self._frontier.lease(AT_A_TIME - len(under_way))
            for lease in grant.leases:
                begun += 1
                heapq.heappush(under_way, (lease.due_ms + FETCH_MS, begun, lease))
            again_ms = grant.next_due_ms if len(under_way) < AT_A_TIME else None
            answer_ms = under_way[0][0] if under_way else None
            if again_ms is not None and (answer_ms is None or again_ms < answer_ms):
                self._now_ms = max(self._now_ms + 1, again_ms)
                continue
            if answer_ms is None:
                break
            self._now_ms = max(self._now_ms, answer_ms)
            lease = heapq.heappop(under_way)[2]
            fetches += 1
            missing -= nodes[self._places[lease.url]].relevant
            self._finish(lease)
        return Crawled(fetches, self._now_ms / 1000)

    def _finish(self, lease: Lease) -> None:
        if self._is_steered:
            super()._finish(lease)
            return
        links = self._links(self._web.nodes[self._places[lease.url]], lease)
        self._frontier.take_in([replace(link, score=0.5) for link in links])
        self._frontier.report([Outcome(lease.token, "ok")])
