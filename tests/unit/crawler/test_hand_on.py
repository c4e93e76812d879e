"""Requests of a callback, on their way from its page to the scheduler."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.httpcache import HttpCacheMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Request, Response
from scrapy.settings import Settings
from scrapy.statscollectors import DummyStatsCollector
from scrapy.utils.request import RequestFingerprinter

from crawler.downloader import InPlaceError
from crawler.fetch.connection import Answer
from crawler.fetch.errors import DnsError
from crawler.fetch.handler import Capture
from crawler.focus import FocusMiddleware
from crawler.pages.findings import Finding
from crawler.pages.own_requests import pack_request, request_of
from crawler.scheduler import FrontierScheduler
from crawler.work.held import HeldLease
from frontier.config import FrontierConfig
from frontier.types import Candidate, Kind, Lease
from seeds.harvest import PollRequest


def page(number: int) -> Response:
    """The answer to a lease, judged."""
    url = f"http://a.example/{number}"
    lease = Lease(f"{number}-0", url, Kind.PAGE, "http://a.example", "", 0, 1)
    return Response(url, request=Request(url, meta={"lease": lease, "finding": Finding(f"{number}")}))


def test_a_request_goes_with_its_page_and_no_page_with_that_of_another() -> None:
    first, second, crawler = page(1), page(2), Mock()
    focus: Any = FocusMiddleware.__new__(FocusMiddleware)
    focus._crawler, focus._worker = crawler, Mock()
    focus._judged = {answer: (answer.meta["lease"], answer.meta["finding"], None) for answer in (first, second)}
    new, alone = Request("http://a.example/3"), Request("http://a.example/4", meta={"lease": first.meta["lease"]})
    assert first.request
    assert list(focus.process_spider_output(second, [new, alone, first.request, 7])) == [None, None, None, 7]
    handed_on = [call.args[0].meta["finding"] for call in crawler.engine.crawl.call_args_list]
    assert handed_on == [second.meta["finding"], second.meta["finding"], first.meta["finding"]]
    assert first.meta["finding"].result == "1", "what is reported of it"
    focus._worker.finish.assert_called_once_with(second.meta["lease"], second.meta["finding"], None)


@pytest.mark.parametrize(("priority", "score"), [(0, 0.5), (-37, 0.13), (50, 1.0), (51, 1.0), (-50, 0.0), (-9999, 0.0)])
def test_the_priority_of_a_request_is_its_score(priority: int, score: float) -> None:
    worker = Mock()
    assert FrontierScheduler(worker).enqueue_request(Request("http://a.example/3", priority=priority))
    (candidate,) = worker.enqueue.call_args.args
    assert candidate.score == pytest.approx(score)


class Own(Spider):
    name = "own"

    def failed(self, failure: Any) -> None:
        """Nothing."""

    def failed_elsewhere(self, failure: Any) -> Iterator[Any]:
        yield Request("http://a.example/3")
        yield 7


def test_a_request_is_kept_with_its_page_so_that_it_is_stored_before_that_is_reported() -> None:
    worker, finding = Mock(), Finding("ok")
    assert FrontierScheduler(worker).enqueue_request(Request("http://a.example/3", meta={"finding": finding}))
    (candidate,) = finding.requests
    worker.enqueue.assert_called_once_with(candidate)
    assert candidate.url == "http://a.example/3"


def put_in_place(made: Request, lease: Lease) -> Mock:
    """By a middleware, of the answer of a request that was not sent yet; the worker."""
    worker, spider = Mock(**{"stores.frontier.config": FrontierConfig()}), Own()
    scheduler = FrontierScheduler(worker)
    scheduler._spider, spider.crawler = spider, Mock(**{"engine.crawl": scheduler.enqueue_request})
    failure: Any = SimpleNamespace(request=Request(lease.url, meta={"lease": lease}), value=InPlaceError(made))
    assert scheduler._failed(failure) is None
    return worker


@pytest.mark.parametrize(("url", "new"), [("http://a.example/1", False), ("http://a.example/3", True)])
def test_a_request_in_place_of_an_answer_ends_the_lease_and_asks_for_no_url_again(url: str, new: bool) -> None:
    lease = page(1).meta["lease"]
    worker = put_in_place(Request(url), lease)
    ((ended, finding, capture),) = [call.args for call in worker.finish.call_args_list]
    assert (ended, finding.result, capture) == (lease, "replaced" if new else "protocol", None)
    assert worker.enqueue.called is new


@pytest.mark.parametrize(
    ("url", "method"), [("http://a.example/1", "POST"), ("ftp://a.example/", "GET"), ("http://a.example:22/", "GET")]
)
def test_a_request_that_nobody_may_send_ends_the_lease_in_place_of_whose_answer_it_came(url: str, method: str) -> None:
    """Else the page would be asked for again and again, as its lease runs out."""
    lease = page(1).meta["lease"]
    worker = put_in_place(Request(url, method=method), lease)
    assert not worker.enqueue.called
    ((ended, finding, _),) = [call.args for call in worker.finish.call_args_list]
    assert (ended, finding.result) == (lease, "protocol" if url == lease.url else "replaced")


def test_a_request_has_its_own_errback_and_a_copy_of_its_pages_that_of_the_spider() -> None:
    spider, worker = Own(), Mock()
    scheduler = FrontierScheduler(worker)
    scheduler._spider = spider
    memo = pack_request(Request("http://a.example/1", errback=spider.failed), spider)
    lease = Lease("1-0", "http://a.example/1", Kind.PAGE, "http://a.example", "", 0, 1, "spider", memo=memo)
    kept = []
    for errback in (scheduler._failed, spider.failed_elsewhere, None):
        meta = {"lease": lease, "finding": Finding("ok")}
        assert scheduler.enqueue_request(Request("http://a.example/3", errback=errback, meta=meta))
        kept.append(request_of(replace(lease, memo=worker.enqueue.call_args.args[0].memo), spider).errback)
    assert kept == [spider.failed, spider.failed_elsewhere, None]


@pytest.mark.parametrize("enabled", [True, False])
def test_of_cookies_that_are_not_sent_that_is_said(enabled: bool, caplog: pytest.LogCaptureFixture) -> None:
    scheduler = FrontierScheduler(Mock(), cookies=enabled)
    assert scheduler.enqueue_request(Request("http://a.example/3", cookies={"sid": "1"}))
    assert scheduler.enqueue_request(Request("http://a.example/4"))
    said = ["Fetched without its cookies, since COOKIES_ENABLED is off: http://a.example/3"]
    assert caplog.messages == ([] if enabled else said)


def test_a_spider_hears_of_a_failure_at_the_last_try_and_of_no_page_that_is_fetched_where_it_is_now() -> None:
    rules = FrontierConfig()
    scheduler = FrontierScheduler(Mock(**{"stores.frontier.config": rules}))
    tries = rules.rule("timeout").retries
    lease = Lease("1-0", "http://a.example/1", Kind.PAGE, "http://a.example", "", 0, 1)
    attempts = (tries - 1, tries)
    assert [scheduler._is_last(replace(lease, attempt=n), Finding("timeout")) for n in attempts] == [False, True]
    moved = [Finding("redirect", links=[Candidate("http://b.example/")]), Finding("redirect", again_in_ms=1000)]
    assert [scheduler._is_last(lease, finding) for finding in (*moved, Finding("redirect"))] == [False, False, True]


@pytest.mark.parametrize(("kind", "cached"), [(Kind.PAGE, True), (Kind.ROBOTS, False), (Kind.FEED, False)])
def test_of_scrapys_cache_come_neither_rules_nor_feeds(kind: Kind, cached: bool, tmp_path: Path) -> None:
    """It keeps them for ever, unless it is told for how long."""
    crawler = Crawler(Spider, Settings({"HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": str(tmp_path)}))
    crawler.stats, crawler.request_fingerprinter = DummyStatsCollector(crawler), RequestFingerprinter()
    crawler.spider = Spider.from_crawler(crawler, "own")
    cache = HttpCacheMiddleware.from_crawler(crawler)
    cache.spider_opened(crawler.spider)
    cache.process_response(Request("http://a.example/1"), Response("http://a.example/1"))
    worker = Mock()
    worker.stores.polls.request.return_value = PollRequest("http://a.example/1", {})
    lease = Lease("1-0", "http://a.example/1", kind, "http://a.example", "", 0, 1)
    request = FrontierScheduler(worker)._request(HeldLease(lease, 0, (0.0, 0.0), 1.0, worker))
    assert (cache.process_request(request) is not None) is cached
    cache.spider_closed(crawler.spider)


def failed(lease: Lease) -> Any:
    """A request on it that got no answer."""
    request = Request(lease.url, meta={"lease": lease, "capture": None})
    return SimpleNamespace(request=request, value=DnsError("no address found"))


@pytest.mark.parametrize("kind", [Kind.PAGE, Kind.FEED])
def test_what_gets_no_answer_ends_its_lease_a_feed_by_its_own_schedule(kind: Kind) -> None:
    worker = Mock(**{"stores.frontier.config": FrontierConfig()})
    failure = failed(Lease("1-0", "http://a.example/1", kind, "http://a.example", "", 0, 1))
    assert FrontierScheduler(worker)._failed(failure) is None
    finding = failure.request.meta["finding"]
    assert finding.result == "dns"
    if kind is Kind.FEED:
        worker.stores.polls.fail.assert_called_once_with(failure.request.meta["lease"], "http://a.example/1", "dns")
        finding = worker.stores.polls.fail.return_value
    worker.finish.assert_called_once_with(failure.request.meta["lease"], finding, None)


@pytest.mark.parametrize("kind", [Kind.PAGE, Kind.ROBOTS, Kind.FEED])
@pytest.mark.parametrize(
    ("status", "error", "result"),
    [
        (503, IgnoreRequest(), "http_503"),
        (500, ValueError(), "http_5xx"),
        (403, IgnoreRequest(), "too_large"),
        (403, ValueError(), "protocol"),
    ],
)
def test_a_host_that_is_busy_rests_also_when_a_middleware_fails_at_its_answer(
    status: int, error: Exception, result: str, kind: Kind
) -> None:
    worker = Mock(**{"stores.frontier.config": FrontierConfig(), "stores.seed_hosts": ()})
    worker.stores.polls.fail.side_effect = lambda _lease, _asked, result: Finding(result)
    lease = Lease("1-0", "http://a.example/1", kind, "http://a.example", "", 0, 1)
    capture = Capture(lease.url, "192.0.2.1", datetime.now(UTC), b"")
    capture.answer = Answer(status=status, headers=[(b"Retry-After", b"60")])
    request = Request(lease.url, meta={"lease": lease, "capture": capture})
    failure: Any = SimpleNamespace(request=request, value=error)
    assert FrontierScheduler(worker)._failed(failure) is None
    (_, finding, _) = worker.finish.call_args.args
    assert (finding.result, finding.retry_after_ms) == (result, 60_000)


def test_a_lease_ends_behind_all_that_its_errback_gives() -> None:
    """Killed in between, the page is asked for again, and no request of the errback is lost."""
    spider: Any = Own()
    spider.crawler = Mock()
    worker = Mock(**{"stores.frontier.config": FrontierConfig()})
    scheduler = FrontierScheduler(worker)
    scheduler._spider = spider
    memo = pack_request(Request("http://a.example/1", errback=spider.failed_elsewhere), spider)
    failure = failed(Lease("1-0", "http://a.example/1", Kind.PAGE, "http://a.example", "", 0, 1, memo=memo, attempt=99))
    output = scheduler._failed(failure)

    async def taken() -> list[tuple[Any, bool]]:
        return [(item, worker.finish.called) async for item in output]

    assert asyncio.run(taken()) == [(None, False), (7, False)]
    finding = failure.request.meta["finding"]
    worker.finish.assert_called_once_with(failure.request.meta["lease"], finding, None)
    (crawled,) = spider.crawler.engine.crawl.call_args.args
    assert (crawled.url, crawled.meta["finding"]) == ("http://a.example/3", finding)
