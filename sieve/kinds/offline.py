"""``offline:`` breadth first with constant memory and no data structure: three files, external sort and merge.

Z: the fingerprints of known URLs, sorted (one run, rewritten at each flush). F: URLs to visit, in order of discovery.
A: URLs met lately, bounded by `buffer`. When A is full, or F is empty and something is asked for, A is sorted with each
URL's ordinal position and merged with Z; what was not in Z goes to F in order of position. Source: lecture notes
section 2. Exact; nothing comes out before a flush; a flush costs the size of Z.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sieve.disk.files import Place, Step, no_step
from sieve.errors import StoreError
from sieve.fingerprint import Fingerprints
from sieve.kinds.local import LocalSieve
from sieve.queues.items import Batch, Fingerprinter
from sieve.queues.ready import ReadyQueue
from sieve.queues.waiting import WaitingRoom
from sieve.sets.filter import first_places
from sieve.sets.jobs import Job
from sieve.sets.seen import Seen
from sieve.sets.store import RunStore, distinct
from sieve.spec import Spec


@dataclass(frozen=True, slots=True)
class OfflineConfig:
    """Settings: `buffer` bounds A, in URLs; memory is about 40 bytes for each."""

    buffer: int = 1 << 20
    durable: bool = True
    already_canonical: bool = False
    seed: int = 0


class OfflineSieve(LocalSieve):
    """See the module."""

    def __init__(self, folder: Path, config: OfflineConfig, step: Step = no_step) -> None:
        super().__init__(folder, step)
        self._config = config
        self._opened()

    @classmethod
    def open(cls, spec: Spec) -> OfflineSieve:
        """From ``offline:DIR?buffer=&sync=&canonical=&seed=``."""
        spec.known({"buffer", "sync", "canonical", "seed"})
        config = OfflineConfig(
            spec.whole("buffer", OfflineConfig().buffer, 1),
            spec.flag("sync", True),
            spec.flag("canonical"),
            spec.whole("seed", 0),
        )
        return cls(Path(spec.folder()), config)

    def _open(self) -> None:
        self._z = RunStore(self.folder, durable=self._config.durable, step=self._step)
        seed = self._z.facts.get("seed", self._config.seed)
        if seed != self._config.seed:
            raise StoreError(f"{self.folder} was made with seed {seed}, not {self._config.seed}")
        self._z.sweep()
        self._fingerprinter = Fingerprinter(seed, self._config.already_canonical)
        self._a = WaitingRoom(self.folder, durable=self._config.durable)
        self.ready = ReadyQueue(self.folder, durable=self._config.durable)
        admitted = [*self.ready.recover(self._stored()), np.zeros(0, np.uint64)]
        numbers = [int(numbers[-1]) + 1 for numbers in self._a.now.numbers]
        self._next = max(self.ready.next_number, *numbers, 0)
        self._store(distinct(np.sort(np.concatenate(admitted))))

    def pending(self) -> int:
        """URLs in A."""
        return self._a.now.count

    def flush(self) -> None:
        """Merge A with Z."""
        super().flush()
        if not self._a.now.count:
            return
        with self._all_or_closed():
            self._merge()

    def _merge(self) -> None:
        sealed = self._a.seal()
        keys, places = first_places(np.concatenate(sealed.keys))
        unknown = Seen.unknown(self._z.runs, keys)
        for numbers, batch in self._a.texts(sealed, np.sort(places[unknown])):
            self.ready.append(numbers, batch)
            self._step("late")
        self.ready.sync()
        self._store(keys[unknown])
        self._a.drop(sealed)
        self._step("flushed")

    def _take(self, batch: Batch) -> None:
        numbers = np.arange(self._next, self._next + len(batch), dtype=np.uint64)
        self._a.append(numbers, batch)
        self._next += len(batch)
        self._step("waiting")
        if self._a.now.count >= self._config.buffer:
            self.flush()

    def _store(self, keys: Fingerprints) -> None:
        """Z := Z and `keys`, which end where the queue ends."""
        if len(keys):
            facts = {"stored": list(self.ready.end), "seed": self._config.seed}
            Job(self._z.write(keys, facts)).finish()
        if len(self._z.runs) > 1:
            Job(self._z.merge(self._z.runs)).finish()

    def _stored(self) -> Place:
        return Place(*self._z.facts.get("stored", (0, 0)))

    def _complete(self) -> None:
        self.ready.tidy(self._next)

    def _let_go(self) -> None:
        self._z.close()
        self._a.close()
