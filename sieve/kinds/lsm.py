"""``lsm:`` a log-structured merge tree (RocksDB): exact, constant memory, admits at once, slows down as it grows.

The queue is written first, with the fingerprints, then the tree with the place of the queue's end in one batch; opening
puts into the tree what the queue has beyond that place. So a URL is in both or, for a moment, only in the queue.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rocksdict import BlockBasedOptions, Cache, Options, Rdict, WriteBatch, WriteOptions

from sieve.disk.files import Place, Step, no_step
from sieve.errors import StoreError
from sieve.fingerprint import Fingerprints
from sieve.kinds.local import LocalSieve
from sieve.queues.items import Batch, Fingerprinter
from sieve.queues.ready import ReadyQueue
from sieve.sets.filter import first_places
from sieve.spec import Spec

_STORED, _SEED = b"stored", b"seed"
_PLACE = struct.Struct("<QQ")


@dataclass(frozen=True, slots=True)
class LsmConfig:
    """Settings: `durable`: also safe against a power cut."""

    durable: bool = True
    already_canonical: bool = False
    seed: int = 0


class LsmSieve(LocalSieve):
    """See the module."""

    def __init__(self, folder: Path, config: LsmConfig, step: Step = no_step) -> None:
        super().__init__(folder, step)
        self._config = config
        self._opened()

    @classmethod
    def open(cls, spec: Spec) -> LsmSieve:
        """From ``lsm:DIR?sync=&canonical=&seed=``."""
        spec.known({"canonical", "sync", "seed"})
        config = LsmConfig(spec.flag("sync", True), spec.flag("canonical"), spec.whole("seed", 0))
        return cls(Path(spec.folder()), config)

    def _open(self) -> None:
        self._db = Rdict(str(self.folder / "tree"), _options())
        self._db.set_write_options(_write_options(self._config.durable))
        seed = self._db.get(_SEED)
        if seed is None:
            self._db[_SEED] = str(self._config.seed).encode()
        elif int(seed) != self._config.seed:
            self._db.close()
            raise StoreError(f"{self.folder} was made with seed {int(seed)}, not {self._config.seed}")
        self._fingerprinter = Fingerprinter(self._config.seed, self._config.already_canonical)
        self.ready = ReadyQueue(self.folder, durable=self._config.durable)
        for keys in self.ready.recover(self._stored()):
            self._put(keys)
        self._next = self.ready.next_number

    def _take(self, batch: Batch) -> None:
        _, places = first_places(batch.keys)
        places.sort()
        found: Any = self._db.get(_texts(batch.keys[places]))  # type: ignore[arg-type]
        new = places[[value is None for value in found]]
        if len(new):
            numbers = new.view(np.uint64) + np.uint64(self._next)
            self._next += len(batch)
            fresh = batch.at(new)
            with self._all_or_closed():
                self.ready.append(numbers, fresh)
                self._step("ready")
                self._put(fresh.keys)
                self._step("stored")

    def _put(self, keys: Fingerprints) -> None:
        changes = WriteBatch(raw_mode=True)
        for text in _texts(keys):
            changes.put(text, b"")
        changes.put(_STORED, _PLACE.pack(*self.ready.end))
        if self._config.durable:
            self.ready.sync()
        self._db.write(changes)

    def _stored(self) -> Place:
        place = self._db.get(_STORED)
        return Place(0, 0) if place is None else Place(*_PLACE.unpack(place))

    def _complete(self) -> None:
        """Each call has."""

    def _let_go(self) -> None:
        self._db.close()


def _texts(keys: Fingerprints) -> list[bytes]:
    packed = keys.astype(">u8").tobytes()
    return [packed[start : start + 8] for start in range(0, len(packed), 8)]


def _options() -> Options:
    options = Options(raw_mode=True)
    options.create_if_missing(True)
    options.set_write_buffer_size(64 << 20)
    blocks = BlockBasedOptions()
    blocks.set_block_cache(Cache(64 << 20))
    blocks.set_bloom_filter(10, False)
    options.set_block_based_table_factory(blocks)
    return options


def _write_options(durable: bool) -> WriteOptions:
    options = WriteOptions()
    options.sync = durable
    return options
