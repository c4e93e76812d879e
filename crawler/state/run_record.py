"""The settings that a crawl's workers run with, left in its Redis for the commands that look at the crawl.

``{crawl}:workers`` is a hash: a worker's name -> JSON with its start, when it was last seen and whether it has left
(instants of Redis' clock), its data folder, its seed file and its settings, of :data:`RECORDED` and no others: no URL,
no header, nothing that could hold a password. A worker that begins takes out those that have left or fell silent, so
there are never many, and after the crawl those of its last start are there. ``{ulwembu}:crawls`` is a set, the names
of all crawls of this Redis.

For people only: no worker goes by it, so a Redis that is away or full costs no more than an older record. What another
version, or somebody's hand, has left there is passed over where it is not what this one would write.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import redis
from scrapy.settings import BaseSettings

from crawler.options import CHOICES, OPTIONS, Option, typed
from crawler.state.redis_link import RedisUnreachableError, client, forbidden, without_password
from crawler.state.state_format import has_state

RECORDED = (
    "FRONTIER_DELAY_S",
    "FRONTIER_IP_DELAY_S",
    "FRONTIER_DELAY_FACTOR",
    "FRONTIER_MAX_DELAY_S",
    "FRONTIER_MAX_CRAWL_DELAY_S",
    "FRONTIER_RETRY_FACTOR",
    "FRONTIER_LEASE_S",
    "FRONTIER_MAX_DEPTH",
    "FRONTIER_MAX_HOST_URLS",
    "FRONTIER_MAX_EQUAL_PAGES",
    "FRONTIER_LEAST_SHARE",
    "FRONTIER_AUDIT",
    "FRONTIER_OPT_OUT_FILE",
    "SIEVE_STORE",
    "ROBOTS_USER_AGENT",
    "ROBOTS_MAX_AGE_S",
    "RELEVANCE_POLICY",
    "RELEVANCE_MODEL",
    "RELEVANCE_OPTIONS",
)
"""The settings that decide what the looking commands show."""
FILES = ("FRONTIER_OPT_OUT_FILE", "RELEVANCE_MODEL")
"""Those of them that name a file of the worker's machine; recorded with their whole path."""
_REFRESH_S = 30.0
RUNS_MS = 180_000
"""A worker that was seen so long ago still counts as running: one with all of its leases out may not ask for more."""
_WITHIN_S = 2.0
"""A worker that is told to stop must not wait long for a Redis that hangs."""
_CRAWLS = "{ulwembu}:crawls"
_KINDS = {"host": str, "folder": str, "seeds": str, "settings": dict, "started_ms": int, "seen_ms": int, "ended": bool}


@dataclass(frozen=True, slots=True)
class WorkerRecord:
    """What one worker has left there; `host` is its machine's name, `seeds` its seed file ("": it has none), `worker`
    its own name."""

    host: str
    folder: str
    seeds: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    started_ms: int = 0
    seen_ms: int = 0
    ended: bool = False
    worker: str = ""

    def runs(self, now_ms: int) -> bool:
        """Whether it has not left and was seen lately: so for some minutes of one that was killed, too."""
        return not self.ended and self.seen_ms > now_ms - RUNS_MS

    def words(self, now_ms: int) -> str:
        """Its name and how old its last sign is: by that one that was killed is told from one that runs."""
        return f"{self.worker}, last sign {max(0, now_ms - self.seen_ms) // 1000} s ago"


def worker_record(settings: BaseSettings, folder: Path, seeds: str) -> WorkerRecord:
    """The record of this process' worker."""
    options = _options()
    values = {name: typed(settings, options[name]) for name in RECORDED}
    # A project may give them as a list.
    values["RELEVANCE_OPTIONS"] = ",".join(settings.getlist("RELEVANCE_OPTIONS"))
    values |= {name: str(Path(str(values[name])).resolve()) for name in FILES if values[name]}
    return WorkerRecord(socket.gethostname(), str(folder), str(Path(seeds).resolve()) if seeds else "", values)


class RunRecord:
    """Keeps one worker's record in Redis, from its start to its end; a Redis that fails is passed over."""

    def __init__(self, url: str, crawl: str, record: WorkerRecord) -> None:
        self._client = client(url, _WITHIN_S)
        self._crawl = crawl
        self._name = f"{record.host}:{os.getpid()}:{secrets.token_hex(2)}"
        self._record = record
        self._written = time.monotonic()
        with contextlib.suppress(redis.RedisError):
            now_ms = _now_ms(self._client)
            self._record = replace(record, started_ms=now_ms)
            gone = [one.worker for one in _read(self._client, crawl) if not one.runs(now_ms)]
            self._write(now_ms)
            if gone:
                self._client.hdel(_key(crawl), *gone)
            self._client.sadd(_CRAWLS, crawl)  # last: another node of a Cluster may have it

    def refresh(self) -> None:
        """Note that the worker still runs; costs nothing when that was noted a moment ago."""
        if time.monotonic() < self._written + _REFRESH_S:
            return
        self._written = time.monotonic()
        with contextlib.suppress(redis.RedisError):
            self._write(_now_ms(self._client))

    def close(self) -> None:
        """Note that the worker has left, and close the connection."""
        self._record = replace(self._record, ended=True)
        with contextlib.suppress(redis.RedisError), contextlib.closing(self._client):
            if has_state(self._client, self._crawl):  # else it was emptied meanwhile, and is not begun anew by this
                self._write(_now_ms(self._client))

    def _write(self, now_ms: int) -> None:
        values = asdict(replace(self._record, seen_ms=now_ms))
        del values["worker"]  # the name of the field
        self._client.hset(_key(self._crawl), self._name, json.dumps(values))


def workers(url: str, crawl: str) -> tuple[list[WorkerRecord], int]:
    """The records of `crawl`'s workers, the last to start first, and the instant by Redis' clock; none where they
    cannot be read, or are of a version that left none. RedisUnreachableError when this user may not read them."""
    try:
        with contextlib.closing(client(url)) as server:
            return sorted(_read(server, crawl), key=lambda one: one.started_ms, reverse=True), _now_ms(server)
    except redis.RedisError as error:
        if cause := forbidden(error):
            raise RedisUnreachableError(f"{without_password(url)} does not tell of {_key(crawl)}: {cause}") from None
    return [], 0


def crawls_of(url: str) -> list[str]:
    """The names of the crawls that have state in the Redis at `url`, of those that its user may see.
    RedisUnreachableError when it does not tell, or hides all that there are."""
    found, hidden = [], None
    try:
        with contextlib.closing(client(url)) as server:
            for name in sorted(map(_text, server.smembers(_CRAWLS))):
                try:
                    found += [name] * has_state(server, name)
                except redis.exceptions.NoPermissionError as error:
                    hidden = error
            if hidden and not found:
                raise hidden
    except redis.exceptions.AskError:
        raise RedisUnreachableError(
            f"{without_password(url)} is a node of a Redis Cluster, and no list of its crawls is there: --crawl NAME"
        ) from None
    except redis.RedisError as error:
        cause = forbidden(error) or error
        raise RedisUnreachableError(f"{without_password(url)} does not tell its crawls ({_CRAWLS}): {cause}") from None
    return found


def differences(records: Sequence[WorkerRecord]) -> dict[str, dict[str, WorkerRecord]]:
    """The settings that workers do not agree on: name -> value -> who has it, of several the one seen last."""
    found: dict[str, dict[str, WorkerRecord]] = {}
    by_sight = sorted(records, key=lambda one: one.seen_ms)
    for name in RECORDED:
        values = {json.dumps(one.settings[name]): one for one in by_sight if name in one.settings}
        if len(values) > 1:
            found[name] = values
    return found


def _read(server: redis.Redis, crawl: str) -> list[WorkerRecord]:
    found = []
    for name, value in server.hgetall(_key(crawl)).items():
        with contextlib.suppress(ValueError, TypeError, RecursionError):  # of another version, or by hand
            record = WorkerRecord(**json.loads(value), worker=_text(name))
            if all(type(getattr(record, part)) is kind for part, kind in _KINDS.items()):
                found.append(replace(record, settings=_usable(record.settings)))
    return found


def _usable(recorded: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the recorded settings that have the type of their option, and a value that it allows."""
    found = {}
    for name, option in _options().items():
        value = recorded.get(name)
        with contextlib.suppress(ValueError, TypeError):
            if type(value) is not type(option.default) or value not in CHOICES.get(name, (value,)):
                continue
            if typed(BaseSettings({name: value}), option) == value:
                found[name] = value
    return found


def _options() -> dict[str, Option]:
    return {option.name: option for option in OPTIONS if option.name in RECORDED}


def _text(name: bytes | str) -> str:
    return name.decode("utf-8", "replace") if isinstance(name, bytes) else name


def _now_ms(server: redis.Redis) -> int:
    seconds, micros = server.time()
    return int(seconds * 1000 + micros // 1000)


def _key(crawl: str) -> str:
    return f"{{{crawl}}}:workers"
