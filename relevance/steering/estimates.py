"""What pages have been worth, by where they lie and how they were come by, as counts that add up over a fleet.

A page's gain (0..1) is expected from two sides, in log-odds that are added: the *evidence* of the links to it (what
kind of link, how many from relevant pages, anchors in which language) and its *place* (host, path prefix, template).
Each key keeps how many pages it had, their gain, and the gain that was expected of them without it; its effect is what
moves the one to the other. So a host whose best pages were fetched first is not taken for a good host, and a link kind
that good hosts use more is not taken for a good kind. Effects are pulled to 0 as if by a few pages that were just as
expected, the narrow ones relative to the wider ones, and counts weigh no more than CAP pages, so none is ever final.
Pages of one section of a host (URLs of one shape) are alike: what they say of its other sections, where nothing else is
known of these, they say as few pages, however many they are.

Model: logistic regression by offsets, fitted as backfitting does (Hastie and Tibshirani 1990) but in passing, since
all that a fleet can share is sums.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, log

MILLI = 1000
CAP = 400.0
ALL = "all"
"""Key of the crawl's own totals."""
ALIKE = 0.2
"""How alike the pages of a section are (intraclass correlation): to the rest of its host they say as much as 1 / ALIKE
pages at most (effective sample size of clusters: Kish 1965, Survey Sampling)."""
PULL = {"a": 12.0, "h": 3.0, "p": 4.0, "t": 4.0, "c": 10.0, "i": 8.0, "w": 8.0}
"""Pages a key's pull to the expected is worth, by its first letter."""

Row = tuple[int, ...]
"""Pages, their gain and the gain expected of them (both in thousandths), sections."""
_NOTHING: Row = (0, 0, 0, 0)


def logit(p: float) -> float:
    p = min(max(p, 1e-3), 1 - 1e-3)
    return log(p / (1 - p))


def sigmoid(x: float) -> float:
    return 1.0 / (1.0 + exp(-min(max(x, -30.0), 30.0)))


class Estimates:
    """Counts of this process and of the fleet, and the effects that follow."""

    def __init__(self) -> None:
        self._own: dict[str, list[int]] = {}
        self._fleet: dict[str, Row] = {}

    def add(self, key: str, gain: float, expected: float, sections: int = 0) -> None:
        """A page that counts for `key`; expected: its gain as it was foreseen without what `key` says; sections: 1 for
        a host where it is the first of its section."""
        row = self._own.setdefault(key, [*_NOTHING])
        for place, value in enumerate((1, round(gain * MILLI), round(expected * MILLI), sections)):
            row[place] += value

    def counts(self, key: str) -> tuple[int, float, float]:
        """Pages, gain, expected gain."""
        pages, gain, expected, _ = self._row(key)
        return pages, gain / MILLI, expected / MILLI

    def _row(self, key: str) -> Sequence[int]:
        fleet, own = self._fleet.get(key), self._own.get(key)
        if fleet is None or own is None:
            return fleet or own or _NOTHING
        return fleet[0] + own[0], fleet[1] + own[1], fleet[2] + own[2], fleet[3] + own[3]

    def effect(self, key: str, wider: float = 0.0, among: float = 0.0) -> tuple[float, int]:
        """Log-odds by which pages of a key differ from what was expected of them, once `wider` is added to that; and
        how many they were. among: pages that `wider` rests on; the more of them are this key's own, the less there is
        to tell apart."""
        pages, gain, expected = self.counts(key)
        if not pages or pages >= among > 0:
            return 0.0, pages
        pull = PULL[key[0]] / (1.0 - pages / among if among > pages else 1.0)
        return _moved(pages, gain, logit(expected / pages) + wider, pull), pages

    def known(self, places: Sequence[str]) -> tuple[str, ...]:
        """Those of a URL's places that have had pages, the widest first."""
        return tuple(key for key in places if key in self._own or key in self._fleet)

    def place(self, places: Sequence[str], known: Sequence[str]) -> tuple[float, float]:
        """Log-odds of a place, from the effects of its widest key to that of its narrowest, and how many pages of its
        host they rest on. known: those of its keys that have had pages. A shape of URLs whose prefix has had no page (a
        date, a number) speaks for itself, not as a part of its host."""
        if places[0] not in known:
            return 0.0, 0.0
        total, support = self._host(known[0], known[1:])
        among = support
        for key in places[1:]:
            more, among = self.effect(key, total, among)
            total += more
        return total, support

    def _host(self, host: str, narrower: Sequence[str]) -> tuple[float, float]:
        """The effect of a host on one of its sections, and the pages it rests on: the section's own count whole, all
        others by how many are of one section."""
        pages, gain, expected, sections = self._row(host)
        own, own_gain, own_expected, _ = self._row(narrower[-1]) if narrower else _NOTHING
        others = pages - own
        alike = max(0.0, others / max(1, sections - (own > 0)) - 1.0)
        part = 1.0 / (1.0 + alike * ALIKE)
        count = own + others * part
        gained, foreseen = own_gain + (gain - own_gain) * part, own_expected + (expected - own_expected) * part
        return _moved(count, gained / MILLI, logit(foreseen / MILLI / count), PULL["h"]), count

    def deltas(self) -> dict[str, Row]:
        given: dict[str, Row] = {key: tuple(row) for key, row in self._own.items()}
        for key, row in given.items():
            old = self._fleet.get(key, _NOTHING)
            self._fleet[key] = tuple(a + b for a, b in zip(old, row, strict=True))
        self._own.clear()
        return given

    def absorb(self, counts: Mapping[str, Row]) -> None:
        self._fleet.update(counts)


def _moved(pages: float, gain: float, usual: float, pull: float) -> float:
    """Log-odds from what was usual of pages to what they gained, pulled to the usual as if by `pull` pages more."""
    weight = min(1.0, CAP / pages)
    return logit((gain * weight + pull * sigmoid(usual)) / (pages * weight + pull)) - usual
