"""``bloom:`` a Bloom filter alone: constant memory, admits at once, approximate by nature.

A URL may be dropped as known though it is new, with the chance that :meth:`BloomSieve.expected_error` gives; none comes
out twice. Size from capacity and error: m = 1.44 d n bits for d = log2(1/error) hash functions; beyond its capacity the
error rises and nothing else changes. Plain: anywhere in the filter, d cache misses a URL; the d hash functions are
a*i + b of two base hashes (Kirsch and Mitzenmacher 2006). Blocked (the default): within one block of 512 bits, one
cache miss (Putze, Sanders, Singler 2007); blocks fill unevenly, so more bits are taken for the same error. In a block
a*i + b would not do: the rows of many a meet few bits, and at 10^-6 the error would be 150 times as large (measured);
so each hash function takes nine bits of its own of the mixed fingerprint.

Without a folder the queue is in a temporary one. With a folder the filter is saved when it has taken an eighth of its
capacity and at closing; what came after is read from the queue.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sieve.disk.files import Place, Step, load, no_step, replace
from sieve.disk.scratch import Scratch
from sieve.errors import StoreError
from sieve.fingerprint import Fingerprints, Mask, Places
from sieve.kinds.local import LocalSieve
from sieve.queues.items import Batch, Fingerprinter
from sieve.queues.ready import ReadyQueue
from sieve.sets.filter import first_places
from sieve.spec import Spec

_BLOCK_BITS = 512
_U = np.uint64
_MIX = _U(0x9E3779B97F4A7C15)
# Nine bits choose a bit of a block: a mixed word is good for seven.
_SLICES = 7


@dataclass(frozen=True, slots=True)
class BloomConfig:
    """Settings: `capacity` keys at most `error` false positives; `blocked` or plain."""

    capacity: int = 10_000_000
    error: float = 1e-6
    blocked: bool = True
    durable: bool = True
    already_canonical: bool = False
    seed: int = 0


def bits_needed(config: BloomConfig) -> tuple[int, int]:
    """Bits and hash functions for a capacity and an error."""
    hashes = max(1, math.ceil(-math.log2(config.error)))
    bits = math.ceil(config.capacity * hashes / math.log(2))
    if config.blocked:
        while blocked_error(config.capacity, bits, hashes) > config.error:
            bits = math.ceil(bits * 1.05)
    return max(_BLOCK_BITS, -(-bits // _BLOCK_BITS) * _BLOCK_BITS), hashes


def blocked_error(keys: int, bits: int, hashes: int) -> float:
    """Expected error of a blocked filter: the mean over the Poisson-distributed number of keys in a block."""
    mean = keys * _BLOCK_BITS / bits
    total, weight = 0.0, math.exp(-mean)
    for count in range(int(mean + 12 * math.sqrt(mean) + 20)):
        total += weight * (1 - (1 - 1 / _BLOCK_BITS) ** (hashes * count)) ** hashes
        weight *= mean / (count + 1)
    return total


class BloomFilter:
    """The filter: `bits` bits, `hashes` functions."""

    def __init__(self, bits: int, hashes: int, *, blocked: bool) -> None:
        self.words = np.zeros(bits // 64, np.uint64)
        self.count = 0
        self._bits = bits
        self._hashes = hashes
        self._blocked = blocked

    def add_new(self, keys: Fingerprints) -> Mask:
        """Add distinct keys; which of them the filter did not have."""
        known = np.ones(len(keys), np.bool_)
        places = list(self._places(keys))
        for word, bit in places:
            known &= (self.words[word] & bit) != 0
        for word, bit in places:
            np.bitwise_or.at(self.words, word, bit)
        self.count += len(keys) - int(known.sum())
        return ~known

    def has(self, keys: Fingerprints) -> Mask:
        """Which keys the filter has, or seems to."""
        known = np.ones(len(keys), np.bool_)
        for word, bit in self._places(keys):
            known &= (self.words[word] & bit) != 0
        return known

    def fill(self) -> float:
        """Share of bits set."""
        return float(np.bitwise_count(self.words).sum()) / self._bits

    def expected_error(self) -> float:
        """Chance that a new key now seems known, from the bits that are set."""
        set_bits = np.bitwise_count(self.words)
        if not self._blocked:
            return self.fill() ** self._hashes
        blocks = set_bits.reshape(-1, _BLOCK_BITS // 64).sum(axis=1) / _BLOCK_BITS
        return float((blocks**self._hashes).mean())

    def _places(self, keys: Fingerprints) -> Iterator[tuple[Places, Fingerprints]]:
        """Word number and bit of each key, one hash function after the other."""
        places = self._in_blocks(keys) if self._blocked else self._anywhere(keys)
        for place in places:
            yield (place >> _U(6)).view(np.int64), _U(1) << (place & _U(63))

    def _anywhere(self, keys: Fingerprints) -> Iterator[Fingerprints]:
        step = (keys ^ (keys >> _U(29))) * _MIX | _U(1)
        return ((step * _U(i) + keys) % _U(self._bits) for i in range(self._hashes))

    def _in_blocks(self, keys: Fingerprints) -> Iterator[Fingerprints]:
        start = ((keys >> _U(32)) * _U(self._bits // _BLOCK_BITS) >> _U(32)) * _U(_BLOCK_BITS)
        for i in range(self._hashes):
            if i % _SLICES == 0:
                word = _mixed(keys + _U(int(_MIX) * (i + 1) % (1 << 64)))
            yield start + ((word >> _U(9 * (i % _SLICES))) & _U(_BLOCK_BITS - 1))


def _mixed(words: Fingerprints) -> Fingerprints:
    """SplitMix64's finaliser."""
    words = (words ^ (words >> _U(30))) * _U(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> _U(27))) * _U(0x94D049BB133111EB)
    mixed: Fingerprints = words ^ (words >> _U(31))
    return mixed


class BloomSieve(LocalSieve):
    """See the module."""

    def __init__(self, folder: Path | None, config: BloomConfig, step: Step = no_step) -> None:
        self._scratch: Scratch | None = None
        if folder is None:
            self._scratch = Scratch()
            folder = self._scratch.folder
        super().__init__(folder, step)
        self._config = config
        self._opened()

    @classmethod
    def open(cls, spec: Spec) -> BloomSieve:
        """From ``bloom:DIR?capacity=&error=&blocked=&sync=&canonical=&seed=``; DIR may be absent."""
        spec.known({"capacity", "error", "blocked", "sync", "canonical", "seed"})
        usual = BloomConfig()
        config = BloomConfig(
            spec.whole("capacity", usual.capacity, 1),
            min(0.5, spec.real("error", usual.error, 1e-15)),
            spec.flag("blocked", True),
            spec.flag("sync", True),
            spec.flag("canonical"),
            spec.whole("seed", 0),
        )
        return cls(Path(spec.folder()) if spec.place else None, config)

    def expected_error(self) -> float:
        """Chance that a new URL is now dropped."""
        return self._filter.expected_error()

    def _open(self) -> None:
        config = self._config
        self._filter = BloomFilter(*bits_needed(config), blocked=config.blocked)
        self._saved = Place(0, 0)
        self._saved_count = 0
        self._read_filter()
        self._fingerprinter = Fingerprinter(config.seed, config.already_canonical)
        self.ready = ReadyQueue(self.folder, durable=config.durable)
        for keys in self.ready.recover(self._saved):
            self._filter.add_new(keys)
        self._next = self.ready.next_number

    def _read_filter(self) -> None:
        saved = load(self.folder / "filter")
        if saved is None:
            return
        if saved["made"] != self._made():
            raise StoreError(f"{self.folder} was made with {saved['made']}, not {self._made()}")
        self._filter.words = np.frombuffer(bytearray(saved["words"]), "<u8")
        self._filter.count = self._saved_count = int(saved["count"])
        self._saved = Place(*saved["stored"])

    def _made(self) -> list[object]:
        config = self._config
        return [config.capacity, config.error, "sliced" if config.blocked else "plain", config.seed]

    def _take(self, batch: Batch) -> None:
        _, places = first_places(batch.keys)
        places.sort()
        new = places[~self._filter.has(batch.keys[places])]
        if len(new):
            numbers = new.view(np.uint64) + np.uint64(self._next)
            self._next += len(batch)
            fresh = batch.at(new)
            self.ready.append(numbers, fresh)
            self._step("ready")
            self._filter.add_new(fresh.keys)
            if self._filter.count - self._saved_count > self._config.capacity // 8 + 1:
                self._save()

    def _save(self) -> None:
        self.ready.sync()
        content = {
            "made": self._made(),
            "words": self._filter.words.tobytes(),
            "count": self._filter.count,
            "stored": list(self.ready.end),
        }
        self._step("saving")
        replace(self.folder / "filter", content, durable=self._config.durable)
        self._step("saved")
        self._saved, self._saved_count = self.ready.end, self._filter.count

    def _stored(self) -> Place:
        return self._saved

    def _complete(self) -> None:
        if self._scratch is None:
            self._save()
            self.ready.tidy(self._next)

    def _let_go(self) -> None:
        if self._scratch is not None:
            self._scratch.remove()
