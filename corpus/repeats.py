"""Documents of pages that a crawl has only by reference: its ``revisit`` records say whose content theirs is.

The crawl's own files are read first, then those of the earlier crawls, of which no more than the content that was
referred to is made into documents: with the id, URL, date and place of the revisit, so that they are of the month that
was asked for. Memory: some 400 bytes a revisit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from archive import Record
from archive.tools.revisits import Content, had, sought
from corpus.document import Document
from corpus.records import Captured, captured_as


@dataclass(slots=True)
class Repeats:
    """The revisits of which the content has not been met. ``found``: those of the record with this id."""

    _sought: dict[Content, list[Captured]] = field(default_factory=dict)
    _found: dict[str, list[Captured]] = field(default_factory=dict)

    def note(self, revisit: Record) -> None:
        content = sought(revisit)
        if content is not None:
            self._sought.setdefault(content, []).append(captured_as(revisit))

    def contents(self, records: Iterable[Record]) -> Iterator[Record]:
        """Those of an earlier crawl that have what is sought, each followed by its metadata."""
        last = ""
        for record in records:
            if record.type == "metadata" and last and record.field("WARC-Concurrent-To") == last:
                yield record
            if record.type != "response" or not record.id or record.damage is not None:
                continue
            here = had(record) & self._sought.keys()
            if here:
                last = record.id
                self._found[last] = [again for content in here for again in self._sought.pop(content)]
                yield record

    def taken(self, record: Record) -> list[Captured]:
        """The captures that have this content, told once."""
        return self._found.pop(record.id, []) if record.type == "response" else []


def repeated(document: Document, again: Captured) -> Document:
    """The document as it was captured again."""
    return replace(document, id=again.id, url=again.url, date=again.date, place=again.place)
