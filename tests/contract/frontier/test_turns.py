"""Crawls of different names that share a Redis ask a host and an address by turns, at the pace of one."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, cast

import pytest
import redis

from frontier import Bound, Budget, Candidate, Frontier, FrontierConfig, Grant, HostPolicy, Lease, Outcome
from frontier.errors import FrontierUnavailable
from frontier.outcomes import DAY, HOUR
from frontier.redis_frontier import RedisFrontier
from frontier.turns import OTHER_CRAWL, TurnTakingFrontier
from tests.contract.frontier.conftest import Clock, delete_turns
from tests.contract.frontier.simulation import Simulation, World, run_together
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


def test_until_others_are_told_of_a_report_they_wait_as_for_a_lease(make_sharing: MakeSharing, clock: Clock) -> None:
    zulu, xhosa = crawls(make_sharing, 2, [f"{A}/1", f"{A}/2"])
    first = one(zulu)
    assert zulu.report_first([Outcome(first.token, "ok")]) == [True]
    answered_ms = clock.now_ms
    clock.forward(500)
    assert xhosa.lease(1).next_due_ms == clock.now_ms + 1000, "for all it knows the lease may end at any time"
    zulu.tell_others()
    clock.now_ms = answered_ms + 2000
    assert one(xhosa).due_ms >= answered_ms + 2000


def test_a_turn_that_was_taken_again_does_not_end_with_the_one_before(make_sharing: MakeSharing, clock: Clock) -> None:
    zulu, xhosa = crawls(make_sharing, 2, [f"{A}/1", f"{A}/2"])
    first = one(zulu)
    zulu.report_first([Outcome(first.token, "ok")])
    clock.forward(2000)
    second = one(zulu)
    zulu.tell_others()  # of the first only
    clock.forward(5000)
    assert xhosa.lease(1).leases == ()
    done(zulu, second)
    answered_ms = clock.now_ms
    assert next_lease(xhosa, clock).due_ms >= answered_ms + 2000


def test_a_worker_that_dies_before_it_tells_others_keeps_them_waiting_only(
    make_sharing: MakeSharing, clock: Clock
) -> None:
    zulu, xhosa = crawls(make_sharing, 2, [f"{A}/1"])
    first = one(zulu)
    zulu.report_first([Outcome(first.token, "ok")])
    assert next_lease(xhosa, clock).due_ms >= first.expires_ms


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


class GivenBack(dict[str, Any]):
    """Another thread gives back what is looked for as soon as it is found."""

    def get(self, key: str, default: Any = None) -> Any:
        return self.pop(key, default)


def test_a_lease_that_is_given_back_while_it_is_bound_is_no_turn(make_sharing: MakeSharing) -> None:
    zulu, xhosa = crawls(make_sharing, 2, [f"{A}/1"])
    token = one(zulu).token
    RedisFrontier.release(zulu, [token])
    zulu._held = GivenBack(zulu._held)
    assert not zulu.bind(token, ADDRESS).granted
    assert one(xhosa).url == f"{A}/1"


def test_on_a_cluster_a_crawl_goes_on_by_itself(make_sharing: MakeSharing, server: redis.Redis) -> None:
    (zulu,) = crawls(make_sharing, 1, [f"{A}/1"])
    elsewhere = "return redis.error_reply('MOVED 866 127.0.0.1:7001')"
    zulu._turns = server.register_script(elsewhere)  # what a node says of the turns' slot
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


def between(frontier: TurnTakingFrontier, happens: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> None:
    """What happens once after a lease is granted and before its turn is asked for."""
    asks, left = frontier._ask_turns, [happens]

    def ask(**arguments: Any) -> list[int]:
        while left:
            left.pop()()
        return asks(**arguments)

    monkeypatch.setattr(frontier, "_ask_turns", ask)


def test_a_longer_rest_is_not_cut_short(
    make_sharing: MakeSharing, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    zulu, xhosa = crawls(make_sharing, 2, [f"{A}/1"])
    one(zulu)
    between(xhosa, lambda: xhosa.park(A, "by_hand", DAY), monkeypatch)
    assert xhosa.lease(1).leases == ()
    state = xhosa.host(A)
    assert state is not None
    assert (state.rest_reason, state.rest_ms) == ("by_hand", clock.now_ms + DAY)


def test_a_worker_that_stood_still_takes_no_turn_from_the_next_one(
    make_sharing: MakeSharing, clock: Clock, server: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    zulu, xhosa = crawls(make_sharing, 2, [f"{A}/1"])
    other_worker = TurnTakingFrontier(server, zulu.crawl, FREE, now_ms=clock)

    def stands_still() -> None:
        clock.forward(FREE.lease_ms + 5_000)
        one(other_worker)

    between(zulu, stands_still, monkeypatch)
    assert zulu.lease(1).leases == ()
    clock.forward(FREE.lease_ms - 1)
    assert xhosa.lease(1).leases == ()
    assert zulu._held == {}


@pytest.mark.parametrize("lost", ["lease", "bind"])
def test_what_was_leased_when_redis_went_away_goes_back(
    lost: str, make_sharing: MakeSharing, monkeypatch: pytest.MonkeyPatch
) -> None:
    zulu, xhosa = crawls(make_sharing, 2, [f"{A}/1", f"{B}/1"])

    def goes_away() -> None:
        raise FrontierUnavailable(zulu.crawl, "gone")

    if lost == "lease":
        between(zulu, goes_away, monkeypatch)
        with pytest.raises(FrontierUnavailable):
            zulu.lease(2)
    else:
        tokens = [lease.token for lease in zulu.lease(2).leases]
        between(zulu, goes_away, monkeypatch)
        with pytest.raises(FrontierUnavailable):
            zulu.bind(tokens[0], ADDRESS)
        zulu.release(tokens)
    assert [(lease.url, lease.attempt) for lease in zulu.lease(2).leases] == [(f"{A}/1", 0), (f"{B}/1", 0)]
    zulu.release(list(zulu._held))
    assert zulu._held == {}
    assert len(xhosa.lease(2).leases) == 2


def test_a_rest_that_another_left_holds_for_all_hosts_at_the_address(make_sharing: MakeSharing, clock: Clock) -> None:
    """One of them was leased ahead and given back before it was due: the others may not be asked any sooner."""
    zulu, xhosa = make_sharing(FREE), make_sharing(FREE)
    for host in (A, B):
        xhosa.take_in([Candidate(f"{host}/{number}") for number in range(2)])
    for wait_ms in (5000, FREE.address_delay_ms):
        lease = one(xhosa)
        assert xhosa.bind(lease.token, ADDRESS).granted
        done(xhosa, lease)
        clock.forward(wait_ms)
    zulu.take_in([Candidate("http://z.example/")])
    other = one(zulu)
    assert zulu.bind(other.token, ADDRESS).granted
    done(zulu, other)
    answered_ms = clock.now_ms
    clock.forward(500)
    xhosa.pause(A)
    ahead = one(xhosa, ahead_ms=1000)
    assert (ahead.authority, ahead.due_ms) == (B, answered_ms + 1000)
    xhosa.release([ahead.token])
    xhosa.pause(B)
    xhosa.resume(A)
    grants = [xhosa.lease(1, ahead_ms=1000) for _ in range(2)]
    assert [lease.due_ms for grant in grants for lease in grant.leases] == [answered_ms + 1000]


def test_of_many_hosts_at_an_address_one_asks_for_its_turn(make_sharing: MakeSharing, clock: Clock) -> None:
    hosts = [f"http://many{number}.example/{page}" for number in range(30) for page in range(2)]
    zulu, xhosa = crawls(make_sharing, 2, hosts)
    for frontier in (zulu, xhosa):
        for _ in range(30):
            lease = next_lease(frontier, clock)
            while not frontier.bind(lease.token, ADDRESS).granted:
                clock.forward(1000)
                lease = next_lease(frontier, clock)
            done(frontier, lease)
            clock.forward(1000)
    clock.forward(60_000)
    zulu_lease = one(zulu)
    before = int(xhosa._redis.hget(xhosa.keys.meta, "seq"))
    for _ in range(10):
        assert xhosa.lease(8).leases == ()
    assert int(xhosa._redis.hget(xhosa.keys.meta, "seq")) - before == 1
    done(zulu, zulu_lease)


def test_an_address_that_a_lease_has_left_is_free(make_sharing: MakeSharing, clock: Clock) -> None:
    (zulu,), (xhosa,) = crawls(make_sharing, 1, [f"{A}/1", f"{A}/2"]), crawls(make_sharing, 1, [f"{B}/"])
    first = one(zulu)
    zulu.bind(first.token, ADDRESS)
    done(zulu, first)
    clock.forward(5000)
    second = one(zulu)
    assert second.address == ADDRESS
    assert zulu.bind(second.token, "192.0.2.2").granted
    assert xhosa.bind(one(xhosa).token, ADDRESS).granted


def test_the_host_of_a_dead_crawl_rests_after_its_lease(make_sharing: MakeSharing, clock: Clock) -> None:
    zulu, xhosa = crawls(make_sharing, 2, [f"{A}/1"])
    dead = one(zulu)
    assert next_lease(xhosa, clock).due_ms >= dead.expires_ms + FREE.delay_ms


def test_a_late_report_does_not_let_others_ask_sooner(make_sharing: MakeSharing, clock: Clock) -> None:
    zulu, xhosa = crawls(make_sharing, 2, [f"{A}/1"])
    late = one(zulu)
    clock.now_ms = late.expires_ms + 1
    assert zulu.report([Outcome(late.token, "ok")]) == [False]
    assert next_lease(xhosa, clock).due_ms >= late.expires_ms + FREE.delay_ms
    assert zulu._held == {}


@pytest.mark.parametrize("act", ["unpark", "drop", "pause"])
def test_what_people_do_with_a_resting_host_is_nobody_elses_turn(
    act: str, make_sharing: MakeSharing, clock: Clock
) -> None:
    zulu, xhosa = crawls(make_sharing, 2, [f"{A}/1", f"{A}/2"])
    lease = one(zulu)
    assert xhosa.lease(1).leases == ()
    getattr(xhosa, act)(A)
    assert xhosa.lease(1).leases == ()
    done(zulu, lease)
    answered_ms = clock.now_ms
    if act == "unpark":
        xhosa.unpark(A)
        assert next_lease(xhosa, clock).due_ms == answered_ms + FREE.delay_ms
    else:  # it does not come for its turn
        assert next_lease(zulu, clock).due_ms <= answered_ms + 15_000


def test_two_crawls_do_not_wait_for_each_other(make_sharing: MakeSharing, clock: Clock) -> None:
    """One is next at the host, the other at its address."""
    zulu, xhosa, swati = (make_sharing(FREE) for _ in range(3))

    def ask(crawl: TurnTakingFrontier, number: int, host: str, address: str) -> list[int]:
        expires_ms = clock.now_ms + 1000
        return crawl._ask_turns(asks=[[f"{number}", clock.now_ms, expires_ms, host, 0, address, 0, -1]])

    assert ask(swati, 1, A, ADDRESS) == [0, 0, 0]
    assert ask(zulu, 2, A, "") == [clock.now_ms + 1000, 0, 0]  # is next at the host
    clock.forward(1)
    assert ask(xhosa, 3, B, ADDRESS) == [0, clock.now_ms + 999, 0]  # and at the address
    clock.forward(2000)
    assert ask(xhosa, 4, A, ADDRESS) != [0, 0, 0]
    assert ask(zulu, 5, A, ADDRESS) == [0, 0, 0]


class Workers:
    """Several workers of one crawl as one frontier: any of them leases, and each ends its own leases. Those that tell
    `later` of their reports do so at any time, and some are killed before."""

    def __init__(self, workers: list[TurnTakingFrontier], rng: random.Random, *, later: bool) -> None:
        self.workers, self.rng, self.later = workers, rng, later
        self.of: dict[str, TurnTakingFrontier] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.workers[0], name)

    def lease(self, limit: int, ahead_ms: int = 0) -> Grant:
        self.tell()
        worker = self.rng.choice(self.workers)
        grant = worker.lease(self.rng.randint(1, limit), ahead_ms)
        self.of |= {lease.token: worker for lease in grant.leases}
        return grant

    def bind(self, token: str, address: str) -> Bound:
        self.tell()
        return self.of[token].bind(token, address)

    def report(self, outcomes: list[Outcome]) -> list[bool]:
        worker = self.of[outcomes[0].token]
        return worker.report_first(outcomes) if self.later else worker.report(outcomes)

    def tell(self) -> None:
        """Of what one of them has reported, or nobody ever."""
        worker, luck = self.rng.choice(self.workers), self.rng.random()
        if self.later and luck < 0.3:
            worker.tell_others()
        elif luck > 0.99:
            worker._reported.clear()

    def release(self, tokens: list[str]) -> int:
        return self.of[tokens[0]].release(tokens)


FAULTS = {"killed": 0.05, "late": 0.05, "release": 0.1, "busy": 0.05, "cut": 0.05, "dns": 0.05, "robots_denied": 0.1}


@pytest.mark.parametrize("seed", range(12))
def test_crawls_of_different_delays_with_all_kinds_of_faults(seed: int, server: redis.Redis, clock: Clock) -> None:
    """The account that all have in common checks each grant: nobody else has the turn, and the delay is over."""
    delete_turns(server)
    rng = random.Random(seed)
    together = []
    for number, delay_ms in enumerate((1_000, 2_500, rng.choice((400, 6_000)))):
        config = FrontierConfig(
            delay_ms=delay_ms,
            address_delay_ms=rng.choice((300, 700, 4_000)),
            lease_ms=8_000,
            address_ttl_ms=rng.choice((5_000, HOUR)),
            obey_robots=rng.random() < 0.7,
            budget=Budget(max_pages=rng.choice((0, 0, 20))),
        )
        make = partial(TurnTakingFrontier, server, f"faults{seed}-{number}", config, now_ms=clock, jitter=rng.random)
        workers = Workers([make() for _ in range(rng.randint(1, 3))], rng, later=seed // 2 % 2 == 1)
        moves_s = 7 if seed % 2 else 0
        hosts, addresses = 3 + seed % 5, 1 + seed % 6
        world = World(hosts, 6, addresses, 90, 8, moves_s, crawl_delays=True, faults=FAULTS)
        together.append(Simulation(cast("Frontier", workers), config, clock, world, seed * 10 + number))
    run_together(together)
    assert min(simulation.grants for simulation in together) > 5
