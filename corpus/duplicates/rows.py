"""Rows of columns, many at once, each with the key that it is known again by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from operator import itemgetter
from typing import BinaryIO

import xxhash

from corpus.errors import Fault, FormatError
from corpus.sources import BOM, MAX_LINE, line_batches

_BATCH_BYTES, _BESIDE_BYTES = 1 << 20, 64
"""What is judged at once, and what a row takes beside its bytes."""


@dataclass(slots=True)
class Rows:
    """Lines of a file, without line ends, and the key of each."""

    lines: list[bytes] = field(default_factory=list)
    keys: list[int] = field(default_factory=list)

    @property
    def size_bytes(self) -> int:
        return sum(map(len, self.lines)) + _BESIDE_BYTES * len(self.lines)


def keyed_rows(name: str, file: BinaryIO, fault: Fault, columns: tuple[int, ...]) -> Iterator[Rows]:
    """The rows of a file that are not blank, with keys by these columns (from 0): others give other keys. ``fault``
    hears of damage, and of each row that has not so many."""
    digest, least = xxhash.xxh3_64_intdigest, max(columns) + 1
    seed = digest(repr(columns).encode())
    pick = itemgetter(*columns, columns[0])  # twice, so that it gives a tuple for one column, too
    for before, lines in line_batches(name, file, fault):
        if not before:
            lines[0] = lines[0].removeprefix(BOM)
        rows = Rows()
        for number, line in enumerate(lines, before + 1):
            row = line.split(b"\t", least)
            if len(line) > MAX_LINE:
                fault(FormatError(name, number, f"a line of more than {MAX_LINE >> 20} MiB"))
            elif len(row) >= least and line.strip(b" \r"):  # tabs alone are a row of empty columns
                rows.lines.append(line)
                rows.keys.append(digest(b"\t".join(pick(row)), seed))
            elif line.strip(b" \r"):
                fault(FormatError(name, number, f"{len(row)} columns, not {least}"))
        yield rows


def batches(read: Iterable[Rows]) -> Iterator[Rows]:
    """The same rows, about a MiB at once: what is on disk is asked once a batch."""
    batch, size_bytes = Rows(), 0
    for rows in read:
        batch.lines += rows.lines
        batch.keys += rows.keys
        size_bytes += rows.size_bytes
        if size_bytes >= _BATCH_BYTES:
            yield batch
            batch, size_bytes = Rows(), 0
    if batch.lines:
        yield batch
