"""Pages that a script draws: the text that they carry as data, and what is none."""

import html
from typing import Any

import pytest

from relevance.pages.blocks import Block
from relevance.pages.page import read_page
from relevance.pages.states import MOST_LETTERS
from tests.unit.relevance.drawn import (
    ARTICLE,
    FIRST,
    LONG,
    MARKUP,
    SECOND,
    THIRD,
    TITLE,
    URL,
    article,
    blocks,
    linked,
    state,
    texts,
)


@pytest.mark.parametrize(
    "body",
    [
        "\n\n".join(ARTICLE),
        "\r\n".join(ARTICLE),
        "".join(ARTICLE[:2]) + " " + ARTICLE[2],
        MARKUP,
        html.escape(MARKUP),
        [MARKUP],
        "<br><br>".join(map(html.escape, ARTICLE)),
        "\n".join(f"<b>{html.escape(paragraph[:6])}</b>{html.escape(paragraph[6:])}" for paragraph in ARTICLE),
        "\n".join(map(html.escape, ARTICLE)),
    ],
    ids=["blank lines", "lines", "glued", "HTML", "escaped HTML", "list", "line breaks", "emphasis", "escaped lines"],
)
def test_article_of_linked_data(body: Any) -> None:
    found = texts(linked(article(articleBody=body)))
    assert " ".join(found) == " ".join(ARTICLE)
    assert found[0] == FIRST


def test_it_comes_behind_the_title() -> None:
    kinds = [(block.kind, block.text) for block in blocks(linked(article(articleBody=MARKUP)))]
    assert kinds == [("heading", TITLE), *(("main", paragraph) for paragraph in ARTICLE), ("nav", "Ekhaya")]


def test_where_lines_are_paragraphs_no_sentence_begins_another() -> None:
    assert texts(linked(article(articleBody=f"{FIRST}{SECOND}\n{THIRD}"))) == [f"{FIRST}{SECOND}", THIRD]


def test_its_links_are_the_page_s() -> None:
    body = MARKUP.replace("bendawo.", 'bendawo, <a href="/umfula">okunye</a>.')
    page = read_page(f"<title>{TITLE}</title><a href=/>Ekhaya</a>{linked(article(articleBody=body))}".encode(), URL)
    assert [(link.href, link.text) for link in page.links] == [("/", "Ekhaya"), ("/umfula", "okunye")]


def test_lines_that_were_broken_to_a_width_are_one_paragraph() -> None:
    broken = "\n\n".join(paragraph.replace(", ", ",\n").replace(" ngoba ", "\nngoba ") for paragraph in ARTICLE)
    assert texts(linked(article(articleBody=broken))) == list(ARTICLE)


@pytest.mark.parametrize("glued", ["Bheka ku-www.News24.com namhlanje ekuseni", "u-U.S.Army", "U-J.K.Dlamini ufikile"])
def test_addresses_and_initials_are_no_ends_of_paragraphs(glued: str) -> None:
    assert texts(linked(article(articleBody=f"{FIRST} {glued}."))) == [f"{FIRST} {glued}."]


def test_a_page_that_shows_its_article_is_read_as_it_is() -> None:
    shown = f"<article><p>{FIRST}<p>{SECOND}</article><p>Abanye bathi: {SECOND}"
    assert blocks(linked(article(articleBody=MARKUP)), shown) == blocks("", shown)


def test_first_lines_are_not_there_twice_and_the_rest_stands_apart() -> None:
    other = "Sisebenzisa amakhukhi ukuze sikunikeze ulwazi olungcono kule ngosi yethu yezindaba zansuku zonke."
    found = blocks(linked(article(articleBody=LONG)), f"<p>{FIRST}</p><section><p>{other}</section>")
    assert [block.text for block in found].count(FIRST) == LONG.count(html.escape(FIRST))
    assert Block(other, "main", apart=True) in found


@pytest.mark.parametrize(
    "top",
    [
        article(articleBody=MARKUP, isAccessibleForFree=False),
        article(articleBody=MARKUP, isAccessibleForFree="False"),
        article(articleBody=MARKUP, isAccessibleForFree="http://schema.org/False"),
        article(articleBody=MARKUP, hasPart={"@type": "WebPageElement", "isAccessibleForFree": "false"}),
        article(articleBody=MARKUP, hasPart=[1, {"isAccessibleForFree": False}]),
        article(articleBody=MARKUP, isAccessibleForFree=" https://schema.org/False/ "),
        article(articleBody=MARKUP, isAccessibleForFree={"@id": "schema:False"}),
        article(articleBody=MARKUP, isAccessibleForFree=[{"@value": "no"}]),
        article(articleBody=MARKUP, isAccessibleForFree=0),
        [article(articleBody=MARKUP), article(isAccessibleForFree=False)],
        [article(articleBody=MARKUP), {"@type": "WebPage", "isAccessibleForFree": False}],
        {"@type": "NewsArticle", "isAccessibleForFree": False},
    ],
)
def test_what_is_for_money_stays_where_it_is(top: Any) -> None:
    assert texts(linked(top)) == []
    assert texts(linked(top) + state({"title": TITLE, "content": LONG})) == []


def test_what_is_free_is_read() -> None:
    top = article(articleBody=MARKUP, isAccessibleForFree=True, hasPart={"isAccessibleForFree": "True"})
    assert texts(linked(top)) == list(ARTICLE)


def test_a_list_of_articles_has_no_text() -> None:
    days = ("2024-05-01", "2024-05-02")
    assert texts(linked(*(article(articleBody=MARKUP, datePublished=day) for day in days))) == []


def test_of_several_of_one_day_none_is_the_page_s_unless_they_agree() -> None:
    assert texts(linked(article(articleBody=MARKUP), article(articleBody=f"{SECOND} {THIRD}"))) == []
    cut = article(articleBody=MARKUP[:60], datePublished="2024-05-01")
    assert texts(linked(cut, article(articleBody=MARKUP))) == list(ARTICLE)


def test_other_signs_make_no_other_text() -> None:
    spoken = "".join(f"<p>“Sithi u-Zuma uthe ‘yebo’ – e-Goli…” kusho u-{name}-M.</p>" for name in ("A", "B", "C"))
    plain = spoken.translate(dict(zip(map(ord, "“”‘’–-"), "\"\"''-\u2011", strict=True))).replace("…", "...")
    assert blocks(linked(article(articleBody=plain)), spoken) == blocks("", spoken)


def test_elements_that_are_no_text_make_it_markup() -> None:
    body = "<style>p { color: red }</style>" + "\n".join(ARTICLE[:2]) + "<script>var a = 1 < 2</script>"
    assert texts(linked(article(articleBody=body))) == list(ARTICLE[:2])


@pytest.mark.parametrize(
    "body", [None, 3, {"a": MARKUP}, [], "", " \n", "Kuhle.", "\ud800" * 90, "<" * 90, "&lt;" * 90, f"&#{'1' * 5000};"]
)
def test_other_values_are_no_text(body: Any) -> None:
    assert FIRST not in texts(linked(article(articleBody=body)))


def test_state_with_the_title_of_the_page() -> None:
    props = {"post": {"title": {"rendered": TITLE}, "content": {"rendered": LONG}}}
    assert texts(state({"props": {"pageProps": props}}))[:3] == list(ARTICLE)
    assert texts(state([{"headline": TITLE, "parts": [1, None, {"html": LONG}]}]))[:3] == list(ARTICLE)


def test_of_several_the_one_whose_title_says_most() -> None:
    longer = f"<p>{SECOND}</p>" * 40
    site = {"name": "Izindaba", "about": longer, "posts": [{"title": "Ezinye izindaba", "content": longer}]}
    assert texts(state([site, {"title": TITLE, "content": LONG, "more": [{"title": "Okunye", "content": longer}]}]))[
        :3
    ] == list(ARTICLE)


@pytest.mark.parametrize(
    "top",
    [
        {"title": "Ezinye izindaba", "content": LONG},
        {"title": "mfula", "content": LONG},
        {"content": LONG},
        {"title": TITLE, "content": FIRST * 20},
        {"title": TITLE, "content": MARKUP},
        {"title": TITLE, "related": [{"title": "Ezinye izindaba", "content": LONG}]},
        {"title": TITLE, "author": {"name": "Nomusa", "about": LONG}},
    ],
    ids=["another title", "a part of a word", "no title", "no markup", "short", "beside it", "its author"],
)
def test_other_state_is_no_text(top: Any) -> None:
    assert texts(state(top)) == []


TEXT = f"{FIRST} {SECOND} {THIRD}"
PIECES = ("Umfula ", "omkhulu", TEXT.removeprefix("Umfula omkhulu"))
LINKED = {"nodeType": "hyperlink", "data": {"uri": "/"}, "content": [{"nodeType": "text", "value": PIECES[1]}]}


@pytest.mark.parametrize(
    "part",
    [
        {"_type": "block", "markDefs": [], "children": [{"_type": "span", "text": piece} for piece in PIECES]},
        {"type": "unstyled", "text": TEXT, "entityRanges": [], "data": {}},
        {"id": "a1", "type": "paragraph", "data": {"text": f"<b>Umfula</b>{html.escape(TEXT[6:])}"}},
        {"_id": "A", "type": "text", "content": html.escape(TEXT)},
        {"type": "bulletList", "content": [{"type": "listItem", "content": [{"type": "text", "text": TEXT}]}]},
        {
            "nodeType": "paragraph",
            "content": [{"nodeType": "text", "value": PIECES[0]}, LINKED, {"nodeType": "text", "value": PIECES[2]}],
        },
    ],
    ids=["Portable Text", "Draft.js", "Editor.js", "Arc", "ProseMirror", "Contentful"],
)
def test_parts_of_a_text_are_its_paragraphs(part: dict[str, Any]) -> None:
    others = [{"type": "image", "data": "aGFsbG8" * 90}, {"type": "card", "title": "Okunye", "text": TEXT}, None, 3]
    assert texts(state({"title": TITLE, "body": [part, *others, part, part]})) == [TEXT] * 3


@pytest.mark.parametrize("parts", [[{"text": TEXT}] * 5, [{"type": "a", "text": TEXT}] * 2, [{"type": TEXT}] * 5])
def test_lists_of_other_things_are_no_parts(parts: Any) -> None:
    assert texts(state({"title": TITLE, "comments": parts})) == []


@pytest.mark.parametrize("of_site", ["", '<meta property="og:site_name" content="Umfula ugcwele">'])
def test_what_has_the_name_of_the_site_is_no_page(of_site: str) -> None:
    """As the text of its notice, which is on all its pages."""
    notice = {"name": "Umfula ugcwele" if of_site else "Izindaba", "cookies": f"<p>{SECOND}</p>" * 40}
    assert texts(of_site + state({"site": notice, "post": {"title": TITLE, "content": [{"text": FIRST}]}})) == []


def test_state_of_a_page_that_shows_enough_is_not_read() -> None:
    shown = "".join(f"<p>{number}. {FIRST}" for number in range(7))
    assert blocks(state({"title": TITLE, "content": LONG}), shown) == blocks("", shown)


def test_linked_data_goes_before_state() -> None:
    data = linked(article(articleBody=MARKUP)) + state({"title": TITLE, "content": f"<p>{SECOND}</p>" * 40})
    assert texts(data) == list(ARTICLE)


def test_hostile_state() -> None:
    deep = "[" * 100_000
    for script in (deep, "[" + "1" * 5000 + "]", "{", "null", '"' + "<p>" * 200_000 + '"', '{"title":' * 100_000):
        assert texts(f'<script type="application/json">{script}</script>') == []
    for title in (f"&#{'1' * 5000};", [TITLE], {"rendered": [TITLE]}, "\ud800" * 90):
        assert texts(state({"title": title, "content": LONG})) == []
    large = state({"title": TITLE, "content": LONG}) + state(["x" * MOST_LETTERS])
    assert texts(large)[:3] == list(ARTICLE)
    assert texts(state(["x" * MOST_LETTERS]) + state({"title": TITLE, "content": LONG})) == []


def test_much_to_compare_takes_no_time_that_grows_with_its_square() -> None:
    """100 s and 23 s, before both were bounded."""
    title = "<title>" + "abcdefgh " * 600_000 + "</title>"
    assert not read_page((title + state([{"title": f"zzzzzzzz{n}"} for n in range(60_000)])).encode(), URL).blocks
    shown = "".join(f"<p>qz{n}" for n in range(15_000))
    assert len(blocks(state({"title": TITLE, "content": "<p>" + "izinto ezinhle " * 120_000}), shown)) > 15_000
    level = '{"type":"a","content":[{"type":"b"},{"type":"c"},'
    nested = level * 400 + '{"type":"d","text":"a"},' * 70_000 + "0" + "]}" * 400
    assert len(texts(f'<script type="application/json">{{"title":"{TITLE}","body":[{nested}]}}</script>')) == 1
