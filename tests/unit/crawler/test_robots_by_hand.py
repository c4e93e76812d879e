"""What is fetched by hand is held against robots.txt as a crawl reads it."""

from __future__ import annotations

import asyncio
import logging
from argparse import Namespace
from functools import partial
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import Mock

import pytest
from scrapy.commands import ScrapyCommand
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Request, Response
from scrapy.settings import Settings

from crawler.addon import Ulwembu
from crawler.commands.fetch import Command
from crawler.console import by_hand, politeness
from crawler.console.politeness import Known
from crawler.console.robots_by_hand import RobotsByHand
from crawler.fetch.errors import ConnectError, DnsError
from frontier.clock_line import uptime_s
from frontier.robots import LONGEST_BYTES

PAGE, RULES = "http://a.example/private/1", "http://a.example/robots.txt"
Answer = tuple[int, bytes] | Response | Exception


class Paced(RobotsByHand):
    """As of `scrapy check`."""


def guard(answers: dict[str, Answer], asked: list[str], kind: type[RobotsByHand] = RobotsByHand) -> RobotsByHand:
    """One whose engine gives these answers; the second part of a redirect is its Location."""
    settings = Settings()
    Ulwembu().update_settings(settings)

    async def download_async(request: Request) -> Response:
        await made.process_request(request)
        assert request.meta["dont_cache"], "by Scrapy's cache rules would hold for ever"
        asked.append(request.url)
        answer = answers[request.url]
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, Response):
            return answer
        headers = {"Location": answer[1]} if 300 <= answer[0] < 400 else {}
        return Response(request.url, answer[0], headers=headers, body=answer[1])

    crawler: Any = SimpleNamespace(settings=settings, engine=SimpleNamespace(download_async=download_async))
    made = kind.from_crawler(cast("Crawler", crawler))
    return made


def may(made: RobotsByHand, url: str) -> bool:
    try:
        asyncio.run(made.process_request(Request(url)))
    except IgnoreRequest:
        return False
    return True


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ((200, b""), True),
        ((200, b"User-agent: *\nDisallow: /private/\n"), False),
        ((200, b"User-agent: ulwembu\nAllow: /private/1$\n\nUser-agent: *\nDisallow: /\n"), True),
        ((404, b"User-agent: *\nDisallow: /\n"), True),
        ((403, b""), True),
        ((429, b""), False),
        ((503, b""), False),
        ((206, b""), False),
        ((301, b"mailto:me@a.example"), False),
        ((301, b"/robots.txt"), False),
    ],
)
def test_only_rules_that_were_read_allow(answer: Answer, said: bool, caplog: pytest.LogCaptureFixture) -> None:
    made = guard({RULES: answer}, [])
    with caplog.at_level(logging.WARNING):
        assert may(made, PAGE) is said
    assert ("Not fetched, " in caplog.text) is not said
    assert may(made, PAGE) is said
    assert may(made, RULES), "whoever looks at them"


@pytest.mark.parametrize(("path", "said"), [("public", True), ("private", False)])
def test_of_rules_beyond_the_limit_of_an_answer_the_begin_counts(path: str, said: bool) -> None:
    rules = b"User-agent: *\nDisallow: /private/\n" + b"#" * LONGEST_BYTES + b"\nDisallow: /\n"
    cut = Response(RULES, 200, body=rules, flags=["truncated"])
    assert may(guard({RULES: cut}, []), f"http://a.example/{path}/1") is said


def test_rules_are_read_once_and_where_they_have_moved_to() -> None:
    asked: list[str] = []
    there = "https://b.example/r.txt"
    made = guard({RULES: (301, there.encode()), there: (200, b"User-agent: *\nDisallow: /private/\n")}, asked)
    assert [may(made, url) for url in (PAGE, "http://a.example/", RULES)] == [False, True, True]
    assert asked == [RULES, there]


def test_rules_are_relied_on_for_a_day(monkeypatch: pytest.MonkeyPatch) -> None:
    """A shell may stay open for longer."""
    begun = uptime_s()
    answers: dict[str, Answer] = {RULES: (200, b"")}
    made = guard(answers, [])
    assert may(made, PAGE)
    answers[RULES] = (200, b"User-agent: *\nDisallow: /private/\n")
    for later_s, said in ((86_390, True), (86_410, False)):
        monkeypatch.setattr(politeness, "uptime_s", partial(float, begun + later_s))
        assert may(made, PAGE) is said
    answers[RULES] = (503, b"")
    monkeypatch.setattr(politeness, "uptime_s", partial(float, begun + 3 * 86_400))
    assert not may(made, "http://a.example/")


def test_where_they_have_moved_to_is_not_asked_before_its_time() -> None:
    asked: list[str] = []
    moved = Response(RULES, 302, headers={"Location": "https://b.example/r.txt", "Retry-After": "3600"})
    assert not may(guard({RULES: moved}, asked), PAGE)
    assert asked == [RULES]


@pytest.mark.parametrize(
    ("failure", "raised"),
    [
        (ConnectError("refused"), IgnoreRequest),
        (IgnoreRequest("opted out"), IgnoreRequest),
        (RuntimeError("no Redis"), RuntimeError),
    ],
)
def test_after_a_failure_nothing_is_sent_and_they_are_asked_for_again(
    failure: Exception, raised: type[Exception]
) -> None:
    answers: dict[str, Answer] = {RULES: failure}
    asked: list[str] = []
    made = guard(answers, asked)
    with pytest.raises(raised, match=str(failure)):
        asyncio.run(made.process_request(Request(PAGE)))
    answers[RULES] = (503, b"")
    assert not may(made, PAGE)
    answers[RULES] = (200, b"")
    assert may(made, PAGE)
    assert asked == [RULES] * 3


def test_where_a_pace_is_kept_what_is_ignored_of_a_robots_txt_that_was_asked_for_is_not_asked_for_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """As one that has moved to what has opted out, or that unpacks to too much."""
    monkeypatch.setattr(Paced, "known", Known())
    asked: list[str] = []
    there = "https://b.example/r.txt"
    made = guard({RULES: (301, there.encode()), there: IgnoreRequest("opted out: b.example")}, asked, Paced)
    assert [may(made, url) for url in (PAGE, "http://a.example/")] == [False] * 2
    assert asked == [RULES, there]
    assert caplog.messages == [f"Not fetched, opted out: b.example: {url}" for url in (PAGE, "http://a.example/")]


def test_what_gets_no_answer_is_a_line_and_what_is_a_fault_stays_one(caplog: pytest.LogCaptureFixture) -> None:
    """Scrapy gives of every other error a traceback, and opens no shell."""
    made = guard({}, [])
    with pytest.raises(IgnoreRequest, match="no address found"):
        made.process_exception(Request(PAGE), DnsError("no address found for a.example"))
    assert caplog.messages == [f"Not fetched, no address found for a.example: {PAGE}"]
    made.process_exception(Request(PAGE), IgnoreRequest("said already"))
    made.process_exception(Request(PAGE), RuntimeError("no Redis"))
    assert len(caplog.messages) == 1


@pytest.mark.usefixtures("own_signals")
def test_it_is_what_the_commands_go_by(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside what the project has of its own; no word of the command line takes it out."""
    name = "crawler.console.robots_by_hand.RobotsByHand"
    for passed_over in ("_refuse_settings", "_ask_opt_outs"):
        monkeypatch.setattr(by_hand.ByHand, passed_over, Mock())
    monkeypatch.setattr(ScrapyCommand, "process_options", lambda *_: None)
    command = Command()
    command.settings = Settings({"CONTACT": "me@a.test", "EXTENSIONS": {"own.Extension": 1}})
    command.settings.set("DOWNLOADER_MIDDLEWARES", {"own.Login": 543, name: None}, priority="cmdline")
    command.process_options([], Namespace(set=[], spider=None, profile=None))
    chosen = command.settings.getdict("DOWNLOADER_MIDDLEWARES")
    assert chosen["own.Login"] == 543
    assert command.settings.getdict("EXTENSIONS")["own.Extension"] == 1
    assert chosen[name] < chosen["crawler.console.opted_out.OptOutGuard"]
    assert not command.settings.getbool("ROBOTSTXT_OBEY")
