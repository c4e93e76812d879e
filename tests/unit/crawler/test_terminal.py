"""Commands whose answer nobody can read."""

from __future__ import annotations

import argparse
import errno
import os
from pathlib import Path

import pytest
from scrapy.settings import Settings

from crawler.actions.seeds import Seeds
from crawler.console.crawl_state import Action


class Shows(Action):
    def work(self, args: list[str], opts: argparse.Namespace) -> None:
        if args:
            raise OSError(errno.EACCES, os.strerror(errno.EACCES), args[0])
        self.show("an answer")


def test_a_full_disk_is_told_in_a_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with Path("/dev/full").open("w") as full:
        monkeypatch.setattr("sys.stdout", full)
        assert Shows(Settings(), "why").perform([], argparse.Namespace()) == 1
    assert capsys.readouterr().err == "scrapy why: standard output: No space left on device\n"


def test_a_closed_output_is_told_in_a_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr("sys.stdout", None)
    assert Shows(Settings(), "why").perform([], argparse.Namespace()) == 1
    assert Seeds(Settings(), "").perform(["import", str(tmp_path / "x")], argparse.Namespace(into="")) == 1
    told = capsys.readouterr().err
    assert told == "scrapy why: standard output: is closed\nstandard output: is closed\n"


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
