"""How much went in, how much came out, and why the rest did not: every drop has a reason.

Reasons for records (each record of a file is counted once): :data:`RECORD_REASONS`; for paragraphs of documents:
:data:`PARAGRAPH_REASONS`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

from archive import ArchiveError
from corpus.report import Report

T = TypeVar("T")

RECORD_REASONS = {
    "record_type": "no capture: warcinfo, request, metadata, a crawler's log, ...",
    "rendered": "the text of a page as a browser showed it, beside the page itself",
    "revisit": "says only that the content was captured before",
    "lost": "captured before, and that is in none of the files of --earlier",
    "status": "the answer was not 200",
    "media_type": "neither HTML nor plain text nor PDF",
    "robots_txt": "a robots.txt",
    "requisite": "what a page embeds, so the crawl says: a script, the answer for a picture that is missing",
    "robots_meta": "the page asks robots not to keep it (noindex, noarchive)",
    "damaged": "its bytes in the archive are damaged",
    "binary": "said to be text, but its bytes are not",
    "unreadable": "a PDF document that is protected or damaged",
    "failed": "could not be read",
    "no_text": "no main text",
    "language": "nothing in a wanted language",
    "few_words": "fewer words than --min-words",
    "duplicate": "the same text as a document before, or nothing new in it",
}
PARAGRAPH_REASONS = {
    "aside": "navigation, lists of links, captions: not main text",
    "language": "not in a wanted language",
    "duplicate": "a paragraph seen before, or short ones before it",
}
NOTES = {
    "cut": "longer than 8 MiB (PDF: 64 MiB), only the beginning was read",
    "truncated": "the archive has only the beginning of them, or a fault in their coding",
    "links": "their links could not be placed",
}
FAILED = frozenset(("damaged", "failed"))


@dataclass(slots=True)
class Tally:
    """Counts of one run. ``notes``: pages that were not read as they should be, by :data:`NOTES`, whether or not
    documents were made of them."""

    files: int = 0
    records: int = 0
    documents: int = 0
    paragraphs: int = 0
    words: int = 0
    text_bytes: int = 0
    damages: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    dropped_paragraphs: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)

    @property
    def failed(self) -> int:
        """Records that could not be read."""
        return sum(self.dropped[reason] for reason in FAILED)

    @property
    def faults(self) -> int:
        """Damaged places, records that failed, and those whose content is lost: when there are any, the run is not all
        good."""
        return self.damages + self.failed + self.dropped["lost"]

    def as_json(self) -> dict[str, Any]:
        return {
            "files": self.files,
            "records": self.records,
            "documents": self.documents,
            "paragraphs": self.paragraphs,
            "words": self.words,
            "text_bytes": self.text_bytes,
            "damages": self.damages,
            "dropped": dict(sorted((+self.dropped).items())),
            "dropped_paragraphs": dict(sorted(self.dropped_paragraphs.items())),
            "notes": dict(sorted(self.notes.items())),
        }


def counted(name: str, found: Iterator[T], report: Report, tally: Tally) -> Iterator[T]:
    """What is found in a file, which is told and counted at its end; when it cannot be read on, that is its end."""
    before, faults = tally.documents, tally.faults
    try:
        yield from found
    except (OSError, ArchiveError) as error:
        tally.damages += 1
        report.err(f"{name}: cannot be read on: {error}")
    tally.files += 1
    documents, bad = tally.documents - before, tally.faults - faults
    report.ok(f"{name}: {documents} documents" + (f", {bad} faults" if bad else ""))
