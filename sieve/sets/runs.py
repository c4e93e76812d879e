"""Runs: immutable files of sorted distinct fingerprints, 8 bytes each, memory-mapped.

File: 64 bytes of header (magic, count, bits of the sparse index, keys a block, checksum of the header), the keys as
little-endian 64-bit integers, then one 64-bit XXH3 for each block of keys, and the XXH3 of those. So a flipped bit is
known to lie in one block, and the other blocks are sound. The sparse index (where the keys of each prefix start) is
made while a run is written or verified, and kept in memory: 0.25 byte a key.
"""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np
from xxhash import xxh3_64_digest, xxh3_64_intdigest

from sieve.errors import DamagedError
from sieve.fingerprint import Fingerprints, Mask, Places

_HEAD = struct.Struct("<8sQIIQ")
_MAGIC = b"ULWRUN\x01\n"
HEAD_BYTES = 64
BLOCK_KEYS = 8192
_KEYS_A_BUCKET = 32
_WIDTH = 8


def index_bits(count: int) -> int:
    """Bits of the prefixes in the sparse index of a run of about `count` keys."""
    return max(1, (max(count, 1) // _KEYS_A_BUCKET).bit_length())


class _Index:
    """Counts keys by prefix as they come in order."""

    def __init__(self, bits: int) -> None:
        self._shift = np.uint64(64 - bits)
        self._starts = np.zeros((1 << bits) + 1, np.int64)

    def add(self, keys: Fingerprints) -> None:
        if len(keys):
            prefixes = (keys >> self._shift).view(np.int64)
            first, last = int(prefixes[0]), int(prefixes[-1])
            self._starts[first + 1 : last + 2] += np.bincount(prefixes - first, minlength=last - first + 1)

    def starts(self) -> Places:
        np.cumsum(self._starts, out=self._starts)
        return self._starts


class Run:
    """An open run. `keys` is the mapped array, in ascending order."""

    def __init__(self, path: Path, keys: Fingerprints, starts: Places, bits: int) -> None:
        self.path = path
        self.keys = keys
        self._starts = starts
        self._shift = np.uint64(64 - bits)
        self._steps = int(np.diff(starts).max(initial=0))

    def __len__(self) -> int:
        return len(self.keys)

    @classmethod
    def open(cls, path: Path) -> Run:
        """Open and verify every byte; :class:`DamagedError` names the first damaged place."""
        keys, bits = _mapped(path)
        index = _Index(bits)
        for number, block in _blocks(path, keys):
            if block is None:
                place = f"block {number} (keys {number * BLOCK_KEYS} and on)"
                raise DamagedError(str(path), f"checksum of {place} is wrong")
            index.add(block)
        return cls(path, keys, index.starts(), bits)

    def contains(self, keys: Fingerprints) -> Mask:
        """Which of `keys` are in the run; 0.1 to 0.3 us each, less when they are sorted."""
        if not len(self.keys):
            return np.zeros(len(keys), np.bool_)
        prefixes = (keys >> self._shift).view(np.int64)
        places = self._starts[prefixes]
        left = self._steps
        last = len(self.keys) - 1
        # Halving all intervals at once: the memory accesses of a batch overlap instead of waiting for one another.
        while left > 1:
            half = left >> 1
            probes = np.minimum(places + (half - 1), last)
            places += (self.keys[probes] < keys) * half
            left -= half
        np.minimum(places, last, out=places)
        found: Mask = self.keys[places] == keys
        np.minimum(places + 1, last, out=places)
        found |= self.keys[places] == keys
        return found


def _mapped(path: Path) -> tuple[Fingerprints, int]:
    """The keys of a run, unverified, and its index bits."""
    size = path.stat().st_size
    if size < HEAD_BYTES:
        raise DamagedError(str(path), f"{size} bytes are less than a header")
    with path.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    magic, count, bits, block, check = _HEAD.unpack_from(mapped)
    wrong = magic != _MAGIC or block != BLOCK_KEYS or check != xxh3_64_intdigest(mapped[: _HEAD.size - 8])
    if wrong:
        raise DamagedError(str(path), "the header's checksum is wrong")
    expected = HEAD_BYTES + count * _WIDTH + (-(-count // BLOCK_KEYS) + 1) * 8
    if size != expected:
        raise DamagedError(str(path), f"{size} bytes where {count} keys take {expected}")
    return np.frombuffer(mapped, "<u8", count, HEAD_BYTES), bits


def _blocks(path: Path, keys: Fingerprints) -> Iterator[tuple[int, Fingerprints | None]]:
    """Block numbers and their keys, ``None`` for a damaged block."""
    blocks = -(-len(keys) // BLOCK_KEYS)
    with path.open("rb") as file:
        file.seek(HEAD_BYTES + len(keys) * _WIDTH)
        tail = file.read()
    sums = np.frombuffer(tail, "<u8", blocks)
    if xxh3_64_digest(tail[:-8]) != tail[-8:]:
        raise DamagedError(str(path), "the checksum of its checksums is wrong")
    for number in range(blocks):
        block = keys[number * BLOCK_KEYS : (number + 1) * BLOCK_KEYS]
        yield number, block if xxh3_64_intdigest(block.data) == int(sums[number]) else None


def salvage(path: Path) -> tuple[Fingerprints, int]:
    """The keys of the sound blocks and the number of keys lost; a run whose lengths are wrong loses its tail."""
    try:
        keys, _ = _mapped(path)
        blocks = list(_blocks(path, keys))
    except DamagedError:
        return _salvage_unchecked(path)
    sound = [block for _, block in blocks if block is not None]
    kept = np.concatenate([*sound, np.zeros(0, np.uint64)])
    return kept, len(keys) - len(kept)


def _salvage_unchecked(path: Path) -> tuple[Fingerprints, int]:
    """Without header or tail a run has no checksums: its longest ascending beginning is almost surely keys."""
    data = path.read_bytes()[HEAD_BYTES:]
    keys = np.frombuffer(data, "<u8", len(data) // _WIDTH)
    falls = np.flatnonzero(keys[1:] <= keys[:-1])
    kept = keys[: int(falls[0]) + 1] if len(falls) else keys
    return kept.astype(np.uint64), len(keys) - len(kept)


class RunWriter:
    """Writes a run piece by piece under `path` with ``.new`` added; `expected` is about how many keys will come."""

    def __init__(self, path: Path, expected: int) -> None:
        self.path = path
        self._new = path.with_name(path.name + ".new")
        self._file: IO[bytes] = self._new.open("wb")
        self._file.write(b"\0" * HEAD_BYTES)
        self._bits = index_bits(expected)
        self._index = _Index(self._bits)
        self._sums: list[bytes] = []
        self._rest = np.zeros(0, np.uint64)
        self._count = 0

    def append(self, keys: Fingerprints) -> None:
        """Add keys, ascending and above all before."""
        self._index.add(keys)
        self._count += len(keys)
        keys = np.concatenate([self._rest, keys])
        whole = len(keys) // BLOCK_KEYS * BLOCK_KEYS
        for start in range(0, whole, BLOCK_KEYS):
            self._sums.append(xxh3_64_digest(keys[start : start + BLOCK_KEYS].data)[::-1])
        self._file.write(keys[:whole].data)
        self._rest = keys[whole:].copy()

    def finish(self) -> None:
        """Write what is left, checksums and header; the data are then with the kernel, not yet on disk."""
        if len(self._rest):
            self._sums.append(xxh3_64_digest(self._rest.data)[::-1])
            self._file.write(self._rest.data)
        tail = b"".join(self._sums)
        self._file.write(tail + xxh3_64_digest(tail))
        head = _HEAD.pack(_MAGIC, self._count, self._bits, BLOCK_KEYS, 0)[:-8]
        self._file.seek(0)
        self._file.write(head + struct.pack("<Q", xxh3_64_intdigest(head)))
        self._file.flush()

    def sync(self) -> None:
        """Wait until the data are on disk; may run in another thread."""
        os.fsync(self._file.fileno())

    def publish(self) -> Run:
        """Give the file its name and open it without reading it again."""
        self._file.close()
        self._new.rename(self.path)
        keys, _ = _mapped(self.path)
        return Run(self.path, keys, self._index.starts(), self._bits)

    def discard(self) -> None:
        """Give up, whether or not it has its name."""
        try:
            self._file.close()  # which writes what is left, if there is room
        finally:
            self._new.unlink(missing_ok=True)
            self.path.unlink(missing_ok=True)
