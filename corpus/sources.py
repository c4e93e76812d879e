"""Documents from files of any kind, archives, JSON lines or vertical text: seen from their first bytes, else by their
names."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, TypeVar

from archive import Damage
from corpus.document import SAID, Document, Paragraph, from_json, main_language
from corpus.errors import BrokenOffError, Fault, FormatError
from corpus.extraction import Choice, Extraction
from corpus.inputs import DOCUMENT_SUFFIXES, STDIN, VERTICAL_SUFFIXES, beginning, open_stored, stored_size, unpacked
from corpus.languages import of_html_tag
from corpus.report import Report
from corpus.tally import Tally, counted
from corpus.vertical.reading import VerticalDocument, read_vertical
from corpus.vertical.rows import documents_of
from relevance.language.identification import Identifier

MAX_LINE = 64 << 20
"""Bytes of a line: of a longer one nothing is read."""
TOO_LONG = f"a line of more than {MAX_LINE >> 20} MiB"
_MOST_LINES = 1 << 14
"""That are given at once: packed files are unpacked up to 8 MiB at once, which may be millions of lines."""
_SHOWN = 200
BOM = b"\xef\xbb\xbf"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff", b"{\0", b"\0{")
"""How JSON in UTF-16 begins."""
_STARTS = {"archive": rb"\s*(?:WARC/|filedesc:)", "jsonl": rb"\s*\{", "vertical": rb"\s*<doc[\s>]"}
_NAMES = {"jsonl": DOCUMENT_SUFFIXES, "vertical": VERTICAL_SUFFIXES}

Made = TypeVar("Made")


def kind_of(name: str, head: bytes) -> str:
    """Is a file whose stored bytes begin with ``head`` an "archive", "jsonl" or "vertical"? Its plain bytes tell, else
    its name."""
    first = next((chunk.data for chunk in unpacked(io.BytesIO(head), name, [])), b"").removeprefix(BOM)
    by_start = (kind for kind, start in _STARTS.items() if re.match(start, first))
    by_name = (kind for kind, suffixes in _NAMES.items() if name.endswith(suffixes))
    return next(by_start, None) or next(by_name, "archive")


def kinds_of(files: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The files that can be looked at before they are read, as pipes cannot, each with its kind: what cannot be done
    with it is found before the work, not after hours of it."""
    for name in files:
        if name != STDIN and Path(name).is_file():
            with suppress(OSError), open_stored(name) as file:  # told when it is to be read
                yield name, kind_of(name, beginning(file)[0])


def read_vertical_file(name: str, file: BinaryIO, fault: Fault) -> Iterator[Document]:
    """The documents of a vertical file, which know no charset. ``fault`` hears of damage, and of what is
    not vertical text; the next document is read all the same."""
    rows = (row.decode("utf-8", "replace") for batch in _told(name, file, fault) for row in batch)
    for document in documents_of(rows, name, fault):
        yield from map(_of_vertical, read_vertical(document, name))


def _of_vertical(found: VerticalDocument) -> Document:
    identity, url, title = (found.attributes.get(key, "") for key in ("id", "url", "title"))
    paragraphs = tuple(
        Paragraph(paragraph.text, "heading" if paragraph.heading else "main", of_html_tag(paragraph.lang))
        for paragraph in found.paragraphs
    )
    said = {name: found.attributes.get(name, "") for name in ("date", *SAID)}
    return Document(identity, url, title, language=main_language(paragraphs), paragraphs=paragraphs, extra={}, **said)


def read_jsonl(name: str, file: BinaryIO, fault: Fault) -> Iterator[Document]:
    """The documents of a file of JSON lines; see :func:`each_line`."""
    yield from each_line(name, file, fault, lambda line: from_json(line.decode("utf-8")))


def each_line(name: str, file: BinaryIO, fault: Fault, make: Callable[[bytes], Made]) -> Iterator[Made]:
    """What ``make`` makes of each line that is not blank. ``fault`` hears of each line that it raises a ValueError for,
    and of each place where the file is damaged; reading goes on behind it where it can. Of UTF-16 nothing is read."""
    for number, row in enumerate(lines(name, file, fault), 1):
        line = row.removeprefix(BOM) if number == 1 else row
        if number == 1 and row.startswith(_UTF_16):
            fault(FormatError(name, 1, "UTF-16; only UTF-8 is read: iconv -f UTF-16 -t UTF-8 makes it so"))
            return
        try:
            if len(line) > MAX_LINE:
                raise ValueError(TOO_LONG)
            if line.strip(b" \r"):  # tabs alone are a row of empty columns
                yield make(line)
        except ValueError as error:
            fault(FormatError(name, number, str(error)))


def lines(name: str, file: BinaryIO, fault: Fault) -> Iterator[bytes]:
    """The lines of a file; of one that is too long a little more than :data:`MAX_LINE`, of one that damage cuts off
    nothing."""
    for _, batch in line_batches(name, file, fault):
        yield from batch


def sound_lines(name: str) -> Iterator[tuple[int, bytes]]:
    """The lines of a file, each with its number from 1. FormatError where it is damaged, or a line is too long: for
    what must not lack any of them."""

    def refuse(error: FormatError) -> None:
        raise error

    with open_stored(name) as file:
        for number, line in enumerate(lines(name, file, refuse), 1):
            if len(line) > MAX_LINE:  # it lacks a part
                raise FormatError(name, number, TOO_LONG)
            yield number, line


def line_batches(name: str, file: BinaryIO, fault: Fault) -> Iterator[tuple[int, list[bytes]]]:
    """As :func:`lines`, those that are read at once together: never none; and how many are before them."""
    damages: list[Damage] = []
    parts: list[bytes] = []
    size = number = 0
    for chunk in unpacked(file, name, damages):
        rows = chunk.data.split(b"\n")
        rest = rows.pop()
        if rows:
            rows[0] = b"".join((*parts, rows[0]))
            parts, size = [], 0
        for start in range(0, len(rows), _MOST_LINES):
            yield number + start, rows[start : start + _MOST_LINES]
        number += len(rows)
        if size <= MAX_LINE:
            parts.append(rest[: MAX_LINE + 1])
            size += len(rest)
        if chunk.broken is not None:
            parts, size = [], 0
        while damages:
            fault(BrokenOffError(name, number + 1, f"breaks off: {damages.pop(0)}"))
    while damages:
        fault(BrokenOffError(name, number + 1, f"breaks off: {damages.pop(0)}"))
    if parts:
        yield number, [b"".join(parts)]


def _told(name: str, file: BinaryIO, fault: Fault) -> Iterator[list[bytes]]:
    """As :func:`line_batches`; ``fault`` hears of each line that is too long."""
    for before, batch in line_batches(name, file, fault):
        if max(map(len, batch)) > MAX_LINE:
            for number, row in enumerate(batch, before + 1):
                if len(row) > MAX_LINE:
                    fault(FormatError(name, number, f"{TOO_LONG}, cut off there"))
        yield batch


def documents(
    files: Sequence[str], report: Report, tally: Tally, *, jsonl: bool = False, identifier: Identifier | None = None
) -> Iterator[Document]:
    """The documents of all files: those of archives in all languages and with duplicates. ``jsonl``: standard input
    is of that kind, whatever it begins with. ``identifier``: names the languages of archives (None: the shipped model).
    A file that cannot be read is told, and the others follow."""
    archives = Extraction(Choice(dedup_bytes=0, identifier=identifier), report, tally)
    fault = counting(report, tally)

    def opened(name: str) -> Iterator[Document]:
        with open_stored(name) as stored:
            head, file = beginning(stored)
            kind = "jsonl" if jsonl and name == STDIN else kind_of(name, head)
            if kind == "archive":
                yield from archives.read(name, file)
                return
            for document in (read_jsonl if kind == "jsonl" else read_vertical_file)(name, file, fault):
                tally.documents += 1
                yield document

    try:
        for name in files:
            yield from counted(name, opened(name), report, tally)
    finally:
        archives.close()


def vertical_rows(
    files: Sequence[str], report: Report, tally: Tally, check: Callable[[list[str]], str] = lambda _: ""
) -> Iterator[list[str]]:
    """The rows of each document of vertical files (:func:`corpus.vertical.rows.documents_of`), to be written again:
    bytes that are no UTF-8 are surrogates. ``check``: why a document cannot be, "" when it can. What is left out is
    told, and so is a file that cannot be read on."""
    fault = counting(report, tally)

    def rows(name: str, file: BinaryIO) -> Iterator[str]:
        for batch in _told(name, file, fault):
            yield from [row.decode("utf-8", "surrogateescape") for row in batch]

    def opened(name: str) -> Iterator[list[str]]:
        size = stored_size(name)
        with open_stored(name) as file, report.progress(Path(name).name, size) as tick:
            for document in documents_of(rows(name, file), name, fault):
                if reason := check(document):
                    tally.damages += 1
                    report.warn(f"{name}: {document[0][:_SHOWN]}: {reason}; left out")
                    continue
                tally.documents += 1
                if size is not None:
                    tick(file.tell())
                yield document

    for name in files:
        yield from counted(name, opened(name), report, tally)


def counting(report: Report, tally: Tally) -> Fault:
    """Tells of faults, and counts them."""

    def fault(error: FormatError) -> None:
        tally.damages += 1
        report.warn(str(error))

    return fault
