"""Whoever asks a command for help is shown how it is typed."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import pytest
from scrapy.commands import ScrapyCommand
from scrapy.utils.misc import walk_modules_iter

import archive.cli
import corpus.cli
import relevance.arguments
import tests.web.cli
from crawler import collector

TOPS = {
    "archive": archive.cli.parser,
    "corpus": corpus.cli.parser,
    "relevance": relevance.arguments.parser,
    "tests.web": tests.web.cli.parser,
}


def named(top: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for action in top._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.items()


@pytest.mark.parametrize("room", TOPS)
def test_each_command_of_a_room_has_an_example(room: str) -> None:
    commands = dict(named(TOPS[room]()))
    assert len(commands) >= 3
    for name, command in commands.items():
        assert f"python -m {room} {name} " in command.format_help().partition("example")[2], name


@pytest.mark.parametrize("room", ["archive", "corpus", "relevance"])
def test_each_argument_is_explained_and_is_called_the_same_everywhere(room: str) -> None:
    short = {"--output": "-o", "--quiet": "-q"}
    for name, command in named(TOPS[room]()):
        for action in command._actions:
            assert action.help, (name, action.dest)
            assert all(short[long] in action.option_strings for long in short if long in action.option_strings)
            assert "--out" not in action.option_strings, name


def test_each_command_of_scrapy_has_an_example() -> None:
    found = [module.Command() for module in walk_modules_iter("crawler.commands") if hasattr(module, "Command")]
    assert len(found) >= 10
    for command in found:
        assert isinstance(command, ScrapyCommand)
        name = type(command).__module__.rpartition(".")[2]
        assert f"scrapy {name} " in command.long_desc().partition("xample")[2], name


@pytest.mark.parametrize("name", ["links", "pages"])
def test_each_command_of_the_collector_has_an_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        collector.main([name, "--help"])
    assert f"python -m crawler.collector {name} -i" in capsys.readouterr().out
