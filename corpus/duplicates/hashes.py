"""A set of 64-bit hashes in bounded memory, that forgets the oldest when it is full.

Memory: at most ``limit_bytes`` (8 bytes a slot, tables filled to two thirds, two generations). When the younger
generation is full it becomes the elder, and the former elder is forgotten: a hash is remembered for at least the
next ``capacity`` new ones. Two different texts count as the same with a chance of n² / 2^65 (n = 10 million: 3e-6).
"""

from __future__ import annotations

from array import array

import xxhash

_FIRST_SLOTS = 1 << 12
_LEAST_BYTES = 4 * 8 * _FIRST_SLOTS


def text_hash(text: str) -> int:
    """XXH3-64 of the UTF-8 bytes; never 0."""
    return xxhash.xxh3_64_intdigest(text.encode("utf-8", "surrogatepass")) or 1


class _Table:
    """Open addressing, linear probing; 0 marks a free slot."""

    def __init__(self, most_slots: int) -> None:
        self._most = most_slots
        self._slots = array("Q", bytes(8 * min(_FIRST_SLOTS, most_slots)))
        self._mask = len(self._slots) - 1
        self._count = 0

    @property
    def full(self) -> bool:
        return self._count * 3 >= self._most * 2

    def place(self, value: int) -> int:
        """The slot that holds ``value``, or the free one where it belongs."""
        slots, mask = self._slots, self._mask
        slot = (value ^ (value >> 32)) & mask
        while slots[slot] not in (0, value):
            slot = (slot + 1) & mask
        return slot

    def __contains__(self, value: int) -> bool:
        return self._slots[self.place(value)] == value

    def add(self, value: int) -> None:
        if self._count * 3 >= len(self._slots) * 2 and len(self._slots) < self._most:
            self._grow()
        self._slots[self.place(value)] = value
        self._count += 1

    def _grow(self) -> None:
        old = self._slots
        self._slots = array("Q", bytes(16 * len(old)))
        self._mask = len(self._slots) - 1
        for value in old:
            if value:
                self._slots[self.place(value)] = value


class HashSet:
    """``limit_bytes`` is rounded down to a power of two, at least 128 KiB; growing one table needs half of it again
    for a moment."""

    def __init__(self, limit_bytes: int) -> None:
        self._table_slots = 1 << ((max(limit_bytes, _LEAST_BYTES) // 16).bit_length() - 1)
        self._young = _Table(self._table_slots)
        self._elder: _Table | None = None
        self.forgotten = False

    @property
    def capacity(self) -> int:
        """How many hashes are surely remembered."""
        return self._table_slots * 2 // 3

    def add(self, value: int) -> bool:
        """Remember ``value``; was it new?"""
        if value in self:
            return False
        if self._young.full:
            self.forgotten = self.forgotten or self._elder is not None
            self._elder, self._young = self._young, _Table(self._table_slots)
        self._young.add(value)
        return True

    def __contains__(self, value: int) -> bool:
        return value in self._young or (self._elder is not None and value in self._elder)
