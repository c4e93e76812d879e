"""Hosts that need nothing special are leased and reported without a table of their record: to the same bytes."""

from __future__ import annotations

import itertools
import random
import secrets
from typing import Any

import pytest
import redis

from frontier import (
    Candidate,
    FrontierConfig,
    HostPolicy,
    Kind,
    Lease,
    Outcome,
    RobotsRecord,
    TrapLimits,
    scripts,
    wire,
)
from frontier.outcomes import HOUR
from frontier.redis_frontier import RedisFrontier
from tests.contract.frontier.conftest import Clock, numbers
from tests.effort import trials

HOSTS, HOST = 6, "http://h.example"
RESULTS = ["ok"] * 40 + ["http_404", "http_503", "connect", "refused_address", "not_modified"]


def candidates(rng: random.Random, number: int) -> list[Candidate]:
    """Of few hosts, in all bands; one host's are long, so that its queue lies in lists."""
    found = []
    for page in range(number):
        host = rng.randrange(HOSTS)
        path = f"{page}-{rng.getrandbits(40)}" + "y" * (400 if host == 0 else 0)
        found.append(Candidate(f"http://h{host}.example/{path}", score=rng.random()))
    return found


def outcome(lease: Lease, rng: random.Random) -> Outcome:
    """Mostly a page with a mark, now and then a failure."""
    if lease.kind is Kind.ROBOTS and rng.random() < 0.1:  # a report that says no rules
        return Outcome(lease.token, "http_404" if lease.source == lease.authority else "ok")
    if lease.url.endswith("/robots.txt") and rng.random() < 0.2:
        return Outcome(lease.token, "robots_redirect", location=f"http://h{rng.randrange(HOSTS)}.example/rules")
    if lease.kind is Kind.ROBOTS:
        body = b"User-agent: *\nCrawl-delay: 3\n" if "h3." in lease.url else b""
        return Outcome(lease.token, "ok", robots=RobotsRecord("rules", body, expires_in_ms=40_000))
    result, mark = (
        rng.choice(RESULTS if "h4." not in lease.url else RESULTS[30:]),
        rng.choice([b"", b"samepage", rng.randbytes(8), rng.randbytes(8)]),
    )
    return Outcome(
        lease.token,
        result,
        fetch_ms=rng.choice([0, 30, 4000]),
        ended_ago_ms=rng.choice([0, 0, 700]),
        fetched_bytes=rng.randrange(9000),
        words=7,
        page_mark=mark,
        again_in_ms=rng.choice([None] * 20 + [3000]),
    )


def contents(server: Any, frontier: RedisFrontier) -> dict[bytes, Any]:
    """All keys of the crawl but the audit stream, by what follows the prefix."""
    prefix = frontier.keys.prefix
    found: dict[bytes, Any] = {}
    for key in server.scan_iter(prefix.replace("{", "[{]") + "*"):
        name = key[len(prefix) :]
        if name != b"audit":
            kind = server.type(key)
            if name.startswith(b"a:"):  # the map behind it comes in any order
                found[name] = wire.read_record(server.get(key))
            elif kind == b"zset":
                found[name] = server.zrange(key, 0, -1, withscores=True)
            elif kind == b"list":
                found[name] = server.lrange(key, 0, -1)
            elif kind == b"set":
                found[name] = server.smembers(key)
            else:
                found[name] = server.hgetall(key) if kind == b"hash" else server.get(key)
    return found


@pytest.mark.parametrize("seed", trials(6))
def test_both_ways_lead_to_the_same_state(
    seed: int, server: redis.Redis, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever writes an audit needs the record of each lease, and so takes the slow way always."""
    both = [
        RedisFrontier(
            server,
            f"test{next(numbers)}",
            FrontierConfig(
                delay_ms=900,
                address_delay_ms=1500,
                address_ttl_ms=2_500 if seed % 2 else 20_000,
                lease_ms=20_000,
                audit=audit,
                limits=TrapLimits(equal_pages=4),
            ),
            now_ms=clock,
            jitter=lambda: 0.5,
        )
        for audit in (False, True)
    ]
    for frontier in both:
        frontier.configure(
            {"http://h1.example": HostPolicy(delay_ms=2500), "http://h2.example": HostPolicy(max_pages=9)}
        )
    rng = random.Random(seed)
    keys, granted = itertools.count(1), 0
    for round_number in range(60):
        if round_number % 10 == 0:
            arrivals = candidates(rng, 60)
            for frontier in both:
                frontier.take_in(arrivals)
        limit, ahead_ms, key = rng.choice([1, 3, 32]), rng.choice([0, 400, 1200]), next(keys)
        monkeypatch.setattr(secrets, "randbits", lambda _, key=key: key)
        grants = [frontier.lease(limit, ahead_ms).leases for frontier in both]
        assert grants[0] == grants[1]
        granted += len(grants[0])
        for lease in grants[0]:
            for frontier in both if not lease.address and rng.random() < 0.95 else []:  # a few are never bound
                frontier.bind(lease.token, f"192.0.2.1{lease.authority[-9]}")
        # Rules come last, as the quick way has them: they count the delay of another host from the end of its page.
        in_order = sorted(grants[0], key=lambda lease: lease.kind is Kind.ROBOTS)
        ended = [outcome(lease, rng) for lease in in_order if rng.random() < 0.95]
        assert len({tuple(frontier.report(ended)) for frontier in both}) == 1
        if round_number % 3 == 2:  # reading all is the most of the work
            assert contents(server, both[0]) == contents(server, both[1])
        clock.forward(rng.choice([0, 300, 1500, 5000]))
    assert both[0].status().pages > 5
    assert sum(row.event == "grant" for row in both[1].audit()) == granted


def quick_only(server: redis.Redis, clock: Clock) -> RedisFrontier:
    """One that fails where it would take the slow way."""
    config = FrontierConfig(delay_ms=1000)
    frontier = RedisFrontier(server, f"test{next(numbers)}", config, now_ms=clock)
    for lease in bound(frontier, clock):
        assert frontier.report([Outcome(lease.token, "ok", robots=RobotsRecord("allow"))]) == [True]
    for name in scripts.SLOW_PARTS:
        text = scripts.script_text(name, config)
        begin = "local function define_slow_way()"
        assert text.count(begin) == 1
        frontier._scripts[name] = server.register_script(text.replace(begin, begin + " error('slow way')"))
    return frontier


def bound(frontier: RedisFrontier, clock: Clock) -> tuple[Lease, ...]:
    frontier.take_in(Candidate(f"http://h{n}.example/{page}") for n in range(9) for page in range(3))
    leases = frontier.lease(9).leases
    for number, lease in enumerate(leases):
        assert frontier.bind(lease.token, f"192.0.2.{number}").granted
    return leases


@pytest.mark.parametrize("limit", [1, 4, 9])
def test_plain_hosts_never_need_the_slow_way(limit: int, server: redis.Redis, clock: Clock) -> None:
    frontier = quick_only(server, clock)
    seen: list[str] = []
    for _ in range(60):
        clock.forward(1000)
        leases = frontier.lease(limit).leases
        outcomes = [Outcome(lease.token, "ok", fetch_ms=20, page_mark=b"%08d" % len(seen)) for lease in leases]
        assert all(frontier.report(outcomes))
        seen += [lease.url for lease in leases]
    assert len(seen) == len(set(seen)) == 27
    assert frontier.status().queued == 0


def test_what_is_not_plain_does(server: redis.Redis, clock: Clock) -> None:
    """So that the test above cannot pass by accident."""
    frontier = quick_only(server, clock)
    clock.forward(1000)
    (lease,) = frontier.lease(1).leases
    with pytest.raises(redis.ResponseError, match="slow way"):
        frontier.report([Outcome(lease.token, "connect")])


def test_what_was_written_is_said_to_be_accepted_whatever_comes_after(server: redis.Redis, clock: Clock) -> None:
    """Else a worker would drop its copy of a page that the frontier has done with."""
    frontier = quick_only(server, clock)
    clock.forward(1000)
    plain, special = frontier.lease(2).leases
    with pytest.raises(redis.ResponseError, match="slow way"):
        frontier.report([Outcome(special.token, "connect"), Outcome(plain.token, "ok")])
    assert frontier.accepted([plain.token, special.token]) == {plain.token}


def test_a_token_of_another_number_or_key_ends_nothing(server: redis.Redis, clock: Clock) -> None:
    frontier = quick_only(server, clock)
    frontier._scripts["report"] = server.register_script(scripts.script_text("report", frontier.config))
    clock.forward(1000)
    (lease,) = frontier.lease(1).leases
    name, number, key = wire.token_parts(lease.token)
    others = [wire.token_of(name, number + 1, key), wire.token_of(name, number, key ^ 1)]
    assert frontier.report([Outcome(token, "ok") for token in others[:1]]) == [False]
    assert frontier.report([Outcome(token, "ok") for token in others[1:]]) == [False]
    assert frontier.report([Outcome(lease.token, "ok")]) == [True]


def test_an_outcome_said_twice_ends_its_lease_once(server: redis.Redis, clock: Clock) -> None:
    frontier = RedisFrontier(server, f"test{next(numbers)}", now_ms=clock)
    for lease in bound(frontier, clock):
        frontier.report([Outcome(lease.token, "ok", robots=RobotsRecord("allow"))])
    clock.forward(60_000)
    (lease,) = frontier.lease(1).leases
    said = Outcome(lease.token, "ok", fetched_bytes=5)
    assert frontier.report([said, said]) == [True, True]
    assert frontier.status().fetched_bytes == 5
    assert frontier.report([said]) == [True]


@pytest.mark.parametrize("audit", [False, True])  # the quick way, the slow way
def test_what_was_accepted_is_known_where_one_bitmap_ends(audit: bool, server: redis.Redis, clock: Clock) -> None:
    config = FrontierConfig(obey_robots=False, audit=audit)
    frontier = RedisFrontier(server, f"test{next(numbers)}", config, now_ms=clock)
    frontier.report([Outcome(lease.token, "ok") for lease in bound(frontier, clock)])
    server.hset(frontier.keys.meta, "seq", wire.DONE_CHUNK - 5)
    clock.forward(60_000)
    tokens = [lease.token for lease in frontier.lease(9).leases]
    assert [wire.token_parts(token)[1] - wire.DONE_CHUNK for token in tokens] == list(range(-4, 5))
    for _ in range(2):
        assert frontier.report([Outcome(token, "ok") for token in tokens[:-1]]) == [True] * 8
        assert frontier.accepted(tokens) == set(tokens[:-1])


def test_an_opt_out_counts_for_plain_hosts(server: redis.Redis, clock: Clock) -> None:
    frontier = RedisFrontier(server, f"test{next(numbers)}", now_ms=clock)
    for lease in bound(frontier, clock):
        frontier.report([Outcome(lease.token, "ok", robots=RobotsRecord("allow"))])
    frontier.opt_out(["http://h4.example/", *(f"http://h5.example/{page}" for page in range(2))])
    clock.forward(60_000)
    leases = {lease.authority: lease.url for lease in frontier.lease(9).leases}
    assert len(leases) == 8
    assert leases["http://h5.example"] == "http://h5.example/2"


def one_host(server: redis.Redis, clock: Clock) -> RedisFrontier:
    """A host that is plain, with URLs enough."""
    frontier = RedisFrontier(server, f"test{next(numbers)}", now_ms=clock, jitter=lambda: 0.0)
    frontier.take_in(Candidate(f"{HOST}/{page}") for page in range(9))
    (lease,) = frontier.lease(1).leases
    frontier.bind(lease.token, "192.0.2.1")
    frontier.report([Outcome(lease.token, "ok", robots=RobotsRecord("allow"))])
    clock.forward(60_000)
    return frontier


def test_a_long_url_in_the_record_and_what_waits_behind_it_come_whole(server: redis.Redis, clock: Clock) -> None:
    frontier = one_host(server, clock)
    later = [f"{HOST}/{'x' * 300}", f"{HOST}/last", f"{HOST}/thereafter"]
    frontier.take_in(map(Candidate, later[:2]))
    found: list[str] = []
    while leases := frontier.lease(1).leases:
        found += [lease.url for lease in leases]
        frontier.report([Outcome(lease.token, "ok") for lease in leases])
        if len(found) == 10:
            frontier.take_in([Candidate(later[2])])
        clock.forward(10_000)
    assert found == [f"{HOST}/{page}" for page in range(9)] + later


def test_who_is_parked_while_leased_rests_after_the_report(server: redis.Redis, clock: Clock) -> None:
    frontier = one_host(server, clock)
    (lease,) = frontier.lease(1).leases
    assert frontier.park(HOST, "by hand", 600_000)
    assert frontier.report([Outcome(lease.token, "ok")]) == [True]
    clock.forward(599_000)
    assert not frontier.lease(1).leases
    clock.forward(2_000)
    assert frontier.lease(1).leases


def test_failures_are_forgiven_one_by_one(server: redis.Redis, clock: Clock) -> None:
    frontier = one_host(server, clock)
    failures = []
    for result in ("connect", "connect", "connect", "ok", "ok"):
        clock.forward(500_000)
        (lease,) = frontier.lease(1).leases
        address = lease.address or "192.0.2.1"
        frontier.bind(lease.token, address)
        assert frontier.report([Outcome(lease.token, result)]) == [True]
        state = frontier.host(HOST)
        assert state is not None
        failures.append(state.failures)
    assert failures == [1, 2, 3, 2, 1]


@pytest.mark.parametrize("quick", [True, False])
def test_an_answer_does_not_seem_to_have_ended_before_it_did(quick: bool, server: redis.Redis, clock: Clock) -> None:
    """Redis' own time is rounded down to milliseconds."""
    frontier = one_host(server, clock)
    (lease,) = frontier.lease(1).leases
    text = scripts.script_text("report", frontier.config)
    asks, says = "redis.call('TIME')", f"{{ {clock.now_ms // 1000}, {clock.now_ms % 1000 * 1000 + 700} }}"
    assert text.count(asks) == 1
    told = RedisFrontier(server, frontier.crawl, frontier.config)
    told._scripts["report"] = server.register_script(text.replace(asks, says))
    server.delete("{ulwembu}:clock")
    outcome = Outcome(lease.token, "ok", again_in_ms=None if quick else HOUR)
    assert told.report([outcome]) == [True]
    server.delete("{ulwembu}:clock")
    state = frontier.host(HOST)
    assert state is not None
    assert state.next_ms == clock.now_ms + 1 + frontier.config.delay_ms
