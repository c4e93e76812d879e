"""Runs ``scrapy crawl harvest`` in processes of its own against the feeds of a synthetic web."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, replace
from typing import ClassVar

from tests.integration.crawler.harness import Crawl
from tests.web.harvest import FeedFigures, judge_feeds
from tests.web.requestlog import LogEntry
from tests.web.web import Web

SEEDS = "feeds.toml"


def seed_file(web: Web, min_poll_s: float, more: str = "") -> str:
    """A crawl of all feeds of a web and nothing else."""
    lines = ["[crawl]", 'name = "zulu"', 'language = "zul"', 'contact = "https://example.org/crawler"']
    for feed in web.feeds.all:
        table = "index" if feed.spec.kind == "index" else "feed"
        lines += [f"[[{table}]]", f'url = "{feed.site.authority}{feed.path}"', f"min_poll_s = {min_poll_s}"]
    return "\n".join(lines) + "\n" + more


@dataclass(slots=True)
class Harvest(Crawl):
    """A harvest of a running web by any number of workers; its seed file must have been written."""

    spider: ClassVar[str] = "harvest"
    seeds: ClassVar[str] = SEEDS

    def stop(self, timeout_s: float = 120) -> None:
        """Ask the workers that still run to finish, and wait for them."""
        for worker in self.workers:
            if worker.poll() is None:
                worker.terminate()
        self.wait(timeout_s)

    def figures(self, until_epoch_s: float) -> list[FeedFigures]:
        """What became of the items that were published until then, but for those that were gone at the first poll."""
        server, log = self.running.server, self.requests()
        gone = _gone_at_first(log, server.web, server.started_epoch_s)
        return [
            replace(feed, missed=tuple(url for url in feed.missed if url not in gone))
            for feed in judge_feeds(log, server.web, server.started_epoch_s, until_epoch_s)
        ]

    def most_fetches(self) -> Counter[str]:
        """How often each item's page was fetched whole."""
        web, times = self.running.server.web, Counter[str]()
        for entry in self.requests():
            site = web.site(entry.host)
            if site is not None and entry.status == 200 and entry.whole:
                resource = web.paths.read(site, entry.path)
                if resource.kind == "item":
                    times[web.paths.url(resource)] += 1
        return times


def _gone_at_first(log: list[LogEntry], web: Web, started_epoch_s: float) -> set[str]:
    gone: set[str] = set()
    for feed in web.feeds.all:
        polls = [entry for entry in log if (entry.authority, entry.path) == (feed.site.authority, feed.path)]
        if polls:
            first = min(polls, key=lambda entry: entry.start_us)
            answered_us = first.epoch_us + max(0, first.end_us - first.start_us)
            shown = web.feeds.window(feed, (answered_us / 1e6 - started_epoch_s) * web.spec.time_scale)
            gone.update(web.feeds.item_url(feed, k) for k in range(min(shown, default=0)))
    return gone


def rest(until_s: float) -> None:
    """Sleep until an instant of ``time.monotonic()``."""
    time.sleep(max(0.0, until_s - time.monotonic()))
