"""One record of an archive as read: its place, its header, and its block, each looked at only when asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator

from archive.errors import Damage
from archive.messages.digests import digest_holds
from archive.messages.headers import Headers
from archive.messages.http import MAX_BODY_BYTES, HttpHead, Unpacked, is_coded, parse_head, unpacked
from archive.reading.plain import Rest
from archive.storage.unpack import Unit

CAPTURES = frozenset({"response", "revisit", "resource", "conversion"})
"""Types of records that have what was captured, or say where it is."""
SEGMENT = "segment"
"""Of :attr:`Record.truncated`."""
_LINE = re.compile(rb"[^\n]*\n")
_TYPE, _HTTP = b"\nContent-Type: ", b"application/http"
_ONE_HEAD = re.compile(rb"HTTP(?:/[^ \t\r\n]*)?[ \t]+(?!1)\d|(?!HTTP)[A-Z-]+[ \t]+\S", re.I)
"""A request line, or a status line (`STATUS` in `archive.messages.http`), but of no interim answer, behind which
another head may come."""
_HTTP_LOOK = 256 << 10
_STREAM_PIECE = 1 << 20
_CODED = 8  # chunks of a byte take six


class Record:
    """``offset``: where its pack, member or frame begins in the file as stored (for a plain file: the record itself);
    ``inner``: where it begins within that; ``plain_offset``: in the file as unpacked. ``length``: of its block in
    bytes.

    ``damage``: None, or why its block may be wrong or incomplete.
    """

    __slots__ = (
        "_buffer", "_headers", "_http", "_peeked", "_stream", "block_start", "damage", "inner", "length", "path",
        "plain_offset", "start", "unit",
    )  # fmt: skip

    def __init__(self, path: str, unit: Unit, inner: int, buffer: bytes, start: int) -> None:
        self.path = path
        self.unit = unit
        self.inner = inner
        self.plain_offset = 0
        self.start = start
        self.damage: Damage | None = None
        self._buffer = buffer
        self._headers: Headers | None = None
        self._http: HttpHead | bool | None = False
        self._stream: Rest | None = None
        self._peeked = b""
        self.block_start = start
        self.length = 0

    def rebase(self, buffer: bytes, start: int) -> None:
        """For the reader: the bytes have moved."""
        self._buffer, self.start = buffer, start

    def preset(self, headers: Headers) -> None:
        """For the reader: the header is not one of WARC's."""
        self._headers = headers

    def alone(self) -> Record:
        """This record with no bytes but its own: to be kept while others are read, or sent to another process. Only
        of one that is in memory."""
        record = Record(self.path, self.unit, self.inner, self._buffer[self.start : self.block_start + self.length], 0)
        record.block_start, record.length = self.block_start - self.start, self.length
        record.plain_offset, record.damage, record._headers = self.plain_offset, self.damage, self._headers
        return record

    def set_stream(self, stream: Rest) -> None:
        """For the reader: the block is not in memory; it can be read once, until the reader goes on."""
        self._stream = stream

    @property
    def offset(self) -> int:
        return self.unit.offset

    @property
    def raw_head(self) -> bytes:
        """The record header as stored, version line to empty line."""
        return self._buffer[self.start : self.block_start]

    @property
    def version(self) -> str:
        """ "1.1", "1.0", ...; "arc" for records of ARC files."""
        line = self._buffer[self.start : self.start + 16].split(b"\n", 1)[0].strip()
        return line[5:].decode("ascii", "replace") if line.upper().startswith(b"WARC/") else "arc"

    @property
    def headers(self) -> Headers:
        if self._headers is None:
            head = self.raw_head
            first = _LINE.match(head)
            self._headers = Headers.parse(head[first.end() :] if first else b"")
        return self._headers

    def field(self, name: str) -> str:
        """The first value of a header field; cheaper than :attr:`headers` when only a few are wanted. Of one that comes
        twice against the standard, in two spellings: that of the usual spelling."""
        if self._headers is None:
            at = self._buffer.find(f"\n{name}: ".encode("ascii"), self.start, self.block_start)
            if at >= 0:
                at += len(name) + 3
                end = self._buffer.find(b"\n", at, self.block_start)
                if self._buffer[end + 1 : end + 2] not in (b" ", b"\t"):
                    return self._buffer[at:end].decode("utf-8", "surrogateescape").strip()
        return self.headers.get(name)

    @property
    def type(self) -> str:
        return self.field("WARC-Type").lower()

    @property
    def id(self) -> str:
        return self.field("WARC-Record-ID")

    @property
    def date(self) -> str:
        return self.field("WARC-Date")

    @property
    def url(self) -> str:
        """The target URI."""
        return self._uri("WARC-Target-URI")

    @property
    def refers_to(self) -> tuple[str, str]:
        """URL and date of what a revisit refers to: its own URL where it names none (wget's), "" for no date."""
        return self._uri("WARC-Refers-To-Target-URI") or self.url, self.field("WARC-Refers-To-Date")

    @property
    def truncated(self) -> str:
        """Why it has only the beginning of what was captured, "" when it has all: WARC-Truncated, or "segment" of one
        that goes on in ``continuation`` records (WARC 1.1, section 7)."""
        goes_on = self.field("WARC-Segment-Number") and not self.field("WARC-Segment-Total-Length")
        return self.field("WARC-Truncated") or (SEGMENT if goes_on else "")

    def _uri(self, name: str) -> str:
        """A field without the angle brackets that some writers put around it, as the grammar of WARC 1.0 has them."""
        uri = self.field(name)
        return uri[1:-1] if uri.startswith("<") and uri.endswith(">") else uri

    @property
    def in_memory(self) -> bool:
        return self._stream is None

    # -- the block ---------------------------------------------------------------------------------------------------

    def pieces(self) -> Iterator[bytes]:
        """The block in pieces of at most 1 MiB (in one piece when it is in memory). Once only for a streamed block."""
        if self._stream is None:
            yield self._buffer[self.block_start : self.block_start + self.length]
            return
        if self._peeked:
            yield self._peeked
            self._peeked = b""
        while data := self._stream.read(_STREAM_PIECE):
            yield data

    def whole(self) -> bool:
        """Is the block all there and not damaged? Of a streamed one the rest is read, which is then gone."""
        for _ in self.pieces():
            pass
        stream = self._stream
        return self.damage is None and (stream is None or not (stream.left or stream.broken))

    def payload_pieces(self) -> Iterator[bytes]:
        """As :meth:`pieces`, without the HTTP head."""
        skip = self.http.size if self.http is not None else 0
        for piece in self.pieces():
            if piece[skip:]:
                yield piece[skip:]
            skip = max(skip - len(piece), 0)

    def block(self) -> bytes:
        """The whole block. For a streamed one: takes as much memory as it is long."""
        if self._stream is None:
            return self._buffer[self.block_start : self.block_start + self.length]
        return b"".join(self.pieces())

    def block_holds(self) -> bool | None:
        """Does the block have the digest that the header says? None: it says none that can be checked."""
        return digest_holds(self.field("WARC-Block-Digest"), self.block())

    def _beginning(self) -> bytes:
        if self._stream is None:
            return self._buffer[self.block_start : self.block_start + min(self.length, _HTTP_LOOK)]
        if not self._peeked:
            self._peeked = self._stream.read(_HTTP_LOOK)
        return self._peeked

    @property
    def is_http(self) -> bool:
        """Does the header say that the block is an HTTP message?"""
        kind = self.field("Content-Type").lower()
        return kind.startswith(("application/http", "message/http")) or (
            self.type == "response" and self.url.startswith("http")
        )

    @property
    def http(self) -> HttpHead | None:
        """The HTTP head of the block; None when the record holds no HTTP message."""
        if isinstance(self._http, bool):
            self._http = parse_head(self._beginning()) if self.is_http else None
        return self._http

    @property
    def content_type(self) -> str:
        """Of the payload: what its HTTP head says; of a record without HTTP, what the record's header says."""
        http = self.http
        return http.headers.get("content-type") if http is not None else self.field("Content-Type")

    @property
    def media_type(self) -> str:
        """The content type in lower case, without parameters."""
        return self.content_type.partition(";")[0].strip().lower()

    def payload(self) -> bytes:
        """The block without its HTTP head, as archived; of a record without HTTP: the block."""
        start, end = self.block_start, self.block_start + self.length
        buffer = self._buffer
        at = buffer.find(_TYPE, self.start, start)  # the first counts
        if self._stream is None and at >= 0 and buffer.startswith(_HTTP, at + len(_TYPE)):
            head_end = buffer.find(b"\n\r\n", start, end) + 3
            if head_end > start + 3 and _ONE_HEAD.match(buffer, start, end) is not None:
                return buffer[head_end:end] if buffer.find(b"\n\n", start, head_end) < 0 else self._slow_payload()
        return self._slow_payload()

    def _slow_payload(self) -> bytes:
        head = self.http
        block = self.block()
        return block[head.size :] if head is not None else block

    def body(self, limit: int = MAX_BODY_BYTES) -> bytes:
        """The payload with transfer- and content-codings taken off, at most ``limit`` bytes.

        Of a streamed block no more is read than is wanted, with codings :data:`_CODED` times as much.
        """
        return self.unpacked(limit)[0]

    def unpacked(self, limit: int = MAX_BODY_BYTES) -> Unpacked:
        """As :meth:`body`, and whether its codings came to their end, as far as that has been read."""
        head = self.http
        size = limit * _CODED if head is not None and is_coded(head) else limit
        payload = self.payload() if self._stream is None else self._first(size)
        if head is None:
            return payload[:limit], True
        body, whole = unpacked(head, payload, limit)
        return body, whole or (self._stream is not None and len(payload) >= size)

    def _first(self, size: int) -> bytes:
        parts: list[bytes] = []
        for piece in self.payload_pieces():
            parts.append(piece[:size])
            size -= len(piece)
            if size <= 0:
                break
        return b"".join(parts)

    def __repr__(self) -> str:
        return f"<Record {self.type} {self.url} at {self.path}:{self.offset}+{self.inner}>"
