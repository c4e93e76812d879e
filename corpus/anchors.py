"""Where the links of a page stand in its blocks, to the letter.

relevance.pages.page gives blocks and links apart. To bring them together the page is read a second time with a mark at
the beginning and the end of each anchor: private-use characters, which no block is changed by otherwise. So the blocks
are those of the first reading by construction; where they are not the same (a page so broken that the marks change how
it is parsed, or that has such characters itself), None says so and no link is placed, rather than one in a wrong place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from urllib.parse import quote, urljoin, urlsplit

from corpus.document import Link, Source
from relevance import Page
from relevance.pages.encoding import decode
from relevance.pages.page import MAX_BODY, texts_and_links
from relevance.pages.xhtml import as_html

_FIRST = 0xF0000
_MOST = 0xFFF0
_END = "\U00100000"
_TAG = r"""<[aA](?=[\s/>])((?>[^>=]++|=\s*+(?:"[^"]*"|'[^']*')?)*+>)?"""
OPEN_TAG = re.compile(_TAG)
"""Group 1: its attributes, and its end. A quotation mark counts behind ``=`` alone, as in browsers: ``title=it's``."""
_OPEN_TAG = re.compile(_TAG.encode())
_MOST_UNENDED = 16
"""Tags without an end that a page may have; each is looked through to the end of the page."""
_CLOSE_TAG = re.compile(rb"<(?=/[aA][\s/>])")  # one letter, then what is looked ahead for: that is found fastest
_MARK = re.compile("([\U000f0000-\U000fffef\U00100000])")
_Span = tuple[int, int, str]
_SAFE = "%/:=&?~#+!$,;'@()*[]|-._"

Locate = Callable[[str, int], Source | None]
"""From a link's href and the letter of the page's text at which its tag begins; None: this link is not wanted."""


def absolute(href: str, page: Page) -> str:
    """The URL that a link leads to, fit for an attribute (no spaces, quotes or angle brackets); "" unless http(s)."""
    try:
        base = urljoin(page.url, page.base) if page.base else page.url
        url = urljoin(base, href)
        if urlsplit(url).scheme not in ("http", "https"):
            return ""
        return quote(url, safe=_SAFE, errors="replace")
    except ValueError:
        return ""


def place_links(
    body: bytes,
    content_type: str | None,
    page: Page,
    wanted: Collection[int] | None = None,
    locate: Locate | None = None,
) -> list[tuple[Link, ...]] | None:
    """For each block of ``page`` (which was read from ``body``) its links, in order; None: they cannot be placed.

    ``wanted``: places of the blocks whose links are given (None: all); others have none. ``locate`` gives the links
    their source, and only those that it gives one are given. Costs nearly as much again as reading the page. Links
    without text (images) have no place and are left out.
    """
    decoded = decode(body[:MAX_BODY], content_type).text
    html = decoded.encode("utf-8", "replace")
    marked = None if _has_marks(html, decoded) else _marked(html)
    if marked is None:
        return None
    texts, links = texts_and_links(as_html(marked[0], content_type), usual=not page.flat)
    tags, letters = marked[1], _Letters(html)
    marks = (link for link in links if link.text and _FIRST <= ord(link.text[0]) < _FIRST + len(tags))
    hrefs = {link.text[0]: link.href for link in marks}
    blocks = list(_unmarked(texts))
    if [text for text, _ in blocks] != [block.text for block in page.blocks]:
        return None

    def link(start: int, end: int, mark: str) -> Link | None:
        href = hrefs.get(mark, "")
        source = locate(href, letters.before(tags[ord(mark) - _FIRST])) if locate and mark in hrefs else None
        url = absolute(href, page) if mark in hrefs and (source or not locate) else ""
        return Link(start, end, url, source) if url else None

    return [
        tuple(found for span in _trimmed(spans, text) if (found := link(*span)) is not None)
        if wanted is None or place in wanted
        else ()
        for place, (text, spans) in enumerate(blocks)
    ]


class _Letters:
    """How many letters of a text are before a byte of it in UTF-8; fast when asked in order."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._bytes = self._letters = 0

    def before(self, at: int) -> int:
        if at < self._bytes:
            self._bytes = self._letters = 0
        self._letters += len(self._text[self._bytes : at].decode("utf-8"))
        self._bytes = at
        return self._letters


def _has_marks(html: bytes, text: str) -> bool:
    """Are there marks in a page before any are made? ``html``: its text in UTF-8, where they would begin with these."""
    return (b"\xf3" in html or b"\xf4" in html) and _MARK.search(text) is not None


def _marked(html: bytes) -> tuple[bytes, list[int]] | None:
    """The page with marks in it, and where the tag of each began before."""
    parts: list[bytes] = []
    tags: list[int] = []
    unended = done = 0
    for match in _OPEN_TAG.finditer(html):
        if match[1] is None:
            unended += 1
            if unended > _MOST_UNENDED:
                return None
        elif b"href" in match[1].lower() and len(tags) < _MOST:
            parts += (html[done : match.end()], chr(_FIRST + len(tags)).encode())
            tags.append(match.start())
            done = match.end()
    return _CLOSE_TAG.sub(_END.encode() + b"<", b"".join((*parts, html[done:]))), tags


def _unmarked(texts: Iterable[str]) -> Iterator[tuple[str, list[_Span]]]:
    """Of texts with marks those that have more, as they are without, and where each mark had its link."""
    opened = ""
    for text in texts:
        plain, spans, opened = _taken_off(text, opened)
        if plain:
            yield plain, spans


def _taken_off(text: str, opened: str) -> tuple[str, list[_Span], str]:
    """A block's text as it is without marks, where each mark had its link, and the mark of a link that began at its
    end, whose text is in the blocks to come: as ``opened``, "": none.

    A mark between two spaces had them apart: they are one.
    """
    parts: list[str] = []
    size, spans = 0, []
    start, mark = 0 if opened else -1, opened
    for piece in _MARK.split(text):
        if piece == _END:
            if start >= 0:
                spans.append((start, size, mark))
            start = -1
        elif _MARK.fullmatch(piece):
            if start >= 0:  # a link that is not closed ends where the next begins
                spans.append((start, size, mark))
            start, mark = size, piece
        else:
            if piece.startswith(" ") and (not size or parts[-1].endswith(" ")):
                piece = piece[1:]
            if piece:
                parts.append(piece)
                size += len(piece)
    plain = "".join(parts).rstrip(" ")
    if start >= len(plain):
        return plain, spans, mark
    if start >= 0:
        spans.append((start, size, mark))
    return plain, spans, ""


def _trimmed(spans: Sequence[_Span], text: str) -> Iterator[_Span]:
    """The spans without the white space at their ends; without those that have nothing else."""
    for start, end, mark in spans:
        end = min(end, len(text))
        while start < end and text[start] == " ":
            start += 1
        while end > start and text[end - 1] == " ":
            end -= 1
        if start < end:
            yield start, end, mark
