import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relevance.language.alphabet import words, words_utf8
from relevance.pages.encoding import decode, known
from relevance.pages.noscript import without_open_noscript
from relevance.pages.page import read_page, texts_and_links
from relevance.pages.quality import quality
from relevance.pages.simhash import distance, distances, exact, shingles, simhash
from tests.sample import sentences

URL = "http://a.example/"


def read(html: str) -> Any:
    return read_page(html.encode(), URL)


def test_what_a_page_says_of_itself() -> None:
    page = read(
        """<html lang="ZU-za"><head><title> A  b </title>
        <base href="/x/"><meta name="ROBOTS" content="noindex, NoFollow">
        <meta property="og:locale" content="zu_ZA"><meta http-equiv="Content-Language" content="zu">
        <meta http-equiv=refresh content="0; URL='next.html'"><link rel=canonical href="/c">
        <link rel=alternate hreflang=zu href=/zu/><link rel=alternate type="application/rss+xml" href=/feed></head>"""
    )
    assert (page.title, page.html_lang, page.base, page.canonical) == ("A b", "zu-za", "/x/", "/c")
    assert page.robots_meta == {"noindex", "nofollow"}
    assert (page.og_locale, page.content_language, page.refresh) == ("zu_za", "zu", "next.html")
    assert page.hreflangs == (("zu", "/zu/"),)
    assert page.feeds == ("/feed",)


def test_robots_meta_tags_may_name_the_robot() -> None:
    body = b"<meta name=Ulwembu content=noindex><meta name=otherbot content=none><meta name=robots content=nofollow>"
    assert read_page(body, "http://a.test/").robots_meta == {"nofollow"}
    assert read_page(body, "http://a.test/", robot="ulwembU").robots_meta == {"nofollow", "noindex"}


def test_text_is_not_glued_and_code_is_no_text() -> None:
    page = read(
        "<body><div>one<p>two <b>th</b>ree</p>four<ul><li>five<li>six</ul>seven<br>eight</div>"
        "<script>var x</script><style>p{}</style><!-- c --><template>t</template><p>&amp;nine"
    )
    assert [block.text for block in page.blocks] == ["one", "two three", "four", "five", "six", "seven eight", "&nine"]


def test_what_stands_in_for_media_is_no_text() -> None:
    page = read(
        "<p>one<video src=v>Your browser <a href=/v>cannot</a> play it</video><audio>nor that</audio>"
        "<canvas>or draw</canvas><applet>or run</applet><object>or show</object> two<p>three"
    )
    assert [block.text for block in page.blocks] == ["one two", "three"]
    assert [link.href for link in page.links] == ["/v"]


def test_blocks_are_weighed() -> None:
    text = "Lena yindaba ende enamagama amaningi futhi ikhuluma ngezinto eziningi ezenzeka emhlabeni. " * 3
    page = read(
        f"<body><nav><a href=/1>Ikhaya</a></nav><article><header><h1>Isihloko</h1></header><p>{text}</p></article>"
        "<ul><li><a href=/2>Ezinye izindaba</a></ul><footer>c</footer>"
    )
    assert [block.kind for block in page.blocks] == ["heading", "main", "links", "nav", "nav"]
    assert [link.context for link in page.links] == ["nav", "main"]
    assert text.strip() in page.text()
    assert "Ikhaya" not in page.text()


@pytest.mark.parametrize("end", "。।؟۔።“")
def test_a_sentence_of_any_script_is_main_text(end: str) -> None:
    assert [block.kind for block in read(f"<p>abc{end}<p>abc").blocks] == ["main", "short"]


def test_a_part_that_is_navigation_twice_over_is_given_once() -> None:
    page = read_page(b"<nav role=navigation><a href=/x>Izindaba</a></nav>", "http://a.example/")
    assert [block.text for block in page.blocks] == ["Izindaba"]


def test_links_as_found() -> None:
    page = read(
        '<a href=" x.html ">a <i>b</i></a><a>no</a><a href="" rel="NoFollow ugc" hreflang=ZU>c</a><area href=/d>'
    )
    assert [(link.href, link.text, link.rel, link.hreflang) for link in page.links] == [
        ("x.html", "a b", "", ""),
        ("", "c", "nofollow ugc", "zu"),
        ("/d", "", "", ""),
    ]


@given(
    st.binary(max_size=400), st.sampled_from([None, "text/html", "text/html; charset=x", "text/plain; charset=utf-16"])
)
def test_any_bytes_are_a_page(body: Any, content_type: Any) -> None:
    page = read_page(body, URL, content_type)
    assert page.url == URL
    assert all(block.text.strip() for block in page.blocks)


@given(st.lists(st.sampled_from(["<div>", "</div>", "<p>", "<a href=x>", "</a>", "<table>", "<td>", "<nav>", "</nav>", "t ", "<svg>", "<select>", "<header>"]), max_size=60))  # fmt: skip  # noqa: E501
def test_any_nesting_is_a_page(parts: Any) -> None:
    page = read("".join(parts))
    assert sum(block.text.count("t") for block in page.blocks) <= parts.count("t ")
    assert texts_and_links("".join(parts).encode()) == ([block.text for block in page.blocks], list(page.links))


def test_deep_nesting_ends() -> None:
    assert read("<div>" * 20_000 + "x").blocks
    assert len(read("<nav>" * 3000 + "x").blocks) == 1


@given(st.text(st.one_of(st.sampled_from("aZé\xa0\xad\u0301\u2003žя1. /@#&\n\x1c"), st.characters()), max_size=30))
def test_words_in_utf8_are_the_words(text: str) -> None:
    assert words_utf8(text) == [word.encode() for word in words(text)]


def test_shingles_of_many_texts_are_those_of_each() -> None:
    texts = [words_utf8(text) for text in ("a b c d e f", "", "1 2", "a b", "c d e f", "e d c")]
    together = [found.tolist() for found in shingles(texts, 3)]
    assert together == [shingles([text], 3)[0].tolist() for text in texts]
    assert [len(found) for found in together] == [4, 0, 0, 1, 2, 1]
    assert together[4] == together[0][2:]
    assert together[5] != together[0][2:3]
    assert shingles([], 3) == []


def test_simhash_is_near_for_alike_texts() -> None:
    rng = random.Random(1)
    text = words(sentences("zul", rng, 600))
    other = words(sentences("zul", rng, 600))
    edited = [*text[:300], "okunye", *text[301:]]
    assert distance(simhash(text), simhash(edited)) <= 8
    assert distance(simhash(text), simhash(other)) > 12
    assert exact(text) == exact(list(text)) != exact(edited)
    assert simhash([]) == exact([]) == 0
    values = [simhash(other), simhash(text)]
    apart = [distance(value, simhash(edited)) for value in values]
    assert distances(np.array(values, np.uint64), simhash(edited)).tolist() == apart


def test_quality_flags() -> None:
    bible = "UNkulunkulu wathumela uJesu Kristu emhlabeni ukuba asindise abantu ezonweni zabo. " * 8
    assert "religious" in quality(read(f"<p>{bible}</p>")).flags
    news = sentences("zul", random.Random(2), 200)
    assert not quality(read(f"<p>{news}</p>")).flags
    menu = "".join(f"<li><a href=/{n}>into {n}</a></li>" for n in range(40))
    assert "list" in quality(read(f"<ul>{menu}</ul><p>{news[:100]}</p>")).flags
    many = "".join(f"<link rel=alternate hreflang=x{n} href=/{n}>" for n in "abcdefghijklmnopq")
    assert "machine" in quality(read(f"<head>{many}</head><p>{news}</p>")).flags
    regions = "".join(f"<link rel=alternate hreflang=en-{n}{n} href=/{n}>" for n in "abcdefghijklmnopq")
    default = "<link rel=alternate hreflang=x-default href=/><link rel=alternate hreflang=zu_ZA href=/zu>"
    one_language = quality(read(f"<head>{regions}{default}</head><p>{news}</p>"))
    assert (one_language.terms["languages"], one_language.flags) == (2, frozenset())
    again = "<p>" + "</p><p>".join([news[:120]] * 6) + "</p>"
    assert quality(read(again)).terms["repeated"] > 0.5


def test_comments_and_instructions_part_nothing() -> None:
    """React puts one between any two pieces of a text."""
    html = b"<p>Abantu <!-- -->abangu<!-- x -->ngi <b>5<!-- --></b> <?php x ?>bafikile.</p><!-- --><p>Babuyile.</p>"
    assert [block.text for block in read_page(html, URL).blocks] == ["Abantu abangungi 5 bafikile.", "Babuyile."]


def test_two_line_breaks_part_paragraphs() -> None:
    page = read("<body><div><br>one<br>two<br> <br><b>three</b><br><br><br>four <i><br></i><br>five</div>")
    assert [block.text for block in page.blocks] == ["one two", "three", "four", "five"]


def test_signs_that_cannot_be_seen_are_no_text() -> None:
    body = "umu&shy;ntu i&#x200b;si&#x2060;Zulu &#xfeff;e\u0301 \u202a&#x200f;<p>&#x200b;</p>"
    assert [block.text for block in read(f"<p>{body}").blocks] == ["umuntu isiZulu \xe9"]
    plain = read_page("umu\xadntu  e\u0301\n\u200b\n".encode(), URL, "text/plain")
    assert [block.text for block in plain.blocks] == ["umuntu \xe9"]


def test_a_header_around_the_page_is_no_navigation() -> None:
    for name in ("main", "article"):
        page = read(
            f"<body><header><nav>Ikhaya</nav><h1>Izindaba</h1><div><{name}><p>Indaba ende.</{name}></div><footer>c"
        )
        assert [(block.text, block.kind) for block in page.blocks] == [
            ("Izindaba", "heading"),
            ("Indaba ende.", "main"),
            ("Ikhaya", "nav"),
            ("c", "nav"),
        ]


@pytest.mark.parametrize("name", ["id=footer", "class='x Footer-links'", "class=site_footer", "id=page-footers"])
def test_a_footer_by_its_name_is_navigation(name: str) -> None:
    page = read(f"<body><article><p>Indaba.</article><div {name}><p>Onke amalungelo. <a href=/x>Xhumana</a></div>")
    assert [block.kind for block in page.blocks] == ["main", "nav"]
    assert [link.context for link in page.links] == ["nav"]
    for other in (f"<div {name}><main><p>Indaba.</main></div>", f"<p {name}>Indaba.", "<div id=footerless><p>Indaba."):
        assert [block.kind for block in read(f"<body>{other}").blocks] == ["main"]


@pytest.mark.parametrize(
    "noscript", ["<div><a href=/n>no</a>", "<p>no", "</div>no", "<DIV><p>no</p></noscript>one<noscript></div>"]
)
def test_what_follows_a_noscript_that_is_left_open_is_text(noscript: str) -> None:
    page = read(f"<body>one<noscript>{noscript}</noscript><p>two<script>x</script><footer>c</footer>")
    assert "".join(block.text for block in page.blocks).replace("oneone", "one") == "onetwoc"


def test_other_noscripts_are_no_text_and_their_links_are_links() -> None:
    page = read("<body><p>one</p><noscript><div><a href=/n>no</a></div></noscript><p>two<footer>c</footer>")
    assert [block.text for block in page.blocks] == ["one", "two", "c"]
    assert [link.href for link in page.links] == ["/n"]
    script = "<script>write('<noscript><div>')</script><!-- <noscript><p> -->"
    page = read(f"<body>{script}<p>one<p>two</p><noscript>no</noscript>three")
    assert [block.text for block in page.blocks] == ["one", "two", "three"]


def test_noscripts_without_end_cost_their_length() -> None:
    assert read("<body><p>one" + "<noscript><div>" * 5000 + "</noscript>" * 5000).blocks
    assert without_open_noscript(b"<noscript>" * 300_000 + b"</noscript>" * 300_000) is None


@pytest.mark.parametrize(
    ("head", "charset"),
    [
        (b'<?xml version="1.0" encoding="windows-1250"?>', "cp1250"),
        (b"<?xml encoding = 'ISO-8859-2' ?>", "iso8859-2"),
        (b'<?xml encoding="iso-8859-2"?><meta charset=windows-1251>', "cp1251"),
        (b'<?xml encoding="utf-16"?>', "cp1252"),
        (b'<?xml encoding="no such"?>', "cp1252"),
        (b' <?xml encoding="iso-8859-2"?>', "cp1252"),
    ],
)
def test_an_xml_declaration_names_the_encoding_where_nothing_else_does(head: bytes, charset: str) -> None:
    assert decode(head + b"<p>\xe8e\x9aka").charset == charset
    assert decode(head + b"<p>\xe8e\x9aka", "text/html; charset=koi8-r").charset == "koi8-r"


@pytest.mark.parametrize(
    ("label", "charset"),
    [
        ("x-cp1250", "cp1250"),
        ("ISO88592", "iso8859-2"),
        ("iso-8859-8-i", "iso8859-8"),
        ("koi8-ru", "koi8-u"),
        ("x-mac-cyrillic", "mac-cyrillic"),
        ("x-gbk", "gb18030"),
        ("x-euc-jp", "euc_jp"),
        ("windows-949", "cp949"),
        ("unicode11utf8", "utf-8"),
        ("x-user-defined", None),
        ("iso-2022-cn", None),
        ("no such", None),
    ],
)
def test_labels_are_those_of_the_web(label: str, charset: str | None) -> None:
    assert known(f" {label} ") == charset


@pytest.mark.parametrize("label", ["utf-16", "utf-16be", "unicode"])
def test_utf_16_has_zeros(label: str) -> None:
    assert decode("<p>ibhešu".encode(), f"text/html; charset={label}").text == "<p>ibhešu"
    name = known(label) or ""
    assert decode("<p>ሰላም".encode(name).removeprefix(b"\xff\xfe"), f"text/html; charset={label}").text == "<p>ሰላም"


LONG = "Lesi yisigaba eside esinamagama anele ukuba sibhekwe sodwa, singesinye sezindaba zanamuhla."


def kinds(html: str) -> list[str]:
    return [block.kind for block in read_page(html.encode(), "").blocks]


def apart(html: str) -> list[bool]:
    return [block.apart for block in read_page(html.encode(), "").blocks]


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
