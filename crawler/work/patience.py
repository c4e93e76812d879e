"""Waits for a store that is away or full: as long as it takes, or until the worker is told to stop."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from archive import ArchiveFull
from frontier.errors import FrontierFull, FrontierUnavailable
from sieve.errors import LinkError, LinkFull

logger = logging.getLogger(__name__)
T = TypeVar("T")

_AWAY = (FrontierUnavailable, LinkError, FrontierFull)
_FULL = (FrontierFull, LinkFull)
_FIRST_PAUSE_S = 0.1
_LONGEST_PAUSE_S = 5.0


@dataclass(slots=True)
class Patience:
    """For one thread, which it blocks. `stopped` is asked while waiting: True gives up with the last error; `on_away`
    is called when Redis did not answer. `blocked_by` is what is waited for now: "redis", "disk" or "", and `full`
    whether that is a Redis at its memory limit."""

    stopped: Callable[[], bool]
    on_away: Callable[[], None]
    blocked_by: str = ""
    full: bool = False

    @property
    def lacks_room(self) -> bool:
        """Whether a disk or Redis is full, which may last: what is fetched meanwhile is not reported before its lease
        runs out, and a URL whose leases run out is given up in the end."""
        return self.full or self.blocked_by == "disk"

    def __call__(self, action: Callable[[], T]) -> T:
        """`action`, again and again while its store is away or full, until it works or the worker must stop."""
        pause_s, waited = _FIRST_PAUSE_S, False
        while True:
            try:
                done = action()
                if waited and self.lacks_room:  # of a Redis that was away the worker says it
                    logger.info("The crawl goes on: there is room again")
                self.blocked_by, self.full = "", False
                return done
            except (*_AWAY, ArchiveFull) as error:
                self.blocked_by = "disk" if isinstance(error, ArchiveFull) else "redis"
                self.full = isinstance(error, _FULL)
                if self.blocked_by == "redis" and not self.full:
                    self.on_away()
                if self.stopped():
                    raise
                if not waited:
                    logger.warning("The crawl waits: %s", error)
                waited = True
                time.sleep(pause_s)
                pause_s = min(pause_s * 2, _LONGEST_PAUSE_S)
