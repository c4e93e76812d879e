"""``remove``: what was captured of a site is taken out of an archive, since its owner has asked for that.

Guarantees: a file is replaced by one that has all its other records, byte for byte and in their order, or it stays as
it is; a damaged one is refused. Records that belong to a capture that goes (``WARC-Concurrent-To``) go with it. Of two
at once on one file the second waits, and works on what the first has left. Killed at any instant and run again: the
file and its index are those of a run that was not killed.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

from archive.errors import ConvertError
from archive.index.cdxj import index_file
from archive.index.surt import surt
from archive.reading.reader import Reader
from archive.reading.record import CAPTURES, Record
from archive.tools.convert import Tick, copy_wanted, lacks_index, written
from archive.tools.sink import Sink

_HOST = re.compile(r"[^/?]+")
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)
_NUMBERED = re.compile(r"[^/?#]*//(?:[^/?#]*@)?(www\d+\.)", re.IGNORECASE)
"""A host of its own, where a key has it without that."""
_ABOUT = re.compile(r"urn:[a-z-]+:(?=https?://)", re.IGNORECASE)
"""A browser's recorder names so what it made of a page: its text, its picture, what it has loaded (browsertrix)."""


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
    without ``www.``, in capital and small letters. Other names under the host, and other ports, are others.

    ValueError for what is neither; a key has no scheme, so that of ``ftp://`` would take what the web has there."""
    scheme = _SCHEME.match(name)
    whole = (name if scheme else f"http://{name}").partition("#")[0]
    rest = whole.partition("://")[2]
    host = _HOST.match(rest)
    if host is None or any(sign in whole for sign in "*\t\r\n "):
        raise ValueError(f"{name!r} is neither a host nor how URLs begin")
    if scheme and scheme[1].lower() not in ("http", "https"):
        raise ValueError(f"{name!r} begins with neither http:// nor https://; {host[0]} takes all of that host")
    path = rest[host.end() :]
    key = surt(whole)
    if path in ("", "/"):
        key = key.partition(")")[0] + ")"
    # A key has neither a slash nor a question mark at its end.
    inside = key.rstrip("/") + path[-1] if path[1:].endswith(("/", "?")) else key
    label = _numbered(whole)

    def wanted(url: str) -> bool:
        named = _ABOUT.sub("", url, 1)
        found = surt(named) if "://" in url else ""
        return (found == key or found.startswith(inside)) and _numbered(named) == label

    return wanted


def _numbered(url: str) -> str:
    """The ``www2.`` of its host, "" without."""
    found = _NUMBERED.match(url)
    return found[1].lower() if found else ""


def remove(path: Path, unwanted: Callable[[str], bool], *, write: bool, tick: Tick | None = None) -> Removal:
    """Take the records of unwanted URLs out of the file, and index it anew; without ``write`` they are only counted.
    ConvertError: the file is damaged, and stays as it is."""
    path = path.resolve()  # a link would be replaced, and what it leads to would stay
    with _alone(path) if write else nullcontext():
        found, gone, kind = _counted(path, unwanted, tick)
        if write and found.removed:  # a file that has nothing of it is not written anew
            with written(Sink(path, kind), lambda fresh: _as_before(path, fresh)) as sink:
                copy_wanted(path, sink, lambda record: not (unwanted(record.url) or _belongs(record, gone)))
        elif write and lacks_index(path):
            index_file(path)
    return found


def _counted(path: Path, unwanted: Callable[[str], bool], tick: Tick | None) -> tuple[Removal, set[str], str]:
    """What goes, and its ids; how the file is stored, whatever its name says."""
    found = Removal()
    gone: set[str] = set()
    ahead: Counter[str] = Counter()  # records without a URL, by the capture that they belong to
    with Reader(path) as reader:
        for record in reader:
            if unwanted(record.url) or _belongs(record, gone):
                # Some have no id (those of ARC files), as some belong to nothing.
                gone.update(filter(None, [record.id]))
                found.removed += 1 + (before := ahead.pop(record.id, 0))
                found.kept -= before
                found.captures += record.type in CAPTURES
            else:
                found.kept += 1
                if not record.url:
                    ahead.update(record.headers.get_all("WARC-Concurrent-To")[:1])
                refers = record.field("WARC-Refers-To") in gone or unwanted(record.refers_to[0])
                found.bereft += record.type == "revisit" and refers
            if tick is not None:
                tick(record)
        if reader.damages:
            raise ConvertError(str(path), reader.damages)
    return found, gone, reader.stored_as


def _belongs(record: Record, gone: set[str]) -> bool:
    """Is it of a capture that goes?"""
    return bool(gone) and not gone.isdisjoint(record.headers.get_all("WARC-Concurrent-To"))


def _as_before(path: Path, fresh: Path) -> None:
    """The new file may be read and written by whom the old one might."""
    state = path.stat()
    with suppress(OSError):  # only root gives files away
        os.chown(fresh, state.st_uid, state.st_gid)
    shutil.copymode(path, fresh)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """The file is this one's until it is left; another's work on it is waited for, and has then replaced it. Without
    that, what the one has taken out would come back with the copy of the other."""
    while True:
        with path.open("rb") as file:
            with suppress(OSError):  # where nothing can be locked, two at once are at each other's mercy
                fcntl.flock(file, fcntl.LOCK_EX)
            if os.path.samestat(os.fstat(file.fileno()), path.stat()):
                yield
                return
