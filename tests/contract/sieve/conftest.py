"""Every kind of sieve, with small buffers so that flushes, runs, merges and larger filters happen often."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from crawler.state.embedded_redis import EmbeddedRedis
from sieve import Sieve, open_sieve

SMALL = "buffer=7&run=16&filter=8&sync=no"
KINDS = {
    "memory": "memory:",
    "mercator": f"mercator:{{folder}}?{SMALL}",
    "mercator-blind": f"mercator:{{folder}}?{SMALL}&filter_bytes=8",
    "mercator-usual": "mercator:{folder}",
    "redis": "{redis}&crawl=c{number}&run=16&filter=8",
    "redis-disk": "{redis}&crawl=c{number}&dir={folder}&run=16&filter=8",
    "offline": "offline:{folder}?buffer=7",
    "lsm": "lsm:{folder}",
    "bloom": "bloom:{folder}?capacity=1e4&error=1e-9",
    "bloom-plain": "bloom:{folder}?capacity=1e4&error=1e-9&blocked=no",
}
PERSISTENT = [kind for kind in KINDS if kind != "memory"]
_NUMBERS = itertools.count()


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real server for the session."""
    with EmbeddedRedis(tmp_path_factory.mktemp("redis")) as server:
        yield server.url


class Maker:
    """Makes sieves of one kind; `again` opens the last one made once more."""

    def __init__(self, kind: str, folder: Path, redis: str) -> None:
        self.kind = kind
        self.folder = folder
        self._redis = redis
        self.spec = ""

    def new(self) -> Sieve:
        number = next(_NUMBERS)
        self.spec = KINDS[self.kind].format(folder=self.folder / str(number), redis=self._redis, number=number)
        return open_sieve(self.spec)

    def again(self) -> Sieve:
        return open_sieve(self.spec)


@pytest.fixture(params=list(KINDS))
def maker(request: pytest.FixtureRequest, tmp_path: Path, redis_url: str) -> Maker:
    return Maker(request.param, tmp_path, redis_url)


@pytest.fixture
def sieve(maker: Maker) -> Iterator[Sieve]:
    made = maker.new()
    yield made
    with contextlib.suppress(Exception):
        made.close()


Make = Callable[[], Sieve]
