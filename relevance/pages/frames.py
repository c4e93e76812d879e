"""Frames of a page, and documents that it embeds: they have texts of their own, and are followed as links are.

Not what says by its media type that it is a picture, a film or a game: those belong to the page
(:mod:`relevance.pages.requisites`).
"""

from __future__ import annotations

from selectolax.lexbor import LexborHTMLParser, LexborNode

from relevance.pages.media_type import media_type

_FRAMES = "frame[src],iframe[src],embed[src],object[data]"
_TYPED = frozenset(("embed", "object"))
_DOCUMENTS = frozenset(("", "text/html", "application/xhtml+xml", "text/plain", "application/pdf", "application/x-pdf"))


def frames(tree: LexborHTMLParser) -> list[tuple[str, str]]:
    """Addresses as written, and titles."""
    found = (node.attributes for node in tree.css(_FRAMES) if may_have_text(node))
    return [((one.get("src") or one.get("data") or "").strip(), one.get("title") or "") for one in found]


def may_have_text(frame: LexborNode) -> bool:
    """Whether a frame, or what is embedded, may be a document by what the page says of it."""
    return frame.tag not in _TYPED or media_type(frame.attributes.get("type") or "") in _DOCUMENTS
