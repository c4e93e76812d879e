"""A robots.txt that is packed and cannot be read whole: nothing is asked for that the rest of it may forbid."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest
from scrapy.settings import Settings

from crawler.addon import Ulwembu
from crawler.console.polite_client import BlockingFetch
from tests.integration.crawler.harness import QUICK, run
from tests.integration.crawler.serving import Host, HostHandler, hosts

RULES = b"User-agent: *\nDisallow: /secret\n" + b"# Indaba.\n" * 400 + b"Disallow: /\n"
PACKED = gzip.compress(RULES)
ANSWERS = {
    "127.71.0.6": ("gzip", PACKED[: len(PACKED) // 2]),
    "127.71.0.7": ("", PACKED),
    "127.71.0.8": ("compress", PACKED),
    "127.71.0.9": ("gzip", gzip.compress(b"User-agent: *\nDisallow: /secret\n")),
}
READ = "127.71.0.9"


class Handler(HostHandler):
    """Says of its host what ANSWERS has."""

    def asked(self) -> None:
        if self.path == "/robots.txt":
            coding, body = ANSWERS[self.server.host]
            packed = {"Content_Encoding": coding} if coding else {}
            self.answer(200, body, Content_Type="text/plain", **packed)
        else:
            self.answer(200, b"<html lang=zu><p>Izindaba zanamuhla ngesiZulu.</p></html>", Content_Type="text/html")


@pytest.fixture
def web() -> Iterator[Host]:
    with hosts(Handler, ANSWERS) as first:
        yield first


def test_nothing_is_asked_for(web: Host, tmp_path: Path) -> None:
    seeds = tmp_path / "packed.toml"
    sites = "".join(f'[[site]]\nurl = "http://{host}:{web.port}/"\n' for host in ANSWERS)
    seeds.write_text(f'[crawl]\nname = "packed"\nlanguage = "zul"\ncontact = "me@a.test"\n{sites}')
    done = run("crawl", "packed", "-a", f"seeds={seeds}", **QUICK, DATA_DIR=str(tmp_path / "data"))
    assert done.returncode == 0, done.stderr
    assert sorted(web.asked) == sorted([*((host, "/robots.txt") for host in ANSWERS), (READ, "/")])


def test_nor_by_commands(web: Host) -> None:
    settings = Settings(QUICK)
    Ulwembu().update_settings(settings)
    with BlockingFetch(settings) as fetch:
        problems = {host: fetch(f"http://{host}:{web.port}/").problem for host in ANSWERS}
    assert {host for host, problem in problems.items() if not problem} == {READ}
    assert (READ, "/") in web.asked
    assert len(web.asked) == len(ANSWERS) + 1
