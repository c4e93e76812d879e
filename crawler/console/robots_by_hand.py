"""robots.txt for what is fetched by hand, as a crawl reads it: `scrapy fetch`, `view` and `shell`.

Guarantees: nothing else is asked of a host before its robots.txt has been read; 4xx allows, what cannot be had (a
failure, 5xx, 429, a sixth redirect, one that is to be waited for) forbids, and is asked for again with the next
request. Scrapy's own middleware takes all of these for leave to fetch. Source: RFC 9309 2.2.2, 2.3.1.
"""

from __future__ import annotations

import logging
from typing import Self
from urllib.parse import urlsplit

from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Request

from crawler.console.polite_client import MOST_HOPS, rules_text
from crawler.fetch.errors import FetchError
from crawler.pages import answers
from frontier.robots import Rules
from seeds.survey.probe import Fetched
from sieve.urls import authority

logger = logging.getLogger(__name__)


class RobotsByHand:
    """Downloader middleware; see the module."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._agent = str(crawler.settings["ROBOTS_USER_AGENT"])
        self._rules: dict[str, Rules] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def process_request(self, request: Request) -> None:
        """IgnoreRequest for what robots.txt forbids; what befell the request for robots.txt itself. ValueError for what
        is neither http nor https."""
        if request.meta.get("robots") or urlsplit(request.url).path == "/robots.txt":
            return
        home = str(authority(request.url))
        if home not in self._rules:
            found = await self._fetched(f"{home}/robots.txt")
            if not found.ok and (not 400 <= found.status < 500 or found.status == 429):
                self._refuse(request, f"{home}/robots.txt cannot be had (status {found.status})")
            self._rules[home] = Rules(rules_text(found), self._agent)
        if not self._rules[home].allowed(request.url):
            self._refuse(request, "robots.txt forbids it")

    def process_exception(self, request: Request, exception: Exception) -> None:
        """IgnoreRequest for what got no answer: a line of the log in place of Scrapy's traceback, and a shell opens."""
        if isinstance(exception, FetchError):
            self._refuse(request, str(exception) or type(exception).__name__)

    async def _fetched(self, url: str) -> Fetched:
        found = Fetched(url, 0)
        for _ in range(MOST_HOPS + 1):
            assert self._crawler.engine is not None
            response = await self._crawler.engine.download_async(Request(url, meta={"robots": True}, dont_filter=True))
            result = answers.result_of(response)
            problem = "part" if answers.lacks_rules(response) else ""
            found = Fetched(response.url, response.status, response.body, problem=problem)
            url = answers.location_of(response) if result == "redirect" else ""
            if not url or answers.redirect_wait_ms(response):
                break
        return found

    @staticmethod
    def _refuse(request: Request, why: str) -> None:
        logger.warning("Not fetched, %s: %s", why, request.url)
        raise IgnoreRequest(why)
