"""What a poll's answer is read with, on its way through Scrapy."""

from __future__ import annotations

import asyncio
import gzip
import threading
from dataclasses import replace
from email.utils import formatdate
from typing import Any
from unittest.mock import AsyncMock, Mock

import pytest
from scrapy.http import Request, Response

from crawler.harvest.item_dates import item_memo
from crawler.pages.findings import Finding
from crawler.poll_reader import PollReader
from crawler.work.worker import Worker
from frontier.errors import FrontierUnavailable
from frontier.types import Kind, RobotsRecord
from tests.unit.crawler.test_polls import FEED, HOME, MAP, lease, polls, rss, sitemap

PAGES = tuple(f"{HOME}/{number}" for number in range(1, 6))
NAMED = "https://a.example/news.xml"
RECORD = RobotsRecord("rules", f"Sitemap: {NAMED}\nSitemap: http://[a.example/\nSitemap: more.xml".encode())


def read(reader: PollReader) -> dict[str, Any]:
    """The meta of a request for a feed whose answer has come."""
    request = Request(FEED, meta={"lease": lease(FEED)})
    answer = Response(FEED, body=rss(("https://a.example/1", 0)), headers={"Content-Type": "text/xml"})
    assert asyncio.run(reader.process_response(request, answer)) is answer
    return request.meta


def test_an_answer_is_read_while_the_frontier_is_away() -> None:
    """Else it counts as never asked for, and its host is asked again at once."""
    worker = Mock(spec=Worker, robots=AsyncMock(side_effect=FrontierUnavailable("zulu", "away")))
    worker.stores.polls = polls()
    reader = PollReader(worker)
    assert [link.url for link in read(reader)["finding"].links] == ["https://a.example/1"]
    worker.robots = AsyncMock(return_value=RECORD)
    assert asyncio.run(reader._sitemaps_of(lease(FEED))), "and asked for again"


@pytest.mark.parametrize("wait", ["3600", formatdate(3605, usegmt=True)])
def test_where_a_feed_has_moved_to_is_asked_for_when_the_answer_says(wait: str) -> None:
    """By Redis' clock, and the crawl's own, since either machine's may be wrong."""
    worker = Mock(spec=Worker, robots=AsyncMock(return_value=RECORD))
    worker.stores.polls = polls()
    worker.stores.frontier = Mock(now_ms=lambda: 9000, date_ms=lambda: 5000)

    def moved(to: str, **headers: str) -> Finding:
        request = Request(FEED, meta={"lease": lease(FEED)})
        asyncio.run(PollReader(worker).process_response(request, Response(FEED, 302, {"Location": to, **headers})))
        found: Finding = request.meta["finding"]
        return found

    there = "https://a.example/rss"
    assert [(link.url, link.not_before_ms) for link in moved(there).links] == [(there, 0)]
    told: dict[str, str] = {"Retry-After": wait}
    assert [(link.url, link.not_before_ms) for link in moved(there, **told).links] == [(there, 3_609_000)]
    spelling = f"{FEED}?utm_source=feed"
    assert (moved(spelling).again_in_ms or 0) < 10_000
    assert moved(spelling, **told).again_in_ms == 3_600_000


def test_sitemaps_that_a_robots_txt_names_are_whole_addresses_and_remembered() -> None:
    worker = Mock(spec=Worker, robots=AsyncMock(return_value=RECORD))
    reader = PollReader(worker)
    for _ in range(2):
        assert asyncio.run(reader._sitemaps_of(lease(FEED))) == (NAMED, "https://a.example/more.xml")
    worker.robots.assert_awaited_once()


def test_so_many_sitemaps_of_a_host_are_remembered_and_of_so_many_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.poll_reader._MOST_HOSTS", 2)
    monkeypatch.setattr("crawler.poll_reader._MOST_NAMED", 3)
    many = "".join(f"Sitemap: /{number}.xml\n" for number in range(9))
    worker = Mock(spec=Worker, robots=AsyncMock(return_value=RobotsRecord("rules", many.encode())))
    reader = PollReader(worker)
    for version in (1, 2, 3, 2, 1):
        assert len(asyncio.run(reader._sitemaps_of(replace(lease(FEED), robots_ms=version)))) == 3
    assert worker.robots.await_count == 4
    assert len(reader._sitemaps) == 2


@pytest.mark.parametrize(
    "body", [gzip.compress(sitemap("urlset", "url", *PAGES)), sitemap("urlset", "url", *PAGES * 999)]
)
def test_nothing_that_is_done_for_each_page_of_a_sitemap_keeps_other_answers_waiting(
    body: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a packed one a few bytes may name fifty thousand."""
    threads = set()

    def told(*args: Any, **more: Any) -> bytes:
        threads.add(threading.current_thread())
        return item_memo(*args, **more)

    monkeypatch.setattr("crawler.harvest.polls.item_memo", told)
    worker = Mock(spec=Worker, robots=AsyncMock(return_value=RECORD))
    worker.stores.polls, worker.stores.spec = polls(f'[[sitemap]]\nurl = "{MAP}"\n'), None
    request = Request(MAP, meta={"lease": lease(MAP, Kind.SITEMAP)})
    asyncio.run(PollReader(worker).process_response(request, Response(MAP, body=body)))
    assert [link.url for link in request.meta["finding"].links] == [*PAGES]
    assert threads
    assert threading.current_thread() not in threads
