"""Documents of JSON lines or vertical text, read so that they can be written again as they stood.

Guarantees: what is kept whole is written byte for byte as it was read (but for a byte order mark, and with a line feed
at its end); blank lines between documents are no part of either. Of a document of which paragraphs go, nothing else
changes: in JSON but ``text``, ``paragraphs``, ``words`` and ``language``, in vertical text nothing. Vertical texts that
differ in broken UTF-8 only are different texts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from corpus.document import Document, main_language, of_row, row_of
from corpus.errors import Fault, FormatError
from corpus.sources import BOM, MAX_LINE, each_line, lines
from corpus.vertical.reading import VerticalDocument, read_vertical
from corpus.vertical.rows import raw_documents


@dataclass(frozen=True, slots=True)
class Unit:
    """``texts``: of its paragraphs. ``whole``: as it stands in its file, with a line end. ``cut``: the same with the
    paragraphs at these places only."""

    id: str
    url: str
    texts: list[str]
    whole: bytes
    cut: Callable[[Sequence[int]], bytes]


def json_units(name: str, file: BinaryIO, fault: Fault) -> Iterator[Unit]:
    """The documents of JSON lines; see :func:`corpus.sources.each_line`."""
    yield from each_line(name, file, fault, _of_json)


def _of_json(line: bytes) -> Unit:
    row = row_of(line.decode("utf-8"))
    document = of_row(row)
    texts = [paragraph.text for paragraph in document.paragraphs]
    return Unit(document.id, document.url, texts, line + b"\n", lambda places: _cut_json(row, document, places))


def _cut_json(row: dict[str, Any], document: Document, places: Sequence[int]) -> bytes:
    kept = tuple(document.paragraphs[place] for place in places)
    left = {**row, "text": "\n".join(paragraph.text for paragraph in kept)}
    if row.get("paragraphs") is not None:
        left["paragraphs"] = [row["paragraphs"][place] for place in places]
        left["language"] = main_language(kept)
    if "words" in row:
        left["words"] = sum(paragraph.words for paragraph in kept)
    return encoded(json.dumps(left, ensure_ascii=False) + "\n")


def encoded(made: str) -> bytes:
    """JSON in UTF-8; half of a surrogate pair is escaped, as it was when it was read."""
    return made.encode("utf-8", "backslashreplace")


def vertical_units(name: str, file: BinaryIO, fault: Fault) -> Iterator[Unit]:
    """The documents of vertical text. ``fault`` hears of damage, and of what is not vertical text; the next document is
    read all the same."""
    for raw in raw_documents(lines(name, file, fault)):
        rows = raw.rows
        if not raw.number:
            rows[0] = rows[0].removeprefix(BOM)
        blank = next((place for place, row in enumerate(rows) if row.strip()), len(rows))
        rows, number = rows[blank:], raw.number + blank
        try:
            long = next((place for place, row in enumerate(rows, 1) if len(row) > MAX_LINE), 0)
            if long:
                raise FormatError(name, long, f"a line of more than {MAX_LINE >> 20} MiB")
            for document in read_vertical((row.decode("utf-8", "surrogateescape") for row in rows), name):
                yield _of_vertical(document, rows)
        except FormatError as error:
            fault(FormatError(name, number + error.line, f"{error.reason}; left out up to the next document"))


def _of_vertical(document: VerticalDocument, rows: list[bytes]) -> Unit:
    """``rows``: those of the document."""

    def cut(places: Sequence[int]) -> bytes:
        kept = set(places)
        left = list(rows)
        for place in reversed(range(len(document.paragraphs))):
            if place not in kept:
                paragraph = document.paragraphs[place]
                del left[paragraph.first - 1 : paragraph.last]
        return _joined(left)

    texts = [paragraph.text for paragraph in document.paragraphs]
    return Unit(document.attributes.get("id", ""), document.attributes.get("url", ""), texts, _joined(rows), cut)


def _joined(rows: Sequence[bytes]) -> bytes:
    return b"".join(row + b"\n" for row in rows)
