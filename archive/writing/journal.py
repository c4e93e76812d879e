"""The journal: what a writer has taken on but not yet put into a finished pack, uncompressed, next to the ``.open``
file.

Guarantees
* One journal a writer, locked (``flock``) while the writer lives; the lock falls with the process.
* Frames are appended whole: a frame is its header (marker, kind, length, CRC-32) and its body. After a crash
  everything up to the last whole frame is there; a torn tail is cut off. The marker is drawn for each journal: no page
  can have frames in it, neither to be taken for the journal's own where it is torn, nor to make that slow to read.
* :meth:`Journal.commit` makes all frames added before durable with one write and one fsync (group commit).
* :meth:`Journal.rewrite` replaces the file by one with the given frames only: new file, fsync, lock, rename, folder
  fsync.

A frame's kind is one letter, its body msgpack: see CONFIG to FILE_CLOSED.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgpack
from zlib_ng import zlib_ng

from archive.errors import ArchiveError, ArchiveFull, Damage, JournalBusy, JournalUnreadable
from archive.storage.disk import cut_back, full_error, sync_names, write_all

_NAME = b"ulwembu-journal-"
MAGIC = _NAME + b"2\n"
_MARK_BYTES = 8
_FRAME = struct.Struct(f"<{_MARK_BYTES}scII")
CONFIG = b"I"
"""The writer's settings; the first frame."""
GROUP = b"G"
"""An exchange that was taken on (:meth:`Group.frame`)."""
SETTLED = b"S"
"""The frontier's answer: idents accepted, idents rejected."""
FILE_OPENED = b"F"
"""The name of the ``.open`` file in use, and how many bytes of it are good."""
PACK_WRITTEN = b"P"
"""A pack stands in that file: its name, up to which offset it is good now, the idents in the pack."""
FILE_CLOSED = b"C"
"""The name of a file that is finished."""
Frame = tuple[bytes, tuple[Any, ...]]
_SHAPES: dict[bytes, tuple[type, ...]] = {
    CONFIG: (dict,),
    GROUP: (int, str, str, bytes, int),
    SETTLED: (list, list),
    FILE_OPENED: (str, int),
    PACK_WRITTEN: (str, int, list),
    FILE_CLOSED: (str,),
}


@dataclass(slots=True)
class Group:
    """One journalled exchange: ``body`` is the packed exchange, ``size`` the bytes its records will take (about)."""

    ident: int
    token: str
    host: str
    body: bytes
    size: int

    def frame(self) -> Frame:
        return GROUP, (self.ident, self.token, self.host, self.body, self.size)


@dataclass(slots=True)
class State:
    """What a journal says: the groups still to be packed, and how far the ``.open`` file is good."""

    config: dict[str, Any] = field(default_factory=dict)
    groups: dict[int, Group] = field(default_factory=dict)
    accepted: set[int] = field(default_factory=set)
    open_name: str = ""
    good_bytes: int = 0
    next_ident: int = 1
    damage: list[Damage] = field(default_factory=list)

    def apply(self, kind: bytes, values: list[Any]) -> None:
        """ValueError: no frame of ours, and nothing has changed."""
        if not _fits(kind, values):
            raise ValueError(f"frame of kind {kind!r}")
        if kind == GROUP:
            group = Group(*values)
            self.groups[group.ident] = group
            self.next_ident = max(self.next_ident, group.ident + 1)
        elif kind == SETTLED:
            self.accepted.update(values[0])
            self._forget(values[1])
        elif kind == PACK_WRITTEN:
            self.good_bytes = values[1]
            self._forget(values[2])
        elif kind == FILE_OPENED:
            self.open_name, self.good_bytes = values
        elif kind == FILE_CLOSED:
            self.open_name, self.good_bytes = "", 0
        else:
            self.config = values[0]

    def _forget(self, idents: Iterable[int]) -> None:
        for ident in idents:
            self.groups.pop(ident, None)
            self.accepted.discard(ident)


def _fits(kind: bytes, values: object) -> bool:
    """Are these values what a frame of the kind has? Idents and places are natural numbers."""
    shape = _SHAPES.get(kind)
    if shape is None or not isinstance(values, list) or len(values) != len(shape):
        return False
    numbers = [n for v in values if isinstance(v, list | int) for n in (v if isinstance(v, list) else [v])]
    return all(map(isinstance, values, shape)) and all(isinstance(n, int) and n >= 0 for n in numbers)


def encode(mark: bytes, kind: bytes, values: tuple[Any, ...]) -> list[bytes]:
    """A frame's header and body."""
    body: bytes = msgpack.packb(values, use_bin_type=True, unicode_errors="surrogatepass")
    return [_FRAME.pack(mark, kind, len(body), zlib_ng.crc32(body, kind[0])), body]


def _lock(descriptor: int, path: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise JournalBusy(str(path)) from error


def _has_name(descriptor: int, path: Path) -> bool:
    """Whether this file still has its name. Links are not counted: what is open and removed, NFS renames."""
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


class Journal:
    """One open, locked journal file. Not thread-safe: its writer guards it."""

    def __init__(self, path: Path, descriptor: int, size: int, mark: bytes) -> None:
        self.path = path
        self.size = size
        self._descriptor = descriptor
        self._mark = mark
        self._waiting: list[bytes] = []
        self._unsynced: list[bytes] = []  # in the file, and not known to be on the device
        self._is_named = False  # durably

    @classmethod
    def create(cls, path: Path, config: dict[str, Any]) -> Journal:
        """A new journal; FileExistsError when the name is taken."""
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o644)
        journal = cls(path, descriptor, 0, os.urandom(_MARK_BYTES))
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)  # one that recovers may have it for a moment
            journal._waiting.append(MAGIC)
            journal.add(CONFIG, (config,))
            journal.commit()
        except (OSError, ArchiveError):
            if _has_name(descriptor, path):
                path.unlink()
            os.close(descriptor)
            raise
        if not _has_name(descriptor, path):  # as it found nothing in it, and took it away
            journal.close(remove=False)
            return cls.create(path, config)
        return journal

    @classmethod
    def take_over(cls, path: Path) -> tuple[Journal, State]:
        """Lock a dead writer's journal and read it; JournalBusy when the writer lives, FileNotFoundError when it is
        gone, JournalUnreadable when this version cannot read it: it is as it was.
        """
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
        try:
            _lock(descriptor, path)
            if os.fstat(descriptor).st_ino != path.stat().st_ino:
                raise JournalBusy(str(path))
            state, good = load(path)
            os.ftruncate(descriptor, good)
            mark = os.pread(descriptor, _MARK_BYTES, len(MAGIC))
            path.with_suffix(".journal-new").unlink(missing_ok=True)
        except (OSError, ArchiveError):
            os.close(descriptor)
            raise
        return cls(path, descriptor, good, mark), state

    def add(self, kind: bytes, values: tuple[Any, ...]) -> None:
        """Append a frame in memory; :meth:`commit` writes it."""
        self._waiting += encode(self._mark, kind, values)

    def commit(self, *, durable: bool = True) -> None:
        """Write what was added, and (``durable``) fsync it, and the folder when that has yet to be done for the name.
        ArchiveFull: call again later. When the fsync fails, all since the last one is then written anew: what the
        kernel could not write it may forget, and a second fsync would say that all is well.
        """
        if self._waiting:
            needed = sum(map(len, self._waiting))
            try:
                cut_back(self._descriptor, self.size)
                self.size += write_all(self._descriptor, self._waiting)
            except OSError as error:
                with contextlib.suppress(OSError):  # the next commit does it
                    cut_back(self._descriptor, self.size)
                raise full_error(self.path, needed, error) from error
            self._unsynced += self._waiting
            self._waiting = []
        if durable and self._unsynced:
            try:
                os.fsync(self._descriptor)
            except OSError as error:
                needed = sum(map(len, self._unsynced))
                self.size -= needed
                self._waiting, self._unsynced = self._unsynced, []
                raise full_error(self.path, needed, error) from error
            self._unsynced = []
        if durable and not self._is_named:
            sync_names(self.path.parent)
            self._is_named = True

    def rewrite(self, config: dict[str, Any], frames: Iterable[Frame]) -> None:
        """Replace the file: afterwards it holds exactly ``frames`` (what was added and not committed is dropped)."""
        fresh = self.path.with_suffix(".journal-new")
        try:
            descriptor = os.open(fresh, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise full_error(fresh, 0, error) from error
        parts = [MAGIC, *encode(self._mark, CONFIG, (config,))]
        try:
            for kind, values in frames:
                parts += encode(self._mark, kind, values)
            size = write_all(descriptor, parts)
            os.fsync(descriptor)
            _lock(descriptor, fresh)
            fresh.replace(self.path)
        except OSError as error:
            os.close(descriptor)
            fresh.unlink(missing_ok=True)
            raise full_error(self.path, sum(map(len, parts)), error) from error
        os.close(self._descriptor)
        self._descriptor, self.size = descriptor, size
        self._waiting, self._unsynced, self._is_named = [], [], False
        self.commit()

    def close(self, *, remove: bool) -> None:
        """Let the lock go, if it has not gone; ``remove``: nothing is left in it, delete the file first."""
        if self._descriptor < 0:
            return
        if remove:
            with contextlib.suppress(FileNotFoundError):
                self.path.unlink()
            with contextlib.suppress(ArchiveFull):  # should it be there again after a power cut, all in it is done
                sync_names(self.path.parent)
        os.close(self._descriptor)
        self._descriptor = -1


def load(path: Path) -> tuple[State, int]:
    """Read a journal; returns its state and how many bytes of it are whole.

    A torn tail is the normal trace of a crash. A broken frame, be it the last, is damage: reported in ``state.damage``
    and passed over. JournalUnreadable: of another version, or nothing in it can be read.
    """
    data = path.read_bytes()
    state = State()
    if data.startswith(_NAME) and data.find(b"\n") >= 0 and not data.startswith(MAGIC):
        raise JournalUnreadable(str(path), "written by another version: its version is needed to finish the work")
    view = memoryview(data)
    marks = {data[len(MAGIC) : len(MAGIC) + _MARK_BYTES]}  # several, where some are damaged
    position = good = len(MAGIC) if data.startswith(MAGIC) else 0
    while position + _FRAME.size <= len(data):
        mark, kind, length, checksum = _FRAME.unpack_from(data, position)
        begin, end = position + _FRAME.size, position + _FRAME.size + length
        if position == good:  # right behind a whole frame no page begins: a marker that is damaged there costs nothing
            marks.add(mark)
        if mark in marks and end <= len(data) and _applied(state, kind, checksum, view[begin:end]):
            if good != position:
                state.damage.append(Damage(str(path), good, -1, "broken journal frame", position - good))
        else:
            end = _next_mark(data, marks, position + 1)
            if position > good or not _applied(state, kind, checksum, view[begin:end]):
                position = end
                continue
            state.damage.append(Damage(str(path), good, -1, "wrong length of a journal frame, which is whole"))
        position = good = end
    if not _is_torn(data, good):
        if good <= len(MAGIC):
            raise JournalUnreadable(str(path), "nothing in it can be read")
        state.damage.append(Damage(str(path), good, -1, "broken journal frame", len(data) - good))
    return state, good


def _is_torn(data: bytes, good: int) -> bool:
    """Whether behind what is whole there is nothing, or what a process leaves that dies amid a write."""
    if not good:
        return MAGIC.startswith(data)
    if good + _FRAME.size > len(data):
        return True
    _, kind, length, _ = _FRAME.unpack_from(data, good)
    return kind in _SHAPES and good + _FRAME.size + length > len(data)


def _next_mark(data: bytes, marks: set[bytes], start: int) -> int:
    """Where the next marker is, or the end. A few bytes over and over, as a broken disk leaves them, are none: each
    place in a stretch of them would be looked at."""
    drawn = [re.escape(mark) for mark in marks if len(set(mark)) > 4]
    # One search for all of them: one by one, each that is not found would be sought to the end every time.
    found = re.compile(b"|".join(drawn)).search(data, start) if drawn else None
    return found.start() if found else len(data)


def _applied(state: State, kind: bytes, checksum: int, body: memoryview) -> bool:
    """False: the checksum does not hold, or the frame is none that this version writes."""
    if kind not in _SHAPES or zlib_ng.crc32(body, kind[0]) != checksum:
        return False
    try:
        state.apply(kind, msgpack.unpackb(body, raw=False, unicode_errors="surrogatepass", strict_map_key=False))
    except (TypeError, ValueError, msgpack.UnpackException):  # a list may be a key in msgpack, and is none here
        return False
    return True
