"""A set of 64-bit keys in memory, asked and added to in batches: some 20 ns a key.

Open addressing with linear probing (Knuth, The Art of Computer Programming 3, 6.4), all keys of a batch one step at a
time: the memory accesses of a step overlap instead of waiting for one another. At most half of the slots are taken:
16 to 32 bytes a key.
"""

from __future__ import annotations

import numpy as np

from sieve.fingerprint import Fingerprints, Mask, Places

_LEAST_ROOM = 1 << 11


def _slots_for(count: int) -> int:
    return 1 << (2 * count - 1).bit_length()


class KeyTable:
    """No key may be 0, which marks a free slot; keys are hashes, whose low bits are their first slot. ``room``: for so
    many at first."""

    def __init__(self, room: int = 0) -> None:
        self._slots = np.zeros(_slots_for(max(room, _LEAST_ROOM)), np.uint64)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def contains(self, keys: Fingerprints) -> Mask:
        """Which of these are here."""
        places = self._first(keys)
        there = self._slots[places]
        found: Mask = there == keys
        left = np.flatnonzero(~found & (there != 0))
        places = places[left]
        while len(left):
            places = self._next(places)
            there, sought = self._slots[places], keys[left]
            found[left] = there == sought
            on = (there != sought) & (there != 0)
            left, places = left[on], places[on]
        return found

    def add(self, keys: Fingerprints) -> None:
        """Add distinct keys that are not here."""
        self._count += len(keys)
        if 2 * self._count > len(self._slots):
            keys = np.concatenate([self.keys(), keys])
            self._slots = np.zeros(_slots_for(self._count), np.uint64)
        slots, places = self._slots, self._first(keys)
        while len(keys):
            free = slots[places] == 0
            slots[places[free]] = keys[free]  # where several want a slot the last has it
            left = slots[places] != keys
            keys, places = keys[left], self._next(places[left])

    def keys(self) -> Fingerprints:
        """All of them, in no order."""
        taken: Fingerprints = self._slots[self._slots != 0]
        return taken

    def _first(self, keys: Fingerprints) -> Places:
        return (keys & np.uint64(len(self._slots) - 1)).view(np.int64)

    def _next(self, places: Places) -> Places:
        return (places + 1) & (len(self._slots) - 1)
