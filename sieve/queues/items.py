"""Items as they travel: fingerprints of what is enqueued, and batches packed for logs.

A packed batch is msgpack ``[fingerprints, urls, payloads]``: little-endian 64-bit fingerprints, the URLs as found, and
one payload or nil (an item that was a plain string) each; ``payloads`` is nil when all are plain strings. Where the
fingerprints are kept apart it is ``[urls, payloads]``, and a choice of its items a row of 16-bit little-endian places.
A numbered batch is its length (32 bits), the arrival numbers (64 bits each, little-endian) and the packed batch.
"""

from __future__ import annotations

import operator
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgpack
import numpy as np
import numpy.typing as npt

from sieve.fingerprint import Fingerprints, Places, fingerprints
from sieve.types import Entry, Item
from sieve.urls.canonical import canonical

Numbers = npt.NDArray[np.uint64]
"""Arrival numbers: ascending in the order in which URLs were put in, with gaps where repeats were."""
_COUNT = struct.Struct("<I")


@dataclass(frozen=True, slots=True)
class Batch:
    """Items in the order of arrival with their fingerprints; `payloads` is ``None`` when all are plain strings."""

    keys: Fingerprints
    urls: list[str]
    payloads: list[bytes | None] | None = None

    def __len__(self) -> int:
        return len(self.urls)

    def items(self) -> list[Item]:
        """As they were put in."""
        if self.payloads is None:
            return list(self.urls)
        return [
            url if payload is None else Entry(url, payload)
            for url, payload in zip(self.urls, self.payloads, strict=True)
        ]

    def at(self, places: Places) -> Batch:
        """The items at `places`, of which there is at least one."""
        if len(places) == len(self.urls):
            return self
        chosen = places.tolist()
        # itemgetter of one place gives no tuple.
        pick = operator.itemgetter(*chosen) if len(chosen) > 1 else lambda row: (row[chosen[0]],)
        payloads = None if self.payloads is None else list(pick(self.payloads))
        return Batch(self.keys[places], list(pick(self.urls)), payloads)

    def part(self, start: int, stop: int) -> Batch:
        """The items from `start` to before `stop`."""
        payloads = None if self.payloads is None else self.payloads[start:stop]
        return Batch(self.keys[start:stop], self.urls[start:stop], payloads)

    @classmethod
    def join(cls, batches: Sequence[Batch]) -> Batch:
        """All items of `batches`, one after the other."""
        keys = np.concatenate([batch.keys for batch in batches])
        urls = [url for batch in batches for url in batch.urls]
        if all(batch.payloads is None for batch in batches):
            return cls(keys, urls)
        payloads = [payload for batch in batches for payload in batch.payloads or [None] * len(batch)]
        return cls(keys, urls, payloads)

    def pack(self) -> bytes:
        """The packed form."""
        packed: bytes = msgpack.packb(
            [self.keys.astype("<u8", copy=False).tobytes(), self.urls, self.payloads], unicode_errors="surrogatepass"
        )
        return packed

    def packed_texts(self) -> bytes:
        """The packed form without fingerprints."""
        packed: bytes = msgpack.packb([self.urls, self.payloads], unicode_errors="surrogatepass")
        return packed

    @classmethod
    def unpack(cls, packed: bytes) -> Batch:
        """From the packed form; raises what msgpack raises on damaged bytes."""
        keys, urls, payloads = msgpack.unpackb(packed, unicode_errors="surrogatepass")
        return cls(np.frombuffer(keys, "<u8").astype(np.uint64, copy=False), urls, payloads)


@dataclass(frozen=True, slots=True)
class Fingerprinter:
    """Makes the fingerprints of what is enqueued, which are the sieve's keys: seeded with `seed`, of the canonical form
    unless the URLs are `already_canonical`."""

    seed: int = 0
    already_canonical: bool = False

    def batch(self, items: Sequence[Item]) -> Batch:
        """Items with their fingerprints; :class:`ValueError` names one that has no canonical form."""
        try:
            # As a rule all are plain strings or the first is none; looking at each first would cost a fifth more.
            return Batch(self._of_all(items), list(items))  # type: ignore[arg-type]
        except (TypeError, AttributeError):
            urls, payloads = _split(items)
            return Batch(self._of_all(urls), urls, payloads)

    def _of_all(self, urls: Sequence[Any]) -> Fingerprints:
        return fingerprints(urls if self.already_canonical else list(map(canonical, urls)), self.seed)

    def fingerprint_of(self, url: str) -> Fingerprints:
        """The fingerprint of one URL, in an array of one."""
        return fingerprints([url if self.already_canonical else canonical(url)], self.seed)


def pack_numbered(numbers: Numbers, batch: Batch) -> bytes:
    """A batch with the arrival numbers of its items."""
    return _COUNT.pack(len(batch)) + numbers.astype("<u8").tobytes() + batch.pack()


def unpack_numbered(packed: bytes, start: int = 0) -> tuple[Numbers, Batch]:
    """What :func:`pack_numbered` gave, from the byte `start` on."""
    (count,) = _COUNT.unpack_from(packed, start)
    start += _COUNT.size
    return np.frombuffer(packed, "<u8", count, start), Batch.unpack(packed[start + 8 * count :])


def packed_places(places: Places) -> bytes:
    """Places in a batch of at most 65,536 items, packed."""
    return places.astype("<u2").tobytes()


def chosen_items(places: bytes, texts: bytes) -> list[Item]:
    """The items at packed `places` of a batch packed without fingerprints."""
    urls, payloads = msgpack.unpackb(texts, unicode_errors="surrogatepass")
    batch = Batch(np.zeros(len(urls), np.uint64), urls, payloads)
    return batch.at(np.frombuffer(places, "<u2").astype(np.int64)).items()


def _split(items: Sequence[Item]) -> tuple[list[str], list[bytes | None]]:
    urls = [item.url if isinstance(item, Entry) else item for item in items]
    return urls, [item.payload if isinstance(item, Entry) else None for item in items]
