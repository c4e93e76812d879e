"""Where the next record begins: behind line ends, a head whose lines end oddly, junk, or a break.

Guarantee: whatever is passed over is reported, but for line ends.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from archive.errors import Damage
from archive.reading import arc
from archive.reading.plain import NEXT, START, PlainBytes
from archive.storage.unpack import Unit

_HEAD_END = re.compile(rb"\r?\n\r?\n")
_MAX_HEAD = 1 << 20
_USUAL_HEAD = 8 << 10  # looked through at each record; where lines end with LF it would be the whole buffer
_MOST_FIRST_LINE = 64
_MOST_AHEAD = 16 << 20
_ZEROS = bytes(8)
"""In no head, but where a file system has lost what was written."""
_USUAL_GAP = b"\r\n\r\n"
_WARC, _FIRST = b"WARC/", b"\nWARC/"
_LINE_ENDS = re.compile(rb"WARC/\d\.\d+[ \t]*\r?\n")
_ONCE = (b"\nWARC-Type:", b"\nWARC-Record-ID:", b"\nWARC-Date:", b"\nWARC-Target-URI:", b"\nContent-Length:")

Report = Callable[[Unit, int, str, int], Damage]
"""Told of damage: the unit and the place in it, what is wrong, and how many bytes were passed over."""


def _is_two(buffer: bytes, start: int, other: int, end: int) -> bool:
    """Has a head that was cut off another one behind it, which begins at ``other``? In the midst of a line what stands
    there may be of a URL, where no field says twice what is said once."""
    if buffer.startswith(_FIRST, other - 1):
        return True
    twice = any(buffer.count(name, start, end) > 1 for name in _ONCE)
    return twice and _LINE_ENDS.match(buffer, other, end) is not None


class Finder:
    """Moves through the plain bytes of one file, from record to record.

    ``is_arc``: it is an ARC file. ``gap``: the line ends before the record in hand, or the end of the file. ``asked``:
    plain offset of a record that was asked for by its place (line ends may stand before it), as ARC files may begin
    with any record there (-1: none).
    """

    def __init__(self, plain: PlainBytes, report: Report, asked: int) -> None:
        self._plain = plain
        self._report = report
        self.asked = asked
        self.is_arc = False
        self.gap = b""

    def find(self) -> int:
        """Go to the next record; the index in the buffer at which its head ends, or -1: nothing follows."""
        while self._to_record():
            end = -1 if self.is_arc else self._usual_head()
            if end < 0 and not self.is_arc:
                end = self._odd_head()
            if self.is_arc:
                end = self._arc_head()
            if end < 0:
                continue
            buffer, start = self._plain.buffer, self._plain.position
            other = buffer.find(_WARC, start + 1, end)
            if (other < 0 or not _is_two(buffer, start, other, end)) and buffer.find(_ZEROS, start, end) < 0:
                return end
            self._skip_junk()  # such a head goes on in what was another record's
        return -1

    def _to_record(self) -> bool:
        """Go past the line ends between records, keeping them in ``gap``. False: nothing follows."""
        plain = self._plain
        self.gap = b""
        if plain.buffer.startswith(_USUAL_GAP, plain.position):
            self.gap = _USUAL_GAP
            plain.position += len(_USUAL_GAP)
            if plain.position == len(plain.buffer):
                plain.more()
            if plain.buffer.startswith(_WARC, plain.position):
                return True
        endless = 0
        while True:
            end = plain.after_line_ends(plain.position)
            if len(self.gap) <= _MAX_HEAD:
                self.gap += plain.buffer[plain.position : end]
            else:
                endless += end - plain.position
            plain.position = end
            if end < len(plain.buffer):
                break
            if not plain.more():
                if plain.broken is None:
                    break
                plain.pass_break()
        if len(self.gap) > _MAX_HEAD:
            self._report(*plain.place(), "nothing but line ends before this", len(self.gap) + endless)
        return plain.position < len(plain.buffer)

    def _usual_head(self) -> int:
        """The end of a head whose lines end with CRLF, as they should; -1: it has others, or is not whole yet."""
        buffer, start = self._plain.buffer, self._plain.position
        end = buffer.find(b"\n\r\n", start, start + _USUAL_HEAD)
        if end < 0 or not buffer.startswith(b"WARC/", start) or buffer.find(b"\n\n", start, end + 1) >= 0:
            return -1
        return end + 3

    def _odd_head(self) -> int:
        """The usual end of a head was not found: more must be read, or lines end with LF, or there is junk.

        -1: it is an ARC file, or the position has changed: look again.
        """
        plain = self._plain
        while True:
            buffer, start = plain.buffer, plain.position
            place = plain.base + start - len(self.gap)
            if place in (0, self.asked) and not self._has_line() and plain.more():
                continue  # an ARC line is known when it is whole, and a pipe may give less at first
            if arc.begins(buffer, start, any_record=place == self.asked) or (not place and self._leads()):
                self.is_arc = True
                return -1
            buffer, start = plain.buffer, plain.position
            if START.match(buffer, start) is not None:
                other = buffer.find(_FIRST, start)
                match = _HEAD_END.search(buffer, start, other + 1 if other >= 0 else len(buffer))
                if match is not None:
                    return match.end()
                if other >= 0:
                    self._skip_junk()
                    return -1
            elif buffer.startswith(b"WARC/", start) and len(buffer) - start < _USUAL_HEAD and plain.more():
                if (end := self._usual_head()) >= 0:  # of an unknown version: known by its end alone
                    return end
                continue
            elif b"\n" in buffer[start : start + _MOST_FIRST_LINE] or len(buffer) - start >= _MOST_FIRST_LINE:
                self._skip_junk()
                return -1
            if len(buffer) - start > _MAX_HEAD:
                self._skip_junk()
                return -1
            if not plain.more():
                self._skip_tail()
                return -1

    def _leads(self) -> bool:
        """Does the file begin with a record of an ARC file that is not its first? Then another follows it, or nothing:
        other text may begin with a line like theirs."""
        plain = self._plain
        line = arc.LINE.match(plain.buffer, plain.position)
        _, length, sound = arc.parse_line(line[0]) if line is not None else (None, 0, False)
        if line is None or not sound or length > _MOST_AHEAD:
            return False
        size = line.end() - plain.position + length
        while len(plain.buffer) - plain.position <= size + _USUAL_HEAD and plain.more():
            pass
        after = plain.after_line_ends(plain.position + size)
        return after >= len(plain.buffer) or arc.LINE.match(plain.buffer, after) is not None

    def _arc_head(self) -> int:
        """The end of the line before an ARC record; -1: there is none, the position has changed, look again."""
        plain = self._plain
        match = arc.LINE.match(plain.buffer, plain.position)
        while match is None and not self._has_line() and plain.more():
            match = arc.LINE.match(plain.buffer, plain.position)
        if match is not None:
            return match.end()
        if self._has_line():
            self._skip_junk()
        else:
            self._skip_tail()
        return -1

    def line_comes(self, at: int) -> bool:
        """Has more been read, so that there is a whole line at the index? Then indexes have changed."""
        more = False
        while not self._has_line(at) and self._plain.more():
            at, more = self._plain.after_line_ends(self._plain.position), True
        return more

    def _has_line(self, at: int = -1) -> bool:
        """Is there a whole line at the index (-1: the position), or more than any header line has?"""
        plain = self._plain
        at = plain.position if at < 0 else at
        return len(plain.buffer) - at > _MAX_HEAD or plain.buffer.find(b"\n", at) >= 0

    def _skip_tail(self) -> None:
        """What is left before a break or the end of the file is no record."""
        plain = self._plain
        if plain.broken is None:
            rest = len(plain.buffer) - plain.position
            self._report(*plain.place(), f"no record: {rest} bytes at the end", rest)
            plain.position = len(plain.buffer)
        else:
            plain.pass_break()

    def _skip_junk(self) -> None:
        """Go to the next record header: at the beginning of a line, behind zeros, or at the beginning of a unit."""
        plain = self._plain
        unit, inner = plain.place()
        first = bytes(plain.buffer[plain.position : plain.position + 40])
        begin = plain.base + plain.position
        plain.position += first[:1] != b"\0"  # behind which a record may begin
        pattern, begins = (arc.NEXT, arc.LINE) if self.is_arc else (NEXT, START)
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
            last = last if last >= 0 else len(plain.buffer) - _MOST_FIRST_LINE
            plain.position = max(plain.position, last - 1)
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
