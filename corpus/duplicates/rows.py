"""Rows of columns, many at once, each with the key that it is known again by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import repeat
from operator import itemgetter
from typing import BinaryIO

import numpy as np
import xxhash

from corpus.errors import Fault, FormatError
from corpus.sources import BOM, MAX_LINE, TOO_LONG, line_batches
from sieve.fingerprint import Fingerprints

BATCH_BYTES, BESIDE_BYTES = 1 << 20, 64
"""What is judged at once, and what a row, or a document, takes beside its bytes."""


@dataclass(slots=True)
class Rows:
    """Lines of a file, without line ends, and the key of each: ``digests``, 8 bytes each."""

    lines: list[bytes] = field(default_factory=list)
    digests: list[bytes] = field(default_factory=list)

    @property
    def size_bytes(self) -> int:
        return sum(map(len, self.lines)) + BESIDE_BYTES * len(self.lines)

    @property
    def keys(self) -> Fingerprints:
        return np.frombuffer(b"".join(self.digests), ">u8").astype(np.uint64)


def keyed_rows(name: str, file: BinaryIO, fault: Fault, columns: tuple[int, ...]) -> Iterator[Rows]:
    """The rows of a file that are not blank, with keys by these columns (from 0): others give other keys. ``fault``
    hears of damage, and of each row that has not so many."""
    least = max(columns) + 1
    seed = xxhash.xxh3_64_intdigest(repr(columns).encode())
    pick = itemgetter(*columns, columns[0])  # twice, so that it gives a tuple for one column, too

    def digests(lines: Sequence[bytes]) -> list[bytes]:
        """All lines a step at a time: a loop over them takes half as long again. IndexError when one has too few."""
        bare = map(bytes.removesuffix, lines, repeat(b"\r"))  # a row is the same whatever ends its line
        picked = map(pick, map(bytes.split, bare, repeat(b"\t"), repeat(least)))
        return [*map(xxhash.xxh3_64_digest, map(b"\t".join, picked), repeat(seed))]

    for before, lines in line_batches(name, file, fault):
        if not before:
            lines[0] = lines[0].removeprefix(BOM)
        rows = Rows()
        if least > 1 and max(map(len, lines)) <= MAX_LINE:
            with suppress(IndexError):
                rows = Rows(lines, digests(lines))
        if not rows.lines:
            lines = [*_sound(name, before, lines, fault, least)]
            rows = Rows(lines, digests(lines))
        yield rows


def _sound(name: str, before: int, lines: Sequence[bytes], fault: Fault, least: int) -> Iterator[bytes]:
    """The lines, so many ``before`` them, that are rows with as many columns; ``fault`` hears of the others."""
    for number, line in enumerate(lines, before + 1):
        if len(line) > MAX_LINE:
            fault(FormatError(name, number, TOO_LONG))
        elif line.strip(b" \r"):  # tabs alone are a row of empty columns
            count = line.count(b"\t") + 1
            if count >= least:
                yield line
            else:
                fault(FormatError(name, number, f"{count} columns, not {least}"))


def batches(read: Iterable[Rows]) -> Iterator[Rows]:
    """The same rows, about a MiB at once: what is on disk is asked once a batch."""
    batch, size_bytes = Rows(), 0
    for rows in read:
        batch.lines += rows.lines
        batch.digests += rows.digests
        size_bytes += rows.size_bytes
        if size_bytes >= BATCH_BYTES:
            yield batch
            batch, size_bytes = Rows(), 0
    if batch.lines:
        yield batch
