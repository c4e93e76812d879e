"""Which parts of a page are navigation: by element, by role, footers also by their name.

Guarantee: linear in the page, however its elements nest. What the author made a frame for the whole page (a header
that was not closed, or a ``<div>`` called footer, with ``<main>`` or ``<article>`` in it) is none.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

_NAV_TAGS = ("nav", "footer", "aside", "header", "menu")
_NAV_ROLES = frozenset(("navigation", "banner", "contentinfo", "search", "complementary"))
_NAMED = frozenset(("div", "section", "table", "td"))
_FOOTER = re.compile(r"(?:\A|[\s_-])footers?(?![^\s_-])", re.I)
# One for each role would take half as long again.
_ARTICLES = ("article", "main")
_TELLING = ",".join((*_ARTICLES, *_NAV_TAGS, "[role]", "[id*=ooter]", "[class*=ooter]"))


@dataclass(frozen=True, slots=True)
class Navigation:
    """Navigation parts in document order; `own`: headers inside an article, which are the article's own; `known_by`:
    the elements that it is known by."""

    nodes: list[LexborNode]
    own: frozenset[int]
    known_by: list[LexborNode]

    @property
    def outermost(self) -> list[LexborNode]:
        """Those that lie in no other one and are no article's own."""
        return _outermost([node for node in self.nodes if node.mem_id not in self.own])

    @property
    def links(self) -> frozenset[int]:
        """Links in navigation, as its text is."""
        return _links_in(self.outermost)

    def is_whole(self) -> bool:
        """Whether all that it is known by is still in the page: then it is as it was."""
        around: set[int] = set()
        for node in self.known_by:
            at, parent = node, node.parent
            while parent is not None and parent.mem_id not in around:
                around.add(parent.mem_id)
                at, parent = parent, parent.parent
            if parent is None and at.tag != "-document":
                return False
        return True


def navigation(tree: LexborHTMLParser) -> Navigation:
    """The navigation parts of a page, found without passing an element twice."""
    # What two selectors find is given twice.
    looked_at = {node.mem_id: node for node in tree.css(_TELLING)}
    articles = {place: node for place, node in looked_at.items() if node.tag in _ARTICLES}
    nodes = {place: node for place, node in looked_at.items() if _is_navigation(node)}
    around = _around(articles.values())
    # A header that was not closed, or made a frame for the whole page, is no navigation.
    found = [node for place, node in nodes.items() if not (place in around and _may_be_frame(node))]
    own = _inside([node for node in found if node.tag == "header"], articles.keys())
    return Navigation(found, own, [*articles.values(), *nodes.values()])


def _may_be_frame(node: LexborNode) -> bool:
    return node.tag == "header" or node.tag in _NAMED or node.attributes.get("role") == "banner"


def _around(nodes: Iterable[LexborNode]) -> set[int]:
    """The elements that any of these nodes lies in; none is passed twice."""
    found: set[int] = set()
    for node in nodes:
        parent = node.parent
        while parent is not None and parent.mem_id not in found:
            found.add(parent.mem_id)
            parent = parent.parent
    return found


def _is_navigation(node: LexborNode) -> bool:
    """By its element, its role, or as a footer by its name, as pages older than `<footer>` have it."""
    attributes = node.attributes
    if node.tag in _NAV_TAGS or attributes.get("role") in _NAV_ROLES:
        return True
    names = (attributes.get("id") or "", attributes.get("class") or "") if node.tag in _NAMED else ()
    return any(map(_FOOTER.search, names))


def _outermost(nodes: list[LexborNode]) -> list[LexborNode]:
    inner = _inside(nodes, {node.mem_id for node in nodes})
    return [node for node in nodes if node.mem_id not in inner]


def _links_in(nodes: list[LexborNode]) -> frozenset[int]:
    return frozenset(link.mem_id for node in nodes for link in node.css("a[href]"))


def _inside(nodes: list[LexborNode], roots: Collection[int]) -> frozenset[int]:
    """Those of the nodes that lie in a root. A selector would climb from each; here no element is passed twice."""
    if not roots:
        return frozenset()
    known: dict[int, bool] = {}
    found: set[int] = set()
    for node in nodes:
        chain: list[int] = []
        parent = node.parent
        while parent is not None and parent.mem_id not in known and parent.mem_id not in roots:
            chain.append(parent.mem_id)
            parent = parent.parent
        within = parent is not None and (parent.mem_id in roots or known[parent.mem_id])
        known.update(dict.fromkeys(chain, within))
        if within:
            found.add(node.mem_id)
    return frozenset(found)
