"""What has opted out is asked before each request of the commands that fetch outside any crawl."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
import redis
from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Request
from scrapy.settings import Settings
from scrapy.spiders import Spider

from crawler.addon import Ulwembu
from crawler.commands.fetch import Command
from crawler.console import by_hand
from crawler.console.opted_out import OptedOut, OptOutGuard, OptOutsUnreadError
from crawler.console.polite_client import BlockingFetch
from crawler.errors import PreflightError
from crawler.fetch.opt_outs import read_opt_outs
from crawler.preflight import settings_faults
from crawler.state.embedded_redis import EmbeddedRedis
from crawler.state.redis_link import RedisUnreachableError
from crawler.state.run_record import RunRecord, WorkerRecord
from crawler.state.state_format import ensure_format
from frontier.redis_opt_outs import RedisOptOuts

PAGE = "http://a.example/1"


def given(url: str = "", **values: Any) -> Settings:
    settings = Settings({"REDIS_URL": url, "FETCH_ALLOWED_NETWORKS": "127.0.0.1/32", **values})
    Ulwembu().update_settings(settings)
    return settings


def said(server: redis.Redis, prefix: str, crawl: str = "") -> None:
    table = RedisOptOuts(server, crawl, of_all=not crawl)
    assert table.add([prefix])


def begun(url: str, crawl: str) -> None:
    ensure_format(url, crawl)
    RunRecord(url, crawl, WorkerRecord("elsewhere", "", "")).close()


@contextmanager
def answering(answer: Callable[[str], bytes | tuple[int, dict[str, str]]]) -> Iterator[tuple[str, list[str]]]:
    """A server on loopback, and the paths that it was asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            answered = answer(self.path)
            body, (status, headers) = (answered, (200, {})) if isinstance(answered, bytes) else (b"", answered)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nothing to standard error."""

    with HTTPServer(("127.0.0.1", 0), Handler) as listening:
        thread = threading.Thread(target=listening.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.server_port}", asked
        finally:
            listening.shutdown()
            thread.join()


def test_all_crawls_the_named_one_and_else_any(server: redis.Redis, url: str) -> None:
    begun(url, "zulu")
    begun(url, "xhosa")
    with OptedOut(given(url)) as by_nobody, OptedOut(given(url), "zulu") as by_zulu, OptedOut(given(url), "new") as new:
        tables = (by_nobody, by_zulu, new)
        assert [one.note or one.against(PAGE) for one in tables] == ["", "", ""]
        said(server, "a.example/", "xhosa")  # while they are open
        assert [one.against(PAGE) for one in tables] == ["http://a.example (crawl xhosa)", "", ""]
        said(server, PAGE, "zulu")
        assert by_zulu.against(PAGE) == f"{PAGE} (crawl zulu)"
        said(server, "a.example")
        assert {one.against(PAGE) for one in tables} == {"http://a.example (all crawls of this Redis)"}
        assert by_nobody.against("http://b.example/") == ""


def test_where_the_table_cannot_be_read_nothing_is_sent(server: redis.Redis, url: str, tmp_path: Path) -> None:
    with pytest.raises(RedisUnreachableError, match="no Redis at"):
        OptedOut(given(f"unix://{tmp_path}/none"))
    with OptedOut(given(url)) as opted_out:
        server.set("{ulwembu}:optout", "no table")
        with pytest.raises(
            OptOutsUnreadError, match=r"from .*, so nothing is fetched: '\{ulwembu\}:optout' of Redis is no"
        ):
            opted_out.against(PAGE)
    server.acl_setuser("blind", enabled=True, nopass=True, commands=["+@all"], keys=["{zulu}:*"])
    with OptedOut(given(f"{url}&username=blind&password=x"), "zulu") as opted_out:
        with pytest.raises(OptOutsUnreadError, match=r"must allow its user the keys \{ulwembu\}:\*"):
            opted_out.against(PAGE)
        with (
            BlockingFetch(given(f"{url}&username=blind&password=x"), "zulu") as fetch,
            pytest.raises(OptOutsUnreadError),
        ):
            fetch(PAGE)
    server.acl_deluser("blind")


def test_without_a_redis_that_is_said_and_the_file_holds(tmp_path: Path) -> None:
    with OptedOut(given(DATA_DIR=f"{tmp_path}/{{crawl}}"), "zulu") as opted_out:
        assert opted_out.note.endswith("nor was a FRONTIER_OPT_OUT_FILE given")
        assert opted_out.against(PAGE) == ""
    (tmp_path / "out").write_text("a.example\n")
    with OptedOut(given(FRONTIER_OPT_OUT_FILE=str(tmp_path / "out"))) as opted_out:
        assert opted_out.note.endswith(f"only FRONTIER_OPT_OUT_FILE {tmp_path}/out was")
        assert opted_out.against(PAGE) == "http://a.example (FRONTIER_OPT_OUT_FILE)"


def test_the_file_is_read_once_until_somebody_writes_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As `scrapy fetch` goes by it: the command, then the worker's look at the settings, then the guard."""
    path, read, reading = tmp_path / "out", [], Path.read_text

    def noted(self: Path, encoding: str | None = None) -> str:
        read.append(self)
        return reading(self, encoding)

    monkeypatch.setattr(Path, "read_text", noted)
    path.write_text("a.example\n")
    settings = given(FRONTIER_OPT_OUT_FILE=str(path), CONTACT="me@a.test")
    command = Command()
    command.settings = settings
    command._ask_opt_outs([])
    crawler = Crawler(Spider, settings)
    assert not any("OPT_OUT" in fault for fault in settings_faults(settings, Spider))
    with pytest.raises(IgnoreRequest):
        OptOutGuard.from_crawler(crawler).process_request(Request(PAGE))
    assert read_opt_outs(path) == ("a.example",)
    assert read.count(path) == 1
    path.write_text("b.example\n")
    os.utime(path, ns=(1, 1))  # however coarse the clock is
    with OptedOut(settings) as opted_out:
        assert (opted_out.against(PAGE), opted_out.against("http://b.example/") != "") == ("", True)
    path.write_text("b.example\n*.example")
    with pytest.raises(PreflightError, match=r"out:2: .* is a pattern"):
        OptedOut(settings)


def test_what_is_written_into_the_file_holds_from_the_next_request_on(tmp_path: Path) -> None:
    """A page_downloader runs for days."""
    path = tmp_path / "out"
    path.write_text("")
    with OptedOut(given(FRONTIER_OPT_OUT_FILE=str(path))) as opted_out:
        assert opted_out.against(PAGE) == ""
        path.write_text("a.example\n")
        assert opted_out.against(PAGE)
        path.write_text("a.example\n*.example\n")
        with pytest.raises(OptOutsUnreadError, match=r"nothing is fetched: .*out:2: .* is a pattern"):
            opted_out.against(PAGE)
        path.unlink()
        with pytest.raises(OptOutsUnreadError, match="No such file"):
            opted_out.against(PAGE)


def test_the_private_redis_of_the_named_crawl_is_asked(tmp_path: Path) -> None:
    with EmbeddedRedis(tmp_path / "zulu" / "state" / "redis") as private:
        said(redis.Redis.from_url(private.url), "a.example", "zulu")
    settings = given(DATA_DIR=f"{tmp_path}/{{crawl}}")
    with OptedOut(settings, "zulu") as opted_out:
        assert (opted_out.note, opted_out.against(PAGE)) == ("", "http://a.example (crawl zulu)")
    for of_none in (OptedOut(settings, "xhosa"), OptedOut(given(DATA_DIR=f"{tmp_path}/zulu"))):
        with of_none as opted_out:
            assert opted_out.note
    with EmbeddedRedis(tmp_path / "zulu" / "state" / "redis") as private:
        redis.Redis.from_url(private.url).set("{ulwembu}:optout", "no table")
    with OptedOut(settings, "zulu") as opted_out, pytest.raises(OptOutsUnreadError, match=f"from {tmp_path}/zulu, so"):
        opted_out.against(PAGE)


def test_by_a_spider_its_private_redis_is_asked_and_of_a_fleet_all_crawls(
    server: redis.Redis, url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    class Zulu(Spider):
        name = "zulu"

    def refused(settings: Settings) -> None:
        command = Command()
        command.settings = settings
        with pytest.raises(SystemExit):
            command._ask_opt_outs([PAGE], "zulu")
        assert capsys.readouterr().err.startswith(f"{PAGE} is not fetched, it has opted out")
        crawler = Crawler(Zulu, settings)
        guard = OptOutGuard.from_crawler(crawler)
        with pytest.raises(IgnoreRequest):
            guard.process_request(Request(PAGE))
        crawler.signals.send_catch_log(signals.engine_stopped)

    with EmbeddedRedis(tmp_path / "zulu" / "state" / "redis") as private:
        said(redis.Redis.from_url(private.url), "a.example", "zulu")
        refused(given(DATA_DIR=f"{tmp_path}/{{crawl}}"))
    begun(url, "xhosa")
    said(server, "a.example", "xhosa")
    refused(given(url))


def test_what_opts_out_while_a_host_is_asked_for_its_rules_is_not_fetched(server: redis.Redis, url: str) -> None:
    def opt_out(path: str) -> bytes:
        if path == "/robots.txt":
            said(server, f"{home}/p")
        return b""

    with answering(opt_out) as (home, asked), BlockingFetch(given(url, FRONTIER_DELAY_S=0)) as fetch:
        assert fetch(f"{home}/page").problem == "opted_out"
        assert fetch(f"{home}/else").ok
    assert asked == ["/robots.txt", "/else"]


def test_a_host_that_has_opted_out_is_not_asked_for_its_rules(server: redis.Redis, url: str) -> None:
    with answering(lambda path: b"") as (home, asked), BlockingFetch(given(url, FRONTIER_DELAY_S=0)) as fetch:
        said(server, home)
        assert fetch(f"{home}/page").problem == "opted_out"
    assert asked == []


def test_the_commands_by_hand_ask_before_each_request(server: redis.Redis, url: str) -> None:
    crawler = Crawler(Spider, given(url))
    guard = OptOutGuard.from_crawler(crawler)
    guard.process_request(Request(PAGE))
    said(server, "a.example")
    for address in (PAGE, "http://a.example/robots.txt"):
        with pytest.raises(IgnoreRequest, match="opted out: http"):
            guard.process_request(Request(address))
    crawler.signals.send_catch_log(signals.engine_stopped)
    assert by_hand._SETTINGS["DOWNLOADER_MIDDLEWARES"]["crawler.console.opted_out.OptOutGuard"] == 1000


@pytest.mark.parametrize(
    "what", ["./page.html", "/tmp/page.html", "file:///etc/passwd", "FILE:///x", "ftp://a.example/"]
)
def test_of_a_file_that_is_given_a_line_says_what_may_be(what: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="1"):
        Command()._refuse_files([what])
    said_of_it = capsys.readouterr().err
    assert said_of_it == f"{what}: only an http:// or https:// address may be given, no file\n"


def test_addresses_are_no_files() -> None:
    for given_one in ("a.example/page", "HTTP://a.example", " https://a.example/"):
        Command()._refuse_files([given_one])


def test_an_address_is_asked_about_as_the_shell_takes_it(
    server: redis.Redis, url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    said(server, "a.example")
    command = Command()
    command.settings = given(url)
    for written in ("a.example/1", "HTTP://a.example/1"):
        with pytest.raises(SystemExit, match="1"):
            command._ask_opt_outs([written])
        assert capsys.readouterr().err.startswith(f"{PAGE} is not fetched, it has opted out")


def test_an_address_of_the_command_line_is_refused_in_a_line(
    server: redis.Redis,
    url: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said(server, "a.example")
    command = Command()
    command.settings = given(url)
    command._ask_opt_outs(["http://b.example/"])
    assert capsys.readouterr().err == ""
    with pytest.raises(SystemExit, match="1"):
        command._ask_opt_outs([PAGE])
    assert capsys.readouterr().err.startswith(f"{PAGE} is not fetched, it has opted out: http://a.example (all")
    command.settings = given(f"unix://{tmp_path}/none")
    with pytest.raises(SystemExit, match="1"):
        command._ask_opt_outs([PAGE])
    assert len(capsys.readouterr().err.splitlines()) == 1
    command.settings = given()
    command._ask_opt_outs([PAGE])
    assert "no Redis was asked" in capsys.readouterr().err
    monkeypatch.setattr("sys.stderr", None)
    command._ask_opt_outs([PAGE])
    assert capsys.readouterr().out == "", "it is what the page is written to"
