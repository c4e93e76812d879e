"""``scrapy crawl``: as Scrapy's, but a crawl that cannot start says why in one line."""

from __future__ import annotations

import argparse
import contextlib
import sys

from scrapy.commands.crawl import Command as ScrapyCrawl

from crawler.preflight import PreflightError, check, data_folder, find_spider
from crawler.redis_link import RedisUnreachableError, redis_home


class Command(ScrapyCrawl):
    """Run a crawl of seeds/<name>.toml, or a spider, by name."""

    def long_desc(self) -> str:
        return (
            "Run a crawl by the name of its seed file, for example `scrapy crawl zulu -s CONTACT=you@example.org`. "
            "Another file: `-a seeds=FILE`. Start it again to go on where it stopped; start it several times, on one "
            "machine or with one REDIS_URL on many, to crawl with several workers."
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1:
            super().run(args, opts)
            return
        assert self.crawler_process is not None
        assert self.settings is not None
        with contextlib.ExitStack() as held:
            try:
                spider = find_spider(self.crawler_process.spider_loader, args[0], opts.spargs)
                check(self.settings, spider)
                # Entered here already, so that a Redis that cannot be had is told before anything starts.
                held.enter_context(redis_home(self.settings, data_folder(self.settings, spider.name)))
            except (PreflightError, RedisUnreachableError) as error:
                print(f"scrapy crawl {args[0]}: {error}", file=sys.stderr)
                self.exitcode = 1
                return
            self.crawler_process.crawl(spider, **opts.spargs)
            self.crawler_process.start()
            if self.crawler_process.bootstrap_failed:
                self.exitcode = 1
