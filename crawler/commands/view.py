"""``scrapy view``: as Scrapy's, through the guarded fetcher and robots.txt."""

from __future__ import annotations

from scrapy.commands.view import Command as ScrapyView

from crawler.commands.fetch import Command as Fetch


class Command(Fetch, ScrapyView):
    """See the module."""

    example = "scrapy view https://isolezwe.co.za/ -s CONTACT=you@example.org"
