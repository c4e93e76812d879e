"""URLs that are perhaps repeats, waiting for the exact answer of a flush: on disk in order of arrival, keys in memory.

Guarantees: what :meth:`WaitingRoom.append` wrote survives kill -9. A sealed part is one segment of the log; deleting it
is the commit of its flush. Memory: 16 bytes a waiting URL.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np

from sieve.disk.files import Log, Place
from sieve.fingerprint import Fingerprints, Places
from sieve.queues.items import Batch, Numbers, pack_numbered, unpack_numbered

# One segment a seal: never rolled by size.
_NO_LIMIT = 1 << 62


@dataclass(slots=True)
class Waiting:
    """Keys and arrival numbers of waiting URLs by record, and where the records are."""

    keys: list[Fingerprints] = field(default_factory=list)
    numbers: list[Numbers] = field(default_factory=list)
    records: list[Place] = field(default_factory=list)
    count: int = 0

    def add(self, place: Place, numbers: Numbers, keys: Fingerprints) -> None:
        """Note a record."""
        self.keys.append(keys)
        self.numbers.append(numbers)
        self.records.append(place)
        self.count += len(keys)


class WaitingRoom:
    """See the module; opening takes up what waited when the last process ended."""

    def __init__(self, folder: Path, *, durable: bool = True) -> None:
        self._log = Log(folder, "waiting", _NO_LIMIT, durable=durable)
        self.now = Waiting()
        for record in self._log.records(Place(self._log.segments()[0], 0)):
            numbers, batch = unpack_numbered(record.body)
            self.now.add(record.place, numbers, batch.keys)

    def append(self, numbers: Numbers, batch: Batch) -> None:
        """Add URLs in order of arrival."""
        self.now.add(self._log.append(pack_numbered(numbers, batch)), numbers, batch.keys)

    def seal(self) -> Waiting:
        """Take all that waits; new ones wait apart. One sealed part at a time."""
        self._log.roll()
        sealed, self.now = self.now, Waiting()
        return sealed

    def texts(self, sealed: Waiting, places: Places) -> Iterator[tuple[Numbers, Batch]]:
        """The URLs at ascending `places` of a sealed part, by record."""
        starts = np.cumsum([0, *map(len, sealed.keys)])
        ends = np.searchsorted(places, starts).tolist()
        for number, (first, end) in enumerate(pairwise(ends)):
            if first < end:
                _, batch = unpack_numbered(self._log.read(sealed.records[number]).body)
                chosen = places[first:end] - starts[number]
                yield sealed.numbers[number][chosen], batch.at(chosen)

    def drop(self, sealed: Waiting) -> None:
        """A sealed part is decided."""
        self._log.drop_before(sealed.records[-1].segment + 1)  # with those of which nothing could be read

    def close(self) -> None:
        """Make durable and close."""
        self._log.close()
