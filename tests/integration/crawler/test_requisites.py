"""Crawls that take what kept pages embed along: once, politely, into the archive, and not as pages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from archive import Reader
from archive.messages.fields import pairs_of
from tests.integration.crawler.harness import QUICK, run, run_here
from tests.integration.crawler.serving import Host, HostHandler, hosts

HERE, THERE = "127.71.0.6", "127.71.0.7"
TEXT = (
    "<p>Izindaba zanamuhla ngesiZulu zifundwa ngabantu abaningi ezweni lonke, futhi ziyathandwa kakhulu impela. {}</p>"
)
ENGLISH = "<p>These are the news of today for all of our readers who do not read another language than English. {}</p>"
EMBEDDED = (
    '<link rel=stylesheet href="/a.css"><img src="/a.png"><img src="/old.png">'
    '<img src="/no/a.png"><img src="/gone.png">'
    '<script src="//{there}/a.js"></script><a href="/">1</a><a href="/second">2</a><a href="/english">3</a>'
)
PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(60)


class Handler(HostHandler):
    """Two pages in isiZulu that embed the same, one in English with a picture of its own."""

    def asked(self) -> None:
        there = f"{THERE}:{self.server.port}"
        page = EMBEDDED.format(there=there)
        pages = {
            "/": TEXT.format("Ekuqaleni.") + page,
            "/second": TEXT.format("Okwesibili.") + page + f'<img src="//{there}/b.png">',
            "/english": ENGLISH.format("") + '<img src="/english.png">',
            "/hidden": "<meta name=robots content=noimageindex>" + TEXT.format("Okufihliwe.") + '<img src="/h.png">',
        }
        if self.path == "/robots.txt":
            self.answer(200, b"User-agent: *\nDisallow: /no/\n", Content_Type="text/plain")
        elif self.path in pages:
            html = f"<html lang=zu><title>{self.path}</title>{pages[self.path]}<a href=/hidden>4</a></html>"
            self.answer(200, html.encode(), Content_Type="text/html")
        elif self.path == "/a.css":
            self.answer(200, b"@import 'b.css'; a { background: url(c.png) }", Content_Type="text/css")
        elif self.path == "/b.css":
            self.answer(200, b"@import 'a.css'; @font-face { src: url(/a.woff) }", Content_Type="text/css")
        elif self.path == "/old.png":
            self.answer(301, b"", Location=f"http://{there}/new.png")
        elif self.path == "/gone.png":
            self.answer(404, b"", Content_Type="text/plain")
        else:
            # Whatever it says that it is.
            self.answer(
                200, PICTURE + self.path.encode(), Content_Type="text/html" if "c." in self.path else "image/png"
            )


@pytest.fixture
def web() -> Iterator[Host]:
    with hosts(Handler, (HERE, THERE)) as first:
        yield first


PAGES = {"/", "/second", "/english", "/hidden"}
OWN = {"/a.css", "/b.css", "/a.png", "/old.png", "/gone.png", "/c.png", "/a.woff"}
ELSEWHERE = {"/a.js", "/b.png", "/new.png"}


def crawl(web: Host, folder: Path, more: str, **settings: str) -> list[tuple[str, str]]:
    """What was asked for, without robots.txt."""
    seeds = folder / "seen.toml"
    seeds.write_text(
        f'[crawl]\nname = "seen"\nlanguage = "zul"\ncontact = "me@a.test"\n{more}\n'
        f'[[site]]\nurl = "http://{HERE}:{web.port}/"\n'
    )
    web.asked.clear()
    done = run("crawl", "seen", "-a", f"seeds={seeds}", **QUICK, DATA_DIR=str(folder / "data"), **settings)
    assert done.returncode == 0, done.stderr
    return sorted((host, path) for host, path in web.asked if path != "/robots.txt")


def test_none_unless_they_are_wanted(web: Host, tmp_path: Path) -> None:
    assert crawl(web, tmp_path, "") == sorted((HERE, path) for path in PAGES)


def test_each_once_wherever_it_lies_but_not_where_robots_txt_forbids(web: Host, tmp_path: Path) -> None:
    asked = crawl(web, tmp_path, "page_requisites = true", WARC_KEEP="kept")
    assert asked == sorted([*((HERE, path) for path in PAGES | OWN), *((THERE, path) for path in ELSEWHERE)])

    told, archived = {}, set()
    for path in (tmp_path / "data" / "warc").glob("*.warc.xz"):
        for record in Reader(path):
            place = record.url.removeprefix("http://").partition(":")[0], "/" + record.url.split("/", 3)[-1]
            if record.type == "metadata" and place[1] != "/robots.txt":
                told[place] = pairs_of(record.block())
            elif record.type in ("response", "revisit"):
                archived.add(place)
    assert {place for place, said in told.items() if said["kind"] == "requisite"} == {
        *((HERE, path) for path in OWN),
        *((THERE, path) for path in ELSEWHERE),
    }
    assert (HERE, "/english") not in archived  # only what is kept
    assert told[HERE, "/c.png"]["source"] == f"http://{HERE}:{web.port}/a.css"
    assert "verdict" not in told[HERE, "/c.png"]

    folder = {"DATA_DIR": str(tmp_path / "data")}
    status = json.loads(run_here("frontier", "status", "--crawl", "seen", "--json", **folder).stdout)
    assert {name: number for name, number in status["results"].items() if name.startswith("requisite")} == {
        "requisite": len(OWN | ELSEWHERE) - 2, "requisite:redirect": 1, "requisite:http_404": 1,
    }  # fmt: skip
    assert status["pages"] == len(PAGES)
    why = run_here("why", f"http://{HERE}:{web.port}/a.png", "--crawl", "seen", **folder)
    assert "a page embeds it" in why.stdout
    proved = run_here("politeness", "verify", "--crawl", "seen", **folder)
    assert proved.returncode == 0, proved.stdout + proved.stderr


def test_within_the_scope_only_of_a_whitelist_only(web: Host, tmp_path: Path) -> None:
    asked = crawl(web, tmp_path, "page_requisites = true\nwhitelist_only = true")
    assert asked == sorted((HERE, path) for path in PAGES | OWN)
