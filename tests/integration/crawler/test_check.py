"""``scrapy check`` runs the contracts of a project's spiders, politely, and leaves the crawl alone."""

from __future__ import annotations

import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

from tests.integration.crawler.harness import QUICK, environment, run
from tests.integration.crawler.own_projects import write_project
from tests.integration.crawler.serving import HostHandler, hosts

SPIDERS = '''
from scrapy import Spider

from crawler.fetch.handler import FetchHandler


class OwnHandler(FetchHandler):
    async def download_request(self, request):
        request.headers["X-Own"] = "yes"
        return await super().download_request(request)


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
OTHERS = '''

class Other(Spider):
    name = "other"

    def parse(self, response):
        """
        @url http://127.71.0.9:PORT/3
        """

    def parse_patient(self, response):
        """
        @url http://127.71.0.10:PORT/1
        """

    def parse_patient_two(self, response):
        """
        @url http://127.71.0.10:PORT/2
        """


class Third(Spider):
    name = "third"

    def parse_patient(self, response):
        """
        @url http://127.71.0.10:PORT/3
        """

    def parse_too_long(self, response):
        """
        @url http://127.71.0.11:PORT/1
        """

    def parse_busy(self, response):
        """
        @url http://127.71.0.12:PORT/1
        """

    def parse_busy_two(self, response):
        """
        @url http://127.71.0.12:PORT/2
        """

    def parse_unread(self, response):
        """
        @url http://127.71.0.15:PORT/1
        """

    def parse_unread_two(self, response):
        """
        @url http://127.71.0.15:PORT/2
        """

    def parse_cut(self, response):
        """
        @url http://127.71.0.16:PORT/1
        """

    def parse_cut_two(self, response):
        """
        @url http://127.71.0.16:PORT/2
        """

    def parse_refused(self, response):
        """
        @url http://127.71.0.13:PORT/1
        """

    def parse_refused_two(self, response):
        """
        @url http://127.71.0.13:PORT/2
        """

    def parse_of_one_address(self, response):
        """
        @url http://a.test:PORT/1
        """

    def parse_of_one_address_two(self, response):
        """
        @url http://b.test:PORT/2
        """
'''
DELAY_S, CRAWL_DELAY_S, ADDRESS_DELAY_S = 0.4, 1.0, 0.2
ORDINARY, PATIENT, TOO_LONG, BUSY, REFUSED, SHARED, UNREAD, CUT = (f"127.71.0.{number}" for number in range(9, 17))
RULES = {ORDINARY: "Disallow: /private", PATIENT: f"Crawl-delay: {CRAWL_DELAY_S}", TOO_LONG: "Crawl-delay: 9999"}


class Handler(HostHandler):
    """Slow pages that anybody may fetch, and one that nobody may."""

    spans: ClassVar[list[tuple[str, str, float, float]]] = []
    """Of each answer its host, its name and path, when it was begun and when it has ended."""

    def asked(self) -> None:
        begun, host = time.monotonic(), self.server.host
        time.sleep(DELAY_S)
        if host == CUT:
            self.close_connection = True
        elif host == UNREAD:
            self.answer(500, b"")
        elif self.path == "/robots.txt":
            self.answer(200, f"User-agent: *\n{RULES.get(host, '')}\n".encode())
        elif host == BUSY:
            self.answer(429, b"")
        elif host == REFUSED:
            self.answer(403, b"", Retry_After="3600")
        else:
            own = f"<p>{self.headers.get('X-Own')}</p>"
            self.answer(200, own.encode(), Content_Type="text/html")
        self.spans.append((host, str(self.headers["Host"]) + self.path, begun, time.monotonic()))


def check(project: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    settings = QUICK | {"FRONTIER_DELAY_S": str(DELAY_S)} | more
    given = [word for name, value in settings.items() for word in ("-s", f"{name}={value}")]
    return subprocess.run(
        [sys.executable, "-m", "scrapy", "check", *words, *given],
        cwd=project,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_contracts_are_run(tmp_path: Path) -> None:
    with hosts(Handler, [ORDINARY]) as web:
        project = write_project(tmp_path, SPIDERS, web.port)
        listed = check(project, "-l", CONTACT="")
        assert (listed.returncode, listed.stderr) == (0, ""), "nobody is asked for anything"
        assert listed.stdout == "own\n  * parse\n  * parse_denied\n  * parse_two\n"
        done = check(project)
    assert done.returncode == 1
    assert "FAIL: [own] parse_two" in done.stderr
    assert "Ran 2 contracts" in done.stderr
    assert "FAILED (failures=1, errors=1)" in done.stderr, "what robots.txt denies is not fetched"
    assert sorted(path for _, path in web.asked) == ["/1", "/2", "/robots.txt"]
    assert not (project / "data").exists()


def gaps(spans: list[tuple[str, str, float, float]]) -> list[float]:
    """From the end of each answer to the next request."""
    return [begun - ended for (*_, ended), (*_, begun, _) in pairwise(sorted(spans, key=lambda span: span[2]))]


def test_hosts_are_asked_at_the_pace_of_a_crawl_whatever_the_spiders(tmp_path: Path) -> None:
    """By the log of the servers themselves."""
    Handler.spans.clear()
    names = tmp_path / "hosts"
    names.write_text(f"{SHARED} a.test\n{SHARED} b.test\n")
    with hosts(Handler, [ORDINARY, PATIENT, TOO_LONG, BUSY, REFUSED, SHARED, UNREAD, CUT]) as web:
        project = write_project(tmp_path, SPIDERS + OTHERS, web.port)
        handlers = '{"http": "own.OwnHandler"}'
        more = {"FETCH_HOSTS_FILE": str(names), "FRONTIER_IP_DELAY_S": str(ADDRESS_DELAY_S)}
        done = check(project, "own", "other", "third", DOWNLOAD_HANDLERS=handlers, **more)
    for host, delay_s, number, names_of_it in (
        (ORDINARY, DELAY_S, 3, 1),
        (PATIENT, CRAWL_DELAY_S, 3, 1),
        (SHARED, ADDRESS_DELAY_S, 2, 2),
    ):
        spans = [span for span in Handler.spans if span[0] == host]
        pages = [place for _, place, *_ in spans if not place.endswith("/robots.txt")]
        assert len(pages) == number
        assert len(spans) == number + names_of_it, "each name's robots.txt is read once, whatever the spiders"
        assert min(gaps(spans)) >= delay_s
    asked = [path for host, path in web.asked if host == TOO_LONG]
    assert asked == ["/robots.txt"]
    for host in (UNREAD, CUT):
        assert [path for at, path in web.asked if at == host] == ["/robots.txt"]
    for host in (BUSY, REFUSED):
        assert len([path for at, path in web.asked if at == host]) == 2, "robots.txt and one page"
    for said in ("FRONTIER_MAX_CRAWL_DELAY_S", "answered 429 and is not asked again", "answered 403 and is not"):
        assert said in done.stderr
    assert done.returncode == 1


def test_a_spider_whose_own_settings_cannot_be_used_is_named(tmp_path: Path) -> None:
    """Scrapy would say OK, having run none of its contracts."""
    wrong = '\n\nclass Wrong(Own):\n    name = "wrong"\n    custom_settings = {"FRONTIER_AUDIT": "maybe"}\n'
    project = write_project(tmp_path, SPIDERS + wrong, 1)
    said = "spider wrong: setting FRONTIER_AUDIT='maybe' "
    for words in ([], ["wrong"]):
        done = check(project, *words)
        assert done.returncode == 1
        assert done.stderr.startswith(said)
        assert len(done.stderr.splitlines()) == 1


def test_what_opts_out_while_it_waits_for_its_turn_is_not_asked(tmp_path: Path) -> None:
    opted_out = tmp_path / "opted-out"
    opted_out.write_text("")

    class OptsOut(Handler):
        def asked(self) -> None:
            if self.path != "/robots.txt":
                opted_out.write_text(f"{ORDINARY}:{self.server.port}\n")
            super().asked()

    with hosts(OptsOut, [ORDINARY]) as web:
        done = check(write_project(tmp_path, SPIDERS, web.port), FRONTIER_OPT_OUT_FILE=str(opted_out))
    assert len(web.asked) == 2, "robots.txt and one page"
    assert f"{ORDINARY}:{web.port} (FRONTIER_OPT_OUT_FILE) has opted out" in done.stderr


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
