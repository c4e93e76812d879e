"""``scrapy shell``: as Scrapy's, through the guarded fetcher and robots.txt."""

from __future__ import annotations

from scrapy.commands.shell import Command as ScrapyShell

from crawler.console.by_hand import ByHand


class Command(ByHand, ScrapyShell):
    """See the module."""

    def syntax(self) -> str:
        return "[url]"

    def long_desc(self) -> str:
        return (
            "Interactive console for scraping the given url. Files are not read: without a url, "
            "scrapy.Selector(text=open('FILE').read()) in the console takes one. "
            "Example: scrapy shell https://isolezwe.co.za/ -s CONTACT=you@example.org"
        )
