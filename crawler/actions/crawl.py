"""``scrapy crawl``: what is refused before anything has started, and whether a crawl ended well."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping

import redis
from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.settings import Settings

from crawler.addon import Ulwembu
from crawler.errors import PreflightError
from crawler.preflight import check, take_folder
from crawler.spiderloader import find_spider, loader_of
from crawler.state.folder import data_folder
from crawler.state.redis_link import RedisUnreachableError, client, memory_facts, ping, redis_home, refuse_eviction
from crawler.state.state_format import ensure_format
from crawler.work.endings import FAULT
from crawler.work.worker import Worker
from frontier.errors import FrontierUnavailable, OptOutsDamaged, OptOutsElsewhere
from frontier.redis_opt_outs import RedisOptOuts
from seeds.errors import SeedsError


def prepare(settings: Settings, name: str, arguments: Mapping[str, str], held: contextlib.ExitStack) -> type[Spider]:
    """The spider of the crawl, with its Redis reachable for as long as `held` is open. PreflightError: why it cannot
    start."""
    projects = settings.copy()
    Ulwembu().update_settings(projects)
    try:
        spider = find_spider(loader_of(projects), name, arguments)
        # As Scrapy will have them: what the spider itself has set (`custom_settings`) before the add-on.
        settings = settings.copy()
        spider.update_settings(settings)
        Ulwembu().update_settings(settings)
        check(settings, spider)
        if url := str(settings.get("REDIS_URL") or ""):  # a private one is kept in the folder
            ping(url)
            refuse_eviction(url, memory_facts(url))
        take_folder(settings, spider)
        home = held.enter_context(redis_home(settings, data_folder(settings, spider.name)))
        ensure_format(home.url, spider.name)
        look_for_opt_outs(home.url, spider.name)
    except (SeedsError, RedisUnreachableError, OptOutsDamaged) as error:
        raise PreflightError(str(error)) from None
    return spider


def look_for_opt_outs(url: str, crawl: str) -> None:
    """OptOutsDamaged where something else has the key of one of the crawl's tables. What else is wrong with them, and
    what becomes of them later, the worker finds."""
    passing = (OptOutsElsewhere, FrontierUnavailable, redis.RedisError)
    with contextlib.closing(client(url)) as server, contextlib.suppress(*passing):
        for of_all in (False, True):
            RedisOptOuts(server, crawl, of_all=of_all).at([""])


def ended_badly(crawler: Crawler) -> bool:
    """Whether the crawl could not go on, or left something to the next start."""
    reason = crawler.stats.get_value("finish_reason") if crawler.stats else None
    worker = crawler.get_extension(Worker)
    return reason == FAULT or (worker is not None and worker.unfinished)
