"""The unpacked bytes of an archive as one buffer that moves forward, and for each of them the place it came from."""

from __future__ import annotations

import re
from collections.abc import Iterator

from archive.errors import Damage
from archive.storage.unpack import Chunk, Unit

_FIRST_LINE = rb"(?i:WARC)/\d\.\d+[ \t]*\r?\n"
START = re.compile(_FIRST_LINE)
"""The first line of a record."""
NEXT = re.compile(rb"(?:\r?\n|\0)(?=%b)" % _FIRST_LINE)
"""The end of a line, or of zeros as a file system leaves them that stopped in the midst, behind which a record
begins."""
_LINE_ENDS = re.compile(rb"[\r\n]*")
_LINE_ENDS_BEHIND = 4
_LOOK = 4 << 10  # the first line of a record is shorter
_LENGTH = re.compile(rb"(?i)\ncontent-length[ \t]*:(?:\r?\n(?=[ \t])|[ \t])*+(\d{1,18})[ \t]*\r?\n")
_USUAL_LENGTH = b"\nContent-Length: "


def declared_length(buffer: bytes, start: int, end: int) -> int:
    """The Content-Length of the record head in ``buffer[start:end]``; -1: it has none that is a number."""
    at = buffer.rfind(_USUAL_LENGTH, start, end)
    if at >= 0:
        at += len(_USUAL_LENGTH)
        digits = buffer[at : buffer.find(b"\n", at, end)].strip()
        if digits.isdigit() and len(digits) <= 18:
            return int(digits)
    match = _LENGTH.search(buffer, start, end)
    return int(match[1]) if match else -1


class PlainBytes:
    """``buffer[position:]`` is what has been unpacked and not been used. ``base`` is the plain offset of ``buffer[0]``.

    ``broken`` is set when the buffer ends at a break: :meth:`more` gives nothing until :meth:`pass_break`.
    """

    def __init__(self, chunks: Iterator[Chunk]) -> None:
        self._chunks = chunks
        self._marks: list[tuple[int, Unit, int]] = [(0, Unit(0), 0)]  # plain offset, and what comes from there on
        self.buffer = b""
        self.position = 0
        self.base = 0
        self.broken: Damage | None = None
        self.ended = False

    def more(self) -> bool:
        """Append the next chunk; False at a break or at the end of the file. Indexes into the buffer change."""
        if self.broken is not None or self.ended:
            return False
        chunk = next(self._chunks, None)
        if chunk is None:
            self.ended = True
            return False
        self.broken = chunk.broken
        end = self.base + len(self.buffer)
        if self.position == len(self.buffer):
            self.buffer, self._marks = chunk.data, [(end, chunk.unit, chunk.inner)]
        else:
            if self._live()[-1][1] is not chunk.unit:
                self._marks.append((end, chunk.unit, chunk.inner))
            self.buffer = self.buffer[self.position :] + chunk.data
        self.base += self.position
        self.position = 0
        return True

    def _live(self) -> list[tuple[int, Unit, int]]:
        marks, here, passed = self._marks, self.base + self.position, 0
        while passed + 1 < len(marks) and marks[passed + 1][0] <= here:
            passed += 1
        del marks[:passed]
        return marks

    def place(self) -> tuple[Unit, int]:
        """The unit of the byte at the position, and the offset within it as unpacked."""
        marks = self._marks if len(self._marks) == 1 else self._live()
        at, unit, inner = marks[0]
        return unit, inner + self.base + self.position - at

    def unit_start(self) -> int:
        """Index in the buffer at which its last unit begins; 0 when it begins at or before the buffer."""
        at, _unit, inner = self._marks[-1]
        return max(at - self.base, 0) if inner == 0 else 0

    def unit_starts(self) -> list[int]:
        """The indexes from the position on at which a unit begins."""
        here = self.base + self.position
        return [at - self.base for at, _unit, inner in self._marks if inner == 0 and at >= here]

    def after_line_ends(self, at: int) -> int:
        """The index from ``at`` on of the first byte in the buffer that ends no line."""
        match = _LINE_ENDS.match(self.buffer, at)
        return match.end() if match is not None else at

    def skip(self, size: int) -> None:
        """From the beginning of a unit go past so many bytes of it, or to its end, or to a break."""
        unit: Unit | None = None
        while size > (left := len(self.buffer) - self.position):
            size -= left
            self.position += left
            if not self.more() or self._marks[-1][1] is not (unit := unit or self._marks[-1][1]):
                return
        self.position += size

    def unit_break(self) -> Damage | None:
        """The break of the unit at the position, where it is met within the line ends behind a record."""
        unit, _ = self.place()
        while len(self.buffer) - self.position < _LINE_ENDS_BEHIND and self.more():
            pass
        return self.broken if self.broken is not None and self.broken.offset == unit.offset else None

    def pass_break(self) -> None:
        """Drop what is left before a break; :meth:`more` goes on behind it."""
        self.position = len(self.buffer)
        self.broken = None

    def take(self, size: int, until: re.Pattern[bytes] | None = None) -> bytes:
        """Up to ``size`` bytes and go past them; fewer, but not none, unless there are no more, or the next unit begins
        with a record: no block goes on there. Nor does it beyond a place that ``until`` matches."""
        while self.position >= len(self.buffer):
            if not self.more():
                return b""
        if self.position == 0 and self._marks[0][::2] == (self.base, 0) and START.match(self.buffer) is not None:
            return b""
        end = self._before(until) if until is not None else len(self.buffer)
        data = self.buffer[self.position : min(self.position + size, end)]
        self.position += len(data)
        return data

    def _before(self, until: re.Pattern[bytes]) -> int:
        """The index before which nothing matches, past the position unless it matches there."""
        while len(self.buffer) - self.position <= _LOOK and self.more():
            pass
        match = until.search(self.buffer, self.position)
        if match is not None:
            return match.start()
        return len(self.buffer) if len(self.buffer) - self.position <= _LOOK else len(self.buffer) - _LOOK


class Rest:
    """The part of a streamed block that has not been read; ``left``: its bytes. When nothing more can be read and some
    are left, the record ends early. ``broken``: of the unit that it ends in, known when none are left. ``until``: see
    :meth:`PlainBytes.take`."""

    def __init__(self, plain: PlainBytes, size: int, until: re.Pattern[bytes] | None = None) -> None:
        self._plain = plain
        self._until = until
        self.left = size
        self.broken: Damage | None = None

    def read(self, size: int = -1) -> bytes:
        parts = []
        wanted = self.left if size < 0 else min(size, self.left)
        while wanted:
            data = self._plain.take(wanted, self._until)
            if not data:
                break
            parts.append(data)
            wanted -= len(data)
            self.left -= len(data)
            if not self.left:
                self.broken = self._plain.unit_break()
        return b"".join(parts)
