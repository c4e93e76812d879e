"""robots.txt for what is fetched by hand, as a crawl reads it: `scrapy fetch`, `view`, `shell` and `check`.

Guarantees: nothing else is asked of a host before its robots.txt has been read, and anew each ROBOTS_MAX_AGE_S (a shell
may stay open for days); 4xx allows, what cannot be had (a failure, 5xx, 429, a sixth redirect, one that is to be waited
for) forbids, and is asked for again with the next request. Scrapy's own middleware takes all of these for leave to
fetch. Source: RFC 9309 2.2.2, 2.3.1, 2.4.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from dataclasses import dataclass, field
from typing import NoReturn, Self
from urllib.parse import urlsplit

from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Request, Response

from crawler.console.polite_client import MOST_HOPS
from crawler.fetch.errors import FetchError
from crawler.pages import answers
from frontier.clock_line import uptime_s
from frontier.outcomes import DAY
from frontier.robots import Rules
from sieve.urls import authority

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class KnownRules:
    """By authority and the name under which one asks: rules, until when they hold, and who is reading them now."""

    rules: dict[tuple[str, str], tuple[Rules, float]] = field(default_factory=dict)
    asking: defaultdict[tuple[str, str], asyncio.Lock] = field(default_factory=lambda: defaultdict(asyncio.Lock))


class RobotsByHand:
    """Downloader middleware; see the module."""

    def __init__(self, crawler: Crawler, known: KnownRules) -> None:
        self._crawler = crawler
        self._known = known
        self._agent = str(crawler.settings["ROBOTS_USER_AGENT"])
        self._age_s = crawler.settings.getfloat("ROBOTS_MAX_AGE_S")

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler, KnownRules())

    async def process_request(self, request: Request) -> None:
        """IgnoreRequest for what robots.txt forbids; what befell the request for robots.txt itself. ValueError for what
        is neither http nor https. Its Crawl-delay goes along for who keeps one (crawler/console/paced.py)."""
        if request.meta.get("robots") or urlsplit(request.url).path == "/robots.txt":
            return
        home = str(authority(request.url))
        key = home, self._agent
        async with self._known.asking[key]:  # the pages of a `check` come together
            rules, until = self._known.rules.get(key, (None, 0.0))
            if rules is None or uptime_s() >= until:
                answer = await self._fetched(f"{home}/robots.txt")
                record = answers.record_of(answer, DAY)
                if record is None or record.kind == "disallow":
                    self._refuse(request, f"{home}/robots.txt cannot be had or read (status {answer.status})")
                rules = Rules.of(record, self._agent)
                self._known.rules[key] = rules, uptime_s() + self._age_s
        if not rules.allowed(request.url):
            self._refuse(request, "robots.txt forbids it")
        request.meta["crawl_delay_s"] = rules.crawl_delay() or 0.0

    def process_exception(self, request: Request, exception: Exception) -> None:
        """IgnoreRequest for what got no answer: a line of the log in place of Scrapy's traceback, and a shell opens."""
        if isinstance(exception, FetchError):
            self._refuse(request, str(exception) or type(exception).__name__)

    async def _fetched(self, url: str) -> Response:
        """The answer in the end; a redirect that is not followed."""
        assert self._crawler.engine is not None
        hops = 0
        while True:
            request = Request(url, meta={"robots": True, "dont_cache": True}, dont_filter=True)
            response = await self._crawler.engine.download_async(request)
            url = answers.location_of(response) if answers.result_of(response) == "redirect" else ""
            if not url or hops == MOST_HOPS or answers.redirect_wait_ms(response):
                return response
            hops += 1

    @staticmethod
    def _refuse(request: Request, why: str) -> NoReturn:
        logger.warning("Not fetched, %s: %s", why, request.url)
        raise IgnoreRequest(why)
