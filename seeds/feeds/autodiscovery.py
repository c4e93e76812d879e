"""Finding the feeds of a site from one of its pages.

`discover` gives what the page itself names: `<link rel="alternate" type="…">` (the autodiscovery conventions for RSS
and Atom; JSON Feed's own), else links whose address or text says feed. `likely_feeds` gives addresses to try where the
page names none, by the conventions of the software it seems made with. Guesses are never mixed with findings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

from seeds.feeds.links import absolute, tidied
from seeds.markup.page_guard import parsable

__all__ = ["discover", "likely_feeds"]

FEED_TYPES = frozenset(
    {
        "application/rss+xml",
        "application/atom+xml",
        "application/rdf+xml",
        "application/feed+json",
        "application/x.atom+xml",
        "application/x-atom+xml",
        "application/x-rss+xml",
        "text/rss+xml",
        "text/atom+xml",
    }
)
_GENERIC_TYPES = frozenset({"application/xml", "text/xml", "application/json", "text/x-opml", ""})
_FEED_PATH = re.compile(
    r"(?:^|[/._-])(?:rss|atom|feed|feeds|rdf)(?:[0-9]*(?:\.(?:xml|rdf|php|aspx?|json))?/?$|[/?=])|"
    r"\.(?:rss|atom|rdf)$|[?&](?:feed|format|type|output|alt)=(?:rss|atom|feed)",
    re.IGNORECASE,
)
_FEED_TEXT = re.compile(r"\b(?:rss|atom|feed|xml)\b", re.IGNORECASE)
_COMMENTS = re.compile(r"comments?/(?:feed|default)|/comments\b|[?&]feed=comments", re.IGNORECASE)
_PAGE_BYTES = 2 << 20
_LONGEST_BASE = 4096  # it is put before each link
_MOST = 50

# The software a page seems made with, and where such sites keep their feeds.
_PLATFORMS = (
    (re.compile(rb"wp-content|wp-includes|wordpress", re.IGNORECASE), ("/feed/", "/?feed=rss2")),
    (
        re.compile(rb"blogger\.com|blogspot\.com", re.IGNORECASE),
        ("/feeds/posts/default", "/feeds/posts/default?alt=rss"),
    ),
    (re.compile(rb"drupal", re.IGNORECASE), ("/rss.xml",)),
    (re.compile(rb"joomla", re.IGNORECASE), ("/?format=feed&type=rss",)),
    (re.compile(rb"ghost\.(?:io|org)|content=.Ghost", re.IGNORECASE), ("/rss/",)),
    (re.compile(rb"squarespace", re.IGNORECASE), ("/?format=rss", "/blog?format=rss")),
    (re.compile(rb"medium\.com", re.IGNORECASE), ("/feed",)),
    (re.compile(rb"content=.(?:Hugo|Jekyll)", re.IGNORECASE), ("/index.xml", "/feed.xml", "/atom.xml")),
    (re.compile(rb"mediawiki", re.IGNORECASE), ("/w/index.php?title=Special:NewPages&feed=atom",)),
)
_WELL_KNOWN = ("/feed/", "/rss", "/rss.xml", "/feed.xml", "/atom.xml", "/index.xml", "/feed.json")


def discover(html: bytes, url: str, content_type: str | None = None) -> list[str]:
    """The feeds this page names, absolute, in order of the page, each once; its own before its comments' feeds.

    Links in the text count only when the head names none. At most 50.
    """
    tree = LexborHTMLParser(parsable(html[:_PAGE_BYTES], content_type), options=LexborDocumentOptions.WO_EVENTS)
    base = _base(tree, url)
    found = list(_alternates(tree)) or list(_anchors(tree))
    unique = list(dict.fromkeys(link for href in found if (link := _join(base, href))))
    unique.sort(key=lambda link: bool(_COMMENTS.search(link)))
    return unique[:_MOST]


def likely_feeds(html: bytes, url: str) -> list[str]:
    """Addresses where this site may have a feed, the likeliest first: to be tried, not to be believed."""
    paths = [path for pattern, known in _PLATFORMS if pattern.search(html[:_PAGE_BYTES]) for path in known]
    return list(dict.fromkeys(link for path in (*paths, *_WELL_KNOWN) if (link := _join(url, path))))


def _base(tree: LexborHTMLParser, url: str) -> str:
    element = tree.css_first("base[href]")
    href = (element.attributes.get("href") or "") if element else ""
    return (_join(url, href) or url) if len(href) <= _LONGEST_BASE else url


def _alternates(tree: LexborHTMLParser) -> Iterator[str]:
    for link in tree.css("link[href][rel]"):
        attributes = link.attributes
        relations = (attributes.get("rel") or "").lower().split()
        kind = (attributes.get("type") or "").split(";")[0].strip().lower()
        href = (attributes.get("href") or "").strip()
        named = "alternate" in relations and (
            kind in FEED_TYPES or (kind in _GENERIC_TYPES and "hreflang" not in attributes and _is_feed_path(href))
        )
        if href and (named or ("feed" in relations and "stylesheet" not in relations)):
            yield href


def _anchors(tree: LexborHTMLParser) -> Iterator[str]:
    room = 2 * _PAGE_BYTES  # links inside one another share their text
    for anchor in tree.css("a[href]"):
        href = (anchor.attributes.get("href") or "").strip()
        kind = (anchor.attributes.get("type") or "").strip().lower()
        said = False
        if room > 0 and href.lower().endswith((".xml", ".json")):
            text = anchor.text(strip=True)
            room -= len(text)
            said = _FEED_TEXT.search(text[:80]) is not None
        if kind in FEED_TYPES or said or _is_feed_path(href):
            yield href


def _is_feed_path(href: str) -> bool:
    try:
        parts = urlsplit(href)
    except ValueError:
        return False
    return bool(_FEED_PATH.search(f"{parts.path}?{parts.query}" if parts.query else parts.path))


def _join(base: str, href: str) -> str | None:
    href = re.sub(r"^feed:(?=//)", "http:", href.strip(), flags=re.IGNORECASE)
    link = tidied(absolute(base, href.removeprefix("feed:")) or "")
    return link.split("#", 1)[0] if link.startswith(("http://", "https://")) else None
