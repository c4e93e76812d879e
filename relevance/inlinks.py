"""How often a URL was seen linked: from relevant and from irrelevant pages, by anchors in the language or in others.

The sieve lets each URL through once, so all later links to it would be lost as evidence. They are counted here in
count-min sketches (Cormode and Muthukrishnan 2005) of fixed size: 8 MB, whatever the crawl's size. Navigation does not
count. Counts stay in the process: a fleet's workers each know the links they have read themselves.
"""

from __future__ import annotations

from collections.abc import Iterable
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


class InLinks:
    """Counts links to URLs by what they say."""

    def __init__(self) -> None:
        self._rows = tuple((bytearray(SLOTS), bytearray(SLOTS)) for _ in Links._fields)

    def add(self, url: str, kinds: Iterable[int]) -> None:
        """One more link to `url`; kinds: places in :class:`Links` that it counts for."""
        one, two = _slots(url)
        for kind in kinds:
            first, second = self._rows[kind]
            if first[one] < _FULL:
                first[one] += 1
            if second[two] < _FULL:
                second[two] += 1

    def seen(self, url: str) -> Links:
        one, two = _slots(url)
        good, bad, ours, other = self._rows
        return Links(
            min(good[0][one], good[1][two]),
            min(bad[0][one], bad[1][two]),
            min(ours[0][one], ours[1][two]),
            min(other[0][one], other[1][two]),
        )


def _slots(url: str) -> tuple[int, int]:
    both = xxhash.xxh3_64_intdigest(url.encode("utf-8", "surrogatepass"))
    return both % SLOTS, (both >> 32) % SLOTS
