"""The sieve's state in Redis, a method for each step of it. The only module here that imports redis.

Every failure to reach Redis is a :class:`~sieve.errors.LinkError`; a call that failed may or may not have happened, and
every call here may be repeated: an append twice is sieved out, a commit twice is refused by its epoch.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, NamedTuple, ParamSpec, TypeVar

import redis
from hiredis import pack_command

from sieve.errors import DamagedError, FencedError, LinkError, LinkFull, StoreError
from sieve.fleet.keys import RedisKeys

ANSWER_WITHIN_S = 5.0
"""For an answer or a connection. Not the client's own: some versions of it wait for ever, and a silent network, unlike
a server that has gone, tells nobody that no answer will come."""
_RUNS_AT_ONCE = 64
_PAIRS_AT_ONCE = 64
_P = ParamSpec("_P")
_R = TypeVar("_R")


@dataclass(frozen=True, slots=True)
class Commit:
    """What one epoch changes; `follows` is the epoch before it, `places` those of each batch's new URLs, packed,
    `stored` the epoch up to which a store on disk is complete, which has the `fresh_done` elements that go."""

    follows: int
    urls: int = 0
    admitted: int = 0
    places: Sequence[bytes] = ()
    fresh: bytes = b""
    fresh_done: int = 0
    stored: int = 0
    chunks: Sequence[bytes] = ()


class Tally(NamedTuple):
    """Counts of URLs: ever appended, of those decided, of those admitted; and the epoch."""

    put: int
    decided: int
    seen: int
    epoch: int


class RedisLink:
    """One crawl's keys on one server. Threads may share it. `on_break` is told of each call that failed and of each new
    connection: the client replaces by itself those that a server closed which is back already."""

    def __init__(self, url: str, crawl: str) -> None:
        self.keys = RedisKeys(crawl)
        self.on_break: Callable[[], None] = lambda: None
        self._client: Any = redis.Redis.from_url(
            url,
            socket_timeout=ANSWER_WITHIN_S,
            socket_connect_timeout=ANSWER_WITHIN_S,
            redis_connect_func=self._connected,
        )
        self._line: Any = self._reach(self._client.connection_pool.get_connection)
        self._line_in_use = threading.Lock()
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
            known = self._client.hget(self.keys.state, "seed")
            if known is None:  # else nothing is to be written: a worker of a known crawl may start when Redis is full
                self._client.hsetnx(self.keys.state, "seed", proposal)
                known = self._client.hget(self.keys.state, "seed")
            return int(known or 0)

        return self._reach(settle)

    def append(self, batches: Sequence[bytes], count: int) -> int:
        """Append `count` URLs, of each batch its fingerprints and its texts; gives how many were ever appended."""
        keys = [self.keys.waiting, self.keys.texts, self.keys.state]
        return int(self._reach(self._directly, self._append, keys, [count, *batches]))

    def waiting(self, limit: int) -> list[bytes]:
        """The fingerprints of the first `limit` batches that wait."""
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

        lists = ("waiting", "texts", "ready", "fresh", "runs")
        names = [getattr(self.keys, name) for name in lists]
        values = self._reach(read)
        labels = [f"{name}_{what}" for name in lists for what in ("elements", "bytes")]
        return dict(zip(labels, values, strict=True))

    def acquire(self, token: int, lease_ms: int, home: str) -> tuple[int, int]:
        """Take or prolong the flush lease: (token, epoch), token 0 when another holds it.

        :class:`StoreError` when the seen URLs are in another store than `home`.
        """
        keys = [self.keys.lease, self.keys.tokens, self.keys.state]
        got, epoch = self._reach(self._acquire, keys, [token, lease_ms, home])
        if got == -1:
            known, asked = (f"the disk store {place}" if place else "Redis" for place in (epoch.decode(), home))
            raise StoreError(
                f"the seen URLs of {self.keys.crawl!r} are in {known}, not in {asked}: "
                "start it with the folder, and the kind of store, with which it began "
                "(when that folder is lost `scrapy sieve rebuild` makes another)"
            )
        return int(got), int(epoch)

    def release(self, token: int) -> None:
        """Give the flush lease back, if it is ours."""
        self._reach(self._release, [self.keys.lease], [token])

    def commit(self, token: int, lease_ms: int, commit: Commit) -> int:
        """Commit an epoch and give its number; :class:`FencedError` when the lease or the epoch is not ours."""
        keys = self.keys
        arguments: list[Any] = [token, commit.follows, lease_ms, commit.urls, commit.admitted, commit.fresh_done]
        arguments += [commit.fresh, commit.stored, len(commit.chunks), *commit.chunks, *commit.places]
        names = [keys.lease, keys.state, keys.waiting, keys.texts, keys.ready, keys.fresh, keys.runs]
        epoch = int(self._reach(self._directly, self._commit, names, arguments))
        if epoch == -3:
            raise DamagedError("the waiting log in Redis", f"{keys.waiting} and {keys.texts} are not in step")
        if epoch < 0:
            raise FencedError("the flush lease was lost" if epoch == -1 else f"epoch {commit.follows} has passed")
        return epoch

    def home(self) -> str:
        """The id of the store on a disk that has the seen URLs; empty when Redis has them, or nothing was decided."""
        return bytes(self._reach(self._client.hget, self.keys.state, "home") or b"").decode()

    def stored(self) -> int:
        """The epoch up to which Redis has left the seen URLs to the store on disk; 0 when it has all of them."""
        return int(self._reach(self._client.hget, self.keys.state, "stored") or 0)

    def runs(self) -> Iterator[bytes]:
        """The chunks of the store."""
        start = 0
        while chunks := self._reach(self._client.lrange, self.keys.runs, start, start + _RUNS_AT_ONCE - 1):
            yield from chunks
            start += len(chunks)

    def fresh(self) -> list[bytes]:
        """The epochs whose fingerprints are in no run."""
        return list(self._reach(self._client.lrange, self.keys.fresh, 0, -1))

    def taken(self) -> int:
        """The counter that grows with each removal from the ready list."""
        return int(self._reach(self._client.get, self.keys.taken) or 0)

    def ready(self) -> Iterator[tuple[bytes, bytes]]:
        """The ready list from its head on: packed places, and the texts of their batch."""
        start = 0
        while elements := self._reach(self._client.lrange, self.keys.ready, start, start + 2 * _PAIRS_AT_ONCE - 1):
            yield from zip(elements[::2], elements[1::2], strict=True)
            start += len(elements)

    def take(self, taken: int, pairs: int, rest: bytes) -> bool:
        """Remove `pairs` from the head, leave `rest` of the next one's places if any, when the counter is `taken`."""
        return bool(self._reach(self._take, [self.keys.ready, self.keys.taken], [taken, pairs, rest]))

    def look(self) -> None:
        """Tell `on_break` what the next call would find: that the server has closed the connection. No round trip."""
        with self._line_in_use:
            try:
                closed = self._line.can_read()  # nothing is asked, so no answer can wait
            except (redis.RedisError, OSError):
                closed = True
            if closed:
                self._line.disconnect()
                self.on_break()

    def _connected(self, connection: Any) -> None:
        connection.on_connect()
        self.on_break()

    def _directly(self, script: Any, keys: Sequence[str], arguments: Sequence[Any]) -> Any:
        """Run a script on a connection of its own: the client's general way costs 70 us more a call."""
        packed = [pack_command(("EVALSHA", script.sha, len(keys), *keys, *arguments))]
        with self._line_in_use:
            try:
                self._line.send_packed_command(packed, check_health=False)
                return self._line.read_response()
            except (redis.ConnectionError, redis.TimeoutError, redis.exceptions.NoScriptError):
                # The general way loads scripts, connects again and repeats. A server that began anew knows no script.
                self.on_break()
                self._line.disconnect()
                return script(keys, arguments)
            except BaseException:
                # An answer that nobody read must not be taken for the next one's.
                self._line.disconnect()
                raise

    def _reach(self, call: Callable[_P, _R], *args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return call(*args, **kwargs)
        except redis.RedisError as error:
            full = isinstance(error, redis.OutOfMemoryError) or "OOM" in str(error)  # a script gives it on in its words
            if full:
                raise LinkFull(f"Redis is at its memory limit (raise maxmemory): {error}") from error
            if isinstance(error, redis.exceptions.AskError):
                raise LinkError(f"Redis: this Cluster has the keys on its node {error.host}:{error.port}") from error
            raise LinkError(f"Redis: {error}") from error


def _lua(name: str) -> str:
    return (files("sieve.fleet") / "lua" / f"{name}.lua").read_text("utf-8")
