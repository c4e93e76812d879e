"""Reads records from ``.warc``, ``.warc.gz``, ``.warc.xz``, ``.warc.zst`` and ARC files, in any layout, with their
places.

Guarantees
* Nothing is passed over in silence: whatever could not be read is in :attr:`Reader.damages`, with its place, and
  logged.
* After damage, reading goes on at the next sound record: the next pack, member or frame, or the next record header.
* A record whose block may be wrong or incomplete is still given, with :attr:`Record.damage` set (``sound=True``: left
  out).
* Memory is bounded: records above 16 MiB are streamed (``Record.pieces``), units above 8 MiB are unpacked bit by bit.

The kind of file is seen from its first bytes, not from its name. How it is stored and how records lie in it are
independent: a member may hold many records, a record may span members.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import BinaryIO

from archive import arc
from archive.errors import Damage, KindUnreadable
from archive.plain import START, PlainBytes, Rest, declared_length
from archive.record import Record, digest_holds
from archive.source import Source
from archive.unpack import Chunk, Unit, Unpacked, detect

_LOG = logging.getLogger("archive.reader")
_TYPE = re.compile(rb"(?i)\nwarc-type[ \t]*:[ \t]*([a-z]+)")
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_EMBEDDED = re.compile(rb"\r?\n(?=WARC/\d\.\d+[ \t]*\r?\n)")
_FILLER = re.compile(rb"[\r\n]*")
_MAX_HEAD = 1 << 20
_USUAL_HEAD = 8 << 10  # looked through at each record; where lines end with LF it would be the whole buffer
_IN_MEMORY = 16 << 20
_TRAILER = 4


class Reader:
    """Iterate over the records of one file, once; a file opened here is closed at its end.

    ``types``: only records of these types are given ("response", ...); None: all.
    ``source``: a path or an open binary file (a pipe will do). ``sound``: leave damaged records out (they are still
    reported). ``offset``: begin at this place of the stored file, the beginning of a unit or (plain files) of a record.
    ``whole_bytes``: units of up to this many plain bytes are checked before a record of theirs is given (0: 8 MiB).

    ``stored_as``: "xz", "gz", "zst" or "none"; ``dictionary``: of a zst file. ``gap``: the plain bytes between the
    end of the block before and the record in hand, or, after the last one, the end of the file.
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
        self.gap = b""
        self._logged = 0
        self._types = frozenset(kind.lower().encode() for kind in types) if types is not None else None
        self._sound = sound
        self._owned = isinstance(source, str | Path)
        self._file: BinaryIO = Path(source).open("rb") if isinstance(source, str | Path) else source  # noqa: SIM115
        self.path = str(source) if isinstance(source, str | Path) else str(getattr(source, "name", "<stream>"))
        self._is_arc = False
        self._place = 0 if offset else -1
        self._streamed: Rest | None = None
        self._plain = PlainBytes(self._open(offset, whole_bytes))

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
            self._file.seek(offset)
            window = Source(self._file, offset)
        self._source = window
        return iter(Unpacked(window, kind, self.path, self.damages, whole_bytes))

    def skip(self, inner: int) -> None:
        """Begin so many plain bytes behind `offset`, where a record does."""
        self._place = inner or self._place
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
            if len(self.damages) > self._logged:
                self._log()
            if record is None:
                self.close()
                return
            if not (self._sound and record.damage is not None):
                yield record
            if self._streamed is not None:
                self._drain(record)

    def _log(self) -> None:
        for damage in self.damages[self._logged :]:
            _LOG.warning("%s", damage)
        self._logged = len(self.damages)

    def _report(self, unit: Unit, inner: int, reason: str, lost: int = 0) -> Damage:
        damage = Damage(self.path, unit.offset + (inner if self.stored_as == "none" else 0),
                        inner if self.stored_as != "none" else -1, reason, lost)  # fmt: skip
        self.damages.append(damage)
        return damage

    # -- finding the next record -------------------------------------------------------------------------------------

    def _next(self) -> Record | None:
        """The next record of a wanted type, or None at the end."""
        plain = self._plain
        while self._to_record():
            start, head_end = plain.position, -1
            if not self._is_arc:
                head_end = plain.buffer.find(b"\n\r\n", start, start + _USUAL_HEAD) + 3
                if head_end < 3 or not self._usual_head(start, head_end - 2):
                    head_end = self._odd_head()
                    start = plain.position
                    if head_end < 0 and not self._is_arc:
                        continue
            record = self._arc_record() if self._is_arc else self._warc_record(start, head_end)
            if record is not None:
                return record
        return None

    def _usual_head(self, start: int, head_end: int) -> bool:
        """Does a record begin at the position, with no empty line before the one that ends with CRLF?"""
        buffer = self._plain.buffer
        return buffer.startswith(b"WARC/", start) and buffer.find(b"\n\n", start, head_end) < 0

    def _to_record(self) -> bool:
        """Go past the line ends between records, keeping them in ``gap``. False: nothing follows."""
        plain = self._plain
        if plain.buffer.startswith(b"\r\n\r\nWARC/", plain.position):
            self.gap = b"\r\n\r\n"
            plain.position += 4
            return True
        self.gap = b""
        endless = 0
        while True:
            match = _FILLER.match(plain.buffer, plain.position)
            if match is not None:
                if len(self.gap) <= _MAX_HEAD:
                    self.gap += match[0]
                else:
                    endless += len(match[0])
                plain.position = match.end()
            if plain.position < len(plain.buffer):
                break
            if not plain.more():
                if plain.broken is None:
                    break
                plain.pass_break()
        if len(self.gap) > _MAX_HEAD:
            self._report(*plain.place(), "nothing but line ends before this", len(self.gap) + endless)
        return plain.position < len(plain.buffer)

    def _odd_head(self) -> int:
        """The usual end of a head was not found: more must be read, or lines end with LF, or there is junk.

        Returns the index of the block, or -1: the position has changed, look again.
        """
        plain = self._plain
        while True:
            buffer, start = plain.buffer, plain.position
            if arc.begins(buffer, start, any_record=plain.base + start == self._place):
                self._is_arc = True
                return -1
            if START.match(buffer, start) is not None:
                match = _HEAD_END.search(buffer, start)
                if match is not None:
                    return match.end()
            elif b"\n" in buffer[start : start + 64] or len(buffer) - start >= 64:
                self._skip_junk()
                return -1
            if len(buffer) - start > _MAX_HEAD or not plain.more():
                if len(buffer) - start > _MAX_HEAD:
                    self._skip_junk()
                else:
                    self._skip_tail()
                return -1

    def _skip_tail(self) -> None:
        """What is left before a break or the end of the file is no record."""
        plain = self._plain
        if plain.broken is None:
            unit, inner = plain.place()
            rest = len(plain.buffer) - plain.position
            self._report(unit, inner, f"no record: {rest} bytes at the end", rest)
            plain.position = len(plain.buffer)
        else:
            plain.pass_break()

    def _skip_junk(self) -> None:
        """Go to the next record header: at the beginning of a line, or of a unit."""
        plain = self._plain
        unit, inner = plain.place()
        first = bytes(plain.buffer[plain.position : plain.position + 40])
        begin = plain.base + plain.position
        plain.position += 1
        pattern, begins = (arc.NEXT, arc.LINE) if self._is_arc else (_EMBEDDED, START)
        starts, fresh = plain.unit_starts(), plain.position
        while True:
            ends_line = plain.buffer.find(b"\n", fresh) >= 0  # what is found is found at the end of its line
            found = pattern.search(plain.buffer, plain.position) if ends_line else None
            end = found.end() if found is not None else len(plain.buffer)
            end = next((at for at in starts if at < end and begins.match(plain.buffer, at)), end)
            if end < len(plain.buffer):
                plain.position = end
                break
            last = plain.buffer.rfind(b"\n", plain.position)  # what is before it has been looked at
            plain.position = max(plain.position, (last if last >= 0 else len(plain.buffer)) - 1)
            if len(plain.buffer) - plain.position > _MAX_HEAD:
                plain.position = len(plain.buffer) - _MAX_HEAD // 2
            fresh = len(plain.buffer) - plain.position
            if not plain.more():
                plain.position = len(plain.buffer)
                break
            starts = [fresh] if plain.unit_start() == fresh else []
        self._report(unit, inner, f"no record begins with {first!r}", plain.base + plain.position - begin)
        if plain.position == len(plain.buffer) and plain.broken is not None:
            plain.pass_break()

    # -- taking it ---------------------------------------------------------------------------------------------------

    def _warc_record(self, start: int, head_end: int) -> Record | None:
        plain = self._plain
        length = declared_length(plain.buffer, start, head_end)
        unit, inner = plain.place()
        record = Record(self.path, unit, inner, plain.buffer, start)
        record.plain_offset = plain.base + start
        if length < 0:
            record.damage = self._report(unit, inner, "no Content-Length")
        return self._take(record, head_end, max(length, 0))

    def _arc_record(self) -> Record | None:
        plain = self._plain
        match = arc.LINE.match(plain.buffer, plain.position)
        while match is None and not self._has_line() and plain.more():
            match = arc.LINE.match(plain.buffer, plain.position)
        if match is None:
            if self._has_line():
                self._skip_junk()
            else:
                self._skip_tail()
            return None
        headers, length, sound = arc.parse_line(match[0])
        unit, inner = plain.place()
        record = Record(self.path, unit, inner, plain.buffer, plain.position)
        record.plain_offset = plain.base + plain.position
        record.preset(headers)
        if not sound:
            record.damage = self._report(unit, inner, f"unsound ARC line {match[0][:80]!r}")
        return self._take(record, match.end(), length)

    def _has_line(self) -> bool:
        """Is there a whole line at the position, or more than any header line has?"""
        plain = self._plain
        return len(plain.buffer) - plain.position > _MAX_HEAD or plain.buffer.find(b"\n", plain.position) >= 0

    def _take(self, record: Record, block: int, length: int) -> Record | None:
        """Give the record its block, go past it, and check how it ends."""
        plain = self._plain
        start = plain.position
        if block + length > len(plain.buffer):
            if length > _IN_MEMORY:
                return self._take_stream(record, block, length)
            cut = self._gather(block - start + length)
            start, block = plain.position, plain.position + block - start
            record.rebase(plain.buffer, start)
            if cut >= 0:
                self._cut(record, block, cut, length)
                return self._wanted(record)
        record.block_start, record.length = block, length
        end = block + length
        plain.position = end
        if plain.broken is not None or not (
            plain.buffer.startswith(b"\r\n\r\nWARC/", end) or end + _TRAILER >= len(plain.buffer)
        ):
            self._check(record)
        if self.stored_as == "none":
            self._own_unit(record)
        return self._wanted(record)

    def _wanted(self, record: Record) -> Record | None:
        if self._types is None:
            return record
        if self._is_arc:
            return record if record.type.encode() in self._types else None
        match = _TYPE.search(record._buffer, record.start, record.block_start)
        return record if match is not None and match[1].lower() in self._types else None

    def _own_unit(self, record: Record) -> None:
        """In a plain file each record is a unit of its own."""
        plain = self._plain
        head = record.block_start - record.start
        match = _FILLER.match(plain.buffer, plain.position, plain.position + _TRAILER)
        trailer = len(match[0]) if match else 0
        record.unit = Unit(record.unit.offset + record.inner, head + record.length + trailer)
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
        embedded = None if self._is_arc else _EMBEDDED.search(plain.buffer, block, end)
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
            if digest_holds(record.headers.get("WARC-Block-Digest"), record.block()) is not True:
                record.damage = plain.broken
            return
        follows = _FILLER.match(plain.buffer, plain.position)
        after = follows.end() if follows else plain.position
        begins = arc.LINE.match(plain.buffer, after) if self._is_arc else plain.buffer.startswith(b"WARC/", after)
        if after >= len(plain.buffer) - 64 or begins:
            return
        if digest_holds(record.headers.get("WARC-Block-Digest"), record.block()) is True:
            return
        reason = "no record follows where Content-Length says"
        record.damage = self._report(record.unit, record.inner, reason)
        embedded = None if self._is_arc else _EMBEDDED.search(plain.buffer, record.block_start, plain.position)
        if embedded is not None:
            plain.position = embedded.end()
            record.length = max(embedded.start() - record.block_start, 0)

    # -- records too large for memory --------------------------------------------------------------------------------

    def _take_stream(self, record: Record, block: int, length: int) -> Record | None:
        plain = self._plain
        head = plain.buffer[plain.position : block]
        record.rebase(head, 0)
        record.block_start, record.length = len(head), length
        plain.position = block
        # A plain file that is shorter: the length is a lie, and the block may take other records in.
        end = record.unit.offset + record.inner + len(head) + length
        beyond = self.stored_as == "none" and self._source.ends_before(end)
        rest = Rest(plain, length, (arc.NEXT if self._is_arc else _EMBEDDED) if beyond else None)
        record.set_stream(rest)
        self._streamed = rest
        if self.stored_as == "none":
            record.unit = Unit(record.unit.offset + record.inner, len(head) + length + _TRAILER)
            record.inner = 0
        wanted = self._wanted(record)
        if wanted is None:
            self._drain(record)
        return wanted

    def _drain(self, record: Record) -> None:
        rest, self._streamed = self._streamed, None
        while rest is not None and rest.left and rest.read(1 << 20):
            pass
        if rest is not None and rest.left:
            reason = f"the record ends early: {record.length - rest.left} of {record.length} bytes"
            record.damage = self._plain.broken or self._report(record.unit, record.inner, reason)
