"""A page of links read as a feed, for sites that have none.

The articles of a front page stand in a repeated place of its template: the same elements and classes from the body down
to the link. Links are grouped by that place; a place counts as a list of articles when it holds several links with
something to read in them, or when new links have turned up there before (`places`, learnt by the history). What stands
in a navigation, header or footer is not looked at, nor are links with `rel=nofollow`.

Numbers are taken out of class names and positions are not counted, so a teaser that moves down the page keeps its
place. What is linked from elsewhere on the page is not followed from here: such a page is polled only.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from urllib.parse import urlsplit

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, LexborNode

from seeds.feeds.links import absolute, clean_link, tidied
from seeds.feeds.types import Feed, FeedEntry
from seeds.harvest.history import fingerprint
from seeds.markup.page_guard import parsable

__all__ = ["PlacedLink", "placed_links", "read_index"]

_PAGE_BYTES = 4 << 20
_MOST_LINKS = 3000
_DEEPEST = 40
_ENOUGH_LINKS = 3
_READABLE = 15  # characters of a headline
_ASIDE = frozenset({"nav", "header", "footer", "form", "select", "noscript", "template"})
_ASIDE_CLASS = re.compile(
    r"\b(?:nav|menu|breadcrumb|footer|social|share|cookie|pagination|login|tag-?cloud)", re.IGNORECASE
)
_FILE = re.compile(r"\.(?:jpe?g|png|gif|svg|webp|css|js|ico|mp[34]|zip|xml|rss)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PlacedLink:
    """A link and its place in the template, as a fingerprint."""

    url: str
    text: str
    place: int


def read_index(
    html: bytes, url: str, places: dict[int, int], content_type: str | None = None
) -> tuple[Feed, dict[str, int]]:
    """The page as a feed whose entries are in order of the page, and the place of each entry by its address.

    `places`: how many new links each place has brought so far.
    """
    groups: dict[int, list[PlacedLink]] = defaultdict(list)
    for link in placed_links(html, url, content_type):
        groups[link.place].append(link)
    chosen = {place for place, links in groups.items() if places.get(place, 0) >= 2 or _is_list(links)}
    entries: dict[str, FeedEntry] = {}
    where: dict[str, int] = {}
    for place, links in groups.items():
        for link in links if place in chosen else ():
            known = entries.get(link.url)
            if known is None or len(link.text) > len(known.title):
                entries[link.url] = FeedEntry(link.url, id=link.url, title=link.text, url=link.url)
                where.setdefault(link.url, place)
    return Feed("index", tuple(entries.values())), where


def placed_links(html: bytes, url: str, content_type: str | None = None) -> list[PlacedLink]:
    """The links of a page to pages of its own site, outside navigation, at most 3,000."""
    tree = LexborHTMLParser(parsable(html[:_PAGE_BYTES], content_type), options=LexborDocumentOptions.WO_EVENTS)
    base_element = tree.css_first("base[href]")
    base = _absolute(url, (base_element.attributes.get("href") or "") if base_element else "") or url
    own = urlsplit(url).hostname or ""
    found: list[PlacedLink] = []
    known: dict[int, str | None] = {}
    room = 2 * _PAGE_BYTES  # links inside one another share their text
    for anchor in tree.css("a[href]")[:_MOST_LINKS]:
        if "nofollow" in (anchor.attributes.get("rel") or "").lower():
            continue
        link = _absolute(base, anchor.attributes.get("href") or "")
        if not link or link == url or not _is_article_address(link, own):
            continue
        place = _place(anchor, known)
        if place is not None:
            text = anchor.text(deep=True) if room > 0 else ""
            room -= len(text)
            found.append(PlacedLink(clean_link(link), " ".join(text.split())[:300], place))
    return found


def _is_list(links: list[PlacedLink]) -> bool:
    addresses = {link.url for link in links}
    readable = sum(1 for link in links if len(link.text) >= _READABLE)
    return len(addresses) >= _ENOUGH_LINKS and readable * 2 >= len(links)


def _is_article_address(link: str, own: str) -> bool:
    parts = urlsplit(link)
    host = parts.hostname or ""
    same = host.removeprefix("www.") == own.removeprefix("www.") or host.endswith("." + own.removeprefix("www."))
    return same and (len(parts.path) > 1 or parts.query != "") and not _FILE.search(parts.path)


def _place(anchor: LexborNode, known: dict[int, str | None]) -> int | None:
    """The fingerprint of the elements and classes above a link; None inside navigation and the like. `known`: the steps
    of elements met before, since a class attribute may be long and stand above thousands of links."""
    steps: list[str] = []
    node: LexborNode | None = anchor
    while node is not None and node.tag not in ("body", "html") and len(steps) < _DEEPEST:
        if node.mem_id not in known:
            known[node.mem_id] = _step(node)
        step = known[node.mem_id]
        if step is None:
            return None
        steps.append(step)
        node = node.parent
    return fingerprint("/".join(steps))


def _step(node: LexborNode) -> str | None:
    """An element and its classes without numbers; None for navigation and the like."""
    name = node.tag or ""
    classes = node.attributes.get("class") or ""
    if name in _ASIDE or (name != "a" and _ASIDE_CLASS.search(classes)):
        return None
    words = sorted({re.sub(r"\d+", "", word) for word in classes.split()} - {""}) if name != "a" else []
    return f"{name}.{'.'.join(words[:4])}"


def _absolute(base: str, href: str) -> str:
    link = tidied(absolute(base, href.strip()) or "").split("#", 1)[0]
    return link if link.startswith(("http://", "https://")) and len(link) <= 4096 else ""
