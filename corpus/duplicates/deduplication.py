"""``corpus dedup``: one run over files of one form; every drop counted.

Rules for documents: those of :mod:`corpus.duplicates.paragraphs`, exactly, across all files and (with the keys of
earlier runs) across runs. With ``near``, a long paragraph also goes when that share or more of its runs of five words
is in what was kept before, wherever that is (the rule of onion: Pomikálek, "Removing Boilerplate and Duplicate Content
from Web Corpora", 2011); a document of short paragraphs only is looked at as one. Words are those of
:mod:`relevance.language.alphabet`: neither case nor digits count. Rows of columns: the first of those that are equal in
the chosen columns stays.

Guarantees: what is kept depends on the order of what is read only, not on where files or runs begin; memory as
:mod:`corpus.duplicates.kept` says, and a batch of some MiB.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import compress, count
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import xxhash

from corpus.duplicates.batch import Batch
from corpus.duplicates.kept import Kept
from corpus.duplicates.paragraphs import LONG_CHARACTERS, new_places
from corpus.duplicates.rows import BATCH_BYTES, BESIDE_BYTES, Rows, batches, keyed_rows
from corpus.errors import Fault, UsageFault
from corpus.report import Report
from corpus.verbatim import VerbatimDocument, VerbatimReader
from relevance.language.alphabet import words_utf8
from relevance.pages.simhash import shingles
from sieve.fingerprint import Fingerprints
from sieve.sets.filter import first_places

NEAR = 0.5
WORDS_A_RUN = 5
_DOCUMENT, _PARAGRAPH = 1, 2
"""Seeds of hashes: keys of documents and of paragraphs are no keys of the other kind."""

UNIT_REASONS = {
    "duplicate": "the same text as one before",
    "near": "of short paragraphs, and nearly all was there before",
    "nothing_new": "all of its paragraphs were there before",
    "no_text": "without text",
}
PARAGRAPH_REASONS = {
    "duplicate": "was there before",
    "near": "nearly all of it was there before",
    "short": "short ones before such a paragraph, or after the last one",
}


@dataclass(frozen=True, slots=True)
class Rules:
    """``near`` None: exact duplicates only; ``columns`` (from 0): the files have rows; ``form``: that of the documents,
    "": jsonl or vertical."""

    long_characters: int = LONG_CHARACTERS
    near: float | None = None
    columns: tuple[int, ...] = ()
    form: str = ""


@dataclass(slots=True)
class Counts:
    """``read`` and ``kept``: documents, or rows; ``paragraphs``: kept."""

    files: int = 0
    read: int = 0
    kept: int = 0
    paragraphs: int = 0
    damages: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    dropped_paragraphs: Counter[str] = field(default_factory=Counter)

    def as_json(self) -> dict[str, Any]:
        return {
            "files": self.files,
            "read": self.read,
            "kept": self.kept,
            "paragraphs": self.paragraphs,
            "damages": self.damages,
            "dropped": dict(sorted(self.dropped.items())),
            "dropped_paragraphs": dict(sorted(self.dropped_paragraphs.items())),
        }


class _Parted(NamedTuple):
    """``texts``: those of the document. ``places`` of the long paragraphs, which are judged; of one that has none of
    them -1 alone: all of it. ``first``: the number of the first of these texts in the batch; the one before it is that
    of the document."""

    document: VerbatimDocument
    texts: list[str]
    places: list[int]
    first: int


class Deduplication:
    """``listing`` is told of each drop, as a line of JSON."""

    def __init__(
        self, rules: Rules, kept: Kept, report: Report, listing: Callable[[str], object] | None = None
    ) -> None:
        self.counts = Counts()
        self._rules = rules
        self._kept = kept
        self._report = report
        self._listing = listing
        self._reader = VerbatimReader(report, rules.form)

    def results(self, files: Sequence[str]) -> Iterator[bytes]:
        """What stays of these files, in order. A file that cannot be read on is told, and the others follow. UsageFault
        at the end, when no row of any file has as many columns as are compared."""
        if not self._rules.columns:
            self._reader.expect(files)
        for name in files:
            before = self.counts.kept
            if self._rules.columns:
                for rows in batches(self._reader.read(name, self._rows)):
                    yield self._judged_rows(rows)
            else:
                for documents in _batches(self._reader.documents(name)):
                    yield from self._judged_documents(documents)
            self.counts.files += 1
            self.counts.damages = self._reader.damages
            self._report.ok(f"{name}: {self.counts.kept - before} kept")
        if self._rules.columns and self._reader.refused and not self.counts.read:
            numbers = ",".join(str(column + 1) for column in self._rules.columns)
            raise UsageFault(f"--columns {numbers}: no row has them; nothing is written")

    def _rows(self, name: str, stored: BinaryIO, fault: Fault) -> Iterator[Rows]:
        return keyed_rows(name, stored, fault, self._rules.columns)

    def _judged_rows(self, rows: Rows) -> bytes:
        keys = rows.keys
        distinct, first = first_places(keys)
        fresh = ~self._kept.has(distinct)
        self._kept.add(distinct[fresh])
        marks = np.zeros(len(keys), np.bool_)
        marks[first[fresh]] = True
        stay = list(compress(rows.lines, marks))
        self.counts.read += len(keys)
        self.counts.kept += len(stay)
        if len(stay) < len(keys):
            self.counts.dropped["duplicate"] += len(keys) - len(stay)
        if self._listing is not None:
            for line in compress(rows.lines, ~marks):
                self._tell("duplicate", None, line.decode("utf-8", "replace"))
        return b"\n".join((*stay, b""))

    def _judged_documents(self, documents: Sequence[VerbatimDocument]) -> Iterator[bytes]:
        parted: list[_Parted] = []
        judged: list[str] = []
        keys: list[int] = []
        for document in documents:
            texts = document.texts()
            whole = "\n".join(texts)
            least = self._rules.long_characters
            places = [place for place, part in enumerate(texts) if len(part) >= least] or [-1]
            parts = [whole if place < 0 else texts[place] for place in places]
            parted.append(_Parted(document, texts, places, len(keys) + 1))
            keys += (_key(whole, _DOCUMENT), *(_key(part, _PARAGRAPH) for part in parts))
            judged += ("", *parts)
        runs: Sequence[Fingerprints] = ()
        if self._rules.near is not None:
            runs = shingles([*map(words_utf8, judged)], WORDS_A_RUN)
        batch = Batch(self._kept, np.array(keys, np.uint64), runs)
        for one in parted:
            yield from self._judged(one, batch)
        batch.finish()

    def _judged(self, one: _Parted, batch: Batch) -> Iterator[bytes]:
        document, texts = one.document, one.texts
        self.counts.read += 1
        reason, numbers = "", dict(zip(one.places, count(one.first)))
        reasons: dict[int, str] = {}
        if not any(texts):
            reason = "no_text"
        elif one.first - 1 in batch:
            reason = "duplicate"
        elif -1 in numbers:
            reason = self._why_not(one.first, batch)
        if reason:
            self.counts.dropped[reason] += 1
            self._tell(reason, document, "\n".join(texts))
            return

        def is_new(place: int) -> bool:
            reasons[place] = self._why_not(numbers[place], batch)
            return not reasons[place]

        places = new_places(texts, is_new, self._rules.long_characters)
        self._drop(one, places, reasons)
        if not places:
            self.counts.dropped["nothing_new"] += 1
            return
        batch.add(one.first - 1)
        self.counts.kept += 1
        self.counts.paragraphs += len(places)
        yield document.whole if len(places) == len(texts) else document.cut(places)

    def _why_not(self, number: int, batch: Batch) -> str:
        """Why a text does not stay; "" when it does, and counts as kept from now on."""
        if number in batch:
            return "duplicate"
        if self._rules.near is not None and batch.share(number) >= self._rules.near:
            return "near"
        batch.add(number)
        return ""

    def _drop(self, one: _Parted, kept: Sequence[int], reasons: dict[int, str]) -> None:
        for place in sorted(set(range(len(one.texts))).difference(kept)):
            reason = reasons.get(place) or "short"
            self.counts.dropped_paragraphs[reason] += 1
            self._tell(reason, one.document, one.texts[place], place)

    def _tell(self, reason: str, document: VerbatimDocument | None, text: str, place: int | None = None) -> None:
        if self._listing is None:
            return
        whose = {"id": document.id, "url": document.url} if document else {}
        which = {} if place is None else {"paragraph": place + 1}
        self._listing(json.dumps({"reason": reason, **whose, **which, "text": text}, ensure_ascii=False))


def _key(text: str, seed: int) -> int:
    return xxhash.xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"), seed)


def _batches(read: Iterator[VerbatimDocument]) -> Iterator[list[VerbatimDocument]]:
    batch: list[VerbatimDocument] = []
    size_bytes = 0
    for one in read:
        batch.append(one)
        size_bytes += BESIDE_BYTES + len(one.whole)
        if size_bytes >= BATCH_BYTES:
            yield batch
            batch, size_bytes = [], 0
    if batch:
        yield batch
