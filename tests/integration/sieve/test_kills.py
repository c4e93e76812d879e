"""SIGKILL at every named step and at random instants, compared with the reference; redis-server killed as well."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
import redis

from crawler.state.embedded_redis import find_server
from sieve.disk.files import Step, no_step
from sieve.errors import FencedError, LinkError
from sieve.fleet.redis_link import RedisLink
from sieve.fleet.redis_sieve import RedisConfig, RedisSieve
from sieve.kinds.bloom import BloomConfig, BloomSieve
from sieve.kinds.mercator import MercatorConfig, MercatorSieve
from sieve.kinds.offline import OfflineConfig, OfflineSieve
from sieve.sets.seen import SeenConfig
from sieve.sets.store import RunStore
from tests.effort import trials
from tests.integration.sieve.lives import Lives, Make, Plan

SMALL = SeenConfig(run_keys=16, filter_keys=8, recent_bits=6)


class Server:
    """A redis-server that loses nothing it answered."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.url = f"unix://{folder}/r.sock"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        options = ["--port", "0", "--unixsocket", "r.sock", "--appendonly", "yes", "--appendfsync", "always"]
        self.process = subprocess.Popen(
            [find_server(), *options, "--save", "", "--dir", str(self.folder)],
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                with redis.Redis.from_url(self.url) as client:
                    client.ping()
                return
            except redis.RedisError:
                time.sleep(0.01)
        raise TimeoutError("redis-server did not start")

    def kill(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    # The socket's path must be short.
    made = Server(tmp_path_factory.mktemp("r"))
    made.start()
    yield made
    made.kill()


def mercator(folder: Path) -> Make:
    config = MercatorConfig(buffer=7, seen=SMALL, durable=False, seed=1)
    return lambda step: MercatorSieve(folder, config, step)


def blind(folder: Path) -> Make:
    seen = SeenConfig(run_keys=16, filter_keys=1, filter_bytes=8, recent_bits=4)
    return lambda step: MercatorSieve(folder, MercatorConfig(buffer=20, seen=seen, seed=1), step)


def offline(folder: Path) -> Make:
    return lambda step: OfflineSieve(folder, OfflineConfig(buffer=9, durable=False), step)


def bloom(folder: Path) -> Make:
    # So few URLs, always the same: none is dropped.
    return lambda step: BloomSieve(folder, BloomConfig(capacity=1000, error=1e-9, durable=False), step)


def full_bloom(folder: Path) -> Make:
    return lambda step: BloomSieve(folder, BloomConfig(capacity=16, error=0.01, durable=False), step)


def over_redis(server: Server, crawl: str, folder: Path | None) -> Make:
    config = RedisConfig(folder, lease_ms=100, seen=SMALL)

    def make(step: Step) -> RedisSieve:
        return RedisSieve(RedisLink(server.url, crawl), config, step)

    return make


def makers(kind: str, name: str, tmp_path: Path, server: Server) -> Make:
    folder = tmp_path / name
    if kind == "redis":
        return over_redis(server, f"{tmp_path.name}-{name}", None)
    if kind == "redis-disk":
        return over_redis(server, f"{tmp_path.name}-{name}", folder)
    local = {"mercator": mercator, "blind": blind, "offline": offline, "bloom": bloom}
    return local[kind](folder)


def at_once(_: RunStore, call: Callable[[], None]) -> Future[None]:
    done: Future[None] = Future()
    call()
    done.set_result(None)
    return done


KINDS = ["mercator", "blind", "offline", "bloom", "redis", "redis-disk"]
STEPS = {
    "mercator": {"waiting", "ready", "sealed", "flushed", "acknowledged", "drained", "manifest", "run named"},
    "blind": {"waiting", "sealed", "late", "flushed", "manifest committed", "run deleted", "run written in part"},
    "offline": {"waiting", "late", "flushed", "manifest", "run synced"},
    "bloom": {"ready", "saving", "saved", "acknowledged", "drained"},
    "redis": {"taking over", "decided", "committed", "drained"},
    "redis-disk": {"taking over", "decided", "committed", "drained", "manifest"},
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_killed_at_every_named_step(kind: str, tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    # So that how far a merge gets does not depend on how fast the disk is.
    monkeypatch.setattr(RunStore, "later", at_once)
    met: set[str] = set()
    for number, name in enumerate(sorted(STEPS[kind])):
        # A merge takes a while to come.
        plan = Plan.random(number, 250, 4000) if name == "run deleted" else Plan.random(number)
        lives = Lives(makers(kind, str(number), tmp_path, server), plan, tmp_path / f"{number}.journal")
        for time_of in (1, 2, 3, 1):
            lives.live(die_at=(name, time_of))
        lives.live()
        lives.check()
        met |= lives.killed_at()
    assert met == STEPS[kind]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_killed_at_any_step(kind: str, tmp_path: Path, server: Server) -> None:
    chance = random.Random(kind)
    for trial in trials(3):
        make = makers(kind, f"s{trial}", tmp_path, server)
        lives = Lives(make, Plan.random(50 + trial), tmp_path / f"s{trial}.journal")
        while lives.kills < 10 and not lives.live(die_at_step=chance.randrange(1, 60)):
            pass
        lives.live()
        lives.check()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_killed_at_random_instants(kind: str, tmp_path: Path, server: Server) -> None:
    chance = random.Random(kind)
    kills = 0
    for trial in trials(2):
        plan = Plan.random(100 + trial, batches=60, names=900)
        lives = Lives(makers(kind, f"r{trial}", tmp_path, server), plan, tmp_path / f"r{trial}.journal")
        for after_s in (0.0, *(chance.uniform(0.002, 0.06) for _ in range(11))):
            lives.live(kill_after_s=after_s)
        lives.live()
        lives.check()
        kills += lives.kills
    # How many lives end by themselves first depends on the machine; the one that is killed at once does not.
    assert kills >= 2


@pytest.mark.slow
def test_the_tree_killed_at_steps_and_instants(tmp_path: Path) -> None:
    # RocksDB's threads do not survive a fork: its lives begin in a process that never opened one.
    subprocess.run([sys.executable, "-m", "tests.integration.sieve.lsm_lives", str(tmp_path)], check=True, timeout=500)


@pytest.mark.slow
def test_a_full_bloom_filter_drops_the_same_urls_wherever_it_is_killed(tmp_path: Path) -> None:
    chance = random.Random(3)
    for trial in range(4):
        plan = Plan.random(trial)
        whole = Lives(full_bloom(tmp_path / f"w{trial}"), plan, tmp_path / f"w{trial}.journal")
        assert whole.live()
        expected = whole.came_out()
        assert 16 < len(expected) < len({url for batch in plan.batches for url in batch})
        lives = Lives(full_bloom(tmp_path / f"k{trial}"), plan, tmp_path / f"k{trial}.journal")
        while lives.kills < 8 and not lives.live(die_at_step=chance.randrange(1, 60)):
            pass
        lives.live()
        lives.check(expected)


@pytest.mark.slow
def test_redis_server_killed(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> None:
    server = Server(tmp_path_factory.mktemp("k"))
    server.start()
    chance = random.Random(9)
    sieve = over_redis(server, "killed", tmp_path / "store")(no_step)
    assert isinstance(sieve, RedisSieve)
    plan = Plan.random(5, batches=120, names=2000)
    got: list[object] = []

    def persist(call: Callable[..., Any], *arguments: Any) -> Any:
        for _ in range(5000):
            try:
                return call(*arguments)
            except (LinkError, FencedError):
                if server.process is not None and server.process.poll() is not None:
                    server.start()
                time.sleep(0.01)
        raise TimeoutError

    for batch in plan.batches:
        if chance.random() < 0.12:
            server.kill()
        persist(sieve.enqueue, batch)
        if chance.random() < 0.12:
            server.kill()
        persist(sieve.decide)
        got += persist(sieve.drain, 15)
    persist(sieve.flush)
    got += persist(sieve.drain)
    sieve.close()
    server.kill()
    assert sorted(map(str, got)) == sorted({url for batch in plan.batches for url in batch})
