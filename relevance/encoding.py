"""Which encoding a page's bytes are in, and its text.

Order of evidence (HTML standard, 13.2.3.2, and the Encoding standard): byte order mark, the transport's
charset, the <meta> prescan of the first 1,024 bytes, then: valid UTF-8 -> UTF-8, else windows-1252.
Differs: a declared encoding that the bytes contradict (declared UTF-8, but not valid as such beyond a stray byte in a
thousand) is not believed, as saved and mislabelled pages are common in small languages.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from w3lib.encoding import resolve_encoding

PRESCAN = 1024
FALLBACK = "cp1252"
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_BE, "utf-16-be"), (codecs.BOM_UTF16_LE, "utf-16-le"))
_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([^\s\"';,>/]+)", re.I)
_COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)", re.S)
_META = re.compile(rb"<meta[\s/]([^>]*)", re.I)
_ATTRIBUTE = re.compile(rb"([^\s=/>\"']+)\s*(?:=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>\"']*)))?")


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text of a page; source is bom, http, meta, utf8 or fallback."""

    text: str
    charset: str
    source: str


def known(label: str | None) -> str | None:
    """The codec for an encoding label of the web, None for one that is unknown or unsafe."""
    if not label:
        return None
    name = resolve_encoding(label.strip().strip("\"'"))
    if name is None:
        return None
    try:
        name = codecs.lookup(name).name
    except LookupError:
        return None
    return None if name.startswith(("utf-7", "hz", "iso2022_kr", "idna", "punycode", "unicode_escape")) else name


def prescan(head: bytes) -> str | None:
    """The encoding a <meta> declares in these bytes; a declared UTF-16 means UTF-8 (the declaration was readable)."""
    for match in _META.finditer(_COMMENT.sub(b"", head)):
        attributes: dict[str, str] = {}
        for name, *values in _ATTRIBUTE.findall(match[1]):
            attributes.setdefault(name.decode("latin-1").lower(), b"".join(values).decode("latin-1"))
        label = attributes.get("charset")
        if label is None and attributes.get("http-equiv", "").lower() == "content-type":
            found = _CHARSET.search(attributes.get("content", ""))
            label = found[1] if found else None
        name = known(label)
        if name:
            return "utf-8" if name.startswith("utf-16") else name
    return None


def decode(body: bytes, content_type: str | None = None) -> Decoded:
    """The text of these bytes. Never fails: what cannot be read becomes U+FFFD."""
    for mark, name in _BOMS:
        if body.startswith(mark):
            return Decoded(body[len(mark) :].decode(name, "replace"), name, "bom")
    found = _CHARSET.search(content_type) if content_type else None
    for label, source in ((known(found[1]) if found else None, "http"), (prescan(body[:PRESCAN]), "meta")):
        if label is None:
            continue
        text = body.decode(label, "replace")
        if label != "utf-8" or text.count("\ufffd") * 1000 <= len(text):
            return Decoded(text, label, source)
    try:
        return Decoded(body.decode("utf-8"), "utf-8", "utf8")
    except UnicodeDecodeError:
        return Decoded(body.decode(FALLBACK, "replace"), FALLBACK, "fallback")
