"""Documents from files of either kind, archives or JSON lines: seen from their first bytes."""

from __future__ import annotations

import gzip
import lzma
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import zstandard

from corpus.document import Document, from_json
from corpus.errors import FormatError
from corpus.extraction import Choice, Extraction
from corpus.inputs import STDIN, open_stored, unpacked
from corpus.report import Report
from corpus.tally import Tally

_BROKEN = (OSError, EOFError, lzma.LZMAError, zlib.error, gzip.BadGzipFile, zstandard.ZstdError)


def is_jsonl(name: str) -> bool:
    """Does the file, unpacked, begin with an object? Standard input is taken for an archive unless it is named
    otherwise."""
    if name == STDIN:
        return False
    try:
        with open_stored(name) as file:
            return unpacked(file).read(256).lstrip().startswith(b"{")
    except _BROKEN:
        return Path(name).name.partition(".")[2].startswith("jsonl")


def read_jsonl(name: str, fault: Callable[[FormatError], None]) -> Iterator[Document]:
    """The documents of a file of JSON lines. ``fault`` hears of each line that is none, and of a file
    that breaks off."""
    number = 0
    with open_stored(name) as file:
        lines = iter(unpacked(file))
        while True:
            number += 1
            try:
                line = next(lines, b"")
                if not line:
                    return
                if line.strip():
                    yield from_json(line.decode("utf-8"))
            except ValueError as error:
                fault(FormatError(name, number, str(error)))
            except _BROKEN as error:
                fault(FormatError(name, number, f"breaks off: {error}"))
                return


def documents(files: Sequence[str], report: Report, tally: Tally, *, jsonl: bool = False) -> Iterator[Document]:
    """The documents of all files: those of archives in all languages and with duplicates. ``jsonl``: standard input
    is of that kind."""
    archives = Extraction(Choice(dedup_bytes=0), report, tally)

    def fault(error: FormatError) -> None:
        tally.damages += 1
        report.warn(str(error))

    for name in files:
        if not (jsonl if name == STDIN else is_jsonl(name)):
            yield from archives.documents([name])
            continue
        for document in read_jsonl(name, fault):
            tally.documents += 1
            yield document
        tally.files += 1
        report.ok(name)
