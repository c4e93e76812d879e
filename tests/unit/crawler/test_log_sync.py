"""A private Redis answers when its log is written, and its members bring the log to the disk."""

from __future__ import annotations

from pathlib import Path

import pytest
import redis

from crawler.state.embedded_redis import EmbeddedRedis
from crawler.state.log_sync import LogSync, mend


def test_what_has_grown_or_is_new_is_synced(tmp_path: Path) -> None:
    sync = LogSync(tmp_path)
    assert sync.sync() == []
    log, parts = tmp_path / "appendonly.aof", tmp_path / "appendonlydir"
    parts.mkdir()
    log.write_bytes(b"a")
    (parts / "appendonly.aof.1.incr.aof").write_bytes(b"b")
    assert sorted(sync.sync()) == [log, parts / "appendonly.aof.1.incr.aof"]
    assert sync.sync() == []
    log.write_bytes(b"aa")
    assert sync.sync() == [log]
    (tmp_path / "temp").write_bytes(b"cc")
    (tmp_path / "temp").replace(log)  # written anew, as Redis does when it has become long
    assert sync.sync() == [log]


def test_a_private_redis_never_answers_before_it_has_written(tmp_path: Path) -> None:
    with EmbeddedRedis(tmp_path) as server, redis.Redis.from_url(server.url, decode_responses=True) as client:
        assert client.config_get("append*") | {"appendonly": "yes", "appendfsync": "no"} == client.config_get("append*")
        client.set("a", "1")
        assert LogSync(tmp_path).sync(), "its log is where the members look for it"


def test_a_log_that_ends_in_zeros_is_read_up_to_them(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with EmbeddedRedis(tmp_path) as server, redis.Redis.from_url(server.url, decode_responses=True) as client:
        client.set("a", "1")
        client.set("b", "2")
        (log,) = LogSync(tmp_path).sync()
    whole = log.read_bytes()
    log.write_bytes(whole[:-5] + bytes(70_000))
    with EmbeddedRedis(tmp_path) as server, redis.Redis.from_url(server.url, decode_responses=True) as client:
        assert client.mget("a", "b") == ["1", None], "of the last command a part is missing"
    assert f"{log}: the 70000 zeros at its end" in caplog.text


def test_the_zeros_of_a_checksum_and_of_what_came_last_stay(tmp_path: Path) -> None:
    log = tmp_path / "appendonly.aof"
    for data in (b"", b"REDIS0009 a snapshot" + bytes(8), bytes(9) + b"written", bytes(100_000) + b"."):
        log.write_bytes(data)
        mend(tmp_path)
        assert log.read_bytes() == data
    for begin, zeros in ((b".", 200_000), (b"*1\r\n", 1), (b"REDIS0009", 9)):
        log.write_bytes(begin + bytes(zeros))
        mend(tmp_path)
        assert log.read_bytes() == begin
