"""Scrapy's downloader, which spends a lease on the request that the scheduler has made for it, and on no other.

All that is to be fetched comes here first, that request before any code of a project's has seen it. Middlewares and
callbacks may send it once more, or a copy of it or of its `meta`, before, while or after it is under way: its lease is
spent then, and what is refused here has passed no middleware.

A request that a middleware puts in place of an answer ends the fetch like any other failure, so that the errback of the
page ends its lease. Scrapy would hand it to the scheduler like one that the middleware asks for besides, and a filter,
as Scrapy's of `allowed_domains` is one, may drop it before.
"""

from __future__ import annotations

import logging

from scrapy import Spider
from scrapy.core.downloader import Downloader
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Request, Response
from twisted.internet.defer import Deferred

from crawler.pages.answers import OutsideFrontierError, lease_of
from crawler.work.held import HeldLease

logger = logging.getLogger(__name__)


class InPlaceError(IgnoreRequest):
    """A downloader middleware gave `request` in place of an answer."""

    def __init__(self, request: Request) -> None:
        super().__init__(f"a middleware asked for {request} instead")
        self.request = request


class FrontierDownloader(Downloader):
    """See the module."""

    def fetch(self, request: Request, spider: Spider | None = None) -> Deferred[Response | Request]:  # noqa: ARG002
        """:class:`OutsideFrontierError` for what no lease is left for; of the deferred :class:`InPlaceError`."""
        grant = request.meta.get("grant")
        if lease_of(request) is None or not isinstance(grant, HeldLease) or grant.spent:
            # Scrapy's pipelines pass over it without a word.
            logger.warning("Not fetched: %s: no delay and no robots.txt would hold for it", request.url)
            raise OutsideFrontierError(f"not fetched, since it is no request of the frontier's: {request}")
        grant.spent = True
        return super().fetch(request).addCallback(_answer)


def _answer(result: Response | Request) -> Response:
    if isinstance(result, Request):
        raise InPlaceError(result)
    return result
