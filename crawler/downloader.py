"""Scrapy's downloader, which spends a lease on the request that the scheduler has made for it, and on no other.

All that is to be fetched comes here first, that request before any code of a project's has seen it. Middlewares and
callbacks may send it once more, or a copy of it or of its `meta`, before, while or after it is under way: its lease is
spent then, and what is refused here has passed no middleware. Behind them all, and before anything is sent, it is seen
again: what has another page's lease in its `meta` by then would go to that page's address, by its robots.txt.

Whatever they have made of it, when it ends it has its own lease again and the errback that ends it, and its answer is
its own, also one that a middleware has kept from another page: else the lease would run out and the page be fetched
again, over and over.

A request that a middleware puts in place of an answer ends the fetch like any other failure, so that the errback of the
page ends its lease. Scrapy would hand it to the scheduler like one that the middleware asks for besides, and a filter,
as Scrapy's of `allowed_domains` is one, may drop it before.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from scrapy import Spider
from scrapy.core.downloader import Downloader
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Request, Response
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from crawler.pages.answers import OutsideFrontierError, lease_of
from crawler.pages.own_requests import OF_ONE_FETCH
from crawler.work.held import HeldLease

logger = logging.getLogger(__name__)

LEASE_CHANGED = "a middleware has put another lease, or none, into its meta"


class InPlaceError(IgnoreRequest):
    """A downloader middleware gave `request` in place of an answer, or of the error that this was raised from."""

    def __init__(self, request: Request) -> None:
        super().__init__(f"a middleware asked for {request} instead")
        self.request = request


def refused(request: Request, why: str) -> OutsideFrontierError:
    """To be raised; said here, since Scrapy, and its pipelines, pass over it without a word."""
    logger.warning("Not fetched: %s: %s", request.url, why)
    return OutsideFrontierError(f"not fetched: {request}: {why}")


class FrontierDownloader(Downloader):
    """See the module."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._meta: dict[Request, dict[str, Any]] = {}  # what is ours in that of each request under way

    def fetch(self, request: Request, spider: Spider | None = None) -> Deferred[Response | Request]:  # noqa: ARG002
        """:class:`OutsideFrontierError` for what no lease is left for; of the deferred :class:`InPlaceError`."""
        lease, grant = lease_of(request), request.meta.get("grant")
        if lease is None or not isinstance(grant, HeldLease) or grant.spent:
            raise refused(request, "no delay and no robots.txt would hold for it")
        grant.spent = True
        ours = {name: value for name, value in request.meta.items() if name in OF_ONE_FETCH}
        self._meta[request] = {**ours, "capture": None}
        errback = request.errback  # before a middleware has it
        return super().fetch(request).addBoth(self._ended, request, errback)

    async def _enqueue_request(self, request: Request) -> Response:
        """What Scrapy calls behind all middlewares."""
        ours = self._meta[request]
        if any(request.meta.get(name) is not ours[name] for name in ("lease", "grant")):
            raise refused(request, LEASE_CHANGED)
        request.meta.update(ours)
        try:
            return await super()._enqueue_request(request)
        except Exception as error:
            ours["grant"].error = error
            raise
        finally:
            ours["capture"] = request.meta.get("capture")

    def _ended(
        self, result: Response | Request | Failure, request: Request, errback: Callable[[Failure], Any] | None
    ) -> Response | Failure:
        ours = self._meta.pop(request)
        request.meta.update(ours)
        request.errback = errback
        error, ours["grant"].error = ours["grant"].error, None
        if isinstance(result, Request):
            raise InPlaceError(result) from error
        if isinstance(result, Response) and result.request not in (None, request):
            return result.replace(request=request)
        return result
