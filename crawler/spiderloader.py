"""Makes a spider of each seed file, beside the spiders written in Python.

A seed file is read when its spider is loaded, so a broken one spoils its own crawl only; ``scrapy list`` names it all
the same.
"""

from __future__ import annotations

from pathlib import Path

from scrapy import Spider
from scrapy.settings import BaseSettings
from scrapy.spiderloader import SpiderLoader

import seeds
from crawler.spiders.seeded import spider_of
from seeds.crawl import crawls, load_crawl


class CrawlLoader(SpiderLoader):
    """Scrapy's loader for ``SPIDER_MODULES``, and the crawls of ``SEEDS_DIR``."""

    def __init__(self, settings: BaseSettings) -> None:
        super().__init__(settings)
        self._crawls = crawls(seeds_folder(settings))

    def load(self, spider_name: str) -> type[Spider]:
        """As Scrapy's; SeedError when the crawl's file is broken, KeyError when there is no such spider.

        "harvest" is listed but made by ``scrapy crawl`` alone, of the crawl that it is asked to harvest.
        """
        if spider_name in self._crawls:
            return spider_of(load_crawl(self._crawls[spider_name]))
        return super().load(spider_name)

    def list(self) -> list[str]:
        return sorted({*super().list(), *self._crawls, "harvest"})


def seeds_folder(settings: BaseSettings) -> Path:
    """The folder of the crawls' TOML files."""
    return Path(settings.get("SEEDS_DIR") or Path(seeds.__file__).parent)
