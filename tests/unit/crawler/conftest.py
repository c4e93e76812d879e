"""A real Redis for the tests of this folder that ask for one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import redis

from crawler.state.embedded_redis import EmbeddedRedis


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
