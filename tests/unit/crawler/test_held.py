"""A lease on this machine's clock."""

from __future__ import annotations

from crawler.work.held import HeldLease
from frontier.types import Kind, Lease

LEASE = Lease("1-00000001", "http://a.test/", Kind.PAGE, "http://a.test", "", due_ms=10_500, expires_ms=70_000)


async def bound(_: Lease, __: str) -> bool:
    return True


def test_a_process_that_stood_still_while_it_leased_sends_nothing_on_what_ran_out_meanwhile() -> None:
    asked, arrived = 100.0, 220.0
    held = HeldLease(LEASE, 10_000, (asked, arrived), 20.0, bound)
    assert held.due == arrived + 0.5
    assert held.start_by == asked + 60.0 - 20.0 - 1.0
    assert held.start_by < arrived
