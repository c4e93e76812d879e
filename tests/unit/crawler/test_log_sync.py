"""A private Redis answers when its log is written, and its members bring the log to the disk."""

from __future__ import annotations

from pathlib import Path

import redis

from crawler.state.embedded_redis import EmbeddedRedis
from crawler.state.log_sync import LogSync


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
