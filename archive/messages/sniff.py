"""The media type of a payload from its first bytes: a short list of what a crawl meets (WHATWG MIME Sniffing, part)."""

from __future__ import annotations

import re
import zlib

_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"%PDF-", "application/pdf"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b\x08", "application/gzip"),
    (b"%!PS", "application/postscript"),
    (b"{\\rtf", "application/rtf"),
    (b"\xd0\xcf\x11\xe0", "application/x-ole-storage"),
    (b"OggS", "application/ogg"),
    (b"ID3", "audio/mpeg"),
    (b"wOFF", "font/woff"),
    (b"wOF2", "font/woff2"),
)
_HTML = re.compile(
    rb"\s*+(?><!--.*?-->\s*)*+<(?:!doctype html|html|head|body|script|iframe|h1|div|font|table|a|style|title|b|br|p"
    rb"|meta|link)[\s>/]",
    re.IGNORECASE | re.DOTALL,
)
_XML = ((b"<rss", "application/rss+xml"), (b"<feed", "application/atom+xml"), (b"<html", "application/xhtml+xml"))
_GZIP_CODED = re.compile(rb"(?im)^Content-Encoding[ \t]*:[ \t]*(?:x-)?gzip[ \t]*\r?$")
_CODED = re.compile(rb"(?im)^Content-Encoding[ \t]*:[ \t]*(?!identity)\S")
_LOOK = 512


def _first_bytes(head: bytes, payload: bytes) -> bytes:
    if _CODED.search(head) is None:
        return payload[:_LOOK]
    if _GZIP_CODED.search(head) is None:
        return b""
    try:
        return zlib.decompressobj(31).decompress(payload[: 4 * _LOOK], _LOOK)
    except zlib.error:
        return b""


def payload_type(head: bytes, payload: bytes) -> str:
    """ "" when nothing is recognised; ``head`` tells the content-coding, its Content-Type is not trusted."""
    start = _first_bytes(head, payload)
    for magic, name in _MAGIC:
        if start.startswith(magic):
            return name
    if start.startswith(b"RIFF") and start[8:12] == b"WEBP":
        return "image/webp"
    text = start.removeprefix(b"\xef\xbb\xbf")
    if _HTML.match(text):
        return "text/html"
    stripped = text.lstrip()
    if stripped.startswith(b"<?xml"):
        for mark, name in _XML:
            if mark in stripped:
                return name
        return "application/xml"
    if stripped[:1] in (b"{", b"[") and stripped[1:].lstrip()[:1] in (b'"', b"{", b"[", b"}", b"]"):
        return "application/json"
    return ""
