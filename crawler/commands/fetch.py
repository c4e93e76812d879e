"""``scrapy fetch``: as Scrapy's, through the guarded fetcher and robots.txt."""

from __future__ import annotations

from scrapy.commands.fetch import Command as ScrapyFetch

from crawler.console.by_hand import ByHand


class Command(ByHand, ScrapyFetch):
    """See the module."""

    def long_desc(self) -> str:
        example = "scrapy fetch https://isolezwe.co.za/ -s CONTACT=you@example.org > page.html"
        return f"{super().long_desc()}. Example: {example}"
