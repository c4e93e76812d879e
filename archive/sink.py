"""Writes records that exist already, byte for byte, into a file of any kind: what ``convert`` and ``repair`` share.

Records of up to a pack's size are gathered into packs (xz) or stored one by one; larger ones are streamed, so that
memory
is bounded. The file has its name only when it is whole: new file, fsync, rename, folder fsync.
"""

from __future__ import annotations

import lzma
import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import zstandard

from archive.codecs import GZ_LEVEL, XZ_LEVEL, ZST_LEVEL, check_level, make_codec, train_dictionary, xz_filters
from archive.disk import fsync_folder, full_error

_LEARN_BYTES = 8 << 20


class _Packer(Protocol):
    def compress(self, data: bytes, /) -> bytes: ...
    def flush(self) -> bytes: ...


class _Copy:
    def compress(self, data: bytes) -> bytes:
        return data

    def flush(self) -> bytes:
        return b""


class Sink:
    """``begin``, ``write``… and ``end`` a record; ``drop`` takes the record in hand back; ``finish`` or ``abort``."""

    def __init__(self, path: Path, compression: str, level: int | None = None, pack_bytes: int = 1 << 20) -> None:
        check_level(compression, level)
        self.path = path
        # The process id: another process may be writing the same file, and what a killed one left may be the source.
        self._fresh = path.with_name(f"{path.name}.{os.getpid()}-new")
        self._compression = compression
        self._level = level
        self._pack_bytes = pack_bytes
        self._codec = make_codec(compression, level, b"", pack_bytes) if compression != "zst" else None
        self._dictionary = b""
        self._file = self._fresh.open("wb")
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0
        self._parts: list[bytes] = []
        self._size = 0
        self._packer: _Packer | None = None
        self._start = 0

    def begin(self) -> None:
        self._parts, self._size = [], 0

    def write(self, data: bytes) -> None:
        if self._packer is not None:
            self._put(self._packer.compress(data))
            return
        self._parts.append(data)
        self._size += len(data)
        if self._size > max(self._pack_bytes, _LEARN_BYTES):
            self._flush()
            self._start = self._file.tell()
            self._packer = self._stream()
            for part in self._parts:
                self._put(self._packer.compress(part))
            self._parts = []

    def end(self) -> None:
        if self._packer is not None:
            self._put(self._packer.flush())
            self._packer = None
            return
        limit = _LEARN_BYTES if self._codec is None else self._pack_bytes
        if self._waiting and self._waiting_bytes + self._size > limit:
            self._flush()
        self._waiting.append(b"".join(self._parts))
        self._waiting_bytes += self._size
        self._parts = []

    def drop(self) -> None:
        """The record in hand is not wanted after all."""
        if self._packer is not None:
            self._packer = None
            self._file.seek(self._start)
            self._file.truncate()
        self._parts = []

    def finish(self, check: Callable[[Path], None] | None = None) -> None:
        """Make it durable and give it its name, if ``check`` of the unnamed file does not raise."""
        self._flush()
        try:
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise full_error(self._fresh, 0, error) from error
        self._file.close()
        if check is not None:
            check(self._fresh)
        self._fresh.replace(self.path)
        fsync_folder(self.path.parent)

    def abort(self) -> None:
        """Leave nothing behind."""
        self._fresh.unlink(missing_ok=True)
        try:
            self._file.close()
        except OSError:
            return

    def _put(self, data: bytes) -> None:
        try:
            self._file.write(data)
        except OSError as error:
            raise full_error(self._fresh, len(data), error) from error

    def _flush(self) -> None:
        if self._codec is None:
            self._dictionary = train_dictionary(self._waiting)
            self._codec = make_codec("zst", self._level, self._dictionary)
            self._put(self._codec.preamble())
        if self._waiting:
            self._put(self._codec.encode(self._waiting).blob)
        self._waiting, self._waiting_bytes = [], 0

    def _stream(self) -> _Packer:
        """A packer for one unit of any length."""
        if self._compression == "xz":
            level = XZ_LEVEL if self._level is None else self._level
            return lzma.LZMACompressor(lzma.FORMAT_XZ, lzma.CHECK_CRC64, filters=xz_filters(level))
        if self._compression == "gz":
            return zlib.compressobj(GZ_LEVEL if self._level is None else self._level, zlib.DEFLATED, 31)
        if self._compression == "zst":
            dictionary = zstandard.ZstdCompressionDict(self._dictionary) if self._dictionary else None
            level = ZST_LEVEL if self._level is None else self._level
            return zstandard.ZstdCompressor(level=level, dict_data=dictionary, write_checksum=True).compressobj()
        return _Copy()
