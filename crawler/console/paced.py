"""The pace of a crawl for what several spiders ask for at once: `scrapy check`.

Guarantees: what crawler/console/politeness.py does, for all spiders together; who refuses (429, 503, a Retry-After) is
not asked again. Scrapy's DOWNLOAD_DELAY is from begin to begin, and each spider has one of its own.
"""

from __future__ import annotations

from typing import ClassVar

from scrapy.crawler import Crawler
from scrapy.http import Request, Response

from crawler.console.opted_out import OptedOut
from crawler.console.politeness import Known, Politeness
from crawler.fetch.handler import FetchHandler


class PacedHandler(FetchHandler):
    """See the module; subclasses have what is `known` to all."""

    known: ClassVar[Known]

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._politeness = Politeness(crawler.settings, self.known, asks_again=False)
        self._opted_out = OptedOut(crawler.settings, spider=getattr(crawler.spidercls, "name", ""))

    async def download_request(self, request: Request) -> Response:
        async with self._politeness.turn(request.url, self._opted_out) as request.meta["grant"]:
            response = await super().download_request(request)
            self._politeness.answered(request.url, response)
            return response

    async def close(self) -> None:
        await super().close()
        self._opted_out.close()
