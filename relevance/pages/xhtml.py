"""XHTML as HTML: elements that are empty by `/>` get an end tag, for a parser of HTML takes them for open ones.

`<script src="a.js"/>` and `<title/>` would have all that follows as their text. Only where the page is served as
XHTML: in HTML browsers, too, pay no heed to the slash. What else differs (CDATA sections, prefixes) is left as it is.
Linear in the page.
"""

from __future__ import annotations

import re

from relevance.pages.media_type import media_type

_EMPTY = re.compile(rb"<([a-zA-Z][^\s/<>]*+)((?:[^<>\"'/]++|\"[^<\"]*+\"|'[^<']*+'|/(?!>))*+)/>")
_VOID = frozenset(b"area base br col embed hr img input link meta param source track wbr".split())
"""Elements that have no end tag in HTML."""


def as_html(page: bytes, content_type: str | None) -> bytes:
    """The page (UTF-8), ready for a parser of HTML."""
    return _EMPTY.sub(_ended, page) if media_type(content_type or "") == "application/xhtml+xml" else page


def _ended(found: re.Match[bytes]) -> bytes:
    name, rest = found.groups()
    return found[0] if name.lower() in _VOID else b"<%b%b></%b>" % (name, rest, name)
