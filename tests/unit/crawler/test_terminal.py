"""Commands whose answer nobody can read."""

from __future__ import annotations

import argparse
import errno
import io
import os
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import TextIO
from unittest.mock import Mock

import pytest
from scrapy.settings import Settings

from crawler.actions.politeness import Politeness
from crawler.actions.seeds import Seeds
from crawler.actions.sieve import SieveTools
from crawler.console.crawl_state import Action, CrawlState
from crawler.console.terminal import waiting


class Shows(Action):
    def work(self, args: list[str], opts: argparse.Namespace) -> None:
        if args:
            raise OSError(errno.EACCES, os.strerror(errno.EACCES), args[0])
        self.show("an answer")


@pytest.fixture
def unread() -> Iterator[TextIO]:
    """A pipe whose reader has left, which says so with each line."""
    reading, writing = os.pipe()
    os.close(reading)
    pipe = os.fdopen(writing, "w", buffering=1)
    yield pipe
    os.dup2(os.open(os.devnull, os.O_WRONLY), writing)
    pipe.close()


def test_a_full_disk_is_told_in_a_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with Path("/dev/full").open("w") as full:
        monkeypatch.setattr("sys.stdout", full)
        assert Shows(Settings(), "why").perform([], argparse.Namespace()) == 1
    assert capsys.readouterr().err == "scrapy why: standard output: No space left on device\n"


@pytest.mark.parametrize("words", [["contains", "http://a.example/"], ["repair"], ["rebuild", __file__]])
def test_the_full_disk_of_a_crawl_is_not_taken_for_that_of_the_answer(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A write that fails names no file."""
    full = Mock(side_effect=OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    monkeypatch.setattr("crawler.console.crawl_state.open_sieve", lambda *_: Mock(decide=full))
    monkeypatch.setattr("crawler.actions.sieve.open_sieve", Mock())
    for name in ("rebuild", "repair"):
        monkeypatch.setattr(f"crawler.actions.sieve.{name}", full)
    (tmp_path / "state" / "sieve").mkdir(parents=True)
    state = CrawlState("x", None, tmp_path, Mock(), Mock(), Settings(), "", "")
    monkeypatch.setattr(SieveTools, "state", Mock(return_value=nullcontext(state)))
    assert SieveTools(Settings(), "sieve").perform(words, argparse.Namespace(json=False)) == 1
    assert capsys.readouterr().err == f"scrapy sieve: {tmp_path}: No space left on device\n"


@pytest.mark.parametrize("size", [1, 10_000, 100_000])
def test_an_output_of_any_size_that_fails_is_named(
    size: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    action = Shows(Settings(), "why")
    monkeypatch.setattr(action, "work", lambda *_: action.show("x" * size))
    with Path("/dev/full").open("w") as full:
        monkeypatch.setattr("sys.stdout", full)
        assert action.perform([], argparse.Namespace()) == 1
    assert capsys.readouterr().err == "scrapy why: standard output: No space left on device\n"


def test_a_closed_output_is_told_in_a_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr("sys.stdout", None)
    assert Shows(Settings(), "why").perform([], argparse.Namespace()) == 1
    assert Seeds(Settings(), "").perform(["import", str(tmp_path / "x")], argparse.Namespace(into="")) == 1
    told = capsys.readouterr().err
    assert told == "scrapy why: standard output: is closed\nstandard output: is closed\n"


class Terminal(io.StringIO):
    """A standard error that people look at."""

    def isatty(self) -> bool:
        return True


def test_what_is_waited_for_stands_on_a_terminal_as_long_as_that_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    for stream, still_there in ((Terminal(), False), (io.StringIO(), True)):
        monkeypatch.setattr("sys.stderr", stream)
        monkeypatch.setenv("TERM", "xterm")
        with waiting("waits for http://[fd00::1]"):
            pass
        assert "waits for http://[fd00::1]" in stream.getvalue()
        assert stream.getvalue().endswith("waits for http://[fd00::1]\n") == still_there
    monkeypatch.setattr("sys.stderr", None)
    with waiting("nobody to be told"):
        pass


def test_a_file_that_cannot_be_read_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert Shows(Settings(), "why").perform(["/x/y"], argparse.Namespace()) == 1
    assert capsys.readouterr().err == "scrapy why: /x/y: Permission denied\n"


def test_bytes_that_are_no_utf_8_are_shown_escaped(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    action = Shows(Settings(), "why")
    monkeypatch.setattr(action, "work", lambda *_: action.show_json({"url": os.fsdecode(b"http://a/\xff")}))
    with (tmp_path / "out").open("w", encoding="utf-8") as out:
        monkeypatch.setattr("sys.stdout", out)
        assert action.perform([], argparse.Namespace()) == 0
    assert (tmp_path / "out").read_text() == '{"url": "http://a/\\udcff"}\n'
    assert not capsys.readouterr().err


@pytest.mark.parametrize("closed", [True, False])
def test_notes_that_nobody_can_read_change_neither_the_answer_nor_its_exit_status(
    closed: bool, unread: TextIO, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Notes(Action):
        def work(self, args: list[str], opts: argparse.Namespace) -> None:
            self.note("what people should know")
            self.show("an answer")
            self.exitcode = 1

    monkeypatch.setattr("sys.stderr", None if closed else unread)
    assert Notes(Settings(), "why").perform([], argparse.Namespace()) == 1
    assert capsys.readouterr().out == "an answer\n"


def test_a_reader_that_leaves_hides_no_exit_status(
    unread: TextIO, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty.warc").touch()
    options = argparse.Namespace(host=None, json=False, delay=None, ip_delay=None, tolerance_ms=1, crawl="", seeds="")
    monkeypatch.setattr("sys.stdout", unread)
    nothing_to_check = Politeness(Settings(), "politeness").perform(["verify", str(tmp_path / "empty.warc")], options)
    assert nothing_to_check == 1

    (store := tmp_path / "state" / "sieve").mkdir(parents=True)
    (store / "0.run").touch()
    tools = SieveTools(Settings(), "sieve")
    monkeypatch.setattr(tools, "tell", Mock(side_effect=BrokenPipeError))
    with pytest.raises(BrokenPipeError):
        tools._check(Mock(folder=tmp_path), options)
    assert tools.exitcode == 1
