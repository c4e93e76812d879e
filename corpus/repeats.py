"""Documents of pages that a crawl has only by reference: its ``revisit`` records say whose content theirs is.

The crawl's own files are read first, then those of the earlier crawls, of which no more than the content that was
referred to is made into documents: with the id, URL, date and place of the revisit, and the date of publication that
this crawl's feeds say, so that they are of the month that was asked for. Memory: some 1,000 bytes a revisit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from archive import Record
from archive.index.cdxj import timestamp
from archive.tools.revisits import Content, had, sought
from corpus.document import Document
from corpus.records import Captured, captured_as
from corpus.told import dated, feed_published

Place = tuple[str, int, int]
"""File, and offsets in it."""


@dataclass(slots=True)
class Again:
    """A capture of what was captured before. ``number``: how many others came before. ``of``: when that was, 14 digits,
    "" when it does not say. ``published``: when a feed says so. ``times``: captures of that content, of which this is
    the first."""

    capture: Captured
    number: int
    of: str
    published: str = ""
    times: int = 1

    def document(self, before: Document) -> Document:
        """The document as it was captured again."""
        again = replace(before, **self.capture._asdict())
        return again if again.published and not again.published_from else dated(again, self.published)


@dataclass(slots=True)
class Repeats:
    """The revisits of which the content has not been met. Of those of one content only the first is a document, as it
    is where a crawl stores that itself. ``_found``: that of the record there. ``_began``: least date of the crawl's own
    records; ``_last``: the revisit before, and its id."""

    _sought: dict[Content, Again] = field(default_factory=dict)
    _found: dict[Place, Again] = field(default_factory=dict)
    _began: str = "9"
    _last: tuple[str, Again] | None = None

    def note(self, record: Record) -> None:
        """A record of the crawl's own; of revisits those of which the answer may be a document."""
        self._began = min(self._began, timestamp(record.date or self._began))
        if record.type == "metadata" and self._last is not None:
            last, again = self._last
            if record.field("WARC-Concurrent-To") == last:
                again.published = feed_published(record)

    def seek(self, revisit: Record) -> None:
        """Its answer may be a document, when its content is found."""
        content = sought(revisit)
        self._last = None
        if content in self._sought:
            self._sought[content].times += 1
        elif content is not None:
            _, date = revisit.refers_to
            again = Again(captured_as(revisit), len(self._sought), timestamp(date) if date else "")
            self._sought[content] = again
            self._last = revisit.id, again

    def contents(self, records: Iterable[Record]) -> Iterator[Record]:
        """Those of an earlier crawl that have what is sought, each followed by its metadata."""
        last = ""
        for record in records:
            if record.type == "metadata" and last and record.field("WARC-Concurrent-To") == last:
                yield record
            if record.type != "response" or record.damage is not None:
                continue
            here = had(record) & self._sought.keys()
            if here:
                last = record.id
                self._found[_place(record)] = min(map(self._sought.pop, here), key=lambda again: again.number)
                yield record

    def taken(self, record: Record) -> Again | None:
        """The capture that has this content, told once."""
        return self._found.pop(_place(record), None)

    @property
    def lost(self) -> int:
        """Of how many the content should have been met: what they refer to was there before this crawl began, so it is
        none of its own."""
        return sum(again.times for again in self._sought.values() if "" < again.of < self._began)


def _place(record: Record) -> Place:
    return record.path, record.offset, record.inner
