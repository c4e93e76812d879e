"""Archived pages with links to Wikipedia: their text with these links alone, each with its place in the page.

Most pages have none: they are left by a look at their bytes, before anything of them is parsed. An address on Wikipedia
has "wikipedia" in it, in letters of any case, also in UTF-16; or escapes for some of them, and these begin with ``&#``
or ``%``. Where a page has that, its ``href`` values are looked at: most have it in their text or scripts. Nothing is
lost by it but a page whose only links have a line end within the host, or more than 1,000 letters before it.

Offsets are given only where the bytes at that place are the address or anchor, else -1: they count in the page as
``python -m archive get FILE PLACE`` gives it, without transfer- and content-coding, which is what can be looked up in
archives of any compression.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote

from archive import Record
from corpus.anchors import OPEN_TAG, absolute, place_links
from corpus.document import Source
from corpus.records import Read, capture_of, document_of, never_failing, of_capture, page_of
from corpus.selection import main_blocks
from corpus.wikilinks.address import target_of
from corpus.wikilinks.choice import of_wikimedia
from relevance.language.identification import Identifier
from relevance.language.noise import unescaped
from relevance.pages.encoding import Decoded, decode
from relevance.pages.page import MAX_BODY

_NAME = b"wikipedia"
_ESCAPED_HOST = re.compile(rb"//[^/?#\s\"'<>&%]{0,100}+[&%]")
_HREF = re.compile(rb"""href\s*=\s*(?=("[^"]{0,1000}|'[^']{0,1000}|[^\s>]{0,1000}))""")
"""In small letters, wherever one may begin: what a script has of a tag does not hide the tag behind it."""
_HOSTS = ("wikipedia.org", "secure.wikimedia.org")
_ATTRIBUTE = re.compile(r"""([^\s"'>/=]+)(?:\s*=\s*("[^"]*"|'[^']*'|[^\s"'>][^\s>]*))?""")
_ANCHOR_ENDS = re.compile(r"</?a(?=[\s>/])", re.I)
_BOMS = {"utf-8": 3, "utf-16-be": 2, "utf-16-le": 2}
TEXTS = ("all", "whole", "main")


def may_link(body: bytes, url: str = "") -> bool:
    """May this page have links to Wikipedia? At some 350 MB/s, at 80 where it has the name of it."""
    if _NAME in url.lower().encode("utf-8", "replace"):
        return True
    lowered = body.lower()
    if b"\0" in lowered:  # UTF-16
        lowered = lowered.replace(b"\0", b"")
    if _NAME not in lowered and _ESCAPED_HOST.search(lowered) is None:
        return False
    left = 2 * len(lowered)  # values that begin within others are looked at twice, but thousands are not
    for match in _HREF.finditer(lowered):
        left -= len(match[1])
        if left < 0 or _may_lead_there(match[1].decode("latin-1")):
            return True
    return False


def _may_lead_there(href: str) -> bool:
    """``href``: as the page has it, in small letters."""
    if "&" in href or "%" in href:
        href = unquote(unescaped(href)).lower()
    return any(host in href for host in _HOSTS)


@dataclass(frozen=True, slots=True)
class LinkedPages:
    """Reads records. ``text``: which blocks of a page, :data:`TEXTS`: all, or what ``corpus extract`` takes (whole:
    with ``--whole-pages``). ``wikimedia``: also pages of Wikipedia and its sisters. Reasons beside those of
    :mod:`corpus.tally`: wikimedia, no_link, unplaced."""

    text: str = "all"
    identifier: Identifier | None = None
    wikimedia: bool = True

    def __call__(self, record: Record) -> Read:
        return never_failing(lambda: self._read(record))

    def _read(self, record: Record) -> Read:
        capture = capture_of(record)
        if isinstance(capture, Read):
            return capture
        if not self.wikimedia and of_wikimedia(record.url):
            return Read(reason="wikimedia")
        if not capture.is_html or not may_link(capture.body, record.url):
            return Read(reason="no_link")
        page = page_of(record, capture)
        if isinstance(page, Read):
            return page
        base = absolute("", page)
        if not any(target_of(link.href, base) for link in page.links):
            return Read(reason="no_link", notes=capture.notes)
        chosen = range(len(page.blocks)) if self.text == "all" else main_blocks(page.blocks, whole=self.text == "whole")
        finder = _Finder(capture.body[:MAX_BODY], decode(capture.body[:MAX_BODY], capture.content_type), base)
        places = place_links(capture.body, capture.content_type, page, frozenset(chosen), finder)
        if places is None:
            return Read(reason="unplaced", notes=capture.notes)
        if not any(places):
            return Read(reason="no_link", notes=capture.notes)
        return of_capture(document_of(record, page, chosen, places, self.identifier), capture)


class _Finder:
    """Where links to Wikipedia stand in the bytes of a page; fast when it is asked in the order of the page."""

    def __init__(self, body: bytes, decoded: Decoded, base: str) -> None:
        self._body, self._base = body, base
        self._text, self._charset = decoded.text, decoded.charset
        self._start = _BOMS[decoded.charset] if decoded.source == "bom" else 0
        self._letters, self._bytes = 0, self._start

    def __call__(self, href: str, at: int) -> Source | None:
        tag = OPEN_TAG.match(self._text, at) if target_of(href, self._base) is not None else None
        if tag is None:
            return None
        end = _ANCHOR_ENDS.search(self._text, tag.end())
        markup = self._text[tag.end() : end.start() if end is not None else len(self._text)]
        address_at = -1
        for attribute in _ATTRIBUTE.finditer(self._text, tag.start(1), tag.end(1)):
            if attribute[1].lower() == "href":
                value = attribute[2] or ""
                written = (value[1:-1] if value.startswith(('"', "'")) else value).strip()
                if href in (written, unescaped(written).strip()):
                    address_at = self._byte(attribute.start(2) + value.index(written), written)
                break
        return Source(href, markup, address_at, self._byte(tag.end(), markup))

    def _byte(self, letter: int, expected: str) -> int:
        """The byte at which this letter of the text begins; -1 when what is expected does not stand there."""
        if letter < self._letters:
            self._letters, self._bytes = 0, self._start
        try:
            between = self._text[self._letters : letter].encode(self._charset)
            wanted = expected.encode(self._charset)
        except UnicodeEncodeError:
            return -1
        self._letters, self._bytes = letter, self._bytes + len(between)
        return self._bytes if self._body.startswith(wanted, self._bytes) else -1
