"""How often a URL was seen linked from relevant and from irrelevant pages.

The sieve lets each URL through once, so all later links to it would be lost as evidence. They are counted here in two
count-min sketches (Cormode and Muthukrishnan 2005) of fixed size: 4 MB, whatever the crawl's size. Navigation does not
count. Counts stay in the process: a fleet's workers each know the links they have read themselves.
"""

from __future__ import annotations

from collections.abc import Sequence

import xxhash

from relevance.policy import LinkContext

SLOTS = 1 << 20
GOOD, BAD = 0.6, 0.2
"""Log-odds of one more link from a relevant page (beyond the first) and from an irrelevant one."""


class InLinks:
    """Counts links to URLs by the worth of the page they stand on."""

    def __init__(self) -> None:
        self._bad, self._good = (bytearray(SLOTS), bytearray(SLOTS)), (bytearray(SLOTS), bytearray(SLOTS))

    def add(self, links: Sequence[LinkContext]) -> None:
        """Counts the links of one judged page, each URL once."""
        for url, link in {link.url: link for link in links if not link.nav}.items():
            if link.source_verdict is None:
                continue
            rows = self._good if link.source_verdict.keep else self._bad
            for row, slot in zip(rows, _slots(url), strict=True):
                if row[slot] < 255:
                    row[slot] += 1

    def seen(self, url: str) -> tuple[int, int]:
        """At least so many links from (relevant, irrelevant) pages; rarely more than there were."""
        one, two = _slots(url)
        return min(self._good[0][one], self._good[1][two]), min(self._bad[0][one], self._bad[1][two])

    def level(self, url: str) -> str:
        """How often in two characters: links from relevant pages 0-4, from irrelevant ones 0-3."""
        good, bad = self.seen(url)
        return f"{min(good, 4)}{min(bad, 3)}"


def first_evidence(level: str) -> float:
    """Log-odds to add for a level before anything is known of the crawl."""
    return GOOD * max(int(level[0]) - 1, 0) - BAD * int(level[1])


def _slots(url: str) -> tuple[int, int]:
    both = xxhash.xxh3_64_intdigest(url.encode("utf-8", "surrogatepass"))
    return both % SLOTS, (both >> 32) % SLOTS
