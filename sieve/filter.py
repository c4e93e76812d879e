"""A Bloom filter of 64-bit words that says "certainly new"; it never decides that a URL is dropped.

Each key sets four bits of one word (Putze, Sanders, Singler 2007, with a block of one word), so that a question costs
one memory access. The word comes from the key's high bits: a sorted batch walks the filter in order. The error is that
of a plain filter of about half the bits: at 20 bits a key and full, 0.3 % of new keys wait for an exact answer.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sieve.fingerprint import Fingerprints
from sieve.items import Mask

Places = npt.NDArray[np.int64]

BITS_PER_KEY = 20
_ONE, _SIX_BITS, _HALF = np.uint64(1), np.uint64(63), np.uint64(32)
_SHIFTS = (np.uint64(6), np.uint64(12), np.uint64(18))


class WordFilter:
    """Filter for `capacity` keys: memory is ``capacity * BITS_PER_KEY / 8`` bytes, touched as it fills."""

    def __init__(self, capacity: int) -> None:
        self.capacity = max(capacity, 1)
        self.count = 0
        self._words = np.zeros(max(1, self.capacity * BITS_PER_KEY // 64), np.uint64)
        self._size = np.uint64(len(self._words))

    def take(self, keys: Fingerprints) -> Mask:
        """Add distinct keys; which of them may have been there before."""
        places, bits = self._places(keys), _bits(keys)
        maybe: Mask = (self._words[places] & bits) == bits
        new = ~maybe
        self.count += int(new.sum())
        self._set(places[new], bits[new])
        return maybe

    def add(self, keys: Fingerprints) -> None:
        """Add keys, which may repeat."""
        self.count += len(keys)
        self._set(self._places(keys), _bits(keys))

    def _set(self, places: Places, bits: Fingerprints) -> None:
        while len(places):
            # Of keys that share a word only the last is written: the others go again.
            self._words[places] |= bits
            lost = (self._words[places] & bits) != bits
            places, bits = places[lost], bits[lost]

    def add_sorted(self, keys: Fingerprints) -> None:
        """Add keys in ascending order; three times as fast."""
        if len(keys):
            self.count += len(keys)
            places = self._places(keys)
            starts = np.flatnonzero(np.concatenate([[True], places[1:] != places[:-1]]))
            self._words[places[starts]] |= np.bitwise_or.reduceat(_bits(keys), starts)

    def fill(self) -> float:
        """Share of bits that are set; O(size)."""
        return float(np.bitwise_count(self._words).sum()) / (64 * len(self._words))

    def bytes_used(self) -> int:
        """Size of the bit array."""
        return int(self._words.nbytes)

    def _places(self, keys: Fingerprints) -> Places:
        return (((keys >> _HALF) * self._size) >> _HALF).view(np.int64)


def _bits(keys: Fingerprints) -> Fingerprints:
    bits = _ONE << (keys & _SIX_BITS)
    for shift in _SHIFTS:
        bits |= _ONE << ((keys >> shift) & _SIX_BITS)
    return bits


class RecentTable:
    """The fingerprints met lately, exactly: a hit was certainly added, a miss says nothing. Most repeats are recent."""

    def __init__(self, bits: int = 20) -> None:
        self._table = np.zeros(1 << bits, np.uint64)
        self._first = np.zeros(1 << bits, np.int32)
        self._mask = np.uint64((1 << bits) - 1)
        # An empty slot holds 0, which only the key 0 could be taken for, and that looks at slot 0.
        self._table[0] = 1

    def screen(self, keys: Fingerprints) -> Places:
        """Places of the keys that are not in the table, the first of equal ones only, ascending; they are added."""
        slots = (keys & self._mask).view(np.int64)
        places = np.flatnonzero(self._table[slots] != keys)
        if not len(places):
            return places
        keys, slots = keys[places], slots[places]
        self._table[slots] = keys
        # Where several keys want a slot the first one's place stands in it, because it is written last.
        self._first[slots[::-1]] = np.arange(len(slots) - 1, -1, -1, dtype=np.int32)
        first = self._first[slots]
        repeats = first != np.arange(len(slots), dtype=np.int32)
        if not repeats.any():
            return places
        if (keys[first[repeats]] != keys[repeats]).any():
            _, chosen = first_places(keys)
            chosen.sort()
            return places[chosen]
        left: Places = places[~repeats]
        return left

    def clear(self) -> None:
        """Forget all."""
        self._table.fill(0)
        self._table[0] = 1


def first_places(keys: Fingerprints) -> tuple[Fingerprints, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """The distinct keys, sorted, and the place where each comes first. 10 to 20 ns a key."""
    count = len(keys)
    width = np.uint64(max(count - 1, 1).bit_length())
    low = np.uint64((1 << int(width)) - 1)
    # Sorting packed words (high bits of the key, place) is several times faster than a stable argsort.
    packed = (keys & ~low) | np.arange(count, dtype=np.uint64)
    packed.sort()
    places = (packed & low).view(np.int64)
    ordered = keys[places]
    same_high = (packed[1:] ^ packed[:-1]) <= low
    if np.any(same_high & (ordered[1:] != ordered[:-1])):
        places = np.argsort(keys, kind="stable")
        ordered = keys[places]
    fresh = np.ones(count, np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=fresh[1:])
    return ordered[fresh], places[fresh]
