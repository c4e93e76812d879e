"""A table in Redis that the fleet shares and that never outgrows its size: the newest of what fell on one slot stays.

For what is good to know and no loss to have forgotten: which URL a source's tag stands for, which payloads the archive
has already. A direct-mapped cache in one hash: the slot is the key's XXH3 modulo the number of slots, the value is the
key's length, the key and what it stands for, so that a key is never taken for another.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from typing import cast

import redis
import xxhash

_AWAY_S = 10.0
"""So long a Redis that could not be reached is not asked again: one that hangs takes as long over each question, and a
worker that is told to stop closes its archive with two questions a pack."""


class SharedTable:
    """At most `slots` entries in the hash `{crawl}:name`; keys of at most 255 bytes.

    Never raises for Redis' sake: while it is away or full nothing is known and nothing is kept.
    """

    def __init__(self, client: redis.Redis, crawl: str, name: str, slots: int) -> None:
        self._client = client
        self._key = f"{{{crawl}}}:{name}"
        self._slots = slots
        self._away_until = 0.0

    def put(self, entries: Mapping[bytes, bytes]) -> None:
        """Keep `entries`, in one round trip."""
        self.exchange((), entries)

    def get(self, keys: Collection[bytes]) -> dict[bytes, bytes]:
        """What is known of `keys`, in one round trip."""
        return self.exchange(keys, {})

    def exchange(self, keys: Collection[bytes], entries: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
        """What is known of `keys`; then `entries` are kept. Both in one round trip."""
        if not (keys or entries) or self._away():
            return {}
        pipe = self._client.pipeline(transaction=False)
        if keys:
            pipe.hmget(self._key, [str(self._slot(key)) for key in keys])
        if entries:
            values = {self._slot(key): bytes((len(key),)) + key + value for key, value in entries.items()}
            pipe.hset(self._key, mapping=values)  # type: ignore[arg-type]  # bytes are sent as they are
        try:
            # A server that is full refuses to write, and answers all the same.
            found = pipe.execute(raise_on_error=False)[0] if keys else pipe.execute()[0]
        except redis.RedisError as error:
            self._note(error)
            return {}
        if not keys or isinstance(found, redis.RedisError):
            return {}
        return {
            key: value[1 + len(key) :]
            for key, value in zip(keys, cast("list[bytes | None]", found), strict=True)
            if value is not None and value[0] == len(key) and value[1 : 1 + len(key)] == key
        }

    def close(self) -> None:
        """Give the connection back."""
        self._client.close()

    def _away(self) -> bool:
        return time.monotonic() < self._away_until

    def _note(self, error: redis.RedisError) -> None:
        if isinstance(error, redis.ConnectionError | redis.TimeoutError):
            self._away_until = time.monotonic() + _AWAY_S

    def _slot(self, key: bytes) -> int:
        return xxhash.xxh3_64_intdigest(key) % self._slots
