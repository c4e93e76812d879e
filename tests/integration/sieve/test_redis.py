"""The fleet's sieve: several processes' worth of objects on one server."""

from __future__ import annotations

import contextlib
import errno
import logging
import math
import shutil
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

from crawler.state.embedded_redis import EmbeddedRedis
from frontier import Candidate, FrontierConfig
from frontier.payload import pack
from frontier.redis_frontier import RedisFrontier
from sieve import Entry, open_sieve
from sieve.errors import DamagedError, FencedError, LinkError, LinkFull, StoreError
from sieve.fleet.decider import Decider
from sieve.fleet.holder import CHUNK_KEYS
from sieve.fleet.keys import RedisKeys
from sieve.fleet.redis_link import RedisLink
from sieve.fleet.redis_sieve import RedisConfig, RedisSieve
from sieve.sets.runs import HEAD_BYTES
from sieve.tools import fleet_stats, folder_stats, rebuild, repair
from tests.integration.crawler.harness import wait_for

URLS = [f"http://example.org/{number}" for number in range(30_000)]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedRedis]:
    with EmbeddedRedis(tmp_path_factory.mktemp("r")) as made:
        # A server that does not know a script yet is taken for one that began anew, and the next batch is sent twice.
        with contextlib.closing(open_sieve(f"{made.url}&crawl=first")) as first:
            first.enqueue(URLS[:1])
            first.flush()
            first.drain()
        yield made


@pytest.fixture
def client(server: EmbeddedRedis) -> Iterator[redis.Redis]:
    with redis.Redis.from_url(server.url) as made:
        made.flushall()
        yield made


def sieve_of(server: EmbeddedRedis, options: str = "") -> RedisSieve:
    made = open_sieve(f"{server.url}&crawl=zulu{options}")
    assert isinstance(made, RedisSieve)
    return made


def test_a_redis_that_says_nothing_is_given_up_whatever_the_client_does_by_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A network that drops everything: the connection stands, and no answer comes."""
    usual: Any = redis.Connection.__init__

    def patient(self: redis.Connection, *args: Any, **options: Any) -> None:
        usual(self, *args, **{"socket_timeout": 60.0, "socket_connect_timeout": 60.0, **options})

    monkeypatch.setattr(redis.Connection, "__init__", patient)
    monkeypatch.setattr("sieve.fleet.redis_link.ANSWER_WITHIN_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"redis://127.0.0.1:{silent.getsockname()[1]}/0?crawl=zulu"
        begun = time.monotonic()
        with pytest.raises(LinkError, match="Timeout"):
            open_sieve(address)
        assert time.monotonic() - begun < 60.0


def test_ready_elements_are_what_the_frontier_takes(server: EmbeddedRedis, client: redis.Redis) -> None:
    sieve = sieve_of(server)
    payload = pack(Candidate("http://a.example/", source="http://b.example/", depth=3))
    sieve.enqueue(["http://b.example/", Entry("http://a.example/", payload), "http://c.example/"])
    sieve.flush()
    sieve.enqueue(["http://b.example/\ud800", "http://d.example/"])
    sieve.enqueue([Entry("http://d.example/")])
    sieve.flush()
    assert client.lrange("{zulu}:ready", 0, 1)[0] == b"\0\0\1\0\2\0"
    assert sieve.drain(1) == ["http://b.example/"]
    sieve.close()
    frontier = RedisFrontier(client, "zulu", FrontierConfig(obey_robots=False))
    assert frontier.has_ready()
    assert frontier.take_ready() == 4
    assert not frontier.has_ready()
    assert frontier.take_ready() == 0
    leases = {lease.url: lease for lease in frontier.lease(9).leases}
    assert sorted(leases) == [
        "http://a.example/",
        "http://b.example/\ud800",
        "http://c.example/",
        "http://d.example/",
    ]
    assert leases["http://a.example/"].depth == 3


def test_one_decides_and_another_takes_over(server: EmbeddedRedis, client: redis.Redis) -> None:
    first, second = (sieve_of(server, "&lease_ms=600000") for _ in range(2))
    first.enqueue(URLS[:100])
    assert first.decide() == 100
    second.enqueue(URLS[50:150])
    assert second.decide() == 0
    assert first.holds
    assert not second.holds
    assert second.pending() == 100
    client.delete(RedisKeys("zulu").lease)
    assert second.decide() == 100
    # The old holder notices by its token or its epoch, and changes nothing.
    second.enqueue(URLS[150:160])
    with pytest.raises(FencedError):
        first.decide()
    second.flush()
    assert second.drain() == URLS[:160]
    first.close()
    second.close()


def test_a_large_store_is_read_in_parts(
    server: EmbeddedRedis, client: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sieve.fleet.holder._LOAD_KEYS", 2 * CHUNK_KEYS)
    with contextlib.closing(sieve_of(server)) as sieve:
        sieve.enqueue(URLS[:-1])
        sieve.flush()
        assert len(sieve.drain()) == len(URLS) - 1
    with contextlib.closing(sieve_of(server)) as sieve:
        sieve.enqueue(URLS)
        sieve.flush()
        assert sieve.drain() == URLS[-1:]


def test_the_lease_of_a_dead_holder_ends_in_time_though_the_clock_was_set_back(
    server: EmbeddedRedis, client: redis.Redis
) -> None:
    client.set(RedisKeys("zulu").lease, 7, px=3_600_000)  # as one that ends soon, an hour ago
    sieve = sieve_of(server, "&lease_ms=300")
    sieve.enqueue(URLS[:10])
    assert sieve.decide() == 0
    wait_for(lambda: sieve.decide() == 10, timeout_s=10)
    sieve.close()


@pytest.mark.parametrize("taken_by_another", [False, True])
def test_a_lease_that_ran_out_while_an_epoch_was_decided(
    server: EmbeddedRedis, client: redis.Redis, taken_by_another: bool
) -> None:
    """When nobody has come meanwhile it is taken again, and the work was not for nothing."""
    slow, other = (sieve_of(server, "&lease_ms=600000") for _ in range(2))
    slow.enqueue(URLS[:100])

    def passes(step: str) -> None:
        if step == "decided" and client.delete(RedisKeys("zulu").lease):
            slow._renewed_s = -math.inf
            if taken_by_another:
                assert other.decide() == 100

    slow._step = passes
    if taken_by_another:
        with pytest.raises(FencedError, match="lost while an epoch was decided"):
            slow.decide()
        assert not slow.holds
    else:
        assert slow.decide() == 100
        assert slow.holds
    assert other.drain() == URLS[:100]
    slow.close()
    other.close()


def test_an_epoch_that_has_passed_is_refused(server: EmbeddedRedis, client: redis.Redis) -> None:
    sieve = sieve_of(server, "&lease_ms=600000")
    sieve.enqueue(URLS[:3])
    assert sieve.decide() == 3
    client.hincrby(RedisKeys("zulu").state, "epoch", 1)
    sieve.enqueue(URLS[3:6])
    with pytest.raises(FencedError, match="epoch 1 has passed"):
        sieve.decide()
    sieve.flush()
    assert sieve.drain() == URLS[:6]
    sieve.close()


@pytest.mark.parametrize("on_disk", [False, True])
def test_memory_a_seen_url(server: EmbeddedRedis, client: redis.Redis, tmp_path: Path, on_disk: bool) -> None:
    sieve = sieve_of(server, f"&dir={tmp_path}" if on_disk else "")
    for start in range(0, len(URLS), 1000):
        sieve.enqueue(URLS[start : start + 1000])
        sieve.decide()
    sieve.flush()
    sizes = sieve.sizes()
    if not on_disk:
        assert sizes["runs_elements"] == len(URLS) // CHUNK_KEYS
        assert (sizes["runs_bytes"] + sizes["fresh_bytes"]) / len(URLS) < 9
    sieve.close()
    again = sieve_of(server, f"&dir={tmp_path}" if on_disk else "")
    again.enqueue(URLS)
    again.flush()
    assert again.tally().seen == len(URLS)
    if on_disk:
        assert again.sizes()["fresh_elements"] == 0
        assert again.sizes()["runs_elements"] == 0
    again.close()


def test_a_store_belongs_to_its_crawl(server: EmbeddedRedis, client: redis.Redis, tmp_path: Path) -> None:
    sieve = sieve_of(server, f"&dir={tmp_path / 'a'}")
    sieve.enqueue(URLS[:10])
    sieve.flush()
    sieve.close()
    other = sieve_of(server, f"&dir={tmp_path / 'b'}")
    other.enqueue(URLS[:1])
    with pytest.raises(StoreError, match="are in the disk store"):
        other.decide()
    other.close()
    client.hset(RedisKeys("zulu").state, "epoch", 0)
    behind = sieve_of(server, f"&dir={tmp_path / 'a'}")
    with pytest.raises(StoreError, match="it has lost data, or is an older copy"):
        behind.decide()
    behind.close()


def copied(folder: Path, name: str) -> Path:
    return Path(shutil.copytree(folder, folder.with_name(name)))


def copy_of_the_first_half(server: EmbeddedRedis, folder: Path, spec: str) -> Path:
    """Of a folder to which another hundred URLs have come since."""
    with contextlib.closing(sieve_of(server, spec)) as sieve:
        sieve.enqueue(URLS[:100])
        sieve.flush()
    copy = copied(folder, "copy")
    with contextlib.closing(sieve_of(server, spec)) as sieve:
        sieve.enqueue(URLS[:200])
        sieve.flush()
        assert sieve.drain() == URLS[:200]
    return copy


def put_back(folder: Path, copy: Path) -> None:
    shutil.rmtree(folder)
    copy.rename(folder)


def test_an_older_copy_of_the_folder_is_refused_until_it_is_made_again(
    server: EmbeddedRedis, client: redis.Redis, tmp_path: Path
) -> None:
    """Its later URLs are in no run and no more in Redis: they would all be new once more."""
    folder = tmp_path / "sieve"
    spec = f"&dir={folder}&run=8"
    copy = copy_of_the_first_half(server, folder, spec)
    put_back(folder, copy)
    with contextlib.closing(sieve_of(server, spec)) as sieve:
        sieve.enqueue(URLS[:1])
        with pytest.raises(StoreError, match=r"up to epoch 1, but Redis has left those up to 3 .*scrapy sieve rebuild"):
            sieve.flush()
        done = rebuild(sieve, [*URLS[90:199], "mailto:nobody@example.org"])
        assert (done.read, done.known, len(done.refused)) == (110, 199, 1)
        sieve.enqueue(URLS[:201])
        sieve.flush()
        assert sieve.drain() == URLS[199:201], "of what is known by its archive no more"
    with contextlib.closing(sieve_of(server, spec)) as sieve:
        assert rebuild(sieve, URLS[:300]).known == 300
        sieve.enqueue(URLS[:302])
        sieve.flush()
        assert sieve.drain() == URLS[300:302]


def test_a_folder_that_is_refused_is_left_as_it_is(server: EmbeddedRedis, client: redis.Redis, tmp_path: Path) -> None:
    """An older MANIFEST was refused, but what that does not name was deleted before."""
    folder = tmp_path / "sieve"
    spec = f"&dir={folder}&run=8"
    manifests: list[bytes] = []
    for number in (100, 120):
        with contextlib.closing(sieve_of(server, spec)) as sieve:
            sieve.enqueue(URLS[:number])
            sieve.flush()
        manifests.append((folder / "MANIFEST").read_bytes())
    older, newer = manifests
    (folder / "MANIFEST").write_bytes(older)
    with contextlib.closing(sieve_of(server, spec)) as sieve, pytest.raises(StoreError, match="has left those up to"):
        sieve.contains(URLS[0])
    (folder / "MANIFEST").write_bytes(newer)
    with contextlib.closing(sieve_of(server, spec)) as sieve:
        assert all(map(sieve.contains, URLS[:120]))


def redis_falls_behind(server: EmbeddedRedis, client: redis.Redis, spec: str) -> None:
    """The folder knows 90 URLs, all handed out; Redis is as it was when it had decided 50."""
    with contextlib.closing(sieve_of(server, spec)) as sieve:
        sieve.enqueue(URLS[:50])
        sieve.flush()
    saved = {name: client.dump(name) or b"" for name in client.scan_iter()}
    with contextlib.closing(sieve_of(server, spec)) as sieve:
        sieve.enqueue(URLS[50:90])
        sieve.flush()
        assert len(sieve.drain()) == 90
    client.flushall()
    for name, value in saved.items():
        client.restore(name, 0, value)


def test_of_a_folder_ahead_of_redis_nothing_is_taken_over(
    server: EmbeddedRedis, client: redis.Redis, tmp_path: Path
) -> None:
    """An older Redis needs the later URLs once more; what waits in it, or is new and ready, is known."""
    folder, keys = tmp_path / "sieve", RedisKeys("zulu")
    spec = f"&dir={folder}&run=8"
    redis_falls_behind(server, client, spec)
    with contextlib.closing(sieve_of(server, spec)) as sieve:
        sieve.enqueue(URLS[:60])
        with pytest.raises(StoreError, match="but Redis has only come to 2"):
            sieve.decide()
        assert rebuild(sieve, URLS[:10]).known == 50, "the others are ready in Redis"
        sieve.enqueue(URLS[40:80])
        sieve.flush()
        assert sieve.drain() == URLS[:80]
    assert int(client.hget(keys.state, "stored") or 0) == folder_stats(folder)["facts"]["epoch"]


def test_an_older_copy_without_its_manifest_is_refused_after_a_repair(
    server: EmbeddedRedis, client: redis.Redis, tmp_path: Path
) -> None:
    """What was put together again does not say how far it has come, but Redis knows how many it must be."""
    folder = tmp_path / "sieve"
    spec = f"&dir={folder}&run=8"
    copy = copy_of_the_first_half(server, folder, spec)
    whole = copied(folder, "whole")
    put_back(folder, copy)
    (folder / "MANIFEST").unlink()
    repair(folder)
    runs = sorted(path.name for path in folder.glob("*.run"))
    with contextlib.closing(sieve_of(server, spec)) as sieve:
        said = r"without their MANIFEST, are 100, but Redis counts 200 \(runs are missing, or .*scrapy sieve rebuild"
        with pytest.raises(StoreError, match=said):
            sieve.contains(URLS[0])
        assert sorted(path.name for path in folder.glob("*.run")) == runs
        assert rebuild(sieve, URLS[90:199]).known == 199
        assert [sieve.contains(url) for url in (URLS[0], URLS[198], URLS[199])] == [True, True, False]
    put_back(folder, whole)
    damaged = max(folder.glob("*.run"), key=lambda path: path.stat().st_size)
    damaged.write_bytes(damaged.read_bytes()[:HEAD_BYTES] + b"\xff" + damaged.read_bytes()[HEAD_BYTES + 1 :])
    (folder / "MANIFEST").unlink()
    assert sum(finding.lost_keys for finding in repair(folder)) > 0
    with contextlib.closing(sieve_of(server, spec)) as sieve:
        known = sum(map(sieve.contains, URLS[:200]))
        assert known < 200, "what was lost with a damaged run was told, and makes it no older copy"


def test_a_folder_without_its_manifest_that_is_ahead_of_redis_is_refused_after_a_repair(
    server: EmbeddedRedis, client: redis.Redis, tmp_path: Path
) -> None:
    folder = tmp_path / "sieve"
    spec = f"&dir={folder}&run=8"
    redis_falls_behind(server, client, spec)
    (folder / "MANIFEST").unlink()
    repair(folder)
    with contextlib.closing(sieve_of(server, spec)) as sieve:
        with pytest.raises(StoreError, match=r"are 90, but Redis counts 50 \(Redis has lost data"):
            sieve.contains(URLS[0])
        assert rebuild(sieve, URLS[:10]).known == 50
        sieve.enqueue(URLS[40:80])
        sieve.flush()
        assert sieve.drain() == URLS[:80], "what Redis has lost is found again"


def test_a_lost_folder_is_made_again_and_not_under_a_worker(
    server: EmbeddedRedis, client: redis.Redis, tmp_path: Path
) -> None:
    folder = tmp_path / "sieve"
    spec = f"&dir={folder}&lease_ms=1000"
    with contextlib.closing(sieve_of(server, spec)) as sieve:
        sieve.enqueue(URLS[:50])
        sieve.flush()
        assert sieve.drain() == URLS[:50]
        worker = Decider(sieve)
        worker.start()
        with contextlib.closing(sieve_of(server, spec)) as other, pytest.raises(StoreError, match="stop its workers"):
            rebuild(other, URLS)
        worker.stop()
    shutil.rmtree(folder)
    for known, new in ((40, 50), (60, 61)):
        with contextlib.closing(sieve_of(server, spec)) as sieve:
            with pytest.raises(StoreError, match=r"are in the disk store .*rebuild"):
                sieve.decide()
            assert rebuild(sieve, URLS[:known]).known == known
            sieve.enqueue(URLS[:new])
            sieve.flush()
            assert sieve.drain() == URLS[known:new]
        shutil.rmtree(folder)
    with contextlib.closing(sieve_of(server)) as sieve, pytest.raises(StoreError, match=r"are in the disk store "):
        rebuild(sieve, URLS)


@pytest.mark.parametrize("on_disk", [True, False])
@pytest.mark.parametrize("step", ["decided", "committed"])
def test_a_rebuild_that_is_killed_is_done_by_the_next(
    server: EmbeddedRedis, client: redis.Redis, tmp_path: Path, on_disk: bool, step: str
) -> None:
    """And what waits to come out comes out, though the table is not empty."""
    spec = f"&dir={tmp_path}" if on_disk else ""
    with contextlib.closing(sieve_of(server, spec)) as sieve:
        sieve.enqueue(URLS[-3:-1])
        sieve.flush()
    reached: list[str] = []

    def die(name: str) -> None:
        reached.append(name)
        if reached.count(step) == 2:
            raise KeyboardInterrupt

    link = RedisLink(server.url, "zulu")
    killed = RedisSieve(link, RedisConfig(tmp_path if on_disk else None, lease_ms=500), die)
    with pytest.raises(KeyboardInterrupt):
        rebuild(killed, URLS[:25_000])
    link.close()
    with contextlib.closing(sieve_of(server, spec)) as sieve:
        assert rebuild(sieve, URLS[:25_000]).known == 25_002
        sieve.enqueue(URLS)
        sieve.flush()
        assert sieve.drain() == [*URLS[-3:-1], *URLS[25_000:-3], URLS[-1]]


def test_a_lost_lease_neither_stops_a_flush_nor_a_close(
    server: EmbeddedRedis, client: redis.Redis, tmp_path: Path
) -> None:
    sieve = sieve_of(server, f"&dir={tmp_path}&lease_ms=600000")
    sieve.enqueue(URLS[:5])
    assert sieve.decide() == 5
    client.delete(RedisKeys("zulu").lease)
    sieve.enqueue(URLS[5:9])
    sieve.flush()
    assert sieve.drain() == URLS[:9]
    client.delete(RedisKeys("zulu").lease)
    sieve.close()
    again = sieve_of(server, f"&dir={tmp_path}")
    again.enqueue(URLS[:10])
    again.flush()
    assert again.drain() == URLS[9:10]
    again.close()


def test_the_old_holder_still_locks_the_folder(server: EmbeddedRedis, client: redis.Redis, tmp_path: Path) -> None:
    first, second = (sieve_of(server, f"&dir={tmp_path}&lease_ms=600000") for _ in range(2))
    first.enqueue(URLS[:5])
    first.decide()
    client.delete(RedisKeys("zulu").lease)
    assert second.decide() == 0
    first.enqueue(URLS[5:6])
    first._renewed_s = -math.inf
    assert first.decide() == 1
    first.close()
    second.flush()
    assert second.drain() == URLS[:6]
    second.close()


def test_damage_in_redis_is_named(server: EmbeddedRedis, client: redis.Redis) -> None:
    keys = RedisKeys("zulu")
    sieve = sieve_of(server)
    client.rpush(keys.waiting, b"\xc1 no batch")
    with pytest.raises(DamagedError, match="10 bytes are no row"):
        sieve.decide()
    client.delete(keys.waiting)
    sieve.enqueue(URLS[:3])
    client.delete(keys.texts)
    with pytest.raises(DamagedError, match="not in step"):
        sieve.decide()
    client.delete(keys.waiting)
    client.rpush(keys.runs, b"123")
    with pytest.raises(DamagedError, match="chunk of 3 bytes"):
        sieve.decide()
    sieve.close()


def test_a_decider_thread(server: EmbeddedRedis, client: redis.Redis, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)
    sieve = sieve_of(server)
    decider = Decider(sieve)
    decider.start()
    decider.start()
    sieve.enqueue(URLS[:50])
    wait_for(lambda: not sieve.pending())
    assert sieve.drain() == URLS[:50]
    client.hincrby(RedisKeys("zulu").state, "epoch", 1)
    sieve.enqueue(URLS[50:60])
    wait_for(lambda: not sieve.pending())
    assert sieve.drain() == URLS[50:60]
    assert decider.error is None or "epoch" in str(decider.error)
    decider.stop()
    decider.stop()
    sieve.close()


@pytest.mark.usefixtures("client")
def test_a_decider_with_nothing_to_do_is_woken_by_its_own_process(
    server: EmbeddedRedis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sieve.fleet.decider._LOOK_S", 3600.0)
    sieve = sieve_of(server)
    real = sieve.decide
    looks: list[int] = []

    def decide() -> int:
        looks.append(real())
        return looks[-1]

    monkeypatch.setattr(sieve, "decide", decide)
    decider = Decider(sieve, 0.0)
    told: list[int] = []
    decider.on_decided = lambda: told.append(len(looks))
    decider.start()
    wait_for(lambda: looks == [0])
    sieve.enqueue(URLS[:10])
    wait_for(lambda: looks == [0, 10, 0])
    assert told == [2], "who takes in what is ready, when something is"
    sieve.enqueue(URLS[5:20])
    wait_for(lambda: looks == [0, 10, 0, 10, 0])
    sieve.enqueue(URLS[:10])  # of which nothing is sent
    decider.stop()
    assert len(looks) == 5
    assert sieve.drain() == URLS[:20]
    sieve.close()


def test_what_a_redis_has_lost_when_it_comes_back_is_sent_again(server: EmbeddedRedis, client: redis.Redis) -> None:
    """Its connections are made anew by themselves, and no call fails."""
    sieve = sieve_of(server)
    sieve.enqueue(URLS[:5])
    client.flushall()
    client.client_kill_filter(_type="normal", skipme=True)
    sieve.enqueue(URLS[:6])
    assert sieve.tally().put >= 6
    sieve.flush()
    assert sorted(map(str, sieve.drain())) == sorted(URLS[:6])
    client.flushall()
    sieve.forget_sent()
    sieve.enqueue(URLS[:6])
    assert sieve.tally().put == 6
    client.flushall()
    client.client_kill_filter(_type="normal", skipme=True)
    assert sieve.tally().put == 0  # a call that is repeated nowhere finds a new connection
    sieve.enqueue(URLS[:6])  # of which nothing would be sent, so that nothing breaks
    assert sieve.tally().put >= 6
    sieve.close()


def test_a_connection_that_the_server_has_closed_is_told_without_a_call(
    server: EmbeddedRedis, client: redis.Redis
) -> None:
    sieve = sieve_of(server)
    for number in range(3):  # the first finds no script, the second a line that was made anew
        sieve.enqueue(URLS[number : number + 1])
    absences = sieve.absences()
    sieve.enqueue(URLS[2:4])
    assert sieve.absences() == absences
    client.client_kill_filter(_type="normal", skipme=True)
    client.flushall()
    assert sieve.absences() > absences
    sieve.enqueue(URLS[:3])
    assert sieve.tally().put >= 3
    sieve.close()


def test_an_absence_is_told_to_each_thread_that_puts_in(server: EmbeddedRedis, client: redis.Redis) -> None:
    """Start URLs, say, are put in between the links of a page and its report."""
    sieve = sieve_of(server)
    for number in range(3):  # as above
        sieve.enqueue(URLS[number : number + 1])
    absences = sieve.absences()
    sieve.enqueue(URLS[3:5])
    client.client_kill_filter(_type="normal", skipme=True)
    client.flushall()
    sieve.enqueue(URLS[5:6])  # another's
    assert sieve.absences() > absences
    sieve.enqueue(URLS[:6])
    assert sieve.tally().put >= 6
    sieve.close()


@pytest.mark.usefixtures("client")
def test_a_decider_without_redis_says_so_once(
    server: EmbeddedRedis, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    sieve, tries = sieve_of(server), iter((False, False, False, True, False))
    over = threading.Event()

    def away_for_a_while() -> int:
        there = next(tries, None)
        if there is False:
            raise LinkError("Redis: away")
        if there is None:
            over.set()
        return 0

    monkeypatch.setattr(sieve, "decide", away_for_a_while)
    monkeypatch.setattr("sieve.fleet.decider._AGAIN_S", 0.01)
    monkeypatch.setattr("sieve.fleet.decider._LOG_EVERY_S", math.inf)
    decider = Decider(sieve)
    decider.start()
    assert over.wait(120)
    decider.stop()
    assert caplog.messages == ["sieve not decided, will try again: Redis: away"] * 2
    sieve.close()


@pytest.mark.usefixtures("client")
def test_a_decider_waits_for_room_and_tells_of_what_ended_it(
    server: EmbeddedRedis, monkeypatch: pytest.MonkeyPatch
) -> None:
    sieve = sieve_of(server)
    real, answers = sieve.decide, [OSError(errno.ENOSPC, "full"), None, OSError(errno.EIO, "broken")]

    def decide() -> int:
        error = answers.pop(0) if len(answers) > 1 or not sieve.pending() else None
        if error is not None:
            raise error
        return real()

    monkeypatch.setattr(sieve, "decide", decide)
    sieve.enqueue(URLS[:5])
    decider = Decider(sieve)
    decider.start()
    wait_for(lambda: not answers)
    decider.stop()
    assert sieve.drain() == URLS[:5]
    with pytest.raises(OSError, match="broken"):
        decider.check()
    sieve.close()


@pytest.mark.parametrize("on_disk", [False, True])
@pytest.mark.usefixtures("client")
def test_what_was_decided_and_not_committed_is_forgotten_whatever_else_fails(
    server: EmbeddedRedis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, on_disk: bool
) -> None:
    """A run that cannot be given up on a full disk, say: the next round would know URLs that never came out."""
    sieve = sieve_of(server, f"&dir={tmp_path / 's'}" if on_disk else "")
    sieve.enqueue(URLS[:5])

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "full")

    with monkeypatch.context() as patched:
        patched.setattr(sieve, "_step", lambda name: full() if name == "decided" else None)
        patched.setattr("sieve.sets.seen.Seen.close", full)
        with pytest.raises(OSError, match="full"):
            sieve.decide()
    sieve.flush()
    assert sieve.drain() == URLS[:5]
    sieve.close()


def test_a_server_that_is_not_there() -> None:
    with pytest.raises(LinkError):
        open_sieve("unix:///nowhere/redis.sock?crawl=zulu")


def test_a_server_at_its_memory_limit_is_told_from_one_that_is_away(server: EmbeddedRedis, client: redis.Redis) -> None:
    sieve = sieve_of(server)
    client.config_set("maxmemory", 1)
    try:
        with pytest.raises(LinkFull, match="raise maxmemory"):
            sieve.enqueue(URLS[:5])
    finally:
        client.config_set("maxmemory", 0)
    sieve.enqueue(URLS[:5])
    sieve.flush()
    assert sieve.drain() == URLS[:5]
    sieve.close()


def test_what_waits_is_decided_at_the_memory_limit(server: EmbeddedRedis, client: redis.Redis) -> None:
    """By whoever takes the flush lease then, since known URLs that wait are room."""
    sieve = sieve_of(server)
    sieve.enqueue(URLS[: CHUNK_KEYS + 5])
    sieve.flush()
    assert len(sieve.drain()) == CHUNK_KEYS + 5
    sieve.enqueue(URLS[-3:])
    again = sieve_of(server)
    again.enqueue(URLS[:2000])
    sieve.close()
    client.config_set("maxmemory", 1)
    try:
        again.flush()
        assert again.drain() == URLS[-3:]
        assert (client.llen("{zulu}:waiting"), client.llen("{zulu}:texts")) == (0, 0)
    finally:
        client.config_set("maxmemory", 0)
    again.close()


def test_a_known_sieve_is_opened_on_a_server_at_its_memory_limit(server: EmbeddedRedis, client: redis.Redis) -> None:
    with contextlib.closing(sieve_of(server)) as sieve:
        sieve.enqueue(URLS[:5])
    client.config_set("maxmemory", 1)
    try:
        sieve = sieve_of(server)
    finally:
        client.config_set("maxmemory", 0)
    sieve.enqueue(URLS[:6])
    sieve.flush()
    assert sieve.drain() == URLS[:6], "by the seed that it has"
    sieve.close()


def test_what_was_sent_is_sent_again_after_an_error(server: EmbeddedRedis, client: redis.Redis) -> None:
    sieve = sieve_of(server)
    sieve.enqueue(URLS[:5])
    sieve.enqueue(URLS[:5])
    assert sieve.tally().put == 5
    append = sieve._link.append
    sieve._link.append = lambda *_: (_ for _ in ()).throw(LinkError("gone"))  # type: ignore[method-assign]
    with pytest.raises(LinkError):
        sieve.enqueue(URLS[5:6])
    sieve._link.append = append  # type: ignore[method-assign]
    sieve.enqueue(URLS[:6])
    assert sieve.tally().put == 11
    sieve.flush()
    assert sieve.drain() == URLS[:6]
    sieve.close()


def test_large_batches_are_cut_and_come_out_in_order(server: EmbeddedRedis, client: redis.Redis) -> None:
    sieve = sieve_of(server)
    sieve.enqueue(URLS[5:2500:2])
    sieve.flush()
    sieve.enqueue(URLS[:2500])
    sieve.flush()
    assert client.llen("{zulu}:ready") == 2 * (2 + 2)
    expected = [*URLS[5:2500:2], *(url for url in URLS[:2500] if url not in set(URLS[5:2500:2]))]
    got = [*sieve.drain(700), *sieve.drain(700), *sieve.drain(200)]
    assert got == expected[:1600]
    sieve.close()
    again = sieve_of(server)
    assert again.drain(1) == expected[1600:1601]
    assert again.drain() == expected[1601:]
    again.drain(0)
    assert client.llen("{zulu}:ready") == 0
    again.close()


def test_a_server_that_forgot_the_scripts_or_dropped_the_line(server: EmbeddedRedis, client: redis.Redis) -> None:
    sieve = sieve_of(server)
    sieve.enqueue(URLS[:2])
    client.script_flush()
    sieve.enqueue(URLS[2:4])
    client.client_kill_filter(_type="normal", skipme=True)
    sieve.enqueue(URLS[4:6])
    sieve.flush()
    assert sieve.drain() == URLS[:6]
    client.set(RedisKeys("zulu").texts, "no list")
    with pytest.raises(LinkError, match="WRONGTYPE"):
        sieve.enqueue(URLS[6:8])
    client.delete(RedisKeys("zulu").texts, RedisKeys("zulu").waiting)
    sieve.enqueue(URLS[6:8])
    sieve.flush()
    assert sieve.drain() == URLS[6:8]
    sieve.close()


def test_tools_over_redis(server: EmbeddedRedis, client: redis.Redis) -> None:
    spec = f"{server.url}&crawl=tools"
    with contextlib.closing(open_sieve(spec)) as sieve:
        assert rebuild(sieve, URLS[:20], [Entry(URLS[20], b"p")]).known == 20
        with pytest.raises(StoreError, match="empty"):
            rebuild(sieve, URLS[:1], URLS[:1])
    with contextlib.closing(open_sieve(spec)) as sieve:
        assert isinstance(sieve, RedisSieve)
        found = fleet_stats(sieve)
        assert found["seen"] == 21
        assert found["ready_elements"] == 2
        assert sieve.contains(URLS[20])
        assert not sieve.contains(URLS[21])
