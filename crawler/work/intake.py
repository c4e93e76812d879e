"""What the sieve has let out, on its way into the frontier; start URLs on theirs into the sieve.

A loop beside the worker's others, so that a lease does not wait for it where Redis is far. It looks as soon as this
worker's decider has let something out, and every :data:`LOOK_S` for what those of others did.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from crawler.work.loops import in_thread, pause
from crawler.work.stores import Stores
from frontier.errors import FrontierFull, FrontierUnavailable

logger = logging.getLogger(__name__)

LOOK_S = 0.2
_AGAIN_S = 0.005
_AWAY_PAUSE_S = 1.0
_CHECK_STATE_EVERY_S = 1.0


class Intake:
    """See the module. `full`: whether Redis was at its memory limit, as the last look found; `moved`: how many URLs all
    looks have moved; no look is under way for whoever has `between_looks`. `on_arrivals` is called when something has
    come."""

    def __init__(self, stores: Stores, on_arrivals: Callable[[], None]) -> None:
        self._stores = stores
        self._on_arrivals = on_arrivals
        self.to_look = asyncio.Event()
        self.full = False
        self.moved = 0
        self.between_looks = asyncio.Lock()

    async def run(self, *, resting: Callable[[], bool], closing: Callable[[], bool]) -> None:
        """Until `closing`; nothing is taken in while `resting`. StateGoneError, and what has ended the decider."""
        loop = asyncio.get_running_loop()

        def look() -> None:
            loop.call_soon_threadsafe(self.to_look.set)

        self._stores.decider.on_decided = look
        with ThreadPoolExecutor(1, thread_name_prefix="intake") as thread:
            try:
                while not closing():
                    async with self.between_looks:
                        wait_s = LOOK_S if resting() else await self._look(thread)
                    await pause(self.to_look, wait_s)
            finally:
                self._stores.decider.on_decided = lambda: None

    async def _look(self, thread: ThreadPoolExecutor) -> float:
        """The seconds to wait before the next look."""
        try:
            number = await in_thread(thread, self.take)
        except FrontierUnavailable:  # said aloud by the leases, which wait for it, too
            # From here, since no lease may be asked for: all can be of pages that wait for this very Redis.
            await in_thread(thread, self._stores.revive)
            return _AWAY_PAUSE_S
        if number:
            self._on_arrivals()
        return _AGAIN_S if number else LOOK_S

    def take(self) -> int:
        """Make sure that the crawl's state is there, and move what waits; the number of URLs that went to the
        frontier. FrontierUnavailable."""
        self._stores.check(_CHECK_STATE_EVERY_S)
        self._stores.decider.check()
        self.moved += self._stores.start_urls.poll()
        try:
            number = self._stores.frontier.take_ready()
        except FrontierFull as error:
            if not self.full:
                logger.warning("%s", error)
            self.full = True
            return 0
        if self.full:
            logger.info("Redis has room again, the intake goes on")
        self.full = False
        self.moved += number
        return number
