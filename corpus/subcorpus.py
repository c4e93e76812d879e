"""``corpus select``: part of a corpus, by site, date, id or chance.

Chance is a hash of the document's id: the same documents are drawn of JSON lines and of vertical text, on every machine
and in every order, and of a larger draw with the same seed the smaller one is a part. Of documents that share an id (or
a URL, where they have no id) the first ones are drawn. :data:`Wanted.per_host` and :data:`Wanted.number` draw with the
least hashes, of what fits otherwise (bottom-k sampling: Cohen and Kaplan, "Summarizing Data Using Bottom-k Sketches",
2007), and each by hashes of its own, so that what is drawn of the hosts' shares is not drawn twice over from large
ones.

Guarantees: what is chosen is written byte for byte as it stood (:mod:`corpus.verbatim`), in its order; memory is that
of one document and of one pair of hashes for each document that ``per_host`` and ``number`` let through.
"""

from __future__ import annotations

import heapq
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import xxhash

from corpus.document import host_of
from corpus.report import Report
from corpus.verbatim import VerbatimDocument, VerbatimReader

REASONS = {
    "ids": "of no id in --ids",
    "site": "of no site that is wanted",
    "captured": "captured at another time, or no one knows when",
    "published": "published at another time, or no one knows when",
    "per_host": "of a host of which enough is drawn",
    "sample": "not drawn",
}
_ALL = 1 << 64
_OF_HOST, _OF_ALL = 0, 1
_DATE = re.compile(r"[0-9]{4}(?:-[0-9]{2}){0,2}\Z")
_FIRST_DAY = "0001-01-01"
_NO_DIGIT = re.compile(r"\D")


@dataclass(frozen=True, slots=True)
class Period:
    """From the beginning of ``first`` to the end of ``last``: digits of a year, of a month or of a day (``202306``),
    "": without bound."""

    first: str = ""
    last: str = ""

    def __contains__(self, date: str) -> bool:
        """Is a date in it, an ISO 8601 one or an ARC's fourteen digits? One that is less exact is if some of it is."""
        digits = _NO_DIGIT.sub("", date[:10]) if "-" in date[:10] else date[:8]
        if not digits.isdigit():
            return False
        return digits >= self.first[: len(digits)] and digits[: len(self.last)] <= self.last


def period(text: str) -> Period:
    """``2023``, ``2023-06-15``, ``2023-06..2024`` (both included), ``2023..``, ``..2024``. ValueError for others."""
    first, dots, last = text.partition("..")
    bounds = (first, last if dots else first)
    if not any(bounds) or not all(bound == "" or _is_date(bound) for bound in bounds):
        raise ValueError("a period is a year, a month, a day (2023, 2023-06, 2023-06-15), or FROM..TO, FROM.., ..TO")
    begin, end = (bound.replace("-", "") for bound in bounds)
    if begin and end and begin[: len(end)] > end[: len(begin)]:
        raise ValueError("it ends before it begins")
    return Period(begin, end)


def _is_date(text: str) -> bool:
    """Of a year, a month or a day that there is."""
    with suppress(ValueError):
        return bool(_DATE.match(text) and date.fromisoformat(text + _FIRST_DAY[len(text) :]))
    return False


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is chosen; by default everything. ``sites``, ``without``: whether a URL is of these sites, and of others
    that are not wanted. ``per_host`` documents of each host, then a ``share`` (0 to 1) or a ``number`` of all,
    drawn with this ``seed``."""

    sites: Callable[[str], bool] | None = None
    without: Callable[[str], bool] | None = None
    captured: Period | None = None
    published: Period | None = None
    ids: frozenset[str] | None = None
    per_host: int | None = None
    share: float | None = None
    number: int | None = None
    seed: int = 0

    @property
    def twice(self) -> bool:
        """Must the files be read once before anything of them can be written?"""
        return self.per_host is not None or self.number is not None

    def why_not(self, document: VerbatimDocument) -> str:
        """Of :data:`REASONS`, chance left aside; "" when the document fits."""
        if self.ids is not None and document.id not in self.ids:
            return "ids"
        if (self.sites and not self.sites(document.url)) or (self.without and self.without(document.url)):
            return "site"
        if self.captured is not None and document.date not in self.captured:
            return "captured"
        return "published" if self.published is not None and document.published not in self.published else ""

    def lots(self, document: VerbatimDocument) -> tuple[int, int]:
        """The hashes that a document is drawn by, among those of its host and among all."""
        name = (document.id or document.url or "\n".join(document.texts())).encode("utf-8", "surrogatepass")
        seeds = (2 * self.seed + _OF_HOST, 2 * self.seed + _OF_ALL)
        return xxhash.xxh3_64_intdigest(name, seeds[0]), xxhash.xxh3_64_intdigest(name, seeds[1])


@dataclass(slots=True)
class Counts:
    files: int = 0
    read: int = 0
    kept: int = 0
    damages: int = 0
    dropped: Counter[str] = field(default_factory=Counter)

    def as_json(self) -> dict[str, Any]:
        return {
            "files": self.files,
            "read": self.read,
            "kept": self.kept,
            "damages": self.damages,
            "dropped": dict(sorted(self.dropped.items())),
        }


@dataclass(slots=True)
class _Bound:
    """Hashes that are drawn: those below ``most``, and so many as great as that, which documents of one name share."""

    most: int
    left: int = _ALL

    def takes(self, lot: int) -> bool:
        if lot == self.most:
            self.left -= 1
            return self.left >= 0
        return lot < self.most


_EVERY = _Bound(_ALL)
_NONE = _Bound(-1)


class _Least:
    """The ``most`` pairs that are least by their first numbers."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._pairs: list[tuple[int, int]] = []  # a heap by what is taken away from 0, so the greatest is first

    def add(self, first: int, second: int) -> None:
        if len(self._pairs) < self._most:
            heapq.heappush(self._pairs, (-first, second))
        else:
            heapq.heappushpop(self._pairs, (-first, second))

    @property
    def bound(self) -> _Bound:
        """Which are among them."""
        if len(self._pairs) < self._most:
            return _Bound(_ALL)
        greatest = self._pairs[0][0]
        return _Bound(-greatest, sum(first == greatest for first, _ in self._pairs))

    @property
    def seconds(self) -> Iterator[int]:
        return (second for _, second in self._pairs)


class Subcorpus:
    """One run over files of one form, ``form`` (jsonl, vertical) where the output is named so."""

    def __init__(self, wanted: Wanted, report: Report, form: str = "") -> None:
        self.counts = Counts()
        self._wanted = wanted
        self._report = report
        self._form = form
        self._of_host: dict[str, _Bound] = {}
        self._of_all = _EVERY if wanted.share is None else _Bound(round(wanted.share * _ALL) - 1)

    def results(self, files: Sequence[str]) -> Iterator[bytes]:
        """What is chosen of these files, in order. A file that cannot be read on is told, and the others follow."""
        reader = VerbatimReader(self._report, self._form)
        reader.expect(files)
        if self._wanted.twice:
            self._draw(files)
        for name in files:
            before = self.counts.kept
            for document in reader.documents(name):
                self.counts.read += 1
                reason = self._wanted.why_not(document) or self._not_drawn(document)
                if reason:
                    self.counts.dropped[reason] += 1
                else:
                    self.counts.kept += 1
                    yield document.whole
            self.counts.files += 1
            self.counts.damages = reader.damages
            self._report.ok(f"{name}: {self.counts.kept - before} kept")

    def _draw(self, files: Sequence[str]) -> None:
        """Which hashes are small enough: that of each host's, and of all's."""
        wanted = self._wanted
        every = _Least(wanted.number or 1)
        hosts: dict[str, _Least] = {}
        silent = VerbatimReader(None, self._form)  # what is wrong is told when it is read again
        for name in files:
            for document in silent.documents(name):
                if wanted.why_not(document):
                    continue
                of_host, of_all = wanted.lots(document)
                if wanted.per_host is None:
                    every.add(of_all, 0)
                else:
                    hosts.setdefault(host_of(document.url), _Least(wanted.per_host)).add(of_host, of_all)
        for least in hosts.values():
            for of_all in least.seconds:
                every.add(of_all, 0)
        self._of_host = {host: least.bound for host, least in hosts.items()}
        if wanted.number is not None:
            self._of_all = every.bound

    def _not_drawn(self, document: VerbatimDocument) -> str:
        if self._wanted.per_host is None and self._of_all is _EVERY:
            return ""
        of_host, of_all = self._wanted.lots(document)
        if self._wanted.per_host is not None and not self._of_host.get(host_of(document.url), _NONE).takes(of_host):
            return "per_host"
        return "" if self._of_all.takes(of_all) else "sample"
