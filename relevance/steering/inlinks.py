"""How often a URL was seen linked: from relevant and from irrelevant pages, by anchors in the language or in others.

The sieve lets each URL through once, so all later links to it would be lost as evidence. They are counted here in
count-min sketches (Cormode and Muthukrishnan 2005) of fixed size: 16 MB, whatever the crawl's size. Navigation does not
count. Counts stay in the process: a fleet's workers each know the links they have read themselves.

A sketch that is full of others' links would say of any URL that relevant pages link to it. So there are two: when one
has MOST_URLS, the older one is forgotten, and with it how often URLs were linked that have not been since.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import xxhash

SLOTS = 1 << 20
MOST_URLS = SLOTS // 4
"""In a sketch. Where half of the pages are relevant, three in a hundred of the URLs that are in none of two full ones
seem linked from relevant pages; where all are, ten."""
_FULL = 255


class Links(NamedTuple):
    """At least so many links to a URL; rarely more than there were."""

    good: int = 0  # from relevant pages
    bad: int = 0  # from irrelevant pages
    ours: int = 0  # with an anchor in the target language
    other: int = 0  # with an anchor in another one


NO_LINKS = Links()


_WIDTH = len(Links._fields)
_SLOT = 2 * _WIDTH
_NONE = bytes(_WIDTH)


class InLinks:
    """Counts links to URLs by what they say. The counters of a slot lie side by side, the newer sketch's and then the
    older one's: one read of memory gets all. One thread may add while another asks."""

    def __init__(self) -> None:
        self._first, self._second = bytearray(SLOTS * _SLOT), bytearray(SLOTS * _SLOT)
        self._urls = 0  # that the newer one has, about

    def add(self, url: str, kinds: Iterable[int]) -> None:
        """One more link to `url`; kinds: places in :class:`Links` that it counts for."""
        one, two = _slots(url)
        first, second = self._first, self._second
        if first[one : one + _WIDTH] == _NONE or second[two : two + _WIDTH] == _NONE:
            self._urls += 1
            if self._urls > MOST_URLS:
                self._forget()
        for kind in kinds:
            if first[one + kind] < _FULL:
                first[one + kind] += 1
            if second[two + kind] < _FULL:
                second[two + kind] += 1

    def _forget(self) -> None:
        for row in (self._first, self._second):
            counters = np.frombuffer(row, np.uint8).reshape(SLOTS, _SLOT)
            counters[:, _WIDTH:] = counters[:, :_WIDTH]
            counters[:, :_WIDTH] = 0
        self._urls = 1

    def seen(self, url: str) -> Links:
        one, two = _slots(url)
        first, second = self._first[one : one + _SLOT], self._second[two : two + _SLOT]
        return _links(bytes(first if first == second else map(min, first, second)))


@lru_cache(maxsize=4096)
def _links(counts: bytes) -> Links:
    return Links(*(min(_FULL, sum(both)) for both in zip(counts[:_WIDTH], counts[_WIDTH:], strict=True)))


@lru_cache(maxsize=4096)
def _slots(url: str) -> tuple[int, int]:
    """Where a URL's counters begin in the one row and in the other."""
    both = xxhash.xxh3_64_intdigest(url.encode("utf-8", "surrogatepass"))
    return both % SLOTS * _SLOT, (both >> 32) % SLOTS * _SLOT
