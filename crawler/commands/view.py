"""``scrapy view``: as Scrapy's, through the guarded fetcher and robots.txt."""

from __future__ import annotations

from scrapy.commands.view import Command as ScrapyView

from crawler.console.by_hand import ByHand


class Command(ByHand, ScrapyView):
    """See the module."""

    def long_desc(self) -> str:
        return f"{super().long_desc()}. Example: scrapy view https://isolezwe.co.za/ -s CONTACT=you@example.org"
