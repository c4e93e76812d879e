"""Reads records from ``.warc``, ``.warc.gz``, ``.warc.xz``, ``.warc.zst`` and ARC files, in any layout, with their
places.

Guarantees
* Nothing is passed over in silence: whatever could not be read is in :attr:`Reader.damages`, with its place, and
  logged.
* After damage, reading goes on at the next sound record: the next pack, member or frame, or the next record header.
* A file without a record is damaged, as one that was copied badly, unless it is still being written.
* A record whose block may be wrong or incomplete is still given, with :attr:`Record.damage` set (``sound=True``: left
  out).
* Memory is bounded: records above 16 MiB are streamed (``Record.pieces``), units above 8 MiB are unpacked bit by bit.

The kind of file is seen from its first bytes, not from its name. How it is stored and how records lie in it are
independent: a member may hold many records, a record may span members.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from archive.errors import Damage, KindUnreadable
from archive.reading import arc
from archive.reading.finding import Finder
from archive.reading.plain import NEXT, START, PlainBytes, Rest, declared_length
from archive.reading.record import Record
from archive.storage.source import Source
from archive.storage.unpack import Chunk, Unit, Unpacked, detect
from archive.storage.warcfile import OPEN

_LOG = logging.getLogger("archive.reading.reader")
_IN_MEMORY = 16 << 20
_TRAILER = 4
_FIRST_LINE_BYTES = 64
NO_RECORD = "no record in the file"
"""The reason of the damage of a file that has none."""


class Reader:
    """Iterate over the records of one file, once; a file opened here is closed at its end.

    ``types``: only records of these types are given ("response", ...); None: all.
    ``source``: a path or an open binary file (a pipe will do). ``sound``: leave damaged records out (they are still
    reported). ``offset``: begin at this place of the stored file, the beginning of a unit or (plain files) of a record.
    ``whole_bytes``: units of up to this many plain bytes are checked before a record of theirs is given (0: 8 MiB).

    ``stored_as``: "xz", "gz", "zst" or "none"; ``dictionary``: of a zst file.
    """

    def __init__(
        self,
        source: str | Path | BinaryIO,
        *,
        types: Collection[str] | None = None,
        sound: bool = False,
        offset: int = 0,
        whole_bytes: int = 0,
    ) -> None:
        self.damages: list[Damage] = []
        self.stored_as = "none"
        self.dictionary = b""
        self._logged = 0
        self.begun = offset > 0  # whether a record was found: what lies before has some
        self._types = frozenset(kind.lower() for kind in types) if types is not None else None
        self._sound = sound
        self._owned = isinstance(source, str | Path)
        self._file: BinaryIO = Path(source).open("rb") if isinstance(source, str | Path) else source  # noqa: SIM115
        self.path = str(source) if isinstance(source, str | Path) else str(getattr(source, "name", "<stream>"))
        self._streamed: Rest | None = None
        self._plain = PlainBytes(self._open(offset, whole_bytes))
        # Not a method of ours: a reader that is let go gives back its buffers at once, not when cycles are looked for.
        self._report = _Report(self.damages, self.path, self.stored_as)
        self._finder = Finder(self._plain, self._report, 0 if offset else -1)

    def _open(self, offset: int, whole_bytes: int) -> Iterator[Chunk]:
        window = Source(self._file)
        try:
            kind = detect(window)
        except KindUnreadable as error:
            self.damages.append(Damage(self.path, 0, -1, str(error)))
            return iter(())
        if kind is not None:
            self.stored_as, self.dictionary = kind.name, kind.dictionary
        if offset:
            self._file.seek(min(offset, self._file.seek(0, os.SEEK_END)))  # far behind the end no system goes
            window = Source(self._file, offset)
        self._source = window
        return iter(Unpacked(window, kind, self.path, self.damages, whole_bytes))

    @property
    def gap(self) -> bytes:
        """The plain bytes between the end of the block before and the record in hand, or, after the last one, the end
        of the file."""
        return self._finder.gap

    def skip(self, inner: int) -> None:
        """Begin so many plain bytes behind `offset`, where a record does."""
        self._finder.asked = inner or self._finder.asked
        self._plain.skip(inner)

    def close(self) -> None:
        if self._owned:
            self._file.close()

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Record]:
        while True:
            record = self._next()
            if record is None and not (self.begun or self.damages or self.path.endswith(OPEN)):
                self.damages.append(Damage(self.path, 0, -1, NO_RECORD))
            if len(self.damages) > self._logged:
                self._log()
            if record is None:
                self.close()
                return
            self.begun = True
            wanted = self._types is None or record.type in self._types
            if wanted and not (self._sound and record.damage is not None):
                yield record
            if self._streamed is not None:
                self._drain(record, self._streamed)
                self._streamed = None

    def _log(self) -> None:
        for damage in self.damages[self._logged :]:
            _LOG.warning("%s", damage)
        self._logged = len(self.damages)

    def _next(self) -> Record | None:
        """The next record, or None at the end."""
        head_end = self._finder.find()
        if head_end < 0:
            return None
        plain = self._plain
        unit, inner = plain.place()
        record = Record(self.path, unit, inner, plain.buffer, plain.position)
        record.plain_offset = plain.base + plain.position
        if self._finder.is_arc:
            line = plain.buffer[plain.position : head_end]
            headers, length, sound = arc.parse_line(line)
            record.preset(headers)
            if not sound:
                record.damage = self._report(unit, inner, f"unsound ARC line {line[:80]!r}")
        else:
            length = declared_length(plain.buffer, plain.position, head_end)
            if length < 0:
                record.damage = self._report(unit, inner, "no Content-Length")
        self._take(record, head_end, max(length, 0))
        return record

    def _take(self, record: Record, block: int, length: int) -> None:
        """Give the record its block, go past it, and check how it ends."""
        plain = self._plain
        start = plain.position
        if block + length > len(plain.buffer):
            if length > _IN_MEMORY:
                self._take_stream(record, block, length)
                return
            cut = self._gather(block - start + length)
            start, block = plain.position, plain.position + block - start
            record.rebase(plain.buffer, start)
            if cut >= 0:
                self._cut(record, block, cut, length)
                return
        record.block_start, record.length = block, length
        end = block + length
        plain.position = end
        if plain.broken is not None or not (
            plain.buffer.startswith(b"\r\n\r\nWARC/", end) or end + _TRAILER >= len(plain.buffer)
        ):
            self._check(record)
        if self.stored_as == "none":
            self._own_unit(record)

    def _own_unit(self, record: Record) -> None:
        """In a plain file each record is a unit of its own."""
        plain = self._plain
        size = record.block_start - record.start + record.length
        trailer = plain.buffer[plain.position : plain.position + _TRAILER]
        size += len(trailer) - len(trailer.lstrip(b"\r\n"))
        record.unit = Unit(record.unit.offset + record.inner, size)
        record.inner = 0

    def _gather(self, size: int) -> int:
        """Have ``size`` bytes from the position on. Returns -1, or how many there are when the record is cut short."""
        plain = self._plain
        while len(plain.buffer) - plain.position < size:
            before = len(plain.buffer) - plain.position
            if not plain.more():
                return before
            if plain.unit_start() == before and before and START.match(plain.buffer, before):
                return before
        return -1

    def _cut(self, record: Record, block: int, have: int, length: int) -> None:
        plain = self._plain
        end = plain.position + have
        embedded = None if self._finder.is_arc else NEXT.search(plain.buffer, block, end)
        end = embedded.start() if embedded is not None else end
        record.block_start = block
        record.length = max(end - block, 0)
        reason = f"the record ends early: {record.length} of {length} bytes"
        record.damage = plain.broken or self._report(record.unit, record.inner, reason)
        plain.position = end
        if self.stored_as == "none":
            self._own_unit(record)

    def _check(self, record: Record) -> None:
        """The record lies in a broken unit, or no record follows: is its block what it should be?"""
        plain = self._plain
        if plain.broken is not None:
            alone = not record.inner and plain.after_line_ends(plain.position) == len(plain.buffer)
            if alone or not record.block_holds():  # alone with a block that holds, it is the head that is broken
                record.damage = plain.broken
            return
        after, is_arc = plain.after_line_ends(plain.position), self._finder.is_arc
        if is_arc and after < len(plain.buffer) and self._finder.line_comes(after):
            after = plain.after_line_ends(plain.position)
        begins = arc.LINE.match(plain.buffer, after) if is_arc else plain.buffer[after : after + 5].upper() == b"WARC/"
        if after >= len(plain.buffer) - 64 or begins or record.block_holds():
            return
        reason = "no record follows where Content-Length says"
        record.damage = self._report(record.unit, record.inner, reason)
        # A length that is a little too long ends within the first line of the next record.
        embedded = None if is_arc else NEXT.search(plain.buffer, record.block_start, plain.position + _FIRST_LINE_BYTES)
        if embedded is not None and embedded.end() < plain.position:
            plain.position = embedded.end()
            record.length = max(embedded.start() - record.block_start, 0)

    def _take_stream(self, record: Record, block: int, length: int) -> None:
        """As :meth:`_take`, for a record too large for memory."""
        plain = self._plain
        head = plain.buffer[plain.position : block]
        record.rebase(head, 0)
        record.block_start, record.length = len(head), length
        plain.position = block
        # A plain file that is shorter: the length is a lie, and the block may take other records in.
        end = record.unit.offset + record.inner + len(head) + length
        beyond = self.stored_as == "none" and self._source.ends_before(end)
        rest = Rest(plain, length, (arc.NEXT if self._finder.is_arc else NEXT) if beyond else None)
        record.set_stream(rest)
        self._streamed = rest
        if self.stored_as == "none":
            record.unit = Unit(record.unit.offset + record.inner, len(head) + length + _TRAILER)
            record.inner = 0

    def _drain(self, record: Record, rest: Rest) -> None:
        """Go past what nobody has read of a streamed record."""
        while rest.left and rest.read(1 << 20):
            pass
        if rest.left:
            reason = f"the record ends early: {record.length - rest.left} of {record.length} bytes"
            record.damage = self._plain.broken or self._report(record.unit, record.inner, reason)
        elif rest.broken is not None:
            record.damage = rest.broken


@dataclass(frozen=True, slots=True)
class _Report:
    """Adds a damage to the list."""

    damages: list[Damage]
    path: str
    stored_as: str

    def __call__(self, unit: Unit, inner: int, reason: str, lost: int = 0) -> Damage:
        place = (unit.offset + inner, -1) if self.stored_as == "none" else (unit.offset, inner)
        damage = Damage(self.path, *place, reason, lost)
        self.damages.append(damage)
        return damage
