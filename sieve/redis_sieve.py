"""``redis:`` one sieve for a fleet.

Workers append packed batches to a waiting log, one round trip a batch. Whichever process holds the flush lease decides
them and commits "decided", "stored" and "ready" in one atomic step, under the epoch and its fencing token.
"""

from __future__ import annotations

import secrets
import struct
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode

import msgpack
import numpy as np

from sieve.errors import ClosedError, FencedError, LinkError, SpecError
from sieve.fingerprint import Fingerprints
from sieve.items import Batch, Keys
from sieve.redis_link import Commit, RedisLink
from sieve.seen import SeenSet
from sieve.spec import Spec
from sieve.types import Entry, Item

_OPTIONS = ("crawl", "dir", "canonical", "lease_ms")
_EPOCH = struct.Struct("<Q")
_BATCHES_AN_EPOCH = 64
_POLL_S = 0.01
# A chunk of this many fingerprints and Redis' own bookkeeping fill a 64 KiB allocation.
CHUNK_KEYS = 8_176


@dataclass(slots=True)
class _Held:
    """What the holder of the flush lease knows: its token, the last epoch, all fingerprints, those in no chunk yet."""

    token: int
    epoch: int
    seen: SeenSet
    fresh: list[Fingerprints]
    fresh_elements: int


class RedisSieve:
    """See the module. Threads may share it."""

    def __init__(self, link: RedisLink, *, ready_made: bool = False, lease_ms: int = 5000) -> None:
        self._link = link
        self._lease_ms = lease_ms
        self._keys = Keys(link.seed(secrets.randbits(63)), ready_made)
        self._deciding = threading.Lock()
        self._held: _Held | None = None
        self._drained: tuple[int, int] | None = None
        self._closed = False

    @classmethod
    def open(cls, spec: Spec) -> RedisSieve:
        """From ``redis://host/0?crawl=NAME&dir=DIR`` (``rediss://``, ``unix://``); other options go to the client."""
        address, _, query = spec.text.partition("?")
        pairs = parse_qsl(query)
        ours = {name: value for name, value in pairs if name in _OPTIONS}
        if not ours.get("crawl"):
            raise SpecError(spec.text, "no crawl=NAME")
        theirs = urlencode([(name, value) for name, value in pairs if name not in _OPTIONS])
        link = RedisLink(f"{address}?{theirs}" if theirs else address, ours["crawl"])
        own = Spec(spec.text, spec.kind, spec.place, ours)
        return cls(link, ready_made=own.flag("canonical"), lease_ms=own.whole("lease_ms", 5000, 100))

    def enqueue(self, urls: Sequence[Item]) -> None:
        """See :class:`~sieve.types.Sieve`; one round trip."""
        self._check_open()
        if urls:
            batch = self._keys.batch(urls)
            self._link.append(batch.pack(), len(batch))

    def flush(self) -> None:
        """After it, everything that any process enqueued before is decided, here or by the holder of the lease."""
        self._check_open()
        put = self._link.tally().put
        while self._link.tally().decided < put:
            if not self.decide():
                time.sleep(_POLL_S)

    def drain(self, limit: int | None = None) -> list[Item]:
        """See :class:`~sieve.types.Sieve`. For one consumer; the frontier of a fleet takes from the list itself."""
        self._check_open()
        self._acknowledge()
        taken, elements = self._link.head(-1 if limit is None else max(limit, 0))
        if elements:
            self._drained = (taken, len(elements))
        return [_unpack(element) for element in elements]

    def close(self) -> None:
        """Acknowledge, give the lease back, disconnect."""
        if self._closed:
            return
        self._acknowledge()
        with self._deciding:
            if self._held is not None:
                self._link.release(self._held.token)
                self._held = None
        self._closed = True
        self._link.close()

    def pending(self) -> int:
        """URLs that wait to be decided."""
        tally = self._link.tally()
        return tally.put - tally.decided

    def decide(self) -> int:
        """Decide what waits, one epoch of it, when this process holds or gets the flush lease; gives URLs decided."""
        with self._deciding:
            self._check_open()
            try:
                return self._epoch()
            except (FencedError, LinkError):
                # What Redis holds is the truth; what is here may be ahead of it.
                self._held = None
                raise

    def _epoch(self) -> int:
        held = self._hold()
        if held is None:
            return 0
        packed = self._link.waiting(_BATCHES_AN_EPOCH)
        if not packed:
            return 0
        batches = [Batch.unpack(batch) for batch in packed]
        keys = np.concatenate([batch.keys for batch in batches])
        first = held.seen.first(keys)
        ready: list[bytes] = []
        start = 0
        for batch in batches:
            ready += _pack(batch.only(first[start : start + len(batch)]))
            start += len(batch)
        self._commit(held, len(batches), len(keys), keys[first], ready)
        return len(keys)

    def _commit(self, held: _Held, batches: int, urls: int, admitted: Fingerprints, ready: list[bytes]) -> None:
        fresh, chunks, done = [*held.fresh, admitted], [], 0
        if sum(map(len, fresh)) >= CHUNK_KEYS:
            together = np.concatenate(fresh)
            whole = len(together) // CHUNK_KEYS * CHUNK_KEYS
            chunks = [np.sort(part).tobytes() for part in np.split(together[:whole], whole // CHUNK_KEYS)]
            fresh, done, admitted = [together[whole:]], held.fresh_elements, together[whole:]
        element = _EPOCH.pack(held.epoch + 1) + admitted.tobytes() if len(admitted) else b""
        commit = Commit(held.epoch, batches, urls, len(ready), ready, element, done, chunks)
        held.epoch = self._link.commit(held.token, self._lease_ms, commit)
        held.fresh = fresh
        held.fresh_elements += bool(element) - done

    def _hold(self) -> _Held | None:
        held = self._held
        token, epoch = self._link.acquire(held.token if held else 0, self._lease_ms, "")
        if not token:
            self._held = None
            return None
        if held is None or held.epoch != epoch:
            held = self._held = self._load(token, epoch)
        held.token = token
        return held

    def _load(self, token: int, epoch: int) -> _Held:
        seen = SeenSet()
        for chunk in self._link.runs():
            seen.add(np.frombuffer(chunk, "<u8"))
        elements = self._link.fresh()
        fresh = [np.frombuffer(element, "<u8", offset=_EPOCH.size) for element in elements]
        for keys in fresh:
            seen.add(keys)
        return _Held(token, epoch, seen, fresh, len(elements))

    def _acknowledge(self) -> None:
        if self._drained is not None:
            self._link.take(*self._drained)
            self._drained = None

    def _check_open(self) -> None:
        if self._closed:
            raise ClosedError("the sieve is closed")


def _pack(batch: Batch) -> list[bytes]:
    """Ready elements; the payload of what was a plain string is an empty msgpack string instead of bytes."""
    pack = msgpack.Packer(unicode_errors="surrogatepass").pack
    if batch.payloads is None:
        return [pack((url, "")) for url in batch.urls]
    return [
        pack((url, "" if payload is None else payload)) for url, payload in zip(batch.urls, batch.payloads, strict=True)
    ]


def _unpack(element: bytes) -> Item:
    url, payload = msgpack.unpackb(element, unicode_errors="surrogatepass")
    return url if isinstance(payload, str) else Entry(url, payload)
