"""A robots.txt that has moved to where nothing may be asked for: neither it is, nor anything that it may forbid."""

from __future__ import annotations

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from scrapy.settings import Settings

from crawler.addon import Ulwembu
from crawler.polite_client import BlockingFetch
from tests.integration.crawler.harness import QUICK, run
from tests.integration.crawler.serving import serving

HERE, THERE = "127.71.0.4", "127.71.0.5"


class Web(ThreadingHTTPServer):
    """One of two hosts; `asked` are (host, path) of both in order."""

    def __init__(self, host: str, port: int, asked: list[tuple[str, str]]) -> None:
        super().__init__((host, port), Handler)
        self.host, self.port, self.asked = host, self.server_address[1], asked


class Handler(BaseHTTPRequestHandler):
    """The one's robots.txt has moved to the other."""

    server: Web

    def do_GET(self) -> None:
        self.server.asked.append((self.server.host, self.path))
        moved = (self.server.host, self.path) == (HERE, "/robots.txt")
        self.send_response(301 if moved else 200)
        if moved:
            self.send_header("Location", f"http://{THERE}:{self.server.port}/%70rivate/robots.txt")
        body = b"" if "robots" in self.path else b"<html lang=zu><p>Izindaba zanamuhla ngesiZulu.</p></html>"
        self.send_header("Content-Type", "text/html" if body else "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def web() -> Iterator[Web]:
    with Web(HERE, 0, []) as here, Web(THERE, here.port, here.asked) as there, serving(here), serving(there):
        yield here


def test_it_is_held_against_the_opt_outs(web: Web, tmp_path: Path) -> None:
    out, seeds = tmp_path / "out", tmp_path / "moved.toml"
    out.write_text(f"{THERE}:{web.port}/private\n")
    sites = "".join(f'[[site]]\nurl = "http://{host}:{web.port}/"\n' for host in (HERE, THERE))
    seeds.write_text(f'[crawl]\nname = "moved"\nlanguage = "zul"\ncontact = "me@a.test"\n{sites}')
    settings = QUICK | {"FRONTIER_OPT_OUT_FILE": str(out), "DATA_DIR": str(tmp_path / "data")}
    done = run("crawl", "moved", "-a", f"seeds={seeds}", **settings)
    assert done.returncode == 0, done.stderr
    assert sorted(web.asked) == [(HERE, "/robots.txt"), (THERE, "/"), (THERE, "/robots.txt")]


def test_also_by_commands(web: Web, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.write_text(f"{THERE}:{web.port}\n")
    settings = Settings(QUICK | {"FRONTIER_OPT_OUT_FILE": str(out)})
    Ulwembu().update_settings(settings)
    with BlockingFetch(settings) as fetch:
        assert fetch(f"http://{HERE}:{web.port}/").problem == "opted_out"
    assert web.asked == [(HERE, "/robots.txt")]
