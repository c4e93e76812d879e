"""What is fetched at all: one request on each lease."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

import pytest
from scrapy.core.downloader import Downloader
from scrapy.http import Request, Response
from twisted.internet.defer import Deferred, succeed
from twisted.python.failure import Failure

from crawler.downloader import FrontierDownloader, InPlaceError
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
    """In place of Scrapy's downloader: `sent` on it, and what that gives."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.sent: list[Request] = []
        self.result: Any = Response(URL)
        patch.setattr(Downloader, "fetch", lambda _, request: self._sent(request))

    def _sent(self, request: Request) -> Deferred[Any]:
        self.sent.append(request)
        return succeed(self.result)


@pytest.fixture
def net(monkeypatch: pytest.MonkeyPatch) -> Net:
    return Net(monkeypatch)


def fetch(request: Request) -> Any:
    """What comes of it, also as a failure."""
    found: list[Any] = []
    FrontierDownloader.fetch(Mock(spec=FrontierDownloader), request).addBoth(found.append)
    return found[0]


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
            fetch(one)
    assert not net.sent
    assert not grant.spent


def test_on_a_lease_goes_out_one_request(net: Net, caplog: pytest.LogCaptureFixture) -> None:
    """Be it the very same that comes again, a copy, or one that has its `meta` alone."""
    request = granted()
    assert fetch(request) is net.result
    before = Request("http://a.example/2", meta=request.meta)
    request.meta["capture"] = "what was answered"
    for one in (request, request.copy(), before):
        with pytest.raises(OutsideFrontierError):
            fetch(one)
    assert net.sent == [request]
    assert caplog.text.count(f"Not fetched: {URL}: ") == 2


def test_a_request_in_place_of_an_answer_is_a_failure_of_the_page_that_scrapy_does_not_log(net: Net) -> None:
    net.result = made = Request("http://a.example/2")
    failure = fetch(granted())
    assert isinstance(failure, Failure)
    assert isinstance(failure.value, InPlaceError)
    assert failure.value.request is made
    assert not made.meta
