"""``convert``: the same archive stored another way; ``repair``: what is sound of a damaged one.

Guarantees: the unpacked bytes of a converted file are those of the original, to the last byte, and this is checked by
reading the new file back before it gets its name; a damaged original is refused. A repaired file holds every record
that could be read whole, framed as the standard says, and the report tells of each that could not.
"""

from __future__ import annotations

import glob
import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from archive.errors import ConvertError, Damage
from archive.index.cdxj import SUFFIX, index_file
from archive.messages.digests import DigestCheck
from archive.reading.reader import Reader
from archive.reading.record import Record
from archive.storage.codecs import SUFFIXES, compression_of
from archive.storage.disk import fsync_folder
from archive.storage.source import Source
from archive.storage.unpack import Unpacked, detect
from archive.storage.warcfile import OPEN
from archive.tools.sink import Sink

Tick = Callable[[Record], None]
FRESH_INDEX = ".{}-index-new"
"""Follows a file's name in that of its index until it has its place; {}: the id of the process."""


@dataclass(slots=True)
class RepairReport:
    """``kept`` and ``dropped`` records, and all damage met. Nothing kept: no file was written."""

    kept: int = 0
    dropped: int = 0
    damages: list[Damage] = field(default_factory=list)


def renamed(path: Path, compression: str) -> Path:
    """``x.warc.gz`` -> ``x.warc.xz``; ``.open`` is left out."""
    name = path.name.removesuffix(OPEN)
    for suffix in SUFFIXES.values():
        if suffix and name.endswith(suffix):
            name = name.removesuffix(suffix)
    return path.with_name(name + SUFFIXES[compression])


def plain_digest(path: Path) -> tuple[str, list[Damage]]:
    """SHA-256 of the unpacked bytes, and damage met while unpacking."""
    state = hashlib.sha256()
    damages: list[Damage] = []
    with path.open("rb") as file:
        source = Source(file)
        for chunk in Unpacked(source, detect(source), str(path), damages):
            state.update(chunk.data)
    return state.hexdigest(), damages


def convert(
    path: Path, target: Path, *, level: int | None = None, pack_bytes: int = 1 << 20, tick: Tick | None = None
) -> Path:
    """Store ``path`` as ``target``, whose name gives the kind, and index it. ConvertError: nothing was written."""
    state = hashlib.sha256()

    def check(fresh: Path) -> None:
        digest, damages = plain_digest(fresh)
        if damages or digest != state.hexdigest():
            raise ConvertError(str(path), damages)

    with written(Sink(target, compression_of(target), level, pack_bytes), check) as sink, Reader(path) as reader:
        _copy_all(reader, sink, state.update, tick)
    return target


def _copy_all(reader: Reader, sink: Sink, count: Callable[[bytes], None], tick: Tick | None) -> None:
    def put(data: bytes) -> None:
        count(data)
        sink.write(data)

    begun = False
    for record in reader:
        if begun:
            put(reader.gap)
            sink.end()
            sink.begin()
        else:
            sink.begin()
            put(reader.gap)
        begun = True
        put(record.raw_head)
        for piece in record.pieces():
            put(piece)
        if reader.damages:
            break
        if tick is not None:
            tick(record)
    if reader.damages:
        raise ConvertError(reader.path, reader.damages)
    put(reader.gap)
    sink.end()


def repair(path: Path, target: Path, *, tick: Tick | None = None) -> RepairReport:
    """Copy every sound record of ``path`` into ``target``, one unit or pack place each, and index it. Where none is,
    nothing is written. Of plain files and large units the digests of records are all that can be asked in time."""
    report = RepairReport()
    sink = Sink(target, compression_of(target))
    with written(sink, wanted=lambda: report.kept > 0), Reader(path) as reader:
        for record in reader:
            if record.damage is not None:
                report.dropped += 1
                continue
            check = DigestCheck(record.field("WARC-Block-Digest"))
            copy_record(record, sink, check.feed)
            checked = reader.stored_as != "none" and record.unit.length > 0  # 0: its checksum comes behind the record
            if record.damage is None and not checked and check.holds() is False:
                record.damage = Damage(record.path, record.offset, record.inner, "the block digest does not hold")
                reader.damages.append(record.damage)
            if record.damage is None:
                sink.end()
                report.kept += 1
            else:
                sink.drop()
                report.dropped += 1
            if tick is not None:
                tick(record)
        report.damages = reader.damages
    return report


def join(paths: Iterable[Path], target: Path) -> Path:
    """Store the records of several files as one, in their order. ConvertError, nothing was written: one is damaged."""
    with written(Sink(target, compression_of(target))) as sink:
        for path in paths:
            copy_wanted(path, sink)
    return target


def copy_wanted(path: Path, sink: Sink, wanted: Callable[[Record], bool] = lambda _: True) -> None:
    """The wanted records of a file. ConvertError: it is damaged."""
    with Reader(path) as reader:
        for record in reader:
            if wanted(record):
                copy_record(record, sink)
                sink.end()
        if reader.damages:
            raise ConvertError(str(path), reader.damages)


@contextmanager
def written(
    sink: Sink, check: Callable[[Path], None] = lambda _: None, wanted: Callable[[], bool] = lambda: True
) -> Iterator[Sink]:
    """What is put into the sink becomes its file, with an index, when the block ends well, it is wanted then, and
    ``check`` of it does not raise; else nothing is left. Killed outright: of a new file the index may be there alone,
    a file that was replaced may have none (:func:`lacks_index`); never has one that of another."""

    index = sink.path.with_name(sink.path.name + SUFFIX)
    # Made before anything is replaced: it takes long, and finds a full device. (Other commands pass over such a name.)
    fresh_index = sink.path.with_name(sink.path.name + FRESH_INDEX.format(os.getpid()))
    ahead = False

    def checked(fresh: Path) -> None:
        nonlocal ahead
        check(fresh)
        index_file(fresh, fresh_index, sink.path.name)
        if index.exists():  # may be read and written by whom the old one might
            shutil.copymode(index, fresh_index)
        ahead = not sink.path.exists()
        if ahead:  # killed before the file is there, the next run makes both
            fresh_index.replace(index)
        else:
            index.unlink(missing_ok=True)

    try:
        yield sink
        if not wanted():
            sink.abort()
            return
        sink.finish(checked)
        if not ahead:
            fresh_index.replace(index)
    except BaseException:  # Ctrl-C, too, must not leave half a file, nor one without its index
        if sink.is_gone:
            with suppress(FileNotFoundError):
                fresh_index.replace(index)
        else:
            sink.abort()
            fresh_index.unlink(missing_ok=True)
            if ahead:
                index.unlink(missing_ok=True)
        raise
    fsync_folder(index.parent)


def lacks_index(path: Path) -> bool:
    """Whether a run that was to replace the file ended between the old index and the new one, as :func:`written` has
    it: killed, or the last rename failed."""
    left = glob.escape(path.name) + FRESH_INDEX.format("*")
    return not path.with_name(path.name + SUFFIX).exists() and any(path.parent.glob(left))


def copy_record(record: Record, sink: Sink, feed: Callable[[bytes], None] = lambda _: None) -> None:
    """``feed`` hears of its block. A streamed one whose end turns out bad has its damage then."""
    sink.begin()
    sink.write(record.raw_head)
    for piece in record.pieces():
        feed(piece)
        sink.write(piece)
    if record.damage is None and not record.whole():
        record.damage = Damage(record.path, record.offset, record.inner, "its end is missing or broken")
    sink.write(b"\n" if record.version == "arc" else b"\r\n\r\n")
