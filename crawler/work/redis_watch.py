"""What a worker's log says of the frontier's Redis: that it is away or back, and that its clock was set."""

from __future__ import annotations

import logging

from frontier.errors import FrontierUnavailable
from frontier.types import Grant

_WORTH_A_LINE_MS = 1000

logger = logging.getLogger(__name__)


class RedisWatch:
    """What it did at the last round of leasing."""

    def __init__(self) -> None:
        self._is_away = False
        self._ahead_ms = 0

    def is_away(self, error: FrontierUnavailable) -> None:
        """It did not answer."""
        if not self._is_away:
            logger.warning("No new requests until it answers again: %s", error)
        self._is_away = True

    def answered(self, grant: Grant) -> None:
        """It did, with this."""
        if self._is_away:
            logger.info("The frontier answers again, the crawl goes on")
        self._is_away = False
        set_by_ms = self._ahead_ms - grant.clock_ahead_ms
        if abs(set_by_ms) >= _WORTH_A_LINE_MS:
            self._ahead_ms = grant.clock_ahead_ms
            logger.warning(
                "The clock of Redis' machine was set %s by %.1f s. The crawl goes on by a clock of its own, %.1f s %s "
                "that one: no delay is cut short and nothing waits longer",
                "forward" if set_by_ms > 0 else "back", abs(set_by_ms) / 1000,
                abs(self._ahead_ms) / 1000, "ahead of" if self._ahead_ms > 0 else "behind",
            )  # fmt: skip
