"""State of another version is refused, never misread."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from crawler.embedded_redis import EmbeddedRedis
from crawler.preflight import PreflightError
from crawler.state_format import FORMAT, StateFormatError, ensure_format
from frontier import Candidate, FrontierConfig
from frontier.redis_frontier import RedisFrontier


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


def test_state_of_a_later_version_is_refused(url: str) -> None:
    with redis.Redis.from_url(url) as server:
        server.set("{zulu}:format", FORMAT + 1)
    with pytest.raises(StateFormatError, match=rf"format {FORMAT + 1}, this program's is {FORMAT}"):
        ensure_format(url, "zulu")


def test_a_redis_that_cannot_be_asked_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(PreflightError, match="'zulu'"):
        ensure_format(f"unix://{tmp_path}/none.sock", "zulu")
