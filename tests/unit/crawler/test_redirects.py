"""Where a page that has moved is followed to."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import formatdate
from types import SimpleNamespace
from typing import Any, cast

import pytest
from scrapy.http import Request, Response
from scrapy.settings import Settings

from crawler.addon import Ulwembu
from crawler.fetch.connection import Answer
from crawler.fetch.handler import Capture
from crawler.focus import FocusMiddleware
from crawler.pages.findings import Finding
from crawler.scheduler import _finding_of_replaced
from frontier.types import Candidate, Kind, Lease
from seeds.crawl import parse_crawl

HEAD = '[crawl]\nname = "x"\nlanguage = "zul"\n'
FEED = '[[feed]]\nurl = "https://a.example/feed/"\n'
SITE = '[[site]]\nurl = "https://a.example/"\n'
NEAR, FAR = "https://a.example/2026/indaba", "https://b.example/indaba"


def followed(tables: str, source: str, location: str, head: str = HEAD, **headers: Any) -> list[Candidate]:
    return answered(tables, source, location, head, **headers).links


def answered(
    tables: str, source: str, location: str, head: str = HEAD, kind: Kind = Kind.PAGE, **headers: str
) -> Finding:
    focus, request = focus_and_request(tables, source, head, kind)
    response = Response(request.url, 301, headers={"Location": location, **headers}, request=request)
    focus.process_spider_input(response)
    finding = cast("Finding", response.meta["finding"])
    assert finding.result == ("robots_redirect" if kind is Kind.ROBOTS else "redirect")
    return finding


def focus_and_request(tables: str, source: str, head: str, kind: Kind) -> tuple[FocusMiddleware, Request]:
    settings = Settings()
    Ulwembu().update_settings(settings)
    frontier = SimpleNamespace(now_ms=lambda: 5000, date_ms=lambda: 5000)
    worker = SimpleNamespace(stores=SimpleNamespace(spec=parse_crawl(head + tables), frontier=frontier))
    focus = FocusMiddleware(cast("Any", SimpleNamespace(settings=settings)), cast("Any", worker))
    url = "https://a.example/?p=7"
    lease = Lease("t", url, kind, "https://a.example", "", 0, 0, source=source, memo=b"memo", depth=1)
    return focus, Request(url, meta={"lease": lease, "detours": 0})


@pytest.mark.parametrize("tables", [FEED, FEED + SITE])
@pytest.mark.parametrize("location", [NEAR, FAR])
def test_an_item_is_followed_wherever_items_may_lead(tables: str, location: str) -> None:
    (link,) = followed(tables, "feed:#1a2b", location)
    assert (link.url, link.source, link.depth) == (location, "feed:#1a2b", 2)


def test_other_pages_and_those_of_a_whitelist_only_within_scope() -> None:
    only = HEAD + "whitelist_only = true\n"
    assert [link.url for link in followed(FEED + SITE, "https://a.example/", NEAR)] == [NEAR]
    assert followed(FEED + SITE, "https://a.example/", FAR) == []
    assert [link.url for link in followed(FEED + SITE, "feed:#1a2b", NEAR, only)] == [NEAR]
    assert followed(FEED + SITE, "feed:#1a2b", FAR, only) == []


@pytest.mark.parametrize("source", ["feed:#1a2b", "https://a.example/"])
def test_nothing_is_followed_to_the_port_of_another_service(source: str) -> None:
    site = '[[site]]\nurl = "https://a.example/"\nscope = "domain"\n'
    assert followed(FEED + site, source, "https://a.example:8443/indaba")
    assert followed(FEED + site, source, "https://a.example:6697/indaba") == []


def test_where_a_page_has_moved_to_is_asked_for_when_the_answer_says() -> None:
    """By Redis' clock, since the worker's may be wrong."""
    told: dict[str, Any] = {"Retry-After": "3600"}
    assert [link.not_before_ms for link in followed(SITE, "https://a.example/", NEAR, **told)] == [3_605_000]
    assert [link.not_before_ms for link in followed(SITE, "https://a.example/", NEAR)] == [0]
    dated: dict[str, Any] = {"Retry-After": formatdate(3605, usegmt=True)}
    assert [link.not_before_ms for link in followed(SITE, "https://a.example/", NEAR, **dated)] == [3_605_000]
    spelling = "https://a.example/?p=7&utm_source=feed"
    assert answered(SITE, "https://a.example/", spelling, **told).again_in_ms == 3_600_000
    assert answered(SITE, "https://a.example/", spelling).again_in_ms == 0


def test_where_a_robots_txt_has_moved_to_is_waited_for() -> None:
    told: dict[str, Any] = {"Retry-After": "60"}
    assert answered(SITE, "", FAR, kind=Kind.ROBOTS, **told).retry_after_ms == 60_000
    dated: dict[str, Any] = {"Retry-After": formatdate(65, usegmt=True)}
    assert answered(SITE, "", FAR, kind=Kind.ROBOTS, **dated).retry_after_ms == 60_000
    assert answered(SITE, "", FAR, kind=Kind.ROBOTS).retry_after_ms is None
    assert answered(SITE, "https://a.example/", NEAR, **told).retry_after_ms is None


@pytest.mark.parametrize(
    ("came", "given", "wait_ms"),
    [(503, 404, 60_000), (429, 304, 60_000), (503, 503, 7_000), (200, 503, 7_000), (None, 503, 7_000)],
)
def test_a_host_rests_for_as_long_as_it_says_whatever_a_middleware_gives_in_place_of_its_answer(
    came: int | None, given: int, wait_ms: int
) -> None:
    """As Scrapy's cache does (`HTTPCACHE_POLICY`): of an older answer the Retry-After was none."""
    focus, request = focus_and_request(SITE, "https://a.example/", HEAD, Kind.PAGE)
    request.meta["capture"] = capture = Capture(request.url, "192.0.2.1", datetime.now(UTC), b"")
    capture.answer = Answer(status=came, headers=[(b"Retry-After", b"60")]) if came else None
    response = Response(request.url, given, headers={"Retry-After": "7"}, request=request)
    focus.process_spider_input(response)
    assert response.meta["finding"].retry_after_ms == wait_ms


@pytest.mark.parametrize("wait", [b"60", formatdate(65, usegmt=True).encode()])
@pytest.mark.parametrize("kind", [Kind.PAGE, Kind.ROBOTS, Kind.FEED])
@pytest.mark.parametrize(("status", "result"), [(403, "protocol"), (502, "http_5xx"), (503, "http_503")])
def test_a_refusal_that_a_middleware_replaced_asks_to_wait_all_the_same(
    status: int, result: str, kind: Kind, wait: bytes
) -> None:
    lease = Lease("t", NEAR, kind, "https://a.example", "", 0, 0)
    capture = Capture(NEAR, "192.0.2.1", datetime.now(UTC), b"")
    capture.answer = Answer(status=status, headers=[(b"Retry-After", wait)])
    finding = _finding_of_replaced(lease, capture, lambda: 5000, again=True)
    assert (finding.result, finding.retry_after_ms) == (result, 60_000)
