"""What a page embeds, and a browser fetches to show it: pictures, styles, scripts, fonts, sound and film.

For archives that are to show pages as they looked. Guarantees: addresses as written, white space trimmed, each once, in
the order in which they are found; also where scripts put off loading a picture. Frames and embedded documents are none
(but for what says that it is a picture, a film or a game): they have texts of their own, and are among the links of a
page. Linear in the page.

Source: the HTML Standard's list of attributes that are URLs; CSS Syntax 3 for ``url()`` and ``@import``. As wget's
``--page-requisites`` and Heritrix' embeds (hop type E).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from selectolax.lexbor import LexborNode

from relevance.pages.encoding import decode
from relevance.pages.flattened import is_usual
from relevance.pages.frames import may_have_text
from relevance.pages.page import MAX_BODY, tree_of
from relevance.pages.xhtml import as_html

_HREF = {
    **{"object": ("data",), "embed": ("src",), "link": ("href",)},
    **{"image": ("href", "xlink:href"), "use": ("href", "xlink:href")},
}
_SRC = ("src", "poster", "background", "data-src", "data-lazy-src", "data-original")
_SRCSET = ("srcset", "imagesrcset", "data-srcset", "data-lazy-srcset")
_RELATIONS = frozenset(
    ("stylesheet", "icon", "apple-touch-icon", "apple-touch-icon-precomposed", "mask-icon", "manifest", "preload")
) | {"modulepreload"}
_TELLING = (
    "link[href],img,source,video,audio,track,script[src],input[type=image],image,use,"
    "body[background],table[background],td[background],style,[style*=url],embed[src],object[data]"
)
_CANDIDATE = re.compile(r"([^\s,](?:\S*[^\s,])?)[^,]*+")
"""One of a srcset, which ends with a comma behind white space or its width; a comma within is the address' own."""
_STYLED = re.compile(
    r"/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z)"
    r"|url\(\s*+(?:\"([^\"]*+)\"|'([^']*+)'|((?:[^\s\"'()\\]|\\(?:[0-9a-f]{1,6}\s?|.))++))\s*+\)"
    r"|@import\s++(?:\"([^\"]*+)\"|'([^']*+)')",
    re.IGNORECASE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})\s?|(.))", re.DOTALL)


def page_requisites(body: bytes, content_type: str | None = None) -> list[str]:
    """Of an HTML page; none of one that had to be flattened."""
    html = as_html(decode(body[:MAX_BODY], content_type).text.encode("utf-8", "replace"), content_type)
    tree = tree_of(html, is_usual(html))
    return _each_once(address for node in tree.css(_TELLING) for address in _embedded(node))


def stylesheet_requisites(body: bytes, content_type: str | None = None) -> list[str]:
    """Of a style sheet: further sheets, pictures, fonts."""
    return _each_once(_styled(decode(body[:MAX_BODY], content_type).text))


def _each_once(addresses: Iterable[str]) -> list[str]:
    found = dict.fromkeys(address.strip() for address in addresses)
    return [address for address in found if address and address[:5].lower() != "data:" and address[0] != "#"]


def _embedded(node: LexborNode) -> Iterator[str]:
    attributes, tag = node.attributes, node.tag or ""
    if tag == "style":
        yield from _styled(node.text())
    if style := attributes.get("style"):
        yield from _styled(style)
    if tag in ("object", "embed") and may_have_text(node):
        return
    if tag == "link" and _RELATIONS.isdisjoint((attributes.get("rel") or "").lower().split()):
        return
    for name in _HREF.get(tag, _SRC):
        if address := attributes.get(name):
            yield address
    for name in _SRCSET:
        if several := attributes.get(name):
            yield from _CANDIDATE.findall(several)


def _styled(css: str) -> Iterator[str]:
    for found in _STYLED.finditer(css):
        if address := next(filter(None, found.groups()), ""):
            yield _ESCAPE.sub(_meant, address)


def _meant(escape: re.Match[str]) -> str:
    code = int(escape[1], 16) if escape[1] else 0
    return (chr(code) if 0 < code < 0x110000 else "\ufffd") if escape[1] else escape[2]
