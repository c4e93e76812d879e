"""Where the links of a page stand in its blocks, to the letter.

relevance.page gives blocks and links apart. To bring them together the page is read a second time with a mark at the
beginning and the end of each anchor: private-use characters, which no block is changed by otherwise. So the blocks are
those of the first reading by construction; where they are not the same (a page so broken that the marks change how it
is parsed, or that has such characters itself), None says so and no link is placed, rather than one in a wrong place.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
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
_MARKS = re.compile("[\U000f0000-\U000ffff0\U00100000]")
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


def place_links(body: bytes, content_type: str | None, page: Page) -> list[tuple[Link, ...]] | None:
    """For each block of ``page`` (which was read from ``body``) its links, in order; None: they cannot be placed.

    Costs about as much again as reading the page. Links without text (images) have no place and are left out.
    """
    marked = _marked(decode(body[:MAX_BODY], content_type).text)
    if marked is None:
        return None
    again = read_page(marked.encode("utf-8", "replace"), page.url, "text/html; charset=utf-8")
    targets = {}
    for link in again.links:
        if link.text and _FIRST <= ord(link.text[0]) < _FIRST + _MOST:
            targets[ord(link.text[0])] = absolute(link.href, page)
    blocks = [_taken_off(block.text, targets) for block in again.blocks]
    blocks = [found for found in blocks if found[0]]
    if [text for text, _ in blocks] != [block.text for block in page.blocks]:
        return None
    return [links for _, links in blocks]


def _marked(text: str) -> str | None:
    if _MARKS.search(text):
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


def _taken_off(text: str, targets: dict[int, str]) -> tuple[str, tuple[Link, ...]]:
    """A block's text as it is without marks, and the links that the marks stood for.

    A mark between two spaces had them apart: they are one.
    """
    parts: list[str] = []
    size, links = 0, []
    start, url = -1, ""
    for piece in re.split("([\U000f0000-\U00100000])", text):
        if piece == _END:
            if start >= 0:
                links.append((start, size, url))
            start = -1
        elif len(piece) == 1 and ord(piece) >= _FIRST:
            start, url = size, targets.get(ord(piece), "")
        else:
            if piece.startswith(" ") and (not size or parts[-1].endswith(" ")):
                piece = piece[1:]
            if piece:
                parts.append(piece)
                size += len(piece)
    if start >= 0:
        links.append((start, size, url))
    whole = "".join(parts).rstrip(" ")
    return whole, tuple(_trimmed(links, whole))


def _trimmed(links: Sequence[tuple[int, int, str]], text: str) -> list[Link]:
    found = []
    for start, end, url in links:
        end = min(end, len(text))
        while start < end and text[start] == " ":
            start += 1
        while end > start and text[end - 1] == " ":
            end -= 1
        if start < end and url:
            found.append(Link(start, end, url))
    return found
