"""Politeness looked at while it happens: every gap that the audit tells of, counted, and said aloud if too short.

As ``scrapy politeness verify`` does it afterwards, but in small pieces, from the oldest row that Redis still has.
"""

from __future__ import annotations

import logging

from frontier.audit import TOLERANCE_MS, Gaps
from frontier.outcomes import HOUR
from frontier.redis_frontier import RedisFrontier

logger = logging.getLogger(__name__)

_MOST_ROWS = 20_000
_MOST_HOSTS = 20_000
_MOST_TOLD = 10


class GapWatch:
    """`checked` gaps so far, and `short`: those that were too short. One thread at a time."""

    def __init__(self) -> None:
        self._gaps = Gaps(TOLERANCE_MS)
        self._place = "-"
        self.short = 0

    @property
    def checked(self) -> int:
        """Gaps looked at."""
        return self._gaps.gaps

    def look(self, frontier: RedisFrontier) -> None:
        """Take what is new; some of it when there is much. FrontierUnavailable."""
        rows, self._place = frontier.audit_from(self._place, _MOST_ROWS)
        self._gaps.follow(rows)
        if len(self._gaps) > _MOST_HOSTS:
            self._gaps.forget(HOUR)
        for gap in self._gaps.short[:_MOST_TOLD]:
            logger.error("Asked too soon: %s after %d ms, %d needed", gap.of, gap.gap_ms, gap.needed_ms)
        self.short += len(self._gaps.short)
        self._gaps.short.clear()
