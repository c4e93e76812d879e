"""The index beside each file, ``NAME.cdxj``: where the captures of each URL lie, sorted, one line each.

``<surt key> <14-digit date> {"url", "mime", "status", "digest", "length", "offset", "filename", …}``, in byte order,
all values strings, as pywb and the Common Crawl index have them; ``.warc.gz`` and plain files can be replayed from it
as they are. Further fields: ``languages`` (codes, best first), ``quality`` (suspicions, in alphabetical order, from the
list ``quality`` of the metadata record that follows), ``truncated``, ``redirect``; and for records in packs or other
shared units ``inner_offset`` and ``inner_length``: the place in the unit that ``offset`` and ``length`` give.
"""

from __future__ import annotations

import fcntl
import heapq
import json
import os
import re
import tempfile
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, suppress
from dataclasses import astuple, dataclass
from itertools import takewhile
from pathlib import Path
from typing import BinaryIO
from zlib import compress, decompress

from archive.errors import ArchiveError, Damage
from archive.index.surt import surt
from archive.messages.digests import digest
from archive.reading.reader import Reader
from archive.reading.record import Record
from archive.storage.disk import full_error
from archive.storage.unpack import Unit

INDEXED = frozenset({"response", "revisit", "resource"})
SUFFIX = ".cdxj"
REVISIT = "warc/revisit"
"""The `mime` of a revisit."""
_DIGITS = re.compile(r"\d")
_FIRST = "00000101000000"
_BEHIND = b"!"
"""Follows the blank that ends a key."""
_NEWEST_BYTES = 256 << 10
_QUALITY = re.compile(rb'^quality: (\[".*"\])\r?$', re.MULTILINE)
_SPILL_LINES = 50_000
_PACKED_AT_ONCE = 1000
_TRAILER = 4
_STAMP = re.compile("[0-9]{14}")
_PLACE = re.compile("[0-9]{1,18}")
_SCALARS = (str, int, float)
_SHOWN = 80
_TOLD = 10
"""Of one file that is merged: a WARC file given by mistake has very many lines that are none of an index."""


def timestamp(date: str) -> str:
    """The 14 digits of a WARC-Date; of one that is less exact, the first instant that it may mean."""
    digits = "".join(_DIGITS.findall(date))[:14]
    return digits + _FIRST[len(digits) :]


def instant(stamp: str) -> str:
    """A WARC-Date of 14 digits, to the second."""
    return f"{stamp[:4]}-{stamp[4:6]}-{stamp[6:8]}T{stamp[8:10]}:{stamp[10:12]}:{stamp[12:]}Z"


def memory_record(data: bytes) -> Record:
    """A record that was just built, whole, as one that was read."""
    record = Record("", Unit(0, len(data)), 0, data, 0)
    record.block_start = data.find(b"\r\n\r\n") + 4
    record.length = len(data) - record.block_start - _TRAILER
    return record


@dataclass(slots=True)
class Entry:
    """What the index says of a record, but for its place. `id`: of the record, by which others refer to it."""

    key: str
    stamp: str
    fields: dict[str, str]
    inner: int
    size: int
    id: str = ""

    def add_metadata(self, record: Record) -> None:
        """Take from a metadata record what the index says of its exchange; one of another exchange changes nothing."""
        ours = record.type == "metadata" and record.in_memory and record.field("WARC-Concurrent-To") == self.id
        if ours and (flags := _flags(record.block())):
            self.fields["quality"] = ",".join(flags)

    def line(self, file_name: str, offset: int, length: int, *, shared: bool) -> bytes:
        """``offset`` and ``length`` of the unit in the file; ``shared``: it may hold more than this record."""
        place = {"length": str(length), "offset": str(offset), "filename": file_name}
        if shared:
            place |= {"inner_offset": str(self.inner), "inner_length": str(self.size)}
        text = json.dumps({**self.fields, **place}, separators=(", ", ": "))
        return f"{self.key} {self.stamp} {text}\n".encode("utf-8", "surrogateescape")


def entry_of(record: Record) -> Entry | None:
    """None for a record that is not indexed."""
    if record.type not in INDEXED:
        return None
    url = record.url
    http = record.http
    fields = {"url": url, "mime": REVISIT if record.type == "revisit" else record.media_type or "unk"}
    if http is not None and http.status:
        fields["status"] = str(http.status)
    if checksum := payload_digest(record):
        fields["digest"] = checksum.removeprefix("sha1:")
    languages = record.field("WARC-Identified-Content-Language")
    if languages:
        fields["languages"] = languages.replace(" ", "")
    truncated = record.truncated
    if truncated and record.type != "revisit":  # which says so of the payload that another record holds
        fields["truncated"] = truncated
    if http is not None and 300 <= http.status < 400 and http.headers.get("location"):
        fields["redirect"] = http.headers.get("location")
    size = record.block_start - record.start + record.length + _TRAILER
    return Entry(surt(url), timestamp(record.date), fields, record.inner, size, record.id)


def _flags(block: bytes) -> list[str]:
    """The flags of quality in a metadata record's block; none where it has something else by that name."""
    match = _QUALITY.search(block)
    try:
        found = json.loads(match.group(1)) if match else []
    except (RecursionError, ValueError):
        return []
    return sorted(flag for flag in found if isinstance(flag, str))


def payload_digest(record: Record) -> str:
    """That of the record; of a payload that has none there (ARC has none at all) as other indexers compute it: replay
    looks up what older revisits stand for by it. "" for what is too large for memory."""
    declared = record.field("WARC-Payload-Digest")
    if declared or record.type == "revisit" or not record.in_memory:
        return declared
    return digest("sha1", record.payload())


class IndexBuilder:
    """Collects lines in bounded memory (sorted runs in temporary files) and writes them sorted.

    Where there is no room for temporary files they stay in memory: no crawl ends for want of what is not its archive.
    """

    def __init__(self, spill_lines: int = _SPILL_LINES) -> None:
        self._lines: list[bytes] = []
        self._runs: list[BinaryIO] = []
        self._spill_lines = self._due = spill_lines

    def add(self, entry: bytes) -> None:
        self._lines.append(entry)
        if len(self._lines) >= self._due:
            self._spill()

    def add_file(self, reader: Reader, file_name: str) -> None:
        for entry in file_lines(reader, file_name):
            self.add(entry)

    def _spill(self) -> None:
        with ExitStack() as stack:
            try:
                run = tempfile.TemporaryFile()  # noqa: SIM115 - closed in close()
                stack.callback(_close, run)
                run.writelines(sorted(self._lines))
                run.seek(0)
            except OSError:
                self._due = len(self._lines) + self._spill_lines
                return
            stack.pop_all()
        self._runs.append(run)
        self._lines, self._due = [], self._spill_lines

    def lines(self) -> Iterator[bytes]:
        """All lines, sorted, from the first again at each call."""
        for run in self._runs:
            run.seek(0)
        return heapq.merge(sorted(self._lines), *self._runs)

    def write(self, path: Path) -> None:
        """As :func:`write_lines`; may be called again."""
        write_lines(path, self.lines())

    def close(self) -> None:
        for run in self._runs:
            run.close()
        self._runs, self._lines = [], []


def _close(run: BinaryIO) -> None:
    """Without what could not be written."""
    with suppress(OSError):
        run.close()


def file_lines(reader: Reader, file_name: str) -> Iterator[bytes]:
    """The index lines of a file in its own order. Damaged records are left out; the reader's damages tell of them."""
    done: list[tuple[Entry, Unit, bool]] = []  # waits for the metadata record of its last one
    here: list[Entry] = []
    packed: list[bytes] = []  # those of the unit before `here`: some units have all records of a large file
    last: Entry | None = None
    unit, count = Unit(0), 0

    def ended() -> list[tuple[Entry, Unit, bool]]:
        """The entries of a unit of which it is known by now whether it holds several records."""
        return [(entry, unit, reader.stored_as == "xz" or count > 1) for entry in here]

    for record in reader:
        if record.unit is not unit:
            yield from _packed_lines(packed, file_name, unit)
            done += ended()
            here, packed, unit, count = [], [], record.unit, 0
        count += 1
        if record.damage is not None:
            continue
        entry = entry_of(record)
        if not record.in_memory and not record.whole():  # what is too large for memory is found broken when it is read
            continue
        if entry is not None:
            yield from _lines(done, file_name)
            done = []
            if len(here) == _PACKED_AT_ONCE:
                packed.append(compress(json.dumps([astuple(one) for one in here]).encode("ascii"), 1))
                here = []
            here.append(entry)
            last = entry
        elif last is not None:
            last.add_metadata(record)
    yield from _packed_lines(packed, file_name, unit)
    yield from _lines([*done, *ended()], file_name)


def _packed_lines(packed: Iterable[bytes], file_name: str, unit: Unit) -> Iterator[bytes]:
    for entries in packed:
        yield from _lines([(Entry(*row), unit, True) for row in json.loads(decompress(entries))], file_name)


def _lines(done: Iterable[tuple[Entry, Unit, bool]], file_name: str) -> Iterator[bytes]:
    for entry, unit, shared in done:
        yield entry.line(file_name, unit.offset, unit.length, shared=shared or entry.inner > 0)


def write_lines(path: Path, lines: Iterable[bytes]) -> None:
    """Write an index: new file, fsync, rename. ArchiveFull, OSError: what was there before still is."""
    fresh = unfinished(path)
    try:
        with _taken(fresh) as file:
            try:
                file.writelines(lines)
                file.flush()
                os.fsync(file.fileno())
                fresh.replace(path)
            except BaseException:
                fresh.unlink(missing_ok=True)
                raise
    except OSError as error:
        raise full_error(path, 0, error) from error


def unfinished(path: Path) -> Path:
    """What :func:`write_lines` writes until it is whole."""
    return path.with_name(path.name + "-new")


def _taken(path: Path) -> BinaryIO:
    """The file, empty and locked until it is closed. What a killed process left of it is taken over; one that lives is
    waited for, and then has renamed it, so that the name is free again."""
    while True:
        file = path.open("ab")
        with suppress(OSError):  # where nothing can be locked, two at once are at each other's mercy
            fcntl.flock(file, fcntl.LOCK_EX)
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(file.fileno()), path.stat()):
                file.truncate(0)
                return file
        file.close()


def index_file(path: Path, target: Path | None = None, name: str = "") -> list[Damage]:
    """Write the index of a file beside it (or to ``target``); returns the damage met. ``name``: that the file will
    have. A damaged one without any record gets none: it may be of another kind, an index itself."""
    with Reader(path) as reader, closing(IndexBuilder()) as builder:
        builder.add_file(reader, name or path.name)
        if reader.begun or not reader.damages:
            builder.write(target or path.with_name(path.name + SUFFIX))
        return reader.damages


def merge(paths: Iterable[Path], tell: Callable[[str], None]) -> Iterator[bytes]:
    """The lines of several sorted indexes as one sorted index. ``tell`` hears, with file and line, of lines that are
    none and are left out. ArchiveError: one of the files is not sorted, and an index is searched by bisection."""
    with ExitStack() as stack:
        files = [stack.enter_context(path.open("rb")) for path in paths]
        yield from heapq.merge(*(_sorted_lines(file, tell) for file in files))


def _sorted_lines(file: BinaryIO, tell: Callable[[str], None]) -> Iterator[bytes]:
    before = b""
    none = 0
    for number, read in enumerate(file, 1):
        line = read.removeprefix(BOM_UTF8) if number == 1 else read  # in the midst of an index it would be of a key
        line = line if line.endswith(b"\n") else line + b"\n"
        try:
            parse(line)
        except ValueError as error:
            none += 1
            if none <= _TOLD:
                tell(f"{file.name}:{number}: no line of an index: {error}")
            continue
        if line < before:
            raise ArchiveError(f"{file.name}:{number}: not sorted by bytes, so no index (LC_ALL=C sort)")
        yield line
        before = line
    if none > _TOLD:
        tell(f"{file.name}: and {none - _TOLD:,} more lines that are none of an index")


def lookup(path: Path, url: str) -> list[dict[str, str]]:
    """The captures of a URL (all that share its key), oldest first, by bisection: a few reads however large the
    index.
    """
    return [parse(entry) for entry in lines_of(path, url)]


def lines_of(path: Path, url: str) -> list[bytes]:
    """The lines that :func:`lookup` reads, as they stand: one that is none does not keep the others from who asks."""
    key = _key(url)
    with path.open("rb") as file:
        file.seek(_first(file, key))
        return list(takewhile(lambda entry: entry.startswith(key), file))


def newest(path: Path, url: str) -> list[dict[str, str]]:
    """As :func:`lookup`, but no more than the last 256 KiB of lines: those of a feed that is polled for years are
    very many."""
    key = _key(url)
    with path.open("rb") as file:
        file.seek(begin := _first(file, key))
        if not file.readline().startswith(key):
            return []
        end = _first(file, key[:-1] + _BEHIND)
        file.seek(max(begin, end - _NEWEST_BYTES))
        if file.tell() > begin:
            file.readline()
        return [parse(entry) for entry in file.read(max(0, end - file.tell())).splitlines()]


def _key(url: str) -> bytes:
    return surt(url).encode("utf-8", "surrogateescape") + b" "


def _first(file: BinaryIO, key: bytes) -> int:
    """Where the first line begins that is not below `key`."""
    low = start = start_of(file)
    high = file.seek(0, os.SEEK_END)
    while low < high:
        middle = (low + high) // 2
        file.seek(middle)
        if middle > start:
            file.readline()
        entry = file.readline()
        if entry and entry < key:
            low = middle + 1
        else:
            high = middle
    file.seek(low)
    if low > start:
        file.readline()
    return file.tell()


def start_of(file: BinaryIO) -> int:
    """Where the first line begins: behind the byte order mark that some editors put there."""
    file.seek(0)
    return len(BOM_UTF8) if file.read(len(BOM_UTF8)) == BOM_UTF8 else 0


def parse(entry: bytes) -> dict[str, str]:
    """A line's fields, with ``urlkey`` and ``timestamp``: strings, as others' numbers become, too; values of other
    kinds are left out. ValueError, which shows its beginning, when it is not an index line: one says of which URL,
    when (14 digits), and where (``filename``, ``offset``, perhaps ``inner_offset``) a capture is."""
    try:
        key, stamp, fields = entry.removeprefix(BOM_UTF8).decode("utf-8", "surrogateescape").split(" ", 2)
        found = json.loads(fields)
        row = {name: str(value) for name, value in found.items() if isinstance(value, _SCALARS)}
        places = (row["offset"], row.get("inner_offset", "0"))
        named = row["filename"] and "\0" not in row["filename"]
        if not (named and _STAMP.fullmatch(stamp) and all(map(_PLACE.fullmatch, places))):
            raise ValueError
        return {**row, "url": row["url"], "urlkey": key, "timestamp": stamp}
    except (AttributeError, LookupError, RecursionError, ValueError):
        raise ValueError(repr(entry[:_SHOWN].decode("utf-8", "replace").rstrip())) from None
