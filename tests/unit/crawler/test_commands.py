"""Commands are light, and explain the words that they print."""

from __future__ import annotations

import argparse
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from scrapy import Spider
from scrapy.commands.crawl import Command as ScrapyCrawl
from scrapy.exceptions import UsageError
from scrapy.settings import Settings
from scrapy.utils.misc import load_object

import frontier.traps
from crawler.actions.seeds import Seeds
from crawler.actions.sieve import _known
from crawler.collector import link_collector
from crawler.commands.crawl import Command as Crawl
from crawler.commands.frontier import Command
from crawler.commands.politeness import Command as Politeness
from crawler.console.crawl_state import Action
from crawler.console.terminal import INTERRUPTED, clock, host_words
from crawler.console.terms import COLUMNS, COUNTS, WORDS, meaning
from frontier import Candidate, FrontierConfig, MemoryFrontier
from frontier.errors import FrontierUnavailable
from frontier.outcomes import OUTCOMES
from sieve.errors import LinkError

LIGHT = re.compile(r"crawler(\.(errors|commands\.?.*|console(\.(by_hand|crawl_command|given_settings|terms))?))?")
HEAVY = {"archive", "corpus", "frontier", "relevance", "seeds", "sieve", "numpy", "redis", "rich"}


def test_scrapy_does_not_import_the_crawler_to_list_its_commands() -> None:
    code = (
        "import sys; from scrapy.utils.misc import walk_modules_iter\n"
        "found = list(walk_modules_iter('crawler.commands')); print(*sys.modules)"
    )
    loaded = loaded_by(code)
    assert "crawler.commands.why" in loaded
    assert [name for name in loaded if name.partition(".")[0] == "crawler" and not LIGHT.fullmatch(name)] == []
    assert HEAVY.intersection(loaded) == set()


@pytest.mark.parametrize("name", ["frontier", "harvest", "politeness", "sieve", "why"])
def test_each_command_that_looks_at_a_crawl_names_what_it_does(name: str) -> None:
    action = load_object(f"crawler.commands.{name}.Command").action
    assert issubclass(load_object(action), Action)


@pytest.mark.parametrize("error", [LinkError("connection refused"), FrontierUnavailable("zulu", "connection refused")])
def test_a_redis_that_goes_away_under_a_command_is_one_line(
    error: Exception, capsys: pytest.CaptureFixture[str]
) -> None:
    class Failing(Action):
        def work(self, args: list[str], opts: argparse.Namespace) -> None:
            raise error

    assert Failing(Settings(), "why").perform([], argparse.Namespace()) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("scrapy why: ")
    assert "connection refused" in line


def test_who_looks_at_a_crawl_needs_no_models_and_no_kind_of_sieve() -> None:
    loaded = loaded_by("import sys, crawler.actions.frontier; print(*sys.modules)")
    assert "crawler.console.crawl_state" in loaded
    assert {"relevance", "numpy", "crawler.preflight", "sieve.kinds", "sieve.fleet.redis_sieve"}.intersection(
        loaded
    ) == set()


def loaded_by(code: str) -> list[str]:
    """What it prints, in a process of its own."""
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.usefixtures("own_signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("place", ["preparing", "prepared", "starting"])
def test_a_crawl_that_is_stopped_before_it_begins_ends_well(
    number: signal.Signals, place: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    timers: list[float] = []
    left, at_exit = Mock(side_effect=lambda *_: timers.append(signal.getitimer(signal.ITIMER_REAL)[0])), list[Any]()

    def stop(where: str) -> None:
        if where == place:
            assert signal.getsignal(number) != signal.SIG_DFL, "it would end this very process"
            signal.raise_signal(number)

    def prepare(settings: Settings, name: str, arguments: object, held: Any) -> type[Spider]:
        held.callback(left)
        stop("preparing")
        return Spider

    monkeypatch.setattr(ScrapyCrawl, "process_options", lambda *_: None)
    monkeypatch.setattr("crawler.actions.crawl.prepare", prepare)
    monkeypatch.setattr("atexit.register", at_exit.append)
    command, options = Crawl(), argparse.Namespace(spargs={}, set=[], profile=None)
    command.settings = Settings()
    monkeypatch.setattr(command, "crawler_process", Mock(create_crawler=lambda _: stop("starting")))

    def execute() -> None:
        command.process_options(["zulu"], options)
        stop("prepared")
        command.run(["zulu"], options)

    # Scrapy catches nothing between the two; and a KeyboardInterrupt amid an import would end Python all the same.
    with pytest.raises(SystemExit) as ended:
        execute()
    assert ended.value.code == 0
    assert capsys.readouterr().err == "scrapy crawl zulu: interrupted before it began\n"
    for call in reversed(at_exit):
        call()
    assert left.called, "its private Redis is ended, too"
    assert timers == [0.0], "and nothing is raised amid that"


def test_every_outcome_and_trap_has_a_meaning() -> None:
    rules = set(re.findall(r'"(trap_\w+)"', Path(frontier.traps.__file__).read_text(encoding="utf-8")))
    assert len(rules) > 3
    assert {name for name in OUTCOMES if not name.startswith("requisite:")} | rules <= set(WORDS)
    assert all(map(meaning, OUTCOMES))
    assert meaning("requisite:http_404") == "what a kept page embeds: no such page"
    assert meaning("robots:http_5xx") == "robots.txt: error of the server"
    assert meaning("dropped:trap_depth") == "not even parked: too many links from a seed"
    assert meaning("gave_up:own") == "given up, last: own"
    assert meaning("own") == ""


def test_help_has_a_line_for_each_word(capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser(description="one two " * 30)
    command = Command()
    command.settings = Settings()
    command.add_options(parser)
    parser.print_help()
    told = capsys.readouterr().out
    for word, said in {**COUNTS, **COLUMNS, **WORDS}.items():
        assert re.search(rf"^  {word} +{re.escape(said)}$", told, re.MULTILINE), word
    assert "one two " * 30 not in told


@pytest.mark.parametrize(("typed", "said"), [(["stauts"], ", not 'stauts'"), (["pause"], ", not 'pause'"), ([], "")])
def test_a_word_that_there_is_not_is_named(typed: list[str], said: str) -> None:
    command = Command()
    command.settings = Settings()
    parser = argparse.ArgumentParser()
    command.add_options(parser)
    with pytest.raises(UsageError, match=rf"^what stands above is wanted{said}; scrapy frontier --help explains it$"):
        command.run(typed, parser.parse_args([]))


@pytest.mark.parametrize("typed", ["nan", "inf", "-1", "-inf", "1e300", "soon"])
@pytest.mark.parametrize(
    ("option", "wanted"),
    [
        ("--delay", "number of seconds"),
        ("--ip-delay", "number of seconds"),
        ("--tolerance-ms", "whole number of milliseconds"),
    ],
)
def test_a_time_that_is_none_is_refused(
    option: str, wanted: str, typed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    parser = argparse.ArgumentParser()
    command = Politeness()
    command.settings = Settings()
    command.add_options(parser)
    with pytest.raises(SystemExit, match="2"):
        parser.parse_args(["verify", f"{option}={typed}"])
    assert f"argument {option}: {typed} is no {wanted} from 0 on" in capsys.readouterr().err


def test_a_host_rests_until_the_last_of_what_holds_it_back() -> None:
    held: Any = {
        "rest_ms": 5000,
        "rest_reason": "connect",
        "robots_gate_ms": 9000,
        "robots_gate_reason": "robots_unreachable",
    }
    row: Any = Mock(paused=False, leased_token="", queued=1, **held)
    assert host_words(row, 1000) == f"rests (connect, robots_unreachable) until {clock(9000)}"
    assert host_words(row, 5000) == f"rests (robots_unreachable) until {clock(9000)}"
    assert host_words(row, 9000) == "waits"


def test_who_interrupts_a_look_at_seeds_or_a_collection_gets_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    interrupted = Mock(side_effect=KeyboardInterrupt)
    monkeypatch.setattr("crawler.actions.seeds.load_crawl", interrupted)
    monkeypatch.setattr("crawler.collector._addresses", interrupted)
    assert Seeds(Settings(), "").perform(["check", "zulu.toml"], argparse.Namespace()) == INTERRUPTED
    assert link_collector(["--contact", "https://example.org/us"]) == INTERRUPTED
    assert capsys.readouterr().err.splitlines()[-1] == "-ERR interrupted"


def test_a_sieve_is_rebuilt_from_what_waits_in_the_frontier_each_url_once() -> None:
    frontier = MemoryFrontier(FrontierConfig(obey_robots=False))
    frontier.take_in([Candidate(f"https://a.example/{n}", not_before_ms=n // 3 << 47) for n in range(1, 4)])
    assert len(frontier.lease(1).leases) == 1, "whose worker is killed"
    found = list(_known(Mock(frontier=frontier), [], []))
    assert found == ["https://a.example/1", "https://a.example/2", "https://a.example/3"]


def test_of_a_host_with_nothing_but_parked_urls_it_is_said_until_when() -> None:
    known = MemoryFrontier(FrontierConfig(obey_robots=False), lambda: 1000)
    known.take_in([Candidate("https://a.example/", not_before_ms=9000)])
    row = known.host("https://a.example")
    assert row is not None
    assert host_words(row, 1000) == f"parked until {clock(9000)}"
    assert host_words(row, 9000) == ""


def test_what_is_imported_is_left_out_where_it_is_listed_however_it_is_spelled(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A feed may have the address of a site: only as one and as the other it stands there once."""
    (crawl := tmp_path / "x.toml").write_text(
        '[crawl]\nname = "x"\nlanguage = "zul"\n[[site]]\nurl = "http://a.example/"\n[[index]]\nurl = "http://a.example/"\n'
        '[[feed]]\nurl = "http://b.example/feed"\n[[site]]\nurl = "http://c.example/"\n'
    )
    (listing := tmp_path / "l.txt").write_text("https://www.A.example\nhttps://b.example/feed/\nhttps://C.example\n")
    for table, added in (("feed", ["https://C.example"]), ("site", ["https://b.example/feed/"])):
        before = len(crawl.read_text())
        opts = argparse.Namespace(into=str(crawl), table=table)
        assert Seeds(Settings(), "").perform(["import", str(listing)], opts) == 0
        assert capsys.readouterr().out == f"{crawl}: 1 added, 2 there already\n"
        assert re.findall(r'"(http.*)",', crawl.read_text()[before:]) == added
