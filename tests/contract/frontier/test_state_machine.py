"""Thousands of random histories: Redis and memory must agree on every answer, and both must keep the promises.

The promises (one lease an authority and an address, no gap below the delay, nothing lost, no late report) are checked
here from the outside, by a small account of its own, not by the code under test."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import pytest
import redis
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from frontier import (
    Budget,
    Candidate,
    FrontierConfig,
    Grant,
    HostPolicy,
    Kind,
    Lease,
    MemoryFrontier,
    Outcome,
    RobotsRecord,
    TrapLimits,
)
from frontier.keys import OPT_OUTS_OF_ALL
from frontier.outcomes import DAY, HOUR, MINUTE, OUTCOMES, of_requisite
from frontier.payload import REQUISITE_MARK
from frontier.redis_frontier import RedisFrontier
from sieve.urls import authority
from tests.contract.frontier.conftest import START_MS, Clock
from tests.effort import EFFORT

HOSTS = [f"http://h{number}.example" for number in range(5)]
ADDRESSES = ["192.0.2.1", "192.0.2.2", "192.0.2.3"]
LEASE_MS, DELAY_MS, ADDRESS_DELAY_MS = 30_000, 2_000, 1_000
ROBOTS = [
    RobotsRecord("allow"),
    RobotsRecord("rules", b"User-agent: *\nDisallow: /x\n", expires_in_ms=10 * MINUTE),
    RobotsRecord("rules", b"User-agent: *\nCrawl-delay: 7\n"),
    RobotsRecord("rules", b"User-agent: *\nCrawl-delay: 900\n", expires_in_ms=HOUR),
    RobotsRecord("disallow"),
    None,
]
numbers = itertools.count()


def nameless(grant: Grant) -> list[Lease]:
    """Tokens differ from crawl to crawl."""
    return [replace(lease, token="") for lease in grant.leases]


class Histories(RuleBasedStateMachine):
    """`server` is put in by the test."""

    server: redis.Redis

    @initialize(
        obey=st.booleans(),
        host_urls=st.sampled_from([0, 6]),
        budget=st.sampled_from([0, 0, 0, 5, 20]),
        own=st.booleans(),
        least=st.sampled_from([1.0, 0.0, 0.1, 0.4]),
        requisites=st.booleans(),
    )
    def start(self, *, obey: bool, host_urls: int, budget: int, own: bool, least: float, requisites: bool) -> None:
        self.clock = Clock()
        self.config = FrontierConfig(
            delay_ms=DELAY_MS,
            address_delay_ms=ADDRESS_DELAY_MS,
            lease_ms=LEASE_MS,
            address_ttl_ms=400 * DAY,
            obey_robots=obey,
            limits=TrapLimits(host_urls=host_urls, query_variants=3, equal_pages=4, parked_traps=3),
            budget=Budget(max_pages=budget, requisites=requisites),
            least_share=least,
            least_every_ms=2_700,
        )
        self.memory = MemoryFrontier(self.config, self.clock, jitter=lambda: 0.25)
        self.server.delete(OPT_OUTS_OF_ALL)
        crawl = f"histories{next(numbers)}"
        self.redis = RedisFrontier(self.server, crawl, self.config, now_ms=self.clock, jitter=lambda: 0.25)
        self.tokens: dict[str, str] = {}  # memory's -> Redis'
        self.leases: dict[str, Lease] = {}  # handed out and not ended as far as the workers know
        self.gone: list[str] = []
        self.rested: dict[str, int] = {}  # authority or address -> end of its last answer
        self.inside: set[str] = set()
        self.not_before: dict[str, int] = {}
        self.urls = itertools.count()
        self.homes = [f"198.51.100.{n}" if own else ADDRESSES[n % 2] for n in range(len(HOSTS))]

    def both(self, method: str, *arguments: Any, **options: Any) -> Any:
        mine = getattr(self.memory, method)(*arguments, **options)
        theirs = getattr(self.redis, method)(*arguments, **options)
        assert mine == theirs, method
        return mine

    # -- what workers do ---------------------------------------------------------------------------------------------

    @rule(
        hosts=st.lists(st.sampled_from(HOSTS), min_size=1, max_size=6),
        score=st.sampled_from([0.0, 0.1, 0.3, 1.0]),
        kind=st.sampled_from([Kind.PAGE, Kind.PAGE, Kind.FEED, Kind.SITEMAP]),
        query=st.booleans(),
        depth=st.sampled_from([0, 1, 50]),
        wait_ms=st.sampled_from([0, 0, 0, 400, 5_000, HOUR]),
        embedded=st.booleans(),
    )
    def take_in(
        self, *, hosts: list[str], score: float, kind: Kind, query: bool, depth: int, wait_ms: int, embedded: bool
    ) -> None:
        found = []
        for host in hosts:
            number = next(self.urls)
            long = "y" * (700 if number % 5 == 0 else 0)  # some queues are short in URLs and long in bytes
            section = f"{host}/x{long}{number % 3}/" if number % 4 else f"{host}/x{long}"
            url = f"{section}?{number}" if query else f"{section}{number}"
            moment = self.clock.now_ms + wait_ms if wait_ms else 0
            self.not_before[url] = moment
            memo = REQUISITE_MARK + b"\1" if embedded else b"found on %d" % number if query else b""
            found.append(Candidate(url, kind, "http://source.example/", depth, score, moment, memo))
        self.put(found)

    def put(self, found: list[Candidate]) -> None:
        before = self.memory.status().results
        self.both("take_in", found)
        after = self.memory.status().results
        if sum(after.values()) == sum(before.values()):  # else some were only counted: more traps than are kept
            self.inside.update(candidate.url for candidate in found)
        else:
            self.inside = self.seen_inside()

    @rule(
        rounds=st.integers(1, 6),
        limit=st.sampled_from([1, 6]),
        pause_ms=st.sampled_from([0, 600, 3_000, 3_000]),
        mark=st.sampled_from([b"", b"samepage"]),
    )
    def work(self, rounds: int, limit: int, pause_ms: int, mark: bytes) -> None:
        """What a diligent worker does, so that histories get somewhere."""
        for _ in range(rounds):
            self.lease(limit, 0)
            for token, lease in list(self.leases.items()):
                wanted = self.homes[HOSTS.index(lease.authority)] if lease.authority in HOSTS else ADDRESSES[2]
                if lease.address != wanted and not self.bind_one(token, wanted):
                    continue
                robots = RobotsRecord("allow") if lease.kind is Kind.ROBOTS else None
                result = of_requisite("ok") if lease.uncounted else "ok"
                self.report_one(Outcome(token, result, fetch_ms=100, robots=robots, page_mark=mark))
            self.clock.forward(pause_ms)

    @rule(
        host=st.sampled_from(HOSTS),
        pages=st.integers(1, 24),
        sections=st.sampled_from([1, 2, 3, 12]),
        later_ms=st.sampled_from([0, 0, HOUR, DAY]),
    )
    def fall_into_a_trap(self, host: str, pages: int, sections: int, later_ms: int) -> None:
        self.clock.forward(later_ms)
        found = [next(self.urls) for _ in range(pages)]
        self.put([Candidate(f"{host}/trap{number % sections}/{number}") for number in found])
        self.work(4, 6, 3_000, b"samepage")

    @rule(limit=st.sampled_from([1, 1, 2, 6]), ahead_ms=st.sampled_from([0, 0, 500]))
    def lease(self, limit: int, ahead_ms: int) -> None:
        self.note_expired()
        mine, theirs = self.memory.lease(limit, ahead_ms), self.redis.lease(limit, ahead_ms)
        assert nameless(mine) == nameless(theirs)
        assert (mine.closed, mine.narrowed) == (theirs.closed, theirs.narrowed)
        if mine.narrowed and mine.next_due_ms is not None:  # else Redis may still have hosts to look at
            assert theirs.next_due_ms is not None
            assert theirs.next_due_ms <= max(mine.next_due_ms, self.clock.now_ms)
        self.tokens.update((a.token, b.token) for a, b in zip(mine.leases, theirs.leases, strict=True))
        self.check_grant(mine, ahead_ms)

    def check_grant(self, grant: Grant, ahead_ms: int) -> None:
        now_ms = self.clock.now_ms
        for lease in grant.leases:
            held = list(self.leases.values())
            assert lease.authority not in [other.authority for other in held]
            assert not lease.address or lease.address not in [other.address for other in held]
            assert max(now_ms, self.not_before.get(lease.url, 0)) <= lease.due_ms <= now_ms + ahead_ms
            self.check_rested(lease.authority, lease.address, lease.due_ms)
            self.leases[lease.token] = lease
            host = self.memory.known[lease.authority]
            spent = self.config.budget.requisites and 0 < (host.policy.max_pages or 0) <= host.pages
            assert lease.uncounted == (grant.narrowed or spent)
            if lease.uncounted and lease.kind is not Kind.ROBOTS:
                assert lease.kind is Kind.PAGE
                assert lease.memo.startswith(REQUISITE_MARK)

    def check_rested(self, host: str, address: str, due_ms: int) -> None:
        assert due_ms >= self.rested.get(host, 0) + DELAY_MS
        if address:
            assert due_ms >= self.rested.get(address, 0) + ADDRESS_DELAY_MS

    def note_expired(self) -> None:
        for token, lease in list(self.leases.items()):
            if lease.expires_ms <= self.clock.now_ms:
                self.end(token, lease.expires_ms)

    def end(self, token: str, end_ms: int | None) -> None:
        lease = self.leases.pop(token)
        self.gone.append(token)
        if end_ms is not None:
            for name in (lease.authority, lease.address):
                self.rested[name] = max(self.rested.get(name, 0), end_ms)

    @precondition(lambda self: any(not lease.address for lease in self.leases.values()))
    @rule(data=st.data(), address=st.sampled_from(ADDRESSES))
    def bind(self, data: st.DataObject, address: str) -> None:
        self.note_expired()
        unbound = [token for token, lease in self.leases.items() if not lease.address]
        if not unbound:
            return
        self.bind_one(data.draw(st.sampled_from(unbound)), address)

    def bind_one(self, token: str, address: str) -> bool:
        mine, theirs = self.memory.bind(token, address), self.redis.bind(self.tokens[token], address)
        assert mine == theirs
        if mine.granted:
            assert address not in [other.address for key, other in self.leases.items() if key != token]
            self.check_rested(self.leases[token].authority, address, mine.due_ms)
            self.leases[token] = replace(self.leases[token], address=address, due_ms=mine.due_ms)
        elif token in self.leases:
            self.end(token, None)
        return mine.granted

    @precondition(lambda self: self.leases or self.gone)
    @rule(
        data=st.data(),
        result=st.sampled_from(sorted(set(OUTCOMES) - {"expired", "robots_unreachable", "robots_redirect"})),
        fetch_ms=st.sampled_from([0, 300, 9_000]),
        ago_ms=st.sampled_from([0, 0, 400, 100_000]),
        retry_after_ms=st.sampled_from([None, None, 0, 90_000]),
        again_in_ms=st.sampled_from([None, None, None, 20_000]),
        memo=st.sampled_from([None, b"", b"memo"]),
        robots=st.sampled_from(ROBOTS),
        mark=st.sampled_from([b"", b"samepage", b"otherone"]),
    )
    def report(self, data: st.DataObject, result: str, robots: RobotsRecord | None, mark: bytes, **given: Any) -> None:
        token = data.draw(st.sampled_from([*self.leases, *self.gone]))
        ago_ms = given.pop("ago_ms")
        lease = self.leases.get(token)
        if lease and lease.uncounted and lease.kind is Kind.PAGE:
            result = of_requisite(result)
        if lease and lease.kind is Kind.ROBOTS:
            given |= {"robots": robots, "again_in_ms": None}
            if result == "redirect":
                targets = [*(host + "/moved.txt" for host in HOSTS), "https://new.example/robots.txt", "mailto:x"]
                result = "robots_redirect"
                given |= {"location": data.draw(st.sampled_from(targets)), "robots": None}
        given |= {"ended_ago_ms": ago_ms, "page_mark": mark}
        self.report_one(Outcome(token, result, fetched_bytes=10, words=3, **given))

    def report_one(self, outcome: Outcome) -> None:
        token, lease = outcome.token, self.leases.get(outcome.token)
        mine = self.memory.report([outcome])
        theirs = self.redis.report([replace(outcome, token=self.tokens[token])])
        assert mine == theirs
        if lease is None or lease.expires_ms <= self.clock.now_ms:
            assert mine == [token in self.memory.done]
            return
        assert mine == [True]
        sent = OUTCOMES[outcome.result].sent
        self.end(token, max(self.clock.now_ms - outcome.ended_ago_ms, lease.due_ms) if sent else None)

    @precondition(lambda self: self.leases)
    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        token = data.draw(st.sampled_from(list(self.leases)))
        mine, theirs = self.memory.release([token]), self.redis.release([self.tokens[token]])
        assert mine == theirs == int(self.leases[token].expires_ms > self.clock.now_ms)
        if mine:
            self.end(token, None)

    @rule(host=st.sampled_from(HOSTS), scores=st.lists(st.sampled_from([0.0, 0.3, 0.6, 1.0]), min_size=1, max_size=8))
    def rescore(self, host: str, scores: list[float]) -> None:
        found = zip([HOSTS[0], host], self.both("heads", [HOSTS[0], host], 3), strict=True)
        self.both("rescore", {name: list(zip(heads, scores, strict=False)) for name, heads in found})

    @rule(by_ms=st.sampled_from([1, 100, 700, 2_000, 2_000, 7_000, 31_000, 10 * MINUTE, HOUR, DAY, 31 * DAY]))
    def time_passes(self, by_ms: int) -> None:
        self.clock.forward(by_ms)

    # -- what people do ------------------------------------------------------------------------------------------------

    @rule(host=st.sampled_from(HOSTS), verb=st.sampled_from(["unpark", "pause", "resume", "resume", "drop"]))
    def by_hand(self, host: str, verb: str) -> None:
        self.both(verb, host)
        if verb == "unpark":
            self.not_before = {url: moment for url, moment in self.not_before.items() if authority(url) != host}
        if verb == "drop":
            self.inside = self.seen_inside()

    @rule(host=st.sampled_from(HOSTS), for_ms=st.sampled_from([3_000, HOUR]))
    def park(self, host: str, for_ms: int) -> None:
        self.both("park", host, "by hand", for_ms)

    @rule(
        host=st.sampled_from(HOSTS),
        delay_ms=st.sampled_from([None, 5_000]),
        most_pages=st.sampled_from([None, 3]),
        most_bytes=st.sampled_from([None, None, 40]),
    )
    def configure(self, host: str, delay_ms: int | None, most_pages: int | None, most_bytes: int | None) -> None:
        self.both("configure", {host: HostPolicy(delay_ms, None, most_pages, most_bytes)})
        self.both("configured")

    @rule(prefix=st.sampled_from(["h4.example", "http://h3.example/x1"]), of_all=st.booleans())
    def opt_out(self, prefix: str, of_all: bool) -> None:
        self.both("opt_out", [prefix], all_crawls=of_all)
        self.both("opted_out", all_crawls=of_all)

    @rule(prefix=st.sampled_from(["h4.example", "http://h3.example/x1", "http://h4.example"]), of_all=st.booleans())
    def withdraw_opt_out(self, prefix: str, of_all: bool) -> None:
        self.both("withdraw_opt_out", prefix, all_crawls=of_all)
        self.both("opted_out", all_crawls=of_all)

    # -- what must always hold -----------------------------------------------------------------------------------------

    def seen_inside(self) -> set[str]:
        waiting = {w.url for host in HOSTS for w in self.memory.peek(host, 10_000) if w.kind is not Kind.ROBOTS}
        return waiting | {held.lease.url for held in self.memory.held.values() if held.lease.kind is not Kind.ROBOTS}

    @invariant()
    def they_agree(self) -> None:
        if not hasattr(self, "memory"):
            return
        # Redis does not look into what nobody has asked for yet, nor at each host of an address, to count what is due.
        status = self.memory.status()
        assert replace(status, due=0) == replace(self.redis.status(), due=0)
        assert not self.config.budget.max_pages or status.pages <= self.config.budget.max_pages
        mine, theirs = self.memory.hosts(), self.redis.hosts()
        mine = [replace(state, leased_token=self.tokens.get(state.leased_token, "")) for state in mine]
        assert mine == theirs

    @rule(host=st.sampled_from(HOSTS))
    def look(self, host: str) -> None:
        self.both("peek", host, 1000)
        self.both("get_robots", host)

    def teardown(self) -> None:
        if not hasattr(self, "memory"):
            return
        for host in HOSTS:
            self.both("peek", host, 10_000)
        self.both("parked", 10_000)
        results = self.memory.status().results
        # what left: reported as done, given up, opted out
        left = sum(self.both_result(results, name) for name in results)
        assert len(self.inside) - left <= len(self.seen_inside()) <= len(self.inside)
        done = self.memory.done
        assert self.redis.accepted(self.tokens.values()) == {self.tokens[token] for token in done}

    def both_result(self, results: Any, name: str) -> int:
        return 0 if name.startswith(("robots:", "dropped:")) or name == "expired" else int(results[name])


@pytest.mark.slow
def test_random_histories(server: redis.Redis) -> None:
    Histories.server = server
    run_state_machine_as_test(
        Histories,
        settings=settings(
            max_examples=50 * EFFORT,
            stateful_step_count=60,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            database=None,
            phases=[Phase.generate],
        ),
    )


def test_the_machine_means_what_it_says() -> None:
    assert START_MS > 0
    assert {authority(host) for host in HOSTS} == set(HOSTS)
