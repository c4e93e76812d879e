"""What is parked until an instant is not fetched before it, however far ahead leases are given."""

from __future__ import annotations

from dataclasses import replace

import pytest

from frontier import Candidate, Outcome, RobotsRecord
from frontier.types import Frontier
from tests.contract.frontier.conftest import Clock, Make
from tests.contract.frontier.test_contract import FREE, POLITE, A, B, done, one, urls
from tests.contract.frontier.test_requisites import ONE_PAGE, embedded, spent

AHEAD_MS = 1000


def known(frontier: Frontier, clock: Clock, host: str = A, address: str = "192.0.2.1") -> None:
    """A host that may be asked again at once, and its address."""
    frontier.take_in([Candidate(f"{host}/known", score=1.0)])
    lease = one(frontier)
    assert frontier.bind(lease.token, address).granted
    done(frontier, lease)
    clock.forward(FREE.delay_ms)


def later(url: str, clock: Clock, in_ms: int = 600) -> Candidate:
    return Candidate(url, score=1.0, not_before_ms=clock.now_ms + in_ms)


@pytest.mark.parametrize("has_address", [False, True])
def test_where_nothing_else_waits_the_lease_is_due_then(has_address: bool, make: Make, clock: Clock) -> None:
    frontier = make(FREE)
    if has_address:
        known(frontier, clock)
    frontier.take_in([later(f"{A}/later", clock)])
    assert frontier.lease(1, ahead_ms=500).leases == ()
    assert one(frontier, AHEAD_MS).due_ms == clock.now_ms + 600


def test_a_page_that_is_tried_again_is_due_when_its_wait_is_over(make: Make, clock: Clock) -> None:
    frontier = make(FREE)
    frontier.take_in([Candidate(f"{A}/1")])
    done(frontier, one(frontier), "protocol")
    ended_ms = clock.now_ms
    clock.now_ms = frontier.parked()[0][1].until_ms - 700
    again = one(frontier, AHEAD_MS)
    assert (again.attempt, again.due_ms) == (1, clock.now_ms + 700)
    assert again.due_ms > ended_ms


def test_what_waits_besides_is_fetched_before(make: Make, clock: Clock) -> None:
    frontier = make(FREE)
    known(frontier, clock)
    frontier.take_in([later(f"{A}/later", clock), Candidate(f"{A}/now", score=0.1)])
    lease = one(frontier, AHEAD_MS)
    assert (lease.url, lease.due_ms) == (f"{A}/now", clock.now_ms)


def test_where_the_host_is_due_later_it_comes_first_then(make: Make, clock: Clock) -> None:
    frontier = make(FREE)
    known(frontier, clock)
    frontier.take_in([Candidate(f"{A}/{n}", score=0.1) for n in range(2)])
    done(frontier, one(frontier))
    clock.forward(FREE.delay_ms - 800)
    frontier.take_in([later(f"{A}/later", clock)])
    lease = one(frontier, AHEAD_MS)
    assert (lease.url, lease.due_ms) == (f"{A}/later", clock.now_ms + 800)


def test_a_lease_that_goes_back_is_due_no_earlier_when_it_is_given_again(make: Make, clock: Clock) -> None:
    frontier = make(FREE)
    known(frontier, clock)
    frontier.take_in([later(f"{A}/later", clock)])
    frontier.release([one(frontier, AHEAD_MS).token])
    assert frontier.lease(1).leases == ()
    assert one(frontier, AHEAD_MS).due_ms == clock.now_ms + 600


def test_nor_when_an_address_was_waited_for(make: Make, clock: Clock) -> None:
    """It comes back from where it is parked with a lease that is due later, by the address of two hosts."""
    frontier = make(replace(FREE, address_delay_ms=3000))
    known(frontier, clock)
    clock.forward(FREE.delay_ms)
    known(frontier, clock, B)
    frontier.take_in([Candidate(f"{A}/now", score=0.1), later(f"{A}/later", clock)])
    lease = one(frontier, AHEAD_MS)
    assert (lease.url, lease.due_ms) == (f"{A}/later", clock.now_ms + 1000)
    assert not frontier.bind(lease.token, "192.0.2.9").reason
    frontier.release([lease.token])
    assert one(frontier, AHEAD_MS).due_ms >= clock.now_ms + 600


def test_nor_is_what_pages_embed_when_that_alone_is_leased(make: Make, clock: Clock) -> None:
    frontier = make(ONE_PAGE)
    spent(frontier)
    assert frontier.lease(1).leases == ()
    frontier.take_in([embedded(f"{A}/1.png", not_before_ms=clock.now_ms + 600), Candidate(f"{A}/page")])
    assert one(frontier, AHEAD_MS).due_ms == clock.now_ms + 600


def test_behind_robots_txt_that_is_leased_ahead_it_is_not_due_before_either(make: Make, clock: Clock) -> None:
    frontier = make(POLITE)
    frontier.take_in([later(f"{A}/later", clock, 5000)])
    clock.forward(4400)
    robots = one(frontier, AHEAD_MS)
    assert (robots.url, robots.due_ms) == (f"{A}/robots.txt", clock.now_ms + 600)
    frontier.report([Outcome(robots.token, "ok", robots=RobotsRecord("allow"))])
    clock.forward(POLITE.delay_ms)
    assert urls(frontier.lease(1, AHEAD_MS).leases) == [f"{A}/later"]


def test_one_that_stands_in_the_line_of_the_least_comes_in_time_with_what_is_better(make: Make, clock: Clock) -> None:
    """A lease that looks ahead to that instant finds that it is not there yet."""
    frontier = make(replace(FREE, least_share=0.1, least_every_ms=1e12, better_wait_ms=20_000))
    frontier.take_in([Candidate(f"{A}/{n}", score=0.9) for n in range(2)])
    done(frontier, one(frontier))
    frontier.take_in([Candidate(f"{B}/{n}", score=0.05) for n in range(2)])
    assert frontier.lease(100).leases == ()
    frontier.take_in([later(f"{B}/later", clock)])
    assert frontier.lease(100, AHEAD_MS).leases == ()
    clock.forward(600)
    assert urls(frontier.lease(100).leases) == [f"{B}/later"]


def test_what_is_brought_back_by_hand_is_due_at_once(make: Make, clock: Clock) -> None:
    frontier = make(FREE)
    known(frontier, clock)
    frontier.take_in([later(f"{A}/later", clock, 60_000)])
    assert frontier.unpark(A) == 1
    assert one(frontier).due_ms == clock.now_ms


def test_one_that_never_had_a_lease_and_stands_in_line_when_a_call_is_over_has_none_too_early(
    make: Make, clock: Clock
) -> None:
    frontier = make(FREE)
    frontier.take_in([later(f"{host}/later", clock) for host in (A, B)])
    assert one(frontier, AHEAD_MS).due_ms == clock.now_ms + 600
    clock.forward(100)
    assert frontier.lease(1).leases == ()
    assert one(frontier, AHEAD_MS).due_ms == clock.now_ms + 500
