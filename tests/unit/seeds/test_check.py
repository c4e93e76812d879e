"""Lists from elsewhere, and looking at seeds against a web of a few pages."""

from __future__ import annotations

import errno
import gc
import lzma
import os
import threading
import tracemalloc
from pathlib import Path

import pytest

from seeds.crawl import load_crawl, parse_crawl
from seeds.crawl.model import Crawl
from seeds.errors import SeedError
from seeds.sitemaps import well_known
from seeds.survey.check import Discovery, add_to_file, check, discover, to_add
from seeds.survey.lists import Listed, ListError, import_files, read_list, to_toml
from seeds.survey.probe import Fetched, reach
from seeds.survey.sitemap_walk import walk_site
from sieve.urls import as_parsed

FEED = b'<rss version="2.0"><channel><item><link>/1</link></item><item><link>/2</link></item></channel></rss>'
PAGE = b'<html lang="zu"><link rel="alternate" type="application/rss+xml" href="/feed/"></html>'
WEB = {
    "https://a.example/": Fetched("https://a.example/", 200, PAGE, "text/html"),
    "https://a.example/feed/": Fetched("https://a.example/feed/", 200, FEED, "text/xml"),
    "https://a.example/robots.txt": Fetched("https://a.example/robots.txt", 200, b"Sitemap: /map.xml"),
    "https://b.example/": Fetched("https://www.c.example/", 200, b"<html></html>"),
    "https://d.example/": Fetched("https://d.example/", 0, problem="robots_denied"),
    "https://g.example/": Fetched("https://g.example/", 0, problem="robots_unreachable"),
    "https://e.example/": Fetched("https://e.example/", 200, b'<link href="/wp-content/a.css">'),
    "https://e.example/feed/": Fetched("https://e.example/feed/", 200, FEED),
    "https://e.example/sitemap.xml": Fetched("https://e.example/sitemap.xml", 200, b"<urlset></urlset>"),
}
HEAD = '[crawl]\nname = "x"\nlanguage = "zul"\n'


def fetch(url: str) -> Fetched:
    return WEB.get(url, Fetched(url, 404))


def test_every_seed_is_looked_at() -> None:
    sites = ", ".join(f'"https://{name}.example/"' for name in "abdgf")
    crawl = parse_crawl(
        f'{HEAD}[[site]]\nurl = [{sites}]\n[[feed]]\nurl = ["https://e.example/feed/", "https://a.example/"]\n'
        '[[sitemap]]\nurl = "https://a.example/feed/"\n'
    )
    found = [(finding.url[8:], finding.state, finding.detail) for finding in check(crawl, fetch)]
    assert found == [
        ("a.example/", "alive", "feeds not listed: https://a.example/feed/"),
        ("b.example/", "moved", "to https://www.c.example/, outside the crawl's scope"),
        ("d.example/", "blocked", "robots_denied"),
        ("g.example/", "blocked", "robots_unreachable"),
        ("f.example/", "dead", "status 404"),
        ("e.example/feed/", "alive", ""),
        ("a.example/", "wrong", "html: a page, not a feed"),
        ("a.example/feed/", "alive", ""),
    ]


def test_what_is_polled_is_alive_where_something_to_poll_is_found() -> None:
    """A page without a list of articles was called alive, and each poll of it failed."""
    links = "".join(f'<div class="teaser"><a href="/indaba/{n}/">Izindaba zanamuhla {n}</a></div>' for n in range(4))
    web = {
        "list": f"<html><body><nav><a href='/x/'>Ekhaya</a></nav>{links}</body></html>",
        "none": "<html><body><nav><a href='/x/'>Ekhaya</a></nav><script src='/app.js'></script></body></html>",
        "feed": FEED.decode(),
        "map": "<urlset><url><loc>/1</loc></url></urlset>",
    }
    urls = ", ".join(f'"https://a.example/{name}"' for name in web)
    crawl = parse_crawl(f"{HEAD}[[index]]\nurl = [{urls}]\n[[feed]]\nurl = ['https://b.example/map']\n")
    found = check(crawl, lambda url: Fetched(url, 200, web[url.rpartition("/")[2]].encode(), "text/html"))
    none = "html: no list of articles found in the page"
    assert [(finding.url.rpartition("/")[2], finding.state, finding.detail) for finding in found] == [
        ("map", "alive", ""),
        ("list", "alive", ""),
        ("none", "wrong", none),
        ("feed", "wrong", none),
        ("map", "alive", ""),
    ]


def test_what_answers_as_it_was_asked_for_has_not_moved() -> None:
    """A client asks for addresses as parsers write them."""
    crawl = parse_crawl(f'{HEAD}[[site]]\nurl = ["HTTPS://A.example#x", "https://ž.example/á"]\n')
    found = list(check(crawl, lambda url: Fetched(as_parsed(url), 200, b"<html></html>")))
    assert [finding.state for finding in found] == ["alive", "alive"]


def test_a_feed_that_is_listed_in_another_spelling_is_listed() -> None:
    crawl = parse_crawl(HEAD + '[[site]]\nurl = "https://a.example/"\n[[feed]]\nurl = "http://A.example/feed"\n')
    (found, _) = check(crawl, lambda url: Fetched(url, 200, PAGE if url == "https://a.example/" else FEED))
    assert (found.state, found.detail) == ("alive", "")


def test_discovery_of_a_site() -> None:
    found = discover("https://a.example/", fetch, lambda body, url, kind: "zul")
    assert (found.feeds, found.sitemaps, found.language) == (
        (("https://a.example/feed/", 2),),
        ("https://a.example/map.xml",),
        "zul",
    )
    guessed = discover("https://e.example/", fetch)
    assert (guessed.feeds, guessed.sitemaps) == ((("https://e.example/feed/", 2),), ("https://e.example/sitemap.xml",))
    assert discover("https://f.example/", fetch) == Discovery("https://f.example/", "dead", detail="status 404")
    assert discover("https://d.example/", fetch) == Discovery("https://d.example/", "blocked", detail="robots_denied")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("a.example", "https://a.example/"),
        ("//a.example/", "https://a.example/"),
        ("a.example/feed/", "https://a.example/feed/"),
        ("a.example:8443", "https://a.example:8443/"),
        ("[::1]/x", "https://[::1]/x"),
        ("old.example/a?b", "http://old.example/a?b"),
        ("none.example", "https://none.example/"),
        ("denied.example", "https://denied.example/"),
        *(
            (same, same)
            for same in (
                *("http://a.example", "https:/a.example", "zulu", "./zulu.toml", "mailto:me@a.example"),
                *("javascript:a.b", "a b.example"),
            )
        ),
    ],
)
def test_an_address_may_lack_its_scheme(written: str, meant: str) -> None:
    """As people write them; `discover example.org` called it dead."""
    problems = {"https://old.example/a?b": "tls", "https://none.example/": "connect", "http://none.example/": "connect"}
    problems["https://denied.example/"] = "robots_denied"
    url, answer = reach(written, lambda url: Fetched(url, 0 if url in problems else 200, problem=problems.get(url, "")))
    assert (url, answer.url) == (meant, meant)
    if not answer.problem:
        assert discover(written, lambda url: Fetched(url, 404 if url == meant else 0, problem="tls")).url == meant


def test_of_a_site_that_lacks_its_scheme_the_pages_are_told() -> None:
    """By http, where its host speaks nothing else."""

    def asked(url: str) -> Fetched:
        body = b"http://a.example/1\n" if url == "http://a.example/sitemap.txt" else b""
        return Fetched(url, 200 if body else 404, body) if url.startswith("http:") else Fetched(url, 0, problem="tls")

    assert list(walk_site("a.example", asked).pages) == ["http://a.example/1"]


def test_the_pages_of_a_site_are_told_as_they_are_found() -> None:
    """However long it takes, or is interrupted; nothing is asked for twice."""
    home, steps = "https://a.example", list[str]()
    index = "".join(f"<sitemap><loc>{home}/{n}.xml</loc></sitemap>" for n in (1, 2))
    web = {
        f"{home}/robots.txt": Fetched(f"{home}/robots.txt", 200, b"Sitemap: /index.xml\nSitemap: /index.xml\n"),
        f"{home}/index.xml": Fetched(f"{home}/index.xml", 200, f"<sitemapindex>{index}</sitemapindex>".encode()),
        f"{home}/1.xml": Fetched(f"{home}/1.xml", 200, b"<urlset><url><loc>/a</loc></url></urlset>"),
        f"{home}/2.xml": Fetched(
            f"{home}/2.xml", 200, b"<urlset><url><loc>/a</loc></url><url><loc>/b</loc></url></urlset>"
        ),
        f"{home}/wp-sitemap.xml": Fetched(f"{home}/index.xml", 200, f"<sitemapindex>{index}</sitemapindex>".encode()),
    }

    def asked(url: str) -> Fetched:
        steps.append(url.removeprefix(home))
        return web.get(url, Fetched(url, 404))

    found = walk_site(f"{home}/", asked, lambda entry: steps.append(f"page {entry.loc}"))
    assert steps[:6] == ["/robots.txt", "/index.xml", "/1.xml", f"page {home}/a", "/2.xml", f"page {home}/b"]
    assert len(set(steps)) == len(steps) == 6 + len(well_known(home))
    assert (list(found.pages), found.problems) == ([f"{home}/a", f"{home}/b"], {})


def test_of_pages_that_were_told_the_addresses_alone_are_kept() -> None:
    """Of 200,000 with eleven languages each all was, 556 MiB; now it is 130."""
    home = "https://a.example"
    other = "".join(f'<xhtml:link rel="alternate" hreflang="zu" href="{home}/{n}/"/>' for n in range(50))
    rows = "".join(f"<url><loc>{home}/{n}</loc>{other}</url>" for n in range(1000))
    body = f'<urlset xmlns:xhtml="http://www.w3.org/1999/xhtml">{rows}</urlset>'.encode()
    tracemalloc.start()
    try:
        found = walk_site(home, lambda url: Fetched(url, 200, body if url.endswith("/sitemap.xml") else b""))
        gc.collect()
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(found.pages) == 1000
    assert kept < 1_000_000


def test_what_a_sitemap_names_beyond_the_limit_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seeds.sitemaps.parsing.MAX_ENTRIES", 2)
    home, body = "https://a.example", "".join(f"https://a.example/{n}\n" for n in range(5)).encode()
    found = walk_site(home, lambda url: Fetched(url, 200, body) if url.endswith("/sitemap.txt") else Fetched(url, 404))
    assert (len(found.pages), found.problems) == (2, {f"{home}/sitemap.txt": "limit, 3 addresses left out"})


def test_adding_keeps_a_file_right(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text(HEAD + '# by hand\n[[site]]\nurl = "https://b.example/"\n', encoding="utf-8")
    addition = to_add(discover("https://a.example/", fetch), "domain")
    crawl = add_to_file(path, addition)
    assert [site.url for site in crawl.sites] == ["https://b.example/", "https://a.example/"]
    assert [feed.url for feed in load_crawl(path).feeds] == ["https://a.example/feed/"]
    assert "# by hand" in path.read_text("utf-8")
    before = path.read_text("utf-8")
    with pytest.raises(SeedError, match="listed already"):
        add_to_file(path, addition)
    assert path.read_text("utf-8") == before


def test_a_file_for_which_there_is_no_room_stays_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is replaced by what is on the disk: after a power cut it is the old one or the new one, and not empty."""

    def full(_number: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "x.toml"
    path.write_text(HEAD, encoding="utf-8")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SeedError, match="No space left"):
        add_to_file(path, '[[site]]\nurl = "https://a.example/"\n')
    assert path.read_text("utf-8") == HEAD
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_is_added_to_stays_what_it_was(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    kept, path = tmp_path / "kept" / "x.toml", tmp_path / "x.toml"
    kept.write_text(HEAD)
    kept.chmod(0o660)
    path.symlink_to("kept/x.toml")
    add_to_file(path, '[[site]]\nurl = "https://a.example/"\n')
    assert path.is_symlink()
    assert kept.stat().st_mode & 0o777 == 0o660
    assert [site.url for site in load_crawl(kept).sites] == ["https://a.example/"]
    assert [one.name for one in kept.parent.iterdir()] == ["x.toml"]


def test_a_packed_list_has_the_tag_of_the_plain_one(tmp_path: Path) -> None:
    packed = tmp_path / "cs_media.txt.xz"
    packed.write_bytes(lzma.compress(b"https://a.example/feed/\n"))
    assert import_files([packed]) == [Listed("https://a.example/feed/", "", "cs_media")]


def test_a_list_whose_name_is_no_utf_8_has_a_tag_that_a_seed_file_may_have(tmp_path: Path) -> None:
    (path := tmp_path / os.fsdecode(b"cs_\xff.txt")).write_bytes(b"https://a.example/feed/\n")
    (seeds := tmp_path / "x.toml").write_text(HEAD)
    add_to_file(seeds, to_toml(import_files([path])))
    assert load_crawl(seeds).feeds[0].tags == ("cs_\ufffd",)


def test_plain_lists_and_opml(tmp_path: Path) -> None:
    (tmp_path / "cs_media.txt").write_text(
        "# media\nhttps://a.example/feed/ # one\n\nhttps://a.example/feed/\n", "utf-8"
    )
    (tmp_path / "blogs.opml").write_text(
        '<opml version="2.0"><body><outline text="Izindaba"><outline title="A &quot;B&quot;" xmlUrl="feed://b.example/rss"/>'
        '<outline xmlUrl="https://a.example/feed/"/><outline xmlUrl="javascript:x"/></outline></body></opml>',
        "utf-8",
    )
    told: list[ListError] = []
    found = import_files([tmp_path / "cs_media.txt", tmp_path / "blogs.opml"], told.append)
    assert [str(error) for error in told] == [f"{tmp_path / 'blogs.opml'}:1: not an address: 'javascript:x'"]
    assert found == [
        Listed("https://a.example/feed/", "", "cs_media"),
        Listed("http://b.example/rss", 'A "B"', "Izindaba"),
    ]
    crawl = parse_crawl(HEAD + to_toml(found))
    assert [(feed.url, feed.tags) for feed in crawl.feeds] == [
        ("https://a.example/feed/", ("cs_media",)),
        ("http://b.example/rss", ("Izindaba",)),
    ]


def test_an_address_that_a_seed_file_may_not_have_keeps_no_other_out() -> None:
    told: list[ListError] = []
    wrong = ("https://a.example/a feed", "https://a.example:25/feed", "https:///feed")
    outlines = "".join(f'<outline xmlUrl="{url}"/>' for url in (*wrong, "https://b.example/feed"))
    found = read_list(f"<opml><body>{outlines}</body></opml>".encode(), "x.opml", told.append)
    assert [str(error) for error in told] == [f"x.opml:1: not an address: '{url}'" for url in wrong]
    assert [feed.url for feed in parse_crawl(HEAD + to_toml(found)).feeds] == ["https://b.example/feed"]


def test_of_addresses_that_are_one_seed_the_first_is_imported(tmp_path: Path) -> None:
    (path := tmp_path / "x.txt").write_text(
        "http://a.example/feed/\nhttps://www.A.example./feed\nhttp://a.example/Feed\n"
    )
    crawl = parse_crawl(HEAD + to_toml(import_files([path])))
    assert [feed.url for feed in crawl.feeds] == ["http://a.example/feed/", "http://a.example/Feed"]


def test_lists_are_read_in_the_encoding_they_are_in() -> None:
    """As Windows writes them, and under declarations of another."""
    outline = '<opml><body><outline text="Žena" xmlUrl="https://a.example/feed"/></body></opml>'
    for label, encodings in (("utf-16", ("utf-16", "utf-16-le", "utf-8", "utf-8-sig")), ("windows-1250", ("cp1250",))):
        for encoding in encodings:
            body = f"<?xml version='1.0' encoding='{label}'?>{outline}".encode(encoding)
            assert read_list(body) == [Listed("https://a.example/feed", "Žena")]
    addresses = "https://a.example/\r\nhttps://b.example/\r\n"
    for encoding in ("utf-16", "utf-8-sig"):
        assert [listed.url for listed in read_list(addresses.encode(encoding))] == addresses.split()


def test_lists_may_be_packed() -> None:
    one, two = lzma.compress(b"https://a.example/\n"), lzma.compress(b"https://b.example/\n")
    assert [listed.url for listed in read_list(one + b"\0" * 4 + two)] == ["https://a.example/", "https://b.example/"]
    with pytest.raises(ListError, match="ends before </opml>"):
        read_list(lzma.compress(b'<opml><body><outline xmlUrl="https://c.example/"/>'))


def test_no_more_is_read_of_a_list_than_it_may_have() -> None:
    told: list[ListError] = []
    assert not import_files([Path("/dev/zero")], told.append)
    assert str(told[0]).startswith("/dev/zero: more than")


def test_two_that_add_to_one_file_lose_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.toml"
    path.write_text(HEAD)
    adding = [
        threading.Thread(target=add_to_file, args=(path, f'[[site]]\nurl = "https://{name}.example/"\n'))
        for name in "ab"
    ]
    parse = parse_crawl

    def parse_while_another_begins(text: str, name: str) -> Crawl:
        if not adding[1].ident:
            adding[1].start()
            adding[1].join(0.3)  # it has all the time to finish, unless it waits
        return parse(text, name)

    monkeypatch.setattr("seeds.survey.check.parse_crawl", parse_while_another_begins)
    adding[0].start()
    adding[0].join()
    adding[1].join()
    assert sorted(site.url for site in load_crawl(path).sites) == ["https://a.example/", "https://b.example/"]


def test_what_is_added_is_quoted() -> None:
    text = to_add(Discovery('https://a.example/"\\', "alive", (('https://a.example/f"', 1),)))
    crawl = parse_crawl(HEAD + text)
    assert [seed.url for seed in crawl.seeds()] == ['https://a.example/"\\', 'https://a.example/f"']


@pytest.mark.parametrize(
    "body",
    [
        b"https://a.example/\nnot an address\n",
        b"<opml",
        b"x" * (9 << 20),
        b"https://a.example/\xff",
        b"https://a.example/\0x",
        lzma.compress(b"https://a.example/\n")[:-9],
        lzma.compress(bytes(9 << 20)),
        b"\xfd7zXZ\0junk",
    ],
)
def test_lists_that_cannot_be_read(body: bytes) -> None:
    with pytest.raises(ListError):
        read_list(body, "x.txt")


def test_what_cannot_be_read_keeps_no_other_address_out(tmp_path: Path) -> None:
    names = ("a.txt", "cut.opml", "empty.txt", "junk.txt.xz", "none.txt", "z.txt")
    for name, body in zip(
        names[:4],
        (
            b"https://a.example/\nnot an address\nhttps://b.example/\nftp://c.example/\nhttp://e.example:99999/\n",
            b'<opml><body><outline xmlUrl="https://c.example/"/><outline xmlU',
            b"# nothing\n",
            b"\xfd7zXZ\0junk",
        ),
        strict=True,
    ):
        (tmp_path / name).write_bytes(body)
    (tmp_path / "z.txt").write_bytes(b"https://d.example/\n")
    told: list[str] = []
    found = import_files([tmp_path / name for name in names], lambda error: told.append(str(error)))
    assert [listed.url for listed in found] == [f"https://{letter}.example/" for letter in "abcd"]
    assert [line.removeprefix(f"{tmp_path}/") for line in told] == [
        "a.txt:2: not an address: 'not an address'",
        "a.txt:4: not an address: 'ftp://c.example/'",
        "a.txt:5: not an address: 'http://e.example:99999/'",
        "cut.opml: OPML that ends before </opml>",
        "empty.txt: no address in it",
        "junk.txt.xz: ends within its xz stream",
        "none.txt: No such file or directory",
    ]
