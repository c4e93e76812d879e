"""What the commands that look into a crawl share: which crawl, its Redis, its tables on the terminal."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from scrapy import Spider
from scrapy.settings import BaseSettings, Settings
from scrapy.spiderloader import get_spider_loader

from crawler.addon import Ulwembu
from crawler.console.terminal import reader_may_leave
from crawler.errors import PreflightError
from crawler.preflight import data_folder, find_spider
from crawler.records.captures import url_of_source
from crawler.records.provenance import SOURCE_SLOTS, Sources
from crawler.state.redis_link import RedisHome, RedisUnreachableError, client, redis_home
from crawler.state.shared_table import SharedTable
from crawler.state.state_format import ensure_format
from crawler.work.stores import open_frontier, open_sieve
from frontier.errors import FrontierError
from frontier.redis_frontier import RedisFrontier
from seeds.crawl import Crawl
from seeds.errors import SeedsError
from sieve.errors import SieveError

_WIDTH_IN_FILES = 1000
_INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class CrawlState:
    """One crawl as a command sees it."""

    name: str
    spec: Crawl | None
    folder: Path
    home: RedisHome
    frontier: RedisFrontier
    settings: BaseSettings

    def admitted(self, url: str) -> bool | None:
        """Whether the sieve has admitted a URL equal to `url`; None while a worker holds the table of seen URLs."""
        sieve = open_sieve(self.settings, self.home, self.name, self.folder)
        with contextlib.suppress(SieveError), contextlib.closing(sieve):
            sieve.decide()
            return sieve.contains(url) if sieve.holds else None
        return None

    def url_of(self, source: str) -> str:
        """The URL of a source: as the fleet remembers it, else as the archive has it, else ""."""
        with contextlib.closing(SharedTable(client(self.home.url), self.name, "sources", SOURCE_SLOTS)) as known:
            return Sources(known).urls([source]).get(source) or url_of_source(self.folder / "warc", source)


class Action:
    """Base of what commands do with one crawl's shared state; `settings`: the project's and the command line's."""

    def __init__(self, settings: Settings, command: str) -> None:
        self.settings = settings
        self.exitcode = 0
        self._command = command

    def perform(self, args: list[str], opts: argparse.Namespace) -> int:
        """Do it; the exit status. UsageError."""
        try:
            with reader_may_leave():
                self.work(args, opts)
        except (PreflightError, SeedsError, RedisUnreachableError, FrontierError) as error:
            print(f"scrapy {self._command}: {error}", file=sys.stderr)
            self.exitcode = 1
        except KeyboardInterrupt:
            print(f"scrapy {self._command}: interrupted", file=sys.stderr)
            self.exitcode = _INTERRUPTED
        return self.exitcode

    def work(self, args: list[str], opts: argparse.Namespace) -> None:
        """What the command does; its errors become one line."""
        raise NotImplementedError(f"{args} {opts}")

    @contextlib.contextmanager
    def state(self, opts: argparse.Namespace, *, anew: bool = False) -> Iterator[CrawlState]:
        """The crawl's shared state; PreflightError when it never ran here, unless it is to be made `anew`."""
        settings = self._settings()
        spider = self._spider(settings, opts)
        spec: Crawl | None = getattr(spider, "spec", None)
        folder = data_folder(settings, spider.name)
        if not anew and not settings.get("REDIS_URL") and not (folder / "state" / "redis").is_dir():
            raise PreflightError(f"crawl {spider.name!r} has no state in {folder} (DATA_DIR, REDIS_URL)")
        with redis_home(settings, folder) as home:
            ensure_format(home.url, spider.name)
            frontier = open_frontier(settings, home, spider.name, None)
            try:
                yield CrawlState(spider.name, spec, folder, home, frontier, settings)
            finally:
                frontier.close()

    @staticmethod
    def _spider(settings: BaseSettings, opts: argparse.Namespace) -> type[Spider]:
        """The spider of the crawl that the options name; PreflightError."""
        return find_spider(get_spider_loader(settings), opts.crawl, {"seeds": opts.seeds} if opts.seeds else {})

    def _settings(self) -> BaseSettings:
        """The project's settings with our defaults, and without what would change the frontier on opening it."""
        settings = self.settings.copy()
        # Scrapy applies add-ons only where a spider runs.
        Ulwembu().update_settings(settings)
        settings.set("FRONTIER_OPT_OUT_FILE", "", priority="cmdline")
        return settings

    @staticmethod
    def show(what: Any) -> None:
        """A rich table or text on the terminal, whole lines elsewhere."""
        on_terminal = sys.stdout.isatty()
        width = None if on_terminal else _WIDTH_IN_FILES
        Console(soft_wrap=not on_terminal, width=width, markup=False).print(what)  # URLs may have [brackets]

    @staticmethod
    def show_json(value: Any) -> None:
        """One JSON value on one line."""
        print(json.dumps(value, ensure_ascii=False, default=str))
