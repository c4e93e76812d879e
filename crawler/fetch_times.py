"""When each request of an archive began and ended, by its WARC files alone.

WARC-Date is when the request began; the metadata record beside it says how long the fetch took (fetchTimeMs). Dates
without a fraction of a second (WARC 1.0) cannot prove a delay; such records are left out.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path

from archive.reader import Reader
from archive.record import Record
from crawler.captures import fields
from sieve.urls import authority

_TYPES = ("response", "revisit", "request", "metadata")
_SUFFIXES = (".warc", ".warc.gz", ".warc.xz", ".warc.zst")
# The records of one exchange lie together; of a stranger's file, at least not far apart.
_MOST_OPEN = 1000


def warc_files(folder: Path) -> list[Path]:
    """The closed WARC files of a folder."""
    return sorted(path for path in folder.glob("*.warc*") if path.name.endswith(_SUFFIXES))


def fetch_times(files: Iterable[Path]) -> Iterator[tuple[str, str, float, float]]:
    """(authority, address or "", start, end in epoch ms) of each exchange that says both."""
    for path in files:
        met: OrderedDict[str, Record] = OrderedDict()
        with Reader(path, types=_TYPES, sound=True) as reader:
            for record in reader:
                if record.type != "metadata":
                    met[record.id] = record
                    if len(met) > _MOST_OPEN:
                        met.popitem(last=False)
                elif exchange := met.get(record.field("WARC-Concurrent-To")):
                    yield from _row(exchange, fields(record.block()).get("fetchTimeMs", ""))


def _row(exchange: Record, took_ms: str) -> Iterator[tuple[str, str, float, float]]:
    if "." not in exchange.date or not took_ms.isdecimal():
        return
    start_ms = datetime.fromisoformat(exchange.date).timestamp() * 1000
    yield str(authority(exchange.url)), exchange.field("WARC-IP-Address"), start_ms, start_ms + int(took_ms)
