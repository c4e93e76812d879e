"""Documents of JSON lines or vertical text, read so that they can be written again as they stood.

Guarantees: what is kept whole is written byte for byte as it was read (but for a byte order mark, and with a line feed
at its end); blank lines between documents are no part of either. Of a document of which paragraphs go, nothing else
changes: in JSON but ``text``, ``paragraphs``, ``words`` and ``language``, in vertical text nothing. Vertical texts that
differ in broken UTF-8 only are different texts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, TypeVar

from corpus.document import Paragraph, main_language, paragraph_of, parts_of_row, row_of, said_in
from corpus.errors import BrokenOffError, Fault, FormatError, UsageFault
from corpus.inputs import (
    ARCHIVE_SUFFIXES,
    DOCUMENT_SUFFIXES,
    VERTICAL_SUFFIXES,
    beginning,
    expand,
    open_stored,
    stored_size,
)
from corpus.outputs import plain_suffix
from corpus.report import Report
from corpus.sources import BOM, MAX_LINE, TOO_LONG, each_line, kind_of, kinds_of, lines
from corpus.vertical.reading import VerticalDocument, read_vertical
from corpus.vertical.rows import Nesting, raw_documents, tag_of

Read = TypeVar("Read")
_DECODER = json.JSONDecoder()
_BEGINS, _COLON, _COMMA = (re.compile(rf"[ \t\n\r]*{sign}[ \t\n\r]*") for sign in "{:,")
_MOST_TOLD = 100
"""Faults of one file that have a line of their own, beside where it breaks off; a file of another kind than was meant
may have one a row."""
_NAMED = {"jsonl": (".jsonl", ".json"), "vertical": (".vert", ".prevert")}
OUTPUT_SUFFIXES = tuple(suffix for suffixes in _NAMED.values() for suffix in suffixes)
"""Of the names of outputs that say what must have been read for them."""


def output_form(name: str) -> str:
    """ "jsonl" or "vertical", which the documents of an output of this name must have; "": either."""
    return next((form for form, suffixes in _NAMED.items() if plain_suffix(name) in suffixes), "")


def expand_documents(names: Sequence[str], output: str) -> list[str]:
    """As :func:`corpus.inputs.expand`; of folders the files that have the form of this output, JSON lines where its
    name says nothing."""
    return expand(names, VERTICAL_SUFFIXES if output_form(output) == "vertical" else DOCUMENT_SUFFIXES)


@dataclass(frozen=True, slots=True)
class VerbatimDocument:
    """``date``, ``published``: as of :class:`corpus.document.Document`. ``texts``: of its paragraphs, which of vertical
    text is most of the work. ``whole``: as it stands in its file, with a line end. ``cut``: the same with the
    paragraphs at these places only."""

    id: str
    url: str
    date: str
    published: str
    texts: Callable[[], list[str]]
    whole: bytes
    cut: Callable[[Sequence[int]], bytes]


def json_documents(name: str, file: BinaryIO, fault: Fault) -> Iterator[VerbatimDocument]:
    """The documents of JSON lines; see :func:`corpus.sources.each_line`."""
    yield from each_line(name, file, fault, _of_json)


def _of_json(line: bytes) -> VerbatimDocument:
    row = row_of(line.decode("utf-8"))
    texts, facts = parts_of_row(row)
    published = row.get("published")

    def cut(places: Sequence[int]) -> bytes:
        kept = [paragraph_of(texts[place], facts[place]) for place in places]
        return _cut_json(line.decode("utf-8"), places, kept, facts)

    identity, url, date = (said_in(row, name) for name in ("id", "url", "date"))
    said = published if isinstance(published, str) else ""
    return VerbatimDocument(identity, url, date, said, texts.copy, line + b"\n", cut)


def _cut_json(line: str, places: Sequence[int], kept: Sequence[Paragraph], facts: Sequence[Mapping[str, Any]]) -> bytes:
    """What is not rewritten stays as it is written there: numbers (1.10, 1e999), escapes and spaces."""
    spans = {name: (start, end) for name, start, end in _members(line)}
    left: dict[str, Any] = {"text": "\n".join(paragraph.text for paragraph in kept)}
    if "paragraphs" in spans and line[spans["paragraphs"][0]] == "[":
        left |= {"paragraphs": [facts[place] for place in places], "language": main_language(tuple(kept))}
    if "words" in spans:
        left["words"] = sum(paragraph.words for paragraph in kept)
    end = line.rindex("}")
    for name in sorted(left, key=lambda name: spans.get(name, (end, end)), reverse=True):
        start, stop = spans.get(name, (end, end))
        before = f', "{name}": ' if start == stop else ""
        line = f"{line[:start]}{before}{json.dumps(left[name], ensure_ascii=False)}{line[stop:]}"
    return encoded(f"{line}\n")


def _members(line: str) -> Iterator[tuple[str, int, int]]:
    """Of each member of a line's object, which is not empty, its name, and where its value stands."""
    begins = _BEGINS.match(line)
    while begins is not None:
        name, at = _DECODER.raw_decode(line, begins.end())
        colon = _COLON.match(line, at)
        assert colon is not None
        _, end = _DECODER.raw_decode(line, colon.end())
        yield name, colon.end(), end
        begins = _COMMA.match(line, end)


def encoded(made: str) -> bytes:
    """JSON in UTF-8; half of a surrogate pair is escaped, as it was when it was read."""
    return made.encode("utf-8", "backslashreplace")


def vertical_documents(name: str, file: BinaryIO, fault: Fault) -> Iterator[VerbatimDocument]:
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
                raise FormatError(name, long, TOO_LONG)
            attributes = _attributes(rows, name)
            if attributes is not None:
                yield _of_vertical(attributes, rows, name)
        except FormatError as error:
            fault(FormatError(name, number + error.line, f"{error.reason}; left out up to the next document"))


def _attributes(rows: Sequence[bytes], path: str) -> dict[str, str] | None:
    """Those of the document of these rows, when there is one. FormatError: they keep not to the form."""
    nesting, found = Nesting(path), None
    for number, row in enumerate(rows, 1):
        if nesting.paragraph and not row.startswith(b"<"):  # nearly all rows
            continue
        text = _decoded(row).rstrip("\r")
        if not text:
            continue
        tag = tag_of(text)
        nesting.take(number, tag)
        if tag is not None and tag.name == "doc" and not tag.closing:
            found = tag.attributes
    if nesting.document:
        raise FormatError(path, len(rows), "the file ends inside a document")
    return found


def _of_vertical(attributes: dict[str, str], rows: Sequence[bytes], path: str) -> VerbatimDocument:
    """``rows``: those of the document."""

    def read() -> VerticalDocument:
        return next(read_vertical(map(_decoded, rows), path))

    def texts() -> list[str]:
        return [paragraph.text for paragraph in read().paragraphs]

    def cut(places: Sequence[int]) -> bytes:
        kept = set(places)
        left = list(rows)
        for place, paragraph in reversed(list(enumerate(read().paragraphs))):
            if place not in kept:
                del left[paragraph.first - 1 : paragraph.last]
        return _joined(left)

    identity, url, date, published = (attributes.get(key, "") for key in ("id", "url", "date", "published"))
    return VerbatimDocument(identity, url, date, published, texts, _joined(rows), cut)


def _decoded(row: bytes) -> str:
    return row.decode("utf-8", "surrogateescape")


def _joined(rows: Sequence[bytes]) -> bytes:
    return b"".join(row + b"\n" for row in rows)


class VerbatimReader:
    """The documents of files that are all of one form, "jsonl" or "vertical": that of the first of them, or ``form``,
    which the output is named as. What is wrong with a file is told (without a ``report``: not), and counted in
    ``damages``; ``refused``: something was, that is not for want of a file that can be read."""

    def __init__(self, report: Report | None, form: str = "") -> None:
        self.damages = 0
        self.refused = False
        self._report = report
        self._output_form = form
        self._form = ""
        self._untold = 0

    def expect(self, files: Sequence[str]) -> None:
        """UsageFault when not all of these are of that one form, as far as they can be looked at before the work."""
        for name, form in kinds_of(files):
            if stored_size(name):
                self._expect(name, form)

    def documents(self, name: str) -> Iterator[VerbatimDocument]:
        """The documents of a file."""
        return self.read(name, self._documents)

    def read(self, name: str, of_file: Callable[[str, BinaryIO, Fault], Iterator[Read]]) -> Iterator[Read]:
        """What ``of_file`` reads of a file; one that cannot be read on is told. Only errors of reading are caught, none
        of what is done with it."""
        self._untold = -_MOST_TOLD
        try:
            with open_stored(name) as stored:
                yield from of_file(name, stored, self._fault)
        except OSError as error:
            self.damages += 1
            if self._report is not None:
                self._report.err(f"{name}: cannot be read on: {error}")
        if self._untold > 0 and self._report is not None:
            self._report.warn(f"{name}: {self._untold:,} more places like these")

    def _documents(self, name: str, stored: BinaryIO, fault: Fault) -> Iterator[VerbatimDocument]:
        head, file = beginning(stored)
        if not head and not name.endswith(ARCHIVE_SUFFIXES):  # of either form; perhaps of none that is whole
            for _ in lines(name, file, fault):
                pass
            return iter(())
        form = kind_of(name, head)
        self._expect(name, form)
        return (json_documents if form == "jsonl" else vertical_documents)(name, file, fault)

    def _expect(self, name: str, form: str) -> None:
        if form == "archive":
            hint = "archives: corpus extract; rows: corpus dedup --columns"
            raise UsageFault(f"{name}: neither JSON lines nor vertical text ({hint})")
        if self._output_form not in ("", form):
            raise UsageFault(
                f"{name}: {form}, but the output is named as {self._output_form}: it has the form of its files"
            )
        if self._form not in ("", form):
            raise UsageFault(f"{name}: {form}, but the files before it are {self._form}: one form a run")
        self._form = form

    def _fault(self, error: FormatError) -> None:
        self.damages += 1
        self.refused = True
        broken = isinstance(error, BrokenOffError)
        self._untold += not broken
        if self._report is not None and (broken or self._untold <= 0):
            self._report.warn(str(error))
