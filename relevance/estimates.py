"""What pages have been worth, by where they lie and how they were come by, as counts that add up over a fleet.

A page's gain (0..1) is expected from two sides, in log-odds that are added: the *evidence* of the links to it (what
kind of link, how many from relevant pages, anchors in which language) and its *place* (host, path prefix, template).
Each key keeps how many pages it had, their gain, and the gain that was expected of them without it; its effect is what
moves the one to the other. So a host whose best pages were fetched first is not taken for a good host, and a link kind
that good hosts use more is not taken for a good kind. Effects are pulled to 0 as if by a few pages that were just as
expected, the narrow ones relative to the wider ones, and counts weigh no more than CAP pages, so none is ever final.

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
PULL = {"a": 12.0, "h": 3.0, "p": 4.0, "t": 4.0, "c": 10.0, "i": 8.0, "w": 8.0}
"""Pages a key's pull to the expected is worth, by its first letter."""

Row = tuple[int, ...]
"""Pages, their gain and the gain expected of them (both in thousandths), words, kilobytes."""


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

    def add(self, key: str, gain: float, expected: float, words: int, kilobytes: int) -> None:
        """A page that counts for `key`; expected: its gain as it was foreseen without what `key` says."""
        row = self._own.setdefault(key, [0, 0, 0, 0, 0])
        for place, value in enumerate((1, round(gain * MILLI), round(expected * MILLI), words, kilobytes)):
            row[place] += value

    def counts(self, key: str) -> tuple[int, float, float]:
        """Pages, gain, expected gain."""
        fleet, own = self._fleet.get(key), self._own.get(key)
        if fleet is None:
            return (own[0], own[1] / MILLI, own[2] / MILLI) if own else (0, 0.0, 0.0)
        if own is None:
            return fleet[0], fleet[1] / MILLI, fleet[2] / MILLI
        return fleet[0] + own[0], (fleet[1] + own[1]) / MILLI, (fleet[2] + own[2]) / MILLI

    def effect(self, key: str, wider: float = 0.0, among: int = 0) -> tuple[float, int]:
        """Log-odds by which pages of a key differ from what was expected of them, once `wider` is added to that; and
        how many they were. among: pages of the wider key; the more of them are this key's own, the less there is to
        tell apart."""
        pages, gain, expected = self.counts(key)
        if not pages or pages == among:
            return 0.0, pages
        usual = logit(expected / pages) + wider
        weight, pull = min(1.0, CAP / pages), PULL[key[0]]
        if among > pages:
            pull /= 1.0 - pages / among
        found = (gain * weight + pull * sigmoid(usual)) / (pages * weight + pull)
        return logit(found) - usual, pages

    def place(self, places: Sequence[str]) -> tuple[float, int]:
        """Log-odds of a place: effects from the widest key to the narrowest; and the pages of the widest."""
        total, pages = self.effect(places[0])
        return self.within(places[1:], total, pages), pages

    def within(self, places: Sequence[str], wider: float, pages: int) -> float:
        """Log-odds of a place whose wider keys have these, and this many pages."""
        for key in places:
            if key not in self._own and key not in self._fleet:
                pages = 0
                continue
            more, pages = self.effect(key, wider, pages)
            wider += more
        return wider

    def deltas(self) -> dict[str, Row]:
        given: dict[str, Row] = {key: tuple(row) for key, row in self._own.items()}
        for key, row in given.items():
            old = self._fleet.get(key, (0,) * len(row))
            self._fleet[key] = tuple(a + b for a, b in zip(old, row, strict=True))
        self._own.clear()
        return given

    def absorb(self, counts: Mapping[str, Row]) -> None:
        self._fleet.update(counts)
