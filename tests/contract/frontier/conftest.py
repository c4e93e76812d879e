"""Both frontiers on a clock that tests move, and one private Redis a session."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
import redis

from crawler.state.embedded_redis import EmbeddedRedis
from frontier import Frontier, FrontierConfig, MemoryFrontier
from frontier.keys import OPT_OUTS_OF_ALL
from frontier.redis_frontier import RedisFrontier
from frontier.turns import PREFIX, TurnTakingFrontier

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
def session_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[redis.Redis]:
    with EmbeddedRedis(tmp_path_factory.mktemp("redis")) as private:
        client = redis.Redis.from_url(private.url, socket_timeout=120)  # a machine may stand still for a while
        yield client
        client.close()


@pytest.fixture
def server(session_server: redis.Redis) -> redis.Redis:
    """Without what other tests have left for all crawls."""
    session_server.delete(OPT_OUTS_OF_ALL)
    return session_server


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["memory", "redis", "turns"])
def make(request: pytest.FixtureRequest, clock: Clock) -> Make:
    """A frontier of the kind under test, with settings; jitter always spares nothing."""
    if request.param == "memory":
        return lambda config: MemoryFrontier(config, clock, jitter=lambda: 1.0)
    if request.param == "turns":
        sharing: Make = request.getfixturevalue("make_sharing")
        return sharing
    client = request.getfixturevalue("server")
    return lambda config: RedisFrontier(client, f"test{next(numbers)}", config, now_ms=clock, jitter=lambda: 1.0)


def delete_turns(server: redis.Redis) -> None:
    """Those of other tests."""
    if old := server.keys(f"{PREFIX}*"):
        server.delete(*old)


@pytest.fixture
def make_sharing(server: redis.Redis, clock: Clock) -> Callable[[FrontierConfig], TurnTakingFrontier]:
    """A crawl of its own that takes turns with the other crawls of this test, and with no others."""
    delete_turns(server)
    return lambda config: TurnTakingFrontier(server, f"test{next(numbers)}", config, now_ms=clock, jitter=lambda: 1.0)
