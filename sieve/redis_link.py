"""The sieve's state in Redis, one method a round trip. The only module here that imports redis.

Every failure to reach Redis is a :class:`~sieve.errors.LinkError`; a call that failed may or may not have happened, and
every call here may be repeated: an append twice is sieved out, a commit twice is refused by its epoch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, NamedTuple, ParamSpec, TypeVar

import msgpack
import redis

from sieve.errors import FencedError, LinkError, StoreError
from sieve.keys import RedisKeys

_RUNS_AT_ONCE = 64
_PAGE = 4000
_P = ParamSpec("_P")
_R = TypeVar("_R")


@dataclass(frozen=True, slots=True)
class Commit:
    """What one epoch changes. Counts are of elements; `follows` is the epoch before it."""

    follows: int
    batches: int
    urls: int
    admitted: int
    ready: Sequence[bytes]
    fresh: bytes = b""
    fresh_done: int = 0
    chunks: Sequence[bytes] = ()


class Tally(NamedTuple):
    """Counts of URLs: ever appended, of those decided, of those admitted; and the epoch."""

    put: int
    decided: int
    seen: int
    epoch: int


class RedisLink:
    """One crawl's keys on one server. Threads may share it."""

    def __init__(self, url: str, crawl: str) -> None:
        self.keys = RedisKeys(crawl)
        self._client: Any = redis.Redis.from_url(url)
        script = self._client.register_script
        self._append = script(_lua("append"))
        self._acquire = script(_lua("acquire"))
        self._release = script(_lua("release"))
        self._commit = script(_lua("commit"))
        self._take = script(_lua("take"))

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def seed(self, proposal: int) -> int:
        """The crawl's seed; `proposal` becomes it when there is none."""

        def settle() -> int:
            self._client.hsetnx(self.keys.state, "seed", proposal)
            return int(self._client.hget(self.keys.state, "seed") or 0)

        return self._reach(settle)

    def append(self, batch: bytes, count: int) -> int:
        """Append a packed batch of `count` URLs; gives how many were ever appended."""
        return int(self._reach(self._append, [self.keys.waiting, self.keys.state], [batch, count]))

    def waiting(self, limit: int) -> list[bytes]:
        """The first `limit` batches of the waiting log."""
        return list(self._reach(self._client.lrange, self.keys.waiting, 0, limit - 1))

    def tally(self) -> Tally:
        """The counts."""
        put, decided, seen, epoch = self._reach(
            self._client.hmget, self.keys.state, ["put", "decided", "seen", "epoch"]
        )
        return Tally(int(put or 0), int(decided or 0), int(seen or 0), int(epoch or 0))

    def sizes(self) -> dict[str, int]:
        """Elements and bytes of the lists."""

        def read() -> list[int]:
            pipe = self._client.pipeline(transaction=False)
            for name in names:
                pipe.llen(name)
                pipe.memory_usage(name, samples=0)
            return [int(value or 0) for value in pipe.execute()]

        names = [self.keys.waiting, self.keys.ready, self.keys.fresh, self.keys.runs]
        values = self._reach(read)
        labels = [f"{name}_{what}" for name in ("waiting", "ready", "fresh", "runs") for what in ("elements", "bytes")]
        return dict(zip(labels, values, strict=True))

    def acquire(self, token: int, lease_ms: int, home: str) -> tuple[int, int]:
        """Take or prolong the flush lease: (token, epoch), token 0 when another holds it.

        :class:`StoreError` when the seen URLs are in another store than `home`.
        """
        keys = [self.keys.lease, self.keys.tokens, self.keys.state]
        got, epoch = self._reach(self._acquire, keys, [token, lease_ms, home])
        if got == -1:
            known = epoch.decode() or "Redis"
            raise StoreError(f"the seen URLs of {self.keys.crawl!r} are in store {known}, not in {home or 'Redis'}")
        return int(got), int(epoch)

    def release(self, token: int) -> None:
        """Give the flush lease back, if it is ours."""
        self._reach(self._release, [self.keys.lease], [token])

    def commit(self, token: int, lease_ms: int, commit: Commit) -> int:
        """Commit an epoch and give its number; :class:`FencedError` when the lease or the epoch is not ours."""
        keys = self.keys
        head: list[Any] = [token, commit.follows, lease_ms, commit.batches, commit.urls, commit.admitted]
        head += [commit.fresh_done, commit.fresh, len(commit.chunks), *commit.chunks]
        # One argument a page, not one an element: packing arguments costs the client more than unpacking the server.
        starts = range(0, len(commit.ready), _PAGE)
        head += [msgpack.packb(commit.ready[start : start + _PAGE], use_bin_type=False) for start in starts]
        names = [keys.lease, keys.state, keys.waiting, keys.ready, keys.fresh, keys.runs]
        epoch = int(self._reach(self._commit, names, head))
        if epoch < 0:
            raise FencedError("the flush lease was lost" if epoch == -1 else f"epoch {commit.follows} has passed")
        return epoch

    def runs(self) -> Iterator[bytes]:
        """The chunks of the store."""
        start = 0
        while chunks := self._reach(self._client.lrange, self.keys.runs, start, start + _RUNS_AT_ONCE - 1):
            yield from chunks
            start += len(chunks)

    def fresh(self) -> list[bytes]:
        """The epochs whose fingerprints are in no run."""
        return list(self._reach(self._client.lrange, self.keys.fresh, 0, -1))

    def head(self, limit: int) -> tuple[int, list[bytes]]:
        """The counter `taken` and the first `limit` ready elements (negative: all)."""

        def read() -> tuple[int, list[bytes]]:
            pipe = self._client.pipeline(transaction=True)
            pipe.get(self.keys.taken)
            pipe.lrange(self.keys.ready, 0, limit - 1 if limit >= 0 else -1)
            taken, elements = pipe.execute()
            return int(taken or 0), elements

        return self._reach(read)

    def take(self, taken: int, count: int) -> bool:
        """Remove `count` elements from the head when the counter still is `taken`."""
        return bool(self._reach(self._take, [self.keys.ready, self.keys.taken], [taken, count]))

    def _reach(self, call: Callable[_P, _R], *args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return call(*args, **kwargs)
        except redis.RedisError as error:
            raise LinkError(f"Redis: {error}") from error


def _lua(name: str) -> str:
    return (files("sieve") / "lua" / f"{name}.lua").read_text("utf-8")
