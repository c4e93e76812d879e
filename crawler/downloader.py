"""Scrapy's downloader: what a downloader middleware puts in place of an answer says whose answer that was.

Scrapy hands such a request to the scheduler as any other. One that was made from the page's own has its lease in its
`meta`; one that was made anew has nothing, and the page's lease would run out and be fetched again, over and over.
"""

from __future__ import annotations

from scrapy import Spider
from scrapy.core.downloader import Downloader
from scrapy.http import Request, Response
from twisted.internet.defer import Deferred

from crawler.pages.answers import lease_of


class FrontierDownloader(Downloader):
    """See the module."""

    def fetch(self, request: Request, spider: Spider | None = None) -> Deferred[Response | Request]:  # noqa: ARG002
        return super().fetch(request).addCallback(_of_page, request)


def _of_page(result: Response | Request, request: Request) -> Response | Request:
    if isinstance(result, Request) and lease_of(result) is None and (lease := lease_of(request)) is not None:
        result.meta.update(lease=lease, capture=request.meta.get("capture"))
    return result
