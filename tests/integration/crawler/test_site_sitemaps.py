"""Crawls of sites by their sitemaps: what these name, in scope, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.crawler.harness import QUICK, run, run_here
from tests.integration.crawler.serving import Host, HostHandler, hosts
from tests.web.text import pool

HERE, THERE = "127.71.0.6", "127.71.0.7"
PAGE = "<html lang=zu><p>Izindaba zanamuhla ngesiZulu {}.</p>{}</html>"


class Handler(HostHandler):
    """The one's sitemaps also lead to the other."""

    def asked(self) -> None:
        there = f"http://{THERE}:{self.server.port}"
        elsewhere = {"/gone": f"{there}/landing", "/moved.xml": f"{there}/all.xml"}
        maps = {
            "/index.xml": ("sitemap", ["/index.xml", "/pages.xml", "/moved.xml", f"{there}/all.xml"]),
            "/pages.xml": ("url", ["/1", "/2", "/gone", f"{there}/1"]),
            "/all.xml": ("url", [f"{there}/2"]),
        }
        if self.path == "/robots.txt":
            self.answer(200, f"Sitemap: {there}/all.xml\nSitemap: /index.xml\n".encode(), Content_Type="text/plain")
        elif self.path in elsewhere:
            self.answer(302, b"", Location=elsewhere[self.path])
        elif self.path in maps:
            row, named = maps[self.path]
            home = f"http://{self.server.host}:{self.server.port}"
            rows = [f"<{row}><loc>{url if '//' in url else home + url}</loc></{row}>" for url in named]
            root = {"sitemap": "sitemapindex", "url": "urlset"}[row]
            self.answer(200, f"<{root}>{''.join(rows)}</{root}>".encode(), Content_Type="application/xml")
        else:
            links = "<a href=/index.xml>1</a>" if self.path == "/" else ""
            self.answer(200, PAGE.format(self.path, links).encode(), Content_Type="text/html")


@pytest.fixture
def web() -> Iterator[Host]:
    with hosts(Handler, (HERE, THERE)) as first:
        yield first


def crawl(web: Host, folder: Path, more: str) -> list[str]:
    """What was asked for of the one host; the other has not been asked for anything."""
    seeds = folder / "maps.toml"
    seeds.write_text(
        '[crawl]\nname = "maps"\nlanguage = "und"\ncontact = "me@a.test"\n[relevance]\npolicy = "all"\n'
        f'[[site]]\nurl = "http://{HERE}:{web.port}/"\n{more}'
    )
    web.asked.clear()
    done = run("crawl", "maps", "-a", f"seeds={seeds}", **QUICK, DATA_DIR=str(folder / "data"))
    assert done.returncode == 0, done.stderr
    assert {host for host, _ in web.asked} <= {HERE}
    return sorted(path for _, path in web.asked)


ALL = ["/", "/1", "/2", "/gone", "/index.xml", "/moved.xml", "/pages.xml", "/robots.txt"]


@pytest.mark.parametrize("limit", ["", "max_depth = 1\n"])
def test_what_they_name_is_fetched_once_within_the_scope(web: Host, tmp_path: Path, limit: str) -> None:
    assert crawl(web, tmp_path, "sitemaps = true\n" + limit) == ALL
    assert crawl(web, tmp_path, "sitemaps = true\n" + limit) == []


def test_they_are_read_where_they_are_wanted_later(web: Host, tmp_path: Path) -> None:
    """Though nothing of the site waits, and a link has led to one of them."""
    assert crawl(web, tmp_path, "") == ["/", "/index.xml", "/robots.txt"]
    assert crawl(web, tmp_path, "sitemaps = true\n") == ["/1", "/2", "/gone", "/index.xml", "/moved.xml", "/pages.xml"]
    assert crawl(web, tmp_path, "sitemaps = true\n") == []


def test_they_are_read_where_robots_txt_has_run_out_meanwhile(web: Host, tmp_path: Path) -> None:
    assert crawl(web, tmp_path, "") == ["/", "/index.xml", "/robots.txt"]
    host = f"http://{HERE}:{web.port}"
    done = run_here("frontier", "release", host, "--crawl", "maps", DATA_DIR=str(tmp_path / "data"))
    assert done.returncode == 0, done.stderr
    named = ["/1", "/2", "/gone", "/index.xml", "/moved.xml", "/pages.xml"]
    assert crawl(web, tmp_path, "sitemaps = true\n") == [*named, "/robots.txt", "/sitemap.xml"]
    assert crawl(web, tmp_path, "sitemaps = true\n") == []


LANGUAGES = {"en": "eng", "zu": "zul", "xh": "xho", "af": "afr", "st": "sot"}
EACH = 12
"""Pages that the sitemap names in each language but isiZulu; two thirds of its pages are versions of these alone."""


class InLanguages(HostHandler):
    """A site in five languages without a link."""

    def asked(self) -> None:
        tag, _, number = self.path[1:].partition("/")
        if self.path == "/robots.txt":
            self.answer(200, b"Sitemap: /all.xml\n", Content_Type="text/plain")
        elif self.path == "/all.xml":
            self.answer(200, self._sitemap().encode(), Content_Type="application/xml")
        elif number:
            stock = pool(LANGUAGES[tag], 7).paragraphs
            text = b"".join(b"<p>" + stock[(5 * int(number) + n) % len(stock)] for n in range(5))
            self.answer(200, b"<title>%b</title>%b" % (number.encode(), text), Content_Type="text/html; charset=utf-8")
        else:
            self.answer(200, b"<p>Welcome to all of our readers, in all languages.", Content_Type="text/html")

    def _sitemap(self) -> str:
        there = f"http://{THERE}:{self.server.port}"
        rows = []
        for number in range(1, EACH + 1):
            versions = [(tag, f"/{tag}/{number}") for tag in LANGUAGES] + [("zu", f"{there}/zu/{number}")]
            links = "".join(
                f'<x:link rel="alternate" hreflang="{tag}_ZA" href="{address}"/>' for tag, address in versions
            )
            own = [tag for tag in LANGUAGES if tag != "zu" or number % 3 == 0]
            rows += [f"<url><loc>/{tag}/{number}</loc>{links}</url>" for tag in own]
        return f'<urlset xmlns:x="http://www.w3.org/1999/xhtml">{"".join(rows)}</urlset>'


def test_of_a_site_in_five_languages_the_crawl_s_comes_first(tmp_path: Path) -> None:
    """Each page once, also where a sitemap names it as one of its own and as a version of others; nothing elsewhere."""
    with hosts(InLanguages, (HERE, THERE)) as web:
        seeds = tmp_path / "maps.toml"
        seeds.write_text(
            '[crawl]\nname = "maps"\nlanguage = "zul"\ncontact = "me@a.test"\n'
            f'[[site]]\nurl = "http://{HERE}:{web.port}/"\nsitemaps = true\n'
        )
        folder = {"DATA_DIR": str(tmp_path / "data")}
        done = run("crawl", "maps", "-a", f"seeds={seeds}", **QUICK, **folder)
        assert done.returncode == 0, done.stderr
        asked = list(web.asked)
    assert asked[0] == (HERE, "/robots.txt")
    pages = {f"/{tag}/{number}" for tag in LANGUAGES for number in range(1, EACH + 1)}
    assert sorted(asked) == sorted((HERE, path) for path in (*pages, "/", "/robots.txt", "/all.xml"))
    named = [path[1:3] for _, path in asked if path in pages]
    assert named[:EACH] == ["zu"] * EACH
    proved = run_here("politeness", "verify", "--crawl", "maps", "--json", **folder)
    assert proved.returncode == 0, proved.stdout + proved.stderr
    archive = json.loads(proved.stdout)["archive"]
    assert (archive["ok"], archive["fetches"]) == (True, len(asked))
