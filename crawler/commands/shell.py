"""``scrapy shell``: as Scrapy's, through the guarded fetcher and robots.txt."""

from __future__ import annotations

from scrapy.commands.shell import Command as ScrapyShell

from crawler.console.by_hand import ByHand


class Command(ByHand, ScrapyShell):
    """See the module."""
