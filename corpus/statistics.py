"""How much text there is: documents, words and bytes by language, host and month.

By language, words and bytes count for the language of their paragraph, documents for their main language: a document
in two languages gives its words to both. By host and month everything of a document counts together. Words are
separated by white space; bytes are those of the text in UTF-8, not of pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from corpus.document import Document, host_of

GROUPS = ("language", "host", "month")
UNKNOWN = "-"
_MONTH = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])")
_COMPACT = re.compile(r"(\d{4})(0[1-9]|1[0-2])\d{2,10}\Z")


@dataclass(slots=True)
class Row:
    documents: int = 0
    words: int = 0
    bytes: int = 0

    def count(self, documents: int, words: int, size_bytes: int) -> None:
        self.documents += documents
        self.words += words
        self.bytes += size_bytes


@dataclass(slots=True)
class Statistics:
    """``groups[group][value]``; memory grows with the number of hosts, not of documents."""

    total: Row = field(default_factory=Row)
    groups: dict[str, dict[str, Row]] = field(default_factory=lambda: {group: {} for group in GROUPS})

    def add(self, document: Document) -> None:
        words, size = document.words, document.size_bytes
        keys = {"host": host_of(document.url) or UNKNOWN, "month": month_of(document.date)}
        for row in (self.total, *(self._row(group, key) for group, key in keys.items())):
            row.count(1, words, size)
        self._row("language", document.language).documents += 1
        for paragraph in document.paragraphs:
            self._row("language", paragraph.language).count(0, paragraph.words, paragraph.size_bytes)

    def _row(self, group: str, key: str) -> Row:
        return self.groups[group].setdefault(key, Row())

    def ranked(self, group: str) -> list[tuple[str, Row]]:
        """Months by time; the others by words, most first, equal ones by name."""
        rows = self.groups[group].items()
        return sorted(rows) if group == "month" else sorted(rows, key=lambda item: (-item[1].words, item[0]))

    def as_json(self) -> dict[str, Any]:
        return {
            "total": asdict(self.total),
            **{group: {key: asdict(row) for key, row in self.ranked(group)} for group in GROUPS},
        }


def shortened(ranked: list[tuple[str, Row]], most: int) -> Iterator[tuple[str, Row]]:
    """The first ``most`` rows (0: all), and one row "others" that sums up the rest."""
    if not most or len(ranked) <= most:
        yield from ranked
        return
    yield from ranked[:most]
    rest = Row()
    for _, row in ranked[most:]:
        rest.count(row.documents, row.words, row.bytes)
    yield f"{len(ranked) - most} others", rest


def month_of(date: str) -> str:
    """``YYYY-MM`` of a WARC date (or of an ARC's fourteen digits), "-" when it is none."""
    found = _MONTH.match(date)
    if found:
        return found[0]
    compact = _COMPACT.match(date)
    return f"{compact[1]}-{compact[2]}" if compact else UNKNOWN
