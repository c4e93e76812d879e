"""Makes a spider of each seed file, beside the spiders written in Python.

A seed file is read when its spider is loaded, so a broken one spoils its own crawl only; ``scrapy list`` names it all
the same. Also what ``scrapy crawl`` and the commands about a crawl find by its name.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path

from scrapy import Spider
from scrapy.settings import BaseSettings
from scrapy.spiderloader import SpiderLoader, SpiderLoaderProtocol, get_spider_loader

import seeds
from crawler.errors import PreflightError
from crawler.scrapy_settings import loader_faults
from crawler.spiders.seeded import SeededSpider, spider_of
from seeds.crawl import crawls, load_crawl
from seeds.errors import SeedsError

HARVEST = "harvest"


class CrawlLoader(SpiderLoader):
    """Scrapy's loader for ``SPIDER_MODULES``, and the crawls of ``SEEDS_DIR``."""

    def __init__(self, settings: BaseSettings) -> None:
        super().__init__(settings)
        self._crawls = crawls(seeds_folder(settings))

    def load(self, spider_name: str) -> type[Spider]:
        """As Scrapy's; SeedError when the crawl's file is broken, KeyError when there is no such spider.

        "harvest" is listed, but unless a crawl has that name it is made by ``scrapy crawl`` alone, of the crawl that it
        is asked to harvest.
        """
        if spider_name in self._crawls:
            return spider_of(load_crawl(self._crawls[spider_name]))
        return super().load(spider_name)

    def list(self) -> list[str]:
        return sorted({*super().list(), *self._crawls, HARVEST})


def seeds_folder(settings: BaseSettings) -> Path:
    """The folder of the crawls' TOML files."""
    return Path(settings.get("SEEDS_DIR") or Path(seeds.__file__).parent)


def loader_of(settings: BaseSettings) -> SpiderLoaderProtocol:
    """What finds the spiders of the settings; PreflightError: why nothing can."""
    if faults := list(loader_faults(settings)):
        raise PreflightError("\n".join(faults))
    try:
        return get_spider_loader(settings)
    except SeedsError as error:
        raise PreflightError(str(error)) from None


def find_spider(loader: SpiderLoaderProtocol, name: str, arguments: Mapping[str, str]) -> type[Spider]:
    """The spider class of a crawl's name, or of the file that ``-a seeds=FILE`` names instead.

    "harvest" is the crawl that ``-a crawl=NAME`` names, as a service that stays; without it the crawl or spider that
    has this name itself, where there is one.
    """
    stays = name == HARVEST
    name = arguments.get("crawl", "") if stays else name
    try:
        spider = _spider(loader, name, arguments, stays=stays)
    except SeedsError as error:
        raise PreflightError(str(error)) from None
    except KeyError:
        known = ", ".join(loader.list()) or "none"
        raise PreflightError(
            f"no crawl named {name!r} (there are: {known}); add seeds/<name>.toml, or name its file: "
            "scrapy crawl NAME -a seeds=FILE, other commands --crawl NAME --seeds FILE"
        ) from None
    unknown = [f"-a {argument}=…" for argument in arguments if argument not in ("seeds", "crawl")]
    if unknown and issubclass(spider, SeededSpider) and not spider.own_arguments:
        raise PreflightError(
            f"unknown argument {', '.join(unknown)}; there are -a seeds=FILE and, of harvest, crawl=NAME"
        )
    return spider


def _spider(loader: SpiderLoaderProtocol, name: str, arguments: Mapping[str, str], *, stays: bool) -> type[Spider]:
    if "seeds" in arguments:
        if not arguments["seeds"]:  # as of a variable that is not set
            raise PreflightError("-a seeds=FILE: an empty name")
        return spider_of(load_crawl(arguments["seeds"]), stays=stays)
    if stays and not name:
        if "crawl" not in arguments:
            with contextlib.suppress(KeyError):
                return loader.load(HARVEST)
        raise PreflightError("which crawl? scrapy crawl harvest -a crawl=NAME")
    spider = loader.load(name)
    if stays and issubclass(spider, SeededSpider):
        return spider_of(spider.spec, stays=True)
    return spider
