"""``scrapy fetch``: as Scrapy's, through the guarded fetcher and robots.txt."""

from __future__ import annotations

import sys
from argparse import Namespace

from scrapy.commands.fetch import Command as ScrapyFetch
from scrapy.http import Response

from crawler.console.by_hand import ByHand


class Command(ByHand, ScrapyFetch):
    """See the module; ends with 1 where nobody answered or was asked, and where the answer could not be written."""

    example = "scrapy fetch https://isolezwe.co.za/ -s CONTACT=you@example.org > page.html"

    def long_desc(self) -> str:
        return f"{super().long_desc()}. Example: {self.example}"

    def run(self, args: list[str], opts: Namespace) -> None:
        self._answered = False
        super().run(args, opts)
        if not self._answered:
            self.exitcode = 1

    def _print_response(self, response: Response, opts: Namespace) -> None:
        from crawler.console.terminal import reader_may_leave, told

        try:
            with reader_may_leave():
                super()._print_response(response, opts)
        except OSError as error:
            print(told(error), file=sys.stderr)
        else:
            self._answered = True
