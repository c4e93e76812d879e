"""Scrapy, told to stop while the spider is being opened or closed for another reason, would leave in the midst of that:
with files open, a private Redis running, and threads that wait for a Redis that is full.
"""

from __future__ import annotations

import asyncio

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.utils.defer import deferred_from_coro
from scrapy.utils.reactor import is_reactor_installed
from twisted.internet.defer import Deferred

_LOOK_S = 0.03


class Shutdown:
    """Lets the crawl be opened, and closed to its end, before the reactor ends."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._opening = False
        self._stopping: asyncio.Future[None] | None = None
        crawler.signals.connect(self._stop_if_asked, signals.engine_started)
        crawler.signals.connect(self._await_closed, signals.engine_stopped)

    @property
    def asked_early(self) -> bool:
        """Whether the crawl is to stop before it has begun: nothing is to be waited for any more."""
        return self._opening and not self._crawler.crawling

    def begin(self) -> None:
        """The crawl is being opened from now on."""
        self._opening = True
        if is_reactor_installed():
            from twisted.internet import reactor

            reactor.addSystemEventTrigger("before", "shutdown", self._before_reactor_ends)  # type: ignore[arg-type]

    def _before_reactor_ends(self) -> Deferred[None] | None:
        return deferred_from_coro(self._await_closed()) if self._opening else None

    async def _stop_if_asked(self) -> None:
        """An engine that was not running yet was not told. That of a shell opens no crawl: it is left alone."""
        if self._crawler.crawling:
            self._opening = False
        elif self._opening:
            self._stopping = asyncio.ensure_future(self._stop())

    async def _stop(self) -> None:
        engine = self._crawler.engine
        assert engine is not None
        while not engine.running:
            await asyncio.sleep(_LOOK_S)
        await engine.stop_async()

    async def _await_closed(self) -> None:
        while self._crawler.engine is not None and self._crawler.engine.spider is not None:
            await asyncio.sleep(_LOOK_S)
