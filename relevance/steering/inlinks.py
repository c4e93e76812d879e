"""How often a URL was seen linked: from relevant and from irrelevant pages, by anchors in the language or in others.

The sieve lets each URL through once, so all later links to it would be lost as evidence. They are counted here in
count-min sketches (Cormode and Muthukrishnan 2005) of fixed size: 8 MB, whatever the crawl's size. Navigation does not
count. Counts stay in the process: a fleet's workers each know the links they have read themselves.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

import xxhash

SLOTS = 1 << 20
_FULL = 255


class Links(NamedTuple):
    """At least so many links to a URL; rarely more than there were."""

    good: int = 0  # from relevant pages
    bad: int = 0  # from irrelevant pages
    ours: int = 0  # with an anchor in the target language
    other: int = 0  # with an anchor in another one


NO_LINKS = Links()


_WIDTH = len(Links._fields)


class InLinks:
    """Counts links to URLs by what they say. The counters of a slot lie side by side: one read of memory gets all."""

    def __init__(self) -> None:
        self._first, self._second = bytearray(SLOTS * _WIDTH), bytearray(SLOTS * _WIDTH)

    def add(self, url: str, kinds: Iterable[int]) -> None:
        """One more link to `url`; kinds: places in :class:`Links` that it counts for."""
        one, two = _slots(url)
        first, second = self._first, self._second
        for kind in kinds:
            if first[one + kind] < _FULL:
                first[one + kind] += 1
            if second[two + kind] < _FULL:
                second[two + kind] += 1

    def seen(self, url: str) -> Links:
        one, two = _slots(url)
        first, second = self._first[one : one + _WIDTH], self._second[two : two + _WIDTH]
        return _links(bytes(first if first == second else map(min, first, second)))


@lru_cache(maxsize=4096)
def _links(counts: bytes) -> Links:
    return Links(*counts)


@lru_cache(maxsize=4096)
def _slots(url: str) -> tuple[int, int]:
    """Where a URL's counters begin in the one row and in the other."""
    both = xxhash.xxh3_64_intdigest(url.encode("utf-8", "surrogatepass"))
    return both % SLOTS * _WIDTH, (both >> 32) % SLOTS * _WIDTH
