"""Feeds beyond the outside cases: hostile ones, encodings, originals behind counters, discovery in odd pages."""

from __future__ import annotations

import codecs
import gzip
import json
import time
import tracemalloc
from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seeds.feeds import FeedError, discover, entries, likely_feeds, parse
from seeds.feeds.guard import MAX_ENTRIES
from seeds.feeds.links import clean_link
from seeds.feeds.types import FeedEntry
from seeds.harvest.answers import Answer
from seeds.harvest.answers import read as read_answer
from seeds.harvest.history import FeedHistory
from seeds.harvest.index_page import read_index
from seeds.sitemaps import SitemapError, in_robots, unpack
from seeds.sitemaps import parse as parse_sitemap

LAUGHS = (
    '<!DOCTYPE x [<!ENTITY a0 "lol">' + "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10)) + "]>"
)
ITEM = b"<item><link>https://a.example/1</link><title>Indaba</title></item>"


def hostile(opening: bytes, unit: bytes) -> bytes:
    """An opening and one unit over and over, 2 MiB."""
    return opening + unit * ((2 << 20) // len(unit))


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (LAUGHS.encode() + b'<rss version="2.0"><channel><title>&a9;</title></channel></rss>', "entity_expansion"),
        ((LAUGHS + "<rss><channel><title>&a9;</title></channel></rss>").encode("utf-16"), "entity_expansion"),
        (b'<!DOCTYPE x [<!ENTITY % p SYSTEM "http://127.0.0.1/x">%p;]><rss/>', "entity_expansion"),
        (b'<!DOCTYPE x [<!ENTITY a "' + b"a" * 5000 + b'">]><rss/>', "entity_expansion"),
        (hostile(b"<rss><channel>", b"<a>"), "too_deep"),
        (hostile(b"<rss><channel>", b"<item></item>"), "too_many_tags"),
        (hostile(b"<rss><channel><item><description>", b"<b></b>"), "too_many_tags"),
        (b'{"version": "1", "items": [{"url": "/a"}' + b',{"url": "/a"}' * MAX_ENTRIES + b"]}", "too_many_tags"),
        (b'{"rss": {"channel": {"item": [{}' + b",{}" * MAX_ENTRIES + b"]}}}", "too_many_tags"),
        (hostile(b"<rss><channel>", b"<"), "broken_markup"),
        (hostile(b"<rss><channel>", b"<a "), "broken_markup"),
        (b"<rss><item " + b" ".join(b'a%d="1"' % n for n in range(5000)) + b">", "too_many_attributes"),
        (b"<rss>" + b"x" * (100 << 20), "too_large"),
        (b"<!doctype html><html><head><title>404</title>", "html"),
    ],
)  # fmt: skip
def test_hostile_documents_are_refused_soon(body: bytes, reason: str) -> None:
    started = time.process_time()
    with pytest.raises(FeedError) as caught:
        parse(body, "https://a.example/")
    assert caught.value.reason == reason
    assert time.process_time() - started < 10


@pytest.mark.parametrize("unit", [b"<![CDATA[", b"<!--", b" ", b'"', b"\xff", b"]]>", b"<!DOCTYPE x "])
def test_endless_documents_are_bounded(unit: bytes) -> None:
    started = time.process_time()
    with suppress(FeedError):
        entries(hostile(b"<rss version='2.0'><channel>" + ITEM, unit), "")
    assert time.process_time() - started < 10


def test_a_file_name_or_address_as_body_is_never_opened() -> None:
    assert entries(b"/etc/passwd", "") == []
    assert entries(b"http://127.0.0.1:9/feed", "") == []


@settings(max_examples=150, deadline=None)
@given(
    st.binary(max_size=300), st.sampled_from([b"", b"<rss version='2.0'><channel>" + ITEM, b'{"items": [', b"<feed>"])
)
def test_any_bytes_are_read_or_refused(tail: bytes, head: bytes) -> None:
    for read in (
        lambda: entries(head + tail, "https://a.example/"),
        lambda: parse_sitemap(head + tail, "https://a.example/"),
    ):
        with suppress(FeedError, SitemapError):
            read()
    discover(head + tail, "https://a.example/")


@pytest.mark.parametrize(
    ("declared", "content_type", "encoding"),
    [
        ("utf-8", "text/xml", "utf-8"),
        ("iso-8859-1", "application/rss+xml", "utf-8"),
        ("utf-8", "text/xml; charset=iso-8859-1", "utf-8"),
        ("iso-8859-2", "text/xml; charset=iso-8859-2", "iso-8859-2"),
        ("windows-1250", None, "windows-1250"),
        ("utf-16", "application/xml", "utf-16"),
    ],
)
def test_wrong_charsets(declared: str, content_type: str | None, encoding: str) -> None:
    title = "Žluťoučký kůň úpěl ďábelské ódy"
    item = f"<item><title>{title}</title></item>"
    text = f'<?xml version="1.0" encoding="{declared}"?><rss version="2.0"><channel>{item}</channel></rss>'
    assert [entry.title for entry in entries(text.encode(encoding), "", content_type)] == [title]


@pytest.mark.parametrize("name", ["\x97tf-8", "utf-8\0", "hex", "rot13", "undefined", ""])
def test_a_declared_encoding_that_is_none_is_not_believed(name: str) -> None:
    for declared, body in ((name.encode("latin-1"), "é".encode()), (name.encode(), "é".encode("latin-1"))):
        rss = b"<rss><channel><item><title>" + body + b"</title></item></channel></rss>"
        assert [entry.title for entry in entries(b"<?xml version='1.0' encoding='%b'?>" % declared + rss, "")] == ["é"]


@pytest.mark.parametrize("title", ["abcd", "abcde"])  # of even and of odd length
@pytest.mark.parametrize("content_type", [None, "application/xml; charset=utf-16"])
@pytest.mark.parametrize("name", ["utf-16", "UTF16", "utf_32"])
def test_a_wide_encoding_is_not_believed_of_bytes_that_are_in_none(
    title: str, content_type: str | None, name: str
) -> None:
    rss = f"<?xml version='1.0' encoding='{name}'?><rss><channel><item><title>{title}</title></item></channel></rss>"
    assert [entry.title for entry in entries(rss.encode(), "", content_type)] == [title]


@pytest.mark.parametrize("declaration", ["", "<?xml?>", "<?xml version='1.0' encoding='iso-8859-1'?>"])
def test_a_mark_of_utf_8_is_no_part_of_the_document_whatever_that_is_in(declaration: str) -> None:
    rss = f"{declaration}<rss version='2.0'><channel><item><title>\xe9t\xe9</title></item></channel></rss>"
    feed = parse(codecs.BOM_UTF8 + rss.encode("latin-1"), "")
    assert ([entry.title for entry in feed.entries], feed.rescued) == (["été"], False)


@pytest.mark.parametrize(
    "content_type", ["text/xml; charset=utf-8", "application/rss+xml", "text/xml; charset=iso-8859-2"]
)
@pytest.mark.parametrize("declaration", [b"", b'<?xml version="1.0" encoding="UTF-8"?>'])
def test_a_letter_that_is_cut_does_not_spoil_all_others(declaration: bytes, content_type: str) -> None:
    """Texts are shortened by bytes: links with such letters led nowhere then, and the next time to other places."""
    item = "<item><title>Šest žáků</title><link>https://a.example/zpráva/</link><description>%s</description></item>"
    cut = (item % "žluťoučký kůň").encode().replace("ň".encode(), "ň".encode()[:1] + b"...")
    feed = parse(
        declaration + b'<rss version="2.0"><channel>' + cut + b"</channel></rss>", "https://a.example/", content_type
    )
    assert [(entry.url, entry.title) for entry in feed.entries] == [("https://a.example/zpráva/", "Šest žáků")]
    other = f'<rss version="2.0"><channel>{item % "kůň"}</channel></rss>'.encode("iso-8859-2")
    (entry,) = entries(other, "https://a.example/", "text/xml; charset=iso-8859-2")
    assert entry.title == "Šest žáků"


def test_an_entity_is_read_on_whichever_line_it_is_defined() -> None:
    for space in ("", "\n"):
        head = f"<?xml version='1.0'?>{space}<!DOCTYPE rss [{space}<!ENTITY name \"value\">{space}]>"
        feed = parse(f"{head}<rss version='2.0'><channel><title>&name;</title></channel></rss>".encode(), "")
        assert (feed.title, feed.rescued) == ("value", False)


@pytest.mark.parametrize("part", ["<image></height>", "<item><textinput><link>x"])
def test_what_the_parser_stumbles_over_is_refused(part: str) -> None:
    with pytest.raises(FeedError, match="broken_markup"):
        parse(f"<rss><channel>{part}".encode(), "")


def test_broken_xml_is_rescued() -> None:
    feed = parse(
        b'<rss version="2.0"><channel><item><title>A & B <b>c</title><link>/1?a=1&b=2</link></item>',
        "https://a.example/f",
    )
    assert feed.rescued
    assert [entry.link for entry in feed.entries] == ["https://a.example/1?a=1&b=2"]


def test_dates_languages_originals_and_enclosures() -> None:
    (entry,) = entries(
        b'<rss version="2.0" xmlns:feedburner="http://rssnamespace.org/feedburner/ext/1.0"><channel>'
        b"<language>ZU-za</language>"
        b"<item><link>http://feeds.example/~r/x</link><feedburner:origLink>https://a.example/1?utm_source=x</feedburner:origLink>"
        b"<pubDate>Sat, 21 Nov 2026 02:00:00 +0200</pubDate>"
        b'<enclosure url="/a.mp3" type="audio/mpeg" length="1"/></item></channel></rss>',
        "https://a.example/feed",
    )
    assert (entry.link, entry.url) == ("http://feeds.example/~r/x", "https://a.example/1")
    assert entry.published_ms == 1_795_219_200_000
    assert (entry.language, entry.enclosures) == ("zu-za", ("https://a.example/a.mp3",))


@pytest.mark.parametrize(
    "date", ["", "soon", "9999-12-31T23:59:59-23:59", "1 Jan 2020 0:0 +9{19}", "1 Jan 9{19} 0:0 +0"]
)
def test_dates_of_json_that_are_none_are_not_believed(date: str) -> None:
    items = json.dumps([{"id": "a", "date_published": date.replace("9{19}", "9" * 19)}, {"id": "b"}])
    feed = parse(f'{{"version": "https://jsonfeed.org/version/1.1", "items": {items}}}'.encode(), "https://a.example/f")
    assert [entry.id for entry in feed.entries] == ["a", "b"]


@pytest.mark.parametrize(
    ("found", "clean"),
    [
        ("https://a.example/x?utm_source=a&utm_medium=b", "https://a.example/x"),
        ("https://a.example/x?id=1&utm_source=a#top", "https://a.example/x?id=1#top"),
        ("https://a.example/x?fbclid=1&id=2&gclid=3", "https://a.example/x?id=2"),
        ("https://a.example/x?id=2", "https://a.example/x?id=2"),
        ("https://a.example/x?", "https://a.example/x?"),
        ("https://a.example/x?utm=1", "https://a.example/x?utm=1"),
        ("https://medium.com/x?source=rss-b1f3d322dadf------2", "https://medium.com/x"),
        ("https://www.google.com/url?rct=j&url=https://a.example/x%3Fid%3D1&ct=ga", "https://a.example/x?id=1"),
        ("https://www.google.com/url?url=javascript:x", "https://www.google.com/url?url=javascript:x"),
        ("https://[bad/?utm_source=1", "https://[bad/"),
        ("Https://a.example/\n  1\r\n\t2", "https://a.example/  12"),
    ],
)
def test_clean_links(found: str, clean: str) -> None:
    assert clean_link(found) == clean


@pytest.mark.parametrize("home", ["http://a.example/", "https://a.example/"])
def test_a_scheme_may_be_written_in_any_letters(home: str) -> None:
    """As by hand it often is; what does not begin with http:// or https:// goes no further."""
    item = "<item><link>Http://a.example/1</link></item>"
    (entry,) = entries(f'<rss version="2.0"><channel>{item}</channel></rss>'.encode(), home)
    assert entry.url == "http://a.example/1"
    (entry,) = entries(b'{"version": "1", "items": [{"url": "HTTPS://a.example/1"}]}', home)
    assert entry.url == "https://a.example/1"
    assert discover(b'<link rel=alternate type="application/rss+xml" href="HTTPS://a.example/f">', home) == [
        "https://a.example/f"
    ]
    rows = "".join(f'<li><a href="HTTP://a.example/{n}">Isihloko sendaba enkulu</a></li>' for n in range(3))
    found, _ = read_index(rows.encode(), home, {})
    assert [entry.url for entry in found.entries] == [f"http://a.example/{n}" for n in range(3)]


@pytest.mark.parametrize("empty", ["<title/>", '<script src="a.js" />', "<style media='>' />", "<textarea/>"])
def test_what_is_empty_in_xhtml_hides_nothing_behind_it(empty: str) -> None:
    list_of = "".join(f'<li><a href="/indaba/{n}">Isihloko sendaba enkulu<br/></a></li>' for n in range(3))
    link = '<link rel="alternate" type="application/rss+xml" href="/feed/"/>'
    page = f"<html>{empty}{link}<body><ul>{list_of}</ul></body></html>".encode()
    for kind, seen in (("application/xhtml+xml; charset=utf-8", True), ("text/html", False), (None, False)):
        assert discover(page, "https://a.example/", kind) == ["https://a.example/feed/"] * seen
        found, _ = read_index(page, "https://a.example/", {}, kind)
        assert len(found.entries) == 3 * seen


def test_discovery_in_anchors_and_by_platform() -> None:
    html = b'<html><body><a href="/feed/">RSS</a> <a href="/feedback">x</a> <a href="feed://b.example/rss">y</a></body></html>'
    assert discover(html, "https://a.example/x/") == ["https://a.example/feed/", "http://b.example/rss"]
    link = b'<link rel="alternate" type="application/rss+xml" href="%s">'
    head = link % b"/comments/feed/" + link % b"/feed/"
    assert discover(head, "https://a.example/") == ["https://a.example/feed/", "https://a.example/comments/feed/"]
    assert (
        discover(b'<link rel="alternate" hreflang="zu" type="text/html" href="/zu/feed">', "https://a.example/") == []
    )
    assert likely_feeds(b'<link href="/wp-content/x.css">', "https://a.example/a/")[0] == "https://a.example/feed/"
    assert "https://a.example/feeds/posts/default" in likely_feeds(b"www.blogger.com", "https://a.example/")


def test_an_item_of_json_without_a_page_here_leads_to_the_one_elsewhere() -> None:
    items = [
        {"id": "1", "external_url": "https://b.example/x"},
        {"id": "2", "url": "/y", "external_url": "https://b.example/y"},
        {"id": "https://a.example/z", "external_url": "https://b.example/z"},
    ]
    body = json.dumps({"version": "https://jsonfeed.org/version/1.1", "items": items}).encode()
    assert [entry.url for entry in entries(body, "https://a.example/f")] == [
        "https://b.example/x",
        "https://a.example/y",
        "https://a.example/z",
    ]


def test_a_gzip_sitemap_of_several_members_is_read_to_its_end() -> None:
    whole = b"<urlset><url><loc>http://h/1</loc></url><url><loc>http://h/2</loc></url></urlset>"
    members = b"".join(gzip.compress(whole[at : at + 30]) for at in range(0, len(whole), 30))
    assert parse_sitemap(members, "http://h/").locs == ["http://h/1", "http://h/2"]
    assert parse_sitemap(members[:-9] + b"junk", "http://h/").locs == ["http://h/1", "http://h/2"]


def test_a_feed_that_is_packed_without_a_word_of_it_is_read() -> None:
    feed = b'<rss version="2.0"><channel><item><link>/1</link></item></channel></rss>'
    assert [entry.url for entry in entries(gzip.compress(feed), "https://a.example/")] == ["https://a.example/1"]
    with pytest.raises(FeedError, match="too_large"):
        entries(gzip.compress(b" " * (9 << 20)), "https://a.example/")
    with pytest.raises(FeedError, match="gzip"):
        entries(b"\x1f\x8b garbage", "https://a.example/")


def test_sitemaps_are_bounded() -> None:
    bomb = gzip.compress(b"\0" * (60 << 20), 9)
    with pytest.raises(SitemapError, match="too_large"):
        parse_sitemap(bomb)
    with pytest.raises(SitemapError, match="gzip"):
        parse_sitemap(b"\x1f\x8b garbage")
    with pytest.raises(SitemapError, match="html"):
        parse_sitemap(b"<html><body>x</body></html>")
    with pytest.raises(SitemapError, match="not_a_sitemap"):
        parse_sitemap(b"hello")
    many = (
        b"<urlset>"
        + b"".join(b"<url><loc>https://a.example/%d</loc></url>" % n for n in [*range(200_010), 3])
        + b"</urlset>"
    )
    sitemap = parse_sitemap(many, "https://a.example/sitemap.xml")
    assert (len(sitemap.entries), sitemap.dropped) == (200_000, {"over_limit": 10, "repeated": 1})


@pytest.mark.parametrize(
    "pack", [bytes, gzip.compress, lambda text: gzip.compress(text[:500]) + gzip.compress(text[500:])]
)
def test_a_sitemap_of_just_as_much_as_is_allowed_is_read(
    pack: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("seeds.sitemaps.parsing.MAX_BYTES", 1000)
    assert unpack(pack(b" " * 1000)) == b" " * 1000
    with pytest.raises(SitemapError, match="too_large"):
        unpack(pack(b" " * 1001))


def test_a_small_sitemap_of_several_members_takes_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seeds.sitemaps.parsing.MAX_BYTES", 1000)
    packed = gzip.compress(b"a") + gzip.compress(bytes(16 << 20))
    tracemalloc.start()
    with pytest.raises(SitemapError, match="too_large"):
        unpack(packed)
    assert tracemalloc.get_traced_memory()[1] < 4 << 20
    tracemalloc.stop()


def test_what_an_entry_of_a_sitemap_says_is_bounded() -> None:
    link = '<xhtml:link rel="alternate" hreflang="zu" href="/zu/1"/>'
    body = (
        f"<urlset><url><loc>/1</loc>{link * 201}<priority>7</priority><changefreq>{'a' * 1001}</changefreq>"
        "<image:image><url><loc>/2</loc><priority>-7</priority><lastmod>1970-01-01T00:00:01</lastmod></url></urlset>"
    )
    first, second = parse_sitemap(body.encode(), "https://a.example/", newer_than_ms=1000).entries
    assert (len(first.alternates), first.priority, len(first.changefreq)) == (200, 1.0, 1000)
    assert (second.loc, second.priority, second.lastmod_ms) == ("https://a.example/2", 0.0, 1000)


def test_a_sitemap_named_in_the_last_line_that_is_read_counts() -> None:
    line = b"Sitemap: /a"
    robots = b"#" * (500 * 1024 - 1 - len(line)) + b"\n" + line
    assert in_robots(robots, "https://a.example/") == ["https://a.example/a"]
    assert in_robots(robots + b"b", "https://a.example/") == []


SITEMAP = "<urlset><url><loc>https://a.example/ilanga</loc></url><url><loc>https://a.example/é</loc></url></urlset>"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_sitemaps_in_wide_encodings_are_read(encoding: str) -> None:
    body = f'<?xml version="1.0" encoding="{encoding}"?>{SITEMAP}'.encode(encoding)
    assert parse_sitemap(body).locs == ["https://a.example/ilanga", "https://a.example/é"]
    lines = "\ufeffhttps://a.example/1\r\nhttps://a.example/2".encode("utf-16-be")
    assert parse_sitemap(lines).locs == ["https://a.example/1", "https://a.example/2"]


@pytest.mark.parametrize("said", ["utf-16", "ucs-2", "iso-8859-1", "us-ascii", "none-such"])
def test_a_sitemap_in_utf_8_is_so_whatever_it_says(said: str) -> None:
    body = f'<?xml version="1.0" encoding="{said}"?>{SITEMAP}'.encode()
    assert parse_sitemap(body).locs == ["https://a.example/ilanga", "https://a.example/é"]


def test_a_sitemap_that_is_cut_within_a_character_or_has_no_root_loses_nothing_before() -> None:
    body = f'<?xml version="1.0" encoding="utf-16"?>{SITEMAP}'.encode()
    assert parse_sitemap(body[: body.index("é".encode()) + 1]).locs == ["https://a.example/ilanga"]
    first = "<url><loc>https://a.example/1</loc></url>"
    assert parse_sitemap(f"{first}\n<?xml version='1.0'?>{SITEMAP}".encode()).locs == ["https://a.example/1"]


def test_a_sitemap_in_another_encoding_is_read_as_it_says() -> None:
    body = f'<?xml version="1.0" encoding="iso-8859-1"?>{SITEMAP}'.encode("latin-1")
    assert parse_sitemap(body).locs == ["https://a.example/ilanga", "https://a.example/é"]


@pytest.mark.parametrize("first", ["Notice: x in y", "<br/><b>Warning</b>: <i>x</i> in line 3<br/>", "<!-- kept -->"])
@pytest.mark.parametrize("declaration", ["", "<?xml version='1.0' encoding='utf-16'?>"])
def test_a_sitemap_is_read_behind_whatever_stands_before_it(first: str, declaration: str) -> None:
    body = f"{first}\n{declaration}{SITEMAP}".encode()
    assert parse_sitemap(body).locs == ["https://a.example/ilanga", "https://a.example/é"]


@pytest.mark.parametrize("declared", ['xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"', ""])
def test_the_address_of_an_image_is_no_pages_wherever_it_stands(declared: str) -> None:
    image = "<image:image><image:title>t</image:title><image:loc>https://a.example/i.png</image:loc></image:image>"
    body = f"<urlset {declared}>" + "".join(
        f"<url>{entry}</url>"
        for entry in (f"{image}<loc>https://a.example/1</loc>", f"<loc>https://a.example/2</loc>{image}")
    )
    assert parse_sitemap(f"{body}<url>{image}</url></urlset>".encode()).locs == [
        "https://a.example/1",
        "https://a.example/2",
    ]


def test_a_sitemap_says_where_a_page_is_in_other_languages() -> None:
    link = '<xhtml:link rel="{}" hreflang="{}" href="{}"/>'
    links = link.format("alternate", "ZU", "/zu/1") + link.format("canonical", "en", "/en/1")
    urls = f"<url><loc>/1</loc>{links}</url><url><loc>/2</loc></url>"
    body = f'<urlset xmlns:xhtml="http://www.w3.org/1999/xhtml">{urls}</urlset>'
    found = parse_sitemap(body.encode(), url="https://a.example/sitemap.xml").entries
    assert [entry.alternates for entry in found] == [(("zu", "https://a.example/zu/1"),), ()]


def test_sitemap_entries_by_age_and_news() -> None:
    body = (
        b'<urlset xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"'
        b' xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">'
        b"<url><loc>https://a.example/1</loc><lastmod>2020-01</lastmod></url><url><loc>https://a.example/2</loc></url>"
        b"<url><loc>https://a.example/3?a=1&b=2</loc><image:image><image:loc>https://a.example/i.png</image:loc></image:image>"
        b"<news:news><news:publication><news:name>Ilanga</news:name><news:language>ZU</news:language></news:publication>"
        b"<news:publication_date>2026-11-21T00:00:00+02:00</news:publication_date><news:title>Indaba</news:title></news:news></url></urlset>"
    )
    sitemap = parse_sitemap(body, "https://a.example/", newer_than_ms=1_600_000_000_000)
    assert sitemap.locs == ["https://a.example/2", "https://a.example/3?a=1&b=2"]
    assert sitemap.dropped == {"older": 1}
    news = sitemap.entries[1].news
    assert news is not None
    assert (news.publication, news.language, news.title, news.published_ms) == (
        "Ilanga",
        "zu",
        "Indaba",
        1_795_212_000_000,
    )


@pytest.mark.parametrize(
    ("date", "seconds"),
    [
        ("Fri, 31 May 2024 12:20:30 +0200", 1_717_150_830),
        ("2024-05-31T10:20:30.123Z", 1_717_150_830),
        ("2024-05-31T12:20:30+0200", 1_717_150_830),
        ("2024-05-31", 1_717_113_600),
        ("2024-05", 1_714_521_600),
        ("2024/05/31", 1_717_113_600),
        ("2024/05/31 12:20:30 SAST", 1_717_150_830),
        ("2024-05-31T10:20:9+00:00", 1_717_150_809),
        ("2024-05-31T10:20:30 XYZ", 1_717_150_830),
        ("May 31st, 2024", 1_717_113_600),
        ("Fri, 31 May 2024 12:20:30 SAST", 1_717_150_830),
        ("Fri, 31 May 2024 12:20:30 GMT+0200", 1_717_150_830),
        ("Fri, 31 May 2024 13:20:30 eat", 1_717_150_830),
        ("2024-05-31T11:20:30 WAT", 1_717_150_830),
        ("2024-05-31 12:20:30 CAT", 1_717_150_830),
        ("Fri, 31 May 2024 05:20:30 EST", 1_717_150_830),
        ("Fri, 31 May 2024 10:20:30 XYZ", 1_717_150_830),
    ],
)
def test_a_time_to_poll_by_is_read_alike_of_all_formats(date: str, seconds: int) -> None:
    assert [(entry.published_ms or 0) // 1000 for entry in in_forms(date)] == [seconds] * 4


@pytest.mark.parametrize("date", ["9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00+12:00", "2026-13", "soon"])
def test_a_date_that_no_clock_shows_is_none(date: str) -> None:
    sitemap = parse_sitemap(
        f"<urlset><url><loc>https://a.example/</loc><lastmod>{date}</lastmod></url></urlset>".encode()
    )
    assert sitemap.entries[0].dated_ms is None


def in_forms(date: str) -> list[FeedEntry]:
    """An item of this date in feeds of three formats and in a news sitemap."""
    rss = f'<rss version="2.0"><channel><item><link>https://a.example/1</link><pubDate>{date}</pubDate></item></channel></rss>'
    items = [{"url": "https://a.example/1", "date_published": date}]
    of_json = json.dumps({"version": "https://jsonfeed.org/version/1.1", "items": items})
    as_json = json.dumps({"rss": {"channel": {"item": {"link": "https://a.example/1", "pubDate": date}}}})
    sitemap = (
        '<urlset xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"><url><loc>https://a.example/1</loc>'
        f"<news:news><news:publication_date>{date}</news:publication_date></news:news></url></urlset>"
    )
    documents = [(text, "feed") for text in (rss, of_json, as_json)] + [(sitemap, "sitemap")]
    answers = [Answer(f"https://a.example/{kind}", 200, 0, body=text.encode(), kind=kind) for text, kind in documents]
    return [entry for answer in answers for entry in read_answer(answer, answer.asked, FeedHistory()).feed.entries]


@pytest.mark.parametrize(
    ("date", "published"),
    [
        ("2024-05-31T10:20:30Z", "2024-05-31T10:20:30Z"),
        ("2024-05-31T10:20:30.5+02:00", "2024-05-31T08:20:30Z"),
        ("2024-05-31 00:20:30 -0530", "2024-05-31T05:50:30Z"),
        ("Fri, 31 May 2024 10:20:30 +0200", "2024-05-31T08:20:30Z"),
        ("Fri, 31 May 2024 10:20:30 +02:00", "2024-05-31T08:20:30Z"),
        ("Fri, 31 May 2024 00:30:00 +0200 (SAST)", "2024-05-30T22:30:00Z"),
        ("Fri, 31 May 2024 10:20:30 GMT", "2024-05-31T10:20:30Z"),
        ("Friday, 31-May-2024 10:20 UT", "2024-05-31T10:20:00Z"),
        ("Fri, 31 May 2024 00:30:00 SAST", "2024-05-30T22:30:00Z"),
        ("Fri, 31 May 2024 22:30:00 EST", "2024-05-31"),
        ("Fri, 31 May 2024 00:30:00 GMT+0200", "2024-05-30T22:30:00Z"),
        ("Fri, 31 May 2024 10:20:30 +200", "2024-05-31"),
        ("2024-05-31T10:20:30", "2024-05-31"),
        ("2024-05-31T00:00:00+02:00", "2024-05-31"),
        ("2024-05-31", "2024-05-31"),
        ("31 May 2024", "2024-05-31"),
        ("30 marraskuu 2024", ""),
        ("30 Augustus 2024", "2024-08-30"),
        ("May 31, 2024", "2024-05-31"),
        ("Fri, May 31,2024", "2024-05-31"),
        ("FRIDAY, SEPT. 1st 2023", "2023-09-01"),
        ("3 June, 2024", "2024-06-03"),
        ("31st May 2024", "2024-05-31"),
        ("2024/05/31", "2024-05-31"),
        ("2024/31/05", ""),
        ("2024/5/6", ""),
        ("31/05/2024", ""),
        ("05/31/2024", ""),
        ("24/05/31", ""),
        ("May 31, 24", ""),
        ("May 2024", ""),
        ("May 32, 2024", ""),
        ("Mayor 31, 2024", ""),
        ("Fri, May 31, 2024 and later", ""),
        ("Updated May 31, 2024", ""),
        ("May 31, 2024 10:20:30 GMT", ""),
        ("2024/05/31 10:20:30", "2024-05-31"),
        ("2024/05-31", ""),
        ("2024-05", ""),
        ("2024", ""),
        ("2024-152", ""),
        ("5/6/2024", ""),
        ("2024-05-31/2024-06-02", ""),
        ("2024-02-30", ""),
        ("2024-05-31T25:00:00Z", ""),
        ("2024-05-31T10:20:30+99:99", ""),
        ("0001-01-01T00:00:30+14:00", ""),
        ("0999-05-31T10:20:30Z", "0999-05-31T10:20:30Z"),
        ("31 May 2024" + " " * 60 + "10:20:30", ""),
    ],
)
def test_what_is_believed_of_a_date(date: str, published: str) -> None:
    assert {entry.published for entry in in_forms(date)} == {published}


def test_the_time_of_a_change_is_worth_nothing() -> None:
    body = b"<urlset><url><loc>/1</loc><lastmod>2024-05-31T10:20:30Z</lastmod></url></urlset>"
    (page,) = read_answer(
        Answer("https://a.example/s", 200, 0, body=body, kind="sitemap"), "https://a.example/s", FeedHistory()
    ).feed.entries
    assert page.published_ms
    assert page.published == ""
    atom = '<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>1</id><updated>2024-05-31T10:20:30Z</updated></entry></feed>'
    (entry,) = entries(atom.encode(), "https://a.example/")
    assert (entry.published_ms, entry.published) == (None, "")


@pytest.mark.parametrize("root", ["rdf:RDF", 'rss version="2.0"'])
def test_the_date_of_an_item_of_rss_1_is_one_to_poll_by(root: str) -> None:
    """Such feeds were polled as if they had none."""
    names = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:dc="http://purl.org/dc/elements/1.1/"'
    space = ' xmlns="http://purl.org/rss/1.0/"' if root == "rdf:RDF" else ""
    item = "<item><link>/1</link><dc:date>2024-05-31T12:20:30+02:00</dc:date></item>"
    body = f"<{root} {names}{space}><channel>{item}</channel></{root.split()[0]}>"
    (entry,) = entries(body.encode(), "https://a.example/")
    assert (entry.published_ms, entry.published) == (1_717_150_830_000, "")


SECONDS = [f"Fri, 31 May 2024 10:20:{second} GMT" for second in (30, 30, 59)]


@pytest.mark.parametrize(
    ("dates", "believed"),
    [
        (SECONDS, False),
        (SECONDS[:2], True),
        ([*SECONDS, "Fri, 31 May 2024 10:21:00 GMT"], False),
        ([*SECONDS, "Fri, 31 May 2024 10:21:30 GMT"], True),
        ([*SECONDS, "31 May 2024"], False),
        ([date.replace("GMT", "EST") for date in SECONDS], False),
        (["31 May 2024"] * 3, True),
        (["Fri, 31 May 2024 00:00:00 +0200"] * 3, True),
    ],
)
def test_items_that_are_all_of_one_minute_are_dated_by_their_document(dates: list[str], believed: bool) -> None:
    items = "".join(f"<item><link>/{n}</link><pubDate>{date}</pubDate></item>" for n, date in enumerate(dates))
    rss = f'<rss version="2.0"><channel>{items}</channel></rss>'
    assert {bool(entry.published) for entry in entries(rss.encode(), "https://a.example/")} == {believed}


def dates_of_news(*dated: tuple[str, str]) -> list[str]:
    pages = "".join(
        f"<url><loc>{loc}</loc><news:news><news:publication_date>{when}</news:publication_date></news:news></url>"
        for loc, when in dated
    )
    body = f'<urlset xmlns:news="http://www.google.com/schemas/sitemap-news/0.9">{pages}</urlset>'.encode()
    asked = "https://a.example/s"
    found = read_answer(Answer(asked, 200, 0, body=body, kind="sitemap"), asked, FeedHistory()).feed.entries
    return [entry.published for entry in found]


@pytest.mark.parametrize(("second", "believed"), [(30, False), (93, True)])
def test_news_that_are_all_of_one_minute_are_dated_by_their_sitemap(second: int, believed: bool) -> None:
    when = [f"2024-05-31T10:{20 + one // 60}:{one % 60:02}Z" for one in (30, 31, second)]
    assert list(map(bool, dates_of_news(*((f"/{n}", one) for n, one in enumerate(when))))) == [believed] * 3


def test_of_two_days_of_an_address_a_sitemap_says_none() -> None:
    one, same, other = "2024-05-31T10:20:30Z", "2024-05-31T10:20:40Z", "2024-05-30T10:20:30Z"
    assert dates_of_news(("/1", one), ("/2", other), ("/1", same)) == [one, other]
    assert dates_of_news(("/1", one), ("/2", other), ("/1", other)) == ["", other]
