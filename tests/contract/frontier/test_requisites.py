"""What pages embed, when the budget of pages is spent: that alone is leased, by the same rules, until none is left."""

from __future__ import annotations

from dataclasses import replace

import pytest
import redis

from frontier import Budget, Candidate, Frontier, HostPolicy, Kind, Lease, Outcome, RobotsRecord
from frontier.outcomes import DAY, MINUTE, of_requisite
from frontier.payload import REQUISITE_MARK
from tests.contract.frontier.conftest import Clock, Make
from tests.contract.frontier.test_contract import FREE, POLITE, A, B, C, done, one, urls

ONE_PAGE = replace(FREE, budget=Budget(max_pages=1, requisites=True))
D = "http://d.example"


def embedded(url: str, score: float = 1.0, not_before_ms: int = 0) -> Candidate:
    """By some page."""
    return Candidate(url, score=score, not_before_ms=not_before_ms, memo=REQUISITE_MARK + b"\1")


def spent(frontier: Frontier, host: str = D) -> None:
    """The only page is fetched."""
    frontier.take_in([Candidate(f"{host}/page", score=1.0)])
    lease = one(frontier)
    assert not lease.uncounted
    done(frontier, lease)


def got(frontier: Frontier, lease: Lease, **more: object) -> None:
    done(frontier, lease, of_requisite("ok"), **more)


@pytest.mark.parametrize("ahead_ms", [0, 500])
def test_only_what_pages_embed_is_leased(make: Make, clock: Clock, ahead_ms: int) -> None:
    frontier = make(ONE_PAGE)
    spent(frontier)
    frontier.take_in([Candidate(f"{A}/page", score=0.8), Candidate(f"{B}/page"), Candidate(f"{A}/feed", Kind.FEED)])
    grant = frontier.lease(10, ahead_ms)
    frontier.lease(10, ahead_ms)
    grant = frontier.lease(10, ahead_ms)
    assert (grant.leases, grant.closed, grant.narrowed, grant.next_due_ms) == ((), "", True, None)
    frontier.take_in([embedded(f"{A}/1.png"), embedded(f"{C}/2.png"), Candidate(f"{C}/page", score=1.0)])
    leases = frontier.lease(10, ahead_ms).leases
    assert sorted(urls(leases)) == [f"{A}/1.png", f"{C}/2.png"]
    assert all(lease.uncounted for lease in leases)
    clock.forward(100)
    for lease in leases:
        got(frontier, lease)
    clock.forward(2000)
    for _ in range(3):
        grant = frontier.lease(10, ahead_ms)
    assert (grant.leases, grant.narrowed, grant.next_due_ms) == ((), True, None)
    assert (frontier.status().pages, frontier.status().queued, frontier.status().due) == (1, 4, 0)


def test_a_crawl_without_them_is_closed(make: Make) -> None:
    frontier = make(replace(FREE, budget=Budget(max_pages=1)))
    spent(frontier)
    frontier.take_in([embedded(f"{A}/1.png")])
    grant = frontier.lease(10)
    assert (grant.leases, grant.closed, grant.narrowed, grant.next_due_ms) == ((), "pages", False, None)


def test_none_is_leased_while_pages_may_still_use_the_budget_up(make: Make) -> None:
    frontier = make(ONE_PAGE)
    frontier.take_in([Candidate(f"{A}/page")])
    page = one(frontier)
    frontier.take_in([embedded(f"{B}/1.png")])
    assert frontier.lease(10).leases == ()
    done(frontier, page, "dns")
    lease = one(frontier)
    assert (lease.url, lease.uncounted) == (f"{B}/1.png", False), "it may be a page yet"
    done(frontier, lease)
    assert frontier.lease(10).narrowed


@pytest.mark.parametrize(
    "budget", [Budget(1, max_bytes=10, requisites=True), Budget(1, max_seconds=9, requisites=True)]
)
def test_other_budgets_end_all(make: Make, clock: Clock, budget: Budget) -> None:
    frontier = make(replace(FREE, budget=budget))
    spent(frontier)
    frontier.take_in([embedded(f"{A}/{number}.png") for number in range(3)])
    got(frontier, one(frontier), fetched_bytes=10)
    clock.forward(9000)
    grant = frontier.lease(1)
    assert (grant.leases, grant.narrowed) == ((), False)
    assert grant.closed == ("bytes" if budget.max_bytes else "seconds")


def test_delays_hold_and_robots_txt_comes_first(make: Make, clock: Clock) -> None:
    frontier = make(replace(POLITE, budget=ONE_PAGE.budget))
    frontier.take_in([Candidate(f"{A}/page")])
    for robots in (RobotsRecord("rules", b"User-agent: *\nCrawl-delay: 7\n"), None):
        lease = one(frontier)
        done(frontier, lease, robots=robots)
        clock.forward(7000)
    frontier.take_in([Candidate(f"{B}/page"), *(embedded(f"{host}/{n}.png") for host in (A, C) for n in range(2))])
    leases = {lease.url: lease for lease in frontier.lease(10).leases}
    assert set(leases) == {f"{A}/0.png", f"{C}/robots.txt"}, "and none for a host that has pages alone"
    done(frontier, leases[f"{C}/robots.txt"], robots=RobotsRecord("allow"))
    got(frontier, leases[f"{A}/0.png"])
    grant = frontier.lease(10)
    assert (grant.leases, grant.next_due_ms) == ((), clock.now_ms + 2000)
    clock.forward(2000)
    assert one(frontier).url == f"{C}/0.png"
    clock.forward(4999)
    assert frontier.lease(10).leases == ()
    clock.forward(1)
    assert one(frontier).url == f"{A}/1.png"


def test_an_address_is_shared_politely_also_with_hosts_that_have_pages_alone(make: Make, clock: Clock) -> None:
    frontier = make(replace(FREE, budget=Budget(max_pages=4, requisites=True)))
    frontier.take_in([Candidate(f"{host}/{number}", score=0.6) for host in (A, B, C, D) for number in range(9)])
    for lease in frontier.lease(10).leases:
        frontier.bind(lease.token, "192.0.2.1")
    while not frontier.lease(0).narrowed:
        clock.forward(1000)
        for lease in frontier.lease(10).leases:
            if frontier.bind(lease.token, "192.0.2.1").granted:
                done(frontier, lease)
        frontier.report([Outcome(token, "ok") for token in held(frontier)])
    clock.forward(10_000)
    assert frontier.lease(10).leases == ()
    frontier.take_in([embedded(f"{host}/{n}.png") for host in (B, D) for n in range(2)])
    seen = []
    for _ in range(4):
        lease = one(frontier)
        seen.append(lease.url)
        assert lease.address == "192.0.2.1"
        assert frontier.lease(10).leases == ()
        got(frontier, lease)
        assert frontier.lease(10).leases == ()
        clock.forward(999)
        assert frontier.lease(10).leases == ()
        clock.forward(1)
    assert sorted(seen) == [f"{host}/{n}.png" for host in (B, D) for n in range(2)]
    frontier.lease(10)
    grant = frontier.lease(10)
    assert (grant.leases, grant.next_due_ms) == ((), None)


def test_behind_one_that_has_opted_out_its_address_is_waited_for(make: Make, clock: Clock) -> None:
    """By a host that has pages, and later what they embed, also where the call ends with a lease of another address."""
    frontier = make(replace(FREE, budget=Budget(max_pages=6, requisites=True)))
    for host, address in ((D, "192.0.2.1"), (A, "192.0.2.1"), (B, "192.0.2.1"), (C, "192.0.2.2")):
        frontier.take_in([Candidate(f"{host}/page")])
        lease = one(frontier)
        frontier.bind(lease.token, address)
        done(frontier, lease)
        clock.forward(2000)
    frontier.take_in([Candidate(f"{D}/last", score=1.0), embedded(f"{A}/1.png"), Candidate(f"{B}/next", score=0.5)])
    later_ms = clock.now_ms + MINUTE
    frontier.take_in([embedded(f"{B}/2.png", not_before_ms=later_ms)])
    (busy,) = frontier.lease(10).leases
    assert busy.authority == D
    done(frontier, busy)
    clock.forward(2000)
    frontier.take_in([Candidate("http://last.example/", score=1.0)])
    done(frontier, one(frontier))
    frontier.opt_out([A])
    frontier.take_in([embedded(f"{C}/3.png")])
    assert urls(frontier.lease(1).leases) == [f"{C}/3.png"]
    frontier.lease(1)
    assert frontier.lease(1).next_due_ms == later_ms
    clock.forward(MINUTE)
    assert urls(frontier.lease(1).leases) == [f"{B}/2.png"]


def held(frontier: Frontier) -> list[str]:
    return [state.leased_token for state in frontier.hosts() if state.leased_token]


def test_one_that_is_tried_again_later_is_waited_for(make: Make, clock: Clock) -> None:
    """It is parked, among pages that are; its host has pages besides, and they are not waited for."""
    frontier = make(ONE_PAGE)
    frontier.take_in([Candidate(f"{A}/later", not_before_ms=clock.now_ms + MINUTE)])
    spent(frontier)
    frontier.take_in([embedded(f"{A}/1.png"), embedded(f"{B}/2.png", not_before_ms=clock.now_ms + 5 * MINUTE)])
    frontier.take_in([Candidate(f"{host}/page", score=0.3) for host in (A, B)])
    frontier.take_in([Candidate(f"{C}/later", not_before_ms=clock.now_ms + MINUTE)])
    done(frontier, one(frontier), "timeout")
    frontier.lease(10)
    again_ms = clock.now_ms + 2 * MINUTE
    grant = frontier.lease(10)
    assert (grant.leases, grant.next_due_ms) == ((), again_ms)
    clock.forward(MINUTE)
    assert frontier.lease(10).next_due_ms == again_ms
    clock.forward(MINUTE)
    lease = one(frontier)
    assert (lease.url, lease.attempt) == (f"{A}/1.png", 1)
    got(frontier, lease)
    clock.forward(3 * MINUTE)
    assert one(frontier).url == f"{B}/2.png"


def test_what_comes_parked_to_a_host_with_pages_is_waited_for(make: Make, clock: Clock) -> None:
    frontier = make(ONE_PAGE)
    spent(frontier)
    later_ms = clock.now_ms + MINUTE
    frontier.take_in([Candidate(f"{A}/page"), Candidate(f"{A}/later", not_before_ms=clock.now_ms + 10)])
    assert [frontier.lease(10).leases for _ in range(2)] == [(), ()]
    frontier.take_in([embedded(f"{A}/1.png", not_before_ms=later_ms)])
    frontier.lease(10)
    assert frontier.lease(10).next_due_ms == later_ms


def test_hosts_that_stood_in_line_are_waited_for(make: Make, clock: Clock) -> None:
    """For what they have parked, though nobody asks for the pages that they stood there with."""
    frontier = make(ONE_PAGE)
    frontier.take_in([Candidate(f"{host}/page", score=0.8) for host in (A, B)])
    later_ms = [clock.now_ms + 2 * MINUTE, clock.now_ms + MINUTE]
    frontier.take_in(
        [embedded(f"{A}/1.png", not_before_ms=later_ms[0]), embedded(f"{B}/2.png", not_before_ms=later_ms[1])]
    )
    spent(frontier)
    assert frontier.lease(10).leases == ()
    assert frontier.lease(10).next_due_ms == later_ms[1]
    clock.forward(MINUTE)
    assert [urls(frontier.lease(10).leases) for _ in range(2)] == [[f"{B}/2.png"], []]
    assert frontier.lease(10).next_due_ms == later_ms[0]


def test_what_is_not_embedded_goes_behind_in_the_best_band(make: Make, clock: Clock) -> None:
    """Items of feeds, and what waits since the crawl was begun otherwise; hundreds of them, too."""
    frontier = make(ONE_PAGE)
    spent(frontier)
    frontier.take_in([Candidate(f"{A}/{number}", score=1.0) for number in range(250)])
    frontier.take_in([embedded(f"{A}/1.png"), Candidate(f"{B}/item", score=1.0)])
    found = [lease.url for _ in range(8) for lease in frontier.lease(10).leases]
    assert found == [f"{A}/1.png"]
    waiting = frontier.peek(A, 1000)
    assert [row.url for row in waiting] == [f"{A}/{number}" for number in range(250)]
    assert {round(row.score, 2) for row in waiting} == {0.87}
    assert (frontier.lease(10).next_due_ms, frontier.status().queued) == (None, 251)


def test_after_a_lease_that_ran_out_it_is_leased_again(make: Make, clock: Clock) -> None:
    frontier = make(ONE_PAGE)
    spent(frontier)
    frontier.take_in([embedded(f"{A}/1.png")])
    lease = one(frontier)
    clock.forward(lease.expires_ms - clock.now_ms)
    grant = frontier.lease(1)
    assert (grant.leases, grant.next_due_ms) == ((), clock.now_ms + 2000)
    clock.forward(2000)
    again = one(frontier)
    assert (again.url, again.expiries, again.uncounted) == (lease.url, 1, True)
    frontier.release([again.token])
    assert one(frontier).url == lease.url


def test_who_has_opted_out_or_is_paused_is_left_alone(make: Make, clock: Clock) -> None:
    frontier = make(ONE_PAGE)
    spent(frontier)
    frontier.take_in([embedded(f"{host}/{n}.png") for host in (A, B, C) for n in range(2)])
    frontier.opt_out(["a.example", f"{B}/0"])
    frontier.pause(C)
    assert urls(frontier.lease(10).leases) == [f"{B}/1.png"]
    frontier.resume(C)
    assert urls(frontier.lease(10).leases) == [f"{C}/0.png"]


@pytest.mark.parametrize("most", [0, 1, 5])
def test_a_host_that_has_spent_its_own_pages_rests_when_none_is_left(make: Make, clock: Clock, most: int) -> None:
    """Whether or not those of the crawl are spent."""
    frontier = make(replace(POLITE, budget=Budget(max_pages=most, requisites=True)))
    frontier.configure({A: HostPolicy(max_pages=1)})
    frontier.take_in([Candidate(f"{A}/page", score=1.0)])
    done(frontier, one(frontier), robots=RobotsRecord("allow"))
    clock.forward(2000)
    lease = one(frontier)
    assert not lease.uncounted
    done(frontier, lease)
    frontier.take_in([Candidate(f"{A}/feed", Kind.FEED, score=1.0), Candidate(f"{A}/2"), embedded(f"{A}/1.png")])
    frontier.take_in([embedded(f"{A}/2.png", not_before_ms=(later_ms := clock.now_ms + 9000))])
    clock.forward(2000)
    lease = one(frontier)
    assert (lease.url, lease.uncounted) == (f"{A}/1.png", True)
    got(frontier, lease)
    clock.forward(2000)
    for _ in range(3):
        grant = frontier.lease(10)
    assert (grant.leases, grant.next_due_ms) == ((), later_ms)
    clock.forward(5000)
    lease = one(frontier)
    assert (lease.url, lease.uncounted) == (f"{A}/2.png", True)
    got(frontier, lease)
    clock.forward(2000)
    for _ in range(3):
        assert frontier.lease(10).leases == ()
    assert (state := frontier.host(A))
    assert (state.rest_reason, state.pages, state.queued) == ("" if most == 1 else "quota", 1, 2)


def test_a_host_that_has_spent_its_own_bytes_rests_with_what_pages_embed(make: Make, clock: Clock) -> None:
    frontier = make(replace(FREE, budget=Budget(requisites=True)))
    frontier.configure({A: HostPolicy(max_pages=1, max_bytes=10)})
    frontier.take_in([Candidate(f"{A}/page", score=1.0), embedded(f"{A}/1.png")])
    lease = one(frontier)
    done(frontier, lease, fetched_bytes=10)
    clock.forward(2000)
    assert frontier.lease(10).leases == ()
    assert (state := frontier.host(A))
    assert state.rest_reason == "quota_bytes"


def test_without_them_a_host_that_has_spent_its_own_pages_rests(make: Make, clock: Clock) -> None:
    frontier = make(FREE)
    frontier.configure({A: HostPolicy(max_pages=1)})
    frontier.take_in([Candidate(f"{A}/page", score=1.0)])
    done(frontier, one(frontier))
    frontier.take_in([embedded(f"{A}/1.png")])
    clock.forward(2000)
    assert frontier.lease(10).leases == ()
    assert (state := frontier.host(A))
    assert state.rest_reason == "quota"


def test_a_budget_that_is_raised_leads_on(server: object, clock: Clock) -> None:
    from frontier.redis_frontier import RedisFrontier

    def frontier(pages: int) -> Frontier:
        return RedisFrontier(server, "raised", replace(FREE, budget=Budget(pages, requisites=True)), now_ms=clock)  # type: ignore[arg-type]

    first = frontier(1)
    spent(first)
    first.take_in([Candidate(f"{A}/item", score=1.0), Candidate(f"{B}/page"), embedded(f"{B}/1.png")])
    assert [url for _ in range(3) for url in urls(first.lease(10).leases)] == [f"{B}/1.png"]
    second = frontier(3)
    assert urls(second.lease(10).leases) == [f"{A}/item"], "two pages are left, one may be what is leased"


def test_what_waits_behind_a_better_page_that_came_with_it_is_fetched_in_time(make: Make, clock: Clock) -> None:
    frontier = make(ONE_PAGE)
    spent(frontier)
    frontier.take_in([Candidate(f"{A}/page")])
    frontier.lease(10)
    frontier.take_in([Candidate(f"{A}/better", score=0.5), embedded(f"{A}/1.png", not_before_ms=clock.now_ms + 1000)])
    clock.forward(2000)
    assert [url for _ in range(2) for url in urls(frontier.lease(10).leases)] == [f"{A}/1.png"]


def test_what_comes_under_a_budget_that_was_raised_for_a_while(server: redis.Redis, clock: Clock) -> None:
    """Nothing was leased meanwhile, as that worker was stopped."""
    from frontier.redis_frontier import RedisFrontier

    def frontier(pages: int) -> Frontier:
        return RedisFrontier(server, "for a while", replace(FREE, budget=Budget(pages, requisites=True)), now_ms=clock)

    first, second = frontier(1), frontier(9)
    spent(first)
    first.take_in([Candidate(f"{A}/page")])
    first.lease(1)
    second.take_in([embedded(f"{A}/1.png", not_before_ms=clock.now_ms + 1000)])
    clock.forward(2000)
    assert [url for _ in range(2) for url in urls(first.lease(9).leases)] == [f"{A}/1.png"]


def test_a_budget_that_is_raised_and_lowered_again(server: redis.Redis, clock: Clock) -> None:
    """Who has joined the line meanwhile is looked at, too."""
    from frontier.redis_frontier import RedisFrontier

    def frontier(pages: int) -> Frontier:
        return RedisFrontier(server, "again", replace(FREE, budget=Budget(pages, requisites=True)), now_ms=clock)

    first, second = frontier(1), frontier(9)
    spent(first)
    assert first.lease(1).next_due_ms is None
    second.take_in([Candidate(f"{host}/page", score=0.5) for host in (A, B, C)])
    done(second, one(second))
    second.take_in([embedded(f"{host}/1.png", not_before_ms=clock.now_ms + 1000) for host in (B, C)])
    clock.forward(2000)
    assert sorted(url for _ in range(3) for url in urls(first.lease(9).leases)) == [f"{B}/1.png", f"{C}/1.png"]


def test_a_line_that_a_version_before_took_for_left(server: redis.Redis, clock: Clock) -> None:
    """It noted for which budget all but the best band had left, and not that others had joined since."""
    from frontier.redis_frontier import RedisFrontier

    def frontier(pages: int) -> RedisFrontier:
        return RedisFrontier(server, "before", replace(FREE, budget=Budget(pages, requisites=True)), now_ms=clock)

    first, second = frontier(1), frontier(9)
    second.take_in([Candidate(f"{host}/page", score=0.5) for host in (A, B, C)])
    done(second, one(second))
    second.take_in([embedded(f"{host}/1.png", not_before_ms=clock.now_ms + 1000) for host in (B, C)])
    server.hset(first.keys.meta, "narrowed", 1)
    clock.forward(2000)
    assert sorted(url for _ in range(3) for url in urls(first.lease(9).leases)) == [f"{B}/1.png", f"{C}/1.png"]


def test_what_is_worth_least_need_not_wait_for_what_its_host_has_parked(server: redis.Redis, clock: Clock) -> None:
    """When the budget is raised; before, its host is looked at for the sake of both."""
    from frontier.redis_frontier import RedisFrontier

    def frontier(pages: int) -> Frontier:
        config = replace(FREE, least_share=0.1, budget=Budget(pages, requisites=True))
        return RedisFrontier(server, "least", config, now_ms=clock)

    first, second = frontier(1), frontier(9)
    first.take_in([Candidate(f"{B}/page", score=0.5), Candidate(f"{A}/least", score=0.0)])
    first.take_in([Candidate(f"{A}/later", score=0.5, not_before_ms=clock.now_ms + DAY)])
    first.take_in([embedded(f"{C}/1.png", not_before_ms=clock.now_ms + MINUTE)])
    lease = one(first)
    assert lease.url == f"{B}/page"
    done(first, lease)
    assert first.lease(9).next_due_ms == clock.now_ms + MINUTE
    clock.forward(20_000)
    assert urls(second.lease(9).leases) == [f"{A}/least"]


def test_a_lease_from_before_a_budget_was_lowered_runs_out(server: object, clock: Clock) -> None:
    """Its worker was killed, and the crawl started again with fewer pages."""
    from frontier.redis_frontier import RedisFrontier

    def frontier(pages: int) -> Frontier:
        return RedisFrontier(server, "lowered", replace(FREE, budget=Budget(pages, requisites=True)), now_ms=clock)  # type: ignore[arg-type]

    first, second = frontier(3), frontier(1)
    spent(first)
    first.take_in([embedded(f"{A}/1.png")])
    lease = one(first)
    assert second.lease(1).next_due_ms is None
    clock.forward(FREE.lease_ms)
    assert second.lease(1).next_due_ms == clock.now_ms + FREE.delay_ms
    clock.forward(FREE.delay_ms)
    assert one(second).url == lease.url


def test_many_hosts_are_looked_through_some_at_a_time(make: Make, clock: Clock) -> None:
    frontier = make(replace(FREE, budget=Budget(200, requisites=True)))
    hosts = [f"http://h{number}.example" for number in range(300)]
    frontier.take_in([Candidate(f"{host}/{n}", score=0.5) for host in hosts for n in range(3)])
    for number, lease in enumerate(frontier.lease(200).leases):
        frontier.bind(lease.token, f"192.0.2.{number}")
        done(frontier, lease)
    clock.forward(2000)
    frontier.take_in([embedded(f"{host}/1.png") for host in hosts[150:250]])
    frontier.take_in([embedded("http://new.example/1.png")])
    found: list[str] = []
    for _ in range(20):
        grant = frontier.lease(50)
        found += urls(grant.leases)
        for lease in grant.leases:
            got(frontier, lease)
        if grant.next_due_ms is None:
            break
        clock.forward(1000)
    assert sorted(found) == sorted([*(f"{host}/1.png" for host in hosts[150:250]), "http://new.example/1.png"])
    assert (grant.next_due_ms, frontier.status().pages) == (None, 200)


def test_many_hosts_of_few_addresses_are_looked_through_some_at_a_time(server: object, clock: Clock) -> None:
    from frontier.redis_frontier import RedisFrontier

    def frontier(pages: int) -> Frontier:
        return RedisFrontier(server, "few", replace(FREE, budget=Budget(pages, requisites=True)), now_ms=clock)  # type: ignore[arg-type]

    first, second, addresses = frontier(10_000), frontier(17), 17
    hosts = [f"http://h{number}.example" for number in range(260 * addresses)]
    first.take_in([Candidate(f"{host}/{n}", score=0.5) for host in hosts for n in range(2)])
    while first.status().leased < addresses or first.status().due:
        for lease in first.lease(1000).leases:
            first.bind(lease.token, f"192.0.2.{hosts.index(lease.authority) % addresses}")
    for state in first.hosts(addresses):
        first.report([Outcome(state.leased_token, "ok")])
    second.take_in([embedded(f"{hosts[-1]}/1.png")])
    clock.forward(2000)  # all addresses are free again
    found: list[str] = []
    while (grant := second.lease(50)).next_due_ms is not None or grant.leases:
        found += urls(grant.leases)
        for lease in grant.leases:
            got(second, lease)
        clock.forward(1000)
    assert found == [f"{hosts[-1]}/1.png"]


def test_a_long_line_is_left_some_at_a_time(server: redis.Redis, clock: Clock) -> None:
    """Redis answers nobody meanwhile: of 300,000 hosts at once for five seconds."""
    from frontier.redis_frontier import RedisFrontier

    def frontier(pages: int) -> RedisFrontier:
        return RedisFrontier(server, "long", replace(FREE, budget=Budget(pages, requisites=True)), now_ms=clock)

    first, second = frontier(10_000), frontier(1)
    hosts = [f"http://h{number}.example" for number in range(3500)]
    first.take_in([Candidate(host + "/", score=0.5) for host in hosts])
    done(first, first.lease(1).leases[0])
    for _ in range(5):
        first.release(lease.token for lease in first.lease(1000).leases)
    line = [server.zcard(first.keys.hot)]
    assert line[0] > 2000
    later = embedded(f"{hosts[-1]}/later.png", not_before_ms=clock.now_ms + 60_000)
    second.take_in([embedded(f"{hosts[2400]}/1.png"), later])
    found: list[str] = []
    while (grant := second.lease(50)).next_due_ms is not None or grant.leases:
        line.append(server.zcard(first.keys.hot))
        found += urls(grant.leases)
        for lease in grant.leases:
            got(second, lease)
        clock.forward(1000)
    assert line[0] > line[1] > line[2] > 0
    assert found == [f"{hosts[2400]}/1.png", later.url]
    assert second.status().queued == 3499
