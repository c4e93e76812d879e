"""Documents of vertical files with their links to Wikipedia.

A document without "wikipedia" in its lines is passed over before its tokens are read. Offsets of a link count the
file's bytes without its compression: before ``<link``, and before the line of the first token of its text; behind
damage, those that could be read. A document that does not keep the format is told, and the next one read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import BinaryIO

from corpus.document import Document, Link, Paragraph, Source, main_language
from corpus.errors import Fault, FormatError
from corpus.languages import of_html_tag
from corpus.sources import lines
from corpus.vertical.reading import Token, VerticalDocument, VerticalParagraph, read_vertical
from corpus.vertical.rows import raw_documents
from corpus.wikilinks.address import target_of

MAX_DOCUMENT = 64 << 20
"""Bytes of a document: what a longer one has behind them is not read, so it is told as one that does not end."""
_NAME = b"wikipedia"


def linked_documents(name: str, file: BinaryIO, fault: Fault) -> Iterator[Document | None]:
    """The documents of a vertical file that name Wikipedia; their paragraphs have the links to it, and no others. None
    for each other one. ``fault`` hears of damage."""
    for raw in raw_documents(lines(name, file, fault), MAX_DOCUMENT):
        if raw.ends and _NAME not in b"\n".join(raw.rows).lower():
            yield None
            continue
        if raw.cut:
            reason = f"a document of more than {MAX_DOCUMENT >> 20} MiB; it is left out"
            fault(FormatError(name, raw.number + 1, reason))
            continue
        starts = list(accumulate((len(row) + 1 for row in raw.rows), initial=raw.at))
        try:
            for found in read_vertical((row.decode("utf-8", "replace") for row in raw.rows), name):
                yield _document(name, found, _Lines(raw.rows, starts))
        except FormatError as error:
            fault(FormatError(name, raw.number + error.line, f"{error.reason}; this document is left out"))


class _Lines:
    """The lines of a document, and where in the file each begins."""

    def __init__(self, rows: Sequence[bytes], starts: Sequence[int]) -> None:
        self._rows = rows
        self._starts = starts

    def start(self, token: Token) -> int:
        return self._starts[token.line - 1]

    def link(self, token: Token) -> int:
        return self.start(token) + self._rows[token.line - 1].find(b"<link=")


def _document(name: str, found: VerticalDocument, file_lines: _Lines) -> Document:
    identity, url, title = (found.attributes.get(key, "") for key in ("id", "url", "title"))
    paragraphs = tuple(_paragraph(paragraph, file_lines) for paragraph in found.paragraphs)
    language = main_language(paragraphs)
    return Document(identity, url, title, language=language, paragraphs=paragraphs, charset="utf-8", place=name)


def _paragraph(found: VerticalParagraph, file_lines: _Lines) -> Paragraph:
    parts: list[str] = []
    begun: list[tuple[int, Token]] = []
    links: list[tuple[int, int, Token, Token]] = []
    size = ended = 0  # letters, and tokens up to the end of the last link: links lie apart, whatever their lengths say
    spaced = False  # since the last token that has a form: an image has none
    for sentence in found.sentences:
        for token in sentence:
            spaced = spaced or not token.glued
            if spaced and token.form:
                if size:
                    parts.append(" ")
                    size += 1
                spaced = False
            begun.append((size, token))
            parts.append(token.form)
            size += len(token.form)
            if token.link and target_of(token.link) is not None:
                start, first = begun[max(ended, len(begun) - max(1, token.length))]
                links.append((start, size, first, token))
                ended = len(begun)
    text = "".join(parts)
    placed = (
        Link(start, end, last.link, Source(last.link, text[start:end], file_lines.link(last), file_lines.start(first)))
        for start, end, first, last in links
        if start < end
    )
    return Paragraph(text, "heading" if found.heading else "main", of_html_tag(found.lang), tuple(placed))
