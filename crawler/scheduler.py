"""Scrapy's scheduler on the crawl's frontier: hands out what is due, takes in what is found.

A Scrapy Request exists only between a lease and its report; nothing is pickled or kept in this process.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Self

from scrapy import Spider
from scrapy.core.scheduler import BaseScheduler
from scrapy.crawler import Crawler
from scrapy.http import Request
from scrapy.utils.defer import deferred_from_coro
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from crawler.fetch.errors import RefusedAddressError
from crawler.fetch.handler import Capture
from crawler.focus import nothing
from crawler.harvest.polls import RECURRING
from crawler.pages.answers import failure_finding
from crawler.pages.detour import taken
from crawler.pages.findings import Finding
from crawler.work.held import HeldLease
from crawler.work.worker import Worker
from frontier.types import Candidate, Kind, Lease
from seeds.revisits import conditions
from sieve.urls import as_parsed, canonicalize

logger = logging.getLogger(__name__)


class FrontierScheduler(BaseScheduler):
    """See the module."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        worker = crawler.get_extension(Worker)
        assert worker is not None, "the add-on crawler.addon.Ulwembu sets the extension that this scheduler needs"
        return cls(worker)

    def open(self, spider: Spider) -> Deferred[None]:
        return deferred_from_coro(self._worker.open(spider))

    def close(self, reason: str) -> Deferred[None]:  # noqa: ARG002 - Scrapy's signature
        return deferred_from_coro(self._worker.close())

    def has_pending_requests(self) -> bool:
        """False once the whole fleet has nothing left that is due soon."""
        return not self._worker.exhausted

    def enqueue_request(self, request: Request) -> bool:
        """Take the URL of a spider's own request into the sieve; a known one is not fetched again.

        False for what is no http or https URL, or not a plain GET: Scrapy counts it as dropped. The answer comes to the
        spider's `parse`: only the URL waits in the frontier, perhaps for another process.
        """
        if request.method != "GET" or request.body:
            logger.warning("Not fetched: %s %s; the frontier keeps URLs only", request.method, request.url)
            return False
        try:
            canonicalize(request.url)
        except ValueError as error:
            logger.warning("Not fetched: %s", error)
            return False
        depth = int(request.meta.get("depth", 0))
        score = max(0.0, min(1.0, 0.5 + request.priority / 100))
        self._worker.enqueue(Candidate(request.url, source="spider", depth=depth, score=score))
        return True

    def next_request(self) -> Request | None:
        while (held := self._worker.next_due()) is not None:
            try:
                return self._request(held)
            except ValueError as error:
                logger.warning("Not fetched: %s", error)
                self._end(held.lease, held.lease.url, Finding("bad_url"), None)
        return None

    def _request(self, held: HeldLease) -> Request:
        """ValueError for a URL that cannot be read."""
        lease, detour = taken(held.lease)
        meta: dict[str, Any] = {"lease": lease, "grant": held, "depth": lease.depth, "download_slot": "frontier"}
        if lease.kind in RECURRING:
            poll = self._worker.stores.polls.request(lease)
            url, headers = poll.url, poll.headers
        else:
            meta |= {"detours": detour.turns, "robots": lease.kind is Kind.ROBOTS}
            url, headers = detour.url, conditions(lease.memo) if lease.kind is Kind.PAGE else {}
        callback = None if lease.kind is Kind.PAGE else nothing
        sent = _sent(headers)
        return Request(as_parsed(url), callback, headers=sent, errback=self._failed, meta=meta, dont_filter=True)

    def _failed(self, failure: Failure) -> None:
        """No answer, or none that may be used: what that means is the outcome table's to say."""
        request: Request = failure.request  # type: ignore[attr-defined]
        lease = request.meta["lease"]
        error = failure.value
        assert error is not None
        finding = failure_finding(error, lease)
        if finding is None:
            return
        if lease.source == "seed" and isinstance(error, RefusedAddressError):
            logger.warning("Seed %s refused: %s", lease.url, error)
        if finding.result == "released":
            self._worker.give_back(lease)
        else:
            self._end(lease, request.url, finding, request.meta.get("capture"))

    def _end(self, lease: Lease, asked: str, finding: Finding, capture: Capture | None) -> None:
        """The end of a lease that nobody has answered; a feed learns from that when to be asked again."""
        if lease.kind in RECURRING:
            finding = self._worker.stores.polls.fail(lease, asked, finding.result)
        self._worker.finish(lease, finding, capture)


def _sent(conditions: Mapping[str, str]) -> dict[str, bytes]:
    """Validators go back byte for byte as they came (seeds/validators.py); Scrapy would make UTF-8 of them."""
    return {name: value.encode("latin-1", "replace") for name, value in conditions.items()}
