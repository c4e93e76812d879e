"""What the links of a page to one URL say together."""

from types import SimpleNamespace
from typing import Any

from scrapy.http import HtmlResponse
from scrapy.settings import Settings

from crawler.focus import FocusMiddleware
from crawler.pages.quality_caps import NEAR_IDENTICAL
from frontier.types import Kind, Lease
from relevance import LinkContext, Verdict, read_page

URL = "https://a.example/"


def contexts(html: str, reason: str = "x") -> list[LinkContext]:
    """As the policy is asked to rank them."""
    asked: list[LinkContext] = []

    class Asked:
        def rank(self, links: list[LinkContext]) -> list[tuple[float, str]]:
            asked.extend(links)
            return [(0.5, "")] * len(links)

    worker: Any = SimpleNamespace(stores=SimpleNamespace(spec=None, policy=Asked()))
    crawler: Any = SimpleNamespace(settings=Settings({"ROBOTS_USER_AGENT": "x", "ROBOTS_MAX_AGE_S": 1}))
    body = html.encode()
    lease = Lease("t", URL, Kind.PAGE, "https://a.example", "", 0, 0)
    FocusMiddleware(crawler, worker)._links(
        read_page(body, URL), HtmlResponse(URL, body=body), lease, Verdict(reason == "x", reason)
    )
    return asked


def test_the_head_says_the_language_of_a_link_in_the_body() -> None:
    [link] = contexts('<link rel=alternate hreflang=zu href="/a"><a href="/a">Funda</a>')
    assert (link.url, link.anchor, link.hreflang) == ("https://a.example/a", "Funda", "zu")


def test_a_picture_hides_no_anchor() -> None:
    links = contexts(
        '<a href="/a"><img src=p></a><a href="/b">Okunye</a><a href="/a">Izindaba</a><a href="/a">More</a>'
    )
    assert [(link.url[-1], link.anchor) for link in links] == [("a", "Izindaba"), ("b", "Okunye")]


def test_what_stands_in_the_text_too_is_more_than_navigation() -> None:
    links = contexts(
        '<link rel=alternate hreflang=zu href="/c"><nav><a href="/a"><img src=p></a><a href="/b">Okunye</a>'
        '<a href="/c">isiZulu</a></nav><p><a href="/a">Izindaba</a><a href="/b">More</a></p>'
    )
    assert [(link.anchor, link.hreflang, link.nav) for link in links] == [
        ("Izindaba", "", False),
        ("Okunye", "", False),
        ("isiZulu", "zu", True),
    ]


def test_a_link_on_a_page_like_another_is_known_as_such() -> None:
    html = '<a href="/a">Funda</a>'
    assert [link.on_known for link in contexts(html) + contexts(html, NEAR_IDENTICAL)] == [False, True]


def test_links_of_the_head_are_bounded_as_those_of_the_body() -> None:
    head = "".join(f'<link rel=alternate hreflang=zu href="/h{n}">' for n in range(4000))
    body = "".join(f'<a href="/b{n}">b</a>' for n in range(4000))
    urls = [link.url for link in contexts(f"<head>{head}</head><body>{body}")]
    assert [sum("/h" in url[10:] for url in urls), sum("/b" in url[10:] for url in urls)] == [3000, 3000]


def test_a_link_to_the_port_of_another_service_is_none() -> None:
    links = contexts('<a href="http://a.example:6667/a">a</a><a href="//a.example:0/">b</a><a href=":25/">c</a>')
    assert [link.url for link in links] == ["https://a.example/:25/"]
