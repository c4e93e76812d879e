"""Writing so that it stays written, on a disk that may be full."""

from __future__ import annotations

import errno
import os
import resource
import shutil
from pathlib import Path

from archive.errors import ArchiveFull

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_MOST_PARTS = 512  # of one call; Linux takes 1024


def fsync_folder(folder: Path) -> None:
    """Make renames and new names in the folder durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        raise _named(error, folder) from None
    finally:
        os.close(descriptor)


def sync_names(folder: Path) -> None:
    """As :func:`fsync_folder`, for a writer, which can wait for room: its :func:`full_error`."""
    try:
        fsync_folder(folder)
    except OSError as error:
        raise full_error(folder, 0, error) from error


def allow_many_files() -> None:
    """As many files may be open as the system allows: most have a limit of 1,024 where nobody asks for more."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def full_error(path: Path, needed: int, error: OSError) -> Exception:
    """The typed error for a write that failed: :class:`ArchiveFull`, or the given one, with the path, when it is
    something else."""
    if error.errno not in _FULL:
        return _named(error, path)
    try:
        free = shutil.disk_usage(path.parent).free
    except OSError:
        free = -1
    return ArchiveFull(str(path), needed, free, error.strerror or str(error))


def _named(error: OSError, path: Path) -> OSError:
    """That of a descriptor says not of which file: a command would take it for one of standard output."""
    error.filename = error.filename or str(path)
    return error


def cut_back(descriptor: int, size: int) -> None:
    """Take away what stands behind that place: it was written in part, by a try that could not take it back."""
    if os.fstat(descriptor).st_size > size:
        os.ftruncate(descriptor, size)


def write_all(descriptor: int, parts: list[bytes]) -> int:
    """Write all parts at the file's end, in few calls; returns the bytes written. OSError leaves a part of it there."""
    total = 0
    for start in range(0, len(parts), _MOST_PARTS):
        chunk: list[bytes | memoryview] = list(parts[start : start + _MOST_PARTS])
        while chunk:
            done = os.writev(descriptor, chunk)
            total += done
            while chunk and done >= len(chunk[0]):
                done -= len(chunk[0])
                chunk.pop(0)
            if done:
                chunk[0] = memoryview(chunk[0])[done:]
    return total
