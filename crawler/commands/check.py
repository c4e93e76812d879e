"""``scrapy check``: as Scrapy's, through the guarded fetcher, robots.txt and the pace of a crawl.

The frontier keeps a callback by its name, without the contracts around it, and fetches a URL once: by it no contract
would ever be run.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from scrapy.commands.check import Command as ScrapyCheck
from scrapy.spiderloader import SpiderLoaderProtocol

from crawler.console.by_hand import ByHand


class Command(ByHand, ScrapyCheck):
    """See the module."""

    example = "scrapy check myspider -s CONTACT=you@example.org"

    def long_desc(self) -> str:
        return f"{super().long_desc()}, at the pace of a crawl. Example: {self.example}"

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        super().process_options(args, opts)
        from scrapy.utils.misc import load_object

        from crawler.addon import path_of
        from crawler.console.paced import PacedHandler
        from crawler.console.politeness import Known
        from crawler.console.robots_by_hand import RobotsByHand

        assert self.settings is not None
        known = Known()
        handlers = self._effective_settings().getdict("DOWNLOAD_HANDLERS")
        for scheme, given in handlers.items():  # a project may have its own
            if given and scheme in ("http", "https"):
                handlers[scheme] = type("Paced", (PacedHandler, load_object(given)), {"known": known})
        middlewares = self.settings.getdict("DOWNLOADER_MIDDLEWARES")
        middlewares[type("Paced", (RobotsByHand,), {"known": known})] = middlewares.pop(path_of(RobotsByHand))
        # Waiting is theirs alone: what waits elsewhere cannot tell them of a Crawl-delay.
        mine = {
            "DOWNLOAD_HANDLERS": handlers,
            "DOWNLOADER_MIDDLEWARES": middlewares,
            "DOWNLOAD_DELAY": 0,
            "CONCURRENT_REQUESTS_PER_DOMAIN": 1000,
        }
        self.settings.setdict(mine, priority="cmdline")

    def _fetches(self, opts: argparse.Namespace) -> bool:
        return not opts.list

    def _named(self, args: Sequence[str], _opts: argparse.Namespace) -> tuple[Sequence[str], Sequence[str]]:
        return (), args

    def _spiders(self, named: Sequence[str], loader: SpiderLoaderProtocol) -> list[str]:
        from crawler.spiderloader import HARVEST

        # What "harvest" runs is named beside it, and has no contracts.
        return [*named] or [name for name in loader.list() if name != HARVEST]

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.crawler_process
        super().run(self._spiders(args, self.crawler_process.spider_loader), opts)
