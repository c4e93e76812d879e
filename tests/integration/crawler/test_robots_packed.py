"""A robots.txt that is packed and cannot be read whole: nothing is asked for that the rest of it may forbid."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from scrapy.settings import Settings

from crawler.addon import Ulwembu
from crawler.polite_client import BlockingFetch
from tests.integration.crawler.harness import QUICK, run
from tests.integration.crawler.serving import serving

RULES = b"User-agent: *\nDisallow: /secret\n" + b"# Indaba.\n" * 400 + b"Disallow: /\n"
PACKED = gzip.compress(RULES)
ANSWERS = {
    "127.71.0.6": ("gzip", PACKED[: len(PACKED) // 2]),
    "127.71.0.7": ("", PACKED),
    "127.71.0.8": ("compress", PACKED),
    "127.71.0.9": ("gzip", gzip.compress(b"User-agent: *\nDisallow: /secret\n")),
}
READ = "127.71.0.9"


class Web(ThreadingHTTPServer):
    """One host; `asked` are (host, path) of all of them."""

    def __init__(self, host: str, port: int, asked: list[tuple[str, str]]) -> None:
        super().__init__((host, port), Handler)
        self.host, self.asked = host, asked


class Handler(BaseHTTPRequestHandler):
    """Says of its host what ANSWERS has."""

    server: Web

    def do_GET(self) -> None:
        self.server.asked.append((self.server.host, self.path))
        coding, body = "", b"<html lang=zu><p>Izindaba zanamuhla ngesiZulu.</p></html>"
        if self.path == "/robots.txt":
            coding, body = ANSWERS[self.server.host]
        self.send_response(200)
        if coding:
            self.send_header("Content-Encoding", coding)
        self.send_header("Content-Type", "text/plain" if self.path == "/robots.txt" else "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def web() -> Iterator[Web]:
    with ExitStack() as running:
        servers: list[Web] = []
        for host in ANSWERS:
            port, asked = (servers[0].server_port, servers[0].asked) if servers else (0, [])
            servers.append(running.enter_context(Web(host, port, asked)))
            running.enter_context(serving(servers[-1]))
        yield servers[0]


def test_nothing_is_asked_for(web: Web, tmp_path: Path) -> None:
    seeds = tmp_path / "packed.toml"
    sites = "".join(f'[[site]]\nurl = "http://{host}:{web.server_port}/"\n' for host in ANSWERS)
    seeds.write_text(f'[crawl]\nname = "packed"\nlanguage = "zul"\ncontact = "me@a.test"\n{sites}')
    done = run("crawl", "packed", "-a", f"seeds={seeds}", **QUICK, DATA_DIR=str(tmp_path / "data"))
    assert done.returncode == 0, done.stderr
    assert sorted(web.asked) == sorted([*((host, "/robots.txt") for host in ANSWERS), (READ, "/")])


def test_nor_by_commands(web: Web) -> None:
    settings = Settings(QUICK)
    Ulwembu().update_settings(settings)
    with BlockingFetch(settings) as fetch:
        problems = {host: fetch(f"http://{host}:{web.server_port}/").problem for host in ANSWERS}
    assert {host for host, problem in problems.items() if not problem} == {READ}
    assert (READ, "/") in web.asked
    assert len(web.asked) == len(ANSWERS) + 1
