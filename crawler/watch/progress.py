"""Says how the whole fleet's crawl is getting on, and writes a report when this worker leaves."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import socket
from datetime import UTC, datetime
from functools import partial
from typing import Self

from scrapy import Spider, signals
from scrapy.crawler import Crawler

from crawler.watch.figures import Figures, gather
from crawler.work.worker import Worker
from frontier.errors import FrontierError

logger = logging.getLogger(__name__)


class Progress:
    """Extension: a log line every ``LOGSTATS_INTERVAL`` seconds (0: none, as of Scrapy's own), and
    ``reports/<time>-<host>-<pid>.json`` at the end."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._interval_s = crawler.settings.getfloat("LOGSTATS_INTERVAL")
        self._task: asyncio.Task[None] | None = None
        crawler.signals.connect(self._opened, signals.spider_opened)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def _opened(self) -> None:
        worker = self._crawler.get_extension(Worker)
        assert worker is not None
        worker.before_close.append(self._last)
        if self._interval_s:
            self._task = asyncio.ensure_future(self._tell(worker))

    async def _tell(self, worker: Worker) -> None:
        while True:
            await asyncio.sleep(self._interval_s)
            with contextlib.suppress(FrontierError):
                logger.info("%s", (await worker.ask(partial(gather, hosts=False))).line())

    async def _last(self, worker: Worker) -> None:
        if self._task is not None:
            self._task.cancel()
        if not worker.is_open:
            return
        with contextlib.suppress(FrontierError):
            figures: Figures = await worker.ask(gather)
            logger.info("%s", figures.line())
            try:
                self._write(worker, figures)
            except OSError as error:
                logger.error("No report is written: %s", error)

    def _write(self, worker: Worker, figures: Figures) -> None:
        spider: Spider | None = self._crawler.spider
        now = datetime.now(UTC)
        report = {
            "crawl": spider.name if spider else "",
            "written": now.isoformat(timespec="seconds"),
            **figures.as_json(),
        }
        # The host, too: each container's worker is process 1, and they are stopped together.
        name = f"{now:%Y%m%dT%H%M%SZ}-{socket.gethostname()}-{os.getpid()}.json"
        path = worker.stores.folder / "reports" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            path.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        except OSError:
            path.unlink(missing_ok=True)  # whoever reads all reports would stumble over half a one
            raise
