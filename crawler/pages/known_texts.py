"""This worker's copy of the fleet's log of kept pages (kept_log), by host: is a page like one that was kept before?"""

from __future__ import annotations

import struct
from array import array
from collections import defaultdict
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import xxhash

from crawler.pages.kept_log import ENTRY_BYTES, MOST_PAGES, LogUpdate
from frontier.types import Lease
from relevance.pages.simhash import NEAR, distances

_ENTRY = struct.Struct("<QQQQ")
_NO_MARK = b"\0" * 8
_FAR = 64


class Likeness(NamedTuple):
    """How a page is like other pages of its host. bits: by which its main text differs from the nearest that is near,
    None without one; equal: one has the same mark; own: the page itself was to be kept with this mark."""

    bits: int | None = None
    equal: bool = False
    own: bool = False


def log_entry(lease: Lease, simhash: int, mark: bytes) -> bytes:
    """A kept page as the log has it; simhash 0 and mark b"": not to be compared."""
    return _ENTRY.pack(_hash(lease.authority), _hash(lease.url), simhash, int.from_bytes(mark or _NO_MARK, "little"))


class KnownTexts:
    """Pages of the current log and of the one before, which is dropped when a new one is begun.

    Memory: 24 bytes a page, some 0.3 KB a host.
    """

    def __init__(self) -> None:
        self._newer: dict[int, array[int]] = defaultdict(_column)  # of each page URL, SimHash, mark
        self._older: dict[int, array[int]] = {}
        self._pages = 0

    def likeness(self, page: bytes) -> Likeness:
        """How like others of its host a page is, given as its log entry.

        A page is not compared with itself; nor, when its worker was killed before it was reported and it is fetched
        anew, with what came into the log behind it: that was compared with it, and of both neither would be kept."""
        host, url, simhash, mark = _ENTRY.unpack(page)
        bits, equal, own, own_text = NEAR + 1, False, False, False
        for known in (self._older, self._newer):
            if host not in known:
                continue
            urls, simhashes, marks = np.frombuffer(known[host], np.uint64).reshape(-1, 3).T
            its = urls == url
            if simhash and not own_text:
                before, own_text = _before(its & (simhashes == simhash))
                apart = distances(simhashes[before], simhash)
                apart[its[before]] = _FAR
                bits = min(bits, int(apart.min(initial=_FAR)))
            if mark and not own:
                before, own = _before(its & (marks == mark))
                equal = equal or bool(((marks == mark) & ~its)[before].any())
        return Likeness(bits if bits <= NEAR else None, equal, own)

    def add(self, entries: bytes) -> None:
        """Pages of ours that are kept."""
        self._extend(entries)
        if self._pages > 2 * MOST_PAGES:  # only while the log, which says when, is out of reach
            self._rotate()

    def apply(self, update: LogUpdate) -> None:
        """Pages that other workers keep."""
        if update.whole:
            self._newer.clear()
        self._extend(update.older)
        if update.whole or update.rotated:
            self._rotate()
        self._extend(update.newer)

    def _rotate(self) -> None:
        self._older, self._newer, self._pages = self._newer, defaultdict(_column), 0

    def _extend(self, entries: bytes) -> None:
        pages = np.frombuffer(entries, "<u8").reshape(-1, ENTRY_BYTES // 8)
        pages = pages[np.argsort(pages[:, 0], kind="stable")]
        hosts, starts = np.unique(pages[:, 0], return_index=True)
        for host, its in zip(hosts.tolist(), np.split(pages, starts)[1:], strict=True):
            self._newer[host].frombytes(its[:, 1:].tobytes())
        self._pages += len(pages)


def _before(found: npt.NDArray[np.bool_]) -> tuple[slice, bool]:
    """The places before the first that is found, and whether there is one."""
    place = int(found.argmax())
    return (slice(place), True) if found[place] else (slice(None), False)


def _column() -> array[int]:
    return array("Q")


def _hash(text: str) -> int:
    return xxhash.xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"))
