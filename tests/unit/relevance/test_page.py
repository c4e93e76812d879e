import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from relevance.language.alphabet import words, words_utf8
from relevance.pages.encoding import decode, known
from relevance.pages.head import read_head
from relevance.pages.noscript import without_open_noscript
from relevance.pages.page import read_page, texts_and_links
from relevance.pages.quality import quality
from relevance.pages.simhash import distance, distances, shingles, simhash
from relevance.pages.xhtml import as_html
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


@pytest.mark.parametrize(
    "empty",
    ["<script src='a>b/c.js'/>", "<title/>", '<iframe src="/f" />', "<textarea\n/>", "<STYLE/>", "<noscript/>"],
)
def test_what_is_empty_in_xhtml_has_no_text(empty: str) -> None:
    body = (
        f"<html><head><title>Izindaba</title>{empty}</head><body><p>Umongameli<br/>uthe.</p><a href='/x'>y</a></body>"
    )
    page = read_page(body.encode(), URL, "application/xhtml+xml; charset=utf-8")
    assert ([block.text for block in page.blocks], page.links[0].href) == (["Umongameli uthe.", "y"], "/x")
    assert as_html(body.encode(), "text/html") == as_html(body.encode(), None) == body.encode(), "it is no XHTML"


def test_robots_meta_tags_may_name_the_robot() -> None:
    body = b"<meta name=Ulwembu content=noindex><meta name=otherbot content=none><meta name=robots content=nofollow>"
    assert read_page(body, "http://a.test/").robots_meta == {"nofollow"}
    assert read_page(body, "http://a.test/", robot="ulwembU").robots_meta == {"nofollow", "noindex"}


def test_a_page_without_previews_of_its_pictures_may_be_kept() -> None:
    assert read("<meta name=robots content='index,max-image-preview: NONE'>").robots_meta == {
        "index",
        "max-image-preview:none",
    }


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


@pytest.mark.parametrize(
    ("html", "is_nav"),
    [
        ("<article><header>{}</header></article>", False),
        ("<aside><article><header>{}</header></article></aside>", True),
        ("<article><header><nav>{}</nav></header></article>", True),
        ("<nav><article>{}</article></nav>", True),
        ("<header>{}</header>", True),
        ("<header><main>{}</main></header>", False),
        ("<header><article></article><nav><header>{}</header></nav></header>", True),
    ],
)
def test_a_link_is_navigation_where_its_text_is(html: str, is_nav: bool) -> None:
    page = read("<body>" + html.format("<a href=/x>Izindaba</a>"))
    assert [link.context == "nav" for link in page.links] == [is_nav]
    assert [block.kind == "nav" for block in page.blocks] == [is_nav]


def test_what_is_said_in_two_ways_is_told_once() -> None:
    html = (
        "<meta name=author itemprop=author content=Dube><script itemprop=x>y</script>"
        "<link rel=alternate itemprop=url hreflang=zu href=/a>"
        "<time datetime=2024-05-31 itemprop=datePublished></time>"
        "<abbr class=published itemprop=a title=2024-05-31></abbr>"
    )
    page, told = read(html), read_head(LexborHTMLParser(html.encode()), ("robots",)).told
    assert page.hreflangs == (("zu", "/a"),)
    assert (told.metas, len(told.times), len(told.code)) == ([("author", "Dube")], 1, 1)
    assert [node.tag for node in told.others] == ["abbr", "meta"]


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<svg><g><title>Imenyu</title></g></svg><p>a", ""),
        ("<svg><title>Imenyu</title></svg><title>Izindaba</title>", "Izindaba"),
        ("<title>Izindaba</title><svg><title>Imenyu</title></svg>", "Izindaba"),
    ],
)
def test_the_title_of_a_drawing_is_none_of_the_page(html: str, title: str) -> None:
    assert read(f"<body>{html}").title == title


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
    assert simhash([]) == 0
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
