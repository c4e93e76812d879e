"""Documents made to take long: each is read or refused in a fraction of a second, where a careless reading of them
(ours or a library's) takes minutes or hours, as its time grows with the square of their length."""

from collections.abc import Callable

import pytest

from seeds import feeds, sitemaps
from seeds.crawl import parse_crawl
from seeds.errors import SeedError
from seeds.feeds import guard
from seeds.feeds.guard import MAX_BASE, MAX_PREFIXES, check_text
from seeds.feeds.types import FeedError
from seeds.harvest.index_page import read_index
from seeds.survey.lists import ListError, read_list

SIZE = 300_000
REFUSED = {
    "namespace prefixes": "".join(f'<a{n}:b xmlns:a{n}="u"/>' for n in range(5000)),
    "a long base": f'<item xml:base="http://h/{"a" * SIZE}/"><link>x</link></item>',
    "bases in one another": '<a xml:base="abcdefghi/">' * (MAX_BASE // 20),
}
READ = {
    "an author without end": f"<item><title>t</title><author>{'a' * SIZE}</author></item>",
    "a creator without end": f"<item><title>t</title><dc:creator>{'a-' * SIZE}</dc:creator></item>",
    "categories": f"<item><title>t</title>{''.join(f'<category>{n}</category>' for n in range(10_000))}</item>",
    "an unclosed tag": f"<item><title>t</title></item><{'a' * SIZE}",
    "comments": f"<item><title>t</title></item>{'<!---->' * SIZE}",
}


def _rss(items: str, prolog: str = "") -> bytes:
    return f'{prolog}<rss version="2.0"><channel><title>t</title>{items}</channel></rss>'.encode()


@pytest.mark.parametrize("items", READ.values(), ids=READ)
def test_is_read_at_once(items: str) -> None:
    assert [entry.title for entry in feeds.entries(_rss(items), "http://h/")] == ["t"]


@pytest.mark.parametrize("items", REFUSED.values(), ids=REFUSED)
def test_is_refused_at_once(items: str) -> None:
    with pytest.raises(FeedError):
        feeds.entries(_rss(items), "http://h/")


@pytest.mark.parametrize("blanks", ["\n", " ", "\r\n", "\t\n"])
def test_blanks_before_the_first_element_cost_nothing(blanks: str) -> None:
    items = "<item><title>t</title></item>"
    for prolog in (blanks * SIZE, f'<?xml version="1.0"?>{blanks * SIZE}'):
        assert len(feeds.entries(_rss(items, prolog), "http://h/")) == 1


def test_a_long_prolog_is_refused() -> None:
    with pytest.raises(FeedError, match="before the first element"):
        feeds.entries(_rss("", "\n<!DOCTYPE" * 100_000), "http://h/")
    with pytest.raises(FeedError, match="entity"):
        check_text(b"<!ENTITY" + b" " * 30_000 + b'% a "b"><rss>')


LIMITS: dict[str, tuple[int, Callable[[int], bytes]]] = {
    "bytes": (guard.MAX_BYTES, lambda n: b" " * n),
    "items": (guard.MAX_ENTRIES, lambda n: b"<item/>" * n),
    "tags": (guard.MAX_TAGS, lambda n: b"<a/>" * n),
    "stray signs": (guard.MAX_STRAY, lambda n: b"<a>" + b"<" * n),
    "attributes": (guard.MAX_ATTRIBUTES, lambda n: b"<a " + b"b=" * n + b">"),
    "prefixes": (MAX_PREFIXES, lambda n: b"<a " + b"".join(b"xmlns:b%d " % of for of in range(n)) + b">"),
    "bases": (MAX_BASE, lambda n: b"<a xml:base=" + b"b" * (n - len(" xml:base=")) + b">"),
    "bytes before the first element": (guard.MAX_PROLOG, lambda n: b" " * n + b"<a>"),
    "entities": (guard.MAX_ENTITIES, lambda n: b'<!ENTITY a "b">' * n + b"<a>"),
    "bytes of an entity": (guard.MAX_ENTITY_BYTES, lambda n: b"<!ENTITY a " + b"b" * n + b"><a>"),
    # 1 + 2 + ... + 3,125 and 14,437 times 3,125 are 50,000,000
    "work": (guard.MAX_WORK // 3125 - 1563, lambda n: b"<a>" * 3125 + b"<br>" * n),
}


@pytest.mark.parametrize(("most", "document"), LIMITS.values(), ids=LIMITS)
def test_as_much_as_is_allowed_is_read_and_no_more(most: int, document: Callable[[int], bytes]) -> None:
    check_text(document(most))
    with pytest.raises(FeedError):
        check_text(document(most + 1))


def test_usual_namespaces_and_bases_are_read() -> None:
    item = '<item xmlns:a="u" xml:base="http://h/a/"><title>t</title><link>b</link></item>'
    found = feeds.entries(_rss(item * (MAX_PREFIXES + 300)), "http://h/")
    assert len(found) == MAX_PREFIXES + 300
    assert found[-1].link == "http://h/a/b"


@pytest.mark.parametrize(
    ("prolog", "charset"),
    [
        ("<?xml " + "encoding='' " * SIZE, ""),
        ("<?xml version='1.0'?>" + "encoding='' " * 2000, ""),
        ("<?xml version='1.0' encoding='punycode'?>", ""),
        ("", "idna"),
    ],
)
def test_what_is_said_of_the_encoding_costs_nothing(prolog: str, charset: str) -> None:
    text = f"{prolog}\n<rss><channel><item><title>t</title></item></channel></rss><!--xn---{'9' * SIZE}"
    assert len(feeds.entries(text.encode(), "http://h/", charset and f"text/xml; charset={charset}")) == 1


def test_the_tags_of_a_sitemap_that_do_not_end_cost_their_length() -> None:
    assert sitemaps.parse(b"<urlset>" + b"<a@" * SIZE + b">").entries == ()


@pytest.mark.parametrize("number", ["²", "1" * 5000, "-1", ""])
def test_numbers_that_are_none_are_not_believed(number: str) -> None:
    feed = feeds.parse(_rss(f"<ttl>{number}</ttl><item><title>a&#{number or 0};b</title></item>"), "http://h/")
    assert feed.hints.ttl_s is None
    assert len(feed.entries) == 1


def _names(count: int, of: int = 0) -> str:
    return " ".join(f"a{n}" for n in range(of * count, of * count + count))


PAGES = {
    "attributes": f"<div {_names(300_000)}>",
    "attributes behind a quoted sign": f"<p b=c='x d='> {_names(300_000)}'>",
    "attributes of different names": "".join(f"<p {_names(100, of=n)}>" for n in range(3000)),
    "attributes of the root": "".join(f"<html {_names(10, of=n)}>" for n in range(9000)),
    "attributes of an end": f"</div {_names(300_000)}>",
    "formatting with attributes that is not closed": f"<p><font {_names(990)}>" + "<p>y" * 9000,
    "formatting that is not closed": "<p>" + "".join(f"<font c={n}>" for n in range(7000)) + "<p>y" * 7000,
    "a long link that is not closed": f"<p><a href=/{'z' * SIZE}>" + "<p>y" * 9000,
    "tags in tags": "<a " * 15_000 + "b=" + "<a" * 15_000 + "x" * SIZE,
    "text before a table": f"<table>{'x' * SIZE * 6}{'<!---->y' * 9000}",
    "references that are short": f"<p title='{'&nGt;' * SIZE}'>{'&nLt;' * SIZE}",
    "chosen options": f"<select><selectedcontent></selectedcontent><option selected>{'<p>x' * 8000}</option>"
    + "<option selected>y</option>" * 3500,
    "blocks in blocks": "<div>" * 300_000,
    "a long class above many links": f'<div class="{"a " * SIZE}">' + "<a href=/x>y</a>" * 2500,
    "links in links": "<a href=/x.xml>yy<object>" * 3000,
    "quotes without end": "<a b='/" * SIZE,
    "empty elements": "<a b=c/>" * SIZE,
    "a long base": f'<base href="/{"a" * SIZE}/">' + "<a href=rss>y</a>" * 4000,
}


@pytest.mark.parametrize("html", PAGES.values(), ids=PAGES)
def test_a_page_is_looked_through_at_once(html: str) -> None:
    """As XHTML, with which more is done."""
    kind = "application/xhtml+xml"
    head = '<link rel=alternate type="application/rss+xml" href=/f>'
    assert feeds.discover((head + html).encode(), "http://h/", kind) == ["http://h/f"]
    assert len(feeds.discover(html.encode(), "http://h/", kind)) <= 50
    page, places = read_index(html.encode(), "http://h/", {}, kind)
    assert len(page.entries) == len(places)


def test_a_list_that_is_empty_but_for_its_name_is_refused() -> None:
    with pytest.raises(ListError, match="cannot be read"):
        read_list(b"\0z<opml ")


def test_lists_cost_their_length() -> None:
    heap = " ".join(f'a{n}="1"' for n in range(40_000))
    with pytest.raises(ListError, match="attributes"):
        read_list(f'<opml><body><outline {heap} xmlUrl="http://h/"/></body></opml>'.encode())
    entries = "".join(f'<outline xmlUrl="http://h/{n}"/>' for n in range(5000))
    found = read_list(f'<opml><body><outline text="{"x" * 4_000_000}">{entries}</outline></body></opml>'.encode())
    assert len(found) == 5000
    assert len(found[-1].group) == 4_000_000


def test_the_first_links_of_a_long_page_are_found() -> None:
    html = "".join(f"<p><a href=/a/{n}>A title of some length</a></p>" for n in range(10_000))
    assert len(read_index(html.encode(), "http://h/", {})[0].entries) == 3000


def test_a_seed_file_of_many_sites_costs_its_length() -> None:
    sites = "".join(f'[[site]]\nurl = "http://h{n}.example/"\n' for n in range(10_000))
    assert len(parse_crawl(f'[crawl]\nname = "x"\nlanguage = "zul"\n{sites}').sites) == 10_000


@pytest.mark.parametrize("key", ["{}=1", "[{}]", " [[ {} ]]", "{}\n"])
def test_a_key_of_very_many_parts_is_refused_by_line(key: str) -> None:
    for part in ("a", '"a b"', '"\\""', "'.' ", "''"):
        with pytest.raises(SeedError, match=r"^<text>:3: a key of more than 32 parts"):
            parse_crawl("\n\n" + key.format(".".join([part] * 20_000)))
