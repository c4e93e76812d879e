"""A real Redis for the tests of this folder that ask for one, and a crawl in it."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from crawler.state.embedded_redis import EmbeddedRedis
from tests.unit.crawler.looking import Begun, Looking


@pytest.fixture
def own_signals() -> Iterator[None]:
    """Whatever a test makes of them, signals are as before when it has ended."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGALRM)}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with EmbeddedRedis(tmp_path_factory.mktemp("redis")) as server:
        yield server.url


@pytest.fixture
def server(url: str) -> Iterator[redis.Redis]:
    connection = redis.Redis.from_url(url)
    connection.flushdb()
    yield connection
    connection.close()


@pytest.fixture
def look(url: str, server: redis.Redis, capsys: pytest.CaptureFixture[str]) -> Looking:
    return Looking(url, capsys)


@pytest.fixture
def begun(url: str, server: redis.Redis, tmp_path: Path) -> Iterator[Begun]:
    made = Begun(url, tmp_path)
    with contextlib.closing(made.frontier):
        yield made
