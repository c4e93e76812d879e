"""How a document says or shows the encoding it is in."""

from __future__ import annotations

import codecs
import re

__all__ = ["DECLARATION", "WIDE", "narrowed", "undeclared"]

DECLARATION = re.compile(rb"\A\s*+<\?xml[\s?][^>]*+>", re.IGNORECASE)
WIDE = (  # how documents of more than one byte a character begin; the longer first
    (b"\xff\xfe\x00\x00", "utf-32le"),
    (b"\x00\x00\xfe\xff", "utf-32be"),
    (b"<\x00\x00\x00", "utf-32le"),
    (b"\x00\x00\x00<", "utf-32be"),
    (b"\xff\xfe", "utf-16le"),
    (b"\xfe\xff", "utf-16be"),
    (b"<\x00", "utf-16le"),
    (b"\x00<", "utf-16be"),
)


def narrowed(text: bytes) -> bytes:
    """A document in UTF-16 or UTF-32 in UTF-8; any other as it is."""
    wide = next((encoding for start, encoding in WIDE if text.startswith(start)), None)
    return text if wide is None else text.decode(wide, "replace").encode()


def undeclared(text: bytes) -> bytes:
    """XML in UTF-8 without its declaration, whatever that says: "utf-16" is common before it, and would cost the whole
    document; any other as it is. A last character that is cut is left out."""
    try:
        _, whole = codecs.utf_8_decode(text)
    except UnicodeDecodeError:
        return text
    return DECLARATION.sub(b"", text[:whole].removeprefix(codecs.BOM_UTF8), count=1)
