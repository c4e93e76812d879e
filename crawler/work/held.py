"""One lease as this process holds it: the bridge between the frontier's time and this machine's clock."""

from __future__ import annotations

from typing import Protocol

from frontier.clock_line import uptime_s
from frontier.types import Kind, Lease

_RESERVE_S = 1.0
"""What a fetch may take beyond its time-out until its connection is closed."""
_KNOWN_S = 0.25
"""So long what a grant has found out of opt-outs is relied on, and for its way from a Redis that is far, which a second
question would have, too. Most requests go out earlier and cost no question: on a connection that was kept, or soon
made."""
_LONGEST_WAY_S = 1.0


class Holder(Protocol):
    """What a lease asks of the frontier through its worker."""

    async def bind(self, lease: Lease, address: str) -> bool:
        """Claim an address for a lease; False when the frontier took it back."""
        ...

    async def opted_out_by(self, url: str) -> str:
        """The prefix by which a URL has opted out; "" when there is none."""
        ...


class HeldLease:
    """A lease with its instants on the clock of :func:`uptime_s`, which stopping the process, setting the clock or
    putting the machine to sleep cannot fool.

    A grant was made between `asked`, when it was asked for, and `arrived`, when it was received; a process may stand
    still in between. Each instant is taken from the end that errs on the polite side: `due` from the later one; `ends`,
    when the lease runs out, and `start_by`, the last instant at which a fetch can still end before, from the earlier.
    """

    __slots__ = ("_holder", "_known_until", "address", "due", "ends", "error", "lease", "remade", "spent", "start_by")

    def __init__(
        self, lease: Lease, now_ms: int, granted: tuple[float, float], fetch_timeout_s: float, holder: Holder
    ) -> None:
        """granted: between which instants, asked and arrived."""
        asked, arrived = granted
        self.lease = lease
        self.address = lease.address
        self.due = arrived + max(0, lease.due_ms - now_ms) / 1000
        self.ends = asked + (lease.expires_ms - now_ms) / 1000
        self.start_by = self.ends - fetch_timeout_s - _RESERVE_S
        self.remade = 0  # how often a middleware has made another request of that for it
        self.spent = False  # whether its one request is under way or done with
        self.error: Exception | None = None  # why that one has no answer
        self._holder = holder
        self._known_until = min(arrived, asked + _LONGEST_WAY_S) + _KNOWN_S

    async def bind(self, address: str) -> bool:
        """Claim `address` for this lease; False when the frontier took the lease back."""
        granted = await self._holder.bind(self.lease, address)
        if granted:
            self.address = address
        return granted

    async def opted_out_by(self, url: str) -> str:
        """By what `url` has opted out since the grant, which looked at the leased one; "": by nothing. robots.txt is
        withheld with its whole host only, as by the grant: a prefix that it begins with speaks of pages."""
        if uptime_s() < self._known_until:
            return ""
        of_host = self.lease.kind is Kind.ROBOTS and not self.lease.hops
        return await self._holder.opted_out_by(f"{self.lease.authority}/" if of_host else url)

    def __lt__(self, other: HeldLease) -> bool:
        return self.due < other.due
