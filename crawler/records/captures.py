"""The fetches of a URL as a crawl's closed WARC files have them, found by their indexes.

What lies in files that are still open is not seen: they are indexed when they are closed. Nothing that is wrong with an
index or a file ends the search: it is told, and what else there is is found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

from archive import ArchiveError, Reader
from archive.index import cdxj
from archive.index.surt import surt
from archive.messages.fields import pairs_of
from archive.storage.warcfile import finished_in
from frontier.payload import source_tag
from sieve.urls import authority, canonicalize, canonicalize_many

_MOST_SEARCHED = 2_000_000
_MOST_BEHIND = 10_000

Tell = Callable[[str], None]
"""Hears of what is passed over, and why."""


@dataclass(frozen=True, slots=True)
class Place:
    """One fetch. `offset`, `length`: of the pack or member in the file; `inner_offset`: of the record within it.
    `told`: fields of the page's metadata record (verdict, source, …), empty without one; `mime`: the media type, as the
    index has it."""

    url: str
    timestamp: str
    status: str
    path: Path
    offset: int
    length: int
    inner_offset: int
    told: Mapping[str, str]
    mime: str = ""


def captures(folder: Path, url: str, tell: Tell) -> list[Place]:
    """All fetches of `url` (of all that share its SURT; without any, of its other spellings), oldest first."""
    for path in finished_in(folder):
        index = path.with_name(path.name + cdxj.SUFFIX)
        if not index.exists() or (index.is_file() and not index.stat().st_size):
            tell(f"{path} has no index, so what is in it is not found; python -m archive index makes it")
    found = [row for index in _indexes(folder) for row in _rows(index, partial(cdxj.lines_of, url=url), tell)]
    rows = found or _spelled_otherwise(folder, url, tell)
    return [_place(folder, row, tell) for row in sorted(rows, key=lambda row: row["timestamp"])]


def _spelled_otherwise(folder: Path, url: str, tell: Tell) -> list[dict[str, str]]:
    """Rows of the URLs that have the canonical form of `url`. Costs a look at each line of the indexes."""
    key = canonicalize(url)
    host = surt(authority(url) + "/").encode()
    lines = partial(_lines, tell=tell, host=host)
    rows = [row for index in _indexes(folder) for row in _rows(index, lines, tell)]
    forms = canonicalize_many([row["url"] for row in rows])
    return [row for row, form in zip(rows, forms, strict=True) if form == key]


def url_of_source(folder: Path, source: str, tell: Tell) -> str:
    """The URL of a source: itself, or the one among the fetched that its tag ("#…", "feed:#…") stands for, or ""."""
    wanted = source.removeprefix("feed:")
    if "://" in wanted:
        return wanted
    if not wanted.startswith("#"):
        return ""
    for index in _indexes(folder):
        for row in _rows(index, partial(_lines, tell=tell), tell):
            if "://" in row["url"] and source_tag(row["url"]) == wanted:
                return row["url"]
    return ""


def _indexes(folder: Path) -> Iterable[Path]:
    return sorted(folder.glob(f"*{cdxj.SUFFIX}"))


def _rows(index: Path, lines: Callable[[Path], Iterable[bytes]], tell: Tell) -> Iterator[dict[str, str]]:
    """What those lines of an index say. The first that is none is told."""
    bad = 0
    try:
        if not index.is_file():  # a pipe would be waited for
            raise OSError("no regular file")
        for line in lines(index):
            try:
                row = cdxj.parse(line)
            except ValueError as error:
                bad += 1
                if bad == 1:
                    tell(f"{index} has a line that is none of an index: {error}; python -m archive index makes it anew")
                continue
            yield row
    except OSError as error:
        tell(f"{index}: cannot be read: {error.strerror or error}")


def _lines(index: Path, tell: Tell, host: bytes = b"") -> Iterator[bytes]:
    """The lines of an index whose keys begin with `host`."""
    before, is_sorted = b"", True
    with index.open("rb") as file:
        file.seek(cdxj.start_of(file))
        for line in islice(file, _MOST_SEARCHED):
            if line < before and is_sorted:
                is_sorted = False
                tell(f"{index} is not sorted by bytes, so captures are missed; python -m archive index makes it anew")
            before = line
            if line.startswith(host):
                yield line


def _place(folder: Path, row: Mapping[str, str], tell: Tell) -> Place:
    path, offset, inner = folder / row["filename"], int(row["offset"]), int(row.get("inner_offset", 0))
    told: Mapping[str, str] | None = {}
    if path.is_file():
        try:
            told = _told(path, offset, inner, row["url"])
        except (OSError, ArchiveError) as error:
            tell(f"{path}: cannot be read: {error}")
        if told is None:
            tell(f"{path} has something else, or damage, at {offset}+{inner}, where by its index {row['url']} is")
    elif path.exists():  # a pipe would be waited for
        tell(f"{path}: cannot be read: no regular file")
    length = row.get("length", "")
    size = int(length) if length.isascii() and length.isdigit() else 0
    known = (row["url"], row["timestamp"], row.get("status", ""), path, offset, size, inner)
    return Place(*known, told or {}, row.get("mime", ""))


def _told(path: Path, offset: int, inner: int, url: str) -> dict[str, str] | None:
    """Fields of the metadata record of the response at a place; it follows soon behind. None: that is not there."""
    seen: str | None = None
    with Reader(path, offset=offset) as reader:
        for record in islice(reader, _MOST_BEHIND):
            if seen is None:
                if (record.offset, record.inner) > (offset, inner):
                    return None
                if (record.offset, record.inner, record.url) == (offset, inner, url):
                    seen = record.id
            elif record.type == "metadata" and record.field("WARC-Concurrent-To") == seen and record.in_memory:
                return pairs_of(record.block())
            elif record.url != url:
                break
    return None if seen is None else {}
