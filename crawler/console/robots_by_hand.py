"""robots.txt for what is fetched by hand, as a crawl reads it: `scrapy fetch`, `view`, `shell` and `check`.

Guarantees: nothing is asked for that robots.txt does not allow, as crawler/console/politeness.py reads it; what
cannot be had forbids, where nobody keeps a pace until the next request only, with which it is asked for again. Scrapy's
own middleware takes it for leave to fetch.
"""

from __future__ import annotations

import logging
from typing import ClassVar, NoReturn, Self
from urllib.parse import urlsplit

from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Request, Response

from crawler.console.politeness import Known, Politeness, RefusedError
from crawler.fetch.errors import FetchError

logger = logging.getLogger(__name__)


class RobotsByHand:
    """Downloader middleware; see the module. Subclasses may have what is `known` to all who keep a pace."""

    known: ClassVar[Known | None] = None

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._politeness = Politeness(crawler.settings, self.known or Known(), paced=self.known is not None)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def process_request(self, request: Request) -> None:
        """IgnoreRequest for what robots.txt forbids; what befell the request for robots.txt itself. ValueError for what
        is neither http nor https."""
        if request.meta.get("robots") or urlsplit(request.url).path == "/robots.txt":
            return
        try:
            await self._politeness.allow(request.url, self._ask)
        except RefusedError as refused:
            self._refuse(request, str(refused))

    def process_exception(self, request: Request, exception: Exception) -> None:
        """IgnoreRequest for what got no answer: a line of the log in place of Scrapy's traceback, and a shell opens.
        Why a robots.txt got none is kept, and said of the page."""
        if isinstance(exception, FetchError) and not request.meta.get("robots"):
            self._refuse(request, str(exception) or type(exception).__name__)

    async def _ask(self, url: str) -> Response:
        assert self._crawler.engine is not None
        request = Request(url, meta={"robots": True, "dont_cache": True}, dont_filter=True)
        try:
            return await self._crawler.engine.download_async(request)
        except IgnoreRequest as refused:  # where it has moved to has opted out, or it unpacks to more than is read
            raise RefusedError("robots_unreachable", str(refused)) from None

    @staticmethod
    def _refuse(request: Request, why: str) -> NoReturn:
        logger.warning("Not fetched, %s: %s", why, request.url)
        raise IgnoreRequest(why)
