"""Archives and vertical files -> mentions of Wikipedia's articles; every drop counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from corpus.document import Document
from corpus.errors import UsageFault
from corpus.extraction import Choice, Extraction
from corpus.inputs import ARCHIVE_SUFFIXES, beginning, open_stored
from corpus.report import Report
from corpus.sources import counting, kind_of, kinds_of
from corpus.tally import RECORD_REASONS, Tally, counted
from corpus.wikilinks.choice import LinkChoice, of_wikimedia
from corpus.wikilinks.mentions import WORDS, Mention, mentions
from corpus.wikilinks.pages import LinkedPages
from corpus.wikilinks.verticals import linked_documents
from relevance.language.identification import Identifier

DOCUMENT_REASONS = {
    **RECORD_REASONS,
    "media_type": "neither HTML nor plain text",
    "no_link": "no link to Wikipedia, or none in a wanted language",
    "unplaced": "its links could not be placed in its text",
    "wikimedia": "a page of Wikipedia or a sister of it",
}


@dataclass(frozen=True, slots=True)
class Scope:
    """Where links are looked for. ``text``: which blocks of a page (:data:`corpus.wikilinks.pages.TEXTS`);
    ``languages`` of paragraphs, empty: all; ``wikimedia``: also documents on Wikipedia and its sisters; ``processes``:
    as of :class:`corpus.extraction.Extraction`."""

    text: str = "all"
    words: int = WORDS
    languages: frozenset[str] = frozenset()
    identifier: Identifier | None = None
    wikimedia: bool = True
    processes: int = 1


@dataclass(slots=True)
class Search:
    """One run over any number of files. ``tally.dropped`` counts by :data:`DOCUMENT_REASONS`, ``choice.dropped`` links
    by reason, ``found`` those that were given."""

    scope: Scope = field(default_factory=Scope)
    choice: LinkChoice = field(default_factory=LinkChoice)
    report: Report = field(default_factory=lambda: Report(quiet=True))
    tally: Tally = field(default_factory=Tally)
    found: int = 0

    def mentions(self, files: Sequence[str]) -> Iterator[Mention]:
        """The mentions in these archives and vertical files, in their order. UsageFault at JSON lines."""
        for name, kind in kinds_of([name for name in files if not name.endswith(ARCHIVE_SUFFIXES)]):
            _expect_links(name, kind)
        scope = self.scope
        wanted = Choice(scope.languages, dedup_bytes=0, linked=True)
        pages = LinkedPages(scope.text, scope.identifier, scope.wikimedia)
        archives = Extraction(wanted, self.report, self.tally, scope.processes, pages)
        try:
            for name in files:
                for document in counted(name, self._opened(name, archives), self.report, self.tally):
                    for mention in mentions(document, self.choice.of_document(document.url), scope.words):
                        self.found += 1
                        yield mention
        finally:
            archives.close()

    def _opened(self, name: str, archives: Extraction) -> Iterator[Document]:
        with open_stored(name) as stored:
            head, file = beginning(stored)
            kind = kind_of(name, head)
            _expect_links(name, kind)
            if kind == "archive":
                yield from archives.read(name, file)
                return
            for document in linked_documents(name, file, counting(self.report, self.tally)):
                if document is None:
                    self.tally.dropped["no_link"] += 1
                elif not self.scope.wikimedia and of_wikimedia(document.url):
                    self.tally.dropped["wikimedia"] += 1
                elif (kept := archives.keep(document)) is not None:
                    yield kept


def _expect_links(name: str, kind: str) -> None:
    if kind == "jsonl":
        raise UsageFault(f"{name}: JSON lines have no links; give the archives, or vertical files")
