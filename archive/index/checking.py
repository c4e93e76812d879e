"""Whether a file is an index that can be searched by bisection: its lines are index lines, sorted by bytes."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from archive.errors import ArchiveError
from archive.index.cdxj import parse

WHOLE_BYTES = 64 << 20
"""An index up to this size is read whole (less than a second), a larger one as much of it."""
_LEAST_BYTES = 64 << 10
_PLACE_BYTES = 16 << 10
_MOST_PLACES = 256
_OTHER_KEYS = (b"http://", b"https://")
"""Of a URL as it is, or in a form of SURT that keeps the scheme: nothing would be found by ours."""
_SHOWN = 80
_LONGEST_LINE = 1 << 16


def begins_as_index(file: Path) -> bool:
    """Is its first line one of an index, whatever it is called? Of what is no regular file: False; a pipe can be read
    but once."""
    if not file.is_file():
        return False
    with file.open("rb") as lines, suppress(ValueError):
        return bool(parse(lines.readline(_LONGEST_LINE)))
    return False


def check(path: Path, most_bytes: int = WHOLE_BYTES) -> frozenset[str]:
    """The kinds of the digests in it ("sha1"). ArchiveError: a line is none, or not in order; OSError.

    Of a file above ``most_bytes`` (64 KiB at least) as many are read, at up to 256 places from its beginning to its
    end: what was never sorted, or put together of sorted files, is found out all the same, and a start takes no
    minutes. A single bad line may not be; it costs those who ask for it no more than the answer. A file that has not
    changed since is not read again.
    """
    state = path.stat()
    if not stat.S_ISREG(state.st_mode):  # a pipe would be waited for
        raise ArchiveError(f"{path} is no regular file")
    return _kinds(path, max(_LEAST_BYTES, most_bytes), state.st_mtime_ns, state.st_size)


@lru_cache(1 << 14)
def _kinds(path: Path, most_bytes: int, _mtime_ns: int, _size: int) -> frozenset[str]:
    kinds: set[str] = set()
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        places = 1 if size <= most_bytes else min(_MOST_PLACES, most_bytes // _PLACE_BYTES)
        window = min(size, most_bytes // places)
        before = b""
        for number in range(places):
            file.seek(start := (size - window) * number // max(1, places - 1))
            left = window - (len(file.readline()) if start else 0)
            while left > 0 and (line := file.readline()):
                left -= len(line)
                if line < before:
                    raise _fault(path, line, "is not sorted by bytes (LC_ALL=C sort) at")
                before = line
                kinds |= _digest_kind(path, line)
    return frozenset(kinds)


def _digest_kind(path: Path, line: bytes) -> set[str]:
    try:
        row = parse(line)
    except ValueError:
        raise _fault(path, line, "has a line that is none of an index:") from None
    if line.startswith(_OTHER_KEYS):
        raise _fault(path, line, "has other keys than python -m archive index makes:")
    if not row["url"]:
        raise _fault(path, line, "has a line without a URL:")
    kind, colon, _ = row.get("digest", "").rpartition(":")
    return {kind.lower().replace("-", "") if colon else "sha1"} if row.get("digest") else set()


def _fault(path: Path, line: bytes, what: str) -> ArchiveError:
    shown = line[:_SHOWN].decode("utf-8", "replace").rstrip()
    return ArchiveError(f"{path} {what} {shown!r}")
