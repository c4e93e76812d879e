"""A lease on this machine's clock."""

from __future__ import annotations

from unittest.mock import Mock

from crawler.work.held import HeldLease, why_over
from frontier.types import Grant, Kind, Lease

LEASE = Lease("1-00000001", "http://a.test/", Kind.PAGE, "http://a.test", "", due_ms=10_500, expires_ms=70_000)


async def bound(_: Lease, __: str) -> bool:
    return True


def test_a_process_that_stood_still_while_it_leased_sends_nothing_on_what_ran_out_meanwhile() -> None:
    asked, arrived = 100.0, 220.0
    held = HeldLease(LEASE, 10_000, (asked, arrived), 20.0, bound)
    assert held.due == arrived + 0.5
    assert held.start_by == asked + 60.0 - 20.0 - 1.0
    assert held.start_by < arrived


def test_a_crawl_that_ends_before_all_is_fetched_says_what_waits_and_until_when() -> None:
    stats = Mock(**{"get_value.return_value": 7})
    assert why_over(Grant((), 1000, None), stats) == ""
    assert "until 2026-11-24 14:12Z" in why_over(Grant((), 1000, 1795529520000), stats)
    assert why_over(Grant((), 1000, 5000, "pages"), stats) == "The crawl's budget of pages is spent"


def test_a_run_that_fetches_nothing_says_that_all_is_known() -> None:
    stats = Mock(**{"get_value.return_value": None})
    assert why_over(Grant((), 1000, None), stats).startswith("Nothing is left to fetch, paused hosts apart: ")
