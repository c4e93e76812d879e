"""A lease on this machine's clock."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from unittest.mock import AsyncMock, Mock

import pytest

from crawler.work.held import HeldLease
from frontier.clock_line import uptime_s
from frontier.types import Kind, Lease

LEASE = Lease("1-00000001", "http://a.test/x", Kind.PAGE, "http://a.test", "", due_ms=10_500, expires_ms=70_000)
ROBOTS = replace(LEASE, url="http://a.test/robots.txt", kind=Kind.ROBOTS)


def test_a_process_that_stood_still_while_it_leased_sends_nothing_on_what_ran_out_meanwhile() -> None:
    asked, arrived = 100.0, 220.0
    held = HeldLease(LEASE, 10_000, (asked, arrived), 20.0, Mock())
    assert held.due == arrived + 0.5
    assert held.start_by == asked + 60.0 - 20.0 - 1.0
    assert held.start_by < arrived


@pytest.mark.parametrize(
    ("lease", "url"),
    [
        (LEASE, LEASE.url),
        (ROBOTS, "http://a.test/"),  # /r may have opted out, and robots.txt says more than that
        (replace(ROBOTS, hops=1), ROBOTS.url),
    ],
)
def test_opt_outs_are_asked_for_again_when_the_grant_was_long_ago(lease: Lease, url: str) -> None:
    holder = Mock(opted_out_by=AsyncMock(return_value="http://a.test"))
    now = uptime_s()
    granted = [(now + 60, now + 60), (now - 0.9, now), (now - 1, now - 0.9), (now - 60, now)]
    just_now, from_afar, long_ago, stood_still = (HeldLease(lease, 10_000, when, 20.0, holder) for when in granted)
    assert asyncio.run(just_now.opted_out_by(lease.url)) == asyncio.run(from_afar.opted_out_by(lease.url)) == ""
    holder.opted_out_by.assert_not_called()
    assert asyncio.run(stood_still.opted_out_by(lease.url)) == "http://a.test"
    holder.opted_out_by.reset_mock()
    assert asyncio.run(long_ago.opted_out_by(lease.url)) == "http://a.test"
    holder.opted_out_by.assert_called_once_with(url)
