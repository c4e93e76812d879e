"""Pages made to take long: each is read in a fraction of a second, where a careless reading takes minutes, hours or all
the memory there is, as its cost grows with the square (or a higher power) of the page."""

from itertools import product

import pytest

from relevance.pages import quality
from relevance.pages.flattened import flattened
from relevance.pages.head import refresh_target
from relevance.pages.page import MOST_LINES, Page, read_page

MANY = 40_000


def _names(count: int, of: int = 0) -> str:
    return " ".join(f"a{n}" for n in range(of * count, of * count + count))


HOSTILE = {
    "blanks in a refresh": f"<meta http-equiv=refresh content='0{' ' * MANY}\"x'>",
    "blocks in blocks": "<div>" * MANY,
    "lists in lists": "<ul><li>" * MANY,
    "text in inline elements": "<span>y" * 10_000,
    "parts of navigation in one another": "<nav>" * 5000 + "<a href=x>y</a>" * 4000,
    "headers of articles in one another": "<article><header>" * 2000 + "<a href=x>y</a>" * 2000,
    "formatting that is not closed": "<p>" + "".join(f"<font c={n}>" for n in range(5000)) + "<p>y" * 5000,
    "a long link that is not closed": f"<p><a href={'z' * MANY * 10}>" + "<p>y" * 5000,
    "attributes": f"<div {_names(MANY)}>",
    "short attributes": f"<div {' '.join(map(''.join, product('abcdefghijklmnopqrstuvwxyz0123', repeat=3)))}>"[:79_000],
    "attributes behind a quoted sign": "<div " + " ".join(f'a{n}=">"' for n in range(MANY)) + ">",
    "attributes without blanks": "<div " + "".join(f'a{n}=""' for n in range(MANY)) + ">",
    "attributes in a template": f"<template><div {_names(MANY)}>",
    "attributes of a script": f"<script {_names(MANY)}></script>",
    "attributes behind a script": f"<script>a<b c='</script><div {_names(MANY)}>'>",
    "attributes of the root": "".join(f"<html a{n}>" for n in range(MANY)),
    "links in links": "<a href=x>yy<object>" * 3000,
    "attributes of scripts in svg": f"<svg><foreignObject><script><!--<b c='</script><div {_names(MANY)}>",
    "attributes in cdata that is none": f"<svg><desc><![CDATA[><div {_names(MANY)}>]]>",
    "attributes named by signs": f"<div {' '.join(map(''.join, product(map(chr, range(14, 31)), repeat=4)))}>",
    "formatting with attributes that is not closed": f"<p><font {_names(990)}>" + "<p>y" * 9000,
    "a link with attributes that is not closed": f"<p><script>a<b c='</script><a {_names(990)}>" + "<p>y" * 9000,
    "formatting behind a quoted sign": f'<p><b b=c="x d="> {_names(990)}">' + "<p>y" * 9000,
    "a long quoted link that is not closed": f"<p><a title='>{'z' * MANY * 10}'>" + "<p>y" * 5000,
    "equal formatting with attributes": f"<font {_names(900)}>" * 500,
    "tags in tags": "<a " * 15_000 + 'b=">' + "x " * MANY * 10,
    "headings and list entries in one another": "<h1><li>" * MANY,
    "headings in a link": f"<a href={'z' * MANY * 10}>" + "<h1>y" * MANY,
    "attributes of a link without blanks": "<a " + "".join(f'a{n}=""' for n in range(MANY)) + ">" + "<p>" * MANY,
    "chosen options": f"<select><selectedcontent></selectedcontent><option selected>{'<p>x' * 8000}</option>"
    + "<option selected>y</option>" * 3500,
    "attributes of different names": "".join(f"<p {_names(100, of=n)}>" for n in range(2000)),
    "attributes of links of different names": "".join(f"<a {_names(50, of=n)}>y</a><p>" for n in range(9000)),
    "attributes of an end": f"</div {_names(MANY * 10)}>",
    "tags of different names": "".join(f"</x{n}>" for n in range(MANY * 3)),
    "text before a table": f"<table>{'x' * MANY * 50}{'<!---->y' * 9000}",
    "text behind the body": f"</body>{' ' * MANY * 50}{'<!----> ' * 9000}",
    "ends of nothing": "<div>" * 15_000 + "</p>" * 15_000,
    "tags that do not end": "<a " * MANY,
    "comments that do not end": "<!--" * MANY,
    "marks on a letter, out of their order": "\u0301\u0316" * MANY * 5,
    "marks that are made of others": "\u0f71\u0f72\u0f74\u0f73" * MANY * 2,
}


def _read(html: str) -> Page:
    return read_page(html.encode(), "http://h/", "text/html; charset=utf-8")


@pytest.mark.parametrize("html", HOSTILE.values(), ids=HOSTILE)
def test_is_read_at_once(html: str) -> None:
    assert _read(f"<title>T</title><p>{html}").title == "T"


def test_blanks_in_a_content_type_cost_nothing() -> None:
    assert read_page(b"<p>x", "http://h/", f"text/html; charset={' ' * 200_000};").charset == "utf-8"


@pytest.mark.parametrize(
    "label", ["rot13", "zlib", "undefined", "hex", "unicode_escape", "raw-unicode-escape", "cp037", "utf-32", "u" * 100]
)
def test_a_charset_that_is_none_is_not_believed(label: str) -> None:
    assert read_page("<p>é".encode(), "http://h/", f"text/html; charset={label}").charset == "utf-8"


@pytest.mark.parametrize("refresh", ["0;url=a b ", "0; URL='a b'", ' 5 , "a b" ', "0.5 a b", "3;URL = a b"])
def test_a_refresh_is_found(refresh: str) -> None:
    assert _read(f"<meta http-equiv=refresh content='{refresh}'>".replace("'a b'", '"a b"')).refresh == "a b"


@pytest.mark.parametrize(
    ("value", "target"),
    [
        ('0; url="a"b', "a"),
        ("0; url='a'b", "a"),
        ("0; url=\"it's", "it's"),
        ("0; url=/a?q='b'", "/a?q='b'"),
        ("1.5..; 'a", "a"),
        ("0;;a", ";a"),
        ("0 url", "url"),
        ("0; url=", ""),
        ('0; url=""', ""),
        ("0 ;", ""),
        ("0", ""),
        ("0x; url=a", ""),
        ("-1; url=a", ""),
        ("url=a", ""),
    ],
)
def test_a_refresh_leads_where_browsers_go(value: str, target: str) -> None:
    assert refresh_target(value) == target


@pytest.mark.parametrize("value", ["0" + " " * MANY, "0;" + " " * MANY + "url", "." * MANY, "0;url=" + '"' * MANY])
def test_a_long_refresh_costs_its_length(value: str) -> None:
    refresh_target(value)


@pytest.mark.parametrize("reference", ["&nGt;", "&nLt;"])
def test_references_that_are_short_do_not_break_the_parser(reference: str) -> None:
    page = _read(f"<title>T</title><p title='{reference * MANY}'>{reference * MANY}")
    assert len(page.blocks[0].text) == 2 * MANY


def test_usual_pages_stay_as_they_are() -> None:
    for html in (
        "<div>" * 9000,
        "<p><font color=red>x</font>" * 900,
        "<p>word word" * 9000,
        "<a href=/x>y</a> " * 9000,
        f"<script>{'if (i<n && n>0) a = b / c; ' * 9000}</script><p>x",
        f"<p title='{'word ' * 9000}>'>{'word ' * 90_000}",
    ):
        assert flattened(html.encode()) == html.encode()


def test_text_and_links_of_a_flat_page_stay() -> None:
    html = (
        "<html lang=zu><head><title>T &lt; <b></title><script>if (a<b) '</p>'</script><!-- <p>no --></head><body>"
        "<nav><a href=/one rel=next>One</a></nav><div><h1>Two</h1><span>th</span>ree &amp; <b>f</b>our"
        "<svg><title>no</title></svg><table><tr><td>five<td>six</table> 1 < 2 <p title='>'>seven"
    )
    page = _read(html + "<i></i>" * MANY)
    assert (page.title, page.html_lang) == ("T < <b>", "zu")
    assert [(link.href, link.text, link.rel) for link in page.links] == [("/one", "One", "next")]
    assert [block.text for block in page.blocks] == ["One", "Two", "three & four", "five", "six", "1 < 2", "seven"]


def test_a_link_around_a_block_keeps_its_text_in_a_flat_page() -> None:
    page = _read("<a href=/x><div>one</div></a><a href=/y>two" + "<p>three" * MANY)
    assert (page.links[0].href, page.links[0].text) == ("/x", "one")
    assert len(page.links) < 10


@pytest.mark.parametrize("lines", [MOST_LINES, MOST_LINES + 1])
def test_a_plain_text_has_a_bounded_number_of_blocks_and_keeps_its_words(lines: int) -> None:
    page = read_page(b"".join(b"a%d\n\n" % n for n in range(lines)), "http://a.example/", "text/plain")
    assert len(page.blocks) == -(-lines // (1 if lines == MOST_LINES else 2))
    assert page.text().split() == [f"a{n}" for n in range(lines)]


def test_words_without_end_are_not_remembered() -> None:
    quality._of_the_field.cache_clear()
    assert quality._religious(["jesu" + "a" * MANY, "ngoNkulunkulu".lower(), *("b" * MANY + c for c in "xyz")]) == 0.4
    assert quality._of_the_field.cache_info().currsize == 3
