"""Which encoding a page's bytes are in, and its text.

Order of evidence (HTML standard, 13.2.3.2, and the Encoding standard): byte order mark, the transport's charset, the
<meta> prescan (of 8,192 bytes where the standard asks for 1,024: browsers look on) or else the XML declaration at the
beginning of an XHTML page, then: valid UTF-8 -> UTF-8, also but for a few bytes, as where an answer was cut within a
letter or somebody pasted another encoding, else windows-1252.
Differs: a declared encoding that the bytes contradict (declared UTF-8, but not valid as such beyond a stray byte in a
thousand; UTF-16 without a zero, which its markup is full of) is not believed, as saved and mislabelled pages are common
in small languages.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from resiliparse.parse.encoding import map_encoding_to_html5
from w3lib.encoding import resolve_encoding

from relevance.pages.media_type import media_type

PRESCAN = 8192
FALLBACK = "cp1252"
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_BE, "utf-16-be"), (codecs.BOM_UTF16_LE, "utf-16-le"))
_CHARSET = re.compile(r"charset\s*+=\s*+[\"']?\s*+([^\s\"';,>/]+)", re.I)
_CONTENT = re.compile(r"charset\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"';]+))", re.I)
_LABEL = re.compile(r"[A-Za-z0-9_.:+() -]{1,64}")
_MARKUP = b'<!--a href="/AZaz09?&amp;\'">'
"""What other encodings than UTF-16 must read as ASCII does: those of mainframes, and UTF-32, are none of the web."""
_MAC = {"x-mac-cyrillic": "mac-cyrillic", "x-mac-ukrainian": "mac-cyrillic"}  # resiliparse has them not
_XML = re.compile(rb"<\?xml[^>]*?encoding[\x00-\x20]*=[\x00-\x20]*(?:\"([^\x00-\x20\">]*)\"|'([^\x00-\x20'>]*)')")
_RIGHT = 4
"""Signs beyond ASCII, of which one may be wrong in UTF-8 that nothing declares: of other encodings nearly all are."""
_UNSAFE = ("utf-7", "hz", "iso2022_kr", "idna", "punycode", "unicode-escape", "raw-unicode-escape")
_TAG = re.compile(rb"</?([a-zA-Z][^\s/>]*)")
_ATTRIBUTE = re.compile(
    rb"([^\s/>][^\s/>=]*)[ \t\n\f\r]*(?:=[ \t\n\f\r]*(?:\"([^\"]*)\"|'([^']*)'|([^\s>\"'][^\s>]*)|(?=>)|(?=[\"']))?)?"
)


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text of a page; source is bom, utf16 (every other byte is 0), http, meta, utf8 or fallback."""

    text: str
    charset: str
    source: str


@lru_cache(maxsize=256)
def known(label: str | None) -> str | None:
    """The codec for an encoding label of the web, None for one that is unknown or unsafe."""
    if not label or not _LABEL.fullmatch(label.strip()):
        return None
    name = resolve_encoding(label.strip())
    if name is None:
        # What Python and w3lib have no codec by that name for is a name of the web all the same ("x-cp1251").
        label = label.strip().lower()
        name = resolve_encoding(_MAC.get(label) or map_encoding_to_html5(label, fallback_utf8=False) or "")
    if name is None:
        return None
    try:
        name = codecs.lookup(name).name
        plain = name.startswith("utf-16") or _MARKUP.decode(name) == _MARKUP.decode("ascii")
    except (LookupError, UnicodeError):  # rot13 and the like are codecs, but not of text
        return None
    return name if plain and not name.startswith(_UNSAFE) else None


def declared(head: bytes) -> str | None:
    """The encoding that a page says of itself in these bytes, by <meta> or, where there is none, in an XML declaration
    at its beginning; UTF-16 means UTF-8 (the declaration was readable)."""
    if (name := prescan(head)) is not None or (found := _XML.match(head)) is None:
        return name
    name = known((found[1] or found[2] or b"").decode("latin-1"))
    return "utf-8" if name and name.startswith("utf-16") else name


def prescan(head: bytes) -> str | None:
    """The encoding a <meta> declares in these bytes; a declared UTF-16 means UTF-8 (the declaration was readable).

    The standard's prescan: comments, other tags with their quoted attributes and declarations are passed over; a tag
    that does not end in these bytes declares nothing.
    """
    at, last = 0, head.lower().rfind(b"charset")
    while 0 <= (at := head.find(b"<", at)) < last:
        if head.startswith(b"<!--", at):
            end = head.find(b"-->", at + 2)
            if end < 0:
                return None
            at = end + 3
        elif match := _TAG.match(head, at):
            attributes, at = _attributes(head, match.end())
            if at < 0:
                return None
            name = _declared(attributes) if match[1].lower() == b"meta" else None
            if name:
                return "utf-8" if name.startswith("utf-16") else name
        elif head[at + 1 : at + 2] in (b"!", b"/", b"?"):
            end = head.find(b">", at)
            if end < 0:
                return None
            at = end + 1
        else:
            at += 1
    return None


def _attributes(head: bytes, at: int) -> tuple[dict[str, str], int]:
    """Attributes of a tag from here, the first of a name counts, and where the tag ends; -1: not in these bytes."""
    out: dict[str, str] = {}
    while True:
        while at < len(head) and head[at : at + 1] in b" \t\n\f\r/":
            at += 1
        if at >= len(head):
            return out, -1
        if head[at : at + 1] == b">":
            return out, at + 1
        match = _ATTRIBUTE.match(head, at)
        if match is None or match.end() >= len(head):
            return out, -1
        name, quoted, single, plain = match.groups()
        if quoted is None and single is None and plain is None and match[0].rstrip().endswith(b"="):
            return out, -1  # an opening quote without its end
        value = quoted if quoted is not None else single if single is not None else plain or b""
        out.setdefault(name.decode("latin-1").lower(), value.decode("latin-1"))
        at = match.end()


def _declared(attributes: dict[str, str]) -> str | None:
    """charset, or content together with http-equiv=content-type."""
    if "charset" in attributes:
        return known(attributes["charset"])
    if attributes.get("http-equiv", "").lower() != "content-type":
        return None
    found = _CONTENT.search(attributes.get("content", ""))
    return known(found[1] or found[2] or found[3]) if found else None


def _labels(body: bytes, content_type: str | None) -> Iterator[tuple[str, str | None]]:
    """What is said of the encoding, and by whom; the page is looked into only when the transport's word will not do."""
    found = _CHARSET.search(content_type) if content_type else None
    yield "http", known(found[1]) if found else None
    if media_type(content_type or "") != "text/plain":  # which may be about markup, and has none
        yield "meta", declared(body[:PRESCAN])


def decode(body: bytes, content_type: str | None = None) -> Decoded:
    """The text of these bytes. Never fails: what cannot be read becomes U+FFFD."""
    for mark, name in _BOMS:
        if body.startswith(mark):
            return Decoded(body[len(mark) :].decode(name, "replace"), name, "bom")
    for name, nulls in (("utf-16-be", body[0:64:2]), ("utf-16-le", body[1:64:2])):
        if len(nulls) > 8 and nulls.count(0) > 0.8 * len(nulls):
            return Decoded(body.decode(name, "replace"), name, "utf16")
    for source, label in _labels(body, content_type):
        if label is None or (label.startswith("utf-16") and b"\0" not in body):
            continue
        text = body.decode(label, "replace")
        if label != "utf-8" or "\ufffd" not in text or text.count("\ufffd") * 1000 <= len(text):
            return Decoded(text, label, source)
    try:
        return Decoded(body.decode("utf-8"), "utf-8", "utf8")
    except UnicodeDecodeError:
        text = body.decode("utf-8", "replace")
        wrong = text.count("\ufffd")
        if len(text) - len(text.encode("ascii", "ignore")) >= _RIGHT * wrong:
            return Decoded(text, "utf-8", "utf8")
        return Decoded(body.decode(FALLBACK, "replace"), FALLBACK, "fallback")
