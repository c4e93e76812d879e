"""Files that survive kill -9: replaced as a whole, appended with checksums, locked against a second process.

A record of a log is its length (4 bytes), the XXH3 of its body (8 bytes) and the body, which is never empty. A log is a
row of segments, ``<name>-<number>.log``; segments are deleted from the front when nobody needs them. A record that is
damaged costs none behind it, be it in its length: where the next one begins is sought by the checksums.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import IO, Any, NamedTuple

import msgpack
from xxhash import xxh3_64_intdigest

from sieve.disk.damage import RECORD, before_next
from sieve.errors import DamagedError, LockedError

_LOG = logging.getLogger(__name__)
_PIECE_BYTES = 1 << 20
_NO_END = 1 << 62
Step = Callable[[str], None]
"""Called with the name of each step that a crash could fall behind; tests kill the process there."""


def no_step(_: str) -> None:
    """The step hook of production: nothing."""


def sync_folder(folder: Path) -> None:
    """Make names in `folder` durable."""
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def replace(path: Path, content: object, *, durable: bool) -> None:
    """Replace `path` by msgpack of `content` and its checksum: a reader sees the old or the new, whole."""
    body = msgpack.packb(content)
    _replace(path, RECORD.pack(len(body), xxh3_64_intdigest(body)) + body, durable=durable)


def replace_text(path: Path, text: str) -> None:
    """Replace `path` by a few ASCII letters, durably: a reader sees the old or the new, whole."""
    _replace(path, text.encode("ascii"), durable=True)


def _replace(path: Path, data: bytes, *, durable: bool) -> None:
    new = path.with_name(path.name + ".new")
    with new.open("wb") as file:
        file.write(data)
        if durable:
            file.flush()
            os.fsync(file.fileno())
    new.rename(path)
    if durable:
        sync_folder(path.parent)


def load(path: Path) -> dict[str, Any] | None:
    """What :func:`replace` wrote, ``None`` when there is nothing; :class:`DamagedError`."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    if len(data) >= RECORD.size:
        length, check = RECORD.unpack_from(data)
        body = data[RECORD.size :]
        if len(body) == length and xxh3_64_intdigest(body) == check:
            content: dict[str, Any] = msgpack.unpackb(body)
            return content
    raise DamagedError(str(path), "its checksum is wrong")


def _sync_part(path: Path, begin: int, end: int, *, anew: bool) -> None:
    """Make durable what stands in a file from `begin` to before `end`; `anew`: an fsync of it has failed."""
    number = os.open(path, os.O_RDWR)
    try:
        if anew:
            _write_anew(number, begin, end)
        os.fsync(number)
    except OSError:
        _write_anew(number, begin, end)  # while the kernel still has it in memory
        raise
    finally:
        os.close(number)


def _write_anew(number: int, begin: int, end: int) -> None:
    """What the kernel could not write it takes for written: the next fsync tries only what was written anew."""
    while piece := os.pread(number, min(_PIECE_BYTES, end - begin), begin):
        begin += os.pwrite(number, piece, begin)


class FolderLock:
    """Holds `folder` (made when absent) for this process; the kernel lets go when it dies."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._file: IO[bytes] = (folder / "LOCK").open("ab")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            raise LockedError(str(folder)) from None

    def release(self) -> None:
        """Let go."""
        self._file.close()


class Place(NamedTuple):
    """Where a record starts: segment number and byte offset."""

    segment: int
    offset: int


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a log, where it starts and where the next one does."""

    place: Place
    end: Place
    body: bytes


def _tell(error: DamagedError) -> None:
    _LOG.warning("%s; its URLs are passed over", error)


class LogReader:
    """The records of a log in `folder`, as far as it went at opening; changes nothing, so another may append meanwhile.

    `on_damage` is told of each record that is skipped; else it is logged.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._name = name
        self.on_damage: Callable[[DamagedError], None] = _tell
        numbers = self.segments()
        self._first, self._segment = (numbers[0], numbers[-1]) if numbers else (0, 0)
        self._reading: tuple[int, IO[bytes]] | None = None

    def segments(self) -> list[int]:
        """Numbers of the segments there are, ascending. What else is called nearly so, as a copy by hand, is none."""
        found = (path.stem.removeprefix(f"{self._name}-") for path in self._folder.glob(f"{self._name}-*.log"))
        return sorted(int(number) for number in found if re.fullmatch("[0-9]{8,}", number))

    def read(self, place: Place) -> Record:
        """The record at `place`; :class:`DamagedError`."""
        record = self._next(self._reader(place.segment), place)
        if record is None:
            raise DamagedError(str(self._path(place.segment)), f"no record at {place.offset}")
        return record

    def following(self, place: Place) -> Record | None:
        """The first record at or after `place`, ``None`` at the end. A damaged one is skipped and told `on_damage`."""
        while True:
            try:
                record = self._next(self._reader(place.segment), place)
            except FileNotFoundError:
                record = None
            except DamagedError as error:
                self.on_damage(error)
                place = Place(place.segment, self._reading[1].tell() if self._reading else 0)
                continue
            if record is not None or place.segment >= self._segment:
                return record
            if self._reading and self._reading[0] == place.segment and self._reading[1].tell() > place.offset:
                # Only the last segment may end so, where a process died.
                path = str(self._path(place.segment))
                self.on_damage(DamagedError(path, f"the record at {place.offset} does not end in this segment"))
            place = Place(place.segment + 1, 0)

    def records(self, start: Place) -> Iterator[Record]:
        """All records from `start` on, but for damaged ones."""
        record = self.following(start)
        while record is not None:
            yield record
            record = self.following(record.end)

    def close(self) -> None:
        """Let go."""
        if self._reading is not None:
            self._reading[1].close()
            self._reading = None

    def _reader(self, segment: int) -> IO[bytes]:
        if self._reading is None or self._reading[0] != segment:
            file = self._path(segment).open("rb")
            if self._reading is not None:
                self._reading[1].close()
            self._reading = (segment, file)
        return self._reading[1]

    def _next(self, file: IO[bytes], place: Place) -> Record | None:
        """``None``: nothing is there, or what a process leaves that dies amid a write. After a
        :class:`DamagedError` the file is where the next record begins."""
        if file.tell() != place.offset:
            file.seek(place.offset)
        head = file.read(RECORD.size)
        if len(head) < RECORD.size:
            return None
        length, check = RECORD.unpack(head)
        body = file.read(length)
        begin = place.offset + RECORD.size
        if not length or len(body) < length or xxh3_64_intdigest(body) != check:
            file.seek(begin)
            rest = file.read()
            body = rest[:length]  # whole by now where another process was writing it
            if not body or xxh3_64_intdigest(body) != check:
                body = rest[: before_next(rest, length)]  # whole all the same where its length alone is damaged
            if not body or xxh3_64_intdigest(body) != check:
                size = len(body)
                if size == len(rest) and (length > size or not rest.strip(b"\0")):
                    return None
                file.seek(begin + size)
                path = self._path(place.segment)
                raise DamagedError(str(path), f"the checksum of the record at {place.offset} ({size} bytes) is wrong")
        return Record(place, Place(place.segment, begin + len(body)), body)

    def _path(self, segment: int) -> Path:
        return self._folder / f"{self._name}-{segment:08d}.log"


class Log(LogReader):
    """An append-only log in `folder`. What :meth:`append` wrote survives kill -9; after :meth:`sync`, a power cut.

    `end`: where the next record will start. A record that was cut short at the end is removed at opening. What stands
    in it then may never have been synced, in any segment: the first sync does that.
    """

    def __init__(self, folder: Path, name: str, segment_bytes: int = 16 << 20, *, durable: bool = True) -> None:
        super().__init__(folder, name)
        self._segment_bytes = segment_bytes
        self._durable = durable
        # Held also while a record is written: an fsync may have tried and failed to write it, and where the log ends
        # says what is to be written anew.
        self._files = threading.RLock()
        # One sync at a time: another one, before what one could not write is there anew, would say that all is well.
        self._syncing = threading.RLock()
        self._partial = False  # whether part of a record stands behind the end
        # Full segments that are not durable, by their numbers: of a file that nobody has open the kernel may forget
        # that it could not write it.
        self._full: dict[int, FileIO] = {}
        self._cut_torn_end()
        self._file = self._open_segment(self._segment)
        self.end = Place(self._segment, self._file.seek(0, os.SEEK_END))
        self._synced = Place(self._first, 0)  # what is before it is durable
        # Segments of which an fsync has failed, be it for what was appended meanwhile; or may have in a process that
        # died before it could write them anew: its last one.
        self._anew = {self._segment} if self.end.offset else set()
        self._named = -1  # the last segment whose name is durable

    def append(self, body: bytes) -> Place:
        """Append a record; gives its place."""
        if self.end.offset >= self._segment_bytes:
            self.roll()
        data = RECORD.pack(len(body), xxh3_64_intdigest(body)) + body
        with self._files:
            self._take_back()
            place = self.end
            self._partial = True
            try:
                written = self._file.write(data)
                while written < len(data):
                    written += self._file.write(data[written:])
            except OSError:
                self._take_back()
                raise
            self.end, self._partial = Place(place.segment, place.offset + len(data)), False
        return place

    def _take_back(self) -> None:
        """A full disk: what was written of a record must not stand before the next one, nor in a full segment."""
        if self._partial:
            self._file.truncate(self.end.offset)
            super().close()  # what was read ahead may have that part
            self._partial = False

    def roll(self, segment: int = 0) -> int:
        """Start a new segment, `segment` if it is not reached yet, and give its number."""
        with self._files:
            self._take_back()
            following = Place(max(segment, self._segment + 1), 0)
            file = self._open_segment(following.segment)
            if self._durable and self._synced < self.end:
                self._full[self._segment] = self._file
            else:
                self._file.close()
                self._synced = following
            self._segment, self._file, self.end = following.segment, file, following
        return self._segment

    def sync(self) -> None:
        """Make what was appended durable, if the log is to be; may run in another thread than the one that appends, or
        in several. After an error the next call goes on where it failed."""
        with self._syncing:
            with self._files:
                begin, end = self._synced, self.end
            if self._durable and begin < end:
                self._sync(begin, end)

    def _sync(self, begin: Place, end: Place) -> None:
        for segment in range(begin.segment, end.segment + 1):
            part = begin.offset if segment == begin.segment else 0, end.offset if segment == end.segment else _NO_END
            anew = segment in self._anew
            self._anew.add(segment)
            with contextlib.suppress(FileNotFoundError):  # it was dropped meanwhile
                _sync_part(self._path(segment), *part, anew=anew)
            self._anew.discard(segment)
            if (following := Place(segment + 1, 0)) < end:  # at the end the names are not durable yet
                with self._files:
                    self._synced = max(self._synced, following)  # should the next one fail
        if end.segment > self._named:
            sync_folder(self._folder)
        with self._files:
            self._synced, self._named = max(self._synced, end), max(self._named, end.segment)
            for segment in [number for number in self._full if number < end.segment]:
                self._full.pop(segment).close()

    def drop_before(self, segment: int) -> None:
        """Delete the segments with smaller numbers."""
        for number in range(self._first, min(segment, self._segment)):
            self.drop(number)
            self._first = number + 1

    def drop(self, segment: int) -> None:
        """Delete one full segment."""
        with self._files:
            full = self._full.pop(segment, None)
        if full is not None:
            full.close()
        self._path(segment).unlink(missing_ok=True)

    def close(self) -> None:
        """Make durable and close."""
        try:
            self.sync()
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Close."""
        self._file.close()
        for file in self._full.values():
            file.close()
        super().close()

    def _open_segment(self, segment: int) -> FileIO:
        return self._path(segment).open("ab", buffering=0)

    def _cut_torn_end(self) -> None:
        # A record cut short was being written when the process died: its call had not returned.
        place = Place(self._segment, 0)
        if not (path := self._path(self._segment)).exists():
            return
        with path.open("r+b") as file:
            while True:
                try:
                    record = self._next(file, place)
                except DamagedError:
                    place = Place(self._segment, file.tell())
                    continue
                if record is None:
                    break
                place = record.end
            if place.offset < file.seek(0, os.SEEK_END):
                file.truncate(place.offset)
