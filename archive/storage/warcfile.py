"""The file being written: ``NAME.open`` until it is finished, then ``NAME``, whole, with its index beside it."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from archive.storage.disk import cut_back, full_error, write_all

OPEN = ".open"
_WARC = re.compile(r".*\.warc(?:\.xz|\.gz|\.zst)?", re.DOTALL)


def finished_in(folder: Path) -> list[Path]:
    """The WARC files of a folder by name, without those still being written, and what else lies beside them."""
    return [file for file in sorted(folder.glob("*.warc*")) if _WARC.fullmatch(file.name) and file.is_file()]


def lost_in(folder: Path) -> list[Path]:
    """Links in a folder by names of WARC files that lead nowhere."""
    links = (file for file in sorted(folder.glob("*.warc*")) if file.is_symlink() and not file.exists())
    return [file for file in links if _WARC.fullmatch(file.name)]


def file_name(prefix: str, instant: datetime, serial: int, owner: str, suffix: str) -> str:
    """``<prefix>-<timestamp>-<serial>-<host>-<pid>.warc<suffix>``; ``owner`` is host-pid; the timestamp is UTC, 17
    digits.
    """
    stamp = instant.strftime("%Y%m%d%H%M%S") + f"{instant.microsecond // 1000:03d}"
    return f"{prefix}-{stamp}-{serial:05d}-{owner}.warc{suffix}"


class OpenFile:
    """Append-only; :attr:`size` counts whole packs only. What a failed append leaves goes before the next one, or
    the name."""

    def __init__(self, folder: Path, name: str, descriptor: int, size: int) -> None:
        self.folder = folder
        self.name = name
        self.size = size
        self._descriptor = descriptor

    @classmethod
    def create(cls, folder: Path, name: str) -> OpenFile:
        path = folder / (name + OPEN)
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise full_error(path, 0, error) from error
        return cls(folder, name, descriptor, 0)

    @classmethod
    def resume(cls, folder: Path, name: str, good_bytes: int) -> OpenFile:
        """Open again after a crash and cut off what no note in the journal vouches for."""
        descriptor = os.open(folder / (name + OPEN), os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        os.ftruncate(descriptor, good_bytes)
        os.fsync(descriptor)
        return cls(folder, name, descriptor, good_bytes)

    @property
    def path(self) -> Path:
        return self.folder / (self.name + OPEN)

    def append(self, blob: bytes) -> int:
        """Append and fsync; returns the offset at which the blob begins. ArchiveFull: the file is as before."""
        start = self.size
        try:
            cut_back(self._descriptor, start)
            write_all(self._descriptor, [blob])
            os.fsync(self._descriptor)
        except OSError as error:
            with suppress(OSError):  # the next try does it
                cut_back(self._descriptor, start)
            raise full_error(self.path, len(blob), error) from error
        self.size = start + len(blob)
        return start

    def rename(self) -> Path:
        """Give the file its final name (the caller makes the folder durable). ArchiveFull: it has none yet."""
        final = self.folder / self.name
        try:
            cut_back(self._descriptor, self.size)
            self.path.rename(final)
        except OSError as error:
            raise full_error(final, 0, error) from error
        return final

    def close(self) -> None:
        os.close(self._descriptor)
