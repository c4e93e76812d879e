"""The private Redis of a folder: that many join at once, that does not come up, that hangs, or lies deep."""

from __future__ import annotations

import errno
import os
import re
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any

import pytest
from scrapy.settings import Settings

from crawler.state.embedded_redis import EmbeddedRedis, EmbeddedRedisError, find_server
from crawler.state.redis_link import RedisUnreachableError, private_neighbours, redis_home


def test_beside_a_private_redis_that_hangs_no_second_one_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with EmbeddedRedis(tmp_path) as server:
        pid = server.server_pid()
        os.kill(pid, signal.SIGSTOP)
        try:
            with monkeypatch.context() as patch:
                patch.setattr("crawler.state.embedded_redis._ANSWER_WITHIN_S", 0.5)
                assert not server.revive()
                EmbeddedRedis(tmp_path).enter().leave()
        finally:
            os.kill(pid, signal.SIGCONT)
        assert server.server_pid() == pid


def test_a_server_that_is_stopped_is_no_failure_in_the_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("DEBUG"), EmbeddedRedis(tmp_path) as server:
        caplog.clear()  # what was said while nobody answered yet
    assert not caplog.records
    assert server.server_pid() == 0
    assert "User requested shutdown" in (tmp_path / "redis.log").read_text()


def test_a_disk_that_has_turned_read_only_keeps_no_server_from_being_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_only(path: Path, mode: str = "r", **options: Any) -> IO[Any]:
        if "r" not in mode:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))
        return usual(path, mode, **options)

    usual = Path.open
    server = EmbeddedRedis(tmp_path).enter()
    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", read_only)
        server.leave()
        assert server.server_pid() == 0
        with pytest.raises(OSError, match="Read-only"):
            EmbeddedRedis(tmp_path).enter()


def test_those_who_come_at_once_start_one_server(tmp_path: Path) -> None:
    at_once = threading.Barrier(8, timeout=60)

    def join(_: int) -> int:
        server = EmbeddedRedis(tmp_path)
        at_once.wait()
        with server:
            pid = server.server_pid()
            at_once.wait()
        return pid

    with ThreadPoolExecutor(8) as threads:
        assert len(set(threads.map(join, range(8)))) == 1
    assert (tmp_path / "redis.log").read_text().count(" is starting ") == 1


def test_a_private_redis_that_does_not_come_up_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "bin" / "redis-server"
    broken.parent.mkdir()
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{broken.parent}:{os.environ['PATH']}")
    with pytest.raises(RedisUnreachableError, match="ended with status 3"), redis_home(Settings(), tmp_path):
        pass


@pytest.mark.parametrize("lock", ["members.lock", "start.lock"])
def test_who_cannot_join_keeps_no_file_open(lock: str, tmp_path: Path) -> None:
    (tmp_path / lock).mkdir()
    before = len([*Path("/proc/self/fd").iterdir()])
    server = EmbeddedRedis(tmp_path)
    for _ in range(3):
        with pytest.raises(IsADirectoryError):
            server.enter()
    assert len([*Path("/proc/self/fd").iterdir()]) == before
    assert server.server_pid() == 0


def test_crawls_on_private_servers_beside_one_are_found(tmp_path: Path) -> None:
    zulu, xhosa, swati = (tmp_path / name for name in ("zulu", "xhosa", "swati"))
    with EmbeddedRedis(swati / "state" / "redis"):
        pass
    with EmbeddedRedis(zulu / "state" / "redis"), EmbeddedRedis(xhosa / "state" / "redis"):
        assert private_neighbours(zulu) == [xhosa]
        assert private_neighbours(swati) == [xhosa, zulu]
    assert private_neighbours(zulu) == []


def test_in_a_folder_with_a_long_path_it_is_found_by_all(tmp_path: Path) -> None:
    folder = tmp_path / ("deep" * 30)
    assert EmbeddedRedis(folder).server_pid() == 0
    with EmbeddedRedis(folder) as server:
        pid = server.server_pid()
        assert pid
        assert EmbeddedRedis(folder).server_pid() == pid


def put_on_path(folder: Path, lines: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A ``redis-server`` of a few lines of shell."""
    folder.mkdir(exist_ok=True)
    (folder / "redis-server").write_text(f"#!/bin/sh\n{lines}\n")
    (folder / "redis-server").chmod(0o700)
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)


def test_a_server_that_would_not_see_the_data_of_a_newer_one_is_not_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Redis 6.2 knows no log in parts: it would begin without any data, as if the crawl had never been."""
    says = 'test "$1" != --version || {{ echo "Redis server v={}"; exit; }}\nexec {} "$@"'
    real, home = find_server(), tmp_path / "redis"
    with EmbeddedRedis(home):
        pass
    (home / "appendonlydir").mkdir(exist_ok=True)
    (home / "appendonlydir" / "appendonly.aof.manifest").touch()
    put_on_path(tmp_path / "bin", says.format("6.2.14 sha=0:0", real), monkeypatch)
    before = (home / "redis.log").read_bytes()
    with pytest.raises(EmbeddedRedisError, match=r"are of a Redis 7 or later, and .*/redis-server is 6\.2\.14, which"):
        EmbeddedRedis(home).enter()
    assert (home / "redis.log").read_bytes() == before
    (home / "appendonlydir" / "appendonly.aof.manifest").unlink()
    with EmbeddedRedis(home) as server:  # its own data
        assert server.server_pid()


def test_a_server_that_ends_beside_the_data_of_another_names_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with EmbeddedRedis(tmp_path):
        pass
    (ran,) = re.findall(r"(\w+ version=[\d.]+), bits", (tmp_path / "redis.log").read_text())
    ends = "test \"$1\" = --version || echo '7:C # {}, bits=64, commit=0' >> redis.log; exit 1"
    other = rf"status 1 \(it is Redis 5\.0\.1; that of {ran.replace(' version=', ' ')}, which wrote these data, "
    for starts, said in (("Redis version=5.0.1", other), ("Redis version=5.0.1", other), (ran, "status 1; its log")):
        with monkeypatch.context() as patch:
            put_on_path(tmp_path / "bin", ends.format(starts), patch)
            with pytest.raises(EmbeddedRedisError, match=said):
                EmbeddedRedis(tmp_path).enter()
