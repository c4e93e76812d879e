"""``remove``: what was captured of a site is taken out of an archive, since its owner has asked for that.

Guarantees: a file is replaced by one that has all its other records, byte for byte and in their order, or it stays as
it is; a damaged one is refused. Records that belong to a capture that goes (``WARC-Concurrent-To``) go with it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from archive.errors import ConvertError
from archive.index.surt import surt
from archive.reading.reader import Reader
from archive.reading.record import Record
from archive.tools.convert import Tick, compression_of, copy_record, written
from archive.tools.sink import Sink

_CAPTURES = ("response", "revisit", "resource", "conversion")


@dataclass(slots=True)
class Removal:
    """Records that stay and that go, and how many of these are captures; ``bereft``: revisits of other sites that stay
    and whose content was stored with what goes."""

    kept: int = 0
    removed: int = 0
    captures: int = 0
    bereft: int = 0


def below(name: str) -> Callable[[str], bool]:
    """Whether a URL is of this host, or begins like this URL; by the keys of the index, so by http and https, with and
    without ``www.``, in capital and small letters. Other names under the host, and other ports, are others."""
    whole = name if "://" in name else f"http://{name}"
    host, _, path = whole.partition("://")[2].partition("/")
    if not host.strip() or any(sign in whole for sign in "*\t\r\n "):
        raise ValueError(f"{name!r} is neither a host nor how URLs begin")
    key = surt(whole)
    if not path:
        key = key.partition(")")[0] + ")"
    # A key has no slash at its end.
    inside = key + "/" if path.endswith("/") else key

    def wanted(url: str) -> bool:
        found = surt(url) if "://" in url else ""
        return found == key or found.startswith(inside)

    return wanted


def remove(path: Path, unwanted: Callable[[str], bool], *, write: bool, tick: Tick | None = None) -> Removal:
    """Take the records of unwanted URLs out of the file, and index it anew; without ``write`` they are only counted.
    ConvertError: the file is damaged, and stays as it is."""
    path = path.resolve()  # a link would be replaced, and what it leads to would stay
    found = Removal()
    gone: set[str] = set()

    def goes(record: Record) -> bool:
        if not unwanted(record.url) and record.field("WARC-Concurrent-To") not in gone:
            found.kept += 1
            refers = record.field("WARC-Refers-To"), record.field("WARC-Refers-To-Target-URI")
            found.bereft += record.type == "revisit" and (refers[0] in gone or unwanted(refers[1]))
            return False
        gone.add(record.id)
        found.removed += 1
        found.captures += record.type in _CAPTURES
        return True

    sink = Sink(path, compression_of(path)) if write else None
    place = written(sink, wanted=lambda: found.removed > 0) if sink is not None else nullcontext()
    with place, Reader(path) as reader:
        for record in reader:
            if not goes(record) and sink is not None:
                copy_record(record, sink)
                sink.end()
            if tick is not None:
                tick(record)
        if reader.damages:
            raise ConvertError(str(path), reader.damages)
    return found
