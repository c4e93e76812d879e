"""What the commands that look into a crawl share: which crawl, its Redis, what its workers go by, its tables on the
terminal."""

from __future__ import annotations

import argparse
import contextlib
import json
import logging
import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import redis
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from scrapy import Spider
from scrapy.settings import BaseSettings, Settings

from archive.terminal import escape_what_does_not_fit
from crawler.addon import Ulwembu
from crawler.console.terminal import INTERRUPTED, aside, hear_interrupts, reader_may_leave, told, writing
from crawler.console.which_crawl import named_crawl, no_state, take_over
from crawler.errors import PreflightError
from crawler.records.captures import Tell, url_of_source
from crawler.records.provenance import MOST_SOURCES, Sources
from crawler.spiderloader import find_spider, loader_of
from crawler.state import run_record
from crawler.state.folder import data_folder
from crawler.state.redis_link import RedisHome, RedisUnreachableError, client, forbidden, redis_home
from crawler.state.shared_table import SharedTable
from crawler.state.state_format import NoStateError, ensure_format
from crawler.work.opening import open_frontier, open_sieve
from frontier.errors import FrontierError
from frontier.redis_frontier import RedisFrontier
from seeds.crawl import Crawl, load_crawl
from seeds.errors import SeedsError
from sieve.errors import FencedError, LockedError, SieveError


@dataclass(frozen=True, slots=True)
class CrawlState:
    """One crawl as a command sees it; `settings` are those that its workers go by, and `spec` is None when it has no
    seed file, or none on this machine. `opt_outs_file`: their FRONTIER_OPT_OUT_FILE. `elsewhere`: the machines that
    have its archive, when this one has none."""

    name: str
    spec: Crawl | None
    folder: Path
    home: RedisHome
    frontier: RedisFrontier
    settings: BaseSettings
    opt_outs_file: str
    elsewhere: str

    def admitted(self, url: str) -> bool | None:
        """Whether the sieve has admitted a URL equal to `url`; None while a worker holds the table of seen URLs.
        StoreError, DamagedError: the table is not the one that Redis needs, or is not sound. LinkError: Redis does not
        do as it is told."""
        sieve = open_sieve(self.settings, self.home, self.name, self.folder)
        with writing(self.folder), contextlib.suppress(FencedError, LockedError), contextlib.closing(sieve):
            sieve.decide()
            return sieve.contains(url) if sieve.holds else None
        return None

    def url_of(self, source: str, tell: Tell) -> str:
        """The URL of a source: as the fleet remembers it, else as the archive has it, else "". ``tell``: of what cannot
        be read of that."""
        with contextlib.closing(SharedTable(client(self.home.url), self.name, "sources", MOST_SOURCES)) as known:
            return Sources(known).urls([source]).get(source) or url_of_source(self.folder / "warc", source, tell)


class Action(ABC):
    """Base of what commands do with a crawl, with its shared state or without; `settings`: the project's and the
    command line's."""

    def __init__(self, settings: Settings, command: str) -> None:
        self.settings = settings
        self.exitcode = 0
        self._command = command

    def perform(self, args: list[str], opts: argparse.Namespace) -> int:
        """Do it; the exit status. UsageError."""
        # What it reads of damage, commands say themselves.
        logging.getLogger("archive").addHandler(logging.NullHandler())
        hear_interrupts()  # or it would leave the private Redis that it has started
        escape_what_does_not_fit()  # URLs of a command line or an index may have bytes that are no UTF-8
        try:
            with reader_may_leave():
                self.work(args, opts)
        except (PreflightError, SeedsError, RedisUnreachableError, FrontierError, SieveError) as error:
            self.fault(error)
        except OSError as error:
            self.fault(told(error))
        except redis.ResponseError as error:
            if not (cause := forbidden(error)):
                raise
            self.fault(cause)
        except KeyboardInterrupt:
            self.note("interrupted")
            self.exitcode = INTERRUPTED
        return self.exitcode

    @abstractmethod
    def work(self, args: list[str], opts: argparse.Namespace) -> None:
        """What the command does; its errors become one line."""

    def fault(self, what: object) -> None:
        """A line about what is wrong, by which the command ends with 1."""
        self.note(what)
        self.exitcode = 1

    @contextlib.contextmanager
    def state(self, opts: argparse.Namespace, *, anew: bool = False) -> Iterator[CrawlState]:
        """The crawl's shared state; PreflightError when it never ran here, unless it is to be made `anew`."""
        settings = self.effective_settings()
        name = named_crawl(settings, opts.crawl, opts.seeds)
        folder = data_folder(settings, name)
        if not anew and not settings.get("REDIS_URL") and not (folder / "state" / "redis").is_dir():
            raise no_state(settings, name)
        with redis_home(settings, folder) as home:
            try:
                ensure_format(home.url, name, begin=anew)
            except NoStateError:
                raise no_state(settings, name) from None
            records, now_ms = run_record.workers(home.url, name)
            taken = take_over(settings, records, now_ms, folder)
            for line in taken.notes:
                self.note(line)
            spec = self._spec(settings, name, opts.seeds, taken.seeds, ran=bool(records))
            # What would change the frontier on opening it.
            opt_outs_file = str(settings.get("FRONTIER_OPT_OUT_FILE") or "")
            settings.set("FRONTIER_OPT_OUT_FILE", "", priority="cmdline")
            with contextlib.closing(open_frontier(settings, home, name, spec, looks=True)) as frontier:
                yield CrawlState(name, spec, taken.folder, home, frontier, settings, opt_outs_file, taken.elsewhere)

    def _spec(self, settings: BaseSettings, name: str, said: str, recorded: str, *, ran: bool) -> Crawl | None:
        """The crawl's seed file: the one `said`, else the one `recorded` by a worker, else that of its name.
        PreflightError when there is none, and the crawl never `ran` in this Redis."""
        spec: Crawl | None
        if recorded and not said:
            with contextlib.suppress(SeedsError):
                if (spec := load_crawl(recorded)).name == name:
                    return spec
        try:
            spec = getattr(self.spider(settings, name, said), "spec", None)
        except PreflightError:
            if said or not ran:
                raise
            self.note(f"the seed file of crawl {name!r} is not on this machine (--seeds FILE): its scope is not judged")
            return None
        return spec

    @staticmethod
    def spider(settings: BaseSettings, name: str, seeds: str) -> type[Spider]:
        """The spider of the crawl that the options name; PreflightError."""
        return find_spider(loader_of(settings), name, {"seeds": seeds} if seeds else {})

    def effective_settings(self) -> BaseSettings:
        """The project's settings with our defaults."""
        settings = self.settings.copy()
        # Scrapy applies add-ons only where a spider runs.
        Ulwembu().update_settings(settings)
        return settings

    def note(self, what: object) -> None:
        """A line for people, beside the answer."""
        aside(f"scrapy {self._command}: {what}")

    @staticmethod
    def show(what: Any) -> None:
        """A rich table or text on the terminal; elsewhere, and where a terminal is so narrow that columns would be cut,
        whole lines, a table's columns without a frame."""
        console = Console(markup=False, emoji=False)  # URLs may have [brackets] and :words:
        is_table = isinstance(what, Table)
        if sys.stdout.isatty() and not (is_table and _is_cut(what, console)):
            console.print(what, soft_wrap=not is_table)  # a path that the terminal itself wraps is copied whole
        else:
            print(*(_lines(what) if is_table else [what]), sep="\n")

    @staticmethod
    def width() -> float:
        """Of what is shown, in columns; elsewhere than on a terminal there is room for all."""
        return Console().width if sys.stdout.isatty() else math.inf

    @staticmethod
    def show_json(value: Any) -> None:
        """One JSON value on one line."""
        print(json.dumps(value, ensure_ascii=False, default=str))

    def tell(self, opts: argparse.Namespace, value: Any, text: str) -> None:
        """What was done or found: the value with ``--json``, else the text."""
        if opts.json:
            self.show_json(value)
        else:
            self.show(text)


def _is_cut(table: Table, console: Console) -> bool:
    drawn = "".join(segment.text for segment in console.render(table))
    return "…" in drawn or max(map(cell_len, drawn.split("\n"))) > console.width


def _lines(table: Table) -> Iterator[str]:
    """The title, the heading and the rows, however long."""
    yield str(table.title)
    columns = [[str(column.header), *map(str, column.cells)] for column in table.columns]
    widths = [max(map(cell_len, cells)) for cells in columns]
    for row in zip(*columns, strict=True):
        cells = []
        for column, width, cell in zip(table.columns, widths, row, strict=True):
            room = " " * (width - cell_len(cell))
            cells.append(room + cell if column.justify == "right" else cell + room)
        yield "  ".join(cells).rstrip()
