"""Where the links of a page stand in its blocks, to the letter.

relevance.page gives blocks and links apart. To bring them together the page is read a second time with a mark at the
beginning and the end of each anchor: private-use characters, which no block is changed by otherwise. So the blocks are
those of the first reading by construction; where they are not the same (a page so broken that the marks change how it
is parsed, or that has such characters itself), None says so and no link is placed, rather than one in a wrong place.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from urllib.parse import quote, urljoin, urlsplit

from corpus.document import Link
from relevance import Page, read_page
from relevance.encoding import decode
from relevance.page import MAX_BODY

_FIRST = 0xF0000
_MOST = 0xFFF0
_END = "\U00100000"
_OPEN_TAG = re.compile(r"""<a\b((?>[^>"']|"[^"]*"|'[^']*')*+>)?""", re.I)
_MOST_UNENDED = 16
"""Tags without an end that a page may have; each is looked through to the end of the page."""
_CLOSE_TAG = re.compile(r"</a\s*>", re.I)
_MARK = re.compile("([\U000f0000-\U000fffef\U00100000])")
_Span = tuple[int, int, str]
_SAFE = "%/:=&?~#+!$,;'@()*[]|-._"


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
    body: bytes, content_type: str | None, page: Page, wanted: Collection[int] | None = None
) -> list[tuple[Link, ...]] | None:
    """For each block of ``page`` (which was read from ``body``) its links, in order; None: they cannot be placed.

    ``wanted``: places of the blocks whose links are given (None: all); others have none. Costs about as much again as
    reading the page. Links without text (images) have no place and are left out.
    """
    marked = _marked(decode(body[:MAX_BODY], content_type).text)
    if marked is None:
        return None
    again = read_page(marked.encode("utf-8", "replace"), page.url, "text/html; charset=utf-8")
    marks = (link for link in again.links if link.text and _FIRST <= ord(link.text[0]) < _FIRST + _MOST)
    targets = {link.text[0]: link.href for link in marks}
    blocks = [found for block in again.blocks if (found := _taken_off(block.text))[0]]
    if [text for text, _ in blocks] != [block.text for block in page.blocks]:
        return None
    return [
        tuple(_trimmed(spans, text, targets, page)) if wanted is None or place in wanted else ()
        for place, (text, spans) in enumerate(blocks)
    ]


def _marked(text: str) -> str | None:
    if _MARK.search(text):
        return None
    parts: list[str] = []
    count = unended = done = 0
    for match in _OPEN_TAG.finditer(text):
        if match[1] is None:
            unended += 1
            if unended > _MOST_UNENDED:
                return None
        elif "href" in match[1].lower() and count < _MOST:
            parts += (text[done : match.end()], chr(_FIRST + count))
            count, done = count + 1, match.end()
    return _CLOSE_TAG.sub(lambda match: _END + match[0], "".join((*parts, text[done:])))


def _taken_off(text: str) -> tuple[str, list[_Span]]:
    """A block's text as it is without marks, and where each mark had its link.

    A mark between two spaces had them apart: they are one.
    """
    parts: list[str] = []
    size, spans = 0, []
    start, mark = -1, ""
    for piece in _MARK.split(text):
        if piece == _END:
            if start >= 0:
                spans.append((start, size, mark))
            start = -1
        elif _MARK.fullmatch(piece):
            start, mark = size, piece
        else:
            if piece.startswith(" ") and (not size or parts[-1].endswith(" ")):
                piece = piece[1:]
            if piece:
                parts.append(piece)
                size += len(piece)
    if start >= 0:
        spans.append((start, size, mark))
    return "".join(parts).rstrip(" "), spans


def _trimmed(spans: Sequence[_Span], text: str, targets: Mapping[str, str], page: Page) -> Iterator[Link]:
    for start, end, mark in spans:
        end = min(end, len(text))
        while start < end and text[start] == " ":
            start += 1
        while end > start and text[end - 1] == " ":
            end -= 1
        if start < end and mark in targets and (url := absolute(targets[mark], page)):
            yield Link(start, end, url)
