"""Items of feeds are fetched again when asked; nothing else is."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

import pytest
import redis
from scrapy.http import HtmlResponse, Request, Response
from scrapy.settings import Settings

from archive import RevisitTarget
from crawler.addon import Ulwembu
from crawler.fetch.handler import Capture
from crawler.focus import FocusMiddleware
from crawler.harvest.polls import Polls
from crawler.harvest.revisits import archived_at, started_us
from crawler.pages.findings import Finding
from crawler.pages.kept_log import KeptLog
from crawler.pages.link_memo import LinkMemo
from crawler.pages.own_requests import pack_request
from crawler.pages.quality_caps import QualityCaps
from frontier.types import Kind, Lease
from relevance.steering.policies import make_policy
from seeds.crawl import parse_crawl
from seeds.harvest.revisits import AGES_S, conditions
from tests.sample import sentences

URL = "https://a.example/news/1"
TEXT = sentences("zul", random.Random(1), 300)
OTHER = sentences("zul", random.Random(2), 300)
SPEC = parse_crawl(
    '[crawl]\nname = "x"\nlanguage = "zul"\n[[site]]\nurl = "https://a.example/"\nmax_depth = 2\n'
    '[[site]]\nurl = "https://b.example/"\n'
)


def focus(*, revisit: bool, policy: str = "threshold") -> FocusMiddleware:
    settings = Settings()
    Ulwembu().update_settings(settings)
    settings.set("HARVEST_REVISIT", revisit)
    stores = SimpleNamespace(
        policy=make_policy(policy, "zul", (), {}),
        quality=QualityCaps(KeptLog(redis.Redis(), "zulu"), [], 0),  # asks its Redis only when pages are stored
        spec=SPEC,
        polls=Polls(settings, SPEC),
    )
    return FocusMiddleware(cast("Any", SimpleNamespace(settings=settings)), cast("Any", SimpleNamespace(stores=stores)))


def read(
    middleware: FocusMiddleware,
    text: str,
    memo: bytes = b"",
    source: str = "feed:1a2b",
    depth: int = 1,
    url: str = URL,
) -> Finding:
    lease = Lease("t", url, Kind.PAGE, "https://a.example", "", 0, 0, source=source, memo=memo, depth=depth)
    links = '<a href="/next">o</a><a href="https://b.example/next">p</a>'
    body = f'<html lang="zu"><title>Izindaba</title><p>{text}</p>{links}</html>'
    capture = Capture(url, "192.0.2.1", datetime(2026, 11, 21, 4, 0, 0, 7, tzinfo=UTC), b"")
    request = Request(url, meta={"lease": lease, "capture": capture})
    response = HtmlResponse(url, body=body.encode(), request=request, headers={"Content-Type": "text/html"})
    middleware.process_spider_input(response)
    return cast("Finding", response.meta["finding"])


def test_an_item_comes_again_ever_more_rarely_until_it_has_settled() -> None:
    middleware = focus(revisit=True)
    found = read(middleware, TEXT)
    waits = [found.again_in_ms]
    for _ in range(len(AGES_S)):
        assert found.memo
        found = read(middleware, TEXT, found.memo)
        assert found.verdict is not None
        assert found.verdict.keep, "equal to itself is no repeat of another page"
        assert found.page_mark == b""
        waits.append(found.again_in_ms)
    assert waits == [*(age * 1000 for age in AGES_S), None]


def test_what_comes_again_teaches_the_policy_nothing() -> None:
    """Kept items alone come again: in time their host, and all that is found as they were, seemed worth a sure page."""
    middleware = focus(revisit=True, policy="yield")
    policy = middleware._worker.stores.policy
    memo = read(middleware, TEXT).memo
    assert policy.deltas()
    for text in (TEXT, OTHER):
        found = read(middleware, text, memo or b"")
        assert found.verdict is not None
        assert found.verdict.scores["gain"] > 0
        assert policy.deltas() == {}


def test_a_change_starts_anew() -> None:
    middleware = focus(revisit=True)
    second = read(middleware, TEXT, read(middleware, TEXT).memo or b"")
    assert second.again_in_ms == AGES_S[1] * 1000
    assert read(middleware, OTHER, second.memo or b"").again_in_ms == AGES_S[0] * 1000


def test_not_modified_moves_on_and_names_the_record_that_is_still_valid() -> None:
    middleware = focus(revisit=True)
    first = read(middleware, TEXT)
    lease = Lease("t", URL, Kind.PAGE, "https://a.example", "", 0, 0, source="feed:1a2b", memo=first.memo or b"")
    request = Request(URL, meta={"lease": lease})
    response = Response(URL, 304, request=request)
    middleware.process_spider_input(response)
    found = cast("Finding", response.meta["finding"])
    assert (found.result, found.again_in_ms) == ("not_modified", AGES_S[1] * 1000)
    assert found.not_modified == RevisitTarget(URL, "2026-11-21T04:00:00.000007Z")
    request.meta["lease"] = replace(lease, memo=b"")
    middleware.process_spider_input(response)
    assert cast("Finding", response.meta["finding"]).again_in_ms is None, "it was never fetched"
    own = pack_request(Request(URL, headers={"If-None-Match": '"made-by-the-spider"'}), None)
    request.meta["lease"] = replace(lease, source="spider", memo=own)
    middleware.process_spider_input(response)
    assert cast("Finding", response.meta["finding"]).again_in_ms is None, "a spider asks for it once"


def test_what_was_never_captured_has_no_record_to_name() -> None:
    assert archived_at(URL, started_us(None), "1.1") is None


def test_only_items_of_feeds_and_only_when_asked() -> None:
    assert read(focus(revisit=True), TEXT, source="https://a.example/").again_in_ms is None
    assert read(focus(revisit=False), TEXT).again_in_ms is None


def test_links_beyond_the_depth_of_their_site_are_not_followed() -> None:
    middleware = focus(revisit=False)
    near, far = read(middleware, TEXT, depth=1), read(middleware, OTHER, depth=2)
    assert [link.url for link in near.links] == ["https://a.example/next", "https://b.example/next"]
    assert [link.url for link in far.links] == ["https://b.example/next"]


def test_only_another_page_repeats_a_text() -> None:
    """A page whose lease ran out is fetched anew; that is no repeat, as the same text at another URL is."""
    middleware = focus(revisit=False)
    reasons = []
    for url in (URL, URL, URL + "?page=2", URL):
        found = read(middleware, TEXT, url=url)
        assert found.verdict is not None
        reasons.append((found.verdict.keep, found.verdict.reason))
        assert found.metadata["languages"] == "zul"
    kept = (True, "words_and_share")
    assert reasons == [kept, kept, (False, "near_identical"), kept]


def test_the_texts_met_last_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.focus._MOST_MARKS", 2)
    middleware = focus(revisit=False)
    texts = [
        " ".join(f"Namuhla sithole umbiko {word} ovela kude {word}." for word in words) for words in ("ab", "cd", "ef")
    ]

    def repeats(text: str, url: str) -> bool:
        verdict = read(middleware, text, url=url).verdict
        assert verdict is not None
        return verdict.reason == "near_identical"

    met = [(0, 1), (1, 2), (0, 3), (2, 4), (0, 5), (1, 6)]
    found = [repeats(texts[text], f"https://a.example/{page}") for text, page in met]
    assert found == [False, False, True, False, True, False]


@pytest.mark.parametrize(("location", "goes"), [("https://b.example/news/1", True), ("/news/", False)])
def test_what_the_feed_says_of_an_items_publication_goes_where_the_item_has_moved_to(location: str, goes: bool) -> None:
    item = LinkMemo(published_s=1_790_000_000, dated="time").pack()
    lease = Lease("t", URL, Kind.PAGE, "https://a.example", "", 0, 0, source="feed:1a2b", memo=item)
    response = Response(URL, 302, {"Location": location}, request=Request(URL, meta={"lease": lease, "detours": 0}))
    focus(revisit=True).process_spider_input(response)
    (link,) = response.meta["finding"].links
    assert (link.source, link.memo) == ("feed:1a2b", item if goes else b"")


def test_what_the_feed_says_of_an_items_publication_goes_into_the_archive_each_time() -> None:
    middleware = focus(revisit=True)
    item = LinkMemo(published_s=1_790_000_000, dated="time").pack()
    found = read(middleware, TEXT, item)
    for text in (OTHER, TEXT):
        assert found.metadata["feed-published"] == "2026-09-21T14:13:20Z"
        assert found.memo
        found = read(middleware, text, found.memo)
    assert found.metadata["feed-published"] == "2026-09-21T14:13:20Z"
    assert conditions(found.memo or b"") == {}
    assert "feed-published" not in read(middleware, TEXT).metadata
    of_a_site = read(middleware, TEXT, item, source="https://a.example/sitemap.xml")
    assert of_a_site.metadata["feed-published"] == "2026-09-21T14:13:20Z"
    assert of_a_site.again_in_ms is None, "it is no item of a feed"
