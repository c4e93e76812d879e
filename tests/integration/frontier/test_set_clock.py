"""The clock of Redis' machine is set, for real: by the worker's own clock no delay is shorter, none much longer."""

from __future__ import annotations

import math
import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import redis

from frontier import Candidate, FrontierConfig, Outcome
from frontier.audit import verify_plain
from frontier.redis_frontier import RedisFrontier
from frontier.turns import TurnTakingFrontier
from frontier.types import Lease
from tests.integration.crawler.harness import wait_for
from tests.integration.frontier.fleet import CONFIG as FLEET
from tests.integration.frontier.test_fleet import HOSTS, PAGES, intervals, start_worker
from tests.stepped_clock import SteppedClock, stepped_server

CONFIG = FrontierConfig(delay_ms=1500, address_delay_ms=0, obey_robots=False)
DAY_S = 86_400
STEPS_S = (2 * DAY_S, 3600, 1, -3600, -5)
DELAY_S = CONFIG.delay_ms / 1000
SLACK_S = 1.0
"""By which a delay may be longer: nobody makes up for steps that are smaller."""
SOON_S = 0.5


@dataclass(frozen=True, slots=True)
class Machine:
    """A Redis with a clock that can be set."""

    url: str
    clock: SteppedClock

    @contextmanager
    def frontier(self, kind: type[RedisFrontier] = RedisFrontier, crawl: str = "c") -> Iterator[RedisFrontier]:
        """One more worker's."""
        frontier = kind(self.url, crawl, CONFIG)
        frontier.take_in(Candidate(f"http://a.test/{number}") for number in range(9))
        try:
            yield frontier
        finally:
            frontier.close()


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    clock = SteppedClock(tmp_path / "clock")
    with stepped_server(tmp_path, clock, "--appendonly", "yes") as url:
        yield Machine(url, clock)


def next_lease(frontier: RedisFrontier, rests_s: float = math.inf) -> tuple[Lease, float]:
    """A lease, and when it may be used by this machine's own clock. rests_s: from now on nothing may be refused that is
    asked for later and answered soon, on however slow a machine."""
    began = time.monotonic()
    while (asked := time.monotonic()) < began + 60:
        grant = frontier.lease(1)
        arrived = time.monotonic()
        if grant.leases:
            due = arrived + max(0, grant.leases[0].due_ms - grant.now_ms) / 1000
            assert due <= max(arrived + SLACK_S, began + rests_s)
            return grant.leases[0], due
        assert asked <= began + rests_s or arrived - asked > SOON_S
        time.sleep(0.02)
    raise AssertionError("no lease came")


def visit(frontier: RedisFrontier, rests_s: float = math.inf) -> float:
    """Have a page; when it had come."""
    lease, due = next_lease(frontier, rests_s)
    time.sleep(max(0.0, due - time.monotonic()))
    assert lease.address or frontier.bind(lease.token, "192.0.2.1").granted
    ended = time.monotonic()
    assert frontier.report([Outcome(lease.token, "ok", fetch_ms=1)]) == [True]
    return ended


def off_ms(ask: Callable[[], int]) -> int:
    """By how much a clock is off, however long its answer takes."""
    before = time.time_ns() // 1_000_000
    told = ask()
    return max(0, before - told, told - time.time_ns() // 1_000_000)


@pytest.mark.parametrize("step_s", STEPS_S)
def test_a_host_rests_as_long_as_it_was_to(machine: Machine, step_s: int) -> None:
    with machine.frontier() as frontier, machine.frontier() as other:
        other.lease(0)
        for ahead_s in (step_s, 0):  # and when it is put right again
            ended = visit(frontier)
            machine.clock.set_ahead(ahead_s)
            lease, due = next_lease(other, DELAY_S + SLACK_S)
            assert due - ended >= DELAY_S
            assert off_ms(lambda: frontier.status().now_ms) < 1500
            other.release([lease.token])


@pytest.mark.parametrize("step_s", STEPS_S)
def test_a_lease_is_held_as_long_as_it_was_to_be(machine: Machine, step_s: int) -> None:
    with machine.frontier() as frontier, machine.frontier() as other:
        other.lease(0)
        lease, _ = next_lease(frontier)
        for ahead_s in (step_s, 0):
            machine.clock.set_ahead(ahead_s)
            for _ in range(5):
                assert other.lease(1).leases == ()
                assert other.status().leased == 1
        assert frontier.bind(lease.token, "192.0.2.1").granted
        assert frontier.report([Outcome(lease.token, "ok")]) == [True]
        visit(other)


def test_a_report_between_two_leases_is_no_later_than_its_answer(machine: Machine) -> None:
    """A host that it makes rest must not rest until the clock that was wrong."""
    with machine.frontier() as frontier:
        lease, _ = next_lease(frontier)
        machine.clock.set_ahead(2 * DAY_S)
        assert frontier.bind(lease.token, "192.0.2.1").granted
        ended = time.monotonic()
        assert frontier.report([Outcome(lease.token, "ok")]) == [True]
        machine.clock.set_ahead(0)
        _, due = next_lease(frontier, DELAY_S + SLACK_S)
        assert due - ended >= DELAY_S


@pytest.mark.parametrize("step_s", [-3600, -5])
def test_a_clock_set_back_while_no_worker_runs(machine: Machine, step_s: int) -> None:
    with machine.frontier() as frontier:
        visit(frontier)
    machine.clock.set_ahead(step_s)
    with machine.frontier() as frontier:
        grant = frontier.lease(0)
        assert grant.clock_ahead_ms > -step_s * 1000 - 2000
        visit(frontier)


def test_a_redis_that_comes_back_with_another_clock(tmp_path: Path) -> None:
    """Started again by a machine that has set it meanwhile, or on another machine."""
    clock = SteppedClock(tmp_path / "clock")
    with stepped_server(tmp_path, clock, "--appendonly", "yes") as url:
        frontier = RedisFrontier(url, "c", CONFIG)
        frontier.take_in(Candidate(f"http://a.test/{number}") for number in range(9))
        ended = visit(frontier)
    for ahead_s in (2 * DAY_S, -3600):
        clock.set_ahead(ahead_s)
        with stepped_server(tmp_path, clock, "--appendonly", "yes"):
            before, ended = ended, visit(frontier, DELAY_S + SLACK_S)
            assert ended - before >= DELAY_S
    frontier.close()


def test_a_crawl_that_began_while_the_clock_was_far_ahead(machine: Machine) -> None:
    machine.clock.set_ahead(2 * DAY_S)
    with machine.frontier() as frontier:
        ended = visit(frontier)
        machine.clock.set_ahead(0)
        assert visit(frontier, DELAY_S + SLACK_S) - ended >= DELAY_S
        assert frontier.lease(0).clock_ahead_ms > 2 * DAY_S * 1000 - 1000
        assert off_ms(frontier.date_ms) < 1000, "dates of others are by the clock as it is set"
        with machine.frontier() as other:
            assert off_ms(other.date_ms) < 1000


def test_a_redis_that_stands_still_is_no_clock_that_was_set(machine: Machine) -> None:
    with machine.frontier() as frontier, redis.Redis.from_url(machine.url) as client:
        visit(frontier)
        pid = client.info("server")["process_id"]
        os.kill(pid, signal.SIGSTOP)
        threading.Timer(3.0, os.kill, [pid, signal.SIGCONT]).start()
        assert frontier.lease(1).leases == (), "nobody may know what it asked for so long ago"
        assert abs(frontier.lease(0).clock_ahead_ms) < 50
        assert off_ms(lambda: frontier.status().now_ms) < 1000
        visit(frontier)


def stand_still(machine: Machine, for_s: float) -> None:
    """Redis, from now on."""
    with redis.Redis.from_url(machine.url) as client:
        pid = client.info("server")["process_id"]
    os.kill(pid, signal.SIGSTOP)
    threading.Timer(for_s, os.kill, [pid, signal.SIGCONT]).start()


def test_a_worker_whose_clock_is_slow_sets_none_back_when_redis_stands_still(machine: Machine) -> None:
    """Another, which knows better, would set it forward again, and cut short what began meanwhile."""
    with machine.frontier() as slow, machine.frontier() as other:
        slow.lease(0)
        other.lease(0)
        least, most, noted = slow._line._known or (0, 0, 0)
        slow._line._known = least - 400, most - 400, noted
        stand_still(machine, 1.5)
        assert slow.lease(1).leases == ()
        ended = visit(slow)
        _, due = next_lease(other)
        assert due - ended >= DELAY_S
        assert other.lease(0).clock_ahead_ms == 0


def test_a_worker_whose_clock_is_fast_and_that_was_stopped_sets_none_forward(machine: Machine) -> None:
    with machine.frontier() as fast, machine.frontier() as other:
        fast.lease(0)
        ended = visit(other)
        least, most, noted = fast._line._known or (0, 0, 0)
        hour_ms = 3_600_000
        fast._line._known = least + 0.002 * hour_ms, most + 0.002 * hour_ms, noted - hour_ms
        fast.lease(0)
        _, due = next_lease(other)
        assert due - ended >= DELAY_S
        assert other.lease(0).clock_ahead_ms == 0


def test_a_connection_that_has_become_slow_still_gets_leases(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    with machine.frontier() as frontier:
        visit(frontier)
        script = frontier._scripts["lease"]

        def slowly(**options: Any) -> Any:
            time.sleep(1.2)
            return script(**options)

        monkeypatch.setitem(frontier._scripts, "lease", slowly)
        found = []
        for _ in range(5):
            found.append(bool((grant := frontier.lease(1)).leases))
            frontier.release([lease.token for lease in grant.leases])
            assert grant.clock_ahead_ms == 0
        assert found.count(True) >= 3


@pytest.mark.parametrize("text", [b"", b"x", bytes(25)])
def test_a_damaged_clock_is_begun_anew(machine: Machine, text: bytes) -> None:
    with machine.frontier() as frontier, redis.Redis.from_url(machine.url) as client:
        visit(frontier)
        client.set("{ulwembu}:clock", text)
        assert frontier.lease(0).clock_ahead_ms == 0
        visit(frontier)
        assert client.strlen("{ulwembu}:clock") == 24


def test_a_turn_that_redis_dropped_when_its_clock_was_set_forward(machine: Machine) -> None:
    with machine.frontier(TurnTakingFrontier, "a") as one, machine.frontier(TurnTakingFrontier, "b") as other:
        other.lease(0)
        ended = visit(one)
        machine.clock.set_ahead(2 * DAY_S)
        _, due = next_lease(other)
        assert due - ended >= DELAY_S


def test_a_clock_that_is_set_between_a_lease_and_its_turn(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    with machine.frontier(TurnTakingFrontier, "a") as one, machine.frontier(TurnTakingFrontier, "b") as other:
        assert isinstance(other, TurnTakingFrontier)
        other.lease(0)
        ended = visit(one)
        take_turns = other._take_turns

        def set_and_take(turns: Sequence[Any]) -> dict[str, int]:
            machine.clock.set_ahead(2 * DAY_S)
            time.sleep(0.2)  # a server looks at its clock ten times a second at least
            return take_turns(turns)

        monkeypatch.setattr(other, "_take_turns", set_and_take)
        assert other.lease(1).leases == ()
        monkeypatch.undo()
        _, due = next_lease(other)
        assert due - ended >= DELAY_S


@pytest.mark.parametrize("step_s", [2 * DAY_S, -3600])
def test_at_the_memory_limit_the_clock_may_be_set_too(machine: Machine, step_s: int) -> None:
    with machine.frontier() as frontier, redis.Redis.from_url(machine.url) as client:
        lease, _ = next_lease(frontier)
        client.config_set("maxmemory", 1)
        machine.clock.set_ahead(step_s)
        assert frontier.bind(lease.token, "192.0.2.1").granted
        ended = time.monotonic()
        assert frontier.report([Outcome(lease.token, "ok")]) == [True]
        _, due = next_lease(frontier, DELAY_S + SLACK_S)
        assert due - ended >= DELAY_S


@pytest.mark.slow
def test_steps_of_all_sizes_and_pauses_break_no_delay_and_lose_nothing(machine: Machine, tmp_path: Path) -> None:
    """By the workers' own log, with delays of 0.2 s."""
    rng, log = random.Random(7), tmp_path / "visits"
    frontier = RedisFrontier(machine.url, "fleet", FLEET)
    urls = [f"http://h{host}.example/{page}" for host in range(HOSTS) for page in range(PAGES)]
    frontier.take_in([Candidate(url) for url in urls])
    workers = [start_worker(machine.url, log, 240) for _ in range(4)]
    with redis.Redis.from_url(machine.url) as client:
        pid = client.info("server")["process_id"]
    frontier.lease(0)
    try:
        wait_for(lambda: frontier.status().pages > HOSTS)  # all workers know what time it is
        ahead_s, deadline = 0, time.monotonic() + 240
        while frontier.status().pages < len(urls) and time.monotonic() < deadline:
            if rng.random() < 0.2:
                os.kill(pid, signal.SIGSTOP)
                time.sleep(rng.uniform(0.3, 1.5))
                os.kill(pid, signal.SIGCONT)
            else:
                ahead_s = rng.choice([0, *(ahead_s + step_s for step_s in STEPS_S), ahead_s - 1, ahead_s - 2 * DAY_S])
                machine.clock.set_ahead(ahead_s)
            time.sleep(rng.uniform(0.1, 0.6))
            frontier.lease(0)
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()
    assert off_ms(lambda: frontier.status().now_ms) < 60_000, "steps of a second may add up"
    done = [row.token for row in frontier.audit() if row.result == "ok"]
    frontier.close()
    fetches, pages = intervals(log)
    assert sorted(pages[token] for token in done if token in pages) == sorted(urls)
    seen = verify_plain(fetches, FLEET.delay_ms, FLEET.address_delay_ms, tolerance_ms=2)
    assert seen.ok, seen.short[:5]
