"""``scrapy frontier``: look at and steer what a crawl will fetch, while it runs."""

from __future__ import annotations

import argparse

from crawler.console.crawl_command import CrawlCommand, KeepsLines
from crawler.console.terms import glossary


class Command(CrawlCommand):
    """See crawler/actions/frontier.py."""

    action = "crawler.actions.frontier.Frontier"

    def syntax(self) -> str:
        return "status|hosts|parked|opt-outs | peek|release|drop|pause|resume|opt-out HOST  [--crawl NAME]"

    def short_desc(self) -> str:
        return "Look at and steer the hosts of a crawl"

    def long_desc(self) -> str:
        return (
            "status: counts; hosts: each with its queue, delay and state, the next to be asked first; "
            "parked: what waits, why and until when; "
            "peek HOST: its next URLs; pause/resume HOST; release HOST: end its rest, bring its parked URLs back and "
            "read its robots.txt anew before any page; drop HOST: forget its waiting URLs; "
            "opt-out HOST or URL prefix: never fetch it again, in no crawl of this Redis, be it begun later, or "
            "with --crawl NAME in that one only; with --withdraw: take back one that was a "
            "mistake, all that the name stands for, with the same --crawl or "
            "none (URLs dropped meanwhile do not come back); opt-outs: all there are, and for whom they hold. "
            "HOST is a name, or any URL of it where the port is not the usual one. "
            "Examples: scrapy frontier pause isolezwe.co.za; "
            "scrapy frontier opt-out example.org --withdraw"
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.formatter_class = KeepsLines
        parser.epilog = glossary()
        parser.add_argument("--limit", type=int, default=50, help="most rows to show (default 50)")
        parser.add_argument("--withdraw", action="store_true", help="opt-out: take back one that was a mistake")
