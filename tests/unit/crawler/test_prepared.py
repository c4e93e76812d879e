"""What ``scrapy crawl`` looks at before anything starts, on a real Redis, and whether a crawl ended well."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import redis
from scrapy.settings import Settings

from crawler.actions.crawl import ended_badly, prepare
from crawler.errors import PreflightError
from crawler.state.embedded_redis import EmbeddedRedis
from crawler.work.endings import FAULT
from crawler.work.worker import Worker


@pytest.fixture
def seeds(tmp_path: Path) -> Path:
    path = tmp_path / "x.toml"
    path.write_text('[crawl]\nname = "x"\nlanguage = "zul"\n[[site]]\nurl = "http://a.example/"\n')
    return path


def given(folder: Path, url: str = "", **values: Any) -> Settings:
    settings = Settings()
    settings.setmodule("crawler.settings", priority="project")
    told = {"REDIS_URL": url, "DATA_DIR": str(folder / "data"), "CONTACT": "me@a.test", **values}
    for name, value in told.items():
        settings.set(name, value, priority="cmdline")
    return settings


def refused(settings: Settings, seeds: Path) -> str:
    """Why it cannot start; nothing is held then."""
    with contextlib.ExitStack() as held, pytest.raises(PreflightError) as error:
        prepare(settings, "x", {"seeds": str(seeds)}, held)
    return str(error.value)


def test_a_crawl_has_its_state_and_its_folder_before_it_starts(
    url: str, server: redis.Redis, seeds: Path, tmp_path: Path
) -> None:
    with contextlib.ExitStack() as held:
        spider = prepare(given(tmp_path, url), "x", {"seeds": str(seeds)}, held)
    assert spider.name == "x"
    assert server.exists("{x}:format")
    assert {path.name for path in (tmp_path / "data").iterdir()} >= {"warc", "state", "reports"}


def test_a_private_redis_runs_as_long_as_the_crawl_is_held(seeds: Path, tmp_path: Path) -> None:
    private = EmbeddedRedis(tmp_path / "data" / "state" / "redis")
    with contextlib.ExitStack() as held:
        prepare(given(tmp_path), "x", {"seeds": str(seeds)}, held)
        assert private.server_pid()
    assert not private.server_pid()


@pytest.mark.parametrize("key", ["{x}:f:optout", "{ulwembu}:optout"])
def test_opt_outs_that_cannot_be_read_stop_a_start(
    key: str, url: str, server: redis.Redis, seeds: Path, tmp_path: Path
) -> None:
    server.set(key, "no table")
    assert f"'{key}' of Redis is no" in refused(given(tmp_path, url), seeds)


def test_a_redis_that_forgets_or_is_not_there_stops_a_start_and_leaves_no_folder(
    url: str, server: redis.Redis, seeds: Path, tmp_path: Path
) -> None:
    server.config_set("maxmemory", "1gb")
    server.config_set("maxmemory-policy", "allkeys-lru")
    try:
        assert "throws keys away when it is full" in refused(given(tmp_path, url), seeds)
    finally:
        server.config_set("maxmemory", 0)
        server.config_set("maxmemory-policy", "noeviction")
    assert "no Redis at REDIS_URL" in refused(given(tmp_path, f"unix://{tmp_path}/none.sock"), seeds)
    assert "no contact" in refused(given(tmp_path, url, CONTACT=""), seeds)
    assert not (tmp_path / "data").exists()
    assert not server.dbsize()


def test_what_is_wrong_is_a_line_without_a_traceback(
    url: str, server: redis.Redis, seeds: Path, tmp_path: Path
) -> None:
    server.set("{x}:format", 1)
    assert "format 1" in refused(given(tmp_path, url), seeds)
    seeds.write_text("[crawl")
    assert refused(given(tmp_path, url), seeds).startswith(f"{seeds}:1: ")


@pytest.mark.parametrize(
    ("reason", "unfinished", "badly"),
    [("finished", False, False), (FAULT, False, True), ("finished", True, True), ("shutdown", False, False)],
)
def test_a_crawl_that_could_not_go_on_or_left_something_ended_badly(reason: str, unfinished: bool, badly: bool) -> None:
    crawler = Mock(**{"stats.get_value.return_value": reason})
    crawler.get_extension.return_value = Mock(spec=Worker, unfinished=unfinished)
    assert ended_badly(crawler) is badly
    crawler.get_extension.return_value = None
    assert ended_badly(crawler) is (reason == FAULT)
    crawler.stats = None
    assert not ended_badly(crawler)
