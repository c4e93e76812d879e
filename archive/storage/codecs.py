"""How records become stored bytes: ``xz`` packs, ``gz`` members, ``zst`` frames, or ``none``.

Guarantees: what :meth:`Codec.encode` returns can be appended to a file of the same kind at any time and read by itself
from any of its places. ``xz``: the records given are one stream (a pack), with a CRC-64 over the unpacked bytes;
``gz``: a member a record (WARC 1.1 annex D); ``zst``: a frame a record with checksum and content size, and a dictionary
frame first in the file when there is a dictionary (IIPC "Zstandard Compression for WARC Files 1.0").
"""

from __future__ import annotations

import lzma
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import zstandard

SUFFIXES = {"xz": ".xz", "gz": ".gz", "zst": ".zst", "none": ""}
_USUAL_LEVEL = {"xz": 1, "gz": 6, "zst": 3, "none": 0}
_LEVELS = {"xz": range(10), "gz": range(10), "zst": range(-7, 23)}
_DICTIONARY_FRAME = 0x184D2A5D
_DICTIONARY_BYTES = 112 << 10
_MIN_SAMPLES = 8


@dataclass(frozen=True, slots=True)
class Place:
    """Where a record lies: ``offset`` of its pack, member or frame in the blob, its stored ``length``, ``inner``
    within it.
    """

    offset: int
    length: int
    inner: int


@dataclass(frozen=True, slots=True)
class Encoded:
    blob: bytes
    places: list[Place]


class Packer(Protocol):
    """Packs one record of any length, piece by piece, as a unit by itself."""

    def compress(self, data: bytes, /) -> bytes: ...
    def flush(self) -> bytes: ...


class Codec(Protocol):
    """Stateless but for settings: may be used by several threads at once."""

    def preamble(self) -> bytes:
        """What the file starts with, before the first record."""
        return b""

    def encode(self, records: Sequence[bytes]) -> Encoded: ...

    def packer(self) -> Packer: ...


class _Copy:
    def compress(self, data: bytes) -> bytes:
        return data

    def flush(self) -> bytes:
        return b""


class Plain(Codec):
    def encode(self, records: Sequence[bytes]) -> Encoded:
        return _one_by_one(records)

    def packer(self) -> Packer:
        return _Copy()


class Gzip(Codec):
    def __init__(self, level: int) -> None:
        self._level = level

    def encode(self, records: Sequence[bytes]) -> Encoded:
        return _one_by_one([self._member(record) for record in records])

    def _member(self, record: bytes) -> bytes:
        packer = self.packer()
        return packer.compress(record) + packer.flush()

    def packer(self) -> Packer:
        return zlib.compressobj(self._level, zlib.DEFLATED, 31)


class Xz(Codec):
    """A record of ``pack_bytes`` or more is a stream by itself; the others of one call share streams, which are full
    when they have come to that."""

    def __init__(self, level: int, pack_bytes: int) -> None:
        self._filters = _xz_filters(level)
        self._pack_bytes = pack_bytes

    def encode(self, records: Sequence[bytes]) -> Encoded:
        blobs: list[bytes] = []
        places: list[Place] = []
        offset = 0
        for pack in self._packs(records):
            blob = lzma.compress(b"".join(pack), lzma.FORMAT_XZ, lzma.CHECK_CRC64, filters=self._filters)
            inner = 0
            for record in pack:
                places.append(Place(offset, len(blob), inner))
                inner += len(record)
            blobs.append(blob)
            offset += len(blob)
        return Encoded(b"".join(blobs), places)

    def _packs(self, records: Sequence[bytes]) -> list[list[bytes]]:
        packs: list[list[bytes]] = []
        size = self._pack_bytes
        for record in records:
            if size >= self._pack_bytes or len(record) >= self._pack_bytes:
                packs.append([])
                size = 0
            packs[-1].append(record)
            size += len(record)
        return packs

    def packer(self) -> Packer:
        return lzma.LZMACompressor(lzma.FORMAT_XZ, lzma.CHECK_CRC64, filters=self._filters)


class Zstd(Codec):
    def __init__(self, level: int, dictionary: bytes) -> None:
        self._level = level
        self._raw = dictionary
        self._dictionary = zstandard.ZstdCompressionDict(dictionary) if dictionary else None
        if self._dictionary is not None:
            self._dictionary.precompute_compress(level=level)

    def preamble(self) -> bytes:
        if not self._raw:
            return b""
        body = zstandard.ZstdCompressor(level=19).compress(self._raw)
        return struct.pack("<II", _DICTIONARY_FRAME, len(body)) + body

    def encode(self, records: Sequence[bytes]) -> Encoded:
        compressor = self._compressor()
        return _one_by_one([compressor.compress(record) for record in records])

    def packer(self) -> Packer:
        return self._compressor().compressobj()

    def _compressor(self) -> zstandard.ZstdCompressor:
        return zstandard.ZstdCompressor(level=self._level, dict_data=self._dictionary, write_checksum=True)


def _one_by_one(stored: Sequence[bytes]) -> Encoded:
    places, offset = [], 0
    for piece in stored:
        places.append(Place(offset, len(piece), 0))
        offset += len(piece)
    return Encoded(b"".join(stored), places)


def _xz_filters(level: int) -> list[dict[str, int]]:
    """LZMA2 for web pages in packs: as xz's preset, without alignment (text has none).

    Level 1, the default, has shorter hash chains than xz -1: half again as fast and no larger on templated pages.
    """
    chosen = {"id": lzma.FILTER_LZMA2, "preset": level, "pb": 0}
    if level == 1:
        chosen |= {"mf": lzma.MF_HC3, "depth": 8}
    return [chosen]


def train_dictionary(records: Sequence[bytes]) -> bytes:
    """A zstd dictionary for records like these; empty when there are too few to learn from."""
    if len(records) < _MIN_SAMPLES:
        return b""
    try:
        return zstandard.train_dictionary(_DICTIONARY_BYTES, list(records)).as_bytes()
    except zstandard.ZstdError:
        return b""


def compression_of(path: Path) -> str:
    """The kind of file its name stands for; "none" for other names."""
    for name, suffix in SUFFIXES.items():
        if suffix and path.name.endswith(suffix):
            return name
    return "none"


def check_level(compression: str, level: int | None) -> None:
    """ValueError: not a level of this compressor. None, the default, always is one."""
    levels = _LEVELS.get(compression)
    if levels and level is not None and level not in levels:
        raise ValueError(f"{level} is no level of {compression}: {levels[0]} to {levels[-1]}")


def make_codec(compression: str, level: int | None = None, dictionary: bytes = b"", pack_bytes: int = 1 << 20) -> Codec:
    """ValueError for a name that is not in :data:`SUFFIXES`, and for a level that the compressor does not have."""
    if compression not in SUFFIXES:
        raise ValueError(f"unknown compression {compression!r}; one of {', '.join(SUFFIXES)}")
    check_level(compression, level)
    level = _USUAL_LEVEL[compression] if level is None else level
    if compression == "xz":
        return Xz(level, pack_bytes)
    if compression == "gz":
        return Gzip(level)
    return Zstd(level, dictionary) if compression == "zst" else Plain()
