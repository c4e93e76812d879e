"""``scrapy politeness verify``: proof, from what a crawl wrote down, that no delay was ever cut short."""

from __future__ import annotations

import argparse
from contextlib import suppress

from crawler.console.crawl_command import CrawlCommand

_MOST_S = 1e9


class Command(CrawlCommand):
    """See crawler/actions/politeness.py."""

    action = "crawler.actions.politeness.Politeness"

    def syntax(self) -> str:
        return "verify  [WARC...]  [--host HOST] [--crawl NAME] [--delay S] [--ip-delay S] [--json]"

    def short_desc(self) -> str:
        return "Prove from audit and archive that no delay was cut short"

    def long_desc(self) -> str:
        return (
            "Checks every gap between two requests to a host and to an address: in the audit stream of the crawl "
            "(written with FRONTIER_AUDIT=1) and by the dates in its closed WARC files, or only in the WARC files "
            "(or folders of them) named. With --host only the gaps of that host. "
            "The archive is held against FRONTIER_DELAY_S and FRONTIER_IP_DELAY_S, as each file says it was "
            "written with (files named here: as given here), and the seed file's own delays, or --delay and "
            "--ip-delay, and "
            "against the Crawl-delay of each robots.txt that is in it. "
            "Status 1 when a gap was too short, or when there was nothing to check. "
            "Example: scrapy politeness verify"
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        from frontier.audit import TOLERANCE_MS

        super().add_options(parser)
        parser.add_argument(
            "--host", help="only this host: its name, or any URL of it where the port is not the usual one"
        )
        parser.add_argument("--delay", type=_seconds, help="least seconds a host, instead of the settings'")
        parser.add_argument("--ip-delay", type=_seconds, help="least seconds an address, instead of the settings'")
        parser.add_argument(
            "--tolerance-ms",
            type=_milliseconds,
            default=TOLERANCE_MS,
            help=f"times are rounded to whole milliseconds (default {TOLERANCE_MS})",
        )


def _seconds(text: str) -> float:
    with suppress(ValueError):
        if 0 <= (value := float(text)) <= _MOST_S:
            return value
    raise argparse.ArgumentTypeError(f"{text} is no number of seconds from 0 on")


def _milliseconds(text: str) -> int:
    with suppress(ValueError):
        if (value := int(text)) >= 0:
            return value
    raise argparse.ArgumentTypeError(f"{text} is no whole number of milliseconds from 0 on")
