"""The pace of a crawl for what several spiders ask for at once, in one process and without a frontier: `scrapy check`.

Guarantees: a host is asked one thing at a time, with at least FRONTIER_DELAY_S, or the Crawl-delay of its robots.txt,
between the end of an answer and the next request, an address likewise with FRONTIER_IP_DELAY_S, where that is shorter;
its robots.txt is read once for all spiders; a host whose Crawl-delay is above FRONTIER_MAX_CRAWL_DELAY_S is not asked
but for that; one that is busy (429, 503) or refuses with a Retry-After is not asked again. Scrapy's DOWNLOAD_DELAY is
from begin to begin, and each spider has one of its own.
"""

from __future__ import annotations

import asyncio
import math
from collections import defaultdict
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import ClassVar, Self

from scrapy.crawler import Crawler
from scrapy.http import Request, Response

from crawler.console.opted_out import OptedOut
from crawler.console.polite_client import Place, Turn
from crawler.console.robots_by_hand import KnownRules, RobotsByHand
from crawler.fetch.connection import BUSY
from crawler.fetch.errors import FetchError
from crawler.fetch.handler import FetchHandler
from crawler.pages import answers
from frontier.clock_line import uptime_s
from sieve.urls import authority

__all__ = ["Pace", "PacedHandler", "PacedRobots"]


@dataclass(slots=True)
class _Host:
    """When its last answer ended (:func:`uptime_s`), its Crawl-delay, and whether it wants to be left alone: why."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    ended: float = -math.inf
    asked_s: float = 0.0
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class Pace:
    """What is known of hosts and addresses, for all spiders of a command."""

    hosts: defaultdict[str, _Host] = field(default_factory=lambda: defaultdict(_Host))
    addresses: defaultdict[str, Place] = field(default_factory=lambda: defaultdict(Place))
    robots: KnownRules = field(default_factory=KnownRules)


class PacedHandler(FetchHandler):
    """See the module. `request.meta["crawl_delay_s"]` is what robots.txt asks for (crawler/console/robots_by_hand.py);
    subclasses have a `pace`."""

    pace: ClassVar[Pace]

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        settings = crawler.settings
        self._delay_s = settings.getfloat("FRONTIER_DELAY_S")
        self._address_delay_s = min(settings.getfloat("FRONTIER_IP_DELAY_S"), self._delay_s)
        self._most_s = settings.getfloat("FRONTIER_MAX_CRAWL_DELAY_S")
        self._opted_out = OptedOut(settings, spider=getattr(crawler.spidercls, "name", ""))

    async def download_request(self, request: Request) -> Response:
        host = self.pace.hosts[str(authority(request.url))]
        host.asked_s = request.meta.get("crawl_delay_s", host.asked_s)
        async with host.lock:
            await self._wait(host)
            request.meta["grant"] = turn = Turn(self.pace.addresses, self._opted_out, lambda _: nullcontext())
            try:
                response = await super().download_request(request)
            finally:
                turn.end(self._address_delay_s)
                host.ended = uptime_s()
            if response.status in BUSY or answers.retry_after_ms(response):
                host.refusal = f"the host has answered {response.status}"
            return response

    async def _wait(self, host: _Host) -> None:
        """Until it may be asked; FetchError when it may not in this run."""
        if host.refusal:
            raise FetchError(f"{host.refusal} and is not asked again")
        if host.asked_s > self._most_s:
            raise FetchError(f"Crawl-delay {host.asked_s:g} s is above FRONTIER_MAX_CRAWL_DELAY_S={self._most_s:g}")
        # What another spider has read of its robots.txt may put it off meanwhile.
        while (left_s := host.ended + max(self._delay_s, host.asked_s) - uptime_s()) > 0:
            await asyncio.sleep(left_s)

    async def close(self) -> None:
        await super().close()
        self._opted_out.close()


class PacedRobots(RobotsByHand):
    """What one spider has read of a robots.txt all go by; subclasses have a `pace`."""

    pace: ClassVar[Pace]

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler, cls.pace.robots)
