"""Crawls of different names that share a Redis ask a host and an address by turns, at the pace of one."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from dataclasses import replace

import pytest
import redis

from frontier import Candidate, FrontierConfig, HostPolicy, Lease, Outcome
from frontier.outcomes import DAY, HOUR
from frontier.turns import OTHER_CRAWL, TurnTakingFrontier
from tests.contract.frontier.conftest import Clock
from tests.contract.frontier.test_contract import FREE, A, B, done, one

MakeSharing = Callable[[FrontierConfig], TurnTakingFrontier]
ADDRESS = "192.0.2.1"


def crawls(make: MakeSharing, number: int, urls: list[str], config: FrontierConfig = FREE) -> list[TurnTakingFrontier]:
    found = [make(config) for _ in range(number)]
    for frontier in found:
        frontier.take_in([Candidate(url) for url in urls])
    return found


def next_lease(frontier: TurnTakingFrontier, clock: Clock) -> Lease:
    """What the crawl is granted as soon as it may be, when it asks no sooner than it is told to."""
    for _ in range(200):
        grant = frontier.lease(1)
        if grant.leases:
            return grant.leases[0]
        assert grant.next_due_ms is not None
        clock.now_ms = max(clock.now_ms + 1, grant.next_due_ms)
    raise AssertionError("no turn")


def test_a_host_is_asked_by_one_crawl_at_a_time_and_rests_for_all(make_sharing: MakeSharing, clock: Clock) -> None:
    zulu, xhosa = crawls(make_sharing, 2, [f"{A}/1", f"{A}/2"])
    first = one(zulu)
    grant = xhosa.lease(1)
    assert grant.leases == ()
    assert grant.next_due_ms == clock.now_ms + 1000
    state = xhosa.host(A)
    assert state is not None
    assert (state.rest_reason, state.leased_token, state.queued) == (OTHER_CRAWL, "", 2)
    assert xhosa.status().leased == 0
    clock.forward(500)
    done(zulu, first)
    answered_ms = clock.now_ms
    clock.forward(500)
    grant = xhosa.lease(1)
    assert (grant.leases, grant.next_due_ms) == ((), answered_ms + 2000)
    clock.now_ms = answered_ms + 2000
    # It has waited; the one that was before it comes after it.
    assert zulu.lease(1).leases == ()
    second = one(xhosa)
    done(xhosa, second)
    assert next_lease(zulu, clock).due_ms >= answered_ms + 4000


def test_an_address_is_asked_by_one_crawl_at_a_time(make_sharing: MakeSharing, clock: Clock) -> None:
    (zulu,), (xhosa,) = crawls(make_sharing, 1, [f"{A}/"]), crawls(make_sharing, 1, [f"{B}/"])
    first, second = one(zulu), one(xhosa)
    assert zulu.bind(first.token, ADDRESS).granted
    refused = xhosa.bind(second.token, ADDRESS)
    assert (refused.granted, refused.reason) == (False, OTHER_CRAWL)
    assert xhosa.status().leased == 0
    clock.forward(300)
    done(zulu, first)
    answered_ms = clock.now_ms
    clock.now_ms = refused.due_ms
    again = next_lease(xhosa, clock)  # its address is known now
    assert (again.url, again.address) == (f"{B}/", ADDRESS)
    assert again.due_ms >= answered_ms + FREE.address_delay_ms


def test_a_busy_host_is_left_alone_by_all(make_sharing: MakeSharing, clock: Clock) -> None:
    zulu, xhosa = crawls(make_sharing, 2, [f"{A}/1"])
    done(zulu, one(zulu), "http_503", retry_after_ms=HOUR)
    grant = xhosa.lease(1)
    assert (grant.leases, grant.next_due_ms) == ((), clock.now_ms + HOUR)


def test_the_quota_of_one_crawl_is_its_own(make_sharing: MakeSharing, clock: Clock) -> None:
    zulu, xhosa = crawls(make_sharing, 2, [f"{A}/1", f"{A}/2"])
    zulu.configure({A: HostPolicy(max_pages=1)})
    done(zulu, one(zulu))
    clock.forward(2000)
    assert zulu.lease(1).leases == ()
    state = zulu.host(A)
    assert state is not None
    assert state.rest_ms > clock.now_ms + DAY // 2
    assert one(xhosa).url == f"{A}/1"


def test_what_is_given_back_is_no_turn(make_sharing: MakeSharing, clock: Clock) -> None:
    zulu, xhosa = crawls(make_sharing, 2, [f"{A}/1"])
    zulu.release([one(zulu).token])
    assert one(xhosa).url == f"{A}/1"


def test_a_crawl_that_died_holds_nobody_up_for_longer_than_its_lease(make_sharing: MakeSharing, clock: Clock) -> None:
    zulu, xhosa, swati = crawls(make_sharing, 3, [f"{A}/1"])
    dead = one(zulu)
    assert xhosa.lease(1).leases == ()  # it is next, and dies, too
    lease = next_lease(swati, clock)
    assert dead.expires_ms <= clock.now_ms <= dead.expires_ms + 15_000
    assert lease.url == f"{A}/1"


def test_a_turn_of_a_later_lease_is_not_ended_by_a_late_report(make_sharing: MakeSharing, clock: Clock) -> None:
    zulu, xhosa = crawls(make_sharing, 2, [f"{A}/1", f"{A}/2"])
    late = one(zulu)
    clock.now_ms = late.expires_ms + 5000
    one(zulu)
    assert zulu.report([Outcome(late.token, "ok")]) == [False]
    assert xhosa.lease(1).leases == ()


def test_on_a_cluster_a_crawl_goes_on_by_itself(make_sharing: MakeSharing, server: redis.Redis) -> None:
    (zulu,) = crawls(make_sharing, 1, [f"{A}/1"])
    elsewhere = "return redis.error_reply('MOVED 866 127.0.0.1:7001')"
    zulu._taking = zulu._leaving = server.register_script(elsewhere)  # what a node says of the turns' slot
    done(zulu, one(zulu))


@pytest.mark.parametrize("seed", range(3))
def test_many_crawls_together_are_no_faster_than_one_and_all_get_on(
    seed: int, make_sharing: MakeSharing, clock: Clock
) -> None:
    rng = random.Random(seed)
    hosts = [f"http://host{number}.example" for number in range(6)]
    address_of = dict(zip(hosts, ["192.0.2.1", "192.0.2.1", "192.0.2.1", "192.0.2.2", "192.0.2.2", ""], strict=True))
    urls = [f"{host}/{number}" for host in hosts for number in range(8)]
    together = crawls(make_sharing, 4, urls, replace(FREE, lease_ms=20_000))
    fetches: list[tuple[str, str, int, int, int]] = []
    out: list[tuple[int, int, Lease, str]] = []
    end_ms = clock.now_ms + HOUR
    while clock.now_ms < end_ms and len(fetches) < len(together) * len(urls):
        clock.forward(rng.choice((20, 100, 250)))
        for number, frontier in rng.sample(list(enumerate(together)), len(together)):
            for lease in frontier.lease(rng.randint(1, 4), rng.choice((0, 300))).leases:
                address, due_ms = lease.address or address_of[lease.authority] or f"198.51.100.{number}", lease.due_ms
                if not lease.address:
                    bound = frontier.bind(lease.token, address)
                    if not bound.granted:
                        continue
                    due_ms = bound.due_ms
                start_ms = max(due_ms, clock.now_ms)
                if rng.random() < 0.05:
                    continue  # its worker dies
                out.append((start_ms + rng.randint(1, 900), number, lease, address))
                fetches.append((lease.authority, address, start_ms, out[-1][0], number))
        for entry in [entry for entry in out if entry[0] <= clock.now_ms]:
            out.remove(entry)
            done(together[entry[1]], entry[2], ended_ago_ms=clock.now_ms - entry[0])
    assert len(fetches) == len(together) * len(urls)
    for column, delay_ms in ((0, FREE.delay_ms), (1, FREE.address_delay_ms)):
        for name in {fetch[column] for fetch in fetches}:
            mine = sorted((fetch[2], fetch[3]) for fetch in fetches if fetch[column] == name)
            gaps = [after[0] - before[1] for before, after in itertools.pairwise(mine)]
            assert min(gaps) >= delay_ms, (name, min(gaps))
    halfway = sorted(fetches, key=lambda fetch: fetch[2])[: len(fetches) // 2]
    shares = [sum(fetch[4] == number for fetch in halfway) for number in range(len(together))]
    assert max(shares) < 2 * min(shares), shares
