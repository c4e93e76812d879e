"""A robots.txt that has moved to where nothing may be asked for: neither it is, nor anything that it may forbid."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from scrapy.settings import Settings

from crawler.addon import Ulwembu
from crawler.console.polite_client import BlockingFetch
from crawler.records.fetch_times import fetch_times, warc_files
from frontier.audit import TOLERANCE_MS, verify_plain
from tests.integration.crawler.harness import QUICK, run
from tests.integration.crawler.serving import Host, HostHandler, hosts

HERE, THERE = "127.71.0.4", "127.71.0.5"


class Handler(HostHandler):
    """The one's robots.txt has moved to the other."""

    def asked(self) -> None:
        if (self.server.host, self.path) == (HERE, "/robots.txt"):
            self.answer(301, b"", Location=f"http://{THERE}:{self.server.port}/%70rivate/robots.txt")
        elif "robots" in self.path:
            self.answer(200, b"", Content_Type="text/plain")
        else:
            self.answer(200, b"<html lang=zu><p>Izindaba zanamuhla ngesiZulu.</p></html>", Content_Type="text/html")


class Slow(HostHandler):
    """The one's robots.txt lies as another file at the other, which has none of its own."""

    def asked(self) -> None:
        if self.path == "/robots.txt":
            elsewhere = f"http://{THERE}:{self.server.port}/rules.txt"
            self.answer(*((301, b"") if self.server.host == HERE else (404, b"")), Location=elsewhere)
        elif self.path == "/rules.txt":
            self.answer(200, b"User-agent: *\nCrawl-delay: 0.7\n", Content_Type="text/plain")
        else:
            page = b"<html lang=zu><p>Izindaba zanamuhla ngesiZulu.</p><a href=/1>1</a><a href=/2>2</a></html>"
            self.answer(200, page, Content_Type="text/html")


@pytest.fixture
def web() -> Iterator[Host]:
    with hosts(Handler, (HERE, THERE)) as first:
        yield first


def test_it_is_held_against_the_opt_outs(web: Host, tmp_path: Path) -> None:
    out, seeds = tmp_path / "out", tmp_path / "moved.toml"
    out.write_text(f"{THERE}:{web.port}/private\n")
    sites = "".join(f'[[site]]\nurl = "http://{host}:{web.port}/"\n' for host in (HERE, THERE))
    seeds.write_text(f'[crawl]\nname = "moved"\nlanguage = "zul"\ncontact = "me@a.test"\n{sites}')
    settings = QUICK | {"FRONTIER_OPT_OUT_FILE": str(out), "DATA_DIR": str(tmp_path / "data")}
    done = run("crawl", "moved", "-a", f"seeds={seeds}", **settings)
    assert done.returncode == 0, done.stderr
    assert sorted(web.asked) == [(HERE, "/robots.txt"), (THERE, "/"), (THERE, "/robots.txt")]


def test_its_crawl_delay_is_proved_by_the_archive(tmp_path: Path) -> None:
    """It holds for the pages of the host that sent there, and not for those of the other."""
    seeds = tmp_path / "moved.toml"
    with hosts(Slow, (HERE, THERE)) as web:
        sites = "".join(f'[[site]]\nurl = "http://{host}:{web.port}/"\n' for host in (HERE, THERE))
        seeds.write_text(f'[crawl]\nname = "moved"\nlanguage = "zul"\ncontact = "me@a.test"\n{sites}')
        done = run("crawl", "moved", "-a", f"seeds={seeds}", **QUICK, DATA_DIR=str(tmp_path / "data"))
    assert done.returncode == 0, done.stderr
    visits = list(fetch_times(warc_files(tmp_path / "data" / "warc"), "Ulwembu"))
    asked = {visit.host: visit.asked_ms for visit in visits if not visit.url.endswith("txt")}
    assert asked == {f"http://{HERE}:{web.port}": 700, f"http://{THERE}:{web.port}": 0}
    assert verify_plain(visits, 50, 0, TOLERANCE_MS).ok


def test_also_by_commands(web: Host, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.write_text(f"{THERE}:{web.port}\n")
    settings = Settings(QUICK | {"FRONTIER_OPT_OUT_FILE": str(out)})
    Ulwembu().update_settings(settings)
    with BlockingFetch(settings) as fetch:
        assert fetch(f"http://{HERE}:{web.port}/").problem == "opted_out"
    assert web.asked == [(HERE, "/robots.txt")]
