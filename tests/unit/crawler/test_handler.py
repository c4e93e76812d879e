"""What the download handler makes of a request, with nothing sent."""

from __future__ import annotations

import asyncio
import contextlib
import math
import resource
import ssl
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock, Mock

import pytest
from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.http import Request

from crawler.fetch import handler
from crawler.fetch.connection import Answer
from crawler.fetch.errors import (
    AbortedError,
    ConnectError,
    CutError,
    FetchError,
    FetchTimeoutError,
    HungUpError,
    RefusedAddressError,
    StaleLeaseError,
)
from frontier import clock_line
from tests.unit.crawler.test_polls import settings

LONG = {"download_timeout": 600.0}


@pytest.mark.parametrize(
    ("meta", "leased", "waits_s"),
    [({}, True, 60), (LONG, True, 60), ({"download_timeout": 5.0}, True, 5), (LONG, False, 600)],
)
def test_no_answer_is_waited_for_beyond_the_end_of_a_lease(
    meta: dict[str, Any], leased: bool, waits_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scrapy puts a spider's own `download_timeout` there."""
    waited: list[float] = []

    async def exchange(_request: bytes, timeout_s: float) -> Answer:
        waited.append(timeout_s)
        return Answer(200)

    async def connect(*_: object) -> Any:
        return SimpleNamespace(
            exchange=exchange, hung_up=False, usable=False, tls_facts=lambda: ("", ""), close=lambda: None
        )

    monkeypatch.setattr(handler, "connect", connect)
    monkeypatch.setattr(handler, "time", SimpleNamespace(monotonic=lambda: 0.0))
    grant = (
        {"grant": SimpleNamespace(address="127.0.0.1", start_by=math.inf, opted_out_by=AsyncMock(return_value=""))}
        if leased
        else {}
    )

    async def fetch() -> None:
        fetcher = handler.FetchHandler(Crawler(Spider, settings(FETCH_ALLOWED_NETWORKS=["127.0.0.0/8"])))
        await fetcher.download_request(Request("http://127.0.0.1/", meta={**meta, **grant}))

    asyncio.run(fetch())
    assert waited == [waits_s]


def test_nothing_is_sent_after_a_sleep_in_which_the_lease_ran_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the machine: ``time.monotonic()`` stands still meanwhile."""
    connection = Mock(exchange=AsyncMock(return_value=Answer(200)))
    monkeypatch.setattr(handler, "connect", AsyncMock(return_value=connection))
    slept = clock_line.uptime_s() + 3600
    monkeypatch.setattr(handler, "uptime_s", lambda: slept)
    start_by = clock_line.uptime_s() + 60
    grant = SimpleNamespace(address="127.0.0.1", start_by=start_by, opted_out_by=AsyncMock(return_value=""))

    async def fetch() -> None:
        fetcher = handler.FetchHandler(Crawler(Spider, settings(FETCH_ALLOWED_NETWORKS=["127.0.0.0/8"])))
        await fetcher.download_request(Request("http://127.0.0.1/", meta={"grant": grant}))

    with pytest.raises(StaleLeaseError):
        asyncio.run(fetch())
    connection.exchange.assert_not_called()


def test_nothing_is_sent_when_the_connection_has_taken_all_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(monotonic=lambda: 0.0)

    async def connect(*_: object) -> Mock:
        clock.monotonic = lambda: 60.0
        return connection

    connection = Mock(exchange=AsyncMock(return_value=Answer(200)))
    monkeypatch.setattr(handler, "connect", connect)
    monkeypatch.setattr(handler, "time", clock)

    async def fetch() -> None:
        fetcher = handler.FetchHandler(Crawler(Spider, settings(FETCH_ALLOWED_NETWORKS=["127.0.0.0/8"])))
        await fetcher.download_request(Request("http://127.0.0.1/"))

    with pytest.raises(FetchTimeoutError, match="no time was left of 60 s"):
        asyncio.run(fetch())
    connection.exchange.assert_not_called()
    connection.close.assert_called_once_with()


@pytest.mark.parametrize(("cut", "ended"), [(True, CutError), (False, HungUpError)])
def test_what_was_sent_is_never_said_not_to_have_been(
    cut: bool, ended: type[FetchError], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The host would be asked again at once, by whoever goes on: also when a stopping crawl hangs up once more."""
    monkeypatch.setattr(handler, "_HANG_UP_S", 0.3)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        asked.set()
        if not cut:
            await reader.read()
        writer.close()

    async def fetch() -> None:
        fetcher = handler.FetchHandler(Crawler(Spider, settings(FETCH_ALLOWED_NETWORKS=["127.0.0.0/8"])))
        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            request = asyncio.ensure_future(fetcher.download_request(Request(f"http://127.0.0.1:{port}/")))
            await asked.wait()
            await asyncio.sleep(0.1)
            for _ in range(2):
                fetcher.abort()
                await asyncio.sleep(0.05)
            await request

    asked = asyncio.Event()
    with pytest.raises(ended):
        asyncio.run(fetch())


@pytest.mark.parametrize("ended", [False, True])
def test_what_redis_takes_at_the_last_look_is_no_fault_of_the_host(
    ended: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither is it time that the host was given, nor the end of a connection that stood idle meanwhile."""
    clock = SimpleNamespace(monotonic=lambda: 0.0)
    connection = Mock(hung_up=False, usable=True, exchange=AsyncMock(return_value=Answer(200)))
    connection.tls_facts.return_value = "", ""

    async def opted_out_by(_url: str) -> str:
        clock.monotonic = lambda: 70.0
        connection.usable = not ended
        return ""

    grant = SimpleNamespace(address="127.0.0.1", start_by=math.inf, opted_out_by=opted_out_by)
    monkeypatch.setattr(handler, "time", clock)

    async def fetch() -> None:
        fetcher = handler.FetchHandler(Crawler(Spider, settings(FETCH_ALLOWED_NETWORKS=["127.0.0.0/8"])))
        monkeypatch.setattr(fetcher, "_pool", Mock(**{"take.return_value": connection}))
        await fetcher.download_request(Request("http://127.0.0.1/", meta={"grant": grant}))

    if ended:
        with pytest.raises(StaleLeaseError, match="connection ended"):
            asyncio.run(fetch())
        connection.exchange.assert_not_called()
        connection.close.assert_called_once_with()
    else:
        asyncio.run(fetch())
        assert connection.exchange.call_args.args[1] == 60


@pytest.mark.parametrize("cut", [False, True])
def test_a_fetch_takes_from_its_connection_to_the_end_of_the_answer(cut: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """By that the delay of a slow host is reckoned, also where it gives no answer."""
    clock = SimpleNamespace(monotonic=lambda: 100.0)

    async def exchange(_request: bytes, _timeout_s: float) -> Answer:
        clock.monotonic = lambda: 102.5
        if cut:
            raise CutError("cut")
        return Answer(200)

    connection = Mock(hung_up=False, usable=False, exchange=exchange)
    connection.tls_facts.return_value = "", ""
    monkeypatch.setattr(handler, "connect", AsyncMock(return_value=connection))
    monkeypatch.setattr(handler, "time", clock)
    request = Request("http://127.0.0.1/")

    async def fetch() -> None:
        fetcher = handler.FetchHandler(Crawler(Spider, settings(FETCH_ALLOWED_NETWORKS=["127.0.0.0/8"])))
        with pytest.raises(CutError) if cut else contextlib.nullcontext():
            await fetcher.download_request(request)

    asyncio.run(fetch())
    capture = request.meta["capture"]
    assert (capture.fetch_ms, capture.ended, capture.answer is None) == (2500, 102.5, cut)


@pytest.mark.parametrize("allowed", [True, False])
def test_the_address_of_a_lease_is_judged_and_not_looked_up(allowed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The frontier remembers it for an hour; this worker may have other networks than that which bound it."""
    connect = AsyncMock(side_effect=ConnectError("nobody there"))
    monkeypatch.setattr(handler, "connect", connect)
    grant = SimpleNamespace(address="127.0.0.9", bind=AsyncMock())

    async def fetch() -> None:
        networks = ["127.0.0.0/8"] if allowed else []
        fetcher = handler.FetchHandler(Crawler(Spider, settings(FETCH_ALLOWED_NETWORKS=networks)))
        await fetcher.download_request(Request("http://a.test/", meta={"grant": grant}))

    with pytest.raises(ConnectError if allowed else RefusedAddressError):
        asyncio.run(fetch())
    assert [call.args[:3] for call in connect.call_args_list] == [("127.0.0.9", 80, "a.test")] * allowed
    grant.bind.assert_not_called()


def test_nothing_is_sent_by_what_begins_when_the_crawl_is_stopping() -> None:
    """A request that waited for its turn in a middleware was not there to be cancelled."""
    connection = Mock(usable=True, exchange=AsyncMock(return_value=Answer(200)))

    async def fetch() -> None:
        fetcher = handler.FetchHandler(Crawler(Spider, settings(FETCH_ALLOWED_NETWORKS=["127.0.0.0/8"])))
        fetcher._pool = Mock(**{"take.return_value": connection})
        fetcher.abort()
        await fetcher.download_request(Request("http://127.0.0.1/"))

    with pytest.raises(AbortedError):
        asyncio.run(fetch())
    connection.exchange.assert_not_called()
    connection.close.assert_called_once_with()


@pytest.mark.parametrize("hung_up", [False, True])
def test_a_server_has_a_moment_to_notice_that_its_answer_was_left(
    monkeypatch: pytest.MonkeyPatch, *, hung_up: bool
) -> None:
    """The delay of its host runs from then."""
    connection = Mock(usable=True, hung_up=hung_up, exchange=AsyncMock(return_value=Answer(200)))
    connection.tls_facts.return_value = "", ""
    slept: list[float] = []

    async def sleep(wait_s: float) -> None:
        slept.append(wait_s)

    async def fetch() -> None:
        fetcher = handler.FetchHandler(Crawler(Spider, settings(FETCH_ALLOWED_NETWORKS=["127.0.0.0/8"])))
        fetcher._pool = Mock(**{"take.return_value": connection})
        monkeypatch.setattr(asyncio, "sleep", sleep)
        await fetcher.download_request(Request("http://127.0.0.1/"))

    asyncio.run(fetch())
    assert slept == ([handler._HANG_UP_S] if hung_up else [])


@pytest.mark.parametrize(
    ("place", "port"),
    [("http://a.test", 80), ("https://a.test", 443), ("http://a.test:8080", 8080), ("https://a.test:80", 80)],
)
def test_the_port_is_that_of_the_url_or_its_scheme(place: str, port: int) -> None:
    assert handler._server(f"{place}/")[2] == port


def test_a_dot_behind_the_name_is_another_spelling_of_the_same_server() -> None:
    """Its certificate would not be believed, and for one such link the whole host would rest."""
    assert handler._server("https://a.test./page") == handler._server("https://a.test/page")


@pytest.mark.parametrize("port", [0, 25, 6000, 6667])
def test_no_other_service_than_a_web_server_is_asked(port: int) -> None:
    """Port 0 is not the usual one: its URLs would have no opt-out, delay or robots.txt of those."""
    with pytest.raises(RefusedAddressError, match=f"^port {port} is none of a web server"):
        handler._server(f"http://a.test:{port}/EHLO%0D%0A")


@pytest.mark.parametrize("url", ["http:///", "http://a.test:99999/", "http://a.test:x/"])
def test_what_names_no_server_is_told(url: str) -> None:
    with pytest.raises(CutError, match="no usable host and port"):
        handler._server(url)


@pytest.mark.parametrize("verify", [True, False])
def test_certificates_are_verified_unless_that_is_switched_off(verify: bool) -> None:
    context = handler.tls_context(settings(DOWNLOAD_VERIFY_CERTIFICATES=verify))
    wanted = ssl.CERT_REQUIRED if verify else ssl.CERT_NONE
    assert (context.verify_mode, context.check_hostname) == (wanted, verify)


def test_as_many_connections_may_be_open_as_the_system_allows() -> None:
    """Most systems have 1,024 where nobody asks for more: with a large FRONTIER_BUFFER hosts looked as if dead."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, hard - 1), hard))
    try:
        handler.FetchHandler(Crawler(Spider, settings()))
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (hard, hard)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
