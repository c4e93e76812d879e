"""Hosts that have never been leased are kept more tightly; nobody sees a difference."""

from __future__ import annotations

import redis

from frontier import Candidate, HostPolicy
from frontier.keys import Keys
from frontier.redis_frontier import INTAKE_BATCH, RedisFrontier
from tests.contract.frontier.conftest import Clock, Make, numbers
from tests.contract.frontier.test_contract import FREE, done

HOSTS = [f"http://host{number}.example" for number in range(300)]


def test_each_of_many_new_hosts_is_found_before_and_after_its_first_lease(make: Make, clock: Clock) -> None:
    frontier = make(FREE)
    for path in ("1", "2"):
        for first in range(0, 300, 50):
            frontier.take_in([Candidate(f"{host}/{path}") for host in HOSTS[first : first + 50]])
    assert [(state.queued, state.admitted) for host in HOSTS if (state := frontier.host(host))] == [(2, 2)] * 300
    assert frontier.host("http://host300.example") is None
    assert [waiting.url for waiting in frontier.peek(HOSTS[-1])] == [f"{HOSTS[-1]}/1", f"{HOSTS[-1]}/2"]
    seen = []
    while leases := frontier.lease(70).leases:
        for lease in leases:
            seen.append(lease.url)
            done(frontier, lease)
    assert sorted(seen) == sorted(f"{host}/1" for host in HOSTS)
    assert [(state.queued, state.pages) for host in HOSTS if (state := frontier.host(host))] == [(1, 1)] * 300
    clock.forward(2000)
    assert len({lease.authority for _ in range(5) for lease in frontier.lease(70).leases}) == 300


def test_all_that_one_call_takes_may_be_one_hosts_or_as_many_hosts(server: redis.Redis, clock: Clock) -> None:
    """More are too many for a script."""
    frontier = RedisFrontier(server, "full", FREE, now_ms=clock)
    number = frontier.moves()[1]
    frontier.take_in([Candidate(f"{HOSTS[0]}/{n}") for n in range(INTAKE_BATCH)])
    frontier.take_in([Candidate(f"http://h{n}.example/") for n in range(INTAKE_BATCH)])
    assert frontier.moves()[1] == number + 2
    status = frontier.status()
    assert (status.queued, status.authorities) == (2 * INTAKE_BATCH, INTAKE_BATCH + 1)
    assert [row.url for row in frontier.peek(HOSTS[0], 3000)] == [f"{HOSTS[0]}/{n}" for n in range(INTAKE_BATCH)]


def test_many_hosts_are_given_rules_in_a_few_calls(server: redis.Redis, clock: Clock) -> None:
    """A seed file may name thousands of sites, at the start of each worker, and Redis be far."""
    frontier = RedisFrontier(server, "ruled", FREE, now_ms=clock)
    frontier.take_in([Candidate(f"{host}/1") for host in HOSTS[:10]])
    tokens = [lease.token for lease in frontier.lease(5).leases]

    def calls() -> int:
        return int(server.info("commandstats")["cmdstat_evalsha"]["calls"])

    before = calls()
    frontier.configure({host: HostPolicy(delay_ms=number, max_pages=7) for number, host in enumerate(HOSTS)})
    assert calls() - before <= 4
    assert frontier.configured() == sorted(HOSTS)
    assert [state.delay_ms for host in HOSTS if (state := frontier.host(host))] == list(range(300))
    assert frontier.release(tokens) == 5
    frontier.configure(dict.fromkeys(HOSTS, HostPolicy()))
    assert frontier.configured() == []
    assert {state.delay_ms for host in HOSTS if (state := frontier.host(host))} == {FREE.delay_ms}


def test_hosts_leave_the_shared_records_with_their_first_lease(server: redis.Redis, clock: Clock) -> None:
    frontier, keys = RedisFrontier(server, "newcomers", FREE, now_ms=clock), Keys("newcomers")
    frontier.take_in([Candidate(f"{host}/1") for host in HOSTS])

    def buckets() -> int:
        return len(server.keys(keys.prefix + "b:*"))

    assert server.exists(*map(keys.record, HOSTS)) == 0
    # eight to a bucket, so that some are empty by chance
    assert 25 <= buckets() <= 38
    tokens = [lease.token for _ in range(3) for lease in frontier.lease(70).leases]
    assert server.exists(*map(keys.record, HOSTS)) == 210
    assert frontier.release(tokens) == 210
    assert server.hget(keys.meta, "newcomers") == b"90"
    while frontier.lease(70).leases:
        pass
    assert server.exists(*map(keys.record, HOSTS)) == 300
    assert (buckets(), server.hget(keys.meta, "newcomers")) == (0, b"0")


def test_a_new_host_is_given_its_place_in_line_without_its_record(server: redis.Redis, clock: Clock) -> None:
    """As most that are looked at in a call: it has been in no set of those that are due, so it leaves none."""
    frontier = RedisFrontier(server, f"test{next(numbers)}", FREE, now_ms=clock)
    frontier.take_in([Candidate(f"{host}/1") for host in HOSTS])
    server.config_resetstat()
    assert len(frontier.lease(70).leases) == 70
    assert "cmdstat_zrem" not in server.info("commandstats")
