"""The contract, promise by promise, over both implementations; the state machine has the combinations."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import pytest

from frontier import (
    Budget,
    Candidate,
    Frontier,
    FrontierConfig,
    HostPolicy,
    Kind,
    Lease,
    MemoryFrontier,
    Outcome,
    RobotsRecord,
    TrapLimits,
    UnknownOutcome,
    admin,
)
from frontier.audit import AuditRow
from frontier.host import PARKED_AT_ONCE
from frontier.outcomes import DAY, HOUR, MINUTE
from frontier.redis_frontier import RedisFrontier
from frontier.types import Once
from tests.contract.frontier.conftest import Clock, Make

A, B, C = "http://a.example", "http://b.example", "http://c.example"
FREE = FrontierConfig(obey_robots=False, delay_ms=2000, address_delay_ms=1000, lease_ms=60_000)
POLITE = FrontierConfig(delay_ms=2000, address_delay_ms=1000, lease_ms=60_000)


def urls(leases: tuple[Lease, ...]) -> list[str]:
    return [lease.url for lease in leases]


def one(frontier: Frontier, ahead_ms: int = 0) -> Lease:
    grant = frontier.lease(1, ahead_ms)
    assert len(grant.leases) == 1, grant
    return grant.leases[0]


def done(frontier: Frontier, lease: Lease, result: str = "ok", **more: object) -> None:
    assert frontier.report([Outcome(lease.token, result, **more)]) == [True]  # type: ignore[arg-type]


# -- leases and delays -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("config", [FREE, POLITE])
def test_after_a_request_that_was_hung_up_on_the_host_rests_and_the_url_is_asked_for_again(
    config: FrontierConfig, make: Make, clock: Clock
) -> None:
    """Be it a page or robots.txt: its worker was stopped, which says nothing of the host."""
    frontier = make(config)
    frontier.take_in([Candidate(f"{A}/1"), Candidate(f"{A}/2")])
    first = one(frontier)
    clock.forward(3000)
    done(frontier, first, "aborted", fetch_ms=10)
    grant = frontier.lease(1)
    assert (grant.leases, grant.next_due_ms) == ((), clock.now_ms + config.delay_ms)
    clock.forward(config.delay_ms)
    assert one(frontier).url == first.url


def test_equal_pages_are_noticed_where_a_host_is_known_and_all_goes_well(make: Make, clock: Clock) -> None:
    """The way that most reports take."""
    frontier = make(replace(FREE, limits=TrapLimits(equal_pages=3)))
    frontier.take_in([Candidate(f"{A}/{number}", score=0.5) for number in range(9)])
    lease = one(frontier)
    frontier.bind(lease.token, "192.0.2.1")
    done(frontier, lease, page_mark=b"samepage")
    for number in range(3):
        assert (state := frontier.host(A))
        assert state.rest_reason == "", number
        clock.forward(FREE.delay_ms)
        done(frontier, one(frontier), page_mark=b"samepage")
    assert (state := frontier.host(A))
    assert (state.rest_reason, state.pages) == ("trap_equal_pages", 4)


def test_one_lease_an_authority_and_the_delay_after_its_end(make: Make, clock: Clock) -> None:
    frontier = make(FREE)
    frontier.take_in([Candidate(f"{A}/1"), Candidate(f"{A}/2")])
    first = one(frontier)
    assert frontier.lease(10).leases == ()
    clock.forward(500)
    done(frontier, first, fetch_ms=300, ended_ago_ms=200)
    grant = frontier.lease(10)
    assert grant.leases == ()
    assert grant.next_due_ms == clock.now_ms - 200 + 2000
    clock.forward(1799)
    assert frontier.lease(10).leases == ()
    clock.forward(1)
    assert one(frontier).url == f"{A}/2"


def test_a_lease_ahead_of_time_says_when(make: Make, clock: Clock) -> None:
    frontier = make(FREE)
    frontier.take_in([Candidate(f"{A}/1"), Candidate(f"{A}/2")])
    done(frontier, one(frontier))
    clock.forward(1600)
    assert frontier.lease(1, ahead_ms=300).leases == ()
    lease = one(frontier, ahead_ms=400)
    assert lease.due_ms == clock.now_ms + 400
    assert lease.expires_ms == lease.due_ms + 60_000


def test_an_address_is_shared_politely(make: Make, clock: Clock) -> None:
    frontier = make(FREE)
    frontier.take_in([Candidate(f"{host}/{n}") for host in (A, B, C) for n in range(2)])
    leases = frontier.lease(3).leases
    assert [frontier.bind(lease.token, "192.0.2.1").granted for lease in leases] == [True, False, False]
    assert frontier.lease(3).leases == ()
    done(frontier, leases[0])
    seen = []
    for _ in range(5):
        clock.forward(999)
        assert frontier.lease(3).leases == ()
        clock.forward(1)
        lease = one(frontier)
        assert lease.address == "192.0.2.1"
        seen.append(lease.authority)
        done(frontier, lease)
    assert (set(seen[:3]), len(set(seen))) == ({A, B, C}, 3)
    assert frontier.status().queued == 0


def test_due_are_hosts_that_can_be_asked_now_and_no_others(make: Make, clock: Clock) -> None:
    frontier = make(FREE)

    def due() -> int:
        return frontier.status().due

    assert due() == 0
    frontier.take_in([Candidate(f"{host}/{n}") for host in (A, B, C) for n in range(2)])
    assert due() == 3
    lease = one(frontier)
    assert due() == 2
    done(frontier, lease)
    assert due() == 2
    clock.forward(1999)
    assert due() == 2
    clock.forward(1)
    assert due() == 3
    frontier.pause(A)
    frontier.park(B, "by hand", HOUR)
    assert due() == 1
    frontier.drop(C)
    assert due() == 0
    frontier.unpark(B)
    assert due() == 1
    done(frontier, one(frontier), again_in_ms=HOUR)
    clock.forward(2000)
    done(frontier, one(frontier), again_in_ms=HOUR)
    assert (due(), frontier.status().parked) == (0, 2)
    clock.forward(HOUR)
    assert due() == 1


def test_binding_to_an_address_that_is_not_due_gives_the_lease_back(make: Make, clock: Clock) -> None:
    frontier = make(FREE)
    frontier.take_in([Candidate(f"{A}/1"), Candidate(f"{B}/1")])
    first, second = frontier.lease(2).leases
    assert frontier.bind(first.token, "192.0.2.1").granted
    done(frontier, first)
    clock.forward(400)
    refused = frontier.bind(second.token, "192.0.2.1")
    assert (refused.granted, refused.reason, refused.due_ms) == (False, "address_not_due", clock.now_ms + 600)
    assert frontier.report([Outcome(second.token, "ok")]) == [False]
    clock.forward(600)
    again = one(frontier)
    assert (again.url, again.address, again.attempt) == (second.url, "192.0.2.1", 0)


def test_a_binding_soon_due_is_granted_for_then(make: Make, clock: Clock) -> None:
    frontier = make(FREE)
    frontier.take_in([Candidate(f"{A}/1"), Candidate(f"{B}/1")])
    first, second = frontier.lease(2).leases
    frontier.bind(first.token, "192.0.2.1")
    done(frontier, first)
    clock.forward(600)
    bound = frontier.bind(second.token, "192.0.2.1")
    assert (bound.granted, bound.due_ms) == (True, clock.now_ms + 400)


def test_a_lease_may_move_to_another_address(make: Make) -> None:
    frontier = make(FREE)
    frontier.take_in([Candidate(f"{A}/1"), Candidate(f"{B}/1")])
    first, second = frontier.lease(2).leases
    assert frontier.bind(first.token, "192.0.2.1").granted
    assert frontier.bind(first.token, "192.0.2.2").granted
    assert frontier.bind(second.token, "192.0.2.1").granted
    assert frontier.bind("no-token", "192.0.2.1").reason == "unknown_token"


def test_the_delay_is_the_largest_of_configured_and_adaptive(make: Make, clock: Clock) -> None:
    frontier = make(FREE)
    frontier.take_in([Candidate(f"{A}/{n}") for n in range(3)])
    done(frontier, one(frontier), fetch_ms=7000)
    clock.forward(6999)
    assert frontier.lease(1).leases == ()
    clock.forward(1)
    done(frontier, one(frontier), fetch_ms=500_000)
    clock.forward(FREE.adaptive_cap_ms - 1)
    assert frontier.lease(1).leases == ()
    clock.forward(1)
    one(frontier)


def test_a_host_has_its_own_rules(make: Make, clock: Clock) -> None:
    frontier = make(FREE)
    frontier.configure({A: HostPolicy(delay_ms=9000, max_pages=2)})
    frontier.take_in([Candidate(f"{A}/{n}") for n in range(3)])
    done(frontier, one(frontier))
    clock.forward(8999)
    assert frontier.lease(1).leases == ()
    clock.forward(1)
    done(frontier, one(frontier))
    clock.forward(HOUR)
    assert frontier.lease(1).leases == ()
    state = frontier.host(A)
    assert state is not None
    assert (state.rest_reason, state.pages) == ("quota", 2)


@pytest.mark.parametrize(
    ("rules", "next_ms", "reason"),
    [
        (HostPolicy(delay_ms=9000), 9000, ""),
        (HostPolicy(address_delay_ms=8000), 8000, ""),
        (HostPolicy(max_pages=2), DAY, "quota"),
        (HostPolicy(max_bytes=20), DAY, "quota_bytes"),
    ],
)
def test_each_rule_of_its_own_holds_where_a_host_is_known_and_all_goes_well(
    make: Make, clock: Clock, rules: HostPolicy, next_ms: int, reason: str
) -> None:
    """The way that most leases and reports take."""
    frontier = make(FREE)
    frontier.configure({A: rules})
    frontier.take_in([Candidate(f"{A}/{n}") for n in range(4)])
    for _ in range(2):
        clock.forward(10_000)
        lease = one(frontier)
        assert lease.address or frontier.bind(lease.token, "192.0.2.1").granted
        done(frontier, lease, fetched_bytes=10)
    if reason:
        clock.forward(FREE.delay_ms)
    grant = frontier.lease(1)
    assert (grant.leases, grant.next_due_ms) == ((), clock.now_ms + next_ms)
    assert (state := frontier.host(A))
    assert state.rest_reason == reason


def test_rules_of_a_host_are_taken_back(make: Make, clock: Clock) -> None:
    frontier = make(FREE)
    frontier.configure({A: HostPolicy(delay_ms=9000), B: HostPolicy(max_pages=1), C: HostPolicy()})
    assert frontier.configured() == [A, B]
    frontier.configure({A: HostPolicy(), B: HostPolicy(max_pages=2)})
    assert frontier.configured() == [B]
    frontier.take_in([Candidate(f"{A}/1"), Candidate(f"{A}/2")])
    done(frontier, one(frontier))
    clock.forward(FREE.delay_ms)
    assert one(frontier).url == f"{A}/2"


def test_a_host_that_had_its_bytes_rests(make: Make, clock: Clock) -> None:
    frontier = make(FREE)
    frontier.configure({A: HostPolicy(max_bytes=1000), B: HostPolicy(max_bytes=0)})
    frontier.take_in([Candidate(f"{host}/{n}") for host in (A, B) for n in range(4)])
    for _ in range(2):
        for lease in frontier.lease(2).leases:
            done(frontier, lease, fetched_bytes=999)
        clock.forward(10_000)
    assert [lease.authority for lease in frontier.lease(2).leases] == [B]
    state = frontier.host(A)
    assert state is not None
    assert (state.rest_reason, state.fetched_bytes, state.queued) == ("quota_bytes", 1998, 2)
    clock.forward(DAY)  # it is asked for again once a day, in case its rules were changed
    assert A not in [lease.authority for lease in frontier.lease(2).leases]
    frontier.configure({A: HostPolicy(max_bytes=1998)})
    assert A not in [lease.authority for lease in frontier.lease(2).leases]
    frontier.configure({A: HostPolicy(max_bytes=1999)})
    assert A in [lease.authority for lease in frontier.lease(2).leases]


@pytest.mark.parametrize(
    ("rules", "rest"), [(HostPolicy(max_pages=1), "quota"), (HostPolicy(max_bytes=1), "quota_bytes")]
)
def test_a_host_whose_rules_allow_more_waits_no_longer(make: Make, clock: Clock, rules: HostPolicy, rest: str) -> None:
    """Whoever raises a limit in the seed file starts the crawl again to see it go on."""
    frontier = make(FREE)
    frontier.configure({A: rules})
    frontier.take_in([Candidate(f"{A}/{n}") for n in range(2)])
    done(frontier, one(frontier), fetched_bytes=1)
    clock.forward(HOUR)
    assert frontier.lease(1).leases == ()
    assert (state := frontier.host(A))
    assert state.rest_reason == rest
    frontier.configure({A: HostPolicy(max_pages=2, max_bytes=2)})
    assert one(frontier).url == f"{A}/1"


def test_new_rules_end_no_rest_that_is_not_theirs(make: Make, clock: Clock) -> None:
    frontier = make(FREE)
    frontier.take_in([Candidate(f"{A}/{n}") for n in range(2)])
    done(frontier, one(frontier), "http_429", retry_after_ms=HOUR)
    frontier.configure({A: HostPolicy(max_pages=5)})
    clock.forward(HOUR - 1)
    assert frontier.lease(1).leases == ()


# -- priority and fairness ---------------------------------------------------------------------------------------------


def test_best_band_first_then_who_waited_longest(make: Make, clock: Clock) -> None:
    frontier = make(FREE)
    frontier.take_in(
        [Candidate(f"{A}/low", score=0.1), Candidate(f"{B}/high", score=0.9), Candidate(f"{C}/high", score=0.9)]
    )
    frontier.take_in([Candidate(f"{A}/high", score=1.0)])
    assert urls(frontier.lease(4).leases) == [f"{A}/high", f"{B}/high", f"{C}/high"]


def test_hosts_of_one_band_take_turns(make: Make, clock: Clock) -> None:
    frontier = make(FREE)
    frontier.take_in([Candidate(f"{host}/{n}") for host in (A, B, C) for n in range(3)])
    order = []
    for _ in range(9):
        lease = one(frontier)
        order.append(lease.authority)
        done(frontier, lease)
        clock.forward(2000)
    assert order == [A, B, C] * 3


def test_what_came_first_in_a_band_goes_first(make: Make, clock: Clock) -> None:
    frontier = make(FREE)
    frontier.take_in([Candidate(f"{A}/{n}", score=0.5) for n in range(5)])
    order = []
    for _ in range(5):
        lease = one(frontier)
        order.append(lease.url[-1])
        done(frontier, lease)
        clock.forward(2000)
    assert order == list("01234")


@pytest.mark.parametrize("number", [3, 40])
def test_the_order_of_a_queue_does_not_depend_on_its_length(make: Make, clock: Clock, number: int) -> None:
    """Few URLs lie elsewhere than many; what goes from the one to the other, or back in front, keeps its place."""
    frontier = make(FREE)
    scores = [1.0, 0.1, 0.5, 1.0, 0.1]
    wanted = [f"{A}/{'long' * 10}/{n}" for n in range(number)]
    for n, url in enumerate(wanted):
        frontier.take_in([Candidate(url, score=scores[n % 5])])
    in_order = sorted(wanted, key=lambda url: -scores[wanted.index(url) % 5])
    assert [waiting.url for waiting in frontier.peek(A, 100)] == in_order
    for url in in_order:
        given_back = one(frontier)
        assert given_back.url == url
        assert frontier.release([given_back.token]) == 1
        assert [waiting.url for waiting in frontier.peek(A, 1)] == [url]
        lease = one(frontier)
        assert lease.url == url
        done(frontier, lease)
        clock.forward(10_000)
    assert frontier.lease(1).leases == ()
    frontier.take_in([Candidate(url) for url in wanted])
    assert frontier.drop(A) == number
    assert (frontier.peek(A), frontier.status().queued) == ([], 0)


def test_a_candidate_comes_back_as_it_was(make: Make) -> None:
    frontier = make(FREE)
    strange = "HTTP://A.example:80/caf\u00e9?q=1&q=\u4e2d"
    frontier.take_in([Candidate(strange, Kind.FEED, "seed", depth=3, score=0.75)])
    lease = one(frontier)
    assert (lease.url, lease.kind, lease.source, lease.depth, lease.authority) == (strange, Kind.FEED, "seed", 3, A)
    assert lease.score == pytest.approx(0.75, abs=0.01)


# -- crashes -----------------------------------------------------------------------------------------------------------


def test_an_expired_lease_is_handed_out_again_after_a_rest(make: Make, clock: Clock) -> None:
    frontier = make(FREE)
    frontier.take_in([Candidate(f"{A}/1")])
    dead = one(frontier)
    frontier.bind(dead.token, "192.0.2.1")
    clock.forward(60_000)
    assert frontier.report([Outcome(dead.token, "ok")]) == [False]
    assert frontier.lease(1).leases == ()
    clock.forward(1999)
    assert frontier.lease(1).leases == ()
    clock.forward(1)
    again = one(frontier)
    assert (again.url, again.attempt, again.expiries) == (dead.url, 0, 1)
    assert frontier.report([Outcome(dead.token, "ok")]) == [False]
    done(frontier, again)
    assert frontier.accepted([dead.token, again.token]) == {again.token}


def test_an_expired_robots_lease_is_no_fault_of_the_host(make: Make, clock: Clock) -> None:
    frontier = make(POLITE)
    frontier.take_in([Candidate(f"{A}/1")])
    assert one(frontier).kind is Kind.ROBOTS
    clock.forward(61_999)
    assert frontier.lease(1).leases == ()
    clock.forward(1)
    hop = one(frontier)
    done(frontier, hop, "robots_redirect", location=f"{B}/moved.txt")
    assert one(frontier).url == f"{B}/moved.txt"
    clock.forward(62_000)
    assert one(frontier).url == f"{A}/robots.txt"


def test_a_repeated_report_is_accepted_and_changes_nothing(make: Make, clock: Clock) -> None:
    frontier = make(FREE)
    frontier.take_in([Candidate(f"{A}/1"), Candidate(f"{A}/2")])
    lease = one(frontier)
    done(frontier, lease, fetched_bytes=5)
    clock.forward(1000)
    before = frontier.host(A)
    assert frontier.report([Outcome(lease.token, "timeout")]) == [True]
    assert frontier.host(A) == before
    assert frontier.report([Outcome("ffff-0", "ok"), Outcome("nonsense", "ok")]) == [False, False]


def test_a_token_that_holds_no_lease_does_nothing(make: Make, clock: Clock) -> None:
    frontier = make(FREE)
    frontier.take_in([Candidate(f"{host}/{n}") for host in (A, B) for n in range(3)])
    old = one(frontier)
    done(frontier, old)
    clock.forward(5000)
    first, second = frontier.lease(2).leases
    tokens = ["", "x", "5-", f"fffe-1@{A}", f"ffff-0@{C}", first.token + "x", "x" + second.token]
    tokens += [f"1-1ffffffff@{A}", f"{'1' * 17}-00000000@{A}", "1-00000000@\udcff", f"1_0-0x000000@{A}"]
    before = frontier.status(), frontier.hosts()
    assert frontier.report([Outcome(token, "ok") for token in tokens]) == [False] * len(tokens)
    assert frontier.report([Outcome(old.token, "timeout")]) == [True]
    assert frontier.release([*tokens, old.token]) == 0
    assert [frontier.bind(token, "192.0.2.1").reason for token in (*tokens, old.token)] == ["unknown_token"] * 12
    assert frontier.accepted([*tokens, old.token, first.token]) == {old.token}
    assert (frontier.status(), frontier.hosts()) == before


def test_one_call_may_report_a_lease_twice(make: Make) -> None:
    frontier = make(FREE)
    frontier.take_in([Candidate(f"{A}/1")])
    lease = one(frontier)
    assert frontier.report([Outcome(lease.token, "ok"), Outcome(lease.token, "ok")]) == [True, True]
    assert frontier.status().results == {"ok": 1}


def test_a_host_changed_by_hand_before_anybody_looked_at_it_is_leased_once(make: Make) -> None:
    frontier = make(FREE)
    frontier.take_in([Candidate(f"{host}/{n}") for host in (A, B) for n in range(2)])
    assert frontier.pause(A)
    assert frontier.resume(A)
    assert frontier.park(B, "by hand", HOUR)
    frontier.take_in([Candidate(f"{A}/better", score=1.0)])
    assert urls(frontier.lease(5).leases) == [f"{A}/better"]
    assert frontier.lease(5).leases == ()
    assert (frontier.status().authorities, [state.authority for state in frontier.hosts()]) == (2, [A, B])


def test_released_leases_come_back_first_and_at_no_cost(make: Make) -> None:
    frontier = make(FREE)
    frontier.take_in([Candidate(f"{A}/1"), Candidate(f"{A}/2")])
    lease = one(frontier)
    assert frontier.release([lease.token, "unknown"]) == 1
    assert frontier.report([Outcome(lease.token, "ok")]) == [False]
    again = one(frontier)
    assert (again.url, again.attempt) == (f"{A}/1", 0)


def test_an_end_before_its_due_time_is_not_believed(make: Make, clock: Clock) -> None:
    frontier = make(FREE)
    frontier.take_in([Candidate(f"{A}/1"), Candidate(f"{A}/2")])
    lease = one(frontier)
    clock.forward(100)
    done(frontier, lease, ended_ago_ms=50_000)
    clock.forward(1899)
    assert frontier.lease(1).leases == ()
    clock.forward(1)
    one(frontier)


# -- outcomes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("result", ["http_429", "http_503"])
def test_retry_after_is_obeyed_exactly(make: Make, clock: Clock, result: str) -> None:
    frontier = make(FREE)
    frontier.take_in([Candidate(f"{A}/1"), Candidate(f"{A}/2")])
    done(frontier, one(frontier), result, retry_after_ms=90_000)
    status = frontier.status()
    assert (status.parked, dict(status.by_reason)) == (1, {result: 1})
    assert status.parked_until_ms_min == clock.now_ms + 90_000
    clock.forward(89_999)
    assert frontier.lease(1).leases == ()
    clock.forward(1)
    assert (one(frontier).url, frontier.status().parked) == (f"{A}/2", 0)  # /1 is behind it


@pytest.mark.parametrize("result", ["http_4xx", "http_404", "protocol"])
def test_a_retry_after_is_obeyed_on_any_answer_and_is_no_failure_of_the_host(
    make: Make, clock: Clock, result: str
) -> None:
    frontier = make(FREE)
    frontier.take_in([Candidate(f"{A}/{number}") for number in range(4)])
    done(frontier, one(frontier), "http_503", retry_after_ms=2000)
    clock.forward(2000)
    for told_ms, rest_ms in ((HOUR, HOUR), (3650 * DAY, 30 * DAY)):
        done(frontier, one(frontier), result, retry_after_ms=told_ms)
        state = frontier.host(A)
        assert state is not None
        assert (state.rest_ms, state.rest_reason, state.failures) == (clock.now_ms + rest_ms, result, 1)
        clock.forward(rest_ms - 1)
        assert frontier.lease(1).leases == ()
        clock.forward(1)
    done(frontier, one(frontier), result, retry_after_ms=0)
    state = frontier.host(A)
    assert state is not None
    assert state.rest_ms <= clock.now_ms


@pytest.mark.parametrize("result", ["http_5xx", "cut"])
def test_a_host_all_of_whose_pages_fail_rests_longer_and_longer(make: Make, clock: Clock, result: str) -> None:
    """One broken page costs its host little; a host that is away must not be asked for all it has meanwhile."""
    frontier = make(replace(FREE, delay_ms=1000))
    frontier.take_in([Candidate(f"{A}/{number}") for number in range(9)])

    def rest_s(result: str, **more: int) -> float:
        done(frontier, one(frontier), result, **more)
        state = frontier.host(A)
        assert state is not None
        rest_ms = max(0, state.rest_ms - clock.now_ms)
        clock.forward(max(1000, rest_ms))
        return rest_ms / 1000

    assert [rest_s(result) for _ in range(4)] == [5, 10, 20, 40]
    assert rest_s(result, retry_after_ms=90_000) == 90
    assert [rest_s("ok"), rest_s("ok"), rest_s(result)] == [0, 0, 40]


@pytest.mark.parametrize("path", ["", "y" * 700], ids=["short", "long"])
@pytest.mark.parametrize("score", [0.5, 1.0])
def test_pages_that_fail_for_good_do_not_keep_their_host_from_the_others(
    make: Make, clock: Clock, score: float, path: str
) -> None:
    """Each failure doubles the host's rest, so broken ones that were tried again first would cost it weeks."""
    frontier = make(replace(FREE, delay_ms=1000))
    frontier.take_in([Candidate(f"{A}/broken{number}{path}", score=score) for number in range(10)])
    frontier.take_in([Candidate(f"{A}/good{number}{path}", score=0.5) for number in range(10)])
    began_ms = clock.now_ms
    fetched: list[str] = []
    while len(fetched) < 10:
        grant = frontier.lease(1)
        if not grant.leases:
            assert grant.next_due_ms is not None
            clock.forward(max(1, grant.next_due_ms - clock.now_ms))
            continue
        broken = "broken" in grant.leases[0].url
        fetched += [] if broken else [grant.leases[0].url]
        done(frontier, grant.leases[0], "http_5xx" if broken else "ok")
    assert clock.now_ms - began_ms < 2 * HOUR


def test_a_host_with_nothing_left_of_failures_but_their_number_asks_for_what_has_not_failed_first(
    make: Make, clock: Clock
) -> None:
    """It has an address of its own, nothing parked, and no rest that lasts: Redis would grant it the quick way."""
    frontier = make(replace(FREE, delay_ms=1000, address_delay_ms=0))
    frontier.take_in([Candidate(f"{A}/broken{number}", score=1.0) for number in range(2)])
    for _ in range(2):
        lease = one(frontier)
        assert frontier.bind(lease.token, "192.0.2.1").granted
        done(frontier, lease, "http_5xx")
        clock.forward(10 * MINUTE)
    frontier.take_in([Candidate(f"{A}/good{number}", score=0.5) for number in range(3)])
    fetched = []
    for _ in range(4):
        lease = one(frontier)
        fetched.append(lease.url)
        done(frontier, lease)
        clock.forward(1000)
    assert fetched[:2] == [f"{A}/good0", f"{A}/good1"]
    assert "broken" in fetched[2], "what failed is forgiven: the better band goes first again"


def test_a_feed_that_failed_is_asked_for_again_before_pages(make: Make, clock: Clock) -> None:
    frontier = make(replace(FREE, delay_ms=1000))
    frontier.take_in([Candidate(f"{A}/feed", Kind.FEED, score=1.0)])
    frontier.take_in([Candidate(f"{A}/{number}", score=1.0) for number in range(2)])
    done(frontier, one(frontier), "http_5xx")
    clock.forward(DAY)
    assert one(frontier).url == f"{A}/feed"


def test_a_host_that_is_away_for_days_loses_no_page(make: Make, clock: Clock) -> None:
    frontier = make(FREE)
    for number, result in enumerate(("http_429", "http_503", "http_5xx", "dns", "connect", "tls", "timeout", "cut")):
        host, back_ms, asked = f"http://away{number}.example", clock.now_ms + 2 * DAY, 0
        frontier.take_in([Candidate(f"{host}/{page}") for page in range(5)])
        fetched: set[str] = set()
        while len(fetched) < 5:
            grant = frontier.lease(1)
            if not grant.leases:
                assert grant.next_due_ms, (result, asked)
                clock.forward(max(1, grant.next_due_ms - clock.now_ms))
                continue
            away = clock.now_ms < back_ms
            asked += away
            fetched |= set() if away else {grant.leases[0].url}
            done(frontier, grant.leases[0], result if away else "ok")
        assert asked < (110 if result in ("http_5xx", "timeout", "cut") else 25)
    assert not [name for name in frontier.status().results if name.startswith("gave_up:")]


def test_a_retry_after_of_a_week_is_obeyed_and_one_of_years_forgotten_in_time(make: Make, clock: Clock) -> None:
    frontier = make(FREE)
    for told_ms, rest_ms in ((7 * DAY, 7 * DAY), (3650 * DAY, 30 * DAY)):
        frontier.take_in([Candidate(f"{A}/{rest_ms}")])
        asked_ms = clock.now_ms
        done(frontier, one(frontier), "http_503", retry_after_ms=told_ms)
        state = frontier.host(A)
        assert state is not None
        assert state.rest_ms == asked_ms + rest_ms
        clock.forward(rest_ms)


def test_without_retry_after_the_rest_doubles_and_time_forgives(make: Make, clock: Clock) -> None:
    frontier = make(FREE)
    frontier.take_in([Candidate(f"{A}/{number}") for number in range(9)])
    rests = []
    for _ in range(7):
        done(frontier, one(frontier), "http_503")
        state = frontier.host(A)
        assert state is not None
        rests.append(state.rest_ms - clock.now_ms)
        clock.forward(rests[-1])
    assert rests == [2**number * MINUTE for number in range(7)]  # a rest does not forgive what it is for
    clock.forward(10 * 10 * MINUTE)
    done(frontier, one(frontier), "http_503")
    state = frontier.host(A)
    assert state is not None
    assert state.rest_ms - clock.now_ms == MINUTE


def test_retries_are_counted_and_end(make: Make, clock: Clock) -> None:
    frontier = make(FREE)
    frontier.take_in([Candidate(f"{A}/1")])
    for attempt in range(11):
        lease = one(frontier)
        assert lease.attempt == attempt
        done(frontier, lease, "cut")
        clock.forward(DAY)
    assert frontier.lease(1).leases == ()
    status = frontier.status()
    assert (status.parked, status.results["cut"], status.results["gave_up:cut"]) == (0, 11, 1)


def test_fewer_retries_than_the_table_s_after_answers(make: Make, clock: Clock) -> None:
    frontier = make(replace(FREE, most_retries=2))
    frontier.take_in([Candidate(f"{A}/1"), Candidate(f"{A}/2")])
    for _ in range(6):
        done(frontier, one(frontier), "http_5xx")
        clock.forward(DAY)
    assert frontier.lease(1).leases == ()
    assert frontier.status().results["gave_up:http_5xx"] == 2
    frontier.take_in([Candidate(f"{A}/3")])
    for expiries in range(6):  # these say nothing of the host
        assert one(frontier).expiries == expiries
        clock.forward(HOUR)
    assert frontier.lease(1).leases == ()
    assert frontier.status().results["gave_up:expired"] == 1


def test_workers_that_die_or_are_stopped_take_no_retry_from_answers(make: Make, clock: Clock) -> None:
    frontier = make(FREE)
    frontier.take_in([Candidate(f"{A}/1")])
    for _ in range(3):
        done(frontier, one(frontier), "cut")
        clock.forward(HOUR)
        assert one(frontier).url == f"{A}/1"  # its worker dies
        clock.forward(HOUR)
        for _ in range(20):
            done(frontier, one(frontier), "aborted")
            clock.forward(HOUR)
    for expiries in (3, 4, 5):
        lease = one(frontier)
        assert (lease.attempt, lease.expiries) == (3, expiries)
        clock.forward(HOUR)
    assert frontier.lease(1).leases == ()
    results = frontier.status().results
    assert (results["gave_up:expired"], results["cut"], results["aborted"], results["expired"]) == (1, 3, 60, 6)


def test_what_was_not_sent_costs_the_host_nothing(make: Make) -> None:
    frontier = make(FREE)
    frontier.take_in([Candidate(f"{A}/{n}") for n in range(3)])
    for result in ("robots_denied", "bad_url", "opted_out"):
        done(frontier, one(frontier), result)
    assert frontier.status().queued == 0


def test_a_recurring_url_keeps_its_memo(make: Make, clock: Clock) -> None:
    frontier = make(FREE)
    frontier.take_in([Candidate(f"{A}/feed", Kind.FEED)])
    done(frontier, one(frontier), memo=b"state", again_in_ms=50_000)
    assert dict(frontier.status().by_reason) == {"again": 1}
    clock.forward(49_999)
    assert frontier.lease(1).leases == ()
    clock.forward(1)
    lease = one(frontier)
    assert (lease.memo, lease.kind, lease.attempt) == (b"state", Kind.FEED, 0)
    done(frontier, lease, again_in_ms=50_000)
    clock.forward(50_000)
    lease = one(frontier)
    assert lease.memo == b"state"
    done(frontier, lease, memo=b"", again_in_ms=50_000)
    clock.forward(50_000)
    assert one(frontier).memo == b""


@pytest.mark.parametrize("memo", [b"\0" + b"m" * 31, b"long" * 2000])
@pytest.mark.parametrize("wait_ms", [0, 5000])
def test_a_candidates_memo_comes_with_its_first_lease_and_its_retries(
    make: Make, clock: Clock, wait_ms: int, memo: bytes
) -> None:
    frontier = make(FREE)
    not_before_ms = clock.now_ms + wait_ms if wait_ms else 0
    frontier.take_in([Candidate(f"{A}/1", source=B, depth=3, not_before_ms=not_before_ms, memo=memo)])
    clock.forward(wait_ms)
    lease = one(frontier)
    assert (lease.memo, lease.url, lease.depth) == (memo, f"{A}/1", 3)
    done(frontier, lease, "timeout")
    clock.forward(HOUR)
    again = one(frontier)
    assert (again.memo, again.url, again.attempt) == (memo, f"{A}/1", 1)
    done(frontier, again, memo=b"other", again_in_ms=50_000)
    clock.forward(50_000)
    again = one(frontier)
    assert (again.memo, again.url) == (b"other", f"{A}/1")


def test_an_outcome_no_table_knows_changes_nothing(make: Make) -> None:
    frontier = make(FREE)
    frontier.take_in([Candidate(f"{A}/1")])
    lease = one(frontier)
    with pytest.raises(UnknownOutcome):
        frontier.report([Outcome(lease.token, "ok"), Outcome(lease.token, "fine")])
    assert frontier.status().leased == 1


@pytest.mark.parametrize("wrong", [{"page_mark": b"short"}, {"memo": bytes(65_536)}], ids=["page mark", "memo"])
def test_what_no_record_has_room_for_changes_nothing(make: Make, wrong: dict[str, bytes]) -> None:
    frontier = make(FREE)
    frontier.take_in([Candidate(f"{A}/1")])
    lease = one(frontier)
    with pytest.raises(ValueError, match="bytes"):
        frontier.report([Outcome(lease.token, "ok"), Outcome(lease.token, "ok", **wrong)])  # type: ignore[arg-type]
    assert frontier.status().leased == 1


# -- robots.txt --------------------------------------------------------------------------------------------------------


def rules(frontier: Frontier, text: bytes = b"", **more: int) -> None:
    lease = one(frontier)
    assert lease.kind is Kind.ROBOTS
    done(frontier, lease, robots=RobotsRecord("rules", text, **more))


@pytest.mark.parametrize("config", [FREE, POLITE])
def test_to_ask_for_rules_that_are_not_there_leaves_a_host_in_its_place(
    config: FrontierConfig, make: Make, clock: Clock
) -> None:
    """People ask, too, of hosts that stand in line; else it would join anew, what it has parked in front."""
    frontier = make(config)
    frontier.take_in([Candidate(f"{A}/1"), Candidate(f"{B}/1")])
    assert one(frontier).authority == A
    frontier.take_in([Candidate(f"{B}/2", not_before_ms=clock.now_ms + 10)])
    before = frontier.peek(B)
    clock.forward(10)
    assert frontier.get_robots(B) is None
    frontier.lease(0)
    assert frontier.peek(B) == before


def test_a_host_that_is_let_go_by_hand_is_asked_for_its_robots_txt_first(make: Make, clock: Clock) -> None:
    frontier = make(POLITE)
    frontier.take_in([Candidate(f"{A}/1"), Candidate(f"{A}/2")])
    rules(frontier, b"User-agent: *\nDisallow: /\n")
    clock.forward(2000)
    page = one(frontier)
    frontier.unpark(A)
    assert frontier.get_robots(A) is None
    assert frontier.explain(f"{A}/2").robots == "no record"
    done(frontier, page, "robots_denied")
    frontier.park(A, "robots_denied", HOUR)
    assert frontier.lease(1).leases == ()
    frontier.unpark(A)
    rules(frontier, b"User-agent: *\nDisallow: /1\n")
    assert frontier.get_robots(A) == RobotsRecord("rules", b"User-agent: *\nDisallow: /1\n", clock.now_ms, DAY)
    assert frontier.lease(1).leases == ()
    clock.forward(2000)
    assert (one(frontier).url, page.url) in {(f"{A}/1", f"{A}/2"), (f"{A}/2", f"{A}/1")}


def test_robots_first_and_its_crawl_delay(make: Make, clock: Clock) -> None:
    frontier = make(POLITE)
    frontier.take_in([Candidate(f"{A}/1"), Candidate(f"{A}/2")])
    lease = one(frontier)
    assert (lease.url, lease.kind, lease.robots_ms) == (f"{A}/robots.txt", Kind.ROBOTS, 0)
    assert frontier.get_robots(A) is None
    done(frontier, lease, robots=RobotsRecord("rules", b"User-agent: *\nCrawl-delay: 5\n"))
    clock.forward(4999)
    assert frontier.lease(1).leases == ()
    clock.forward(1)
    page = one(frontier)
    record = frontier.get_robots(A)
    assert record is not None
    assert (record.kind, record.fetched_ms, record.expires_in_ms) == ("rules", page.robots_ms, DAY - 5000)
    done(frontier, page)
    clock.forward(4999)
    assert frontier.lease(1).leases == ()


def test_a_crawl_delay_above_the_cap_skips_the_host(make: Make, clock: Clock) -> None:
    frontier = make(POLITE)
    frontier.take_in([Candidate(f"{A}/1")])
    rules(frontier, b"User-agent: *\nCrawl-delay: 1000\n")
    clock.forward(HOUR)
    assert frontier.lease(1).leases == ()
    state = frontier.host(A)
    assert state is not None
    assert state.robots_gate_reason == "crawl_delay"
    clock.forward(DAY)
    assert one(frontier).kind is Kind.ROBOTS


@pytest.mark.parametrize("seconds", [1_125_000_000_000, 10**16, 10**23])
def test_a_crawl_delay_of_ages_skips_its_host_and_disturbs_no_other(make: Make, clock: Clock, seconds: int) -> None:
    """Anybody can write one."""
    frontier = make(POLITE)
    frontier.take_in([Candidate(f"{A}/1")])
    rules(frontier, b"User-agent: *\nCrawl-delay: %d\n" % seconds)
    frontier.take_in([Candidate(f"{B}/1")])
    clock.forward(1000)
    assert [lease.authority for lease in frontier.lease(2).leases] == [B]
    assert frontier.status().leased == 1
    assert (state := frontier.host(A))
    assert (state.robots_gate_reason, state.crawl_delay_ms) == ("crawl_delay", 30 * DAY)
    clock.forward(30 * DAY)
    assert (A, Kind.ROBOTS) in [(lease.authority, lease.kind) for lease in frontier.lease(2).leases]


@pytest.mark.parametrize("robots", [RobotsRecord("disallow"), None])
def test_unreachable_robots_stop_the_host_and_are_asked_for_later(
    make: Make, clock: Clock, robots: RobotsRecord | None
) -> None:
    frontier = make(POLITE)
    frontier.take_in([Candidate(f"{A}/1")])
    for minutes in (5, 10, 20, 40):
        done(frontier, one(frontier), "cut", robots=robots)
        clock.forward(minutes * MINUTE - 1)
        assert frontier.lease(1).leases == ()
        clock.forward(1)
    assert one(frontier).kind is Kind.ROBOTS


@pytest.mark.parametrize(("said_ms", "asked_again_ms"), [(HOUR, HOUR * 3 // 4), (30 * DAY, DAY - HOUR)])
def test_robots_are_asked_for_again_in_their_last_quarter_or_hour(
    make: Make, clock: Clock, said_ms: int, asked_again_ms: int
) -> None:
    frontier = make(POLITE)
    frontier.take_in([Candidate(f"{A}/1")])
    rules(frontier, expires_in_ms=said_ms)
    clock.forward(asked_again_ms)
    page = one(frontier)
    assert page.kind is Kind.PAGE
    frontier.release([page.token])
    clock.forward(1)
    assert one(frontier).kind is Kind.ROBOTS


def test_robots_are_refreshed_while_they_are_still_valid(make: Make, clock: Clock) -> None:
    frontier = make(POLITE)
    frontier.take_in([Candidate(f"{A}/{n}") for n in range(4)])
    rules(frontier)
    clock.forward(DAY - HOUR)
    assert one(frontier).kind is Kind.PAGE
    frontier.take_in([Candidate(f"{B}/1")])
    frontier.drop(B)
    clock.forward(65_000)
    refresh = one(frontier)
    assert refresh.kind is Kind.ROBOTS
    done(frontier, refresh, "timeout")
    clock.forward(3 * MINUTE)
    # the old record holds, and robots.txt is not asked for at every grant
    page = one(frontier)
    assert page.kind is Kind.PAGE
    done(frontier, page)
    clock.forward(2 * HOUR)
    assert one(frontier).kind is Kind.ROBOTS


@pytest.mark.parametrize("address", ["", "192.0.2.1"])
def test_rules_that_end_while_nobody_asks_are_not_asked_for_before_their_wait_is_over(
    address: str, make: Make, clock: Clock
) -> None:
    """Also where the host might have been asked for a page when they still held."""
    frontier = make(POLITE)
    frontier.take_in([Candidate(f"{A}/{n}") for n in range(3)])
    lease = one(frontier)
    if address:
        assert frontier.bind(lease.token, address).granted
    done(frontier, lease, robots=RobotsRecord("allow", expires_in_ms=10 * MINUTE))
    ends_ms = clock.now_ms + 10 * MINUTE
    clock.now_ms = ends_ms - 2 * MINUTE
    done(frontier, one(frontier), "timeout")
    retry_ms = clock.now_ms + 5 * MINUTE
    clock.now_ms = ends_ms
    grant = frontier.lease(9)
    assert (grant.leases, grant.next_due_ms) == ((), retry_ms)
    assert (frontier.lease(9).next_due_ms, frontier.status().due) == (retry_ms, 0)
    clock.now_ms = retry_ms
    assert one(frontier).kind is Kind.ROBOTS


def test_where_rules_end_before_its_address_is_free_a_host_gives_no_page(make: Make, clock: Clock) -> None:
    """Looked ahead for, while new rules may not be asked for yet: nor are these."""
    frontier = make(replace(POLITE, address_delay_ms=5000))
    frontier.take_in([Candidate(f"{host}/{n}") for host in (A, B) for n in range(2)])
    ends_ms = clock.now_ms + 10 * MINUTE
    for host, robots in ((A, RobotsRecord("allow", expires_in_ms=10 * MINUTE)), (B, RobotsRecord("allow"))):
        lease = one(frontier)
        assert (lease.authority, frontier.bind(lease.token, "192.0.2.1").granted) == (host, True)
        done(frontier, lease, robots=robots)
        clock.forward(5000)
    clock.now_ms = ends_ms - 2 * MINUTE
    done(frontier, one(frontier), "timeout")  # of A's robots.txt
    clock.now_ms = ends_ms - 1000
    page = one(frontier)
    assert page.url == f"{B}/0"
    done(frontier, page)
    retry_ms = ends_ms + 3 * MINUTE
    while clock.now_ms < retry_ms - 5000:
        for lease in frontier.lease(9, ahead_ms=5000).leases:
            assert lease.authority == B
            done(frontier, lease)
        clock.forward(1000)
    assert f"{A}/robots.txt" in urls(frontier.lease(9, ahead_ms=5000).leases)


@pytest.mark.parametrize("location", [f"{B}/moved.txt", "HTTP://B.example:80/moved.txt"])
def test_redirected_robots_are_fetched_politely_for_their_origin(make: Make, clock: Clock, location: str) -> None:
    frontier = make(POLITE)
    frontier.take_in([Candidate(f"{A}/1")])
    done(frontier, one(frontier), "robots_redirect", location=location)
    hop = one(frontier)
    assert (hop.url, hop.kind, hop.source, hop.hops, hop.authority) == (location, Kind.ROBOTS, A, 1, B)
    clock.forward(5000)
    done(frontier, hop, robots=RobotsRecord("allow"))
    assert frontier.get_robots(B) is None
    clock.forward(2000)
    assert one(frontier).url == f"{A}/1"


def test_a_host_that_several_robots_have_moved_to_is_asked_for_each_and_then_for_its_own(
    make: Make, clock: Clock
) -> None:
    frontier = make(POLITE)
    origins = [A, B, "http://d.example"]
    frontier.take_in([Candidate(f"{host}/1") for host in (*origins, C)])
    frontier.pause(C)
    for lease in frontier.lease(9).leases:
        done(frontier, lease, "robots_redirect", location=f"{C}/moved.txt")
    frontier.resume(C)
    seen = []
    while C not in seen:
        lease = next(found for found in frontier.lease(9).leases if found.authority == C)
        seen.append(lease.source)
        done(frontier, lease, robots=RobotsRecord("allow"))
        clock.forward(2000)
    assert sorted(seen) == sorted([*origins, C])


@pytest.mark.parametrize(("path", "seconds"), [("/robots.txt", 9), ("/moved.txt", 2)])
def test_robots_that_moved_to_those_of_a_host_say_what_delay_that_wants(
    make: Make, clock: Clock, path: str, seconds: int
) -> None:
    """Its own robots.txt comes next, and must not come sooner."""
    frontier = make(POLITE)
    frontier.take_in([Candidate(f"{A}/1")])
    done(frontier, one(frontier), "robots_redirect", location=f"{B}{path}")
    hop = one(frontier)
    frontier.take_in([Candidate(f"{B}/1")])
    done(frontier, hop, robots=RobotsRecord("rules", b"User-agent: *\nCrawl-delay: 9\n"))
    clock.forward(seconds * 1000 - 1)
    assert B not in {lease.authority for lease in frontier.lease(9).leases}
    clock.forward(1)
    assert f"{B}/robots.txt" in urls(frontier.lease(9).leases)


def test_robots_that_moved_to_what_has_opted_out_are_unreachable(make: Make, clock: Clock) -> None:
    frontier = make(POLITE)
    frontier.take_in([Candidate(f"{A}/1"), Candidate(f"{B}/1")])
    done(frontier, one(frontier), "robots_redirect", location=f"{B}/moved.txt")
    hop = one(frontier)
    done(frontier, hop, "opted_out")
    state = frontier.host(A)
    assert state is not None
    assert (state.robots_gate_reason, state.queued) == ("robots_unreachable", 1)
    # The host it led to is no worse for it.
    assert one(frontier).url == f"{B}/robots.txt"
    clock.forward(HOUR)
    assert f"{A}/robots.txt" in {lease.url for lease in frontier.lease(9).leases}


@pytest.mark.parametrize("result", ["ok", "http_404", "robots_redirect"])
def test_a_hop_that_brings_no_rules_leaves_its_origin_without(make: Make, clock: Clock, result: str) -> None:
    """Also on a host that itself needs nothing special, whose pages' answers ask for nothing but the delay."""
    frontier = make(POLITE)
    frontier.take_in([Candidate(f"{B}/1")])
    for _ in range(2):
        lease = one(frontier)
        frontier.bind(lease.token, "192.0.2.1")
        done(frontier, lease, robots=RobotsRecord("allow") if lease.kind is Kind.ROBOTS else None)
        clock.forward(2000)
    frontier.take_in([Candidate(f"{A}/1")])
    done(frontier, one(frontier), "robots_redirect", location=f"{B}/moved.txt")
    hop = one(frontier)
    assert (hop.kind, hop.authority, hop.address) == (Kind.ROBOTS, B, "192.0.2.1")
    before = frontier.status()
    done(frontier, hop, result)
    state, after = frontier.host(A), frontier.status()
    assert state is not None
    assert (state.robots_gate_reason, after.pages) == ("robots_unreachable", before.pages)
    assert after.results[f"robots:{result}"] == before.results.get(f"robots:{result}", 0) + 1


def test_a_released_hop_comes_again(make: Make) -> None:
    frontier = make(POLITE)
    frontier.take_in([Candidate(f"{A}/1")])
    done(frontier, one(frontier), "robots_redirect", location=f"{B}/moved.txt")
    hop = one(frontier)
    frontier.release([hop.token])
    assert one(frontier).url == hop.url


def test_a_dropped_hop_is_asked_for_when_its_origin_is_led_there_again(make: Make, clock: Clock) -> None:
    frontier = make(POLITE)
    frontier.take_in([Candidate(f"{A}/1"), Candidate(f"{B}/1")])
    frontier.pause(B)
    done(frontier, one(frontier), "robots_redirect", location=f"{B}/moved.txt")
    assert frontier.drop(B) == 1
    frontier.resume(B)
    grant = frontier.lease(9)
    assert (grant.leases, grant.next_due_ms) == ((), clock.now_ms + POLITE.robots_hop_wait_ms)
    clock.forward(POLITE.robots_hop_wait_ms)
    done(frontier, one(frontier), "robots_redirect", location=f"{B}/moved.txt")
    assert one(frontier).url == f"{B}/moved.txt"


def test_the_sixth_redirect_of_robots_leads_to_rules_that_nobody_has_seen(make: Make, clock: Clock) -> None:
    frontier = make(POLITE)
    frontier.take_in([Candidate(f"{A}/1")])
    for _ in range(2):
        for number in range(6):
            lease = one(frontier)
            assert lease.hops == number
            done(frontier, lease, "robots_redirect", location=f"{A}/robots{number}.txt")
            clock.forward(2000)
        state = frontier.host(A)
        assert state is not None
        assert (frontier.get_robots(A), state.robots_gate_reason) == (None, "robots_unreachable")
        assert not frontier.lease(1).leases
        clock.forward(15 * MINUTE)  # then it is asked for again, from the beginning


def test_where_robots_have_moved_is_not_asked_before_its_retry_after(make: Make, clock: Clock) -> None:
    frontier = make(POLITE)
    frontier.take_in([Candidate(f"{A}/1"), Candidate(f"{B}/1")])
    done(frontier, one(frontier), "robots_redirect", location=f"{B}/moved.txt", retry_after_ms=HOUR)
    state = frontier.host(A)
    assert state is not None
    assert (state.robots_gate_reason, state.robots_gate_ms) == ("robots_later", clock.now_ms + HOUR)
    other = one(frontier)
    assert other.url == f"{B}/robots.txt"  # the other host does not rest for it
    done(frontier, other, robots=RobotsRecord("allow"))
    clock.forward(HOUR - 1)
    assert [lease.url for lease in frontier.lease(9).leases] == [f"{B}/1"]
    clock.forward(1)
    lease = next(found for found in frontier.lease(9).leases if found.authority == A)
    assert lease.url == f"{A}/robots.txt"
    done(frontier, lease, "robots_redirect", location=f"{A}/moved.txt", retry_after_ms=HOUR)
    state = frontier.host(A)
    assert state is not None
    # As after any first redirect: that it had to be waited for is no failure.
    assert (state.robots_gate_reason, state.robots_gate_ms) == ("robots_wait", clock.now_ms + 10 * MINUTE)
    clock.forward(2000)
    hop = one(frontier)
    assert (hop.url, hop.hops) == (f"{A}/moved.txt", 1)  # it has been waited for
    asked_ms = clock.now_ms
    done(frontier, hop, "robots_redirect", location=f"{A}/more.txt", retry_after_ms=HOUR)
    state = frontier.host(A)
    assert state is not None
    assert (state.robots_gate_reason, state.robots_gate_ms) == ("robots_unreachable", asked_ms + HOUR)
    assert frontier.lease(9).leases == ()


@pytest.mark.parametrize("location", ["mailto:x@example.org", "", "http://"])
def test_robots_redirected_nowhere_are_unreachable(make: Make, location: str) -> None:
    frontier = make(POLITE)
    frontier.take_in([Candidate(f"{A}/1")])
    done(frontier, one(frontier), "robots_redirect", location=location)
    state = frontier.host(A)
    assert state is not None
    assert state.robots_gate_reason == "robots_unreachable"


def test_a_lost_hop_does_not_stop_its_origin_for_ever(make: Make, clock: Clock) -> None:
    frontier = make(POLITE)
    frontier.take_in([Candidate(f"{A}/1")])
    done(frontier, one(frontier), "robots_redirect", location=f"{B}/moved.txt")
    frontier.drop(B)
    clock.forward(10 * MINUTE)
    assert one(frontier).url == f"{A}/robots.txt"


@pytest.mark.parametrize("away", ["paused", "opted out"])
def test_robots_that_moved_to_where_nobody_answers_are_asked_for_ever_more_rarely(
    make: Make, clock: Clock, away: str
) -> None:
    frontier = make(POLITE)
    frontier.take_in([Candidate(f"{A}/1"), Candidate(f"{B}/1")])
    frontier.pause(B) if away == "paused" else frontier.opt_out([B])
    waits: list[int] = []
    for _ in range(14):
        lease, asked_ms = one(frontier), clock.now_ms
        assert lease.url == f"{A}/robots.txt"
        done(frontier, lease, "robots_redirect", location=f"{B}/moved.txt")
        while not (grant := frontier.lease(1)).leases:
            clock.forward(MINUTE)
        frontier.release([grant.leases[0].token])
        waits.append(clock.now_ms - asked_ms)
    assert waits[0] == 10 * MINUTE
    assert waits == sorted(waits)
    assert waits[-1] == DAY
    if away == "paused":  # one answer is enough
        frontier.resume(B)
        hop = one(frontier)
        assert (hop.url, hop.source) == (f"{B}/moved.txt", A)
        done(frontier, hop, robots=RobotsRecord("rules", b"Disallow: /"))
        clock.forward(DAY - HOUR)
        assert {lease.url for lease in frontier.lease(9).leases} == {f"{A}/1", f"{B}/robots.txt"}


# -- traps, opt-out, budgets, by hand ----------------------------------------------------------------------------------


def test_traps_are_parked_with_their_reason_and_can_be_let_go(make: Make, clock: Clock) -> None:
    frontier = make(FREE)
    trap = f"{A}/" + "a/b/" * 6
    assert frontier.take_in([Candidate(trap), Candidate(f"{A}/x", depth=99)]) == 2
    assert dict(frontier.status().by_reason) == {"trap_repeated_segment": 1, "trap_depth": 1}
    assert frontier.lease(5).leases == ()
    assert {waiting.url for _, waiting in frontier.parked()} == {trap, f"{A}/x"}
    assert frontier.explain(trap).refused == "trap_repeated_segment"
    assert frontier.unpark(A) == 2
    one(frontier)


def test_all_that_is_parked_can_be_let_go(make: Make) -> None:
    number = 4_100  # more than a script lets go in two calls
    frontier = make(replace(FREE, limits=TrapLimits(parked_traps=number)))
    frontier.take_in([Candidate(f"{A}/{n}", depth=99) for n in range(number)])
    assert frontier.status().parked == number
    assert frontier.unpark(A) == number
    assert (frontier.status().parked, frontier.unpark(A)) == (0, 0)
    assert len({waiting.url for waiting in frontier.peek(A, number)}) == number


def test_all_that_is_parked_can_be_dropped(make: Make) -> None:
    number = 2_001  # more than a script looks at in two steps
    frontier = make(replace(FREE, limits=TrapLimits(parked_traps=number)))
    frontier.take_in([Candidate(f"{A}/{n}", depth=99) for n in range(number)])
    assert frontier.drop(A) == number
    assert (frontier.status().parked, frontier.status().by_reason) == (0, {})


def test_limits_of_a_host(make: Make) -> None:
    limits = TrapLimits(host_urls=150, query_variants=5, parked_traps=10)
    frontier = make(FrontierConfig(obey_robots=False, limits=limits))
    frontier.take_in([Candidate(f"{A}/page?{n}") for n in range(30)])
    reasons = frontier.status().by_reason
    assert reasons["trap_query_variants"] == 10
    assert frontier.status().results["dropped:trap_query_variants"] == 30 - 5 - 5 - 10
    frontier.take_in([Candidate(f"{B}/{n}") for n in range(200)])
    host = frontier.host(B)
    assert host is not None
    assert (host.queued, host.parked) == (150, 10)


def test_equal_pages_let_the_host_rest_where_it_has_nothing_of_least_worth(make: Make, clock: Clock) -> None:
    frontier = make(FrontierConfig(obey_robots=False, limits=TrapLimits(equal_pages=3)))
    frontier.take_in([Candidate(f"{A}/{n}", score=0.5) for n in range(9)])
    for _ in range(4):
        done(frontier, one(frontier), page_mark=b"12345678")
        clock.forward(10_000)
    assert frontier.lease(1).leases == ()
    state = frontier.host(A)
    assert state is not None
    assert state.rest_reason == "trap_equal_pages"


@pytest.mark.parametrize("known", [False, True])
def test_each_page_unlike_the_last_ones_makes_up_for_an_equal_one(make: Make, clock: Clock, known: bool) -> None:
    """Whether or not the host's address is known, without which no report takes the way of most."""
    frontier = make(replace(FREE, limits=TrapLimits(equal_pages=3)))
    frontier.take_in([Candidate(f"{A}/{number}", score=0.5) for number in range(9)])
    for mark in (b"samepage", b"samepage", b"samepage", b"otherone", b"samepage", b"samepage"):
        assert (state := frontier.host(A))
        assert state.rest_reason == ""
        lease = one(frontier)
        assert not known or lease.address or frontier.bind(lease.token, "192.0.2.1").granted
        done(frontier, lease, page_mark=mark)
        clock.forward(FREE.delay_ms)
    assert (state := frontier.host(A))
    assert state.rest_reason == "trap_equal_pages"


@pytest.mark.parametrize("long", ["", "x" * 900], ids=["in the record", "in lists"])
def test_what_is_worth_least_waits_a_day_after_some_equal_pages(make: Make, clock: Clock, long: str) -> None:
    frontier = make(replace(FREE, limits=TrapLimits(equal_pages=11)))
    frontier.take_in([Candidate(f"{A}/feed", Kind.FEED, score=0.9), Candidate(f"{A}/list{long}", score=0.5)])
    frontier.take_in([Candidate(f"{A}/trap/{n}{long}", score=0.1) for n in range(13)])
    for number in range(5):
        assert (state := frontier.host(A))
        assert (state.queued, state.parked) == (15 - number, 0)
        lease = one(frontier)
        if not lease.address:
            assert frontier.bind(lease.token, "192.0.2.1").granted
        done(frontier, lease, page_mark=b"the feed" if "feed" in lease.url else b"samepage")
        clock.forward(FREE.delay_ms)
    assert (state := frontier.host(A))
    assert (state.queued, state.parked, state.rest_reason) == (0, 10, "")
    assert frontier.status().by_reason == {"trap_equal_pages": 10}
    more = [Candidate(f"{A}/trap/more{n}", score=0.1, not_before_ms=n) for n in range(2)]
    frontier.take_in([*more, Candidate(f"{A}/better{long}", score=0.2)])
    lease = one(frontier)
    assert "better" in lease.url
    done(frontier, lease, page_mark=b"samepage")
    clock.forward(FREE.delay_ms)
    assert frontier.lease(1).leases == ()
    assert frontier.status().by_reason == {"trap_equal_pages": 12}
    clock.forward(DAY)
    assert "/trap/" in one(frontier).url
    assert frontier.status().by_reason == {}


@pytest.mark.parametrize("long", ["", "x" * 900], ids=["in the record", "in lists"])
def test_what_lies_in_other_sections_of_the_site_does_not_wait_for_a_trap(make: Make, clock: Clock, long: str) -> None:
    frontier = make(replace(FREE, limits=TrapLimits(equal_pages=11)))
    trap = f"{A}/calendar-of-all-that-ever-happens-"  # a section is known by the first 32 bytes
    frontier.take_in([Candidate(f"{trap}{n}/{long}") for n in range(4)])
    rest = [f"{A}/news/{n}{long}" for n in range(2)] + [f"{trap}{long}", f"{trap}/{long}?page=2"]
    for number, url in enumerate(rest, start=4):
        frontier.take_in([Candidate(f"{trap}{number}/"), Candidate(url)])
    for _ in range(4):
        done(frontier, one(frontier), page_mark=b"samepage")
        clock.forward(FREE.delay_ms)
    assert frontier.status().by_reason == {"trap_equal_pages": 4}
    rest += [f"{A}/news/8", f"{A}/visit/?id=1"]
    frontier.take_in([Candidate(url) for url in (f"{trap}8/", *rest[-2:])])
    assert frontier.status().by_reason == {"trap_equal_pages": 5}
    for number, url in enumerate(rest):
        lease = one(frontier)
        assert lease.url == url
        done(frontier, lease, page_mark=b"other %2d" % number)
        clock.forward(FREE.delay_ms)
    assert frontier.lease(1).leases == ()
    frontier.take_in([Candidate(f"{A}/news/9")])
    clock.forward(DAY)
    assert one(frontier).url == f"{A}/news/9", "before what was a trap's yesterday"


def test_few_equal_pages_of_another_section_are_enough_on_a_day_with_a_trap(make: Make, clock: Clock) -> None:
    frontier = make(replace(FREE, limits=TrapLimits(equal_pages=25)))
    sections = [f"{A}/{name}/" for name in "abcdefghi"]
    frontier.take_in([Candidate(f"{sections[0]}{n}") for n in range(3)])

    def meet_one_of(section: str, mark: bytes = b"samepage") -> None:
        lease = one(frontier)
        assert lease.url.startswith(section)
        done(frontier, lease, page_mark=mark)
        clock.forward(FREE.delay_ms)

    for _ in range(6):
        frontier.take_in([Candidate(f"{sections[0]}more/{clock.now_ms}")])
        meet_one_of(sections[0])
    frontier.take_in([Candidate(f"{A}/news/{n}") for n in range(9)])
    for number in range(9):  # pages, and a copy of each but the last
        meet_one_of(f"{A}/news/", b"news %3d" % (number // 2))
    for parked, section in enumerate(sections[1:8], start=3):
        assert frontier.status().by_reason == {"trap_equal_pages": parked}
        frontier.take_in([Candidate(f"{section}{n}") for n in range(4)])
        for _ in range(3):
            meet_one_of(section)
    frontier.take_in([Candidate(f"{A}/{n}/") for n in range(5)] + [Candidate(sections[8])])
    assert (state := frontier.host(A))
    assert state.queued == 6
    for number in range(3):
        meet_one_of(f"{A}/{number}/")
    assert (state := frontier.host(A))
    assert (state.queued, state.rest_reason) == (0, ""), "of too many sections, all wait"


def test_what_waits_for_a_trap_waits_on_only_with_its_own_section(make: Make, clock: Clock) -> None:
    frontier = make(replace(FREE, limits=TrapLimits(equal_pages=11)))
    frontier.take_in([Candidate(f"{A}/{name}/{n}") for name in "ab" for n in range(4)])
    frontier.take_in([Candidate(f"{A}/a/{n}", depth=1) for n in range(4, 150)])
    for _ in range(4 + 3):  # of a, then of b
        done(frontier, one(frontier), page_mark=b"samepage")
        clock.forward(FREE.delay_ms)
    frontier.take_in([Candidate(f"{A}/b/{n}", depth=2) for n in range(4, 9)])
    assert frontier.status().by_reason == {"trap_equal_pages": 146 + 1 + 5}
    clock.forward(DAY)
    seen = []
    while grant := frontier.lease(1).leases:
        seen.append(grant[0].url)
        done(frontier, grant[0], page_mark=b"samepage" if "/a/" in seen[-1] else b"page %3d" % len(seen))
        clock.forward(FREE.delay_ms)
    assert sum("/b/" in url for url in seen) == 6
    assert frontier.status().by_reason == {"trap_equal_pages": 146 - len(seen) + 6}
    assert len(seen) < 20


@pytest.mark.parametrize("bound", [True, False])
def test_what_lists_that_look_alike_lead_to_waits_for_nothing(make: Make, clock: Clock, bound: bool) -> None:
    frontier = make(replace(FREE, limits=TrapLimits(equal_pages=11)))
    frontier.take_in([Candidate(f"{A}/list/{n}", score=0.5) for n in range(9)])
    frontier.take_in([Candidate(f"{A}/article/{n}", score=0.0) for n in range(9)])
    for number in range(16):
        lease = one(frontier)
        if bound and not lease.address:
            assert frontier.bind(lease.token, "192.0.2.1").granted
        done(frontier, lease, page_mark=b"thelists" if "list" in lease.url else b"page %3d" % number)
        clock.forward(FREE.delay_ms)
    assert (state := frontier.host(A))
    assert (state.queued, state.parked, state.rest_reason) == (2, 0, "")


def test_who_lets_a_host_go_lets_its_traps_go(make: Make, clock: Clock) -> None:
    frontier = make(replace(FREE, limits=TrapLimits(equal_pages=1)))
    frontier.take_in([Candidate(f"{A}/{n}") for n in range(4)])
    for _ in range(2):
        done(frontier, one(frontier), page_mark=b"samepage")
        clock.forward(FREE.delay_ms)
    frontier.take_in([Candidate(f"{A}/5")])
    assert frontier.lease(1).leases == ()
    assert frontier.unpark(A) == 3
    frontier.take_in([Candidate(f"{A}/6")])
    assert frontier.status().parked == 0
    assert one(frontier).url


def test_no_more_is_parked_at_once_than_a_script_has_time_for(make: Make, clock: Clock) -> None:
    frontier = make(replace(FREE, limits=TrapLimits(equal_pages=1)))
    frontier.take_in([Candidate(f"{A}/{n}") for n in range(PARKED_AT_ONCE + 11)])
    for _ in range(2):
        done(frontier, one(frontier), page_mark=b"samepage")
        clock.forward(FREE.delay_ms)
    assert (state := frontier.host(A))
    assert (state.queued, state.parked) == (9, PARKED_AT_ONCE)
    done(frontier, one(frontier), page_mark=b"otherone")
    assert (state := frontier.host(A))
    assert (state.queued, state.parked) == (0, PARKED_AT_ONCE + 8), "the rest with the next of them"


def test_a_trap_costs_each_day_as_much_as_on_the_first(make: Make, clock: Clock) -> None:
    frontier = make(replace(FREE, delay_ms=10_000, limits=TrapLimits(equal_pages=20)))
    found, days = iter(range(10_000)), []
    frontier.take_in([Candidate(f"{A}/trap/{next(found)}", score=0.0) for _ in range(30)])
    for _ in range(4):
        next_day_ms, fetches = clock.now_ms + DAY, 0
        while clock.now_ms < next_day_ms:
            grant = frontier.lease(1)
            for lease in grant.leases:
                fetches += 1
                frontier.take_in([Candidate(f"{A}/trap/{next(found)}", score=0.0) for _ in range(30)])
                done(frontier, lease, page_mark=b"samepage")
            again_ms = clock.now_ms + 10_000 if grant.leases else grant.next_due_ms or next_day_ms
            clock.now_ms = min(next_day_ms, max(clock.now_ms + 1, again_ms))
        days.append(fetches)
    assert days[0] == 5
    assert max(days) <= 6


def test_a_mark_within_two_others_is_a_new_one(make: Make, clock: Clock) -> None:
    frontier = make(FrontierConfig(obey_robots=False, limits=TrapLimits(equal_pages=1)))
    frontier.take_in([Candidate(f"{A}/{n}") for n in range(9)])
    for mark in (b"aaaaaaab", b"baaaaaaa", b"aabbaaaa", b"baaaaaaa"):
        clock.forward(10_000)
        leased = one(frontier)
        done(frontier, leased, page_mark=mark)
    clock.forward(10_000)
    assert frontier.lease(1).leases == (), "the last came for the second time"


def test_opt_out_is_honoured_at_once(make: Make, clock: Clock) -> None:
    frontier = make(FREE)
    frontier.take_in([Candidate(f"{A}/private/1"), Candidate(f"{A}/open"), Candidate(f"{B}/1")])
    assert frontier.opt_out(["b.example", f"{A}/private/"]) == 5  # http, https, each with www., too
    assert frontier.opt_out(["b.example"]) == 0
    others = ["http://www.b.example", "https://b.example", "https://www.b.example"]
    assert frontier.opted_out() == [f"{A}/private/", B, *others]
    assert urls(frontier.lease(5).leases) == [f"{A}/open"]
    assert frontier.status().results["opted_out"] == 2
    assert frontier.explain(f"{A}/private/2").refused == f"opted_out:{A}/private/"


@pytest.mark.parametrize(
    ("url", "prefix"),
    [
        (f"{A}/p?private&a=1", f"{A}/p?private"),
        ("HTTP://A.example./x/../p?%70rivate", f"{A}/p?private"),
        (f"{A}/p?a=1&private", ""),
        ("https://www.b.example", "https://www.b.example"),
        (f"{C}/p?private", ""),
    ],
)
def test_any_url_can_be_held_against_the_opt_outs(make: Make, url: str, prefix: str) -> None:
    frontier = make(FREE)
    frontier.opt_out([f"{A}/p?private", "b.example"])
    assert frontier.opted_out_by(url) == prefix


def test_opt_outs_with_one_that_is_none_change_nothing(make: Make) -> None:
    frontier = make(FREE)
    with pytest.raises(ValueError, match="pattern"):
        frontier.opt_out(["b.example", "*.c.example"])
    assert frontier.opted_out() == []


def test_an_opt_out_is_withdrawn_whole_and_by_its_own_name_only(make: Make, clock: Clock) -> None:
    frontier = make(FREE)
    frontier.opt_out(["b.example", f"{A}/private", f"{A}/private/"])
    before = frontier.opted_out()
    alike = (f"{A}/", f"{A}/priv", f"{A}/%70rivate", f"{A}/private?x")
    for other in ("a.example", *alike, "b.example/private", "c.example"):
        assert frontier.withdraw_opt_out(other) == 0
    assert frontier.opted_out() == before
    frontier.take_in([Candidate(f"{B}/1"), Candidate(f"{C}/1")])
    assert urls(frontier.lease(5).leases) == [f"{C}/1"], "what is dropped meanwhile does not come back"
    assert frontier.withdraw_opt_out("b.example") == 4
    assert frontier.opted_out() == [f"{A}/private", f"{A}/private/"]
    frontier.take_in([Candidate(f"{B}/2"), Candidate(f"{A}/private/2")])
    clock.forward(10_000)
    assert urls(frontier.lease(5).leases) == [f"{B}/2"]
    assert frontier.withdraw_opt_out(f"{A}/private/") == 1
    assert frontier.opted_out_by(f"{A}/private/2") == f"{A}/private"
    assert frontier.withdraw_opt_out("b.example") == 0
    frontier.opt_out([B])
    assert frontier.withdraw_opt_out("b.example") == 0, "a part of what a name stands for"
    assert frontier.opted_out() == [f"{A}/private", B]


@pytest.mark.parametrize(
    ("prefix", "url"),
    [
        ("/private/", "/%70rivate/1"),
        ("/%70riv%61te", "/private"),
        ("/izindaba/ö", "/izindaba/%c3%b6"),
        ("/a%2Fb", "/a/b"),
    ],
)
def test_an_opt_out_holds_however_its_path_is_escaped(make: Make, prefix: str, url: str) -> None:
    frontier = make(FREE)
    frontier.take_in([Candidate(A + url), Candidate(f"{A}/open")])
    frontier.opt_out([A + prefix])
    assert urls(frontier.lease(1).leases) == [f"{A}/open"]
    assert frontier.explain(A + url).refused.startswith("opted_out:")
    assert not frontier.explain(f"{A}/open").refused


@pytest.mark.parametrize(
    "spelling", ["HTTP://A.example", "http://a.example:80", "http://a.example.", "http://me@a.example"]
)
def test_an_opt_out_holds_however_its_host_is_spelled(make: Make, spelling: str) -> None:
    frontier = make(FREE)
    frontier.take_in([Candidate(f"{spelling}/private/1"), Candidate(f"{spelling}/open")])
    frontier.opt_out([f"{A}/private/"])
    assert urls(frontier.lease(1).leases) == [f"{spelling}/open"]
    assert frontier.explain(f"{spelling}/private/1").refused.startswith("opted_out:")


@pytest.mark.parametrize("address", ["192.0.2.7", "192.0.2.7:8080", "[2001:db8::7]", "192.0.2.7/private/"])
def test_the_owner_of_an_address_without_a_name_opts_out(make: Make, address: str) -> None:
    frontier = make(FREE)
    frontier.take_in([Candidate(f"http://{address.rstrip('/')}/1")])
    assert frontier.opt_out([address]) == 2  # http and https
    assert frontier.lease(5).leases == ()


@pytest.mark.parametrize(
    ("budget", "closed"),
    [(Budget(max_pages=2), "pages"), (Budget(max_bytes=20), "bytes"), (Budget(max_seconds=4), "seconds")],
)
def test_budgets_close_the_crawl(make: Make, clock: Clock, budget: Budget, closed: str) -> None:
    frontier = make(FrontierConfig(obey_robots=False, delay_ms=2000, budget=budget))
    frontier.take_in([Candidate(f"{A}/{n}") for n in range(5)])
    for _ in range(2):
        done(frontier, one(frontier), fetched_bytes=10)
        clock.forward(2000)
    grant = frontier.lease(1)
    assert (grant.leases, grant.closed) == ((), closed)


def test_a_budget_of_pages_counts_answers_of_all_kinds(make: Make, clock: Clock) -> None:
    """But robots.txt, and what is tried again."""
    frontier = make(replace(POLITE, budget=Budget(max_pages=20)))
    kinds = {"feed": Kind.FEED, "map": Kind.SITEMAP}
    names = ("feed", "map", "redirect", "http_404", "unwanted", "http_503", "timeout")
    frontier.take_in([Candidate(f"http://{name}.example/", kinds.get(name, Kind.PAGE)) for name in names])
    for lease in frontier.lease(10).leases:
        done(frontier, lease, robots=RobotsRecord("allow"))
    clock.forward(2000)
    for lease in frontier.lease(10).leases:
        name = lease.url[7:-9]
        done(frontier, lease, "ok" if name in kinds else name, again_in_ms=DAY if name in kinds else None)
    assert frontier.status().pages == len(names) - 2


def test_no_more_is_under_way_than_the_budget_has_pages_left(make: Make, clock: Clock) -> None:
    frontier = make(FrontierConfig(obey_robots=False, budget=Budget(max_pages=3)))
    frontier.take_in([Candidate(f"{host}/{n}") for host in (A, B, C, "http://d.example") for n in range(3)])
    leases = frontier.lease(10).leases
    assert len(leases) == 3
    grant = frontier.lease(10)
    assert (grant.leases, grant.closed, grant.next_due_ms) == ((), "", clock.now_ms + 1000), "they are waited for"
    assert frontier.report([Outcome(leases[0].token, "ok"), Outcome(leases[1].token, "dns")]) == [True, True]
    frontier.release([leases[2].token])
    leases = frontier.lease(10).leases
    assert len(leases) == 2, "what became no page leaves its place to others"
    clock.forward(leases[0].expires_ms - clock.now_ms + 10_000)
    leases = frontier.lease(10).leases
    assert len(leases) == 2, "so does a worker that died"
    frontier.report([Outcome(lease.token, "http_404") for lease in leases])
    grant = frontier.lease(10)
    assert (grant.leases, grant.closed) == ((), "pages")


def test_people_can_pause_resume_park_and_drop(make: Make, clock: Clock) -> None:
    frontier = make(FREE)
    frontier.take_in([Candidate(f"{A}/1"), Candidate(f"{A}/2")])
    assert not frontier.pause(B)
    assert frontier.pause(A)
    assert frontier.lease(1).leases == ()
    assert frontier.resume(A)
    assert frontier.park(A, "by hand", 5000)
    assert frontier.lease(1).leases == ()
    assert frontier.lease(1).next_due_ms == clock.now_ms + 5000
    assert frontier.unpark(A) == 0
    one(frontier)
    assert frontier.drop(A) == 1
    assert frontier.status().queued == 0


@pytest.mark.parametrize("long", ["", "x" * 900], ids=["in the record", "in lists"])
def test_what_was_dropped_does_not_come_back_with_what_comes_later(make: Make, clock: Clock, long: str) -> None:
    frontier = make(FREE)
    frontier.take_in([Candidate(f"{A}/old{n}{long}") for n in range(4)])
    assert frontier.drop(A) == 4
    later = [f"{A}/new{n}{long}" for n in range(4)]
    frontier.take_in([Candidate(url) for url in later])
    found = []
    while leases := frontier.lease(1).leases:
        found += urls(leases)
        done(frontier, leases[0])
        clock.forward(FREE.delay_ms)
    assert found == later


def test_who_is_paused_while_a_page_is_fetched_is_asked_for_no_other(make: Make, clock: Clock) -> None:
    frontier = make(FREE)
    frontier.take_in([Candidate(f"{A}/{n}") for n in range(3)])
    lease = one(frontier)
    assert frontier.bind(lease.token, "192.0.2.1").granted
    done(frontier, lease)
    clock.forward(FREE.delay_ms)
    lease = one(frontier)
    assert frontier.pause(A)
    done(frontier, lease)
    clock.forward(FREE.delay_ms)
    grant = frontier.lease(1)
    assert (grant.leases, grant.next_due_ms) == ((), None)
    assert frontier.resume(A)
    assert one(frontier).url == f"{A}/2"


def test_a_rest_is_never_shortened_by_an_answer(make: Make, clock: Clock) -> None:
    frontier = make(FREE)
    frontier.take_in([Candidate(f"{A}/1")])
    lease = one(frontier)
    frontier.park(A, "by hand", HOUR)
    done(frontier, lease, "http_429", retry_after_ms=0)
    clock.forward(HOUR - 1)
    assert frontier.lease(1).leases == ()
    clock.forward(1)
    one(frontier)


def test_what_a_server_has_asked_for_is_not_shortened_by_parking(make: Make, clock: Clock) -> None:
    frontier = make(FREE)
    frontier.take_in([Candidate(f"{A}/1")])
    done(frontier, one(frontier), "http_429", retry_after_ms=HOUR)
    assert frontier.park(A, "robots_denied", 5000)
    assert (state := frontier.host(A)) is not None
    assert (state.rest_ms, state.rest_reason) == (clock.now_ms + HOUR, "http_429")


def test_explanations(make: Make, clock: Clock) -> None:
    frontier = make(POLITE)
    frontier.take_in([Candidate(f"{A}/1", source="http://source.example/"), Candidate(f"{A}/2")])
    assert (frontier.explain(f"{A}/1").place, frontier.explain(f"{A}/1").robots) == ("queued", "no record")
    asked = one(frontier)
    assert frontier.explain(f"{A}/robots.txt").place == "leased"
    frontier.release([asked.token])
    rules(frontier, b"User-agent: *\nDisallow: /2\n")
    assert frontier.explain(f"{A}/2").robots == "denied: Disallow: /2"
    clock.forward(2000)
    lease = one(frontier)
    assert frontier.explain(lease.url).place == "leased"
    assert frontier.explain(f"{B}/9").place == "not here"
    assert frontier.explain(f"{A}/%31?utm_source=x").url == lease.url
    waiting = frontier.peek(A)
    assert [w.url for w in waiting] == [f"{A}/2"]
    assert frontier.explain(f"{A}/%32?").waiting == waiting[0]


def test_of_a_long_queue_it_is_said_that_some_was_not_looked_at(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else who asks why was told that a URL far behind was done with."""
    monkeypatch.setattr(admin, "LOOKED_THROUGH", 2)
    frontier = make(FREE)
    frontier.take_in([Candidate(f"{A}/{n}") for n in range(2)])
    assert [frontier.explain(f"{A}/{n}").place for n in range(3)] == ["queued", "queued", "not here"]
    frontier.take_in([Candidate(f"{A}/2")])
    assert [frontier.explain(f"{A}/{n}").place for n in range(3)] == ["queued", "queued", "far behind"]


def test_queued_urls_get_new_scores(make: Make) -> None:
    frontier = make(FREE)
    frontier.take_in([Candidate(f"{A}/{n}", score=0.5, memo=b"m%d" % n) for n in range(4)])
    frontier.take_in([Candidate(f"{B}/9", score=0.4), Candidate(f"{A}/low", score=0.0)])
    (heads,) = frontier.heads([A], 3)
    assert [(one.url, one.memo) for one in heads[:3]] == [(f"{A}/{n}", b"m%d" % n) for n in range(3)]
    assert (heads[3].url, heads[3].score) == (f"{A}/low", 0)
    scores = dict(zip(heads, (0.1, 0.51, 0.12, 0.9), strict=True))
    leased = one(frontier)
    assert leased.url == f"{A}/0"
    assert frontier.rescore({A: list(scores.items())}) == 2, "one is leased, one stays in its band"
    assert [(one.url, round(one.score, 1)) for one in frontier.peek(A)] == [
        (f"{A}/low", 0.9),
        (f"{A}/1", 0.5),
        (f"{A}/3", 0.5),
        (f"{A}/2", 0.1),
    ]
    done(frontier, leased)
    assert frontier.rescore({A: list(scores.items())}) == 0, "they have moved on"
    assert frontier.rescore({"http://none.example": list(scores.items())}) == 0
    assert frontier.heads(["http://none.example", A], 1) == [[], frontier.heads([A], 1)[0]]
    assert frontier.status().queued == 5


def test_many_hosts_are_looked_at_in_one_call(make: Make) -> None:
    frontier = make(FREE)
    frontier.take_in(Candidate(f"http://h{number}.example/1") for number in range(2_500))
    assert len(frontier.hosts(9_000)) == 2_500
    heads = frontier.heads([f"http://h{number}.example" for number in range(2_500)] * 4, 3)
    assert [len(found) for found in heads] == [1] * 10_000


def test_a_new_score_moves_the_authority_in_line(make: Make) -> None:
    frontier = make(FREE)
    frontier.take_in([Candidate(f"{A}/1", score=0.5), Candidate(f"{B}/1", score=0.4)])
    frontier.lease(0)  # both stand in line
    assert frontier.rescore({A: [(frontier.heads([A], 9)[0][0], 0.1)]}) == 1
    assert [one(frontier).url, one(frontier).url] == [f"{B}/1", f"{A}/1"]


def test_what_lies_far_behind_keeps_its_score(make: Make) -> None:
    frontier = make(FREE)
    frontier.take_in([Candidate(f"{A}/{n}", score=0.5) for n in range(600)])
    (heads,) = frontier.heads([A], 600)
    assert frontier.rescore({A: [(heads[511], 1.0), (heads[599], 1.0)]}) == 1
    assert frontier.peek(A, 1)[0].url == f"{A}/511"


def test_new_scores_of_several_hosts_at_once(make: Make) -> None:
    frontier = make(FREE)
    hosts = [A, B, "http://c.example"]
    frontier.take_in(Candidate(f"{host}/{n}", score=0.5) for host in hosts for n in range(4))
    frontier.lease(0)  # all stand in line
    worths = {A: [0.1] * 4, B: [0.9, 0.1, 0.1, 0.9], "http://none.example": [0.9] * 4, "http://c.example": [0.5] * 4}
    heads = dict(zip(hosts, frontier.heads(hosts, 9), strict=True))
    scores = {host: list(zip(heads.get(host, heads[A]), worth, strict=True)) for host, worth in worths.items()}
    assert frontier.rescore(scores) == 8
    assert [one.url for one in frontier.peek(B)] == [f"{B}/0", f"{B}/3", f"{B}/1", f"{B}/2"]
    assert [one(frontier).authority for _ in hosts] == [B, "http://c.example", A]


def test_more_new_scores_than_one_call_moves(make: Make) -> None:
    frontier = make(FREE)
    hosts = [f"http://h{number}.example" for number in range(7)]
    frontier.take_in(Candidate(f"{host}/{n}", score=0.5) for host in hosts for n in range(300))
    heads = zip(hosts, frontier.heads(hosts, 300), strict=True)
    assert frontier.rescore({host: [(one, 0.9) for one in queued] for host, queued in heads}) == 2_100
    assert all(one.score > 0.8 for host in hosts for one in frontier.peek(host, 300))
    assert frontier.peek(hosts[3], 300)[299].url == f"{hosts[3]}/299"


def test_a_call_that_is_made_again_counts_once(make: Make) -> None:
    """Its answer was lost, or a Redis that hung does it now; and by then a newer one may have been made."""
    frontier = make(FREE)
    first, second, other = Once("w", 1), Once("w", 2), Once("x", 1)
    assert frontier.add_counts({"n": {"a": (1, 2)}}, first) == {"n": {"a": (1, 2)}}
    assert frontier.add_counts({"n": {"a": (1, 2), "b": (0,)}}, first) == {"n": {"a": (1, 2), "b": (0,)}}
    assert frontier.add_counts({"n": {"a": (1, 2)}}, second) == {"n": {"a": (2, 4)}}
    assert frontier.add_counts({"n": {"a": (1, 2)}}, first) == {"n": {"a": (2, 4)}}
    assert frontier.add_counts({"n": {"a": (1, 2)}}, other) == {"n": {"a": (3, 6)}}
    assert frontier.add_counts({"n": {"a": (1, 2)}}) == {"n": {"a": (4, 8)}}


def test_what_is_no_url_is_counted(make: Make) -> None:
    frontier = make(FREE)
    assert frontier.take_in([Candidate("mailto:x@example.org"), Candidate("http://"), Candidate(f"{A}/1")]) == 1
    assert frontier.status().results["refused:not_a_url"] == 2


def test_what_has_the_port_of_another_service_is_not_even_queued(make: Make) -> None:
    """Its robots.txt would be asked for, and refused, day after day."""
    frontier = make(FREE)
    assert frontier.take_in([Candidate("http://a.example:6667/x"), Candidate(f"{A}/1")]) == 1
    assert frontier.status().results["refused:bad_port"] == 1
    assert frontier.explain("http://a.example:6667/x").refused == "bad_port:6667"


def test_counters_add_up(make: Make) -> None:
    frontier = make(FREE)
    frontier.add_counts({"yield": {"a": (1, 2), "b:c": (5,)}})
    assert frontier.add_counts({"yield": {"a": (1, 0, 7)}}) == {"yield": {"a": (2, 2, 7)}}
    assert frontier.add_counts({"yield": {"a": (1,)}}) == {"yield": {"a": (3,)}}
    assert frontier.get_counts("yield") == {"a": (3, 2, 7), "b:c": (5, 0, 0)}
    assert frontier.get_counts("other") == {}
    zeros = {"a": (0, 4, 0), "b": (0, 0)}
    both = {"none": {}, "zeros": zeros, "yield": {"b:c": (-2,), "é": (2**40, 1)}}
    assert frontier.add_counts(both) == {"none": {}, "zeros": zeros, "yield": {"b:c": (3,), "é": (2**40, 1)}}
    assert frontier.get_counts("zeros") == {"a": (0, 4, 0), "b": (0, 0, 0)}
    assert frontier.get_counts("yield") == {"a": (3, 2, 7), "b:c": (3, 0, 0), "é": (2**40, 1, 0)}
    assert frontier.add_counts({}) == {}
    frontier.forget_counts(["yield", "other"])
    assert frontier.get_counts("yield") == {}
    assert frontier.get_counts("zeros") != {}
    frontier.forget_counts([])


def test_the_audit_has_each_grant_and_how_it_ended(make: Make, clock: Clock) -> None:
    """With the delays that run from its end, where something was sent."""
    frontier = make(replace(FREE, audit=True))
    frontier.configure({A: HostPolicy(delay_ms=9000)})
    frontier.take_in([Candidate(f"{A}/{n}") for n in range(3)])
    back = one(frontier)
    frontier.release([back.token])
    fetched = one(frontier)
    assert frontier.bind(fetched.token, "192.0.2.1").granted
    clock.forward(500)
    done(frontier, fetched, fetch_ms=300, ended_ago_ms=100)
    end_ms = clock.now_ms - 100
    clock.forward(9000)
    unsent = one(frontier)
    done(frontier, unsent, "dns")
    rows = frontier.audit_rows if isinstance(frontier, MemoryFrontier) else [*cast(RedisFrontier, frontier).audit()]
    assert rows == [
        AuditRow("grant", back.token, A, "", back.due_ms),
        AuditRow("release", back.token, A, "", back.due_ms),
        AuditRow("grant", fetched.token, A, "", fetched.due_ms),
        AuditRow("end", fetched.token, A, "192.0.2.1", fetched.due_ms, end_ms - 300, end_ms, "ok", 9000, 1000),
        AuditRow("grant", unsent.token, A, "192.0.2.1", unsent.due_ms),
        AuditRow("end", unsent.token, A, "192.0.2.1", unsent.due_ms, clock.now_ms, clock.now_ms, "dns"),
    ]
