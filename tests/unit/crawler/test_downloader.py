"""What is fetched at all: one request on each lease."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import Mock

import pytest
from scrapy.core.downloader import Downloader
from scrapy.http import Request, Response
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from crawler.downloader import FrontierDownloader, InPlaceError
from crawler.fetch.errors import DnsError
from crawler.pages.answers import OutsideFrontierError
from crawler.work.held import HeldLease
from frontier.types import Kind, Lease

URL = "http://a.example/1"
LEASE = Lease("1-0", URL, Kind.PAGE, "http://a.example", "", 0, 1)


def held() -> HeldLease:
    return HeldLease(LEASE, 0, (0.0, 0.0), 1.0, Mock())


def granted() -> Request:
    """As the scheduler makes it."""
    return Request(URL, meta={"lease": LEASE, "grant": held(), "own": 1})


class Net:
    """In place of what Scrapy's downloader does: what a middleware does `before` a request is `sent` and `after` its
    `result` has come."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.sent: list[Request] = []
        self.slots: list[object] = []
        self.result: Any = Response(URL)
        self.error: DnsError | None = None  # in place of it, and what a middleware gives `instead` of that
        self.instead: Request | None = None
        self.before: Callable[[Request], None] = lambda _: None
        self.after = self.before
        patch.setattr(Downloader, "__init__", lambda *_: None)
        patch.setattr(Downloader, "fetch", lambda *asked: Deferred.fromCoroutine(self._through_middlewares(*asked)))
        patch.setattr(Downloader, "_enqueue_request", self._send)
        self._downloader = FrontierDownloader(Mock())

    async def _through_middlewares(self, downloader: Downloader, request: Request) -> Any:
        self.before(request)
        try:
            result = await downloader._enqueue_request(request)
        except DnsError:
            return self.instead
        self.after(request)
        return result

    async def _send(self, request: Request) -> Any:
        if self.error is not None:
            raise self.error
        self.sent.append(request)
        self.slots.append(request.meta.get("download_slot"))
        request.meta["capture"] = "what was answered"
        return self.result

    def fetch(self, request: Request) -> Any:
        """What comes of it, also as a failure."""
        found: list[Any] = []
        self._downloader.fetch(request).addBoth(found.append)
        return found[0]


@pytest.fixture
def net(monkeypatch: pytest.MonkeyPatch) -> Net:
    return Net(monkeypatch)


@pytest.mark.parametrize("name", ["lease", "grant"])
@pytest.mark.parametrize("other", [None, "a spider's own", LEASE])
def test_what_nobody_has_leased_is_not_fetched(name: str, other: object, net: Net) -> None:
    request = granted()
    grant = request.meta["grant"]
    request.meta[name] = other if name == "grant" or not isinstance(other, Lease) else None
    beside = request.copy()
    del beside.meta[name]
    for one in (request, beside, Request(URL)):
        with pytest.raises(OutsideFrontierError):
            net.fetch(one)
    assert not net.sent
    assert not grant.spent


def test_on_a_lease_goes_out_one_request(net: Net, caplog: pytest.LogCaptureFixture) -> None:
    """Be it the very same that comes again, a copy, or one that has its `meta` alone."""
    request = granted()
    assert net.fetch(request) is net.result
    before = Request("http://a.example/2", meta=request.meta)
    for one in (request, request.copy(), before):
        with pytest.raises(OutsideFrontierError):
            net.fetch(one)
    assert net.sent == [request]
    assert caplog.text.count(f"Not fetched: {URL}: ") == 2


def test_a_request_in_place_of_an_answer_is_a_failure_of_the_page_that_scrapy_does_not_log(net: Net) -> None:
    net.result = made = Request("http://a.example/2")
    failure = net.fetch(granted())
    assert isinstance(failure, Failure)
    assert isinstance(failure.value, InPlaceError)
    assert failure.value.request is made
    assert failure.value.__cause__ is None
    assert not made.meta


def test_one_in_place_of_an_error_tells_which(net: Net) -> None:
    net.error, net.instead = DnsError("x"), Request(URL)
    request = granted()
    failure = net.fetch(request)
    assert failure.value.request is net.instead
    assert failure.value.__cause__ is net.error
    assert request.meta["grant"].error is None, "one that is made of it may have an answer"


@pytest.mark.parametrize("does", [dict.clear, lambda meta: meta.update(granted().meta), lambda meta: meta.pop("grant")])
def test_what_has_the_lease_of_another_page_behind_the_middlewares_is_not_sent(
    does: Callable[[dict[str, Any]], None], net: Net, caplog: pytest.LogCaptureFixture
) -> None:
    """By its grant it went to the other's address, without a delay; its own lease ran out, again and again."""
    request = granted()
    lease, grant = request.meta["lease"], request.meta["grant"]
    net.before = lambda one: does(one.meta)
    failure = net.fetch(request)
    assert isinstance(failure.value, OutsideFrontierError)
    assert not net.sent
    assert f"Not fetched: {URL}: a middleware" in caplog.text
    assert request.meta["lease"] is lease
    assert request.meta["grant"] is grant


@pytest.mark.parametrize("when", ["before", "after"])
def test_whatever_a_middleware_makes_of_a_request_its_own_errback_ends_its_own_lease(when: str, net: Net) -> None:
    errback, request = Mock(), granted()
    request.errback = errback
    ours = dict(request.meta)

    def changes(one: Request) -> None:
        one.errback = None
        if when == "after":
            one.meta.clear()
            one.meta.update(granted().meta, capture="another's")

    setattr(net, when, changes)
    net.fetch(request)
    assert request.errback is errback
    assert request.meta == {**ours, "capture": "what was answered"}


@pytest.mark.parametrize("when", ["before", "after"])
def test_what_is_ours_in_its_meta_is_what_the_scheduler_gave_it(when: str, net: Net) -> None:
    """In a slot of another name it waited for a delay that has no effect; without its detours no redirect was followed,
    and the page fetched again as one of which nothing had come."""
    request = granted()
    request.meta.update(download_slot="frontier", detours=0)
    before = dict(request.meta)
    setattr(net, when, lambda one: one.meta.update(download_slot="proxy", detours=None, capture="another's", own=2))
    net.fetch(request)
    assert net.slots == ["frontier"]
    assert request.meta == {**before, "capture": "what was answered", "own": 2}


def test_without_an_answer_of_its_own_it_has_no_other_pages(net: Net) -> None:
    request = granted()
    net.before = lambda one: one.meta.update(granted().meta, capture="another's")
    net.fetch(request)
    assert request.meta["capture"] is None


@pytest.mark.parametrize("of", [Request("http://a.example/2"), None])
def test_an_answer_that_a_middleware_has_kept_is_that_of_the_page(of: Request | None, net: Net) -> None:
    """Of the other it is still, which may be under way. Scrapy knows what to do with one of nobody."""
    kept, request = Response(URL, body=b"kept", request=of), granted()
    net.result = kept
    answer = net.fetch(request)
    assert (answer.request or request) is request
    assert answer.body == b"kept"
    assert kept.request is of
