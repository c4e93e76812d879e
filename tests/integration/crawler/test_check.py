"""``scrapy check`` runs the contracts of a project's spiders, politely, and leaves the crawl alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.integration.crawler.harness import QUICK, environment, run
from tests.integration.crawler.own_projects import write_project
from tests.integration.crawler.serving import HostHandler, hosts

SPIDERS = '''
from scrapy import Spider


class Own(Spider):
    name = "own"

    def parse(self, response):
        """
        @url http://127.71.0.9:PORT/1
        @returns items 1 1
        """
        yield {"url": response.url}

    def parse_two(self, response):
        """
        @url http://127.71.0.9:PORT/2
        @returns items 2 2
        """
        yield {"url": response.url}

    def parse_denied(self, response):
        """
        @url http://127.71.0.9:PORT/private
        @returns items 1 1
        """
        yield {"url": response.url}
'''
DELAY_S = 0.3


class Handler(HostHandler):
    """Some pages that anybody may fetch, and one that nobody may."""

    def asked(self) -> None:
        rules = b"User-agent: *\nDisallow: /private\n"
        self.answer(200, rules if self.path == "/robots.txt" else b"<p>Izindaba.</p>", Content_Type="text/html")


def test_contracts_are_run(tmp_path: Path) -> None:
    settings = QUICK | {"FRONTIER_DELAY_S": str(DELAY_S)}
    words = [word for name, value in settings.items() for word in ("-s", f"{name}={value}")]
    with hosts(Handler, ["127.71.0.9"]) as web:
        project = write_project(tmp_path, SPIDERS, web.port)
        done = subprocess.run(
            [sys.executable, "-m", "scrapy", "check", *words],
            cwd=project,
            env=environment(),
            capture_output=True,
            text=True,
            timeout=120,
        )
    assert done.returncode == 1
    assert "FAIL: [own] parse_two" in done.stderr
    assert "Ran 2 contracts" in done.stderr
    assert "FAILED (failures=1, errors=1)" in done.stderr, "what robots.txt denies is not fetched"
    assert sorted(path for _, path in web.asked) == ["/1", "/2", "/robots.txt"]
    assert float(done.stderr.partition("Ran 2 contracts in ")[2].partition("s")[0]) >= 2 * DELAY_S
    assert not (project / "data").exists()


def test_crawls_without_code_have_none_and_what_there_is_not_is_a_line() -> None:
    done = run("check", CONTACT="me@a.test")
    assert done.returncode == 0
    assert "Ran 0 contracts" in done.stderr
    for words, settings, said in (
        (["nosuch"], {}, "no crawl named 'nosuch'"),
        ([], {"SPIDER_CONTRACTS": '{"no.such.Contract": 1}'}, "SPIDER_CONTRACTS: there is no class 'no.such.Contract'"),
    ):
        done = run("check", *words, CONTACT="me@a.test", **settings)
        assert done.returncode == 1
        assert done.stderr.startswith(said)
        assert len(done.stderr.splitlines()) == 1
