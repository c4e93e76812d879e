"""Archived HTTP messages: heads, and bodies with their codings taken off. Lenient: an archive holds what servers
sent.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import re
import zlib
from collections.abc import Callable

import brotli
import zstandard

from archive.messages.headers import Headers
from archive.storage.zstd import Frame, skippable

_HEAD_END = re.compile(rb"\n\r?\n")
STATUS = re.compile(rb"HTTP(?:/[^ \t\r\n]*)?[ \t]+(\d{1,3})[ \t]*([^\r\n]*)", re.I)
"""A status line, of any version: the standard's own example of a revisit has ``HTTP/1.x``."""
_BLANK = re.compile(rb"\s*")
_REQUEST = re.compile(rb"([A-Za-z-]+)[ \t]+(\S+)(?:[ \t]+HTTP/(\d(?:\.\d)?))?")
_FIRST_CHUNK = re.compile(rb"[ \t]*+[0-9A-Fa-f]++[ \t]*+(?:;[^\r\n]*+)?\r?\n")
_CHUNK_SIZE = re.compile(rb"[ \t]*+([0-9A-Fa-f]++)[^\r\n]*+\r?\n")
MAX_BODY_BYTES = 256 << 20
MOST_CODINGS = 5
"""Content-codings taken off a body: servers use one, rarely two, and a head has room for thousands."""
_SWITCHING = 101
_MOST_INTERIM = 10
_STEP_BYTES = 1 << 20
_ZSTD_STEP = 16 << 10
_DEFLATE_STEP = 512
_BROTLI_HEAD = 8
_GZIP = b"\x1f\x8b\x08"
_ZSTD = b"\x28\xb5\x2f\xfd"
Unpacked = tuple[bytes, bool]
"""What comes out, and whether it came to the end (or the limit) without a fault."""


class HttpHead:
    """``status`` is 0 for a request, whose ``method`` and ``target`` are set; ``size``: the head in bytes.

    ``lines``: the header lines as they came; :attr:`headers` parses them when first asked. ``interim``: the size of the
    first interim answer's head before it (0: there is none).
    """

    __slots__ = ("_headers", "interim", "lines", "method", "reason", "size", "status", "target")

    def __init__(self, size: int, lines: bytes, status: int = 0, reason: str = "") -> None:
        self.size = size
        self.lines = lines
        self.status = status
        self.reason = reason
        self.method = ""
        self.target = ""
        self.interim = 0
        self._headers: Headers | None = None

    @property
    def headers(self) -> Headers:
        if self._headers is None:
            self._headers = Headers.parse(self.lines)
        return self._headers

    @property
    def is_chunked(self) -> bool:
        return "chunked" in ",".join(self.headers.get_all("transfer-encoding")).lower()


def parse_head(block: bytes) -> HttpHead | None:
    """The head at the beginning of an HTTP message, interim answers (``100 Continue``) before it and all; None when
    there is no status or request line.
    """
    head = _head_at(block, 0)
    for _ in range(_MOST_INTERIM):
        if head is None or not 100 <= head.status < 200 or head.status == _SWITCHING:
            break
        following = _head_at(block, head.size) if STATUS.match(block, head.size) else None
        if following is None:
            break
        following.interim = head.interim or head.size
        head = following
    return head


def _head_at(block: bytes, start: int) -> HttpHead | None:
    blank = _BLANK.match(block, start)
    start = blank.end() if blank else start
    end = block.find(b"\n\r\n", start) + 3
    if end < 3 or block.find(b"\n\n", start, end) >= 0:
        match = _HEAD_END.search(block, start)
        end = match.end() if match else len(block)
    line_end = block.find(b"\n", start)
    line_end = end if line_end < 0 else line_end + 1
    lines = block[line_end:end]
    status = STATUS.match(block, start)
    if status is not None:
        return HttpHead(end, lines, int(status[1]), status[2].decode("latin-1"))
    request = _REQUEST.match(block[start:line_end])
    if request is None:
        return None
    head = HttpHead(end, lines)
    head.method, head.target = request[1].decode("latin-1"), request[2].decode("latin-1")
    return head


def dechunk(body: bytes) -> bytes:
    """The body without chunks; as it is when it does not begin with a chunk; from a fault on what is left, as it is."""
    return _dechunk(body)[0]


def _dechunk(body: bytes) -> Unpacked:
    if _FIRST_CHUNK.match(body) is None:  # many writers take chunks off, and leave the head: a text may begin "Abantu"
        return body, True
    parts: list[bytes] = []
    position = 0
    while True:
        match = _CHUNK_SIZE.match(body, position)
        if match is None:
            rest = body[position:]
            # Without a line end it is cut within the line of a size.
            return b"".join([*parts, rest] if b"\n" in rest else parts), False
        size = int(match[1], 16)
        if not size:
            return b"".join(parts), True
        end = min(match.end() + size, len(body))
        if not parts and (end == match.end() or body[end : end + 1] not in (b"", b"\r", b"\n")):
            return body, True
        parts.append(body[match.end() : end])
        position = end
        if body.startswith(b"\r\n", position):
            position += 2
        elif body.startswith(b"\n", position):
            position += 1


def _inflate(body: bytes, limit: int) -> Unpacked:
    out = b""
    for wbits in (47, -15):
        state = zlib.decompressobj(wbits)
        try:
            out = state.decompress(body, limit)
            more, ended = _next_members(state.unused_data, limit - len(out))
            return out + more, ended and (state.eof or len(out) >= limit)
        except zlib.error:
            out = out or _as_far(body, wbits, limit)
    return out, False


def _next_members(packed: bytes, limit: int) -> Unpacked:
    """A gzip file may be several, one behind another (RFC 1952, 2.2); what else is behind one is not read."""
    parts: list[bytes] = []
    if packed.startswith(_GZIP):
        with gzip.GzipFile(fileobj=io.BytesIO(packed)) as file:
            try:
                while limit > 0 and (part := file.read1(min(limit, _STEP_BYTES))):
                    parts.append(part)
                    limit -= len(part)
            except (EOFError, OSError, zlib.error):
                return b"".join(parts), False
    return b"".join(parts), True


def _as_far(body: bytes, wbits: int, limit: int) -> bytes:
    state = zlib.decompressobj(wbits)
    parts: list[bytes] = []
    size = start = 0
    try:
        while start < len(body) and size < limit:
            before = state.copy()
            parts.append(state.decompress(body[start : start + _DEFLATE_STEP], limit - size))
            size += len(parts[-1])
            start += _DEFLATE_STEP
    except zlib.error:
        # An error takes with it what came out in its step. A text that is not packed may begin as if it were.
        if start or body.startswith(_GZIP):
            with contextlib.suppress(zlib.error):
                for place in range(start, len(body)):
                    data = before.decompress(body[place : place + 1], limit)
                    parts.append(data)
    return b"".join(parts)[:limit]


def _unbrotli(body: bytes, limit: int) -> Unpacked:
    out, read, ended = _brotli_until(body, limit, len(body))
    if read < len(body):
        # A piece with the end of the stream and something behind that is refused, all of it: its bytes by one.
        out, _, ended = _brotli_until(body, limit, read)
    # A text that is not packed may begin like a block that is stored as it is: then nearly all of it comes out.
    return out if ended or b"\0" in out or out not in body[: len(out) + _BROTLI_HEAD] else b"", ended


def _brotli_until(body: bytes, limit: int, singly: int) -> tuple[bytes, int, bool]:
    """What comes out, how many bytes went in without a fault (in pieces, but from ``singly`` on one by one), and
    whether the stream has ended, or the limit was reached."""
    state = brotli.Decompressor()
    parts: list[bytes] = []
    size = 0
    start = 0
    try:
        while size < limit and not state.is_finished() and (start < len(body) or not state.can_accept_more_data()):
            # A few bytes may stand for gigabytes: what is given at a time is bounded, not only what is fed.
            step = (4096 if start < singly else 1) if state.can_accept_more_data() else 0
            parts.append(state.process(body[start : start + step], output_buffer_limit=_STEP_BYTES))
            start += step
            size += len(parts[-1])
    except brotli.error:
        return b"".join(parts)[:limit], start, False
    return b"".join(parts)[:limit], len(body), state.is_finished() or size >= limit


def _unzstd(body: bytes, limit: int) -> Unpacked:
    """Frames may follow each other, and ones to be skipped stand between them (RFC 8878, 3.1)."""
    context = zstandard.ZstdDecompressor()
    frame: Frame | None = None
    parts: list[bytes] = []
    size = start = 0
    try:
        while size < limit and (start < len(body) or (frame is not None and frame.pending)):
            if frame is None:
                while length := skippable(body[start : start + 8]):
                    start += length
                if parts and not body.startswith(_ZSTD, start):
                    break
                frame = Frame(context, 1)  # a block at a time: all before a broken one is had
            step = 0 if frame.pending else _ZSTD_STEP
            parts.append(frame.feed(body[start : start + step]))
            start += step
            size += len(parts[-1])
            if frame.eof:
                start, frame = min(start, len(body)) - frame.unused, None
    except zstandard.ZstdError:
        return b"".join(parts)[:limit], False
    return b"".join(parts)[:limit], frame is None or size >= limit


def is_coded(head: HttpHead) -> bool:
    """Does :func:`decode` change the body?"""
    codings = (*head.headers.get_all("content-encoding"), *head.headers.get_all("transfer-encoding"))
    return any(coding.strip().lower() not in ("", "identity") for coding in codings)


_DECODERS: dict[str, Callable[[bytes, int], Unpacked]] = {
    "gzip": _inflate,
    "x-gzip": _inflate,
    "deflate": _inflate,
    "br": _unbrotli,
    "zstd": _unzstd,
}


def decode(head: HttpHead, body: bytes, limit: int = MAX_BODY_BYTES) -> bytes:
    """The body with chunks and codings (also of the transfer) taken off, at most ``limit`` bytes; as far as a broken
    coding goes.

    An unknown coding, or one that is announced but not there, leaves the body as it is; so do codings before the last
    :data:`MOST_CODINGS`.
    """
    return unpacked(head, body, limit)[0]


def unpacked(head: HttpHead, body: bytes, limit: int = MAX_BODY_BYTES) -> Unpacked:
    """As :func:`decode`."""
    whole = True
    if head.is_chunked:
        body, whole = _dechunk(body)
    codings = ",".join(head.headers.get_all("content-encoding") + head.headers.get_all("transfer-encoding"))
    names = [name for coding in codings.split(",") if (name := coding.strip().lower()) in _DECODERS]
    for name in reversed(names[-MOST_CODINGS:]):
        out, ended = _DECODERS[name](body, limit)
        if out:
            body, whole = out, whole and ended
    return body[:limit], whole
