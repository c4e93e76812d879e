"""Scrapy's commands that fetch single pages by hand: without a frontier, with everything else that is safe."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from scrapy.commands import ScrapyCommand

_SETTINGS: dict[str, Any] = {
    "SCHEDULER": "scrapy.core.scheduler.Scheduler",
    "ROBOTSTXT_OBEY": True,
    "DOWNLOADER_MIDDLEWARES": {
        "crawler.robots.RobotsMiddleware": None,
        "crawler.poll_reader.PollReader": None,
        "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": 100,
    },
    "EXTENSIONS": {"crawler.watch.progress.Progress": None, "crawler.watch.metrics.Metrics": None},
}


class ByHand(ScrapyCommand):
    """What stands before Scrapy's own class of such a command."""

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Scrapy's, and a contact is required: ends with one line when nobody could be asked about what is fetched."""
        super().process_options(args, opts)
        assert self.settings is not None
        if not self.settings.get("CONTACT"):
            print(
                "no contact: add -s CONTACT=… (a web page or mail address that site owners can turn to)",
                file=sys.stderr,
            )
            sys.exit(1)
        # A command's own defaults would have less weight than the add-on's.
        self.settings.setdict(_SETTINGS, priority="cmdline")
