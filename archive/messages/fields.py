"""The lines of a WARC record header and of an archived HTTP head, as bytes.

Sources: WARC 1.1 (ISO 28500:2017) and 1.0; transfer-coding that was removed is noted the way Common Crawl and others
do: the header is kept under the name ``X-Crawler-Transfer-Encoding`` and a true ``Content-Length`` stands instead.
"""

from __future__ import annotations

import os
import re
from datetime import datetime
from urllib.parse import quote

from archive.messages.http import STATUS

_TRANSFER = re.compile(rb"(?im)^(Transfer-Encoding)(?=[ \t]*:)")
_LENGTH = re.compile(rb"(?im)^(Content-Length)(?=[ \t]*:)([ \t]*:[ \t]*)([^\r\n]*)")
_URL_SAFE = "!#$%&'()*+,/:;=?@[]~"


def warc_date(instant: datetime, version: str) -> str:
    """WARC 1.1: microseconds; 1.0 allows whole seconds only."""
    if version == "1.0":
        return instant.strftime("%Y-%m-%dT%H:%M:%SZ")
    return instant.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def pairs_of(block: bytes) -> dict[str, str]:
    """The pairs of a block in the form of ``application/warc-fields``, as warcinfo and metadata records have it."""
    pairs = (line.partition(":") for line in block.decode("utf-8", "replace").splitlines())
    return {name.strip(): value.strip() for name, colon, value in pairs if colon}


def record_ids(count: int) -> list[str]:
    """``count`` new ids of the form ``<urn:uuid:…>`` (version 4).

    The ids of one call differ in their last two digits only (120 random bits are shared): unique all the same,
    and records that lie side by side compress better.
    """
    digits = bytearray(os.urandom(16))
    digits[6] = 0x40 | (digits[6] & 0x0F)
    digits[8] = 0x80 | (digits[8] & 0x3F)
    text = digits.hex()
    stem = f"<urn:uuid:{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:30]}"
    return [f"{stem}{number:02x}>" for number in range(count)]


def target_uri(url: str) -> str:
    """The URL with everything percent-encoded that would break a header line or is not ASCII."""
    if url.isascii() and url.isprintable() and " " not in url:
        return url
    return quote(url, safe=_URL_SAFE, errors="surrogatepass")


def clean(value: str) -> str:
    """One line: control characters become spaces."""
    return value if value.isprintable() else "".join(c if c.isprintable() else " " for c in value).strip()


def record(version: str, fields: list[tuple[str, str]], *block: bytes) -> bytes:
    """One whole record, Content-Length added last, with its two empty lines."""
    lines = [f"WARC/{version}"]
    lines += [f"{name}: {value}" for name, value in fields if value]
    lines.append(f"Content-Length: {sum(map(len, block))}\r\n\r\n")
    return b"".join(("\r\n".join(lines).encode(), *block, b"\r\n\r\n"))


def archived_head(head: bytes, payload_bytes: int, *, dechunked: bool, truncated: bool) -> bytes:
    """The head as received, but: a removed transfer-coding is noted, and a length that is untrue is corrected.

    Order, case and repeats of all other lines are kept. Answers without a body by definition (1xx, 204, 304, and to
    HEAD: an empty payload) keep the Content-Length they came with.
    """
    coded = dechunked and _TRANSFER.search(head) is not None
    if not coded and not truncated:
        return head
    if coded:
        head = _TRANSFER.sub(rb"X-Crawler-\1", head)
    match = _LENGTH.search(head)
    if match is not None and match.group(3).strip() == str(payload_bytes).encode():
        return head
    head = _LENGTH.sub(rb"X-Crawler-\1\2\3", head)
    body, end = (head[:-2], b"\r\n") if head.endswith(b"\r\n\r\n") else (head.rstrip(b"\r\n") + b"\r\n", b"\r\n")
    return b"".join((body, b"Content-Length: ", str(payload_bytes).encode(), b"\r\n", end))


def http_status(head: bytes) -> int:
    """The status code of an HTTP head; 0 when it has none."""
    match = STATUS.match(head)
    return int(match.group(1)) if match else 0
