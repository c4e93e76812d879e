"""Documents that are packed with gzip and whose server does not say so, as it is common of sitemaps."""

from __future__ import annotations

import gzip
import io
import zlib
from contextlib import suppress

from seeds.errors import SeedsError

__all__ = ["PackedError", "is_packed", "unpacked"]

_LAYERS = 2
_GZIP = b"\x1f\x8b"


class PackedError(SeedsError):
    """What cannot be unpacked; `reason` is too_large or gzip."""

    def __init__(self, reason: str, detail: str) -> None:
        self.reason = reason
        self.detail = detail
        super().__init__(f"{reason}: {detail}")


def is_packed(body: bytes) -> bool:
    """Whether a document is packed, so that its size says nothing of its length."""
    return body.startswith(_GZIP)


def unpacked(body: bytes, most: int) -> bytes:
    """The body without its gzip layers (at most two), of at most so many bytes; what a cut gzip still yields is given
    back. Raises PackedError."""
    for _ in range(_LAYERS):
        if not is_packed(body):
            break
        unzip = zlib.decompressobj(wbits=31)
        try:
            text = unzip.decompress(body, most + 1)
        except zlib.error as error:
            raise PackedError("gzip", str(error)) from error
        text += _next_members(unzip.unused_data, most + 1 - len(text))
        if len(text) > most:
            raise PackedError("too_large", f"more than {most} bytes unpacked")
        body = text
    if len(body) > most:
        raise PackedError("too_large", f"{len(body)} bytes, limit {most}")
    return body


def _next_members(packed: bytes, room: int) -> bytes:
    """A gzip file may be several, one behind another (RFC 1952, 2.2); what else is behind one is not read."""
    parts: list[bytes] = []
    if packed.startswith(_GZIP):
        with gzip.GzipFile(fileobj=io.BytesIO(packed)) as file, suppress(EOFError, OSError, zlib.error):
            while room > 0 and (part := file.read1(room)):
                parts.append(part)
                room -= len(part)
    return b"".join(parts)
