"""How much of what pages and their style sheets embed is wanted, and how far it goes."""

from __future__ import annotations

import pytest

from crawler.pages import policy as policies
from crawler.pages import requisites as embedded
from crawler.pages.policy import BEHIND, BehindRequisites
from crawler.pages.requisites import (
    MOST_STEPS,
    behind_requisites,
    is_style_sheet,
    may_be_page,
    may_be_shown,
    requisites,
    wants_requisites,
)
from frontier.payload import REQUISITE_MARK
from frontier.types import Candidate, Kind, Lease
from relevance.steering.policies import make_policy
from relevance.steering.policy import LinkContext, Verdict
from seeds.crawl import parse_crawl
from tests.unit.crawler.test_polls import HEAD

HOME = "https://a.example"
SPEC = parse_crawl(HEAD.replace("[crawl]", "[crawl]\npage_requisites = true") + f'[[site]]\nurl = "{HOME}/"\n')
NAMED = ((1, Kind.PAGE, 1.0), (2, Kind.PAGE, 0.5), (3, Kind.SITEMAP, 1.0))
PLAIN = parse_crawl(HEAD + f'[[site]]\nurl = "{HOME}/"\n')


def found(addresses: list[str], steps: int = 0) -> list[Candidate]:
    """What is embedded by a page, or by what is so many steps from one."""
    memo = REQUISITE_MARK + bytes((steps,)) if steps else b""
    lease = Lease("t", f"{HOME}/", Kind.PAGE, HOME, "", 0, 0, memo=memo)
    return requisites(addresses, f"{HOME}/", f"{HOME}/", lease, SPEC)


def test_sheets_lead_on_for_so_many_steps_and_only_the_first_go_before_pages() -> None:
    scores = []
    for steps in range(MOST_STEPS):
        (one,) = found(["/a.css"], steps)
        assert one.memo == REQUISITE_MARK + bytes((steps + 1,))
        scores.append(one.score)
    assert scores == [1.0, 1.0, *[BEHIND] * (MOST_STEPS - 2)]
    assert found(["/a.css"], MOST_STEPS) == []


def test_a_crawl_wants_them_unless_their_page_does_not() -> None:
    assert [wants_requisites(spec, frozenset({"noindex"})) for spec in (SPEC, PLAIN, None)] == [True, False, False]
    assert not any(wants_requisites(SPEC, frozenset({said})) for said in ("nofollow", "none", "noimageindex"))


@pytest.mark.parametrize(
    ("url", "content_type", "is_page"),
    [
        (f"{HOME}/1", "text/html; charset=utf-8", True),
        (f"{HOME}/1", "application/xhtml+xml", True),
        (f"{HOME}/1", "text/plain", False),
        (f"{HOME}/1.PNG", "text/html", False),
        (f"{HOME}/1.png/x", "text/html", True),
        ("https://b.example/1", "text/html", False),
    ],
)
def test_what_links_might_have_led_to_may_be_a_page(url: str, content_type: str, is_page: bool) -> None:
    assert may_be_page(url, content_type, 1, SPEC) is is_page
    assert not may_be_page(url, content_type, 1, None)


@pytest.mark.parametrize(
    ("name", "content_type", "is_sheet"),
    [("1", "text/css", True), ("1.css", "", True), ("1.css", "text/plain", False), ("1", "", False)],
)
def test_a_style_sheet_is_one_by_its_type_or_without_one_by_its_name(
    name: str, content_type: str, is_sheet: bool
) -> None:
    assert is_style_sheet(f"{HOME}/{name}?1", content_type) is is_sheet


@pytest.mark.parametrize(
    ("content_type", "is_shown"),
    [
        ("image/png", True),
        ("text/javascript; charset=utf-8", True),
        ("application/x-font-woff", True),
        ("text/x", False),
    ],
)
def test_what_pages_may_show_is_told_by_its_type(content_type: str, is_shown: bool) -> None:
    assert [may_be_shown(content_type, spec) for spec in (SPEC, PLAIN, None)] == [is_shown, False, False]


def test_what_a_sitemap_names_goes_behind_what_its_pages_embed() -> None:
    named = [Candidate(f"{HOME}/{n}", kind, score=score) for n, kind, score in NAMED]
    assert [one.score for one in behind_requisites(named, SPEC)] == [BEHIND, 0.5, 1.0]
    assert behind_requisites(named, PLAIN) == behind_requisites(named, None) == named


def test_of_one_that_embeds_without_end_the_first_are_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "MOST", 3)
    assert [one.url for one in found([f"/{number}.png" for number in (1, 2, 2, 3)])] == [
        f"{HOME}/1.png",
        f"{HOME}/2.png",
    ]
    assert len(found([f"/{number}.png" for number in range(9)])) == 3


def test_no_link_has_the_place_of_what_pages_embed() -> None:
    policy = BehindRequisites(make_policy("all", "", ()))
    link = LinkContext(f"{HOME}/zu/izindaba", "Izindaba", f"{HOME}/", Verdict(True, "", "zul"))
    plain = make_policy("all", "", ())
    assert plain.link_priority(link) > BEHIND, "else this would say nothing"
    assert policy.link_priority(link) == BEHIND
    assert [score for score, _ in policy.rank([link])] == [BEHIND]
    assert all(score <= BEHIND for score in policy.rescore([(link.url, 0, "000000")]))


def test_the_terms_of_a_priority_end_in_the_place_that_a_link_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policies, "BEHIND", 0.5)
    waiting = f"{HOME}/zu/izindaba", 0, "000000"
    terms = make_policy("yield", "zul").explain(*waiting)
    assert terms["gain"] > 0.5 < terms["priority"], "else this would say nothing"
    assert BehindRequisites(make_policy("yield", "zul")).explain(*waiting) == {**terms, "priority": 0.5}
