"""Documents from files of either kind, archives or JSON lines: seen from their first bytes, else by their names."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Sequence
from typing import BinaryIO

from archive import Damage
from corpus.document import Document, from_json
from corpus.errors import FormatError
from corpus.extraction import Choice, Extraction
from corpus.inputs import DOCUMENT_SUFFIXES, STDIN, beginning, open_stored, unpacked
from corpus.report import Report
from corpus.tally import Tally

MAX_LINE = 64 << 20
"""Bytes of a line of JSON: of a longer one nothing is read."""
_BOM = b"\xef\xbb\xbf"
_ARCHIVE = re.compile(rb"\s*(?:WARC/|filedesc:)")

Fault = Callable[[FormatError], None]


def is_jsonl(name: str, head: bytes) -> bool:
    """Is a file whose stored bytes begin with ``head`` one of JSON lines? Its plain bytes tell, else its name."""
    first = next((chunk.data for chunk in unpacked(io.BytesIO(head), name, [])), b"")
    if first.removeprefix(_BOM).lstrip().startswith(b"{"):
        return True
    return name.endswith(DOCUMENT_SUFFIXES) and _ARCHIVE.match(first) is None


def read_jsonl(name: str, file: BinaryIO, fault: Fault) -> Iterator[Document]:
    """The documents of a file of JSON lines. ``fault`` hears of each line that is none, and of each place where the
    file is damaged; reading goes on behind it where it can."""
    for number, row in enumerate(_lines(name, file, fault), 1):
        line = row.removeprefix(_BOM) if number == 1 else row
        try:
            if len(line) > MAX_LINE:
                raise ValueError(f"a line of more than {MAX_LINE >> 20} MiB")
            if line.strip():
                yield from_json(line.decode("utf-8"))
        except ValueError as error:
            fault(FormatError(name, number, str(error)))


def _lines(name: str, file: BinaryIO, fault: Fault) -> Iterator[bytes]:
    """The lines of a file; of one that is too long a little more than :data:`MAX_LINE`, of one that damage cuts off
    nothing."""
    damages: list[Damage] = []
    parts: list[bytes] = []
    size = number = 0
    for chunk in unpacked(file, name, damages):
        *whole, rest = chunk.data.split(b"\n")
        for piece in whole:
            number += 1
            yield b"".join((*parts, piece))
            parts, size = [], 0
        if size <= MAX_LINE:
            parts.append(rest[: MAX_LINE + 1])
            size += len(rest)
        if chunk.broken is not None:
            parts, size = [], 0
        while damages:
            fault(FormatError(name, number + 1, f"breaks off: {damages.pop(0)}"))
    while damages:
        fault(FormatError(name, number + 1, f"breaks off: {damages.pop(0)}"))
    if parts:
        yield b"".join(parts)


def documents(files: Sequence[str], report: Report, tally: Tally, *, jsonl: bool = False) -> Iterator[Document]:
    """The documents of all files: those of archives in all languages and with duplicates. ``jsonl``: standard input
    is of that kind, whatever it begins with. A file that cannot be read is told, and the others follow."""
    archives = Extraction(Choice(dedup_bytes=0), report, tally)

    def fault(error: FormatError) -> None:
        tally.damages += 1
        report.warn(str(error))

    def of_lines(name: str, file: BinaryIO) -> Iterator[Document]:
        for document in read_jsonl(name, file, fault):
            tally.documents += 1
            yield document

    def opened(name: str) -> Iterator[Document]:
        with open_stored(name) as stored:
            head, file = beginning(stored)
            lines = (jsonl and name == STDIN) or is_jsonl(name, head)
            yield from (of_lines if lines else archives.read)(name, file)

    for name in files:
        yield from archives.counted(name, opened(name))
