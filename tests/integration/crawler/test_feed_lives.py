"""What feeds do in months: they answer that nothing is new, end, move and come back; and what is said of it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from archive import Reader
from tests.integration.crawler.harness import QUICK, ROOT, environment, run, run_here, scrapy, wait_for
from tests.integration.crawler.serving import serving

ADDRESS = "127.71.0.10"
ETAG = b'"a \xe9 \xc4\x81"'
FEEDS = ("quiet", "gone", "moved", "away")
POLLED = ("/away", "/late", "/moved", "/new", "/other", "/quiet")


class Web(ThreadingHTTPServer):
    """One host; `asked` are paths with the condition asked on, in order."""

    def __init__(self) -> None:
        super().__init__((ADDRESS, 0), Handler)
        self.asked: list[tuple[str, bytes]] = []

    @property
    def home(self) -> str:
        return f"http://{ADDRESS}:{self.server_port}"

    def times(self, path: str) -> int:
        return sum(asked == path for asked, _ in self.asked)

    def has_polled_all(self, times: int) -> bool:
        return min(map(self.times, POLLED)) >= times


class Handler(BaseHTTPRequestHandler):
    """Serves what the path names; /moved is elsewhere for good once, then back, /away for good and always."""

    server: Web

    def do_GET(self) -> None:
        condition = self.headers.get("If-None-Match", "").encode("latin-1")
        back = self.server.times("/moved") > 0
        self.server.asked.append((self.path, condition))
        item = f"{self.server.home}/item/{self.path[1:]}"
        feed = f"<rss version='2.0'><channel><title>t</title><item><link>{item}</link></item></channel></rss>".encode()
        page = (
            b'<html lang=zu><p>Izindaba zanamuhla ngesiZulu.</p><a href="/late">RSS</a><a href="/other">RSS</a></html>'
        )
        if self.path == "/quiet" and condition == ETAG:
            self._send(304)
        elif self.path == "/gone":
            self._send(410)
        elif self.path == "/moved" and not back:
            self._send(301, ("Location", b"/late"))
        elif self.path == "/away":
            self._send(301, ("Location", b"/other"))
        elif self.path in POLLED:
            self._send(200, ("Content-Type", b"application/rss+xml"), ("ETag", ETAG), body=feed)
        elif self.path == "/robots.txt":
            self._send(404)
        else:
            self._send(200, ("Content-Type", b"text/html"), body=page)

    def _send(self, status: int, *headers: tuple[str, bytes], body: bytes = b"") -> None:
        self.send_response(status)
        for name, value in (*headers, ("Content-Length", b"%d" % len(body))):
            self.send_header(name, value.decode("latin-1"))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing on the terminal."""


@pytest.fixture
def web() -> Iterator[Web]:
    with Web() as server, serving(server):
        yield server


def records(folder: Path, url: str) -> list[tuple[str, str, str]]:
    """Type, date and what date it refers to of the answers of a URL, oldest first."""
    found = []
    for path in folder.glob("*.warc.xz"):
        with Reader(path, types=("response", "revisit")) as reader:
            found += [(one.date, one.type, one.field("WARC-Refers-To-Date")) for one in reader if one.url == url]
    return [(kind, date, refers) for date, kind, refers in sorted(found)]


def waiting(web: Web, seeds: Path, settings: dict[str, str]) -> list[str]:
    """What waits on the host, each as often as it does."""
    done = run_here("frontier", "peek", web.home, "--crawl", "lives", "--seeds", str(seeds), "--json", **settings)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert not [row for row in rows if "memo" in row]  # it may hold what a spider sends, passwords too
    return [row["url"] for row in rows]


def test_unchanged_ended_moved_and_named_later(web: Web, tmp_path: Path) -> None:
    head = '[crawl]\nname = "lives"\nlanguage = "zul"\ncontact = "me@a.test"\n[relevance]\npolicy = "all"\n'
    site = f'[[site]]\nurl = "{web.home}/"\n'
    seeds = tmp_path / "lives.toml"
    settings = QUICK | {"DATA_DIR": str(tmp_path / "data"), "FETCH_ALLOWED_NETWORKS": "127.71.0.10/32"}
    seeds.write_text(head + site)
    assert run("crawl", "lives", "-a", f"seeds={seeds}", **settings).returncode == 0
    assert (web.times("/late"), web.times("/other")) == (1, 1)
    urls = ", ".join(f'"{web.home}/{name}"' for name in (*FEEDS, "late", "new"))
    seeds.write_text(f"{head}{site}[[feed]]\nurl = [{urls}]\nmin_poll_s = 1\nmax_poll_s = 1\n")
    for turn in (1, 2):  # the second as a process of its own
        command = scrapy("crawl", "harvest", "-a", f"seeds={seeds}", **settings, LOG_FILE=str(tmp_path / f"log{turn}"))
        worker = subprocess.Popen(command, cwd=ROOT, env=environment())
        try:
            wait_for(partial(web.has_polled_all, 2 * turn + 1))
            worker.terminate()
            assert worker.wait(120) == 0
        finally:
            worker.kill()

    first, *later = records(tmp_path / "data" / "warc", f"{web.home}/quiet")
    assert (first[0], {(kind, refers) for kind, _, refers in later}) == ("response", {("revisit", first[1])})
    conditions = [condition for path, condition in web.asked if path == "/quiet"]
    assert (conditions[0], set(conditions[1:])) == (b"", {ETAG})
    assert "/item/moved" in [path for path, _ in web.asked], "it is polled again when it has come back"
    assert web.times("/gone") == 1
    items = {path for path, _ in web.asked if path.startswith("/item/")}
    assert {"/item/late", "/item/other"} <= items, "they were pages before they were named as feeds"
    there = [url.removeprefix(web.home) for url in waiting(web, seeds, settings)]
    assert sorted(there) == sorted([*POLLED, "/gone"]), "each once, however often the crawl is started"

    said = {}
    for name in (*FEEDS, "late", "new", ""):
        done = run_here("why", f"{web.home}/{name}", "--crawl", "lives", "--seeds", str(seeds), "--json", **settings)
        said[name] = json.loads(done.stdout)["answer"].partition("; ")[2]
    assert said["quiet"].startswith("polled again ")
    assert said["gone"].startswith("polled again "), "after weeks, once"
    assert said["late"].startswith("polled again ")
    assert said["new"].startswith("polled again ")
    assert "polled" not in said[""]
