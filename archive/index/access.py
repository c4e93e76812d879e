"""One record by its place, and the place of a URL's latest capture."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from archive.errors import ArchiveNotFound, Damage
from archive.index import cdxj
from archive.index.surt import surt
from archive.messages.digests import digest_holds, same_digest
from archive.reading.reader import Reader
from archive.reading.record import Record
from archive.storage.warcfile import finished_in

Place = tuple[Path, int, int]

IDENTICAL = "/revisit/identical-payload-digest"
"""In the profile of revisits of a payload that another record has."""
_AT_ONCE = 64 << 10
_PLACE = re.compile(r"([0-9]{1,18})(?:\+([0-9]{1,18}))?")


def record_at(path: str | Path, offset: int, inner: int = 0) -> tuple[Reader, Record]:
    """The record at a place an index names. The caller closes the reader. ArchiveNotFound: no record begins there.

    Costs the unpacking of one pack up to the record, no more. As the pack's own checksum is not reached, the record's
    block digest is checked instead; ``damage`` is set when it does not hold.
    """
    reader = Reader(path, offset=offset, whole_bytes=_AT_ONCE)
    reader.skip(inner)
    for record in reader:
        if record.offset == offset and record.inner == inner:
            if record.in_memory and record.block_holds() is False:
                record.damage = Damage(str(path), offset, inner, "the block digest does not hold")
            return reader, record
        if record.offset > offset or record.inner > inner:
            break
    reader.close()
    raise ArchiveNotFound(f"{path}: no record at {offset}+{inner}")


def find(path: Path, what: str, tell: Callable[[Damage], None]) -> Place:
    """File, offset and inner offset of ``what``: such a place in writing, or a URL (of which: the latest capture).

    ``path``: a file, or a folder of WARC files. A URL is found by the index of a file; by reading the file when there
    is none, or a broken one, or one of another state of the file; ``tell`` hears of that and of all damage met.
    ArchiveNotFound: no capture of it; of one in a file that was moved away without its index that is said.
    """
    if place := _PLACE.fullmatch(what):
        return path, int(place[1]), int(place[2] or 0)
    found = list(_captures_in(path, what, tell))
    if not found:
        moved = ", ".join(_moved(path, what)) if path.is_dir() else ""
        gone = f"; {moved} had one, by the index that lies here, and is gone from this folder" if moved else ""
        raise ArchiveNotFound(f"{path}: no capture of {what}{gone}")
    return _latest(found)


def _moved(folder: Path, url: str) -> Iterator[str]:
    """Names of the files that have it by an index which was left behind without its file."""
    for index in sorted(folder.glob(f"*{cdxj.SUFFIX}")):
        if not index.with_name(index.name.removesuffix(cdxj.SUFFIX)).exists():
            with contextlib.suppress(ValueError):
                if cdxj.lookup(index, url):
                    yield index.name.removesuffix(cdxj.SUFFIX)


def content_of(revisit: Record, where: Sequence[Path], tell: Callable[[Damage], None]) -> tuple[Reader, Record] | None:
    """The record that has the payload of a revisit of profile identical-payload-digest, from one of the files or
    folders: an answer with that digest of the URL that is referred to. The caller closes the reader. None: not there.
    """
    (url, _), checksum = revisit.refers_to, revisit.field("WARC-Payload-Digest")
    for path in where if url and checksum else []:
        for _, place in _captures_in(path, url, tell):
            try:
                reader, record = record_at(*place)
            except ArchiveNotFound:  # the index is of another state of the file
                continue
            declared = record.field("WARC-Payload-Digest")
            same = same_digest(declared, checksum) if declared else _holds(record, checksum)
            if record.type == "response" and same:
                return reader, record
            reader.close()
    return None


def _holds(record: Record, checksum: str) -> bool:
    return record.in_memory and digest_holds(checksum, record.payload()) is True


def _captures_in(path: Path, url: str, tell: Callable[[Damage], None]) -> Iterator[tuple[str, Place]]:
    """Those of a file, or of a folder's: there one that cannot be read is told, and the others have what they have."""
    if not path.is_dir():
        yield from _captures(path, url, tell)
        return
    for file in finished_in(path):
        try:
            yield from _captures(file, url, tell)
        except OSError as error:
            tell(Damage(str(file), 0, -1, f"cannot be read: {error.strerror}"))


def _captures(file: Path, url: str, tell: Callable[[Damage], None]) -> list[tuple[str, Place]]:
    index = file.with_name(file.name + cdxj.SUFFIX)
    if index.is_file() and index.stat().st_size:
        found = _indexed(index, file, url)
        if found is not None:
            return found
        tell(Damage(str(index), 0, -1, "no index of the file as it is: the file itself is read"))
    return list(_scan(file, url, tell))


def _indexed(index: Path, file: Path, url: str) -> list[tuple[str, Place]] | None:
    """What the index knows of the URL; None when the index is broken or of another state of the file."""
    try:
        rows = cdxj.lookup(index, url)
    except ValueError:
        return None
    found = [(row["timestamp"], (file, int(row["offset"]), int(row.get("inner_offset", 0)))) for row in rows]
    return found if not found or _stands(_latest(found), url) else None


def _latest(found: Sequence[tuple[str, Place]]) -> Place:
    return max(found, key=lambda row: row[0])[1]


def _stands(place: Place, url: str) -> bool:
    """Is there a capture of the URL at the place?"""
    try:
        reader, record = record_at(*place)
    except ArchiveNotFound:
        return False
    with reader:
        return record.type in cdxj.INDEXED and surt(record.url) == surt(url)


def _scan(file: Path, url: str, tell: Callable[[Damage], None]) -> Iterator[tuple[str, Place]]:
    key = surt(url)
    with Reader(file, types=cdxj.INDEXED) as reader:
        for record in reader:
            if record.url == url or surt(record.url) == key:
                yield cdxj.timestamp(record.date), (file, record.offset, record.inner)
        for damage in reader.damages:
            tell(damage)
