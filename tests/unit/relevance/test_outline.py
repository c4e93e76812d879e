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


# -- parts of a page


FULL_TEXT = "The minister said on Friday that the new road from the harbour to the town would be opened in the spring"


@pytest.mark.parametrize(
    ("html", "kind"),
    [
        ("... <a href=/1>Read more</a>", "links"),
        ("… <a href=/1><b>Funda</b> kabanzi</a> ", "links"),
        (" [&hellip;]<a href=/1>→</a>", "links"),
        ("<b>...</b><a href=/1>Read more</a>", "links"),
        ("...\U000f0000<a href=/1>\U0010fffdRead more</a>\U000f0001", "links"),
        ("...", "main"),
        (" [&hellip;]", "main"),
        (". <a href=/1>Read more</a>", "main"),
        ("... <a href=/1>the words that the minister had for the mayor</a>", "main"),
        ("... <a href=/1>Read more</a>, she said.", "main"),
        ("... <a href=/1>#harbour</a> <a href=/2>#road</a>", "main"),
        (" <a href=/1>again</a> and then...", "main"),
        (" <a href=/1>again</a> and then... <b> </b>", "main"),
    ],
)
def test_a_text_that_breaks_off_before_a_link_is_a_teaser(html: str, kind: str) -> None:
    assert kinds(f"<p>{FULL_TEXT}{html}</p><p>{FULL_TEXT}.</p>") == [kind, "main"]


def test_a_link_around_blocks_is_a_teaser() -> None:
    assert kinds(f"<div><a href=/x><h3>Title</h3><div><p>{LONG}</p></div></a></div><p>{LONG}</p>") == [
        "links",
        "links",
        "main",
    ]


def test_anchors_that_lead_nowhere_or_never_end_are_no_teasers() -> None:
    assert kinds(f"<a name=top><p>{LONG}</p>") == ["main"]
    assert kinds(f"<a name=top>{LONG}<p>{LONG}</p>") == ["main", "main"]
    assert kinds("<a href=/x>" + f"<p>{LONG}</p>" * 20) == ["main"] * 20


def test_what_stands_apart_from_an_article() -> None:
    body = f"<div><p>{LONG}</p><p>{LONG}</p><p>{LONG}</p></div>"
    comment = f"<ul><li>{LONG}</li></ul>"
    assert apart(f"<h1>Title</h1>{body}{comment}") == [False, False, False, False, True]
    assert apart(f"{comment}{body}<p>short</p><nav>menu</nav>") == [True, False, False, False, True, False]


def test_the_lead_of_an_article_belongs_to_it() -> None:
    body = f"<div>{f'<p>{LONG}</p>' * 4}</div>"
    page = f"<div><p>{LONG}</p></div><h1>Title</h1><span>by me</span><p>{LONG}</p>{body}"
    assert apart(page) == [True, False, True, False, False, False, False, False]


@pytest.mark.parametrize("parts", [1, 2, 9])
def test_of_equal_parts_none_stands_apart(parts: int) -> None:
    assert apart(f"<div><b>name</b><div><p>{LONG}</p></div></div>" * parts) == [parts == 1, False] * parts


def test_what_stands_beside_a_long_paragraph_does_not_stand_apart() -> None:
    assert apart(f"<div><p>{LONG * 9}</p><p>{LONG}</p></div><p>{LONG}</p>") == [False, False, True]


@pytest.mark.parametrize(
    "entries",
    [
        f"<ol>{f'<li>{LONG}</li>' * 6}</ol>",
        f"<ul>{f'<li>{LONG}</li>' * 6}</ul>",
        f"<table>{f'<tr><td>{LONG}</td></tr>' * 6}</table>",
        f"<table><tr>{f'<td>{LONG}</td>' * 6}</tr></table>",
        f"<dl>{f'<dt>x</dt><dd>{LONG}</dd>' * 6}</dl>",
        f"<blockquote>{f'<p>{LONG}</p>' * 6}</blockquote>",
    ],
)
def test_what_stands_beside_a_list_does_not_stand_apart(entries: str) -> None:
    assert not any(apart(f"<div><p>{LONG}</p>{entries}<p>{LONG}</p></div>"))


def test_the_part_is_found_without_asides() -> None:
    captions = f"<div>{f'<figcaption>{LONG}</figcaption>' * 2}</div>"
    text = f"<p>{LONG}</p>"
    assert apart(f"<div>{text * 3}</div>{text}{captions}") == [False] * 3 + [True] * 3


@pytest.mark.parametrize(
    "aside",
    [
        "<figure><img><figcaption>{}</figcaption></figure>",
        "<div class='wp-caption alignleft'>{}</div>",
        "<div class='block related_posts'>{}</div>",
        "<ul><li class='widget widget_text'>{}</li></ul>",
    ],
)
def test_asides_stand_apart_wherever_they_are(aside: str) -> None:
    aside = aside.format(f"<p>{LONG}</p>")
    assert apart(f"<div><p>{LONG}</p>{aside}<p>{LONG}</p></div>{aside}") == [False, True, False, True]


@pytest.mark.parametrize(
    "name",
    [
        "captioned",
        "category-related",
        "comments",
        "has-sidebar",
        "relatedness",
        "health-related",
        "elementor-widget-text",
        "widget Blog",
        "widgets-on",
    ],
)
def test_names_like_those_of_asides_say_nothing(name: str) -> None:
    assert not any(apart(f"<div class='{name}'><p>{LONG}</p></div><p>{LONG}</p><p>{LONG}</p>"))


def test_captions_with_most_of_the_text_are_what_the_page_is_for() -> None:
    story = f"<figure><img><figcaption>{LONG}</figcaption></figure>" * 4
    assert not any(apart(f"<div><p>{LONG}</p><p>{LONG}</p></div>{story}"))


def test_parts_that_a_page_builder_calls_widgets_are_text_whatever_their_sizes() -> None:
    parts = [f"<div class='so-panel widget'><p>{LONG * count}</p></div>" for count in (6, 2, 1, 1)]
    assert not any(apart(f"<div>{''.join(parts)}</div>"))
    assert not any(apart(f"<article><p>{LONG * 4}</p><p>{LONG * 4}</p>{''.join(parts[1:])}</article>"))


def test_each_kind_of_aside_is_held_against_what_the_others_leave() -> None:
    boxes = f"<div class=widget><p>{LONG}</p></div>" * 2
    captions = f"<figcaption>{LONG}</figcaption>"
    text = f"<div><p>{LONG}</p><p>{LONG}</p>"
    assert apart(f"{text}{captions * 2}</div>{boxes}") == [False] * 2 + [True] * 4
    assert apart(f"{text}{captions * 3}</div>{boxes}") == [False] * 5 + [True] * 2


def test_what_has_a_heading_is_a_card_not_a_caption() -> None:
    card = f"<div class=thumbnail><img><div class=caption><h3>Card</h3><p>{LONG}</p></div></div>"
    assert not any(apart(f"<div><p>{LONG}</p><p>{LONG}</p>{card}</div>"))


def test_many_comments_are_text_as_the_article_is() -> None:
    article = f"<div><p>{LONG}</p><p>{LONG}</p><p>{LONG}</p></div>"
    comments = [f"<ol id=comments>{f'<li class=comment><p>{LONG}</p></li>' * count}</ol>" for count in (1, 2)]
    assert apart(article + comments[0]) == [False] * 3 + [True]
    assert not any(apart(article + comments[1]))


@pytest.mark.parametrize(
    "hidden", ["hidden", "hidden=hidden", "style='color:red; Display : none'", "style=display:none"]
)
def test_an_item_of_microdata_that_is_hidden_is_none_of_the_text(hidden: str) -> None:
    assert kinds(f"<div itemscope {hidden}><p>{LONG}</p></div><p>{LONG}</p><p>{LONG}</p>") == ["nav", "main", "main"]


@pytest.mark.parametrize("item", ["", "itemscope itemprop=acceptedAnswer"])
@pytest.mark.parametrize("hidden", ["hidden", "hidden=until-found", "style=display:none", "style=visibility:hidden"])
def test_what_a_reader_may_open_is_text(item: str, hidden: str) -> None:
    answers = f"<h3>Question?</h3><div {item} {hidden}><p>{LONG}</p></div>" * 2
    assert kinds(f"{answers}<p>{LONG}</p><p>{LONG}</p>") == ["heading", "main"] * 2 + ["main"] * 2


@pytest.mark.parametrize("shown", ["", "style=display:block", "style=x-display:none", "data-hidden"])
def test_an_item_of_microdata_that_is_shown_is_text(shown: str) -> None:
    assert kinds(f"<div itemscope {shown}><p>{LONG}</p></div><p>{LONG}</p><p>{LONG}</p>") == ["main"] * 3


def test_a_page_that_a_script_will_show_has_its_text() -> None:
    assert kinds(f"<body itemscope hidden><p>{LONG}</p><p>{LONG}</p>") == ["main"] * 2


@pytest.mark.parametrize("html", ["", "<p>short</p>", "<div><div>a</div></div><ul><li>b</ul>"])
def test_without_full_paragraphs_nothing_stands_apart(html: str) -> None:
    assert not any(apart(html))


@pytest.mark.parametrize("name", ["cookie-bar", "x gdprBar", "newsletter_signup", "site-modal", "popup2", "Lightbox"])
def test_what_lies_over_a_page_is_none_of_its_text(name: str) -> None:
    notice = f"<div class='{name}'><p>{LONG}</p><p>yes</p></div>"
    page = f"{notice}<p>{LONG}</p><p>{LONG}</p>{notice.replace('class', 'id')}"
    assert kinds(page) == ["nav", "nav", "main", "main", "nav", "nav"]
    assert not any(apart(f"{notice}<div>{f'<p>{LONG}</p>' * 3}</div>")), "navigation is never apart"


@pytest.mark.parametrize(
    "name",
    [
        "tag-cookie post",
        "category-newsletters",
        "multimodality",
        "subscriber-text",
        "not-subscribed",
        "hero-overlay",
        "x" * 200 + "cookie",
    ],
)
def test_other_names_say_nothing_of_a_part(name: str) -> None:
    assert kinds(f"<div class='{name}'><p>{LONG}</p></div><p>{LONG}</p><p>{LONG}</p>") == ["main"] * 3


def test_a_notice_that_has_most_of_a_page_is_a_frame_around_it() -> None:
    assert kinds(f"<div class=has-popup><p>{LONG}</p><p>{LONG}</p></div><p>{LONG}</p>") == ["main"] * 3
    assert kinds(f"<div class=has-popup><p>{LONG}</p></div><p>{LONG}</p>") == ["nav", "main"]
    assert kinds(f"<div class=has-popup><p>a.</p><main><p>{LONG}</p></main></div><p>{LONG}</p>") == ["main"] * 3


def test_the_id_of_a_heading_is_what_it_says() -> None:
    assert kinds(f"<h2 id=what-are-cookies>What are cookies?</h2><p>{LONG}</p>") == ["heading", "main"]


def test_where_nearly_all_are_notices_none_is() -> None:
    post = f"<div class=newsletter><p>{LONG}</p></div>"
    assert kinds(post * 3 + f"<p>{LONG}</p>") == ["nav"] * 3 + ["main"]
    assert kinds(post * 4 + f"<p>{LONG}</p>") == ["main"] * 5


def test_a_full_block_may_have_links() -> None:
    half, third = LONG[: len(LONG) // 2], LONG[: len(LONG) // 3]
    assert kinds(f"<div>{LONG} <a href=/x>{LONG}</a></div>") == ["main"]
    assert kinds(f"<div>{LONG} <a href=/x>{LONG * 2} {LONG}</a></div>") == ["links"]
    assert kinds(f"<div>{half} <a href=/x>{half}</a></div>") == ["main"]
    assert kinds(f"<div>{third} <a href=/x>{third}</a></div>") == ["links"]
    assert kinds(f"<div>{half}{half} <a href=/x>{third}</a>.</div>") == ["main"]


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
