"""``scrapy crawl``: as Scrapy's, but a crawl that cannot start says why in one line."""

from __future__ import annotations

import argparse
import atexit
import contextlib
import os
import signal
import sys
from collections.abc import Callable
from typing import NoReturn

from scrapy import Spider
from scrapy.commands.crawl import Command as ScrapyCrawl
from scrapy.exceptions import UsageError

from crawler.console.given_settings import GivenSettings
from crawler.errors import PreflightError

_AGAIN_S = 0.5


class Command(GivenSettings, ScrapyCrawl):
    """Run a crawl of seeds/<name>.toml, or a spider, by name."""

    def __init__(self) -> None:
        super().__init__()
        self._held = contextlib.ExitStack()
        self._spider: type[Spider] | None = None

    def long_desc(self) -> str:
        return (
            "Run a crawl by the name of its seed file, for example `scrapy crawl zulu -s CONTACT=you@example.org`. "
            "Another file: `-a seeds=FILE`. Start it again to go on where it stopped; start it several times, on one "
            "machine or with one REDIS_URL on many, to crawl with several workers."
        )

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Scrapy's, then everything that can be refused: before a process, a log or a reactor exists."""
        super().process_options(args, opts)
        if len(args) != 1:
            given = f", not {' '.join(args)!r}" if args else ""
            hint = "a setting is given with -s NAME=VALUE" if "=" in given else "scrapy list names those there are"
            raise UsageError(f"one crawl is wanted{given}; {hint}", print_help=False)
        assert self.settings is not None
        # Scrapy may end before `run` (an add-on that fails): the private Redis must not outlive that.
        atexit.register(self._held.close)
        # Nothing is held yet, and what is raised amid the import of a module that is written in Rust is a panic.
        _leave_at_signals(args[0], os._exit)
        # The whole crawler; Scrapy imports this module for every other command, too.
        from crawler.actions.crawl import prepare

        # Redis may read its data for minutes; from the reactor on Scrapy sees to both. Between here and there a private
        # Redis would stay, and a container not hear SIGTERM.
        _leave_at_signals(args[0], sys.exit)
        try:
            self._spider = prepare(self.settings, args[0], opts.spargs, self._held)
        except PreflightError as error:
            print(f"scrapy crawl {args[0]}: {error}", file=sys.stderr)
            sys.exit(1)
        self._held.callback(_raise_no_more)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:  # noqa: ARG002 - Scrapy's signature
        from crawler.actions.crawl import ended_badly

        assert self.crawler_process is not None
        assert self._spider is not None
        with self._held:
            crawler = self.crawler_process.create_crawler(self._spider)
            self.crawler_process.crawl(crawler, **opts.spargs)
            self.crawler_process.start()
            if self.crawler_process.bootstrap_failed or ended_badly(crawler):
                self.exitcode = 1


def _leave_at_signals(name: str, end: Callable[[int], NoReturn]) -> None:
    """Have this process end with 0 at Ctrl-C and SIGTERM, with a line, wherever it is by then. `end`: ``sys.exit``,
    with which what it holds is let go, or ``os._exit``."""

    heard: list[int] = []

    def leave(number: int, _frame: object) -> None:
        # No KeyboardInterrupt: of one that comes amid an exec(), and each import of dataclasses has many, Python ends
        # as if nobody had caught it. Nor does Scrapy catch any between its calls of a command.
        if not heard:
            print(f"scrapy crawl {name}: interrupted before it began", file=sys.stderr, flush=True)
        heard[:] = [number]
        # What is raised while an object is thrown away (`__del__`) Python drops, and goes on: raised again until it
        # ends, or until Scrapy hears it.
        signal.setitimer(signal.ITIMER_REAL, _AGAIN_S)
        end(0)

    signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(heard[0]))
    atexit.register(_raise_no_more)
    signal.signal(signal.SIGTERM, leave)
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
        signal.signal(signal.SIGINT, leave)


def _raise_no_more() -> None:
    """It ends: what it holds is let go undisturbed, however long that takes and whoever presses Ctrl-C again."""
    signal.setitimer(signal.ITIMER_REAL, 0)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
