"""One lease as this process holds it: the bridge between the frontier's time and this machine's clock."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from frontier.types import Lease

BindCall = Callable[[Lease, str], Awaitable[bool]]


class HeldLease:
    """A lease with its instants on ``time.monotonic()``, which stopping the process or setting the clock cannot fool.

    `arrived` is when the grant was received: taking that for the instant of the grant errs on the polite side.
    """

    __slots__ = ("_bind", "address", "due", "lease", "start_by")

    def __init__(self, lease: Lease, now_ms: int, arrived: float, fetch_timeout_s: float, bind: BindCall) -> None:
        self.lease = lease
        self.address = lease.address
        self.due = arrived + max(0, lease.due_ms - now_ms) / 1000
        # The grant may be older than its arrival by the time of one round trip; the reserve covers it.
        self.start_by = arrived + (lease.expires_ms - now_ms) / 1000 - fetch_timeout_s - 1.0
        self._bind = bind

    async def bind(self, address: str) -> bool:
        """Claim `address` for this lease; False when the frontier took the lease back."""
        granted = await self._bind(self.lease, address)
        if granted:
            self.address = address
        return granted

    def __lt__(self, other: HeldLease) -> bool:
        return self.due < other.due
