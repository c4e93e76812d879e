"""``scrapy list``: as Scrapy's, but why nothing can be listed is a line."""

from __future__ import annotations

import argparse
import sys

from scrapy.commands.list import Command as ScrapyList

from crawler.console.given_settings import GivenSettings
from crawler.errors import PreflightError


class Command(GivenSettings, ScrapyList):
    """See the module."""

    def long_desc(self) -> str:
        return "Name the crawls, by their seed files, and the spiders. Example: scrapy list -s SEEDS_DIR=my_seeds"

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        from crawler.console.terminal import reader_may_leave, told
        from crawler.spiderloader import loader_of

        assert self.settings is not None
        try:
            loader_of(self.settings)
            with reader_may_leave():
                super().run(args, opts)
        except (PreflightError, OSError) as error:
            print(f"scrapy list: {told(error) if isinstance(error, OSError) else error}", file=sys.stderr)
            self.exitcode = 1
