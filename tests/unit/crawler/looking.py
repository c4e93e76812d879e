"""A crawl that some worker has begun in a real Redis, and the commands that look into it, run in this process."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from scrapy.settings import Settings
from scrapy.utils.misc import load_object

from crawler.addon import Ulwembu
from crawler.state.redis_link import RedisHome
from crawler.state.run_record import RunRecord, worker_record
from crawler.state.state_format import ensure_format
from crawler.work.opening import open_frontier
from frontier.types import Kind, Outcome, RobotsRecord
from seeds.crawl import load_crawl

TABLES = '[[site]]\nurl = "http://a.example/"\n[[feed]]\nurl = "http://b.example/feed"\n'


class Answer(NamedTuple):
    """What a command ended with, and what it said where."""

    status: int
    out: str
    err: str


class Looking:
    """Commands on the crawls of one Redis."""

    def __init__(self, url: str, capsys: pytest.CaptureFixture[str]) -> None:
        self._url = url
        self._capsys = capsys

    def __call__(self, name: str, *words: str, **values: object) -> Answer:
        """``scrapy NAME WORDS -s NAME=VALUE``."""
        command = load_object(f"crawler.commands.{name}.Command")()
        command.settings = Settings({"REDIS_URL": self._url, **values}, priority="cmdline")
        command.settings.set("SPIDER_LOADER_CLASS", "crawler.spiderloader.CrawlLoader")
        parser = argparse.ArgumentParser()
        command.add_options(parser)
        opts, args = parser.parse_known_args(words)
        self._capsys.readouterr()
        command.run(args, opts)
        return Answer(command.exitcode, *self._capsys.readouterr())


class Begun:
    """A crawl of the tests' Redis that some worker has begun."""

    def __init__(self, url: str, folder: Path, head: str = "", **values: object) -> None:
        """`values`: of settings."""
        self.seeds = folder / "x.toml"
        self.seeds.write_text(f'[crawl]\nname = "x"\nlanguage = "zul"\n{head}{TABLES}')
        settings = Settings({"REDIS_URL": url, **values})
        Ulwembu().update_settings(settings)
        ensure_format(url, "x")
        RunRecord(url, "x", worker_record(settings, folder, str(self.seeds))).close()
        self.frontier = open_frontier(settings, RedisHome(url), "x", load_crawl(self.seeds))

    def fetched(self, result: str = "ok", **more: Any) -> list[str]:
        """Lease all that can be, robots.txt first, and report it; the URLs."""
        found = []
        for lease in self.frontier.lease(99, ahead_ms=1 << 30).leases:
            robots = RobotsRecord("allow") if lease.kind is Kind.ROBOTS else None
            outcome = "ok" if robots else result
            assert self.frontier.report([Outcome(lease.token, outcome, robots=robots, **more)]) == [True]
            found.append(lease.url)
        return found
