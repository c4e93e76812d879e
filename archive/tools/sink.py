"""Writes records that exist already, byte for byte, into a file of any kind: what ``convert`` and ``repair`` share.

Records of up to a pack's size are gathered into packs (xz) or stored one by one; larger ones are streamed, so that
memory is bounded. The file has its name only when it is whole: new file, fsync, rename, folder fsync.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from archive.storage.codecs import Codec, Packer, check_level, make_codec, train_dictionary
from archive.storage.disk import fsync_folder, full_error

_LEARN_BYTES = 8 << 20


class Sink:
    """``begin``, ``write``… and ``end`` a record; ``drop`` takes the record in hand back; ``finish`` or ``abort``."""

    def __init__(self, path: Path, compression: str, level: int | None = None, pack_bytes: int = 1 << 20) -> None:
        check_level(compression, level)
        self.path = path
        # The process id: another process may be writing the same file, and what a killed one left may be the source.
        self._fresh = path.with_name(f"{path.name}.{os.getpid()}-new")
        self._level = level
        self._pack_bytes = pack_bytes
        # zst: made when there are records to learn its dictionary from.
        self._codec = make_codec(compression, level, b"", pack_bytes) if compression != "zst" else None
        self._file = self._fresh.open("wb")
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0
        self._parts: list[bytes] = []
        self._size = 0
        self._packer: Packer | None = None
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
            codec = self._flush()
            self._start = self._file.tell()
            self._packer = codec.packer()
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

    def finish(self, check: Callable[[Path], None] = lambda _: None) -> None:
        """Make it durable and give it its name, if ``check`` of the unnamed file does not raise."""
        self._flush()
        try:
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise full_error(self._fresh, 0, error) from error
        self._file.close()
        check(self._fresh)
        self._fresh.replace(self.path)
        fsync_folder(self.path.parent)

    @property
    def is_gone(self) -> bool:
        """Whether the unnamed file is there no more: after the rename of :meth:`finish`, or :meth:`abort`."""
        return not self._fresh.exists()

    def abort(self) -> None:
        """Leave nothing behind."""
        self._fresh.unlink(missing_ok=True)
        with suppress(OSError):
            self._file.close()

    def _put(self, data: bytes) -> None:
        try:
            self._file.write(data)
        except OSError as error:
            raise full_error(self._fresh, len(data), error) from error

    def _flush(self) -> Codec:
        if self._codec is None:
            self._codec = make_codec("zst", self._level, train_dictionary(self._waiting))
            self._put(self._codec.preamble())
        if self._waiting:
            self._put(self._codec.encode(self._waiting).blob)
        self._waiting, self._waiting_bytes = [], 0
        return self._codec
