"""Archives -> documents: reading, choosing, dropping duplicates; every drop counted.

Guarantees: documents come in the order of the archive's records and files; damage is reported with its place and does
not end the run; memory is bounded (a record's body is looked at up to 8 MiB, hashes as
:mod:`corpus.duplicates.hashes` says).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

from archive import Reader, Record
from archive.reading.segments import joined
from corpus.document import Document, main_language
from corpus.duplicates.paragraphs import DEFAULT_BYTES, Deduplicator
from corpus.inputs import open_stored, stored_size
from corpus.parallel import Readers
from corpus.records import Read, Reading, ReadRecord
from corpus.repeats import Repeats
from corpus.report import Report
from corpus.tally import Tally, counted
from corpus.told import with_what_is_told
from relevance.language.identification import Identifier
from relevance.pdf import PdfReader

Made = Callable[[Reader], Iterator[tuple[Record, list[Document]]]]
"""What is made of an archive's records."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What is wanted. ``languages`` empty: all, and paragraphs of any language; else only paragraphs in one of them.

    ``min_words``: of a document, after the choice of paragraphs and before duplicates go. ``dedup_bytes`` 0: duplicates
    stay. ``links``: find the places of links (for the vertical form). ``identifier``: names the languages (None: the
    shipped model). ``whole_pages``: also what stands apart from a page's main part. ``linked``: only documents with
    links in what is chosen of them.
    """

    languages: frozenset[str] = frozenset()
    min_words: int = 1
    dedup_bytes: int = DEFAULT_BYTES
    links: bool = False
    identifier: Identifier | None = None
    whole_pages: bool = False
    linked: bool = False


@dataclass(slots=True)
class Extraction:
    """One run over any number of files; ``tally`` says what became of everything. ``processes`` above 1: so many read
    (another one puts together), with the same result. ``reading``: of a record, where it is not to be read as
    ``choice`` says."""

    choice: Choice = field(default_factory=Choice)
    report: Report = field(default_factory=lambda: Report(quiet=True))
    tally: Tally = field(default_factory=Tally)
    processes: int = 1
    reading: ReadRecord | None = None
    _dedup: Deduplicator | None = field(default=None, init=False)
    _repeats: Repeats | None = field(default=None, init=False)
    _pdf: PdfReader = field(default_factory=PdfReader, init=False)
    _reading: ReadRecord = field(init=False)
    _readers: Readers | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        choice = self.choice
        if choice.dedup_bytes:
            self._dedup = Deduplicator(choice.dedup_bytes)
        self._reading = self.reading or Reading(choice.identifier, choice.links, choice.whole_pages, self._pdf)
        if self.processes > 1:
            self._readers = Readers(self._reading, self.processes)

    def documents(self, files: Sequence[str], earlier: Sequence[str] = ()) -> Iterator[Document]:
        """The documents of these archives, ``-`` being standard input; then those of their revisits whose content is in
        the ``earlier`` ones."""
        self._repeats = Repeats() if earlier else None
        try:
            for name in files:
                yield from counted(name, self._opened(name), self.report, self.tally)
            for name in earlier:
                yield from counted(name, self._opened(name, self._again), self.report, self.tally)
            self._lost()
        finally:
            self.close()
        if self._dedup is not None and self._dedup.forgotten:
            documents, paragraphs = self._dedup.capacity
            self.report.warn(
                "the memory for duplicates was full, the oldest were forgotten: documents that are the same and more "
                f"than {documents:,} apart, and paragraphs more than {paragraphs:,} apart, may have stayed"
            )

    def close(self) -> None:
        """Ends the processes that read, when there are any."""
        if self._readers is not None:
            self._readers.close()
        self._pdf.close()

    def _opened(self, name: str, made: Made | None = None) -> Iterator[Document]:
        with open_stored(name) as file:
            yield from self.read(name, file, made)

    def read(self, name: str, file: BinaryIO, made: Made | None = None) -> Iterator[Document]:
        """The documents of one archive, read from its start; or what else is ``made`` of it."""
        with self.report.progress(Path(name).name, stored_size(name)) as tick, Reader(file) as reader:
            try:
                for record, documents in (made or self._anew)(reader):
                    tick(record.offset)
                    yield from documents
            finally:  # also where it cannot be read on
                self._damages(reader)

    def _anew(self, reader: Reader) -> Iterator[tuple[Record, list[Document]]]:
        for record, read in with_what_is_told(self._read(joined(reader))):
            document = self._taken(record, read)
            yield record, [] if document is None else [document]

    def _again(self, reader: Reader) -> Iterator[tuple[Record, list[Document]]]:
        """Of an earlier archive: what the revisits that were met refer to."""
        assert self._repeats is not None
        for record, read in with_what_is_told(self._read(self._repeats.contents(joined(reader)))):
            capture, again = self._repeats.taken(record), None
            if capture is not None:
                self.tally.dropped["revisit"] -= 1
                document = self._judged(record, read)
                again = None if document is None else self.keep(capture.document(document))
            yield record, [] if again is None else [again]

    def _lost(self) -> None:
        """What is in none of the earlier archives is told."""
        lost = self._repeats.lost if self._repeats is not None else 0
        if lost:
            self.tally.dropped["revisit"] -= lost
            self.tally.dropped["lost"] += lost
            self.report.warn(
                f"{lost:,} revisits refer to earlier content that is in none of the files of --earlier: name those of "
                "all months before (archive verify --revisits tells which revisits these are)"
            )

    def _read(self, records: Iterable[Record]) -> Iterator[tuple[Record, Read]]:
        if self._readers is not None:
            return self._readers.read(records)
        return ((record, self._reading(record)) for record in records)

    def _damages(self, reader: Reader) -> None:
        for damage in reader.damages:
            self.tally.damages += 1
            self.report.warn(f"damage: {damage}")

    def _taken(self, record: Record, read: Read) -> Document | None:
        """The document of a record that has been read, when it is wanted."""
        self.tally.records += 1
        if self._repeats is not None:
            self._repeats.note(record)
            if read.reason == "revisit":
                self._repeats.seek(record)
        document = self._judged(record, read)
        return None if document is None else self.keep(document)

    def _judged(self, record: Record, read: Read) -> Document | None:
        """What was read of a record, counted."""
        if read.reason in ("failed", "unreadable"):
            self.report.warn(f"{read.reason}: {record.url} at {record.path}:{record.offset}+{record.inner}: {read.why}")
        self.tally.dropped_paragraphs["aside"] += read.asides
        self.tally.notes.update(read.notes)
        if read.document is None:
            self.tally.dropped[read.reason] += 1
        return read.document

    def keep(self, document: Document) -> Document | None:
        """What is wanted of a document, counted."""
        chosen = self._choose(document)
        if not chosen.paragraphs:
            self.tally.dropped["language"] += 1
            return None
        if self.choice.linked and not any(paragraph.links for paragraph in chosen.paragraphs):
            self.tally.dropped["no_link"] += 1
            return None
        if chosen.words < self.choice.min_words:
            self.tally.dropped["few_words"] += 1
            return None
        unique = self._without_duplicates(chosen)
        if unique is None:
            self.tally.dropped["duplicate"] += 1
            return None
        self.tally.documents += 1
        self.tally.paragraphs += len(unique.paragraphs)
        self.tally.words += unique.words
        self.tally.text_bytes += unique.size_bytes
        return unique

    def _without_duplicates(self, document: Document) -> Document | None:
        if self._dedup is None:
            return document
        unique = self._dedup(document)
        self.tally.dropped_paragraphs["duplicate"] += unique.dropped
        return unique.document

    def _choose(self, document: Document) -> Document:
        """The document with the paragraphs in a wanted language only."""
        if not self.choice.languages:
            return document
        kept = tuple(paragraph for paragraph in document.paragraphs if paragraph.language in self.choice.languages)
        if len(kept) == len(document.paragraphs):
            return document
        self.tally.dropped_paragraphs["language"] += len(document.paragraphs) - len(kept)
        return replace(document, paragraphs=kept, language=main_language(kept))
