"""The fetches of a URL as a crawl's closed WARC files have them, found by their indexes.

What lies in files that are still open is not seen: they are indexed when they are closed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from archive import Reader
from archive.index import cdxj
from archive.index.surt import surt
from archive.messages.fields import pairs_of
from frontier.payload import source_tag
from sieve.urls import authority, canonicalize, canonicalize_many

_MOST_SEARCHED = 2_000_000


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


def captures(folder: Path, url: str) -> list[Place]:
    """All fetches of `url` (of all that share its SURT; without any, of its other spellings), oldest first."""
    rows = [row for index in _indexes(folder) for row in cdxj.lookup(index, url)] or _spelled_otherwise(folder, url)
    return [_place(folder, row) for row in sorted(rows, key=lambda row: row["timestamp"])]


def _spelled_otherwise(folder: Path, url: str) -> list[dict[str, str]]:
    """Rows of the URLs that have the canonical form of `url`. Costs a look at each line of the indexes."""
    key = canonicalize(url)
    host = surt(authority(url) + "/").encode()
    lines = (line for index in _indexes(folder) for line in _lines(index) if line.startswith(host))
    rows = [cdxj.parse(line) for line in lines]
    forms = canonicalize_many([row["url"] for row in rows])
    return [row for row, form in zip(rows, forms, strict=True) if form == key]


def url_of_source(folder: Path, source: str) -> str:
    """The URL of a source: itself, or the one among the fetched that its tag ("#…", "feed:#…") stands for, or ""."""
    wanted = source.removeprefix("feed:")
    if "://" in wanted:
        return wanted
    if not wanted.startswith("#"):
        return ""
    for index in _indexes(folder):
        for line in _lines(index):
            url = cdxj.parse(line)["url"]
            if source_tag(url) == wanted:
                return url
    return ""


def _indexes(folder: Path) -> Iterable[Path]:
    return sorted(folder.glob(f"*{cdxj.SUFFIX}"))


def _lines(index: Path) -> Iterator[bytes]:
    with index.open("rb") as lines:
        yield from islice(lines, _MOST_SEARCHED)


def _place(folder: Path, row: Mapping[str, str]) -> Place:
    path, offset, inner = folder / row["filename"], int(row["offset"]), int(row.get("inner_offset", 0))
    told = _told(path, offset, inner, row["url"]) if path.exists() else {}
    status, mime = row.get("status", ""), row.get("mime", "")
    return Place(row["url"], row["timestamp"], status, path, offset, int(row["length"]), inner, told, mime)


def _told(path: Path, offset: int, inner: int, url: str) -> dict[str, str]:
    """Fields of the metadata record of the response at a place; it follows soon behind."""
    seen = ""
    with Reader(path, offset=offset) as reader:
        for record in islice(reader, 10_000):
            if not seen and record.inner == inner and record.url == url:
                seen = record.id
            elif seen and record.type == "metadata" and record.field("WARC-Concurrent-To") == seen:
                return pairs_of(record.block())
            elif seen and record.url != url:
                break
    return {}
