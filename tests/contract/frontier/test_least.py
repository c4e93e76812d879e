"""What is worth least has its share of the turns while better URLs are to be had, and all of them when none are."""

from __future__ import annotations

from dataclasses import replace

import pytest
import redis

from frontier import Candidate, Frontier, FrontierConfig, Outcome
from frontier.outcomes import HOUR, MINUTE
from frontier.redis_frontier import RedisFrontier
from tests.contract.frontier.conftest import Clock, Make
from tests.contract.frontier.test_contract import FREE, A, B, done, one, urls

BOUND = replace(FREE, least_share=0.1, least_every_ms=1e12, better_wait_ms=5000)
WAIT_MS = BOUND.better_wait_ms
GOOD, LEAST = 0.9, 0.05


def worthless(number: int, pages: int = 1) -> list[Candidate]:
    """URLs of least worth, of so many hosts."""
    return [Candidate(f"http://w{host}.example/{page}", score=LEAST) for host in range(number) for page in range(pages)]


def leased(frontier: Frontier, limit: int = 100) -> list[str]:
    """URLs that may be fetched now; all are."""
    leases = frontier.lease(limit).leases
    frontier.report([Outcome(lease.token, "ok") for lease in leases])
    return urls(leases)


def test_while_a_host_with_better_ones_is_waited_for_they_stand_in_line(make: Make, clock: Clock) -> None:
    frontier = make(BOUND)
    frontier.take_in([Candidate(f"{A}/{n}", score=GOOD) for n in range(2)] + worthless(3))
    assert leased(frontier) == [f"{A}/0"]
    grant = frontier.lease(100)
    assert (grant.leases, grant.next_due_ms) == ((), clock.now_ms + BOUND.delay_ms), "the other one of A"
    clock.forward(BOUND.delay_ms)
    assert sorted(leased(frontier)) == [f"{A}/1"]
    assert leased(frontier) == [], "waited for until what was known of it is over"
    clock.forward(WAIT_MS - BOUND.delay_ms)
    assert len(leased(frontier)) == 3


def test_when_none_are_better_nobody_waits(make: Make) -> None:
    frontier = make(BOUND)
    frontier.take_in([Candidate(f"{A}/1", score=GOOD), *worthless(30)])
    assert len(leased(frontier)) == 31, "the only better one is fetched with them"


def test_with_the_better_ones_they_are_no_more_than_were_asked_for(make: Make) -> None:
    frontier = make(BOUND)
    frontier.take_in([Candidate(f"{host}/1", score=GOOD) for host in (A, B, "http://c.example")] + worthless(9))
    leases = frontier.lease(5).leases
    assert [url.startswith("http://w") for url in urls(leases)] == [False] * 3 + [True] * 2


def test_a_better_host_behind_many_of_them_that_nobody_has_looked_at_comes_at_once(make: Make, clock: Clock) -> None:
    """A call looks at some of them; who asks is told to ask again now, not when a turn is due."""
    frontier = make(BOUND)
    frontier.take_in([Candidate(f"{A}/{n}", score=GOOD) for n in range(2)])
    assert leased(frontier) == [f"{A}/0"]
    frontier.take_in([*worthless(60), Candidate(f"{B}/1", score=GOOD)])
    while not (grant := frontier.lease(1)).leases:
        assert grant.next_due_ms == clock.now_ms
    assert urls(grant.leases) == [f"{B}/1"]


def test_of_a_hundred_turns_they_have_ten(make: Make, clock: Clock) -> None:
    frontier = make(BOUND)
    hosts = [f"http://g{number}.example" for number in range(10)]
    frontier.take_in([Candidate(f"{host}/{page}", score=GOOD) for host in hosts for page in range(19)])
    frontier.take_in(worthless(30, 5))
    found: list[str] = []
    for _ in range(18):
        found += leased(frontier)
        clock.forward(BOUND.delay_ms)
    better = sum(url.startswith("http://g") for url in found)
    assert (better, len(found) - better) == (180, 20), "a ninth of them"


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_a_share_of_nothing_and_of_all(share: float, make: Make, clock: Clock) -> None:
    frontier = make(replace(BOUND, least_share=share))
    frontier.take_in([Candidate(f"{A}/{n}", score=GOOD) for n in range(90)] + worthless(5))
    found = []
    for _ in range(40):
        found += leased(frontier)
        clock.forward(BOUND.delay_ms)
    assert sum(url.startswith("http://w") for url in found) == 5 * share


def test_where_better_ones_are_few_they_have_a_turn_in_so_much_time(make: Make, clock: Clock) -> None:
    frontier = make(replace(BOUND, least_every_ms=5000))
    frontier.take_in([Candidate(f"{A}/{n}", score=GOOD) for n in range(90)] + worthless(60))
    leased(frontier)
    turns: list[int] = []
    start_ms = clock.now_ms
    while clock.now_ms < start_ms + 60_000:
        turns += [clock.now_ms - start_ms for url in leased(frontier) if not url.startswith(A)]
        grant = frontier.lease(100)
        assert not grant.leases
        assert grant.next_due_ms
        clock.now_ms = grant.next_due_ms
    # a ninth of a turn with each lease of A, one each two seconds, besides that of the time
    assert len(turns) == 15
    assert turns[:3] == [3889, 7778, 11_667]


def test_a_host_that_is_waited_for_in_vain_holds_them_for_so_long_and_no_longer(make: Make, clock: Clock) -> None:
    frontier = make(BOUND)
    frontier.take_in([Candidate(f"{A}/{n}", score=GOOD) for n in range(9)] + worthless(3))
    one(frontier)
    clock.forward(WAIT_MS - 1)
    grant = frontier.lease(100)
    assert (grant.leases, grant.next_due_ms) == ((), clock.now_ms + 1)
    clock.forward(1)
    assert len(leased(frontier)) == 3, "its lease runs on"


def test_a_host_that_is_leased_ahead_of_time_is_waited_for_too(make: Make, clock: Clock) -> None:
    frontier = make(BOUND)
    frontier.take_in([Candidate(f"{A}/{n}", score=GOOD) for n in range(3)] + worthless(3))
    assert leased(frontier) == [f"{A}/0"]
    clock.forward(BOUND.delay_ms - 400)
    assert one(frontier, ahead_ms=400).url == f"{A}/1"
    assert leased(frontier) == []


def test_when_the_clock_was_put_back_nobody_waits_until_it_is_there_again(make: Make, clock: Clock) -> None:
    frontier = make(BOUND)
    frontier.take_in([Candidate(f"{A}/{n}", score=GOOD) for n in range(9)] + worthless(3))
    clock.forward(HOUR)
    leased(frontier)
    clock.forward(-HOUR)
    assert len(leased(frontier)) == 3


def test_when_it_was_put_back_by_little_they_have_their_turns_in_so_much_time_from_then_on(
    make: Make, clock: Clock
) -> None:
    frontier = make(replace(BOUND, least_every_ms=5000))
    frontier.take_in([Candidate(f"{A}/{n}", score=GOOD) for n in range(9)] + worthless(9))
    assert leased(frontier) == [f"{A}/0"]
    clock.forward(-30_000)
    assert leased(frontier) == []
    turns = []
    for _ in range(30):
        clock.forward(1000)
        turns.append(len(leased(frontier)))
    # a ninth of a turn for the lease of A, and the others by time
    assert [second for second, number in enumerate(turns, 1) if number] == [5, 10, 15, 20, 25, 30]


def test_when_it_was_put_back_they_are_not_held_anew_when_it_is_there_again(make: Make, clock: Clock) -> None:
    frontier = make(BOUND)
    frontier.take_in([Candidate(f"{A}/{n}", score=GOOD) for n in range(9)])
    assert leased(frontier) == [f"{A}/0"]
    clock.forward(-HOUR)
    assert leased(frontier) == []
    clock.forward(HOUR - 1000)
    frontier.take_in(worthless(3))
    assert len(leased(frontier)) == 3


def test_a_call_that_may_be_late_does_not_put_the_clock_back(
    server: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only who has its answer knows whether Redis stood still for ten minutes, or TIME was set forward."""
    frontier = RedisFrontier(server, "late", BOUND)
    frontier.take_in([Candidate(f"{A}/{n}", score=GOOD) for n in range(2)] + worthless(3))
    assert leased(frontier) == [f"{A}/0"]
    before = server.hmget(frontier.keys.meta, "better", "credited")
    earliest_ms = frontier.now_ms() - 10 * MINUTE
    monkeypatch.setattr(frontier, "_moment", lambda: ["", earliest_ms, earliest_ms, "", ""])
    server.delete("{ulwembu}:clock")
    assert frontier.lease(1).leases == ()
    assert server.hmget(frontier.keys.meta, "better", "credited") == before


def test_a_better_url_takes_its_host_out_of_their_line(make: Make, clock: Clock) -> None:
    frontier = make(BOUND)
    frontier.take_in([Candidate(f"{A}/{n}", score=GOOD) for n in range(9)] + worthless(3))
    assert leased(frontier) == [f"{A}/0"]
    frontier.take_in([Candidate("http://w1.example/better", score=GOOD)])
    assert leased(frontier) == ["http://w1.example/better"]


def test_what_a_host_in_their_line_has_parked_comes_in_time(make: Make, clock: Clock) -> None:
    """A feed is polled when it is due, though its host has else but worthless pages."""
    frontier = make(BOUND)
    frontier.take_in([Candidate(f"{A}/{n}", score=GOOD) for n in range(60)])
    frontier.take_in([Candidate(f"{B}/feed", score=GOOD)])
    feed = next(lease for lease in frontier.lease(2).leases if lease.authority == B)
    done(frontier, feed, again_in_ms=40_000)
    frontier.take_in([Candidate(f"{B}/{n}", score=LEAST) for n in range(9)])
    frontier.take_in([Candidate(f"{B}/later", score=GOOD, not_before_ms=clock.now_ms + 20_000)])
    polled = {}
    for _ in range(60):
        polled.update(dict.fromkeys(leased(frontier), clock.now_ms))
        clock.forward(1000)
    start_ms = clock.now_ms - 60_000
    assert 20_000 <= polled[f"{B}/later"] - start_ms <= 24_000
    assert 40_000 <= polled[f"{B}/feed"] - start_ms <= 44_000


def test_what_is_to_be_fetched_later_comes_in_time_also_when_its_host_stands_in_their_line_before(
    make: Make, clock: Clock
) -> None:
    frontier = make(replace(BOUND, least_share=0))
    frontier.take_in([Candidate(f"{A}/{n}", score=GOOD) for n in range(60)] + [Candidate(f"{B}/0", score=LEAST)])
    assert leased(frontier) == [f"{A}/0"]
    later_ms = clock.now_ms + 20_000
    frontier.take_in([Candidate(f"{B}/later", score=GOOD, not_before_ms=later_ms)])
    while clock.now_ms < later_ms:
        assert all(url.startswith(A) for url in leased(frontier))
        clock.forward(1000)
    assert f"{B}/later" in leased(frontier)


def test_what_a_host_in_their_line_has_parked_comes_some_at_a_time(make: Make, clock: Clock) -> None:
    """Thousands that are due at once would take all calls of lease, and the places that these have for others."""
    frontier = make(replace(BOUND, least_share=0))
    frontier.take_in([Candidate(f"{A}/{n}", score=GOOD) for n in range(90)])
    leased(frontier)
    later_ms = clock.now_ms + 1000
    frontier.take_in([Candidate(f"{B}/{n}", score=LEAST, not_before_ms=later_ms) for n in range(50)])
    clock.forward(1000)
    queued = []
    for _ in range(21):
        grant = frontier.lease(100)
        assert all(lease.authority == A for lease in grant.leases)
        frontier.report([Outcome(lease.token, "ok") for lease in grant.leases])
        assert grant.leases or (grant.next_due_ms or 0) > clock.now_ms
        queued += [state.queued for state in frontier.hosts() if state.authority == B]
        clock.forward(500)
    assert queued == [16] * 20 + [32]


def test_hosts_of_one_address_wait_behind_their_best(make: Make, clock: Clock) -> None:
    frontier = make(replace(BOUND, least_share=0, address_ttl_ms=3_600_000))
    here = [f"http://h{number}.example" for number in range(3)]
    frontier.take_in([Candidate(f"{host}/{page}", score=GOOD) for host in here for page in (0, 1)])
    for _ in here:
        clock.forward(BOUND.delay_ms)
        lease = one(frontier)
        assert frontier.bind(lease.token, "192.0.2.1").granted
        done(frontier, lease)
    heads = zip(here[1:], frontier.heads(here[1:], 10), strict=True)
    assert frontier.rescore({host: [(url, LEAST) for url in waiting] for host, waiting in heads}) == 2
    frontier.take_in([Candidate(f"{A}/{n}", score=GOOD) for n in range(90)])
    found: list[str] = []
    for _ in range(5):
        clock.forward(BOUND.delay_ms)
        found += leased(frontier)
    assert [url for url in found if not url.startswith(A)] == [f"{here[0]}/1"]


def test_a_redirected_robots_txt_is_not_worth_least(make: Make, clock: Clock) -> None:
    """Another host waits for it."""
    frontier = make(replace(BOUND, obey_robots=True))
    frontier.take_in([Candidate(f"{A}/1", score=GOOD)])
    lease = one(frontier)
    done(frontier, lease, "robots_redirect", location=f"{B}/robots.txt")
    frontier.take_in([Candidate(f"http://c.example/{n}", score=GOOD) for n in range(9)])
    assert sorted(leased(frontier)) == [f"{B}/robots.txt", "http://c.example/robots.txt"]


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_a_share_is_a_share(share: float) -> None:
    with pytest.raises(ValueError, match="least_share"):
        FrontierConfig(least_share=share)
