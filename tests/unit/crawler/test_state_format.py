"""State of another version is refused, never misread."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
import redis

from crawler.errors import PreflightError
from crawler.state.embedded_redis import EmbeddedRedis, find_server
from crawler.state.redis_link import RedisUnreachableError
from crawler.state.state_format import FORMAT, StateFormatError, StateGoneError, StateWatch, ensure_format
from frontier import Candidate, FrontierConfig
from frontier.errors import FrontierUnavailable
from frontier.redis_frontier import RedisFrontier
from tests.redis_server import redis_server


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    with EmbeddedRedis(tmp_path / "redis") as server:
        yield server.url


def test_a_new_crawl_is_of_this_format_and_stays_so(url: str) -> None:
    ensure_format(url, "zulu")
    frontier = RedisFrontier(url, "zulu", FrontierConfig())
    frontier.take_in([Candidate("http://a.example/")])
    frontier.close()
    ensure_format(url, "zulu")
    ensure_format(url, "xhosa")


def test_state_without_a_number_is_refused(url: str) -> None:
    frontier = RedisFrontier(url, "zulu", FrontierConfig())
    frontier.take_in([Candidate("http://a.example/")])
    frontier.close()
    with pytest.raises(StateFormatError, match="no format number"):
        ensure_format(url, "zulu")
    ensure_format(url, "xhosa")


def test_state_that_is_gone_is_told_and_what_was_looked_at_lately_is_not_looked_at_again(url: str) -> None:
    ensure_format(url, "zulu")
    with contextlib.closing(StateWatch(url, "zulu")) as watch:
        watch.check()
        with redis.Redis.from_url(url) as server:
            server.flushall()
        watch.check(every_s=3600)
        with pytest.raises(StateGoneError):
            watch.check()


def test_a_redis_that_is_told_to_throw_keys_away_is_left_at_once(url: str) -> None:
    ensure_format(url, "zulu")
    with contextlib.closing(StateWatch(url, "zulu")) as watch, redis.Redis.from_url(url) as server:
        server.config_set("maxmemory-policy", "volatile-ttl")
        watch.check()  # never full
        server.config_set("maxmemory", "1gb")
        with pytest.raises(RedisUnreachableError, match="maxmemory-policy volatile-ttl"):
            watch.check()
        server.config_set("maxmemory-policy", "noeviction")
        watch.check()
        server.execute_command("ACL", "SETUSER", "default", "-info")
        watch.check()


def test_state_of_a_later_version_is_refused(url: str) -> None:
    with redis.Redis.from_url(url) as server:
        server.set("{zulu}:format", FORMAT + 1)
    with pytest.raises(StateFormatError, match=rf"format {FORMAT + 1}, this program's is {FORMAT}"):
        ensure_format(url, "zulu")


def test_a_format_that_is_no_number_is_refused(url: str) -> None:
    with redis.Redis.from_url(url) as server:
        server.set("{zulu}:format", "six")
    with pytest.raises(StateFormatError, match="no format number"):
        ensure_format(url, "zulu")


def test_a_new_crawl_does_not_begin_on_a_full_redis_and_a_known_one_does(url: str) -> None:
    ensure_format(url, "zulu")
    with redis.Redis.from_url(url) as server:
        server.config_set("maxmemory", 1)
    ensure_format(url, "zulu")
    with pytest.raises(PreflightError, match=r"'xhosa' cannot begin, .* memory limit \(raise maxmemory\)"):
        ensure_format(url, "xhosa")


def test_a_redis_that_cannot_be_asked_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(PreflightError, match="the frontier of crawl 'zulu' cannot be reached"):
        ensure_format(f"unix://{tmp_path}/none.sock", "zulu")


def test_a_redis_that_goes_away_while_a_worker_opens_is_one_to_wait_for(tmp_path: Path) -> None:
    with pytest.raises(FrontierUnavailable, match="'zulu'"):
        ensure_format(f"unix://{tmp_path}/none.sock", "zulu", patient=False)


@pytest.mark.parametrize("patient", [True, False])
def test_a_redis_that_refuses_the_user_is_not_waited_for(tmp_path: Path, patient: bool) -> None:
    with redis_server(tmp_path, "--requirepass", "open") as path, pytest.raises(PreflightError, match="as asked"):
        ensure_format(f"unix://:wrong@{path}", "zulu", patient=patient)


@pytest.fixture
def slow_to_load(tmp_path: Path) -> Path:
    """The folder of a server that reads its data for seconds on a slow machine, and listens after each 2 MB of them."""
    folder = tmp_path / "large"
    with EmbeddedRedis(folder) as server, redis.Redis.from_url(server.url) as client:
        for number in range(20):
            client.set(str(number), os.urandom(2_100_000))
        client.bgrewriteaof()
        while any(client.info("persistence")[f"aof_rewrite_{state}"] for state in ("scheduled", "in_progress")):
            time.sleep(0.05)
    return folder


SLOWLY = ("--key-load-delay", "150000")


def test_a_private_redis_that_reads_its_data_for_long_is_waited_for(
    slow_to_load: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    slow = tmp_path / "bin" / "redis-server"
    slow.write_text(f'#!/bin/sh\nexec {find_server()} "$@" {" ".join(SLOWLY)}\n')
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}:{os.environ['PATH']}")
    look, answers = EmbeddedRedis._sign, 0

    def count(server: EmbeddedRedis) -> str:
        nonlocal answers
        sign = look(server)
        answers += sign == "loading"
        return sign

    # By this clock 15 s lie between two answers that it still reads, less than what is waited for the next.
    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + 15 * answers, sleep=time.sleep)
    monkeypatch.setattr(EmbeddedRedis, "_sign", count)
    monkeypatch.setattr("crawler.state.embedded_redis.time", clock)
    with EmbeddedRedis(slow_to_load) as server, redis.Redis.from_url(server.url) as client:
        assert client.dbsize() == 20
    assert answers > 0


def test_a_fleets_redis_that_reads_its_data_is_waited_for(slow_to_load: Path) -> None:
    told = ""
    for _ in range(5):  # who stalls comes when all is read
        with redis_server(slow_to_load, "--appendonly", "yes", *SLOWLY) as path:
            try:
                ensure_format(f"unix://{path}", "zulu", patient=False)
            except FrontierUnavailable as error:
                told = str(error)
            ensure_format(f"unix://{path}", "zulu")
            with redis.Redis(unix_socket_path=path) as client:
                assert client.dbsize() == 21
        if told:
            break
    assert "loading" in told
