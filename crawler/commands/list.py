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
        from crawler.spiderloader import loader_of

        assert self.settings is not None
        try:
            loader_of(self.settings)
        except PreflightError as error:
            print(f"scrapy list: {error}", file=sys.stderr)
            self.exitcode = 1
            return
        super().run(args, opts)
