"""Which parts of a page are its text, by the elements around them."""

from __future__ import annotations

import pytest

from relevance import read_page
from relevance.pages.outline import LONGEST

LONG = "Lesi yisigaba eside esinamagama anele ukuba sibhekwe sodwa, singesinye sezindaba zanamuhla."
TEXT = f"<p>{LONG}</p>"


def kinds(html: str) -> list[str]:
    return [block.kind for block in read_page(html.encode(), "").blocks]


def apart(html: str) -> list[bool]:
    return [block.apart for block in read_page(html.encode(), "").blocks]


# -- links in what is said


def test_a_paragraph_may_have_many_links() -> None:
    said, link = "a" * 25 + ".", "b" * 72
    assert kinds(f"<p>{said} <a href=/x>{link}</a></p>") == ["main"]
    assert kinds(f"<p>{said} <a href=/x>{link * 2}</a></p>") == ["links"]
    assert kinds(f"<div>{said} <a href=/x>{link}</a></div>") == ["links"]
    assert kinds(f"<p><a href=/x>{link}</a></p>") == ["links"]


def test_an_entry_of_a_list_may_have_more_than_others_that_are_short_but_a_title_and_its_date_are_a_link() -> None:
    assert kinds(f"<li><a href=/x>{'b' * 72}</a> NgoMsombuluko, 5/6/2023</li>") == ["links"]
    assert kinds("<li>Bheka <a href=/x>izindaba</a> zonke.</li>") == ["main"]
    assert kinds("<div>Bheka <a href=/x>izindaba</a> zonke.</div>") == ["links"]


@pytest.mark.parametrize(
    ("heading", "kind"),
    [
        ("<h2>Isihloko <a href='#isihloko'>¶</a></h2>", "heading"),
        ("<h2><a href=' #isihloko'>Isihloko</a></h2>", "heading"),
        ("<h2><a href='/isihloko'>Isihloko</a></h2>", "links"),
        ("<h2><a href='#'>Isihloko</a></h2>", "links"),  # a script's
        ("<h2><a href=''>Isihloko</a></h2>", "links"),
        ("<div><a href='#isihloko'>Isihloko</a></div>", "links"),  # a table of contents
    ],
)
def test_the_link_of_a_heading_to_itself_is_none(heading: str, kind: str) -> None:
    page = read_page(f"{heading}{TEXT}".encode(), "")
    assert [block.kind for block in page.blocks] == [kind, "main"]
    assert len(page.links) == 1, "it is a link of the page all the same"


# -- short paragraphs among full ones


def test_a_short_paragraph_among_full_ones_is_one_of_them() -> None:
    assert kinds(f"<div>{TEXT * 2}<p>Siyabonga</p></div>") == ["main"] * 3
    assert kinds(f"<div><p>Sawubona</p>{TEXT * 2}</div>") == ["main"] * 3
    assert kinds(f"<div>{TEXT * 2}<ul><li>okokuqala<li>okwesibili</ul></div>") == ["main"] * 4


@pytest.mark.parametrize(
    "beside",
    [
        f"<div>{TEXT}<p>Siyabonga</p></div>{TEXT}",  # with one alone
        f"<div>{TEXT * 2}</div><p>Siyabonga</p>",
        f"<div>{TEXT * 2}<div>Siyabonga</div></div>",
        f"<div>{TEXT * 2}<div><p>Siyabonga</p></div></div>",
        f"<div>{TEXT * 2}<ul><li><p>Siyabonga</p></ul></div>",
    ],
)
def test_what_stands_elsewhere_is_short(beside: str) -> None:
    assert sorted(kinds(beside)) == ["main", "main", "short"]


def test_links_among_full_paragraphs_stay_links() -> None:
    assert kinds(f"<div>{TEXT * 2}<p><a href=/x>Funda futhi</a></p></div>") == ["main", "main", "links"]


# -- asides


@pytest.mark.parametrize(
    "name", ["sidebar", "right-sidebar", "side-bar", "main_sidebar x", "rail", "right-rail", "x rails"]
)
@pytest.mark.parametrize("attribute", ["class", "id"])
def test_what_a_name_says_is_beside_the_text_stands_apart(attribute: str, name: str) -> None:
    aside = f"<div {attribute}='{name}'>{TEXT}</div>"
    assert apart(f"<article>{TEXT}{aside}{TEXT}</article>") == [False, True, False]


@pytest.mark.parametrize("name", ["promo", "promos", "PromoSmall", "site-promo", "Sidebar", "promo_box"])
def test_so_does_what_it_says_is_advertised(name: str) -> None:
    assert apart(f"<article>{TEXT}<div class={name}>{TEXT}</div>{TEXT}</article>") == [False, True, False]


@pytest.mark.parametrize(
    "name",
    [
        "with-sidebar",
        "has-sidebar",
        "no-sidebar",
        "has_sidebar",
        "sidebar__content",
        "theiaStickySidebar",
        "sidebarred",
        "railway",
        "trail",
        "promotion",
        "category-promo",
    ],
)
def test_names_like_those_say_nothing(name: str) -> None:
    assert not any(apart(f"<div class='{name}'>{TEXT}</div>{TEXT * 2}"))


def test_a_sidebar_with_most_of_the_text_is_no_sidebar() -> None:
    assert not any(apart(f"<div class=sidebar>{TEXT * 3}</div>{TEXT * 2}"))


def test_a_layout_with_a_sidebar_is_none_however_it_is_called() -> None:
    sidebar = f"<div class=sidebar>{TEXT}</div>"
    assert apart(f"<div class=right-sidebar>{TEXT * 2}{sidebar}</div>") == [False, False, True]
    article = f"<div class=sidebar-right><article>{TEXT}</article></div>"
    assert not any(apart(f"{article}<div>{TEXT}</div><div>{TEXT}</div>")), "though there is more beside it"


# -- forms


def test_a_form_is_none_of_the_text() -> None:
    form = "<form><p>Ikheli lakho le-imeyili ngeke lishicilelwe.</p><label>Igama</label><input></form>"
    assert kinds(f"{TEXT * 2}{form}") == ["main", "main", "nav", "nav"]


def test_a_form_around_the_page_is_a_frame() -> None:
    assert kinds(f"<form>{TEXT * 2}</form>{TEXT}") == ["main"] * 3


MENU = "".join(f"<div><a href=/{n}>Izindaba zesifundazwe {n}</a></div>" for n in range(20))


@pytest.mark.parametrize("inner", ["<article>{}</article>", "<main>{}</main>", "<h1>Isihloko</h1>{}"])
def test_so_is_one_around_an_article_of_few_words(inner: str) -> None:
    blocks = read_page(f"{MENU}<form>{inner.format(TEXT)}</form>{TEXT * 2}".encode(), "").blocks
    assert "nav" not in [block.kind for block in blocks]


def test_and_one_around_the_short_posts_of_a_thread_under_a_long_menu() -> None:
    posts = f"<div>{LONG}</div><div>{LONG}</div>"
    assert kinds(f"{MENU}<form>{posts}<input></form>") == ["links"] * 20 + ["main"] * 2


def test_a_form_that_was_not_closed_takes_no_text_along() -> None:
    form = f"<form><input>{TEXT}"
    assert kinds(f"<div>{TEXT * 3}{form}</div>") == ["main"] * 4
    assert kinds(f"<div>{TEXT * 3}{form}</FORM></div>") == ["main"] * 3 + ["nav"]
    count = LONGEST // len(LONG) + 1  # closed by another one's end
    assert kinds(f"<div>{TEXT * (2 * count)}<form><input>{TEXT * count}</div></form>") == ["main"] * (3 * count)


# -- the part with the text


def test_a_long_heading_before_the_text_is_its_lead() -> None:
    body = f"<div>{TEXT * 3}</div>"
    for lead, away in ((f"<h2>{LONG}</h2>", False), ("<h2>Okunye</h2>", True), (f"<div>{LONG[:40]}</div>", True)):
        assert apart(f"<h1>Isihloko</h1>{lead}{body}") == [False, away, False, False, False]
    assert apart(f"<h2>{LONG}</h2>{body}") == [True, False, False, False], "without a title it is another article's"


def test_an_article_that_its_readers_said_more_of_is_text_though_it_has_no_first_level_heading() -> None:
    comments = f"<div>{f'<div>{TEXT}</div>' * 8}</div>"
    aside = f"<div>Okunye</div><h3>Isihloko</h3><div>{TEXT * 2}</div>"
    assert apart(f"{aside}{comments}") == [True] + [False] * 11
    assert apart(f"<div>{TEXT * 2}</div>{comments}") == [True] * 2 + [False] * 8, "without any it may be a list"
    assert apart(f"<h3>Okunye</h3><div>{TEXT}</div>{comments}") == [True] * 2 + [False] * 8, "with less, too"


def section(name: str, count: int) -> str:
    return f"<section class='{name}'>{TEXT * count}</section>"


def test_sections_of_one_text_belong_together() -> None:
    assert not any(apart(f"<div>{section('part first', 8)}{section('part', 2)}</div>"))
    assert not any(apart(f"<div>{section('part a b', 8)}{section('part a c', 2)}</div>"))
    assert not any(apart(f"<div>{section('part', 8)}<hr>{section('part last', 1)}{section('part', 1)}</div>"))


@pytest.mark.parametrize(
    "other",
    [
        section("comments", 2),
        section("part x y", 2),  # as grids have it: "column", "column narrow grey"
        section("", 2),
        "<div class=part>" + TEXT * 2 + "</div>",
        f"<div>{section('part', 2)}</div>",
    ],
)
def test_what_is_not_like_it_is_no_section_of_it(other: str) -> None:
    assert apart(f"<div>{section('part', 8)}{other}</div>") == [False] * 8 + [True] * 2


def test_elements_without_a_class_are_like_no_other() -> None:
    assert apart(f"<div>{section('', 8)}{section('', 2)}</div>") == [False] * 8 + [True] * 2


def test_little_beside_the_part_is_no_section() -> None:
    assert apart(f"<div>{section('part', 24)}{section('part', 1)}</div>") == [False] * 24 + [True]
    assert not any(apart(f"<div>{section('part', 19)}{section('part', 1)}</div>"))


def test_a_page_of_asides_alone_ends() -> None:
    assert kinds(f"<div class=part><div class=widget>{TEXT}</div></div>") == ["main"]
