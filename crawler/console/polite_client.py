"""Fetches single addresses for commands, outside any crawl but under the same manners.

Guarantees, for one process: only addresses that the guard allows are connected to; nothing is fetched that has opted
out (crawler/console/opted_out.py) or that robots.txt denies, nor faster than hosts and addresses may be asked
(crawler/console/politeness.py). Redirects are followed hop by hop under the same rules, none that is to be waited for.
A crawl running at the same time knows nothing of it: do not aim both at one host.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Self
from urllib.parse import urlsplit

from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Request, Response
from scrapy.settings import Settings
from scrapy.statscollectors import DummyStatsCollector

from crawler.console.opted_out import OptedOut
from crawler.console.politeness import MOST_HOPS, Known, Politeness, next_hop
from crawler.console.terminal import waiting
from crawler.fetch.errors import FetchError
from crawler.fetch.handler import Capture, FetchHandler
from crawler.fetch.unpacking import Unpacking
from crawler.pages import answers
from frontier.types import HostPolicy
from seeds.survey.probe import Fetched
from sieve.urls import as_parsed


@dataclass(frozen=True, slots=True)
class Visit:
    """What came of one address: the answer as seeds' tools take it, and every exchange on the way to it."""

    fetched: Fetched
    captures: tuple[Capture, ...] = ()


class PoliteClient:
    """See the module. For use in one event loop; `settings` must have our defaults (`crawler.addon.Ulwembu`).

    `opted_out` is the caller's; `wait_s` bounds each request, `delay_s` is the pause between two requests to a host;
    None: as the settings say. What `politeness` knows of hosts may be another client's, which asks no more.
    """

    def __init__(
        self,
        settings: Settings,
        opted_out: OptedOut,
        wait_s: float | None = None,
        delay_s: float | None = None,
        at_once: int = 1000,
    ) -> None:
        """`at_once`: most requests under way."""
        self._opted_out = opted_out
        self.politeness = Politeness(settings, Known(), delay_s=delay_s)
        settings = settings.copy()
        self._at_once = asyncio.Semaphore(at_once)
        if wait_s is not None:
            settings.set("DOWNLOAD_TIMEOUT", wait_s, priority="cmdline")
            settings.set("FETCH_CONNECT_TIMEOUT_S", wait_s, priority="cmdline")
        crawler = Crawler(Spider, settings)
        crawler.stats = DummyStatsCollector(crawler)
        self._handler = FetchHandler(crawler)
        self._unpack = Unpacking(crawler=crawler)  # also where COMPRESSION_ENABLED is off
        self._agent = str(settings["USER_AGENT"])

    async def close(self) -> None:
        """Close all connections."""
        await self._handler.close()

    async def fetch(self, url: str) -> Visit:
        """Fetch `url` and follow its redirects; never raises for what the web does. OptOutsUnreadError."""
        captures: list[Capture] = []
        for _ in range(MOST_HOPS + 1):
            fetched, location = await self._step(url, captures)
            if not location:
                return Visit(fetched, tuple(captures))
            url = location
        return Visit(Fetched(url, 0, problem="too_many_redirects"), tuple(captures))

    async def _step(self, url: str, captures: list[Capture]) -> tuple[Fetched, str]:
        """One hop: what came, and where it leads on ("" when it is the answer)."""
        try:
            url = as_parsed(url)
        except ValueError:
            return Fetched(url, 0, problem="not_http"), ""
        if self._opted_out.against(url):
            return Fetched(url, 0, problem="opted_out"), ""
        ask_robots = partial(self._ask, captures=[], robots=True)
        try:
            if urlsplit(url).path == "/robots.txt":
                robots = await self.politeness.robots(url, ask_robots)
                if robots.answer is not None:
                    return _fetched(robots.answer, robots=True), ""
            await self.politeness.allow(url, ask_robots)
            response = await self._ask(url, captures)
        except FetchError as error:
            return Fetched(url, 0, problem=error.outcome), ""
        return _fetched(response), next_hop(response)

    async def _ask(self, url: str, captures: list[Capture], *, robots: bool = False) -> Response:
        """The answer, unpacked where it is whole; one that unpacks to more than the limit counts as cut there."""
        headers, meta = {"User-Agent": self._agent, "Accept": "*/*"}, {"robots": robots}
        request = Request(url, headers=headers, meta=meta, dont_filter=True)
        self._unpack.process_request(request)
        try:
            async with self.politeness.turn(url, self._opted_out) as request.meta["grant"], self._at_once:
                response = await self._handler.download_request(request)
                self.politeness.answered(url, response)
        finally:
            if (capture := request.meta.get("capture")) is not None and capture.answer is not None:
                captures.append(capture)
        if answers.result_of(response) in ("too_large", "part"):
            return response
        try:
            unpacked = self._unpack.process_response(request, response)
        except IgnoreRequest:
            return response.replace(flags=["truncated"])
        assert isinstance(unpacked, Response)
        return unpacked


def _fetched(response: Response, *, robots: bool = False) -> Fetched:
    result = answers.result_of(response)
    if result == "redirect":
        return Fetched(response.url, response.status, problem="resting" if answers.redirect_wait_ms(response) else "")
    # Of rules that are too long the begin counts (RFC 9309 2.5), as in a crawl.
    if result in ("too_large", "part") and (not robots or answers.lacks_rules(response)):
        return Fetched(response.url, response.status, problem=result)
    return Fetched(response.url, response.status, response.body, answers.header(response, "Content-Type"))


class BlockingFetch:
    """A `seeds.survey.probe.Fetch`: a client for code that waits for each answer. Closes its connections on exit.

    `crawl` is the one it is for, if any; `before`: whose hosts it is to spare as its own, of the same process and
    settings. PreflightError, RedisUnreachableError.
    """

    def __init__(self, settings: Settings, crawl: str = "", before: BlockingFetch | None = None) -> None:
        self.opted_out = OptedOut(settings, crawl)
        self._runner = asyncio.Runner()
        self._client = PoliteClient(settings, self.opted_out)
        if before is not None:
            self._client.politeness = before._client.politeness
        self._client.politeness.waiting = waiting

    def keep_to(self, policies: Mapping[str, HostPolicy]) -> None:
        """See :meth:`Politeness.keep_to`."""
        self._client.politeness.keep_to(policies)

    def __call__(self, url: str) -> Fetched:
        return self._runner.run(self._client.fetch(url)).fetched

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._runner.run(self._client.close())
        self._runner.close()
        self.opted_out.close()
