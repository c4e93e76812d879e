"""``scrapy fetch``: as Scrapy's, through the guarded fetcher and robots.txt."""

from __future__ import annotations

import argparse

from scrapy.commands.fetch import Command as ScrapyFetch

from crawler.by_hand import prepare


class Command(ScrapyFetch):
    """See the module."""

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Scrapy's, and a contact is required."""
        super().process_options(args, opts)
        assert self.settings is not None
        prepare(self.settings)
