"""Crawls of sites by their sitemaps: what these name, in scope, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.crawler.harness import QUICK, run
from tests.integration.crawler.serving import Host, HostHandler, hosts

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
    done = run("frontier", "release", host, "--crawl", "maps", DATA_DIR=str(tmp_path / "data"))
    assert done.returncode == 0, done.stderr
    named = ["/1", "/2", "/gone", "/index.xml", "/moved.xml", "/pages.xml"]
    assert crawl(web, tmp_path, "sitemaps = true\n") == [*named, "/robots.txt", "/sitemap.xml"]
    assert crawl(web, tmp_path, "sitemaps = true\n") == []
