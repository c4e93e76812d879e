"""What a page asks robots to do with it, and what the crawl makes of that."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy.http import HtmlResponse, Request
from scrapy.settings import Settings

from crawler.focus import FocusMiddleware
from crawler.pages.findings import Finding
from crawler.pages.quality_caps import NEAR_IDENTICAL
from frontier.types import Kind, Lease
from relevance import Verdict, make_policy, read_page
from tests.sample import sentences

URL = "https://a.example/news/1"
TEXT = sentences("zul", random.Random(1), 150)


def answer(url: str = URL, tag: str = "", meta: str = "") -> HtmlResponse:
    """A page in isiZulu with this header and meta element."""
    body = f"<html lang=zu><head>{meta}</head><body><p>{TEXT}</p></body></html>".encode()
    headers = {"Content-Type": "text/html", **({"X-Robots-Tag": tag} if tag else {})}
    return HtmlResponse(url, body=body, headers=headers, request=Request(url))


def lease(url: str = URL) -> Lease:
    return Lease("t", url, Kind.PAGE, "https://a.example", "", 0, 0)


def focus(policy: Any) -> FocusMiddleware:
    """Of a spider without a seed file, in a crawl that has kept nothing yet."""
    quality = SimpleNamespace(repeats=lambda *_, met: met, look=lambda _lease, _page, verdict, _before: (verdict, None))
    crawler: Any = SimpleNamespace(settings=Settings({"ROBOTS_USER_AGENT": "Ulwembu", "ROBOTS_MAX_AGE_S": 1}))
    worker: Any = SimpleNamespace(stores=SimpleNamespace(policy=policy, quality=quality, spec=None))
    return FocusMiddleware(crawler, worker)


def judged(policy: Any, tag: str = "", meta: str = "") -> Verdict:
    response, middleware = answer(URL, tag, meta), focus(policy)
    page = read_page(response.body, URL, "text/html", "Ulwembu")
    return middleware._judge(page, response, lease(), middleware._told(response, page.robots_meta), known=False)


@pytest.mark.parametrize("name", ["yield", "threshold", "afriweb", "all"])
@pytest.mark.parametrize(
    ("tag", "meta"),
    [
        ("noindex", ""),
        ("ulwembu: none", ""),
        ("", "<meta name=robots content=noarchive>"),
        ("", "<meta name=Ulwembu content='nofollow noindex'>"),
    ],
)
def test_a_page_that_asks_not_to_be_kept_is_left_for_that_reason(name: str, tag: str, meta: str) -> None:
    found = judged(make_policy(name, "zul"), tag, meta)
    assert (found.keep, found.reason, found.words, found.language) == (False, "noindex", 0, "zul")
    assert judged(make_policy(name, "zul"), "otherbot: noindex", "<meta name=robots content=nofollow>").keep


def test_a_site_that_asks_not_to_be_kept_is_no_good_one_to_the_policy() -> None:
    """Else the crawl would go on to fetch what it may not keep."""
    asked, kept = make_policy("yield", "zul"), make_policy("yield", "zul")
    for _ in range(5):
        judged(asked, "noindex")
        judged(kept)
    link = ("https://a.example/news/9", 0, "000000")
    assert asked.rescore([link])[0] < 0.6 * kept.rescore([link])[0]


def test_a_copy_that_may_not_be_kept_takes_nothing_from_the_page() -> None:
    """As versions to be printed, or with an answer to be written, mostly ask for that."""
    middleware = focus(make_policy("yield", "zul"))

    def read(path: str, tag: str = "") -> tuple[bool, str]:
        finding = Finding("ok")
        middleware._read_page(answer(URL + path, tag), lease(URL + path), finding)
        assert finding.verdict is not None
        return finding.verdict.keep, finding.verdict.reason

    assert read("?print=1", "noindex") == (False, "noindex")
    assert read("") == (True, "words_and_share")
    assert read("?again=1") == (False, NEAR_IDENTICAL)
    assert read("?print=2", "noindex") == (False, NEAR_IDENTICAL), "a trap may ask for it, too"
