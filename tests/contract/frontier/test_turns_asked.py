"""What a site has asked of one crawl on a shared Redis holds for all of them: delays after a worker that died, rests, a
robots.txt that does not answer."""

from __future__ import annotations

from dataclasses import replace

import pytest
import redis

from frontier import Candidate, HostPolicy, Kind, Outcome, RobotsRecord
from frontier.errors import FrontierUnavailable
from frontier.outcomes import DAY, HOUR, MINUTE, OUTCOMES
from frontier.turns import _ASKED_FOR, PREFIX, TurnTakingFrontier
from tests.contract.frontier.conftest import Clock
from tests.contract.frontier.test_contract import FREE, POLITE, A, B, done, one
from tests.contract.frontier.test_turns import ADDRESS, MakeSharing, crawls, next_lease


@pytest.mark.parametrize("result", ["http_503", "http_4xx"])
def test_a_busy_host_is_left_alone_by_all(make_sharing: MakeSharing, clock: Clock, result: str) -> None:
    zulu, xhosa = crawls(make_sharing, 2, [f"{A}/1"])
    done(zulu, one(zulu), result, retry_after_ms=HOUR)
    grant = xhosa.lease(1)
    assert (grant.leases, grant.next_due_ms) == ((), clock.now_ms + HOUR)


def test_a_host_that_is_busy_again_rests_for_all_as_long_as_for_the_crawl_that_asked(
    make_sharing: MakeSharing, clock: Clock
) -> None:
    """Longer each time, without a Retry-After."""
    zulu, xhosa = crawls(make_sharing, 2, [f"{A}/{number}" for number in range(9)])
    rests_ms = []
    for _ in range(3):
        done(zulu, next_lease(zulu, clock), "http_503")
        again_ms = xhosa.lease(1).next_due_ms or 0
        assert (state := zulu.host(A))
        assert state.rest_ms == again_ms
        rests_ms.append(again_ms - clock.now_ms)
    assert rests_ms == sorted(set(rests_ms))


@pytest.mark.parametrize("whose", ["nobody's", "another's"])
def test_what_a_server_asks_on_a_turn_that_is_lost_is_reported_all_the_same(
    whose: str, make_sharing: MakeSharing, server: redis.Redis, clock: Clock
) -> None:
    zulu, xhosa = crawls(make_sharing, 2, [f"{A}/1", f"{A}/2"])
    lease = one(zulu)
    server.delete(f"{PREFIX}t:{A}")
    other = one(xhosa) if whose == "another's" else None
    done(zulu, lease, "http_503", retry_after_ms=HOUR)
    assert (state := zulu.host(A))
    assert state.rest_ms == clock.now_ms + HOUR
    if other:  # whose turn is not ended by it, nor made longer
        done(xhosa, other)
        clock.forward(FREE.delay_ms)
        assert one(xhosa).authority == A


def rules(frontier: TurnTakingFrontier, clock: Clock, text: bytes = b"") -> None:
    """Fetch the robots.txt of A."""
    lease = next_lease(frontier, clock)
    assert lease.kind is Kind.ROBOTS
    frontier.bind(lease.token, ADDRESS)
    done(frontier, lease, robots=RobotsRecord("rules", text))


@pytest.mark.parametrize("of", ["robots.txt", "the seed file", "a slow server"])
def test_the_delay_that_a_dead_worker_knew_of_holds_for_the_next_crawl(
    of: str, make_sharing: MakeSharing, clock: Clock
) -> None:
    config = POLITE if of == "robots.txt" else FREE
    zulu, xhosa, swati = crawls(make_sharing, 3, [f"{A}/1", f"{A}/2"], config)
    swati.drop(A)
    swati.take_in([Candidate(f"{B}/1")])
    if of == "the seed file":
        zulu.configure({A: HostPolicy(delay_ms=30_000, address_delay_ms=20_000)})
    rules_say = RobotsRecord("rules", b"User-agent: *\nCrawl-delay: 30\n") if config is POLITE else None
    first = one(zulu)
    zulu.bind(first.token, ADDRESS)
    done(zulu, first, fetch_ms=30_000 if of == "a slow server" else 10, robots=rules_say)
    dead = next_lease(zulu, clock)  # its host needs nothing but its next URL
    assert dead.address == ADDRESS
    other = next_lease(swati, clock)
    refused = swati.bind(other.token, ADDRESS)
    clock.now_ms = dead.expires_ms
    address_delay_ms = {"robots.txt": 1000, "the seed file": 20_000}.get(of, 30_000)
    if not refused.granted:
        assert next_lease(swati, clock).due_ms >= dead.expires_ms + address_delay_ms
    assert next_lease(xhosa, clock).due_ms >= dead.expires_ms + 30_000


def test_the_delay_that_only_the_next_crawl_knows_of_holds_after_a_dead_worker(
    make_sharing: MakeSharing, clock: Clock
) -> None:
    zulu, xhosa = crawls(make_sharing, 2, [f"{A}/1", f"{A}/2"], POLITE)
    rules(xhosa, clock, b"User-agent: *\nCrawl-delay: 30\n")
    dead = next_lease(zulu, clock)
    assert dead.kind is Kind.ROBOTS  # which nobody of its crawl has read
    clock.now_ms = dead.expires_ms
    assert next_lease(xhosa, clock).due_ms >= dead.expires_ms + 30_000


@pytest.mark.parametrize("after_ms", [None, HOUR])
@pytest.mark.parametrize("result", ["http_429", "http_503"])
def test_a_host_that_is_busy_for_robots_txt_rests_for_all(
    result: str, after_ms: int | None, make_sharing: MakeSharing, clock: Clock
) -> None:
    zulu, xhosa, swati = crawls(make_sharing, 3, [f"{A}/1"], POLITE)
    rules(swati, clock)
    done(zulu, next_lease(zulu, clock), result, retry_after_ms=after_ms, robots=RobotsRecord("disallow"))
    again_ms = zulu.lease(1).next_due_ms
    assert again_ms == clock.now_ms + (after_ms or 5 * MINUTE)
    for other in (xhosa, swati):
        grant = other.lease(1)
        assert (grant.leases, grant.next_due_ms) == ((), again_ms)


@pytest.mark.parametrize("result", ["http_5xx", "timeout", "cut"])
def test_a_robots_txt_that_does_not_answer_is_asked_for_by_nobody_for_a_while(
    result: str, make_sharing: MakeSharing, clock: Clock
) -> None:
    zulu, xhosa, swati = crawls(make_sharing, 3, [f"{A}/1", f"{A}/2"], POLITE)
    rules(swati, clock)
    done(zulu, next_lease(zulu, clock), result, robots=RobotsRecord("disallow"))
    again_ms = zulu.lease(1).next_due_ms
    assert again_ms == clock.now_ms + 5 * MINUTE
    grant = xhosa.lease(1)
    assert (grant.leases, grant.next_due_ms) == ((), again_ms)
    assert next_lease(swati, clock).url == f"{A}/1"  # its rules hold
    swati.release(list(swati._held))
    zulu.unpark(A)
    rules(zulu, clock)
    xhosa.unpark(A)
    assert next_lease(xhosa, clock).due_ms < again_ms


@pytest.mark.parametrize(("result", "kind"), [("ok", "rules"), ("http_5xx", "disallow")])
def test_a_robots_txt_that_is_told_of_late_is_not_asked_for_sooner(
    result: str, kind: str, make_sharing: MakeSharing, clock: Clock
) -> None:
    """A worker stood still before it told for longer than its lease, and another crawl has asked since."""
    zulu, xhosa, swati = crawls(make_sharing, 3, [f"{A}/1"], POLITE)
    first = one(zulu)
    zulu.report_first([Outcome(first.token, result, robots=RobotsRecord(kind, b""))])
    done(xhosa, next_lease(xhosa, clock), "http_5xx", robots=RobotsRecord("disallow"))
    again_ms = clock.now_ms + 5 * MINUTE
    zulu.tell_others()
    assert next_lease(swati, clock).due_ms >= again_ms


def test_rules_that_hold_are_gone_by_while_nobody_may_ask_for_new_ones(make_sharing: MakeSharing, clock: Clock) -> None:
    zulu, swati = crawls(make_sharing, 2, [f"{A}/{number}" for number in range(3)], POLITE)
    rules(swati, clock)
    clock.forward(DAY - 4 * MINUTE)  # when they are asked for anew, in time
    done(zulu, next_lease(zulu, clock), "http_5xx", robots=RobotsRecord("disallow"))
    again_ms = clock.now_ms + 5 * MINUTE
    for number in range(2):
        lease = next_lease(swati, clock)
        assert (lease.url, lease.due_ms < again_ms) == (f"{A}/{number}", True)
        done(swati, lease)
    clock.forward(4 * MINUTE)  # they hold no more
    last = next_lease(swati, clock)
    assert (last.url, last.due_ms >= again_ms) == (f"{A}/robots.txt", True)


def test_a_robots_txt_that_has_moved_to_where_nothing_answers_is_asked_for_by_nobody(
    make_sharing: MakeSharing, clock: Clock
) -> None:
    zulu, xhosa = crawls(make_sharing, 2, [f"{A}/1"], POLITE)
    done(zulu, one(zulu), "robots_redirect", location=f"{B}/robots.txt")
    done(zulu, next_lease(zulu, clock), "http_5xx", robots=RobotsRecord("disallow"))
    clock.forward(POLITE.delay_ms)
    state = zulu.host(A)
    assert state is not None
    grant = xhosa.lease(1)
    assert (grant.leases, grant.next_due_ms) == ((), state.robots_gate_ms)


def test_another_hosts_robots_txt_that_has_moved_there_is_asked_for(make_sharing: MakeSharing, clock: Clock) -> None:
    zulu, xhosa = make_sharing(POLITE), make_sharing(POLITE)
    zulu.take_in([Candidate(f"{B}/1")])
    done(zulu, one(zulu), "http_5xx", robots=RobotsRecord("disallow"))
    xhosa.take_in([Candidate(f"{A}/1")])
    done(xhosa, one(xhosa), "robots_redirect", location=f"{B}/rules.txt")
    assert next_lease(xhosa, clock).url == f"{B}/rules.txt"


def test_what_a_crawl_could_not_ask_is_its_own(make_sharing: MakeSharing, clock: Clock) -> None:
    """An address that it may not use is no word of the server's."""
    zulu, xhosa = crawls(make_sharing, 2, [f"{A}/1"], POLITE)
    done(zulu, one(zulu), "robots_unreachable", retry_after_ms=DAY)
    assert one(xhosa).kind is Kind.ROBOTS


@pytest.mark.parametrize("end", ["ok", "dns", "given back", "died"])
def test_others_keep_to_what_a_server_has_asked_whatever_one_crawl_does(
    end: str, make_sharing: MakeSharing, clock: Clock
) -> None:
    zulu, xhosa = crawls(make_sharing, 2, [f"{A}/1", f"{A}/2"])
    done(zulu, one(zulu), "http_503", retry_after_ms=HOUR)
    asked_ms = clock.now_ms + HOUR
    clock.forward(POLITE.delay_ms)
    for _ in range(2):
        zulu.unpark(A)
        lease = next_lease(zulu, clock)
        if end == "given back":
            zulu.release([lease.token])
        elif end == "died":
            clock.now_ms = lease.expires_ms
        else:
            done(zulu, lease, end)
        clock.forward(10 * MINUTE)
    grant = xhosa.lease(1)
    assert (grant.leases, grant.next_due_ms) == ((), asked_ms)


def test_nobody_waits_for_a_lease_that_does_not_end_what_the_server_has_asked(
    make_sharing: MakeSharing, clock: Clock
) -> None:
    zulu, xhosa = crawls(make_sharing, 2, [f"{A}/1", f"{A}/2"])
    done(zulu, one(zulu), "http_503", retry_after_ms=HOUR)
    asked_ms = clock.now_ms + HOUR
    zulu.unpark(A)
    next_lease(zulu, clock)
    grant = xhosa.lease(1)
    assert (grant.leases, grant.next_due_ms) == ((), asked_ms)


def test_a_crawl_that_is_let_go_does_not_wait_for_those_whom_the_server_keeps_away(
    make_sharing: MakeSharing, clock: Clock
) -> None:
    zulu, xhosa = crawls(make_sharing, 2, [f"{A}/1", f"{A}/2"])
    done(zulu, one(zulu), "http_503", retry_after_ms=HOUR)
    asked_ms = clock.now_ms + HOUR
    assert xhosa.lease(1).next_due_ms == asked_ms  # is next
    clock.forward(POLITE.delay_ms)
    zulu.unpark(A)
    done(zulu, one(zulu))
    clock.now_ms = asked_ms
    assert zulu.lease(1).leases == ()
    assert one(xhosa).due_ms == asked_ms


@pytest.mark.parametrize("result", sorted(name for name in _ASKED_FOR if OUTCOMES[name].rest_base_ms))
def test_a_worker_that_dies_between_report_and_end_of_turn_leaves_the_rest_to_others(
    result: str, make_sharing: MakeSharing, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a server that has not said for how long, the shortest that may be."""
    zulu, xhosa = crawls(make_sharing, 2, [f"{A}/1"], replace(FREE, lease_ms=1000))
    lease = one(zulu)

    def dies(ended: object) -> None:
        raise FrontierUnavailable(zulu.crawl, "gone")

    monkeypatch.setattr(zulu, "_end_reported", dies)
    done(zulu, lease, result)
    assert next_lease(xhosa, clock).due_ms >= lease.due_ms + OUTCOMES[result].rest_base_ms // 2


@pytest.mark.parametrize("result", ["http_503", "http_4xx"])
@pytest.mark.parametrize("what", ["dies", "parks"])
def test_a_retry_after_is_known_to_all_before_it_is_reported(
    what: str, result: str, make_sharing: MakeSharing, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then the worker dies, or the crawl's own record has a longer rest that hides it."""
    zulu, xhosa = crawls(make_sharing, 2, [f"{A}/1"])
    lease = one(zulu)
    if what == "parks":
        zulu.park(A, "by_hand", DAY)
    else:

        def dies(ended: object) -> None:
            raise FrontierUnavailable(zulu.crawl, "gone")

        monkeypatch.setattr(zulu, "_end_reported", dies)
    clock.forward(500)
    done(zulu, lease, result, retry_after_ms=HOUR, ended_ago_ms=300)
    assert next_lease(xhosa, clock).due_ms >= lease.due_ms + 200 + HOUR


def test_redis_keeps_what_a_server_has_asked_for_so_long(
    make_sharing: MakeSharing, clock: Clock, server: redis.Redis
) -> None:
    """The key of a turn that nobody ends outlives the lease by more than any delay that the next crawl may know of."""
    (zulu,) = crawls(make_sharing, 1, [f"{A}/1", f"{B}/1"], POLITE)
    busy, dead = zulu.lease(2).leases

    def kept_ms(name: str) -> int:
        return server.pttl(f"{PREFIX}{name}")

    assert kept_ms(f"t:{dead.authority}") > DAY // 2
    done(zulu, busy, "http_503", retry_after_ms=3 * HOUR, robots=RobotsRecord("disallow"))
    assert kept_ms(f"t:{busy.authority}") > 2 * HOUR
    assert kept_ms(f"r:{busy.authority}") > 2 * HOUR
    zulu.unpark(busy.authority)
    clock.forward(POLITE.delay_ms)
    zulu.release([one(zulu).token])
    assert kept_ms(f"t:{busy.authority}") > 2 * HOUR


@pytest.mark.parametrize("told_ms", [MINUTE, 10 * DAY])
def test_redis_keeps_it_when_the_worker_dies_thereafter_be_it_short_or_longer_than_any_turn(
    told_ms: int, make_sharing: MakeSharing, clock: Clock, server: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    (zulu,) = crawls(make_sharing, 1, [f"{A}/1", f"{A}/2"])

    def dies(ended: object) -> None:
        raise FrontierUnavailable(zulu.crawl, "gone")

    monkeypatch.setattr(zulu, "_end_reported", dies)
    done(zulu, one(zulu), "http_4xx", retry_after_ms=told_ms)
    least_ms = max(DAY, told_ms) - HOUR
    assert server.pttl(f"{PREFIX}t:{A}") > least_ms
    zulu.unpark(A)  # by hand
    clock.forward(FREE.delay_ms)
    assert one(zulu).url == f"{A}/2"
    assert server.pttl(f"{PREFIX}t:{A}") > least_ms
