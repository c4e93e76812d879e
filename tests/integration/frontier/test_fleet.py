"""Real processes and a real Redis: kills, stops and restarts, and by the workers' own log no gap is too short,
nothing is lost."""

from __future__ import annotations

import itertools
import os
import random
import signal
import struct
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgpack
import pytest
import redis

from crawler.state.embedded_redis import EmbeddedRedis
from frontier import Candidate, FrontierConfig, FrontierFull, FrontierUnavailable, HostPolicy, Outcome, RobotsRecord
from frontier.audit import verify, verify_plain
from frontier.outcomes import DAY, HOUR
from frontier.redis_frontier import INTAKE_BATCH, RedisFrontier
from frontier.types import Once
from tests.integration.frontier.fleet import CONFIG

ROOT = Path(__file__).parents[3]
HOSTS, PAGES = 40, 10


def ready_batch(urls: list[str], *places: int) -> tuple[bytes, bytes]:
    """A batch of the sieve's ready queue, of which what stands at `places` (or all) is new."""
    chosen = places or range(len(urls))
    return struct.pack(f"<{len(chosen)}H", *chosen), msgpack.packb([urls, None])


def start_worker(url: str, log: Path, seconds: float) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.integration.frontier.fleet", url, "fleet", str(log), str(seconds)]
    return subprocess.Popen(command, cwd=ROOT)


def intervals(log: Path) -> tuple[list[tuple[str, str, float, float]], dict[str, str]]:
    """Fetches as (host, address, start_ms, end_ms) and the pages' URLs by token; a fetch without an end ended as it
    began."""
    started: dict[str, tuple[str, str, float, float]] = {}
    pages = {}
    for line in log.read_text().splitlines():
        event, host, address, moment_us, url, token = line.split("\t")
        if event == "start":
            started[token] = (host, address, int(moment_us) / 1000, int(moment_us) / 1000)
            if not url.endswith("/robots.txt"):
                pages[token] = url
        else:
            started[token] = (*started[token][:3], int(moment_us) / 1000)
    return list(started.values()), pages


def disturb(
    workers: list[subprocess.Popen[bytes]], start: Callable[[], subprocess.Popen[bytes]], rng: random.Random
) -> None:
    """Kill one and start another, or stop one for longer than a lease."""
    number = rng.randrange(len(workers))
    victim = workers[number]
    if rng.random() < 0.6:
        victim.send_signal(signal.SIGKILL)
        victim.wait()
        workers[number] = start()
    else:
        victim.send_signal(signal.SIGSTOP)
        time.sleep(CONFIG.lease_ms / 1000 + 0.3)
        victim.send_signal(signal.SIGCONT)


@pytest.mark.slow
def test_killed_and_stopped_workers_break_no_delay_and_lose_nothing(tmp_path: Path) -> None:
    rng = random.Random(4)
    log = tmp_path / "log"
    with EmbeddedRedis(tmp_path / "redis") as server:
        frontier = RedisFrontier(server.url, "fleet", CONFIG)
        urls = [f"http://h{host}.example/{page}" for host in range(HOSTS) for page in range(PAGES)]
        frontier.take_in([Candidate(url) for url in urls])
        workers = [start_worker(server.url, log, 240) for _ in range(4)]
        try:
            deadline = time.monotonic() + 240
            time.sleep(1)
            while time.monotonic() < deadline:
                status = frontier.status()
                if not status.queued and not status.leased and not status.parked:
                    break
                if status.queued > HOSTS:
                    disturb(workers, lambda: start_worker(server.url, log, 240), rng)
                time.sleep(0.3)
        finally:
            for worker in workers:
                worker.kill()
                worker.wait()
        status = frontier.status()
        rows = list(frontier.audit())
        proof = verify(rows, tolerance_ms=2)  # ends and durations are whole milliseconds, rounded up
        frontier.close()
    fetches, pages = intervals(log)
    # By the audit, not by the log's ends: a worker killed with the answer to its report on the way has logged none.
    done = [pages[row.token] for row in rows if row.result == "ok" and row.token in pages]
    assert (status.queued, status.leased, status.parked) == (0, 0, 0)
    assert sorted(done) == sorted(set(done)) == sorted(urls)
    assert proof.ok, proof.short
    # starts are logged a little before, ends a little after the frontier knows of them; clocks tick in ms
    seen = verify_plain(fetches, CONFIG.delay_ms, CONFIG.address_delay_ms, tolerance_ms=2)
    assert seen.ok, seen.short[:5]
    assert seen.fetches > HOSTS * PAGES


@pytest.mark.slow
def test_a_restart_of_redis_keeps_every_lease_and_delay(tmp_path: Path) -> None:
    config = FrontierConfig(obey_robots=False, delay_ms=60_000)
    with EmbeddedRedis(tmp_path / "redis") as server:
        frontier = RedisFrontier(server.url, "c", config)
        frontier.take_in([Candidate(f"http://h{n}.example/{p}") for n in range(3) for p in range(2)])
        first, second = frontier.lease(2).leases
        frontier.report([Outcome(first.token, "ok")])
        before = frontier.host(first.authority)
        os.kill(server.server_pid(), signal.SIGKILL)
        while server.server_pid():
            time.sleep(0.02)
        with pytest.raises(FrontierUnavailable):
            frontier.lease(1)
        with pytest.raises(FrontierUnavailable):
            frontier.status()
        with EmbeddedRedis(tmp_path / "redis") as again:
            frontier = RedisFrontier(again.url, "c", config)
            assert frontier.host(first.authority) == before
            assert [lease.authority for lease in frontier.lease(5).leases] == ["http://h2.example"]
            assert frontier.report([Outcome(first.token, "ok"), Outcome(second.token, "ok")]) == [True, True]
            frontier.close()


def test_at_the_memory_limit_the_intake_pauses_and_the_rest_goes_on(tmp_path: Path) -> None:
    with EmbeddedRedis(tmp_path / "redis") as server:
        client = redis.Redis.from_url(server.url)
        frontier = RedisFrontier(client, "c", FrontierConfig(obey_robots=False))
        frontier.take_in([Candidate(f"http://h{n}.example/{p}") for n in range(5) for p in range(3)])
        (leased,) = frontier.lease(1).leases
        ready = "{c}:ready"
        client.rpush(ready, *ready_batch(["http://h9.example/9", "http://h9.example/8"]))
        client.config_set("maxmemory", 1)
        before = frontier.status().authorities
        with pytest.raises(FrontierFull, match="'c'"):
            frontier.take_in([Candidate("http://new.example/")])
        with pytest.raises(FrontierFull):
            frontier.take_ready(10)
        with pytest.raises(FrontierFull):
            frontier.add_counts({"n": {"a": (0, 1), "b": (1,)}})
        assert frontier.get_counts("n") == {}
        assert (frontier.status().authorities, client.llen(ready)) == (before, 2)
        assert frontier.report([Outcome(leased.token, "ok")]) == [True]
        leases = frontier.lease(4).leases
        assert len(leases) == 4
        assert frontier.bind(leases[0].token, "192.0.2.1").granted
        assert frontier.release([lease.token for lease in leases]) == 4
        client.config_set("maxmemory", 0)
        assert frontier.take_ready(10) == 2
        assert frontier.take_ready(10) == 0
        assert int(client.get("{c}:ready:taken") or 0) > 0
        assert frontier.status().queued == 16
        client.close()


def test_what_another_worker_moves_is_seen(tmp_path: Path) -> None:
    """A worker that looks for the crawl's end sees it: each lease and each intake, whatever becomes of them."""
    with EmbeddedRedis(tmp_path / "redis") as server:
        frontier = RedisFrontier(server.url, "c", FrontierConfig(obey_robots=False, delay_ms=0, address_delay_ms=0))
        other = RedisFrontier(server.url, "c", frontier.config)
        found = [frontier.moves()]
        other.take_in([Candidate("http://h.example/")])
        found.append(frontier.moves())
        for _ in range(2):
            (lease,) = other.lease(1).leases
            found.append(frontier.moves())
            other.release([lease.token])
            assert frontier.moves() == found[-1], "nothing is leased, as before"
        assert not other.lease(0).leases
        assert frontier.moves() == found[-1]
        assert len(set(found)) == len(found)
        frontier.close()
        other.close()


def test_two_workers_never_take_the_same_ready_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with EmbeddedRedis(tmp_path / "redis") as server:
        client = redis.Redis.from_url(server.url)
        frontier = RedisFrontier(client, "c", FrontierConfig())
        other = RedisFrontier(client, "c", FrontierConfig())
        client.rpush("{c}:ready", *ready_batch(["http://h9.example/9", "http://h9.example/8", "mailto:xx"], 0, 2))
        take = frontier._take

        def overtaken(arguments: dict[str, object]) -> int:
            assert other.take_ready() == 2
            return take(arguments)

        monkeypatch.setattr(frontier, "_take", overtaken)
        assert frontier.take_ready() == 0
        status = frontier.status()
        assert (status.queued, status.results["refused:not_a_url"]) == (1, 1)
        client.close()


def test_whole_batches_are_taken_as_far_as_they_fit(tmp_path: Path) -> None:
    with EmbeddedRedis(tmp_path / "redis") as server:
        client = redis.Redis.from_url(server.url)
        frontier = RedisFrontier(client, "c", FrontierConfig())
        for size in (5, 3, 2, 4):
            client.rpush("{c}:ready", *ready_batch([f"http://h{size}.example/{page}" for page in range(size)]))
        assert [frontier.take_ready(limit) for limit in (2, 5, 3, 4, 4)] == [5, 5, 4, 0, 0]
        assert frontier.status().queued == 14
        client.close()


def test_hosts_nobody_looked_at_are_in_no_sorted_set(tmp_path: Path) -> None:
    """Its key with its record and an entry of a list are all that a host costs before; a lease looks at few."""
    with EmbeddedRedis(tmp_path / "redis") as server:
        client = redis.Redis.from_url(server.url)
        frontier = RedisFrontier(client, "c", FrontierConfig(obey_robots=False))
        frontier.take_in([Candidate(f"http://h{n}.example/{p}") for n in range(40) for p in range(2)])
        keys = frontier.keys
        assert (client.llen(keys.new), client.exists(keys.due, keys.hot, keys.known)) == (40, 0)
        assert len(frontier.lease(4).leases) == 4
        assert (client.llen(keys.new), client.llen(keys.known), client.zcard(keys.hot)) == (20, 20, 16)
        seen = [lease.authority for _ in range(9) for lease in frontier.lease(4).leases]
        assert len(seen) == len(set(seen)) == 36
        assert (client.llen(keys.new), frontier.status().leased, frontier.status().authorities) == (0, 40, 40)
        client.close()


def test_counters_of_many_hosts_are_read_in_parts(tmp_path: Path) -> None:
    """Those of a hundred thousand hosts kept Redis from answering anybody for 1.5 s."""
    with EmbeddedRedis(tmp_path / "redis") as server:
        client = redis.Redis.from_url(server.url)
        frontier = RedisFrontier(client, "c")
        counts = {f"h:{number}.example": (1,) for number in range(3 * INTAKE_BATCH)}
        frontier.add_counts({"yield": counts})
        client.config_resetstat()
        assert frontier.get_counts("yield") == counts
        calls = {name: one["calls"] for name, one in client.info("commandstats").items() if "_h" in name}
        assert sum(calls.values()) >= 3, calls
        client.close()


def test_counters_that_come_while_they_are_read_have_all_their_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row that was seen in part was shorter, on which a worker's report at its end, or `scrapy why`, broke off."""
    numbers = itertools.count()
    with EmbeddedRedis(tmp_path / "redis") as server:
        client = redis.Redis.from_url(server.url)
        frontier = RedisFrontier(client, "c")
        frontier.add_counts({"hosts": {f"http://{number}.example": (1, 0, 9, 5) for number in range(INTAKE_BATCH)}})
        read = client.hscan

        def read_as_others_write(*args: Any, **options: Any) -> Any:
            part = read(*args, **options)
            frontier.add_counts({"hosts": {f"http://new{next(numbers)}.example": (1, 0, 9, 5) for _ in range(100)}})
            return part

        monkeypatch.setattr(client, "hscan", read_as_others_write)
        rows = frontier.get_counts("hosts").values()
        assert len(rows) > INTAKE_BATCH
        assert {len(row) for row in rows} == {4}
        client.close()


def test_crawls_on_one_redis_do_not_meet(tmp_path: Path) -> None:
    with EmbeddedRedis(tmp_path / "redis") as server:
        one, other = RedisFrontier(server.url, "one"), RedisFrontier(server.url, "other")
        one.take_in([Candidate("http://a.example/1")])
        (lease,) = one.lease(5).leases
        assert other.lease(5).leases == ()
        assert other.report([Outcome(lease.token, "ok")]) == [False]
        assert other.status().authorities == 0
        one.close()
        other.close()


def test_every_key_lies_in_the_crawls_slot(tmp_path: Path) -> None:
    with EmbeddedRedis(tmp_path / "redis") as server:
        client = redis.Redis.from_url(server.url)
        frontier = RedisFrontier(client, "c", FrontierConfig(audit=True))
        frontier.take_in([Candidate("http://a.example/1"), Candidate("http://a.example/2", depth=99)])
        (lease,) = frontier.lease(1).leases
        frontier.bind(lease.token, "192.0.2.1")
        frontier.report([Outcome(lease.token, "ok")])
        frontier.opt_out(["x.example"])
        frontier.configure({"http://x.example": HostPolicy(delay_ms=9000)})
        frontier.add_counts({"n": {"a": (1,)}})
        prefixes: dict[str, int] = defaultdict(int)
        assert client.delete("{ulwembu}:clock") == 1, "but the clock, which all crawls have in common"
        for key in client.scan_iter():
            prefixes[key.decode().partition(":")[0]] += 1
        assert set(prefixes) == {"{c}"}
        client.close()


def test_what_holds_for_a_time_is_dropped_some_time_after_it(tmp_path: Path) -> None:
    with EmbeddedRedis(tmp_path / "redis") as server:
        client = redis.Redis.from_url(server.url)
        frontier = RedisFrontier(client, "c")
        frontier.take_in([Candidate("http://a.example/1")])
        (lease,) = frontier.lease(1).leases
        frontier.report([Outcome(lease.token, "ok", robots=RobotsRecord("allow"))])
        frontier.add_counts({"n": {"a": (1,)}}, Once("worker", 1))
        keys = frontier.keys
        # Redis' TIME is cut to milliseconds, so what ended in this one ended by the next.
        assert DAY < client.pttl(keys.robots("http://a.example")) <= DAY + HOUR + 1
        assert 13 * DAY < client.pttl(keys.done(0)) <= 14 * DAY
        assert DAY - HOUR < client.pttl(f"{keys.prefix}once:worker") <= DAY
        client.close()
