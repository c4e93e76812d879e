"""What pages have been worth, by where they lie and how they were come by, as counts that add up over a fleet.

A page's gain (0..1) is expected from two sides, in log-odds that are added: the *evidence* of the links to it (what
kind of link, how many from relevant pages, anchors in which language) and its *place* (host, path prefix, template).
Each key keeps how many pages it had, their gain, and the gain that was expected of them without it; its effect is what
moves the one to the other. So a host whose best pages were fetched first is not taken for a good host, and a link kind
that good hosts use more is not taken for a good kind. Effects are pulled to 0 as if by a few pages that were just as
expected, the narrow ones relative to the wider ones, and counts weigh no more than CAP pages, so none is ever final.
Pages of one section of a host (URLs of one shape) are alike: what they say of its other sections, where nothing else is
known of these, they say as few pages, however many they are.

Bounds: a process remembers MOST_KEYS keys, those it has had a page of last; of one that comes again it hears the
fleet's counts with that page. Of hosts that it forgets it keeps the counts in a table of fixed size: a crawl that takes
more hosts in turn would take each for an unknown one, at its next page and at every link there. The fleet is told of a
key below a host with the key's second page: on many sites nearly every page has a template of its own, of which there
is nothing to be learnt, and whose counts would stay for ever. Of the first page of a host that a process remembers it
is told all: else a process that is often started again, or has more hosts in turn than it remembers, would never have a
second page of any key. So a section that several workers have had one page each of counts once for each.

Model: logistic regression by offsets, fitted as backfitting does (Hastie and Tibshirani 1990) but in passing, since
all that a fleet can share is sums.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import islice
from math import exp, log
from struct import Struct

import xxhash

MILLI = 1000
CAP = 400.0
ALL = "all"
"""Key of the crawl's own totals."""
ALIKE = 0.2
"""How alike the pages of a section are (intraclass correlation): to the rest of its host they say as much as 1 / ALIKE
pages at most (effective sample size of clusters: Kish 1965, Survey Sampling)."""
PULL = {"a": 12.0, "h": 3.0, "p": 4.0, "t": 4.0, "c": 10.0, "i": 8.0, "w": 8.0}
"""Pages a key's pull to the expected is worth, by its first letter."""

HOST, SECTION = "h", "t"
NARROW = frozenset("ptro")
"""First letters of keys: of a host, of one of its sections, of all that is below a host."""
MOST_KEYS = 1 << 17
"""Some 60 MB."""
SLOTS = 1 << 19
"""Hosts that are forgotten, 40 bytes each; of two with one slot the last stays."""

Row = tuple[int, ...]
"""Pages, their gain and the gain expected of them (both in thousandths), sections."""
_NOTHING: Row = (0, 0, 0, 0)
_ONE_LESS: Row = (0, 0, 0, -1)
_SURE = 1 - 1e-3


def logit(p: float) -> float:
    p = _SURE if p > _SURE else 1e-3 if p < 1e-3 else p  # a third of the time of min and max
    return log(p / (1 - p))


def sigmoid(x: float) -> float:
    return 1.0 / (1.0 + exp(-(30.0 if x > 30.0 else -30.0 if x < -30.0 else x)))


class _Left:
    """Counts of hosts that are forgotten."""

    _LAYOUT = Struct("<Q4q")

    def __init__(self) -> None:
        self._table = bytearray()  # none yet

    def put(self, key: str, row: Row) -> None:
        self._table = self._table or bytearray(SLOTS * self._LAYOUT.size)
        number, place = self._slot(key)
        self._LAYOUT.pack_into(self._table, place, number, *row)

    def get(self, key: str) -> Row:
        if not self._table:
            return _NOTHING
        number, place = self._slot(key)
        found, *row = self._LAYOUT.unpack_from(self._table, place)
        return tuple(row) if found == number else _NOTHING

    def _slot(self, key: str) -> tuple[int, int]:
        number = xxhash.xxh3_64_intdigest(key.encode("utf-8", "surrogatepass"))
        return number, number % SLOTS * self._LAYOUT.size


class Estimates:
    """Counts of this process and of the fleet, and the effects that follow. One thread may add and absorb while others
    ask."""

    def __init__(self) -> None:
        self._own: dict[str, Row] = {}  # since they were last given away
        self._all: dict[str, Row] = {}  # with the fleet's
        self._used: dict[str, bool] = {}  # the keys of these, last used last; whether the fleet is not told of it yet
        self._left = _Left()
        self._met = ""  # the host of the last page, if it was not remembered
        self._first: set[str] = set()  # sections that come with the next deltas for the first time
        self._told: dict[str, int] = {}  # and that came with the last ones, with their pages
        self._alone: dict[str, tuple[Row, float]] = {}  # effects by themselves, and of which row

    def add(self, key: str, gain: float, expected: float, sections: int = 0) -> None:
        """A page that counts for `key`; expected: its gain as it was foreseen without what `key` says; sections: 1 for
        a host where it is the first of its section. A host comes before what lies below it."""
        page: Row = (1, round(gain * MILLI), round(expected * MILLI), sections)
        is_new = not self._all.get(key, _NOTHING)[0]
        self._all[key] = row = _together(self._row(key), page)
        was_held = self._used.pop(key, False)
        if key[0] == HOST:
            self._met = key if is_new else ""
        self._used[key] = is_held = is_new and key[0] in NARROW and _host_of(key) != self._met
        if is_new:
            self._forget()
        if is_held:
            return
        if key[0] == SECTION and (is_new or was_held):
            self._first.add(key)
        self._own[key] = _together(self._own.get(key, _NOTHING), row if was_held else page)

    def _forget(self) -> None:
        """Many at a time: what comes first in a dictionary is found the later the more has gone before it."""
        if len(self._used) > MOST_KEYS:
            for key in [*islice(self._used, MOST_KEYS // 8)]:
                if key[0] == HOST:
                    self._left.put(key, self._all[key])
                del self._used[key], self._all[key]

    def _row(self, key: str) -> Row:
        return self._all.get(key) or (self._left.get(key) if key[0] == HOST else _NOTHING)

    def counts(self, key: str) -> tuple[int, float, float]:
        """Pages, gain, expected gain."""
        pages, gain, expected, _ = self._row(key)
        return pages, gain / MILLI, expected / MILLI

    def effect_alone(self, key: str) -> float:
        """Log-odds by which pages of a key differ from what was expected of them. Remembered: for keys of which there
        are few."""
        row = self._all.get(key, _NOTHING)
        known = self._alone.get(key)
        if known is None or known[0] is not row:
            known = self._alone[key] = row, self.effect(key)[0]
        return known[1]

    def effect(self, key: str) -> tuple[float, int]:
        """Log-odds by which pages of a key differ from what was expected of them, and how many they were."""
        return _effect(self._all.get(key, _NOTHING), PULL[key[0]])

    def known(self, places: Sequence[str]) -> tuple[str, ...]:
        """Those of a URL's places that have had pages, the widest first."""
        counts = self._all
        return tuple([key for key in places if key in counts])

    def place(self, places: Sequence[str]) -> tuple[float, float]:
        """Log-odds of a place, from the effects of its widest key to that of its narrowest, and how many pages of its
        host they rest on. A shape of URLs whose prefix has had no page (a date, a number) speaks for itself, not as a
        part of its host."""
        return _place(tuple([self._row(key) for key in places]))

    def deltas(self) -> dict[str, Row]:
        given, self._own = self._own, {}
        self._told = {key: given[key][0] for key in self._first}
        self._first = set()
        return given

    def absorb(self, counts: Mapping[str, Row]) -> None:
        own = self._own
        for key, pages in self._told.items():
            # Others knew the section, or this worker did before it was started again.
            if counts.get(key, _NOTHING)[0] > pages:
                host = _host_of(key)
                own[host] = _together(own.get(host, _NOTHING), _ONE_LESS)
        self._told = {}
        self._all.update((key, _together(row, own[key]) if key in own else row) for key, row in counts.items())


def _host_of(key: str) -> str:
    """The key of the host that a narrower one lies below."""
    return HOST + key[1:].partition("/")[0]


def _together(one: Row, other: Row) -> Row:
    return one[0] + other[0], one[1] + other[1], one[2] + other[2], one[3] + other[3]


def _effect(row: Row, pull: float, wider: float = 0.0, among: float = 0.0) -> tuple[float, int]:
    """Log-odds by which pages of a key differ from what was expected of them, once `wider` is added to that; and how
    many they were. among: pages that `wider` rests on; the more of them are this key's own, the less there is to tell
    apart."""
    pages, gain, expected, _ = row
    if not pages or pages >= among > 0:
        return 0.0, pages
    pull /= 1.0 - pages / among if among > pages else 1.0
    return _moved(pages, gain / MILLI, logit(expected / MILLI / pages) + wider, pull), pages


@lru_cache(maxsize=4096)  # most places are of hosts that nothing is known of, or not more than a minute ago
def _place(rows: tuple[Row, ...]) -> tuple[float, float]:
    """Log-odds and support, by the rows of a place's keys."""
    host, *narrower = rows
    if not host[0]:
        return 0.0, 0.0
    total, support = _host(host, next((row for row in reversed(narrower) if row[0]), _NOTHING))
    among = support
    for row, kind in zip(narrower, "pt", strict=False):
        more, among = _effect(row, PULL[kind], total, among)
        total += more
    return total, support


def _host(row: Row, section: Row) -> tuple[float, float]:
    """The effect of a host on one of its sections, and the pages it rests on: the section's own count whole, all
    others by how many are of one section."""
    pages, gain, expected, sections = row
    own, own_gain, own_expected, _ = section
    others = pages - own
    alike = max(0.0, others / max(1, sections - (own > 0)) - 1.0)
    part = 1.0 / (1.0 + alike * ALIKE)
    count = own + others * part
    gained, foreseen = own_gain + (gain - own_gain) * part, own_expected + (expected - own_expected) * part
    return _moved(count, gained / MILLI, logit(foreseen / MILLI / count), PULL["h"]), count


def _moved(pages: float, gain: float, usual: float, pull: float) -> float:
    """Log-odds from what was usual of pages to what they gained, pulled to the usual as if by `pull` pages more."""
    weight = CAP / pages if pages > CAP else 1.0
    return logit((gain * weight + pull * sigmoid(usual)) / (pages * weight + pull)) - usual
