"""Leases as this process holds them, the bridge between the frontier's time and this machine's clock; their end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from scrapy.statscollectors import StatsCollector

from frontier.types import Grant, Lease

BindCall = Callable[[Lease, str], Awaitable[bool]]
_RESERVE_S = 1.0
"""What a fetch may take beyond its time-out until its connection is closed."""


class HeldLease:
    """A lease with its instants on ``time.monotonic()``, which stopping the process or setting the clock cannot fool.

    A grant was made between `asked`, when it was asked for, and `arrived`, when it was received; a process may stand
    still in between. Each instant is taken from the end that errs on the polite side: `due` from the later one,
    `start_by`, the last instant at which a fetch can still end within its lease, from the earlier one.
    """

    __slots__ = ("_bind", "address", "due", "lease", "start_by")

    def __init__(
        self, lease: Lease, now_ms: int, granted: tuple[float, float], fetch_timeout_s: float, bind: BindCall
    ) -> None:
        """granted: between which instants, asked and arrived."""
        asked, arrived = granted
        self.lease = lease
        self.address = lease.address
        self.due = arrived + max(0, lease.due_ms - now_ms) / 1000
        self.start_by = asked + (lease.expires_ms - now_ms) / 1000 - fetch_timeout_s - _RESERVE_S
        self._bind = bind

    async def bind(self, address: str) -> bool:
        """Claim `address` for this lease; False when the frontier took the lease back."""
        granted = await self._bind(self.lease, address)
        if granted:
            self.address = address
        return granted

    def __lt__(self, other: HeldLease) -> bool:
        return self.due < other.due


def why_over(grant: Grant, stats: StatsCollector | None) -> str:
    """Why a crawl ends with this grant, as a line of the log; empty when nothing is left, and `stats` has requests."""
    if grant.closed:
        return f"The crawl's budget of {grant.closed} is spent"
    if grant.next_due_ms is None:
        if stats is None or stats.get_value("downloader/request_count"):
            return ""
        return (
            "Nothing is left to fetch, paused hosts apart: a URL is fetched once, also over several runs. "
            "Another DATA_DIR begins anew"
        )
    back = datetime.fromtimestamp(grant.next_due_ms / 1000, UTC)
    return (
        f"The crawl ends, but some URLs wait, until {back:%Y-%m-%d %H:%MZ} at least: start it again then. "
        "`scrapy frontier hosts` and `parked` say why; `scrapy frontier release HOST` ends the wait"
    )
