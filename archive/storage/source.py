"""Stored bytes, read forward once, with a look back to the start of the pack in hand: works on pipes, too."""

from __future__ import annotations

import os
from typing import BinaryIO

_READ = 256 << 10
_HOLD_LIMIT = 64 << 20


class Source:
    """A window over a binary file. ``position`` is the offset in the file as stored, whatever the file object says.

    From :meth:`hold` on, bytes are kept so that :meth:`rewind` can go back there, as far as 64 MiB: to ``held``.
    """

    def __init__(self, file: BinaryIO, position: int = 0) -> None:
        self._file = file
        self._behind: list[bytes] = []  # what is held before the buffer: in it, it would be copied at each reading
        self._buffer = b""
        self._base = position
        self.held = self.position = position

    def hold(self) -> None:
        self.held = self.position
        self._behind.clear()

    def rewind(self) -> None:
        self._base -= sum(map(len, self._behind))
        self._buffer = b"".join([*self._behind, self._buffer])
        self._behind.clear()
        self.position = self.held

    def _fill(self, size: int) -> None:
        """Have ``size`` bytes from the position on in the buffer, or all up to the end of the file."""
        if self.position - self.held > _HOLD_LIMIT:
            self.hold()
        missing = self.position + size - self._base - len(self._buffer)
        if missing <= 0:
            return
        past = self.position - self._base
        self._behind.append(self._buffer[max(0, self.held - self._base) : past])
        parts = [self._buffer[past:]]
        self._base = self.position
        while missing > 0:
            block = self._read(max(_READ, missing))
            if not block:
                break
            parts.append(block)
            missing -= len(block)
        self._buffer = b"".join(parts)

    def _read(self, size: int) -> bytes:
        try:
            return self._file.read(size)
        except OSError as error:
            if error.filename is None:
                error.filename = getattr(self._file, "name", None)
            raise

    def ends_before(self, place: int) -> bool:
        """Is the file known to end before this offset? (Of a pipe it is not.)"""
        if not self._file.seekable():
            return False
        here = self._file.tell()
        size = self._base + len(self._buffer) + self._file.seek(0, os.SEEK_END) - here
        self._file.seek(here)
        return place > size

    def peek(self, size: int) -> bytes:
        """Up to ``size`` bytes ahead, fewer only at the end of the file."""
        start = self.position - self._base
        if start + size > len(self._buffer):
            self._fill(size)
            start = self.position - self._base
        return self._buffer[start : start + size]

    def take(self, size: int) -> bytes:
        """As :meth:`peek`, and go past them."""
        data = self.peek(size)
        self.position += len(data)
        return data

    def take_some(self) -> bytes:
        """Whatever is at hand, at least one byte unless at the end of the file; goes past it."""
        start = self.position - self._base
        if start >= len(self._buffer):
            self._fill(1)
            start = self.position - self._base
        data = self._buffer[start:]
        self.position += len(data)
        return data

    def skip_zeros(self, unit: int = 1) -> None:
        """Go past zero bytes, as many as are a multiple of ``unit`` (1, 2, 4, …), and hold there."""
        while data := self.peek(_READ):
            zeros = len(data) - len(data.lstrip(b"\0"))
            self.position += zeros - zeros % unit
            self.hold()
            if zeros < len(data) or zeros % unit:
                return

    def find(self, needle: bytes) -> bool:
        """Go forward to the next ``needle``; at the end of the file when there is none (False)."""
        while True:
            self.hold()
            start = self.position - self._base
            found = self._buffer.find(needle, start)
            if found >= 0:
                self.position = self._base + found
                return True
            self.position = max(self.position, self._base + len(self._buffer) - len(needle) + 1)
            have = len(self.peek(len(needle)))
            if have < len(needle):
                self.position += have
                return False
