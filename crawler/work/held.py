"""One lease as this process holds it: the bridge between the frontier's time and this machine's clock."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from frontier.types import Lease

BindCall = Callable[[Lease, str], Awaitable[bool]]
_RESERVE_S = 1.0
"""What a fetch may take beyond its time-out until its connection is closed."""


class HeldLease:
    """A lease with its instants on ``time.monotonic()``, which stopping the process or setting the clock cannot fool.

    A grant was made between `asked`, when it was asked for, and `arrived`, when it was received; a process may stand
    still in between. Each instant is taken from the end that errs on the polite side: `due` from the later one; `ends`,
    when the lease runs out, and `start_by`, the last instant at which a fetch can still end before, from the earlier.
    """

    __slots__ = ("_bind", "address", "due", "ends", "lease", "start_by")

    def __init__(
        self, lease: Lease, now_ms: int, granted: tuple[float, float], fetch_timeout_s: float, bind: BindCall
    ) -> None:
        """granted: between which instants, asked and arrived."""
        asked, arrived = granted
        self.lease = lease
        self.address = lease.address
        self.due = arrived + max(0, lease.due_ms - now_ms) / 1000
        self.ends = asked + (lease.expires_ms - now_ms) / 1000
        self.start_by = self.ends - fetch_timeout_s - _RESERVE_S
        self._bind = bind

    async def bind(self, address: str) -> bool:
        """Claim `address` for this lease; False when the frontier took the lease back."""
        granted = await self._bind(self.lease, address)
        if granted:
            self.address = address
        return granted

    def __lt__(self, other: HeldLease) -> bool:
        return self.due < other.due
