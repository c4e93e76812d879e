"""Names on the command line -> files, in order.

A name is a file, a folder (its archives, in every depth, by name), a pattern (``*``, ``?``, ``[``), ``@LIST`` (a file
of names, one a line, ``#`` begins a comment; relative names are relative to the list's folder), or ``-`` (standard
input). A file that is named twice is read twice.
"""

from __future__ import annotations

import errno
import glob
import io
import os
import re
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from archive import Damage
from archive.errors import KindUnreadable
from archive.storage.source import Source
from archive.storage.unpack import Chunk, Unpacked, detect
from corpus.errors import UsageFault
from corpus.outputs import COMPRESSED

STDIN = "-"
_ARCHIVES = (".warc", ".arc", ".wet")
# The last ones are not read: so a folder that has such files is told of them, and they are not passed over.
_STORED = ("", ".gz", ".xz", ".zst", ".bz2", ".zip", ".7z", ".lz4")
ARCHIVE_SUFFIXES = tuple(kind + stored for kind in _ARCHIVES for stored in _STORED)
DOCUMENT_SUFFIXES = tuple(".jsonl" + stored for stored in _STORED)
VERTICAL_SUFFIXES = tuple(".vert" + stored for stored in _STORED)
ROW_SUFFIXES = tuple(".tsv" + stored for stored in _STORED)
_LOOK = 256 << 10
_WRITTEN = ", but one that is still being written (.open): stop the crawl, or name that file"
_FETCHED = ", but a .journal: the crawl writes what that has when it is stopped (killed: started again)"
"""A crawl that has not filled a pack yet has no file, for an hour at most, or was killed before it had."""
_DOCUMENT_START = re.compile(rb"\s*(?:\{|<doc\s)")


def expand(names: Sequence[str], suffixes: tuple[str, ...] = ARCHIVE_SUFFIXES) -> list[str]:
    """The files meant by ``names``; ``suffixes`` says which files of a folder count. UsageFault when a name means
    none."""
    found: list[str] = []
    for name in names:
        found += _expand_one(name, suffixes, Path())
    return found


def _expand_one(name: str, suffixes: tuple[str, ...], base: Path) -> list[str]:
    if name == STDIN:
        return [STDIN]
    if not name:  # as of a variable that is not set: not the folder where one happens to be
        raise UsageFault("an empty name of a file")
    if name.startswith("@"):
        return _listed(base / name[1:], suffixes)
    path = base / name
    if path.is_dir():
        inside = _inside(path, suffixes)
        if not inside:
            hint = _WRITTEN if any(path.rglob("*.open")) else _FETCHED if any(path.rglob("*.journal")) else ""
            raise UsageFault(f"{path}: no files with names like *{suffixes[0]} in this folder{hint}")
        return inside
    if path.exists():
        return [str(path)]
    if any(letter in name for letter in "*?["):
        fitting = (base / match for match in glob.glob(name, root_dir=base, recursive=True))  # noqa: PTH207
        matches = sorted(str(match) for match in fitting if match.is_file())
        if matches:
            return matches
        hint = _WRITTEN if glob.glob(name + ".open", root_dir=base, recursive=True) else ""  # noqa: PTH207
        raise UsageFault(f"{path}: no file fits this pattern{hint}")
    raise UsageFault(f"{path}: no such file")


def _inside(folder: Path, suffixes: tuple[str, ...]) -> list[str]:
    """The files of a folder, in every depth, and links that lead to none: they are told when they are to be read.
    Folders that links lead to belong to it; each is entered once. UsageFault when a folder cannot be looked into."""

    def fault(error: OSError) -> None:
        raise UsageFault(f"{error.filename}: cannot look into this folder: {error.strerror}")

    found: list[str] = []
    entered: set[str] = set()
    waiting = [folder]
    for start in waiting:  # links to folders wait for the end: a file goes by the name that it has without them
        for place, folders, files in os.walk(start, onerror=fault):
            folders.sort()
            real = os.path.realpath(place)
            if real in entered:
                folders.clear()
                continue
            entered.add(real)
            waiting += (link for name in folders if (link := Path(place, name)).is_symlink())
            found += (str(file) for name in files if name.endswith(suffixes) and _is_meant(file := Path(place, name)))
    return sorted(found)


def _is_meant(file: Path) -> bool:
    return file.is_file() or (file.is_symlink() and not file.exists())


def _listed(path: Path, suffixes: tuple[str, ...]) -> list[str]:
    try:
        lines = path.read_text(encoding="utf-8-sig", errors="surrogateescape").split("\n")
    except OSError as error:
        raise UsageFault(f"{path}: cannot read this list: {error}") from None
    if any("\0" in line for line in lines):
        raise UsageFault(f"{path}: is no list of names, one a line")
    names = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    if not names:
        raise UsageFault(f"{path}: the list is empty")
    found: list[str] = []
    for name in names:
        if name.startswith("@"):
            raise UsageFault(f"{path}: a list in a list: {name}")
        found += _expand_one(name, suffixes, path.parent)
    return found


class _Unread(io.RawIOBase):
    """A stream with bytes put back in front of it, so that a pipe can be looked at and then read from its start."""

    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        self._head = head
        self._rest = rest
        self.name = rest.name

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(cast(bytearray, buffer))
        data = self._head[: len(view)] or self._rest.read(len(view))
        self._head = self._head[len(data) :] if self._head else b""
        view[: len(data)] = data
        return len(data)


@contextmanager
def open_stored(name: str) -> Iterator[BinaryIO]:
    """The bytes of a file as stored; "-" is standard input, which stays open. OSError, also when that is closed."""
    if name == STDIN:
        if sys.stdin is None:
            raise OSError(errno.EBADF, "standard input is closed")
        yield sys.stdin.buffer
        return
    with Path(name).open("rb") as file:
        yield file


def beginning(file: BinaryIO) -> tuple[bytes, BinaryIO]:
    """The first stored bytes (256 KiB) of a file, and the file from where it stood: a pipe can be read only once."""
    start = file.tell() if file.seekable() else None
    head = file.read(_LOOK)
    if start is not None:
        file.seek(start)
        return head, file
    return head, cast(BinaryIO, io.BufferedReader(_Unread(head, file), _LOOK))


def unpacked(file: BinaryIO, path: str, damages: list[Damage]) -> Iterator[Chunk]:
    """The plain bytes of a file of documents that may be stored as xz (several streams, padding), gz or zst: seen from
    its first bytes. Nothing ends quietly (:mod:`archive.storage.unpack`), nor before it begins; after damage it goes on
    where a unit begins with a document."""
    source = Source(file)
    try:
        kind = detect(source)
    except KindUnreadable as error:
        damages.append(Damage(path, 0, -1, str(error)))
        return
    if kind is not None:
        kind.content_start = _DOCUMENT_START
    elif path.endswith(COMPRESSED) and not source.peek(1):
        damages.append(Damage(path, 0, -1, "0 bytes, which no compressed file is that was written whole"))
    yield from Unpacked(source, kind, path, damages)


def stored_size(name: str) -> int | None:
    """Stored bytes of a file, None when they are not known (a pipe)."""
    if name == STDIN:
        return None
    found = Path(name).stat()
    return found.st_size if stat.S_ISREG(found.st_mode) else None
