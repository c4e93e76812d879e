"""``scrapy crawl``: as Scrapy's, but a crawl that cannot start says why in one line."""

from __future__ import annotations

import argparse
import atexit
import contextlib
import sys

from scrapy import Spider
from scrapy.commands.crawl import Command as ScrapyCrawl
from scrapy.crawler import Crawler
from scrapy.spiderloader import get_spider_loader

from crawler.addon import Ulwembu
from crawler.errors import PreflightError
from crawler.preflight import check, data_folder, find_spider
from crawler.state.redis_link import RedisUnreachableError, redis_home, refuse_eviction
from crawler.state.state_format import ensure_format
from crawler.work.worker import FAULT, Worker
from seeds.errors import SeedsError


class Command(ScrapyCrawl):
    """Run a crawl of seeds/<name>.toml, or a spider, by name."""

    def __init__(self) -> None:
        super().__init__()
        self._held = contextlib.ExitStack()
        self._spider: type[Spider] | None = None

    def long_desc(self) -> str:
        return (
            "Run a crawl by the name of its seed file, for example `scrapy crawl zulu -s CONTACT=you@example.org`. "
            "Another file: `-a seeds=FILE`. Start it again to go on where it stopped; start it several times, on one "
            "machine or with one REDIS_URL on many, to crawl with several workers."
        )

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Scrapy's, then everything that can be refused: before a process, a log or a reactor exists."""
        super().process_options(args, opts)
        if len(args) != 1:
            return
        assert self.settings is not None
        # Scrapy may end before `run` (a LOG_LEVEL that there is not): the private Redis must not outlive that.
        atexit.register(self._held.close)
        settings = self.settings.copy()
        Ulwembu().update_settings(settings)
        try:
            self._spider = find_spider(get_spider_loader(settings), args[0], opts.spargs)
            check(settings, self._spider)
            home = self._held.enter_context(redis_home(settings, data_folder(settings, self._spider.name)))
            ensure_format(home.url, self._spider.name)
            refuse_eviction(home.url)
        except (PreflightError, SeedsError, RedisUnreachableError) as error:
            print(f"scrapy crawl {args[0]}: {error}", file=sys.stderr)
            sys.exit(1)
        except KeyboardInterrupt:  # Redis may read its data for minutes; from the reactor on Scrapy sees to it
            print(f"scrapy crawl {args[0]}: interrupted before it began", file=sys.stderr)
            sys.exit(0)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if self._spider is None:
            super().run(args, opts)
            return
        assert self.crawler_process is not None
        with self._held:
            crawler = self.crawler_process.create_crawler(self._spider)
            self.crawler_process.crawl(crawler, **opts.spargs)
            self.crawler_process.start()
            reason = crawler.stats.get_value("finish_reason") if crawler.stats else None
            if self.crawler_process.bootstrap_failed or reason == FAULT or _unfinished(crawler):
                self.exitcode = 1


def _unfinished(crawler: Crawler) -> bool:
    worker = crawler.get_extension(Worker)
    return worker is not None and worker.unfinished
