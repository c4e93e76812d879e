"""One address, one host at a time: also when hosts come to it, leave it and are asked for it again."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
import redis

from frontier import Candidate, Frontier, HostPolicy, Outcome
from frontier.outcomes import HOUR
from frontier.redis_frontier import RedisFrontier
from tests.contract.frontier.conftest import Clock, Make
from tests.contract.frontier.test_contract import FREE, A, B, C, done, one, urls

SLOW_ADDRESSES = replace(FREE, delay_ms=1000, address_delay_ms=60_000, address_ttl_ms=1500)
HERE, THERE = "192.0.2.1", "192.0.2.2"


def fetched_once(frontier: Frontier) -> Frontier:
    """With two URLs of A, the first of which was just fetched from HERE."""
    frontier.take_in([Candidate(f"{A}/1"), Candidate(f"{A}/2")])
    first = one(frontier)
    assert frontier.bind(first.token, HERE).granted
    done(frontier, first)
    return frontier


def test_an_address_rests_whoever_left_it(make: Make, clock: Clock) -> None:
    frontier = fetched_once(make(SLOW_ADDRESSES))
    rested_ms = clock.now_ms + 60_000
    clock.forward(2000)
    second = one(frontier)
    assert second.address == ""
    assert frontier.bind(second.token, THERE).granted
    frontier.take_in([Candidate(f"{B}/1")])
    refused = frontier.bind(one(frontier).token, HERE)
    assert (refused.granted, refused.reason, refused.due_ms) == (False, "address_not_due", rested_ms)


def test_a_host_comes_back_to_an_address_that_another_had_meanwhile(make: Make, clock: Clock) -> None:
    frontier = make(replace(SLOW_ADDRESSES, address_delay_ms=3000, bind_ahead_ms=0))
    frontier.take_in([Candidate(f"{host}/{n}") for host in (A, B) for n in range(3)])
    first, second = frontier.lease(2).leases
    assert frontier.bind(first.token, HERE).granted
    assert not frontier.bind(second.token, HERE).granted
    done(frontier, first)
    clock.forward(3000)
    lease = one(frontier)
    assert frontier.bind(lease.token, HERE).granted
    assert frontier.bind(one(frontier).token, HERE).reason == "address_busy"


def test_the_next_lease_is_due_when_the_address_is(make: Make, clock: Clock) -> None:
    frontier = fetched_once(make(replace(SLOW_ADDRESSES, address_ttl_ms=3_600_000)))
    clock.forward(1000)
    grant = frontier.lease(1)
    assert (grant.leases, grant.next_due_ms) == ((), clock.now_ms + 59_000)
    assert one(frontier, ahead_ms=59_000).due_ms == clock.now_ms + 59_000


def test_when_its_validity_ends_the_address_is_waited_for_no_longer(make: Make, clock: Clock) -> None:
    frontier = fetched_once(make(SLOW_ADDRESSES))
    clock.forward(1000)
    assert frontier.lease(1, ahead_ms=700).leases == ()
    clock.forward(500)
    again = one(frontier)
    assert (again.address, again.due_ms) == ("", clock.now_ms)
    refused = frontier.bind(again.token, HERE)
    assert (refused.granted, refused.due_ms) == (False, clock.now_ms + 58_500)
    assert frontier.lease(1).leases == ()


def test_when_its_validity_ends_before_the_hosts_delay_the_host_is_asked_no_sooner(make: Make, clock: Clock) -> None:
    frontier = fetched_once(make(replace(SLOW_ADDRESSES, delay_ms=3000)))
    clock.forward(1500)
    grant = frontier.lease(1)
    assert (grant.leases, grant.next_due_ms) == ((), clock.now_ms + 1500)
    again = one(frontier, ahead_ms=1500)
    assert (again.address, again.due_ms) == ("", clock.now_ms + 1500)


@pytest.mark.parametrize("result", ["connect", "tls"])
def test_a_host_that_cannot_be_reached_is_looked_up_anew(make: Make, clock: Clock, result: str) -> None:
    """It may have moved; what is known of the address that it leaves stays known."""
    frontier = fetched_once(make(replace(SLOW_ADDRESSES, address_ttl_ms=86_400_000)))
    clock.forward(60_000)
    second = one(frontier)
    assert second.address == HERE
    assert frontier.report([Outcome(second.token, result)]) == [True]
    left_ms = clock.now_ms
    frontier.unpark(A)
    clock.forward(1000)
    again = one(frontier)
    assert (again.url, again.address) == (f"{A}/2", "")
    assert frontier.bind(again.token, THERE).granted
    frontier.take_in([Candidate(f"{B}/1")])
    assert frontier.bind(one(frontier).token, HERE).due_ms == left_ms + 60_000


def test_a_host_that_answers_late_keeps_its_address(make: Make, clock: Clock) -> None:
    frontier = fetched_once(make(replace(SLOW_ADDRESSES, address_ttl_ms=86_400_000)))
    clock.forward(60_000)
    assert frontier.report([Outcome(one(frontier).token, "timeout")]) == [True]
    frontier.unpark(A)
    clock.forward(60_000)
    assert one(frontier).address == HERE


def test_what_is_no_address_is_refused_and_changes_nothing(make: Make) -> None:
    frontier = make(FREE)
    frontier.take_in([Candidate(f"{A}/1")])
    lease = one(frontier)
    for text in ("", "1" * 256):
        with pytest.raises(ValueError, match="address"):
            frontier.bind(lease.token, text)
    assert frontier.bind(lease.token, HERE).granted
    done(frontier, lease)


def test_a_lease_that_was_never_bound_moves_no_address(make: Make, clock: Clock) -> None:
    """Its answer came from nobody knows where: that of the host's last one is as it was."""
    frontier = fetched_once(make(replace(SLOW_ADDRESSES, address_delay_ms=3000)))
    rested_ms = clock.now_ms + 3000
    clock.forward(2900)
    unbound = one(frontier)
    assert unbound.address == ""
    done(frontier, unbound)
    frontier.take_in([Candidate(f"{B}/1")])
    assert frontier.bind(one(frontier).token, HERE).due_ms == rested_ms


def waited_for(frontier: Frontier, clock: Clock, score: float = 0.9, parked_ms: int = 0) -> None:
    """HERE, free again, by A, whose URL has that score, and by B; A has another, parked so long from the start on."""
    start_ms = clock.now_ms
    busy = "http://busy.example"
    for host in (busy, A, B):
        frontier.take_in([Candidate(f"{host}/0")])
        lease = one(frontier)
        assert frontier.bind(lease.token, HERE).granted
        done(frontier, lease)
        clock.forward(2000)
    frontier.take_in([Candidate(f"{host}/1", score=score) for host, score in ((busy, 1.0), (A, score), (B, 0.1))])
    if parked_ms:
        frontier.take_in([Candidate(f"{A}/parked", not_before_ms=start_ms + parked_ms)])
    (holder,) = frontier.lease(10).leases
    assert holder.authority == busy
    done(frontier, holder)
    clock.forward(1000)


@pytest.mark.parametrize("limit", [1, 10])
def test_in_place_of_a_host_that_has_opted_out_the_next_of_its_address_comes_in_its_own_order(
    make: Make, clock: Clock, limit: int
) -> None:
    frontier = make(FREE)
    waited_for(frontier, clock)
    frontier.opt_out([A])
    frontier.take_in([Candidate(f"{C}/0", score=0.5)])
    found = [url for _ in range(3) for url in urls(frontier.lease(limit).leases)]
    assert found == [f"{C}/0", f"{B}/1"]


@pytest.mark.parametrize("away", ["paused", "dropped", "scored anew"])
def test_in_place_of_a_host_that_has_left_the_line_the_next_of_its_address_comes_in_its_own_order(
    make: Make, clock: Clock, away: str
) -> None:
    frontier = make(FREE)
    waited_for(frontier, clock)
    frontier.take_in([Candidate("http://first.example/", score=1.0), Candidate(f"{C}/0", score=0.5)])
    assert urls(frontier.lease(1).leases) == ["http://first.example/"]
    if away == "scored anew":
        ((queued,),) = frontier.heads([A], 1)
        frontier.rescore({A: [(queued, 0.0)]})
    else:
        frontier.pause(A) if away == "paused" else frontier.drop(A)
    found = [url for _ in range(3) for url in urls(frontier.lease(1).leases)]
    assert found == [f"{C}/0", f"{A}/1" if away == "scored anew" else f"{B}/1"]


def test_a_better_url_of_a_host_that_waits_for_an_address_comes_before_what_is_worth_less_elsewhere(
    make: Make, clock: Clock
) -> None:
    frontier = make(FREE)
    waited_for(frontier, clock, score=0.3)
    frontier.take_in([Candidate("http://first.example/", score=1.0), Candidate(f"{C}/0", score=0.5)])
    assert urls(frontier.lease(1).leases) == ["http://first.example/"]
    frontier.take_in([Candidate(f"{B}/better", score=0.8)])
    assert [url for _ in range(2) for url in urls(frontier.lease(1).leases)] == [f"{B}/better", f"{C}/0"]


def test_a_host_that_is_looked_at_again_keeps_its_place_before_the_next_of_its_address(
    make: Make, clock: Clock
) -> None:
    """As those of the last band are when what they have parked comes back: out of the address's line, and into it."""
    frontier = make(replace(FREE, least_share=0.5, least_every_ms=1))
    waited_for(frontier, clock, score=0.1, parked_ms=7000)
    assert urls(frontier.lease(1).leases) == [f"{A}/parked"]


def test_a_host_whose_own_pages_are_spent_rests_from_when_its_turn_comes(make: Make, clock: Clock) -> None:
    frontier = make(FREE)
    waited_for(frontier, clock)
    (holder,) = frontier.lease(10).leases
    assert holder.authority == A
    frontier.configure({B: HostPolicy(max_pages=1)})
    assert (frontier.lease(10).leases, reason(frontier)) == ((), "")
    done(frontier, holder)
    clock.forward(2000)
    assert (frontier.lease(10).leases, reason(frontier)) == ((), "quota")


def reason(frontier: Frontier) -> str:
    state = frontier.host(B)
    assert state is not None
    return state.rest_reason


def test_nobody_looks_at_a_host_that_waits_for_an_address_before_that_is_free(make: Make, clock: Clock) -> None:
    """Also when it came into that line by a lease that looked further ahead; what it has parked stays parked."""
    frontier = make(FREE)
    for host in (A, B):
        frontier.take_in([Candidate(f"{host}/0")])
        lease = one(frontier)
        assert frontier.bind(lease.token, HERE).granted
        done(frontier, lease)
        clock.forward(1000)
    frontier.take_in([Candidate(f"{A}/1"), Candidate(f"{B}/1"), Candidate(f"{B}/2", not_before_ms=clock.now_ms + 1500)])
    clock.forward(200)
    holder = one(frontier)
    assert holder.authority == A
    clock.forward(400)
    assert frontier.lease(10, ahead_ms=500).leases == frontier.lease(10).leases == ()
    clock.forward(900)
    assert frontier.lease(10).leases == ()
    assert frontier.status().parked == 1
    done(frontier, holder)
    clock.forward(1000)
    assert urls(frontier.lease(10).leases) == [f"{B}/2"]


@pytest.mark.parametrize(("later_ms", "kept"), [(HOUR, 1), (FREE.delay_ms, 3)])
def test_an_address_that_its_only_host_has_left_is_forgotten_when_it_has_rested(
    later_ms: int, kept: int, server: redis.Redis, clock: Clock
) -> None:
    """Some hosts have another each hour: for as long as a crawl lasts."""
    frontier = RedisFrontier(server, f"moves{kept}", replace(FREE, address_delay_ms=3000), now_ms=clock)
    frontier.take_in([Candidate(f"{A}/{n}") for n in range(3)])
    for number in range(3):
        lease = one(frontier)
        assert frontier.bind(lease.token, f"198.51.100.{number}").granted
        done(frontier, lease, "connect" if later_ms < HOUR else "ok")
        frontier.unpark(A)
        clock.forward(later_ms)
    left_ms = [server.pttl(key) for key in server.keys(f"{frontier.keys.prefix}i:*")]
    assert left_ms.count(-1) == kept
    assert max(left_ms) <= FREE.lease_ms


def test_it_is_known_as_long_as_there_are_leases_from_before_it_had_rested(make: Make, clock: Clock) -> None:
    """Of its own host, too, that is there again with the lease on which it left."""
    frontier = make(replace(FREE, delay_ms=500, address_delay_ms=3000))
    frontier.take_in([Candidate(f"{host}/{n}") for host in (A, B) for n in range(2)])
    first, second = frontier.lease(2).leases
    assert frontier.bind(first.token, HERE).granted
    done(frontier, first, "connect")
    rested_ms = clock.now_ms + 3000
    frontier.unpark(A)
    clock.forward(1000)
    again = one(frontier)
    clock.forward(2000)
    assert frontier.bind(again.token, THERE).granted
    assert frontier.bind(again.token, HERE).due_ms == rested_ms
    frontier.release([again.token])
    assert frontier.bind(second.token, HERE).due_ms == rested_ms


def test_many_hosts_of_an_address_that_have_opted_out_are_looked_at_some_at_a_time(
    server: redis.Redis, clock: Clock
) -> None:
    """Nobody else is answered meanwhile."""
    frontier, hosts = RedisFrontier(server, "many", FREE, now_ms=clock), [f"http://h{n}.example" for n in range(50)]
    for host in hosts:
        frontier.take_in([Candidate(f"{host}/0", score=1.0), Candidate(f"{host}/1", score=0.5)])
        lease = one(frontier)
        assert frontier.bind(lease.token, HERE).granted
        done(frontier, lease)
        clock.forward(2000)
    holder = frontier.lease(100).leases[0]
    done(frontier, holder)
    frontier.opt_out(hosts)
    clock.forward(2000)
    gone = [0]
    while frontier.lease(1).next_due_ms is not None:
        gone.append(frontier.status().results["opted_out"])
    gone.append(frontier.status().results["opted_out"])
    assert gone[-1] == 49
    assert max(after - before for before, after in pairwise(gone)) < 20
