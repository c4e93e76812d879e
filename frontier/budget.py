"""Limits of a whole crawl, and what they leave when they are spent. ``lua/lease.lua`` goes by the same order."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of the whole crawl, checked in each lease; 0 means none. Seconds count from the first lease. There are
    never more than `max_pages` pages: where as many are under way as there may be still, there is no lease until one of
    these has ended. What is under way may exceed `max_bytes`. `requisites`: what pages embed (of the best band; see
    :data:`frontier.payload.REQUISITE_MARK`) is still leased when `max_pages` is spent, and that alone, with the
    robots.txt that it needs; of a host whose own are (:class:`frontier.types.HostPolicy`), as well."""

    max_pages: int = 0
    max_bytes: int = 0
    max_seconds: int = 0
    requisites: bool = False

    def spent(self, pages: int, fetched_bytes: int, for_ms: int) -> str:
        """Which one is, "" for none; that of pages last, since it alone may leave something."""
        if self.max_bytes and fetched_bytes >= self.max_bytes:
            return "bytes"
        if self.max_seconds and for_ms >= self.max_seconds * 1000:
            return "seconds"
        return "pages" if self.max_pages and pages >= self.max_pages else ""

    def narrowed(self, spent: str) -> bool:
        """Whether what pages embed alone is leased when that budget is spent."""
        return self.requisites and spent == "pages"
