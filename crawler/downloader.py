"""Scrapy's downloader: what a downloader middleware puts in place of an answer says whose answer that was.

Scrapy hands such a request to the scheduler as any other. Its own `meta` may say nothing of the page's lease, which
would then run out and be fetched again, over and over; or too little, as that of a copy from before the page's request
was sent: it would go out at once, and the host be asked twice without a delay. And what a middleware asks for besides
has the page's lease, too, and must not end it.
"""

from __future__ import annotations

from scrapy import Spider
from scrapy.core.downloader import Downloader
from scrapy.http import Request, Response
from twisted.internet.defer import Deferred

from crawler.pages.answers import lease_of

IN_PLACE = "frontier_in_place"
"""In the `meta` of what is put in place of an answer: the URL that was asked for. No spider calls its own so."""
_OF_THE_FETCH = ("lease", "grant", "capture", "finding")


class FrontierDownloader(Downloader):
    """See the module."""

    def fetch(self, request: Request, spider: Spider | None = None) -> Deferred[Response | Request]:  # noqa: ARG002
        return super().fetch(request).addCallback(_of_page, request)


def _of_page(result: Response | Request, request: Request) -> Response | Request:
    if isinstance(result, Request) and lease_of(request) is not None:
        known = {name: request.meta[name] for name in _OF_THE_FETCH if name in request.meta}
        for name in _OF_THE_FETCH:
            result.meta.pop(name, None)
        result.meta.update(known, **{IN_PLACE: request.url})
    return result
