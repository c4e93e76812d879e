"""A Bloom filter of 64-bit words that says "certainly new"; it never decides that a URL is dropped.

Each key sets four bits of one word (Putze, Sanders, Singler 2007, with a block of one word), so that a question costs
one memory access. The word comes from the key's high bits: a sorted batch walks the filter in order. The error is that
of a plain filter of about half the bits: at 20 bits a key and full, 0.3 % of new keys wait for an exact answer.
"""

from __future__ import annotations

import numpy as np

from sieve.fingerprint import Fingerprints, Mask, Places

BITS_PER_KEY = 20
_ONE, _SIX_BITS, _HALF, _SIX, _TWELVE = map(np.uint64, (1, 63, 32, 6, 12))
_TWELVE_BITS = np.uint64(4095)
# The word with the two bits that twelve bits of a key choose.
_TWO_BITS = (_ONE << (np.arange(4096, dtype=np.uint64) & _SIX_BITS)) | (
    _ONE << (np.arange(4096, dtype=np.uint64) >> _SIX)
)


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
        new = (~maybe).nonzero()[0]
        self.count += len(new)
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
            lost = ((self._words[places] & bits) != bits).nonzero()[0]
            places, bits = places[lost], bits[lost]

    def add_sorted(self, keys: Fingerprints) -> None:
        """Add keys in ascending order; three times as fast."""
        if len(keys):
            self.count += len(keys)
            places = self._places(keys)
            starts = np.flatnonzero(np.concatenate([[True], places[1:] != places[:-1]]))
            self._words[places[starts]] |= np.bitwise_or.reduceat(_bits(keys), starts)

    def _places(self, keys: Fingerprints) -> Places:
        return (((keys >> _HALF) * self._size) >> _HALF).view(np.int64)


def _bits(keys: Fingerprints) -> Fingerprints:
    low, high = keys & _TWELVE_BITS, (keys >> _TWELVE) & _TWELVE_BITS
    both: Fingerprints = np.bitwise_or(_TWO_BITS[low.view(np.int64)], _TWO_BITS[high.view(np.int64)])
    return both


class RecentTable:
    """The fingerprints met lately, exactly: a hit was certainly added, a miss says nothing. Most repeats are recent."""

    def __init__(self, bits: int = 20) -> None:
        self._table = np.zeros(1 << bits, np.uint64)
        self._mask = np.uint64((1 << bits) - 1)
        # An empty slot holds 0, which only the key 0 could be taken for, and that looks at slot 0.
        self._table[0] = 1

    def screen(self, keys: Fingerprints) -> Places:
        """Places of the keys that are not in the table, the first of equal ones only, ascending; they are added."""
        places = self.unmet(keys)
        repeats = _repeats(keys[places])
        if len(repeats):
            kept = np.ones(len(places), np.bool_)
            kept[repeats] = False
            places = places[kept]
        return places

    def unmet(self, keys: Fingerprints) -> Places:
        """Places of the keys that are not in the table, all of equal ones, ascending; they are added."""
        slots = (keys & self._mask).view(np.int64)
        places = np.flatnonzero(self._table[slots] != keys)
        self._table[slots[places]] = keys[places]
        return places

    def clear(self) -> None:
        """Forget all."""
        self._table.fill(0)
        self._table[0] = 1


def first_places(keys: Fingerprints) -> tuple[Fingerprints, Places]:
    """The distinct keys, sorted, and the place where each comes first. 10 to 20 ns a key."""
    packed, low = _packed(keys)
    places = (packed & low).view(np.int64)
    ordered = keys[places]
    same_high = (packed[1:] ^ packed[:-1]) <= low
    if np.any(same_high & (ordered[1:] != ordered[:-1])):
        places = np.argsort(keys, kind="stable")
        ordered = keys[places]
    fresh = np.ones(len(keys), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=fresh[1:])
    return ordered[fresh], places[fresh]


def _repeats(keys: Fingerprints) -> Places:
    """Places of the keys that were there before, in no order; cheapest when there are few."""
    packed, low = _packed(keys)
    same_high = ((packed[1:] ^ packed[:-1]) <= low).nonzero()[0]
    if not len(same_high):
        return same_high
    places = (packed & low).view(np.int64)
    later = places[same_high + 1]
    if (keys[places[same_high]] != keys[later]).any():
        return np.delete(np.arange(len(keys)), first_places(keys)[1])
    return later


def _packed(keys: Fingerprints) -> tuple[Fingerprints, np.uint64]:
    """High bits of the keys and their places in one word each, sorted; and the mask of the places.

    Sorting such words is several times faster than a stable argsort.
    """
    low = np.uint64((1 << max(len(keys) - 1, 1).bit_length()) - 1)
    packed = (keys & ~low) | np.arange(len(keys), dtype=np.uint64)
    packed.sort()
    return packed, low
