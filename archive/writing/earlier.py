"""Payloads that earlier crawls have stored: found by URL and digest in their sorted indexes, to be referred to.

Guarantees
* Only a record that has the content is referred to: an answer 200, whole, of that digest, which one of the indexes
  names. Where its WARC file is there, it has been read, and its block digest holds.
* A revisit leads to what it refers to, where its WARC file is there and one of the indexes names that.
* Nothing is raised while pages are stored. What cannot be read, or is not as it should be, costs the saving, and is
  told once an index; it is asked again for the next page.
* Each question opens the indexes anew, and what is remembered of a pack holds for the file as it is: what is taken out
  meanwhile (``archive remove``) is not referred to. Memory: some lines, and the ids of the packs last looked into.

Sources: the identical-payload-digest profile (WARC 1.1, 6.7.2); Heritrix' history of digests by URL.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from archive.errors import ArchiveError, ArchiveNotFound
from archive.index import cdxj
from archive.index.surt import surt
from archive.messages.digests import DigestCheck, split_digest, split_indexed
from archive.reading.reader import Reader
from archive.reading.record import Record
from archive.writing.exchange import RevisitTarget

Find = Callable[[Collection[tuple[str, str]]], Mapping[str, RevisitTarget]]
Place = tuple[Path, int, int]

_LOG = logging.getLogger("archive.writing.earlier")
_NOT_OURS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What comes of lines that are no index lines, or have other values than they should."""
_MOST_TRIED = 4
"""So many lines of a URL with the digest are looked into, until one leads to the content."""
_MOST_INNER = 8 << 20
"""So far into a unit is looked; the packs of ours are shorter, others' files may be one unit of gigabytes. What lies
behind is taken as the index tells it."""
_UNITS = 256
"""So many packs' records are remembered, some 20 KB each: pages of one pack are asked for at about the same time."""


def indexes_of(named: Sequence[str]) -> list[Path]:
    """The indexes that are named, by themselves or by the folder they lie in. ValueError: a folder has none."""
    found: dict[Path, None] = {}
    for path in map(Path, filter(None, named)):
        inside = sorted(path.glob(f"*{cdxj.SUFFIX}")) if path.is_dir() else [path]
        if not inside:
            deeper = any(path.glob(f"warc/*{cdxj.SUFFIX}"))
            hint = f"did you mean {path / 'warc'}?" if deeper else "python -m archive index makes them of WARC files"
            raise ValueError(f"{path}: no {cdxj.SUFFIX} files in this folder; {hint}")
        found.update(dict.fromkeys(inside))
    return list(found)


class _Line(NamedTuple):
    """What a line of an index names; what `has_content` (an answer 200, whole; in one crawl nothing else is referred to
    either) and is the newest comes last. `source`: the index."""

    has_content: bool
    stamp: str
    place: Place
    source: Path
    key: str
    url: str


class _Stored(NamedTuple):
    """What is read at a place. `origin`: the URL of the record that a revisit refers to; "" of a response."""

    key: str
    target: RevisitTarget
    origin: str = ""


class Earlier:
    """Asked by a writer for records that have the payloads of a pack (:attr:`WriterConfig.earlier`)."""

    def __init__(self, indexes: Sequence[Path]) -> None:
        self._indexes = list(indexes)
        self._told: set[Path] = set()

    def find(self, wanted: Collection[tuple[str, str]]) -> dict[str, RevisitTarget]:
        """Of pairs of URL and digest, by digest: the newest record of a URL with that key whose payload has it."""
        found: dict[str, RevisitTarget] = {}
        tried = [(checksum, self._lines(url, checksum)) for url, checksum in wanted]
        while tried := [(checksum, lines) for checksum, lines in tried if lines and checksum not in found]:
            for checksum, lines in tried:
                here = self._at(lines.pop())
                if here is not None and here.origin:
                    lines += [line for line in self._lines(here.origin, checksum) if line.has_content]
                elif here is not None:
                    found[checksum] = here.target
        return found

    def _lines(self, url: str, checksum: str) -> list[_Line]:
        """Those of the URL's key with the digest, the best last."""
        found: list[_Line] = []
        for index in self._indexes:
            try:
                found += [_line(index, row) for row in cdxj.newest(index, url) if _has(row, checksum)]
            except (OSError, *_NOT_OURS) as error:
                self._tell(index, error)
        return sorted(found)[-_MOST_TRIED:]

    def _at(self, line: _Line) -> _Stored | None:
        """What is where the line says, when it is that. Of a file that is elsewhere: as the index tells it, but for
        revisits."""
        path, offset, inner = line.place
        try:
            if path.exists() and inner <= _MOST_INNER:
                state = path.stat()
                inside = 0 <= offset < state.st_size
                here = _records(path, offset, state.st_mtime_ns, state.st_size).get(inner) if inside else None
                if here is None or here.key != line.key or bool(here.origin) is line.has_content:
                    raise ArchiveNotFound(f"{path} has something else, or damage, at {offset}+{inner}")
                return here
        except (OSError, ArchiveError, *_NOT_OURS) as error:
            self._tell(line.source, error)
            return None
        told = _Stored(line.key, RevisitTarget(line.url, cdxj.instant(line.stamp)))
        return told if line.has_content else None

    def _tell(self, index: Path, error: Exception) -> None:
        if index not in self._told:
            self._told.add(index)
            _LOG.warning("What an earlier crawl has by %s may be stored once more: %s", index, error)


@lru_cache(_UNITS)
def _records(path: Path, offset: int, _mtime_ns: int, _size: int) -> Mapping[int, _Stored]:
    """The sound responses and revisits of a unit, by their place in it; of the file as it is now."""
    found: dict[int, _Stored] = {}
    with Reader(path, offset=offset) as reader:
        for record in reader:
            if record.offset != offset or record.inner > _MOST_INNER:
                break
            if record.type not in ("response", "revisit") or not _is_sound(record):
                continue
            origin = record.refers_to[0] if record.type == "revisit" else ""
            if record.type == "response" or origin:
                target = RevisitTarget(record.url, record.date, record.id)
                found[record.inner] = _Stored(surt(record.url), target, origin)
    return found


def _is_sound(record: Record) -> bool:
    """Is it whole, and does its block have the digest that it says?"""
    check = DigestCheck(record.field("WARC-Block-Digest"))
    for piece in record.pieces():
        check.feed(piece)
    return check.holds() is not False and record.whole()


def _has(row: dict[str, str], checksum: str) -> bool:
    """Is it of this digest, however that is spelled?"""
    return split_indexed(row.get("digest", "")) == split_digest(checksum)


def _line(index: Path, row: dict[str, str]) -> _Line:
    whole = row.get("mime") != cdxj.REVISIT and row.get("status") == "200" and not row.get("truncated")
    place = index.parent / row["filename"], int(row["offset"]), int(row.get("inner_offset", 0))
    return _Line(whole, row["timestamp"], place, index, row["urlkey"], row["url"])
