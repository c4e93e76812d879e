"""What is sent on a lease, what of a spider's own requests is taken in, and how leases end that get no answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import AsyncMock, Mock

import pytest
from scrapy import Spider
from scrapy.http import Request, Response
from scrapy.settings import Settings
from scrapy.spidermiddlewares.httperror import HttpError

from crawler.addon import Ulwembu
from crawler.downloader import InPlaceError
from crawler.fetch.connection import Answer
from crawler.fetch.errors import ConnectError, DnsError, HungUpError, NotGrantedError, StaleLeaseError
from crawler.fetch.handler import Capture
from crawler.focus import no_items
from crawler.pages.detour import detour_memo
from crawler.pages.findings import Finding
from crawler.pages.own_requests import pack_request
from crawler.scheduler import FrontierScheduler
from crawler.work.held import HeldLease
from frontier.config import FrontierConfig
from frontier.payload import REQUISITE_MARK
from frontier.types import Kind, Lease
from seeds.harvest.revisits import Look, revisit
from seeds.harvest.types import PollRequest

URL = "http://a.example/1"


def leased(kind: Kind = Kind.PAGE, memo: bytes = b"", **more: Any) -> Lease:
    return Lease("1-0", URL, kind, "http://a.example", "", 0, 1, memo=memo, **more)


class Own(Spider):
    """With what a project may have."""

    name = "own"
    given: Any = None

    def parse_item(self, response: Response) -> None:
        """Nothing."""

    def failed(self, failure: Any) -> Any:
        """What it gives is what a test has put there."""
        return self.given(failure)


def scheduling(*leases: Lease, spider: Spider | None = None) -> tuple[FrontierScheduler, Mock]:
    """A scheduler whose worker holds these leases, and that worker."""
    worker = Mock(**{"stores.frontier.config": FrontierConfig()})
    held = [HeldLease(lease, 0, (0.0, 0.0), 1.0, Mock()) for lease in leases]
    worker.next_due.side_effect = [*held, None]
    scheduler = FrontierScheduler(worker)
    scheduler._spider = spider
    if spider is not None:
        spider.crawler = Mock(**{"engine.crawl.side_effect": scheduler.enqueue_request})
    return scheduler, worker


def sent(lease: Lease, spider: Spider | None = None) -> Request:
    request = scheduling(lease, spider=spider)[0].next_request()
    assert request is not None
    return request


def test_a_request_has_its_lease_and_passes_no_filter_of_scrapys() -> None:
    lease = leased(depth=3)
    request = sent(lease)
    assert (request.url, request.dont_filter, request.callback) == (URL, True, None)
    assert request.meta["grant"].lease is request.meta["lease"] is lease
    told = {name: request.meta.get(name) for name in ("depth", "detours", "robots", "download_slot")}
    assert told == {"depth": 3, "detours": 0, "robots": False, "download_slot": "frontier"}
    assert not request.headers
    assert "handle_httpstatus_all" not in request.meta, "a spider's own callback gets no errors"


@pytest.mark.parametrize(
    ("lease", "robots"), [(leased(Kind.ROBOTS), True), (leased(memo=REQUISITE_MARK + b"\x01"), False)]
)
def test_what_is_no_page_goes_to_no_callback_of_the_spider_whatever_its_status(lease: Lease, robots: bool) -> None:
    request = sent(lease)
    assert (request.callback, request.meta["handle_httpstatus_all"], request.meta["robots"]) == (no_items, True, robots)


def test_a_poll_asks_with_what_the_feed_remembers_byte_for_byte() -> None:
    scheduler, worker = scheduling(leased(Kind.FEED))
    worker.stores.polls.request.return_value = PollRequest("http://a.example/older", {"If-None-Match": '"caf\xe9"'})
    request = scheduler.next_request()
    assert request is not None
    assert (request.url, request.headers["If-None-Match"]) == ("http://a.example/older", b'"caf\xe9"')
    assert (request.callback, request.meta["handle_httpstatus_all"]) == (no_items, True)
    assert not request.meta.get("robots"), "its robots.txt holds for it"


def test_an_article_that_is_looked_at_again_is_asked_for_if_it_has_changed() -> None:
    memo = revisit(b"", Look(b"t" * 16, etag='"e"')).memo
    assert sent(leased(memo=memo)).headers["If-None-Match"] == b'"e"'
    assert "If-None-Match" not in sent(leased(Kind.ROBOTS, memo)).headers


def test_another_spelling_of_a_page_is_asked_for_where_its_server_wants_that() -> None:
    spelled = f"{URL}?utm_source=x"
    memo = detour_memo(leased(), URL, spelled, 0)
    assert memo is not None
    request = sent(leased(memo=memo))
    assert (request.url, request.meta["detours"], request.meta["lease"]) == (spelled, 1, leased())


def test_a_spiders_own_request_comes_back_as_it_was_on_its_lease() -> None:
    spider = Own()
    made = Request(URL, spider.parse_item, errback=spider.failed, meta={"cat": 7}, headers={"X-Own": "1"})
    lease = leased(memo=pack_request(made, spider), depth=2)
    scheduler, _ = scheduling(lease, spider=spider)
    request = scheduler.next_request()
    assert request is not None
    assert (request.callback, request.meta["cat"], request.headers["X-Own"]) == (spider.parse_item, 7, b"1")
    assert (request.meta["lease"], request.meta["depth"], request.dont_filter) == (lease, 2, True)
    assert request.errback == scheduler._failed, "which ends the lease"
    assert "handle_httpstatus_all" not in request.meta


def test_scrapy_is_told_that_nothing_is_left_only_when_that_holds_for_the_fleet() -> None:
    scheduler, worker = scheduling()
    for worker.exhausted in (True, False):
        assert scheduler.has_pending_requests() is not worker.exhausted


def test_a_lease_that_cannot_be_asked_for_ends_and_the_next_is_sent(caplog: pytest.LogCaptureFixture) -> None:
    damaged, sound = leased(memo=b"\xff\xff@"), leased()
    scheduler, worker = scheduling(damaged, sound)
    request = scheduler.next_request()
    assert request is not None
    assert request.meta["lease"] is sound
    ((ended, finding, capture),) = [call.args for call in worker.finish.call_args_list]
    assert (ended, finding.result, capture) == (damaged, "bad_url", None)
    assert caplog.messages == [f"Not fetched: the memo of {URL} is cut short"]
    assert scheduler.next_request() is None


def test_scrapy_waits_until_the_worker_has_let_go_of_all() -> None:
    async def closed() -> None:
        worker = Mock(close=AsyncMock())
        await FrontierScheduler(worker).close("finished").asFuture(asyncio.get_running_loop())
        worker.close.assert_awaited_once_with()

    asyncio.run(closed())


def test_what_a_project_has_set_that_the_frontier_decides_is_said(caplog: pytest.LogCaptureFixture) -> None:
    async def opened(given: dict[str, Any]) -> None:
        settings = Settings(given)
        Ulwembu().update_settings(settings)
        worker, spider = Mock(open=AsyncMock()), Mock(settings=settings)
        await FrontierScheduler(worker).open(spider).asFuture(asyncio.get_running_loop())
        worker.open.assert_awaited_once_with(spider)

    for given in ({}, {"DOWNLOAD_DELAY": 9, "JOBDIR": "jobs"}):
        asyncio.run(opened(given))
    said = "Without effect, since the frontier decides (docs/scrapy.md): DOWNLOAD_DELAY=9, JOBDIR=jobs"
    assert caplog.messages == [said]


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (Request(URL, method="POST"), f"Not fetched: POST {URL}; the frontier keeps URLs only"),
        (Request(URL, body=b"q=1"), f"Not fetched: GET {URL}; the frontier keeps URLs only"),
        (Request("ftp://a.example/"), "Not fetched: neither http nor https: 'ftp://a.example/'"),
        (Request("http://a.example:25/"), "Not fetched: http://a.example:25/: port 25 is none of a web server"),
        (Request(URL, meta={"cat": object()}), f"Not fetched: {URL}: meta of its request has what JSON cannot keep"),
    ],
)
def test_of_a_spiders_request_that_cannot_be_kept_it_is_said_why(
    request_: Request, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    scheduler, worker = scheduling(spider=Own())
    assert scheduler.enqueue_request(request_) is False
    assert caplog.messages[0].startswith(said)
    worker.enqueue.assert_not_called()


@pytest.mark.parametrize(
    ("meta", "filtered", "taken"),
    [
        ({"finding": Finding("ok")}, True, True),  # a page that links to itself: the sieve knows it
        ({"finding": Finding("ok")}, False, False),
        ({}, True, False),  # what a middleware asks for besides
    ],
)
def test_what_a_page_asks_of_its_own_url_is_not_tried_again(
    meta: dict[str, Any], filtered: bool, taken: bool, caplog: pytest.LogCaptureFixture
) -> None:
    scheduler, worker = scheduling(spider=Own())
    asked = Request(f"{URL}?utm_source=x", meta={"lease": leased(), **meta}, dont_filter=not filtered)
    assert scheduler.enqueue_request(asked) is taken is worker.enqueue.called
    assert ("Not fetched again: " in caplog.text) is not taken
    assert not worker.finish.called


def test_a_request_of_a_page_lies_as_deep_as_that() -> None:
    scheduler, worker = scheduling(spider=Own())
    meta = {"lease": leased(depth=4), "finding": Finding("ok")}
    for asked in (Request("http://a.example/2", meta=meta), Request("http://a.example/3")):
        assert scheduler.enqueue_request(asked)
    assert [call.args[0].depth for call in worker.enqueue.call_args_list] == [4, 0]
    assert {call.args[0].source for call in worker.enqueue.call_args_list} == {"spider"}


@pytest.mark.parametrize(
    ("status", "url", "result"),
    [(None, URL, "timeout"), (200, URL, "protocol"), (200, "http://a.example/2", "redirect"), (503, URL, "http_503")],
)
def test_a_lease_whose_answer_a_middleware_replaced_ends_as_the_host_answered(
    status: int | None, url: str, result: str
) -> None:
    scheduler, worker = scheduling(spider=Own())
    worker.stores.frontier.date_ms = lambda: 5000
    capture = Capture(URL, "192.0.2.1", datetime.now(UTC), b"", Answer(status=status) if status else None)
    put_in_place(scheduler, Request(URL, meta={"lease": leased(), "capture": capture}), Request(url))
    (ended,) = [call.args for call in worker.finish.call_args_list]
    assert (ended[0], ended[1].result, ended[2]) == (leased(), result, capture)


def put_in_place(scheduler: FrontierScheduler, request: Request, made: Request) -> None:
    """By a downloader middleware, of the answer of a request on a lease."""
    assert scheduler._failed(cast("Any", SimpleNamespace(request=request, value=InPlaceError(made)))) is None


def remade(scheduler: FrontierScheduler, request: Request) -> Request:
    request.meta["grant"].spent = True
    put_in_place(scheduler, request, request.replace(headers={"X-Own": "1"}, dont_filter=True))
    assert request.meta["grant"].spent, "until its turn comes nothing is sent on it"
    again = scheduler.next_request()
    assert again is not None
    assert not again.meta["grant"].spent
    return again


def test_a_page_s_request_that_is_remade_before_it_is_sent_goes_out_on_its_lease() -> None:
    scheduler, worker = scheduling(leased(), spider=Own())
    request = scheduler.next_request()
    assert request is not None
    again = remade(scheduler, request)
    assert (again.meta, again.headers[b"X-Own"]) == (request.meta, b"1")
    assert not worker.enqueue.called
    assert not worker.finish.called


def test_so_does_one_that_has_no_more_of_it_than_its_callback_and_errback() -> None:
    """Without the page's slot it waited as long as `DOWNLOAD_DELAY` of a project says, which has no effect."""
    scheduler, _ = scheduling(leased(), spider=Own())
    request = scheduler.next_request()
    assert request is not None
    meta = {"own": 1, "depth": 7, "pdf_read": "another's", "download_timeout": 3}
    put_in_place(scheduler, request, Request(URL, request.callback, errback=request.errback, meta=meta))
    again = scheduler.next_request()
    assert again is not None
    assert again.meta == {**request.meta, "own": 1, "download_timeout": 3}


@pytest.mark.parametrize(("kind", "is_ours"), [(Kind.ROBOTS, True), (Kind.PAGE, False)])
def test_and_robots_txt_that_is_made_anew_comes_to_no_spider_nor_from_scrapys_cache(kind: Kind, is_ours: bool) -> None:
    scheduler, _ = scheduling(leased(kind), spider=Own())
    request = scheduler.next_request()
    assert request is not None
    put_in_place(scheduler, request, Request(URL, errback=request.errback, headers={"X-Own": "1"}, meta={"own": 1}))
    again = scheduler.next_request()
    assert again is not None
    assert (again.callback is no_items, again.meta.get("dont_cache", False)) == (is_ours, is_ours)
    assert again.meta == {**request.meta, "own": 1}
    assert again.headers[b"X-Own"] == b"1"


def test_so_does_that_of_an_older_page_of_a_feed() -> None:
    scheduler, worker = scheduling(leased(Kind.FEED))
    worker.stores.polls.request.return_value = PollRequest("http://a.example/older", {})
    request = scheduler.next_request()
    assert request is not None
    request = remade(scheduler, request)
    assert request.url == "http://a.example/older"
    request.meta["capture"] = Capture(request.url, "192.0.2.1", datetime.now(UTC), b"")
    put_in_place(scheduler, request, request.copy())
    worker.stores.polls.fail.assert_called_once_with(leased(Kind.FEED), "http://a.example/older", "protocol")
    assert not worker.enqueue.called


def test_one_that_is_remade_again_and_again_is_none_any_more(caplog: pytest.LogCaptureFixture) -> None:
    scheduler, worker = scheduling(leased(), spider=Own())
    request = scheduler.next_request()
    assert request is not None
    for _ in range(10):
        request = remade(scheduler, request)
    put_in_place(scheduler, request, request.copy())
    assert scheduler.next_request() is None
    assert worker.finish.call_args.args[1].result == "protocol"
    assert "Not fetched again: " in caplog.text


@pytest.mark.parametrize("kind", [Kind.PAGE, Kind.ROBOTS])
def test_one_in_whose_place_another_url_is_asked_for_before_it_is_sent(kind: Kind) -> None:
    scheduler, worker = scheduling(leased(kind, source="http://a.example"), spider=Own())
    request = scheduler.next_request()
    assert request is not None
    put_in_place(scheduler, request, request.replace(url="http://b.example/2"))
    result = worker.finish.call_args.args[1].result
    assert (result, worker.enqueue.called) == (("replaced", True) if kind is Kind.PAGE else ("protocol", False))


def test_one_that_was_remade_when_the_crawl_ends_is_given_back() -> None:
    scheduler, worker = scheduling(leased(), spider=Own())
    request = scheduler.next_request()
    assert request is not None
    put_in_place(scheduler, request, request.copy())
    worker.close = AsyncMock()
    asyncio.run(_closed(scheduler))
    worker.give_back.assert_called_once_with(leased())
    worker.close.assert_awaited_once()


async def _closed(scheduler: FrontierScheduler) -> None:
    await scheduler.close("finished").asFuture(asyncio.get_running_loop())


@pytest.mark.parametrize(("status", "wait_ms"), [(302, 30_000), (200, 0)])
def test_a_redirect_that_a_middleware_follows_waits_as_long_as_it_says(status: int, wait_ms: int) -> None:
    scheduler, worker = scheduling(spider=Own())
    worker.stores.frontier.now_ms = lambda: 5000
    answer = Answer(status=status, headers=[(b"Location", b"/2"), (b"Retry-After", b"30")])
    capture = Capture(URL, "192.0.2.1", datetime.now(UTC), b"", answer)
    assert scheduler.enqueue_request(Request("http://a.example/2", meta={"lease": leased(), "capture": capture}))
    (candidate,) = worker.enqueue.call_args.args
    assert candidate.not_before_ms == (5000 + wait_ms if wait_ms else 0)


@pytest.mark.parametrize("own", [{}, {"lease": "a callback's"}, {"lease": leased(depth=2), "capture": "another's"}])
@pytest.mark.parametrize("url", [URL, "http://a.example/2"])
def test_a_request_in_place_of_an_answer_has_the_lease_of_its_page(own: dict[str, Any], url: str) -> None:
    """And what was answered, which a copy from before it was sent does not know of; what the middleware keeps of it
    stays as it is."""
    scheduler, worker = scheduling(leased(), spider=Own())
    page = scheduler.next_request()
    assert page is not None
    capture = Capture(URL, "192.0.2.1", datetime.now(UTC), b"")
    page.meta["capture"] = capture
    made = Request(url, meta={"own": 1, **own})
    put_in_place(scheduler, page, made)
    ((ended, finding, told),) = [call.args for call in worker.finish.call_args_list]
    assert (ended, finding.result, told) == (leased(), "timeout", capture)
    assert worker.enqueue.called is (url != URL)
    assert made.meta == {"own": 1, **own}
    assert scheduler.next_request() is None


def test_so_has_the_request_itself_that_a_middleware_gives_back() -> None:
    scheduler, _ = scheduling(leased(), spider=Own())
    page = scheduler.next_request()
    assert page is not None
    put_in_place(scheduler, page, page)
    again = scheduler.next_request()
    assert again is not None
    assert again.meta == page.meta


def test_what_a_middleware_asks_for_besides_leaves_the_lease_to_its_page() -> None:
    scheduler, worker = scheduling(leased(), spider=Own())
    request = scheduler.next_request()
    assert request is not None
    assert not scheduler.enqueue_request(request.copy())
    assert scheduler.enqueue_request(request.replace(url="http://a.example/mobile"))
    assert worker.enqueue.call_args.args[0].url == "http://a.example/mobile"
    assert not worker.finish.called
    assert scheduler.next_request() is None


def failed(error: Exception, lease: Lease) -> Any:
    request = Request(lease.url, meta={"lease": lease, "capture": None})
    return SimpleNamespace(request=request, value=error, raiseException=Mock(side_effect=error))


def test_a_lease_that_the_frontier_has_back_is_not_ended_a_second_time() -> None:
    scheduler, worker = scheduling()
    assert scheduler._failed(failed(NotGrantedError(), leased())) is None
    assert not worker.finish.called
    assert not worker.give_back.called


def test_of_what_was_not_sent_the_lease_is_given_back() -> None:
    scheduler, worker = scheduling()
    assert scheduler._failed(failed(StaleLeaseError(), leased(Kind.FEED))) is None
    worker.give_back.assert_called_once_with(leased(Kind.FEED))
    assert not worker.finish.called
    assert not worker.stores.polls.fail.called


def test_an_answer_that_is_not_waited_for_when_the_crawl_stops_is_no_failure_of_a_feed_or_page() -> None:
    spider = Own()
    spider.given = Mock()
    memo = pack_request(Request(URL, errback=spider.failed), spider)
    for lease in (leased(Kind.FEED), leased(memo=memo, attempt=99)):
        scheduler, worker = scheduling(spider=spider)
        assert scheduler._failed(failed(HungUpError(), lease)) is None
        ((ended, finding, _),) = [call.args for call in worker.finish.call_args_list]
        assert (ended, finding.result) == (lease, "aborted")
        assert not worker.stores.polls.fail.called
        assert not spider.given.called


@pytest.mark.parametrize(("kind", "host", "said"), [("robots", "a", 1), ("robots", "b", 0), ("page", "a", 0)])
def test_of_a_seeds_host_that_does_not_answer_it_is_said(
    kind: str, host: str, said: int, caplog: pytest.LogCaptureFixture
) -> None:
    scheduler, worker = scheduling()
    worker.stores.seed_hosts = {f"http://{host}.example"}
    scheduler._failed(failed(ConnectError("refused"), leased(Kind(kind), source="http://a.example")))
    assert caplog.messages == ["Nothing of http://a.example is fetched for now: refused"] * said


def own_lease(spider: Own, attempt: int) -> Lease:
    return leased(memo=pack_request(Request(URL, errback=spider.failed), spider), attempt=attempt)


@pytest.mark.parametrize("attempt", [0, 99])
def test_the_errback_is_called_at_the_last_try_and_its_lease_ends_in_any_case(attempt: int) -> None:
    spider = Own()
    spider.given = Mock(return_value=None)
    scheduler, worker = scheduling(spider=spider)
    failure = failed(ConnectError("refused"), own_lease(spider, attempt))
    assert scheduler._failed(failure) is None
    assert spider.given.called is (attempt == 99)
    (ended,) = [call.args for call in worker.finish.call_args_list]
    assert (ended[0], ended[1].result) == (failure.request.meta["lease"], "connect")


def test_a_lease_ends_though_the_errback_fails_at_once_or_on_its_way() -> None:
    def late(_: Any) -> Iterator[Any]:
        yield 7
        raise KeyError

    async def read(output: AsyncIterator[Any]) -> None:
        async for _ in output:
            assert not worker.finish.called

    spider = Own()
    spider.crawler = Mock()
    for given in (Mock(side_effect=KeyError), late):
        spider.given = given
        scheduler, worker = scheduling(spider=spider)
        with pytest.raises(KeyError):
            asyncio.run(read(scheduler._failed(failed(ConnectError("refused"), own_lease(spider, 99)))))
        worker.finish.assert_called_once()


async def gives_as_it_comes(_: Any) -> AsyncIterator[Any]:
    yield Request("http://a.example/3")
    yield 7


async def gives_later(_: Any) -> list[Any]:
    return [Request("http://a.example/3"), 7]


def gives_at_once(_: Any) -> tuple[Any, ...]:
    return Request("http://a.example/3"), 7


@pytest.mark.parametrize("attempt", [0, 99])
def test_the_errback_is_called_too_of_a_page_that_a_middleware_asks_for_again_at_each_try(attempt: int) -> None:
    """As of no answer: else it would be given up without a word."""
    spider: Any = Own()
    spider.given = Mock(return_value=None)
    scheduler, worker = scheduling(spider=spider)
    lease = own_lease(spider, attempt)
    capture = Capture(URL, "192.0.2.1", datetime.now(UTC), b"", Answer(status=200))
    put_in_place(scheduler, Request(URL, meta={"lease": lease, "capture": capture}), Request(URL))
    assert spider.given.called is (attempt == 99)
    (ended,) = [call.args for call in worker.finish.call_args_list]
    assert (ended[0], ended[1].result, ended[2]) == (lease, "protocol", capture)


@pytest.mark.parametrize(
    ("cause", "result"), [(DnsError("x"), "dns"), (HungUpError("stop"), "aborted"), (StaleLeaseError("late"), "")]
)
def test_what_a_middleware_asks_for_again_in_place_of_an_error_is_as_after_that(cause: Exception, result: str) -> None:
    """A page was tried less often than one whose host has no address, and lost a try when the crawl was stopped."""
    scheduler, worker = scheduling(spider=Own())
    error = InPlaceError(Request(URL))
    error.__cause__ = cause
    failure: Any = SimpleNamespace(request=Request(URL, meta={"lease": leased(), "capture": None}), value=error)
    assert scheduler._failed(failure) is None
    assert [call.args[1].result for call in worker.finish.call_args_list] == ([result] if result else [])
    assert worker.give_back.called is (not result)
    assert scheduler.next_request() is None


@pytest.mark.parametrize("given", [gives_as_it_comes, gives_later, gives_at_once])
def test_all_that_an_errback_may_give_is_taken(given: Any) -> None:
    spider: Any = Own()
    spider.given = given
    scheduler, worker = scheduling(spider=spider)
    output = scheduler._failed(failed(ConnectError("refused"), own_lease(spider, 99)))

    async def taken() -> list[Any]:
        return [item async for item in output if item is not None]

    assert asyncio.run(taken()) == [7]
    (asked,) = [call.args[0].url for call in spider.crawler.engine.crawl.call_args_list]
    assert asked == "http://a.example/3"
    worker.finish.assert_called_once()


@pytest.mark.parametrize("attempt", [0, 99])
def test_of_an_error_that_was_answered_the_spider_hears_at_the_last_try(attempt: int) -> None:
    """Judged already: its lease ends elsewhere."""
    spider = Own()
    spider.given = Mock(return_value=["item"])
    lease = own_lease(spider, attempt)
    response = Response(URL, 503, request=Request(URL, meta={"lease": lease, "finding": Finding("http_503")}))
    failure = failed(HttpError(response), lease)
    scheduler, worker = scheduling(spider=spider)
    assert scheduler._failed(failure) == (["item"] if attempt else None)
    assert spider.given.called is bool(attempt)
    assert not worker.finish.called


def test_an_error_that_was_answered_to_nobodys_request_is_scrapys_to_count() -> None:
    response = Response(URL, 404, request=Request(URL, meta={"finding": Finding("http_404")}))
    scheduler, worker = scheduling()
    with pytest.raises(HttpError):
        scheduler._failed(failed(HttpError(response), leased(attempt=99)))
    assert not worker.finish.called
