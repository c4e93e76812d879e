"""Where a page that has moved is followed to."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from scrapy.http import Request, Response
from scrapy.settings import Settings

from crawler.addon import Ulwembu
from crawler.focus import FocusMiddleware
from crawler.pages.findings import Finding
from frontier.types import Candidate, Kind, Lease
from seeds.crawl import parse_crawl

HEAD = '[crawl]\nname = "x"\nlanguage = "zul"\n'
FEED = '[[feed]]\nurl = "https://a.example/feed/"\n'
SITE = '[[site]]\nurl = "https://a.example/"\n'
NEAR, FAR = "https://a.example/2026/indaba", "https://b.example/indaba"


def followed(tables: str, source: str, location: str, head: str = HEAD, **headers: str) -> list[Candidate]:
    return answered(tables, source, location, head, **headers).links


def answered(tables: str, source: str, location: str, head: str = HEAD, **headers: str) -> Finding:
    settings = Settings()
    Ulwembu().update_settings(settings)
    worker = SimpleNamespace(stores=SimpleNamespace(spec=parse_crawl(head + tables)))
    focus = FocusMiddleware(cast("Any", SimpleNamespace(settings=settings)), cast("Any", worker))
    url = "https://a.example/?p=7"
    lease = Lease("t", url, Kind.PAGE, "https://a.example", "", 0, 0, source=source, memo=b"memo", depth=1)
    request = Request(url, meta={"lease": lease, "detours": 0})
    response = Response(url, 301, headers={"Location": location, **headers}, request=request)
    focus.process_spider_input(response)
    finding = cast("Finding", response.meta["finding"])
    assert finding.result == "redirect"
    return finding


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


def test_where_a_page_has_moved_to_is_asked_for_when_the_answer_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time_ns", lambda: 5_000_000_000)
    told = {"Retry-After": "3600"}
    assert [link.not_before_ms for link in followed(SITE, "https://a.example/", NEAR, **told)] == [3_605_000]
    assert [link.not_before_ms for link in followed(SITE, "https://a.example/", NEAR)] == [0]
    spelling = "https://a.example/?p=7&utm_source=feed"
    assert answered(SITE, "https://a.example/", spelling, **told).again_in_ms == 3_600_000
    assert answered(SITE, "https://a.example/", spelling).again_in_ms == 0
