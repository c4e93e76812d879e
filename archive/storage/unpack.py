"""From stored bytes to the plain archive, unit by unit, with the place of every byte; damage is told and passed over.

A unit is what can be unpacked by itself: an xz stream, a gzip member, a zstd frame; a plain file is one unit.
Guarantees
* Nothing ends quietly: a unit that cannot be unpacked to its end with its checksum right gives a :class:`Damage`.
  (``lzma.open`` and ``lzma.decompress`` stop without an error at a broken stream after a whole one.)
* What could be unpacked of a broken unit is still given, marked as broken, and reading goes on at the next unit.
* A unit of up to 8 MiB is checked whole before any of it is given; larger ones are streamed in bounded memory, and
  their damage is told when it is met.

Sources: the .xz file format 1.2 (streams, padding), RFC 1952 (gzip), RFC 8878 (zstd), IIPC "Zstandard Compression for
WARC".
"""

from __future__ import annotations

import lzma
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol
from zlib import crc32

import zstandard
from zlib_ng import zlib_ng

from archive.errors import Damage, KindUnreadable
from archive.storage import foreign, zstd
from archive.storage.source import Source

XZ_MAGIC = b"\xfd7zXZ\x00"
GZ_MAGIC = b"\x1f\x8b\x08"
ZST_MAGIC = b"\x28\xb5\x2f\xfd"
ZST_DICTIONARY = b"\x5d\x2a\x4d\x18"
_RAW_DICTIONARY = b"\x37\xa4\x30\xec"
_WHOLE = 8 << 20
_PIECE = 16 << 10
_SALVAGE_PIECE = 512
_XZ_HEADER = 12
_ZLIB_ERROR: type[Exception] = zlib_ng.error  # type: ignore[assignment]
_ERRORS = (lzma.LZMAError, _ZLIB_ERROR, zstandard.ZstdError, EOFError)
_MOST_TRIED = 16 << 20
"""Bytes of broken units and of frames to be skipped, beyond four times those of the file so far, that are looked
through for units within them."""
_RECORD_START = re.compile(rb"\s*(?:WARC/|[a-z]+:\S* \S+ \d{8})")
_MAX_DICTIONARY = 64 << 20
_SKIP_PIECE = 1 << 20
_CUT = "the file ends within a frame to be skipped"


@dataclass(slots=True)
class Unit:
    """A unit in the file: where it begins and, when it has been read to its end, how long it is (before: 0)."""

    offset: int
    length: int = 0


@dataclass(slots=True)
class Chunk:
    """Plain bytes from one unit. ``inner``: where in the unpacked unit they begin; ``broken``: nothing sound follows
    them in this unit, and they themselves are sound only as far as digests say."""

    data: bytes
    unit: Unit
    inner: int
    broken: Damage | None = None


class _Unpacker(Protocol):
    eof: bool
    unused: int
    pending: bool

    def feed(self, piece: bytes) -> bytes: ...


class _XzUnpacker:
    def __init__(self, most: int) -> None:
        self._most = most
        self._state = lzma.LZMADecompressor(lzma.FORMAT_XZ)
        self.eof = self.pending = False
        self.unused = 0

    def feed(self, piece: bytes) -> bytes:
        state = self._state
        data = state.decompress(piece, self._most)
        if state.eof:
            self.eof, self.pending, self.unused = True, False, len(state.unused_data)
        else:
            self.pending = not state.needs_input
        return data


class _GzUnpacker:
    def __init__(self, most: int) -> None:
        self._most = most
        self._state = zlib_ng.decompressobj(31)
        self._tail = b""
        self.eof = self.pending = False
        self.unused = 0

    def feed(self, piece: bytes) -> bytes:
        state = self._state
        data = state.decompress(self._tail + piece if self._tail else piece, self._most)
        self._tail = state.unconsumed_tail
        if state.eof:
            self.eof, self.pending, self.unused = True, False, len(state.unused_data)
        else:
            self.pending = bool(self._tail) or len(data) >= self._most
        return data


class Kind:
    """One way of storing: how a unit is recognised and unpacked."""

    name = ""
    magic = b""
    piece_bytes = _PIECE
    dictionary = b""
    content_start = _RECORD_START
    """How the plain bytes of a unit begin: asked only after damage."""

    def starts(self, source: Source) -> bool:
        """Is there a unit at the position?"""
        return source.peek(len(self.magic)) == self.magic

    def unpacker(self, most: int) -> _Unpacker:
        """A fresh state that gives about ``most`` bytes at a time."""
        raise NotImplementedError

    def plausible(self, source: Source) -> bool:
        """After damage: does the unit at the position begin as it should, or is its magic there by chance?"""
        try:
            data = self.unpacker(_SALVAGE_PIECE).feed(source.peek(_SALVAGE_PIECE))
        except _ERRORS:
            return False
        return not data or self.content_start.match(data) is not None

    def skip_filler(self, source: Source) -> None:
        """Go past what may stand between units. EOFError: the file ends within it."""


class XzKind(Kind):
    name = "xz"
    magic = XZ_MAGIC
    piece_bytes = 256 << 10

    def starts(self, source: Source) -> bool:
        head = source.peek(_XZ_HEADER)
        if len(head) < _XZ_HEADER or not head.startswith(XZ_MAGIC):
            return False
        return crc32(head[6:8]) == int.from_bytes(head[8:12], "little")

    def unpacker(self, most: int) -> _Unpacker:
        return _XzUnpacker(most)

    def skip_filler(self, source: Source) -> None:
        source.skip_zeros(4)


class GzKind(Kind):
    name = "gz"
    magic = GZ_MAGIC

    def starts(self, source: Source) -> bool:
        head = source.peek(4)
        return len(head) == 4 and head.startswith(GZ_MAGIC) and not head[3] & 0xE0

    def unpacker(self, most: int) -> _Unpacker:
        return _GzUnpacker(most)

    def skip_filler(self, source: Source) -> None:
        source.skip_zeros()


class ZstKind(Kind):
    name = "zst"
    magic = ZST_MAGIC

    def __init__(self, dictionary: bytes = b"") -> None:
        self.dictionary = dictionary
        loaded = zstandard.ZstdCompressionDict(dictionary) if dictionary else None
        self._context = zstandard.ZstdDecompressor(dict_data=loaded)

    def unpacker(self, most: int) -> _Unpacker:
        return zstd.Frame(self._context, most)

    def skip_filler(self, source: Source) -> None:
        while length := zstd.skippable(source.peek(8)):
            _skip(source, length)


def _skip(source: Source, length: int) -> None:
    """Hold there, and go past so many bytes. EOFError: there are fewer. Units may lie within them where no other one
    stands behind: the length may be damaged."""
    source.hold()
    # A long way past the end may be farther than a source can be rewound.
    if length > _SKIP_PIECE and source.ends_before(source.position + length):
        raise EOFError(_CUT)
    while length > 0:
        taken = len(source.take(min(length, _SKIP_PIECE)))
        if not taken:
            raise EOFError(_CUT)
        length -= taken


def read_dictionary(source: Source) -> bytes:
    """The dictionary of a .warc.zst file that begins with one, else empty; goes past its frame."""
    head = source.peek(8)
    if len(head) < 8 or not head.startswith(ZST_DICTIONARY):
        return b""
    (length,) = struct.unpack_from("<I", head, 4)
    if length > _MAX_DICTIONARY:
        raise zstandard.ZstdError(f"dictionary of {length} bytes")
    source.take(8)
    body = source.take(length)
    if body.startswith(_RAW_DICTIONARY):
        return body
    return zstandard.ZstdDecompressor().decompress(body, max_output_size=_MAX_DICTIONARY)


def detect(source: Source) -> Kind | None:
    """How the file is stored, by its first bytes; None: plain. KindUnreadable for another way of packing, or a broken
    dictionary."""
    # The proposal has no frame to be skipped before all others but a dictionary; `pzstd` begins with one.
    while (length := zstd.skippable(source.peek(8))) and not source.peek(8).startswith(ZST_DICTIONARY):
        try:
            _skip(source, length)
        except EOFError:
            break
    head = source.peek(foreign.LONGEST)
    if head.startswith(XZ_MAGIC):
        return XzKind()
    if head.startswith(GZ_MAGIC[:2]):
        return GzKind()
    if head.startswith((ZST_MAGIC, ZST_DICTIONARY)):
        try:
            return ZstKind(read_dictionary(source))
        except zstandard.ZstdError as error:
            raise KindUnreadable(f"broken zstd dictionary: {error}") from None
    if packed := foreign.foreign(head):
        raise KindUnreadable(
            f"{packed}, which is not read here; unpack it first (read are plain files, .gz, .xz, .zst)"
        )
    source.rewind()
    return ZstKind() if zstd.skippable(source.peek(8)) else None


class Unpacked:
    """Iterate over the chunks of a source. Damages go to ``damages`` as they are met.

    ``whole_bytes``: units of up to this many plain bytes are checked before anything of them is given (0: 8 MiB).
    """

    def __init__(
        self, source: Source, kind: Kind | None, path: str, damages: list[Damage], whole_bytes: int = 0
    ) -> None:
        self._whole = whole_bytes or _WHOLE
        self._source = source
        self._kind = kind
        self._path = path
        self._damages = damages
        self._tried = 0

    def __iter__(self) -> Iterator[Chunk]:
        return self._plain() if self._kind is None else self._units(self._kind)

    def _plain(self) -> Iterator[Chunk]:
        start = self._source.position
        unit = Unit(start)
        while True:
            position = self._source.position
            self._source.hold()
            data = self._source.take_some()
            if not data:
                return
            yield Chunk(data, unit, position - start)

    def _units(self, kind: Kind) -> Iterator[Chunk]:
        source = self._source
        while True:
            source.hold()
            if not kind.starts(source):
                reason = f"no {kind.name} unit begins here"
                try:
                    kind.skip_filler(source)
                    if not source.peek(1):
                        return
                except EOFError as error:
                    reason = str(error)
                if not kind.starts(source):
                    begin = source.held
                    self._go_back(begin)
                    self._resync(kind, begin, reason)
                    continue
                source.hold()
            yield from self._unit(kind)

    def _report(self, offset: int, reason: str, lost: int = 0) -> Damage:
        damage = Damage(self._path, offset, -1, reason, lost)
        self._damages.append(damage)
        return damage

    def _resync(self, kind: Kind, offset: int, reason: str) -> None:
        """Go to the next place where a unit begins, and report what lies between."""
        source = self._source
        source.take(1)
        while source.find(kind.magic) and not (kind.starts(source) and kind.plausible(source)):
            source.take(1)
        self._report(offset, reason, source.position - offset)

    def _unit(self, kind: Kind) -> Iterator[Chunk]:
        source = self._source
        unit = Unit(source.position)
        unpacker = kind.unpacker(self._whole)
        parts: list[bytes] = []
        size = given = 0
        try:
            while not unpacker.eof:
                piece = b"" if unpacker.pending else source.take(kind.piece_bytes)
                if not piece and not unpacker.pending:
                    raise EOFError("the file ends within this unit")
                data = unpacker.feed(piece)
                parts.append(data)
                size += len(data)
                if size >= self._whole and not unpacker.eof:
                    yield Chunk(b"".join(parts), unit, given)
                    given += size
                    parts, size = [], 0
        except _ERRORS as error:
            yield from self._salvage(kind, unit, given, b"".join(parts), f"broken {kind.name} unit: {error}")
            return
        source.position -= unpacker.unused
        unit.length = source.position - unit.offset
        yield Chunk(b"".join(parts), unit, given)

    def _go_back(self, begin: int) -> None:
        """To where something broken began, as units may lie within it; but each of many could hold all behind it."""
        source = self._source
        self._tried += source.position - begin
        if self._tried <= _MOST_TRIED + 4 * source.position:
            source.rewind()
        source.hold()

    def _salvage(self, kind: Kind, unit: Unit, given: int, rest: bytes, reason: str) -> Iterator[Chunk]:
        """What can be had of a broken unit beyond the ``given`` plain bytes, then on to the next unit. ``rest``: what
        has come out already, which is all there is of one whose beginning is not held any more."""
        source = self._source
        if source.held == unit.offset:
            source.rewind()
            rest = self._prefix(kind, given)
        self._go_back(unit.offset)
        reported = len(self._damages)
        self._resync(kind, unit.offset, reason)
        yield Chunk(rest, unit, given, self._damages[reported])

    def _prefix(self, kind: Kind, skip: int) -> bytes:
        """Unpack as far as it goes, leaving out the first ``skip`` bytes: in small steps, and again by single bytes
        from the step on that failed, as an error takes with it what came out in its step."""
        rest, failed = self._steps(kind, skip, -1)
        if failed >= 0:
            self._source.rewind()
            rest, _ = self._steps(kind, skip, failed)
        return rest

    def _steps(self, kind: Kind, skip: int, singly: int) -> tuple[bytes, int]:
        """What comes out, and where the step that failed began (-1: none did). ``singly``: from there on bytewise."""
        unpacker = kind.unpacker(_WHOLE)
        parts: list[bytes] = []
        size, begin = 0, self._source.position
        try:
            while not unpacker.eof and size < skip + _WHOLE:
                if not unpacker.pending:
                    begin = self._source.position
                step = 1 if 0 <= singly <= begin else _SALVAGE_PIECE
                piece = b"" if unpacker.pending else self._source.take(step)
                if not piece and not unpacker.pending:
                    break
                data = unpacker.feed(piece)
                size += len(data)
                if size > skip:
                    parts.append(data[max(0, len(data) - (size - skip)) :])
        except _ERRORS:
            return b"".join(parts), begin
        return b"".join(parts), -1
