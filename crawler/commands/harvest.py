"""``scrapy harvest``: what a crawl's feeds gave, day by day."""

from __future__ import annotations

import argparse

from crawler.console.crawl_command import CrawlCommand


class Command(CrawlCommand):
    """See crawler/actions/harvest.py."""

    action = "crawler.actions.harvest.Harvest"

    def syntax(self) -> str:
        return "status  [--crawl NAME] [--days N] [--by-day] [--plot] [--json]"

    def short_desc(self) -> str:
        return "Polls, new items, gaps and delays of a crawl's feeds"

    def long_desc(self) -> str:
        return (
            "status: a row a feed over the last days (UTC): polls and how many found nothing new, new items, gaps in "
            "what the feed showed, items missed and recovered from older pages, errors, mean time from publication to "
            "discovery and to the fetch of the item's page. --by-day: a row a feed and day; --plot: also a picture in "
            "the crawl's reports/harvest.png; --json: one line a feed and day. "
            "Example: scrapy harvest status --days 30 --plot"
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--days", type=int, default=7, help="how many days back, today included (default 7)")
        parser.add_argument("--by-day", action="store_true", help="a row a feed and day")
        parser.add_argument("--plot", action="store_true", help="draw reports/harvest.png as well")
