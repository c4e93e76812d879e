"""Both frontiers on a clock that tests move, and one private Redis a session."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
import redis

from crawler.state.embedded_redis import EmbeddedRedis
from frontier import Frontier, FrontierConfig, MemoryFrontier
from frontier.redis_frontier import RedisFrontier

START_MS = 1_700_000_000_000
numbers = itertools.count()


@dataclass
class Clock:
    """Epoch milliseconds, moved by hand."""

    now_ms: int = START_MS

    def __call__(self) -> int:
        return self.now_ms

    def forward(self, by_ms: int) -> None:
        self.now_ms += by_ms


Make = Callable[[FrontierConfig], Frontier]


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[redis.Redis]:
    with EmbeddedRedis(tmp_path_factory.mktemp("redis")) as private:
        client = redis.Redis.from_url(private.url)
        yield client
        client.close()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["memory", "redis"])
def make(request: pytest.FixtureRequest, clock: Clock) -> Make:
    """A frontier of the kind under test, with settings; jitter always spares nothing."""
    if request.param == "memory":
        return lambda config: MemoryFrontier(config, clock, jitter=lambda: 1.0)
    client = request.getfixturevalue("server")
    return lambda config: RedisFrontier(client, f"test{next(numbers)}", config, now_ms=clock, jitter=lambda: 1.0)
