"""Files that are there whole or not at all, compressed by their suffix.

Guarantee: the target name always means the old file or the whole new one. What is written goes to a hidden file beside
it, which is synced, renamed, and the folder synced; when anything fails it is removed, and what a killed run left goes
when the same file is written next. A symbolic link stays one: what it leads to is replaced. A target that is no regular
file (a named pipe, /dev/null) is written to as it is.
"""

from __future__ import annotations

import errno
import fcntl
import glob
import gzip
import lzma
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, cast

import zstandard

from archive.storage.disk import fsync_folder
from corpus.errors import UsageFault

STDOUT = "-"
XZ_PRESET, GZ_LEVEL, ZST_LEVEL = 2, 6, 9
COMPRESSED = (".xz", ".gz", ".zst")
_PACKERS = frozenset((".7z", ".br", ".bz2", ".gzip", ".lz", ".lz4", ".lzma", ".z", ".zip", ".zstd", *COMPRESSED))


def plain_suffix(name: str) -> str:
    """The suffix of a file name in small letters, compression left aside; "" when it has none."""
    name = name.lower()
    for suffix in COMPRESSED:
        name = name.removesuffix(suffix)
    return Path(name).suffix


def check_target(name: str) -> None:
    """UsageFault when a file of this name cannot be made: found before the work, not after it."""
    if name == STDOUT:
        return
    if not name:
        raise UsageFault("an empty name of a file to write")
    path = Path(name)
    if path.suffix not in COMPRESSED and path.suffix.lower() in _PACKERS:
        raise UsageFault(f"{path}: {path.suffix} cannot be written; {', '.join(COMPRESSED)} can, or plain text")
    if path.is_dir():
        raise UsageFault(f"{path}: is a folder")
    if _special(path):
        if not os.access(path, os.W_OK):
            raise UsageFault(f"{path}: cannot be written to")
        return
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        raise UsageFault(f"{folder}: no such folder")
    if not os.access(folder, os.W_OK):
        raise UsageFault(f"{folder}: cannot write there")


def expect_stdout() -> None:
    """OSError when standard output is closed: found before the work."""
    if sys.stdout is None:
        raise OSError(errno.EBADF, "is closed", "standard output")


def _special(path: Path) -> bool:
    """Is it there, and no regular file?"""
    return path.exists() and not path.is_file()


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """An OSError of the block that names no file, as one of a full disk, names this one."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(path)
        raise


Ready = Callable[[Path], None]
"""Called with the hidden file when it is whole and synced, before it takes its place; an error leaves what was there.
Never called for a target that is no regular file."""


@contextmanager
def replaced(path: Path, ready: Ready | None = None) -> Iterator[BinaryIO]:
    """A file to write, that takes the place of ``path`` when the block ends well. An OSError names the target."""
    with naming(path):
        if _special(path):
            with path.open("wb") as file:
                yield file
        else:
            with _beside(Path(os.path.realpath(path)), ready) as file:
                yield file


@contextmanager
def _beside(path: Path, ready: Ready | None) -> Iterator[BinaryIO]:
    # Numbers of processes are not enough to be apart: in containers many are 1.
    hidden = path.with_name(f".{path.name}.{os.urandom(4).hex()}.{os.getpid()}.tmp")
    _sweep(path)
    try:
        with hidden.open("xb") as file:
            with suppress(OSError):  # where nothing can be locked, nothing is swept
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield file
            file.flush()
            os.fsync(file.fileno())
        if ready is not None:
            ready(hidden)
        hidden.replace(path)
        fsync_folder(path.parent)
    finally:
        hidden.unlink(missing_ok=True)


def _sweep(path: Path) -> None:
    """Remove the hidden files that killed runs left of this one: those of no process here that nobody has locked."""
    for left in path.parent.glob(f".{glob.escape(path.name)}.*.tmp"):
        pid = left.name.split(".")[-2]
        if not (pid.isascii() and pid.isdigit()) or _runs_beside(int(pid)):
            continue
        with suppress(OSError), left.open("r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            left.unlink()


def _runs_beside(pid: int) -> bool:
    """Is there such a process? This one is none: what it writes itself is locked."""
    if pid == os.getpid():
        return False
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True


@contextmanager
def _packed(file: BinaryIO, suffix: str) -> Iterator[BinaryIO]:
    """A writer whose bytes go compressed into ``file``. The gzip header has no name and no time: equal input, equal
    output."""
    if suffix == ".gz":
        with gzip.GzipFile("", "wb", GZ_LEVEL, file, mtime=0) as packed:
            yield cast(BinaryIO, packed)
    elif suffix == ".xz":
        with lzma.LZMAFile(file, "wb", preset=XZ_PRESET) as packed_xz:
            yield cast(BinaryIO, packed_xz)
    elif suffix == ".zst":
        with zstandard.ZstdCompressor(ZST_LEVEL, write_checksum=True).stream_writer(file, closefd=False) as packed_zst:
            yield cast(BinaryIO, packed_zst)
    else:
        yield file


@contextmanager
def open_output(name: str, ready: Ready | None = None) -> Iterator[BinaryIO]:
    """Where results go: ``-`` is standard output (plain), else a file, compressed when its name ends so."""
    if name == STDOUT:
        expect_stdout()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(name)
    with replaced(path, ready) as file, _packed(file, path.suffix) as packed:
        yield packed
