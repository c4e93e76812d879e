"""Figures for Prometheus: the crawl's and this worker's, gathered when somebody asks and at no other time.

Scrapy's stats and the worker's own counts are at hand; what is in Redis is read in a thread of its own, once for all
who ask meanwhile. Of a Redis that does not answer within :data:`PATIENCE_S` the page says so and leaves the fleet's
figures out: old ones would look as if all were well. The add-on enables this only where ``METRICS_PORT`` is set.
"""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Self

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import Metric
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector
from scrapy import Spider, signals
from scrapy.crawler import Crawler

from crawler.errors import PreflightError
from crawler.preflight import metrics_socket
from crawler.watch.gap_watch import GapWatch
from crawler.watch.measures import CrawlFacts, Families, WorkerFacts, crawl_facts, of_crawl, of_worker
from crawler.watch.metrics_page import serve
from crawler.work.worker import Worker
from frontier.errors import FrontierError
from sieve.errors import LinkError

logger = logging.getLogger(__name__)

PATIENCE_S = 3.0
"""Prometheus waits 10 s for a page."""


class Metrics(Collector):
    """Extension: serves ``/metrics`` on ``METRICS_HOST`` and ``METRICS_PORT`` while the crawl is open."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._registry = CollectorRegistry()  # no process-wide one: a process may have several crawls
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="metrics")
        self._look: asyncio.Future[CrawlFacts | None] | None = None
        self._facts: CrawlFacts | None = None
        self._gaps = GapWatch()
        self._free_bytes: int | None = None
        self._over = False
        self._stop: Callable[[], object] = lambda: None
        crawler.signals.connect(self._opened, signals.spider_opened)
        crawler.signals.connect(self._closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def _opened(self, spider: Spider) -> None:
        worker = self._crawler.get_extension(Worker)
        assert worker is not None
        self._worker, self._families = worker, Families(spider.name)
        ProcessCollector(registry=self._registry)
        self._registry.register(self)
        try:
            listening = metrics_socket(self._crawler.settings)
        except PreflightError as error:  # there was one before the start; the crawl is worth more than its figures
            logger.error("No figures for Prometheus: %s", error)
            return
        logger.info("Figures for Prometheus: /metrics on %s, port %d", *listening.getsockname()[:2])
        self._stop = serve(self._page, listening)

    def _closed(self) -> None:
        self._stop()
        self._over = True  # who is connected already may still ask
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _page(self) -> bytes:
        self._facts = await self._fleet()
        return generate_latest(self._registry)

    async def _fleet(self) -> CrawlFacts | None:
        """The fleet's figures; None when they cannot be had in time."""
        if self._over:
            return None
        look = self._look
        if look is None or look.done():
            look = self._look = asyncio.get_running_loop().run_in_executor(self._thread, self._read)
        done, _ = await asyncio.wait({look}, timeout=PATIENCE_S)
        return look.result() if done else None

    def _read(self) -> CrawlFacts | None:
        stores = self._worker.stores
        try:
            self._free_bytes = shutil.disk_usage(stores.folder).free
        except OSError:  # unmounted, or moved away: the worker will say so
            self._free_bytes = None
        try:
            return crawl_facts(stores, self._gaps)
        except (FrontierError, LinkError):
            return None

    def collect(self) -> Iterator[Metric]:
        """What the registry asks for each page; see :mod:`crawler.watch.measures`."""
        up = self._facts is not None
        yield self._families.gauge("ulwembu_worker_redis_up", "Whether Redis answered this very question.", up)
        yield from of_worker(self._families, self._mine())
        if self._facts is not None:
            yield from of_crawl(self._families, self._facts)

    def _mine(self) -> WorkerFacts:
        worker, stats = self._worker, self._crawler.stats
        assert stats is not None
        archive = worker.stores.archive
        return WorkerFacts(
            name=f"{socket.gethostname()}-{os.getpid()}",
            stats=stats.get_stats(),
            leases_held=worker.leases_held,
            blocked_by=worker.blocked_by,
            intake_refused=worker.intake_refused,
            archived_bytes=archive.written_bytes,
            archive_files=len(archive.finished),
            free_bytes=self._free_bytes,
        )
