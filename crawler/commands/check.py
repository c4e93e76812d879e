"""``scrapy check``: as Scrapy's, through the guarded fetcher, robots.txt and the delay of a host.

The frontier keeps a callback by its name, without the contracts around it, and fetches a URL once: by it no contract
would ever be run.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from scrapy.commands.check import Command as ScrapyCheck

from crawler.console.by_hand import ByHand


class Command(ByHand, ScrapyCheck):
    """See the module."""

    def long_desc(self) -> str:
        return f"{super().long_desc()}, one request to a host each FRONTIER_DELAY_S. Example: scrapy check -l"

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        super().process_options(args, opts)
        assert self.settings is not None
        delay_s = self._effective_settings().getfloat("FRONTIER_DELAY_S")
        pace = {"CONCURRENT_REQUESTS_PER_DOMAIN": 1, "DOWNLOAD_DELAY": delay_s, "RANDOMIZE_DOWNLOAD_DELAY": False}
        self.settings.setdict(pace, priority="cmdline")

    def _named(self, args: Sequence[str], _opts: argparse.Namespace) -> tuple[Sequence[str], Sequence[str]]:
        return (), args

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        from crawler.spiderloader import HARVEST

        assert self.crawler_process
        # What "harvest" runs is named beside it, and has no contracts.
        super().run(args or [name for name in self.crawler_process.spider_loader.list() if name != HARVEST], opts)
