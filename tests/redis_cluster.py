"""A Redis Cluster of two nodes, of a test's own: the smallest in which keys lie elsewhere."""

from __future__ import annotations

import contextlib
import random
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import redis
from redis.crc import key_slot

from crawler.state.embedded_redis import find_server

_SLOTS = 1 << 14
_BUS = 10_000
"""So far above a node's port is that by which it talks with the others."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """Two nodes; each has half of the slots until they are moved."""

    nodes: tuple[redis.Redis, redis.Redis]
    ports: tuple[int, int]

    def url(self, number: int) -> str:
        """That of a node."""
        return f"redis://127.0.0.1:{self.ports[number]}/0"

    def home(self, tag: str) -> int:
        """The number of the node that has the keys of a hash tag at first."""
        return key_slot(tag.encode()) * 2 // _SLOTS

    def name_at(self, number: int, word: str, beside: str = "") -> str:
        """A crawl of that word and a number whose keys lie on that node; those of its name with `beside` put to it,
        which is no tag, on the other."""
        names = (f"{word}{count}" for count in range(1000))
        return next(
            name
            for name in names
            if self.home(name) == number and (not beside or self.home(name + beside) == 1 - number)
        )

    @contextlib.contextmanager
    def moving(self, tag: str) -> Iterator[None]:
        """Begin to move the slot of a tag from its node to the other; all keys that are still there at the end."""
        slot, source = key_slot(tag.encode()), self.home(tag)
        here, there = self.nodes[source], self.nodes[1 - source]
        ids = [_tell(node, "CLUSTER MYID") for node in (here, there)]
        _tell(there, "CLUSTER SETSLOT", slot, "IMPORTING", ids[0])
        _tell(here, "CLUSTER SETSLOT", slot, "MIGRATING", ids[1])
        yield
        self.move(tag, _tell(here, "CLUSTER GETKEYSINSLOT", slot, 1000))
        for node in (there, here):
            _tell(node, "CLUSTER SETSLOT", slot, "NODE", ids[1])

    def move(self, tag: str, keys: list[bytes]) -> None:
        """Move some of its keys."""
        source = self.home(tag)
        if keys:
            place = ("127.0.0.1", self.ports[1 - source], "", 0, 5000, "KEYS")
            _tell(self.nodes[source], "MIGRATE", *place, *keys)


@contextlib.contextmanager
def redis_cluster(folder: Path) -> Iterator[Cluster]:
    """Both nodes know each other when it is entered."""
    with contextlib.ExitStack() as opened:
        ports = _free_ports()
        for port in ports:
            opened.enter_context(_node(folder / str(port), port))
        first, second = (opened.enter_context(redis.Redis(port=port, socket_timeout=60)) for port in ports)
        for number, node in enumerate((first, second)):
            _wait_for(partial(_answers, node))
            half = range(number * _SLOTS // 2, (number + 1) * _SLOTS // 2)
            _tell(node, "CLUSTER ADDSLOTS", *half)
        _tell(first, "CLUSTER SET-CONFIG-EPOCH", 1)
        _tell(second, "CLUSTER SET-CONFIG-EPOCH", 2)
        _tell(first, "CLUSTER MEET", "127.0.0.1", ports[1])
        for node in (first, second):
            _wait_for(partial(_knows_all, node))
        yield Cluster((first, second), ports)


@contextlib.contextmanager
def _node(folder: Path, port: int) -> Iterator[None]:
    folder.mkdir()
    options = ("--cluster-enabled", "yes", "--bind", "127.0.0.1", "--save", "", "--dir", str(folder))
    command = [str(find_server()), "--port", str(port), *options]
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen(command, cwd=folder, stdout=log, stderr=log) as process,
    ):
        try:
            yield
        finally:
            process.kill()


def _tell(node: Any, *words: object) -> Any:
    """For what the client has no words, and no types."""
    return node.execute_command(*words)


def _answers(node: redis.Redis) -> bool:
    try:
        return bool(node.ping())
    except redis.ConnectionError:
        return False


def _knows_all(node: redis.Redis) -> bool:
    facts: dict[str, str] = _tell(node, "CLUSTER INFO")
    return facts["cluster_state"] == "ok"


def _free_ports() -> tuple[int, int]:
    """Below those that the system gives to whoever asks for any."""
    free: list[int] = []
    for port in random.sample(range(10_000, 20_000), 1000):
        with (
            contextlib.suppress(OSError),
            socket.create_server(("127.0.0.1", port)),
            socket.create_server(("127.0.0.1", port + _BUS)),
        ):
            free.append(port)
        if len(free) == 2:
            return free[0], free[1]
    raise AssertionError("no port is free")


def _wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "the Cluster did not come up"
        time.sleep(0.02)
