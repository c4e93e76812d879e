"""Scrapy's commands that fetch single pages by hand: without a frontier, with everything else that is safe."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from typing import Any

from scrapy import Spider
from scrapy.settings import Settings
from scrapy.spiderloader import SpiderLoaderProtocol
from scrapy.utils.url import guess_scheme

from crawler.console.given_settings import GivenSettings

_SETTINGS: dict[str, Any] = {
    "SCHEDULER": "scrapy.core.scheduler.Scheduler",
    "DOWNLOADER": "scrapy.core.downloader.Downloader",
    "ROBOTSTXT_OBEY": False,
    "DOWNLOADER_MIDDLEWARES": {
        "crawler.robots.RobotsMiddleware": None,
        "crawler.poll_reader.PollReader": None,
        "crawler.console.opted_out.OptOutGuard": 1000,
        "crawler.console.robots_by_hand.RobotsByHand": 100,
    },
    "EXTENSIONS": {"crawler.watch.progress.Progress": None, "crawler.watch.metrics.Metrics": None},
}
_WEB = ("http://", "https://")


def _url(given: str) -> str:
    """What is given as `scrapy shell` takes it, which guesses a scheme; the others refuse what has none."""
    scheme, found, rest = guess_scheme(given.strip()).partition("://")
    return scheme.lower() + found + rest


class ByHand(GivenSettings):
    """What stands before Scrapy's own class of such a command."""

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Scrapy's, and a contact is required: ends with one line when nobody could be asked about what is fetched."""
        super().process_options(args, opts)
        assert self.settings is not None
        fetches = self._fetches(opts)
        if fetches and not self.settings.get("CONTACT"):
            print(
                "no contact: add -s CONTACT=… (a web page or mail address that site owners can turn to)",
                file=sys.stderr,
            )
            sys.exit(1)
        urls, spiders = self._named(args, opts)
        self._refuse_files(urls)
        for name, value in _SETTINGS.items():
            # What a project has there of its own stays. A command's defaults would have less weight than the add-on's.
            given = {**self.settings.getdict(name), **value} if isinstance(value, dict) else value
            self.settings.set(name, given, priority="cmdline")
        self._refuse_settings(spiders, fetches=fetches)
        if fetches:
            self._ask_opt_outs(urls, *spiders[:1])

    def _fetches(self, _opts: argparse.Namespace) -> bool:
        """Whether anybody will be asked for anything."""
        return True

    def _named(self, args: Sequence[str], opts: argparse.Namespace) -> tuple[Sequence[str], Sequence[str]]:
        """The addresses and the spiders of the command line."""
        return args, [opts.spider] if opts.spider else []

    def _spiders(self, named: Sequence[str], _loader: SpiderLoaderProtocol) -> Sequence[str]:
        """Those that will run."""
        return named

    def _effective_settings(self, spider: type[Spider] = Spider) -> Settings:
        from crawler.addon import Ulwembu

        assert self.settings is not None
        settings = self.settings.copy()
        spider.update_settings(settings)
        Ulwembu().update_settings(settings)
        return settings

    def _refuse_files(self, urls: Sequence[str]) -> None:
        """Ends with one line when something else than an address of the web is given."""
        for given in urls:
            if not _url(given).startswith(_WEB):
                print(f"{given}: only an http:// or https:// address may be given, no file", file=sys.stderr)
                sys.exit(1)

    def _refuse_settings(self, spiders: Sequence[str], *, fetches: bool) -> None:
        """Ends with a line for each setting that cannot be used, or when there is no such spider; Scrapy would have a
        traceback."""
        from crawler.errors import PreflightError
        from crawler.preflight import settings_faults
        from crawler.scrapy_settings import log_faults, value_faults
        from crawler.spiderloader import find_spider, loader_of

        settings = self._effective_settings()
        faults = settings_faults(settings, Spider) if fetches else list(value_faults(settings))
        if faults := faults or log_faults(settings):
            print("\n".join(faults), file=sys.stderr)
            sys.exit(1)
        try:
            loader = loader_of(settings)  # of Scrapy's process, whether or not a spider is named
            for name in self._spiders(spiders, loader):
                spider = find_spider(loader, name, {})
                of_spider = settings_faults(self._effective_settings(spider), spider) if fetches else []
                faults += [f"spider {name}: {fault}" for fault in of_spider]
            if faults:
                raise PreflightError("\n".join(faults))
        except PreflightError as error:
            print(error, file=sys.stderr)
            sys.exit(1)

    def _ask_opt_outs(self, urls: Sequence[str], spider: str = "") -> None:
        """Ends with one line when an address of the command line has opted out, or that cannot be known; `spider` is
        the one named there."""
        from crawler.console.opted_out import OptedOut
        from crawler.console.terminal import INTERRUPTED, aside
        from crawler.errors import PreflightError
        from crawler.state.redis_link import RedisUnreachableError

        # From here on, and until Scrapy's process hears of signals, there may be a private Redis to stop.
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) == signal.SIG_DFL:
                signal.signal(number, lambda *_: sys.exit(INTERRUPTED))
        try:
            with OptedOut(self._effective_settings(), spider=spider) as opted_out:
                if opted_out.note:
                    aside(opted_out.note)  # print, where standard error is closed, would write into the page
                for url in map(_url, urls):
                    if prefix := opted_out.against(url):
                        raise PreflightError(f"{url} is not fetched, it has opted out: {prefix}")
        except (PreflightError, RedisUnreachableError, ValueError) as error:
            print(error, file=sys.stderr)
            sys.exit(1)
