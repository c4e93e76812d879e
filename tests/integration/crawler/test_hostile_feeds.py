"""Feeds that mean harm cost a refusal with a reason, and the harvest goes on."""

from __future__ import annotations

import gzip
import json
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from crawler.state.embedded_redis import EmbeddedRedis
from tests.integration.crawler.harness import QUICK, ROOT, environment, results_of, scrapy, wait_for
from tests.integration.crawler.serving import serving

ADDRESS = "127.71.0.1"
LIMIT = 2_000_000
NO_URLS = (
    "file:///etc/passwd",
    "javascript:alert(1)",
    "http://no such.test/",
    f"http://{ADDRESS}:x/",
    "http://1.2.3.4.5/",
)
PRIVATE = ("http://10.0.0.1/a", "http://127.0.0.1:{port}/b", "http://169.254.169.254/c", "http://[::1]:{port}/d")


def rss(*links: str) -> bytes:
    items = "".join(f"<item><title>Indaba</title><link>{link}</link></item>" for link in links)
    return f'<?xml version="1.0"?><rss version="2.0"><channel><title>t</title>{items}</channel></rss>'.encode()


def laughs() -> bytes:
    entities = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    return f'<?xml version="1.0"?><!DOCTYPE rss [<!ENTITY l0 "ha">{entities}]>'.encode() + rss("/x").replace(
        b"Indaba", b"&l9;"
    )


class Web(ThreadingHTTPServer):
    """One host with a feed of each kind; `asked` counts requests by path."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__((ADDRESS, 0), Handler)
        self.asked = Counter[str]()
        self.bomb = gzip.compress(rss("/x") + bytes(200 << 20), 1)
        self.stopped = threading.Event()


class Handler(BaseHTTPRequestHandler):
    """Serves what the path names."""

    server: Web

    def do_GET(self) -> None:
        self.server.asked[self.path] += 1
        home = f"http://{ADDRESS}:{self.server.server_port}"
        private = [link.format(port=self.server.server_port) for link in PRIVATE]
        bodies = {
            "/good": rss(f"{home}/item/1", f"{home}/item/2"),
            "/laughs": laughs(),
            "/private": rss(*private, *NO_URLS, f"{home}/item/3"),
            "/charset": rss(f"{home}/item/4")
            .replace(b"1.0", b'1.0" encoding="utf-16', 1)
            .replace(b"Indaba", b"\xff\xe9"),
            "/deep": b"<rss><channel>" + b"<a>" * 100_000,
        }
        if self.path.startswith("/item/"):
            self._send(
                b"<!DOCTYPE html><html lang=zu><title>i</title><p>Umuntu ngumuntu ngabantu.</p></html>", "text/html"
            )
        elif self.path in bodies:
            self._send(bodies[self.path], "application/rss+xml")
        elif self.path == "/bomb":
            self._send(self.server.bomb, "application/rss+xml", ("Content-Encoding", "gzip"))
        elif self.path == "/large":
            self._stream(("Content-Length", str(100 << 20)), 100 << 20)
        elif self.path == "/endless":
            self._stream(("Connection", "close"), 1 << 40)
        else:
            self.send_error(404)

    def _send(self, body: bytes, kind: str, *headers: tuple[str, str]) -> None:
        self.send_response(200)
        for name, value in (("Content-Type", kind), ("Content-Length", str(len(body))), *headers):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, header: tuple[str, str], most: int) -> None:
        self.send_response(200)
        self.send_header(*header)
        self.end_headers()
        piece = rss("/x") * 200
        try:
            while most > 0 and not self.server.stopped.is_set():
                self.wfile.write(piece[:most])
                most -= len(piece)
        except OSError:
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Nothing on the terminal."""


@pytest.fixture
def web() -> Iterator[Web]:
    with Web() as server, serving(server):
        try:
            yield server
        finally:
            server.stopped.set()


FEEDS = ("laughs", "large", "endless", "bomb", "deep", "private", "charset", "good")


def test_hostile_feeds_are_refused_and_the_rest_goes_on(web: Web, tmp_path: Path) -> None:
    home = f"http://{ADDRESS}:{web.server_port}"
    listed = ", ".join(f'"{home}/{name}"' for name in FEEDS)
    seeds = tmp_path / "feeds.toml"
    seeds.write_text(
        '[crawl]\nname = "zulu"\nlanguage = "zul"\ncontact = "me@a.test"\n'
        f"[[feed]]\nurl = [{listed}]\nmin_poll_s = 2\nmax_poll_s = 2\n"
    )
    settings = QUICK | {
        "DATA_DIR": str(tmp_path / "data"),
        "FETCH_ALLOWED_NETWORKS": "127.71.0.0/16",
        "DOWNLOAD_MAXSIZE": str(LIMIT),
        "LOG_FILE": str(tmp_path / "log"),
    }
    command = scrapy("crawl", "harvest", "-a", f"seeds={seeds}", **settings)
    worker = subprocess.Popen(command, cwd=ROOT, env=environment())
    try:
        # Asked twice: what came of the first time has been reported.
        wait_for(lambda: all(web.asked[f"/{name}"] > 1 for name in FEEDS))
        wait_for(lambda: all(web.asked[f"/item/{number}"] for number in (1, 2, 3)))
        with EmbeddedRedis(tmp_path / "data" / "state" / "redis") as server:
            wait_for(lambda: results_of(server).get("robots:robots_unreachable", 0) == len(PRIVATE))
        peak_kib = int(Path(f"/proc/{worker.pid}/status").read_text().partition("VmHWM:")[2].split()[0])
        worker.terminate()
        assert worker.wait(120) == 0
    finally:
        worker.kill()

    log = (tmp_path / "log").read_text()
    assert "Traceback" not in log
    assert "/laughs: refused entity_expansion" in log
    assert "/deep: refused" in log
    (report,) = (tmp_path / "data" / "reports").glob("*.json")
    outcomes = json.loads(report.read_text())["outcomes"]
    assert outcomes["feed:too_large"] >= 3  # large, endless, bomb
    # Four private addresses; whether their robots.txt or they themselves are refused, nothing is sent.
    assert not [path for path in web.asked if path in ("/b", "/d")]
    assert outcomes["robots:robots_unreachable"] == len(PRIVATE)
    assert {f"/item/{n}" for n in (1, 2, 3)} <= set(web.asked)
    assert max(web.asked[f"/item/{n}"] for n in (1, 2, 3, 4)) == 1
    assert peak_kib < 400 * 1024
