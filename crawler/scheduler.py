"""Scrapy's scheduler on the crawl's frontier: hands out what is due, takes in what is found.

A Scrapy Request exists only between a lease and its report; nothing is pickled or kept in this process.
"""

from __future__ import annotations

import inspect
import logging
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Callable, Mapping
from typing import Any, Self

from scrapy import Spider, signals
from scrapy.core.engine import ExecutionEngine
from scrapy.core.scheduler import BaseScheduler
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider
from scrapy.http import Request
from scrapy.spidermiddlewares.httperror import HttpError
from scrapy.utils.asyncgen import as_async_generator
from scrapy.utils.defer import deferred_from_coro
from scrapy.utils.misc import arg_to_iter
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from crawler.addon import overruled
from crawler.downloader import InPlaceError
from crawler.fetch.handler import Capture
from crawler.focus import no_items
from crawler.harvest.polls import RECURRING
from crawler.pages.answers import Clock, failure_finding, lease_of, redirect_wait_ms, result_of, retry_after_ms
from crawler.pages.detour import read_detour
from crawler.pages.findings import Finding
from crawler.pages.own_requests import OF_ONE_FETCH, is_own, pack_request, request_of
from crawler.pages.requisites import is_requisite
from crawler.work.endings import FAULT, foreseen
from crawler.work.held import HeldLease
from crawler.work.worker import Worker
from frontier.outcomes import row
from frontier.types import Candidate, Kind, Lease
from seeds.harvest.revisits import conditions
from sieve.urls import as_parsed, bad_port, canonicalize, canonicalize_many

logger = logging.getLogger(__name__)

_MOST_REMADE = 10
"""So often a page's request may be made anew on its lease: a middleware that always does so would never end."""
_OF_ITS_FETCH = OF_ONE_FETCH - {"download_timeout"}
"""Names in the `meta` of a page's request that one made of it has as well, whatever it says."""


class FrontierScheduler(BaseScheduler):
    """See the module."""

    def __init__(self, worker: Worker, *, cookies: bool = False) -> None:
        self._worker = worker
        self._cookies = cookies
        self._spider: Spider | None = None
        self._remade: deque[Request] = deque()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        worker = crawler.get_extension(Worker)
        assert worker is not None, "the add-on crawler.addon.Ulwembu sets the extension that this scheduler needs"
        scheduler = cls(worker, cookies=crawler.settings.getbool("COOKIES_ENABLED"))
        crawler.signals.connect(scheduler._refuse, signals.spider_opened)
        return scheduler

    def open(self, spider: Spider) -> Deferred[None]:
        self._spider = spider
        if unheeded := overruled(spider.settings):
            logger.warning("Without effect, since the frontier decides (docs/scrapy.md): %s", ", ".join(unheeded))
        return deferred_from_coro(self._open(spider))

    async def _open(self, spider: Spider) -> None:
        try:
            await self._worker.open(spider)
        except Exception as error:
            if not (cause := foreseen(error)):
                raise
            logger.critical("The crawl cannot begin: %s", cause)

    def _refuse(self) -> None:
        """End a crawl that could not begin, once Scrapy has opened the rest: it closes in good order only what is."""
        if not self._worker.is_open:
            raise CloseSpider(FAULT)

    def close(self, reason: str) -> Deferred[None]:  # noqa: ARG002 - Scrapy's signature
        for request in self._remade:
            self._worker.give_back(request.meta["lease"])
        return deferred_from_coro(self._worker.close())

    def has_pending_requests(self) -> bool:
        """False once the whole fleet has nothing left that is due soon."""
        return not self._worker.exhausted

    def enqueue_request(self, request: Request) -> bool:
        """Take a spider's own request into the sieve; of a known URL, nothing is fetched again.

        False for what is no http or https URL, not a plain GET, or cannot be kept (own_requests): Scrapy counts it as
        dropped.
        """
        if fault := _fault(request):
            logger.warning("Not fetched: %s", fault)
            return False
        parent = lease_of(request)  # of the page that the request was made from
        again = parent is not None and _are_same(parent.url, request.url)
        # A page that links to itself asks for nothing: the sieve knows it, whatever of its `meta` was copied.
        if again and (request.dont_filter or "finding" not in request.meta):
            _refuse_again(request)
            return False
        if request.cookies and not self._cookies:
            logger.warning("Fetched without its cookies, since COOKIES_ENABLED is off: %s", request.url)
        try:
            candidate = self._candidate(request, parent)
        except ValueError as error:
            logger.warning("Not fetched: %s: %s", request.url, error)
            return False
        self._worker.enqueue(candidate)
        if isinstance(finding := request.meta.get("finding"), Finding):  # of the page that asks for it
            finding.requests.append(candidate)
        return True

    def _replace(self, failure: Failure, made: Request) -> Any:
        """End the lease of a request in place of whose answer a downloader middleware has `made` another, which waits
        as any other; what it has made of it for the same URL, before anything was sent, goes out on the lease. Any else
        for that is as no answer: returns what the spider's own errback gives."""
        request: Request = failure.request  # type: ignore[attr-defined]
        lease, capture = request.meta["lease"], request.meta.get("capture")
        again = _are_same(request.url, made.url)  # of a feed perhaps an older page
        if again and capture is None and self._is_remade(request, made):
            made = _of_page(request, made)
            if request.callback is no_items:  # nor does it come to a spider, or from Scrapy's cache, when made anew
                made = made.replace(callback=no_items, meta={**request.meta, **made.meta})
            self._remade.append(made)
            return None
        judged = _finding_of_replaced(lease, capture, self._worker.stores.frontier.date_ms, again=again)
        if again:
            _refuse_again(made)
            request.meta["finding"] = judged
            return self._call_errback(failure, lease, judged)
        self._end(lease, request.url, judged, capture)
        self._engine.crawl(_of_page(request, made))
        return None

    def _is_remade(self, request: Request, made: Request) -> bool:
        """Whether one was made of the other, and not too often by now."""
        if _fault(made) or made.errback != self._failed:
            return False
        grant: HeldLease = request.meta["grant"]
        grant.remade += 1
        return grant.remade <= _MOST_REMADE

    @property
    def _engine(self) -> ExecutionEngine:
        assert self._spider is not None
        assert self._spider.crawler.engine is not None
        return self._spider.crawler.engine

    def _candidate(self, request: Request, parent: Lease | None) -> Candidate:
        """A spider's own request as it waits in the frontier. ValueError says what of it cannot be kept."""
        # `response.request.replace(url=...)` has our own errback.
        if parent is not None and request.errback == self._failed:
            request = request.replace(errback=request_of(parent, self._spider).errback)
        memo = pack_request(request, self._spider)
        depth = parent.depth if parent is not None else 0
        score = max(0.0, min(1.0, 0.5 + request.priority / 100))
        not_before_ms = 0
        if parent is not None and "finding" not in request.meta:  # of a downloader middleware: it may follow a redirect
            capture, frontier = request.meta.get("capture"), self._worker.stores.frontier
            answer = capture.head() if capture is not None else None
            if answer is not None and 300 <= answer.status < 400:
                wait_ms = redirect_wait_ms(answer, frontier.date_ms)
                not_before_ms = frontier.now_ms() + wait_ms if wait_ms else 0
        return Candidate(request.url, Kind.PAGE, "spider", depth, score, not_before_ms, memo)

    def next_request(self) -> Request | None:
        if self._remade:
            request = self._remade.popleft()
            request.meta["grant"].spent = False  # nothing was sent on it; the downloader spends it at once
            return request
        while (held := self._worker.next_due()) is not None:
            try:
                return self._request(held)
            except ValueError as error:
                logger.warning("Not fetched: %s", error)
                self._end(held.lease, held.lease.url, Finding("bad_url"), None)
        return None

    def _request(self, held: HeldLease) -> Request:
        """What is sent on a lease: the spider's own request, the poll of a feed, or a plain request for the page or
        robots.txt. ValueError for a URL or memo that cannot be read."""
        lease, detour = read_detour(held.lease)
        meta: dict[str, Any] = {"lease": lease, "grant": held, "depth": lease.depth, "download_slot": "frontier"}
        if lease.kind is not Kind.PAGE:
            meta["dont_cache"] = True  # Scrapy's cache keeps what it has, rules of years ago, too
        if lease.kind in RECURRING:
            poll = self._worker.stores.polls.request(lease)
            url, headers = poll.url, poll.headers
        else:
            meta |= {"detours": detour.turns, "robots": lease.kind is Kind.ROBOTS}
            url, headers = detour.url, conditions(lease.memo) if lease.kind is Kind.PAGE and not is_own(lease) else {}
        if is_own(lease):
            own = request_of(lease, self._spider)
            return own.replace(url=as_parsed(url), errback=self._failed, meta={**own.meta, **meta}, dont_filter=True)
        callback = None
        if lease.kind is not Kind.PAGE or is_requisite(lease):
            callback, meta["handle_httpstatus_all"] = no_items, True
        raw = _raw_headers(headers)
        return Request(as_parsed(url), callback, headers=raw, errback=self._failed, meta=meta, dont_filter=True)

    def _failed(self, failure: Failure) -> Any:
        """The errback of every request: no answer came, or none that may be used. Ends the lease, and returns what the
        spider's own errback gives."""
        request: Request = failure.request  # type: ignore[attr-defined]
        lease = request.meta["lease"]
        error = failure.value
        assert error is not None
        if isinstance(error, InPlaceError):
            if error.__cause__ is None or not _are_same(request.url, error.request.url):
                return self._replace(failure, error.request)
            _refuse_again(error.request)
            error = error.__cause__  # the frontier decides about it as if nobody had asked again
        if isinstance(error, HttpError):  # judged already; crawler/focus.py ends the lease
            finding = error.response.meta["finding"]
            if not self._is_last(lease, finding):
                return None
            if (errback := self._errback(lease)) is None:
                failure.raiseException()  # Scrapy counts and logs it
            return errback(failure)
        judged = failure_finding(error, lease)
        if judged is None:
            return None
        judged = _as_answered(judged, request.meta.get("capture"), self._worker.stores.frontier.date_ms)
        if lease.kind is Kind.ROBOTS and lease.source in self._worker.stores.seed_hosts:
            # Asked for before any page: else nothing would say why a crawl of a misspelt site ends at once.
            logger.warning("Nothing of %s is fetched for now: %s", lease.source, error)
        if judged.result == "released":
            self._worker.give_back(lease)
            return None
        if judged.result == "aborted":  # no failure, not even of a feed
            self._worker.finish(lease, judged, request.meta.get("capture"))
            return None
        request.meta["finding"] = judged
        return self._call_errback(failure, lease, judged)

    def _call_errback(self, failure: Failure, lease: Lease, finding: Finding) -> Any:
        """Call the spider's errback, unless the page is tried again, and end the lease when its output has been
        consumed: the other way round a kill in between would lose the requests of the errback."""
        request: Request = failure.request  # type: ignore[attr-defined]
        capture = request.meta.get("capture")  # the errback may do with it what it likes

        def end() -> None:
            self._end(lease, request.url, finding, capture)

        errback = self._errback(lease) if self._is_last(lease, finding) else None
        try:
            output = errback(failure) if errback is not None else None
        except Exception:
            end()
            raise
        if output is None or isinstance(output, Failure):
            end()
            return output

        def crawl(found: Request) -> None:
            found.meta.setdefault("finding", finding)
            self._engine.crawl(found)

        return _followed_by(output, crawl, end)

    def _is_last(self, lease: Lease, finding: Finding) -> bool:
        """Whether the page is neither tried again nor fetched where it has moved to."""
        follows = finding.result == "redirect" and (finding.links or finding.again_in_ms is not None)
        return not follows and lease.attempt >= self._worker.stores.frontier.config.rule(finding.result).retries

    def _errback(self, lease: Lease) -> Callable[[Failure], Any] | None:
        return request_of(lease, self._spider).errback if is_own(lease) else None

    def _end(self, lease: Lease, asked: str, finding: Finding, capture: Capture | None) -> None:
        """Finish a lease whose request for the URL `asked` got no answer; a feed learns from that when to be asked
        again."""
        if lease.kind in RECURRING:
            polled = self._worker.stores.polls.fail(lease, asked, finding.result)
            polled.retry_after_ms, finding = finding.retry_after_ms, polled
        self._worker.finish(lease, finding, capture)


def _raw_headers(headers: Mapping[str, str]) -> dict[str, bytes]:
    """Validators go back byte for byte as they came (seeds/harvest/validators.py); Scrapy would make UTF-8 of them."""
    return {name: value.encode("latin-1", "replace") for name, value in headers.items()}


def _fault(request: Request) -> str:
    """Why the frontier cannot keep it; "": it can."""
    if request.method != "GET" or request.body:
        return f"{request.method} {request.url}; the frontier keeps URLs only"
    try:
        port = bad_port(canonicalize(request.url))
    except ValueError as error:
        return str(error)
    return "" if port is None else f"{request.url}: port {port} is none of a web server"


def _are_same(one: str, other: str) -> bool:
    """Whether the sieve knows both as one URL."""
    here, there = canonicalize_many([one, other])
    return here is not None and here == there


def _of_page(request: Request, made: Request) -> Request:
    """`made` in the place of a page's request. Its own `meta` may say nothing of the fetch, or too little, as that of a
    copy from before; or be in use."""
    ours = {name: value for name, value in request.meta.items() if name in _OF_ITS_FETCH}
    own = {name: value for name, value in made.meta.items() if name not in _OF_ITS_FETCH}
    return made.replace(meta={**own, **ours})


def _refuse_again(request: Request) -> None:
    logger.warning("Not fetched again: %s; what is tried again, and when, the frontier decides", request.url)


def _finding_of_replaced(lease: Lease, capture: Capture | None, now_ms: Clock, *, again: bool) -> Finding:
    """The finding of a lease in place of whose answer a downloader middleware makes a request, for the same URL `again`
    or for another. `capture` None: before anything was sent. `now_ms`: Redis' clock."""
    if lease.kind is Kind.PAGE and capture is None and not again:
        return Finding("replaced")
    if lease.kind is Kind.PAGE and capture is not None:
        if capture.answer is None:
            return Finding("timeout")
        if not again:
            return _as_answered(Finding("redirect"), capture, now_ms)
    return _as_answered(Finding("protocol"), capture, now_ms)


def _as_answered(judged: Finding, capture: Capture | None, now_ms: Clock) -> Finding:
    """What `judged` is by the answer that came: whatever a middleware makes of it, be that a request or an error, a
    host that is busy or away rests."""
    if capture is None or (answer := capture.head()) is None:
        return judged
    if row(result := result_of(answer)).retries:
        judged.result = result
    judged.retry_after_ms = retry_after_ms(answer, now_ms)
    return judged


async def _followed_by(output: Any, crawl: Callable[[Request], None], end: Callable[[], None]) -> AsyncIterator[Any]:
    """The output of an errback (coroutine, async or plain generator, or one value), and `end` called after it; its
    requests go to `crawl`, as those of a callback do (crawler/focus.py)."""
    try:
        if inspect.isawaitable(output):
            output = await output
        found = output if isinstance(output, AsyncIterable) else as_async_generator(arg_to_iter(output))
        async for item in found:
            if isinstance(item, Request):
                crawl(item)
                item = None
            yield item
    except Exception:
        end()
        raise
    end()
