"""Sitemaps: XML, indexes, gzip, plain text, RSS and Atom as sitemaps; news and hreflang extensions.

Source: sitemaps.org protocol 0.9 with its limit of 50 MiB unpacked, Google's news and hreflang extensions. Of entries
four times as many are taken as the protocol allows, since sites that write more than 50,000 into one do not know of it.
Read leniently: any namespace or prefix, stray ampersands, whatever stands before the declaration (as a
server's warnings do), UTF-16, a declaration of another encoding than the bytes are in, documents cut short (an address
that may itself be cut is dropped). Never resolved: entities, DTDs, the network. What is left out is counted in
`Sitemap.dropped` by reason.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import SplitResult, urlsplit

from seeds import feeds
from seeds.markup.encodings import narrowed
from seeds.markup.packed import PackedError, unpacked
from seeds.sitemaps.addresses import join
from seeds.sitemaps.types import News, Sitemap, SitemapEntry, SitemapError
from seeds.sitemaps.xml_sitemap import parse_xml

__all__ = ["parse", "unpack"]

MAX_BYTES = 50 << 20
MAX_ENTRIES = 200_000

_ROOT = re.compile(rb"<(?:[\w.-]+:)?(urlset|sitemapindex|url|sitemap|rss|feed|rdf)[\s>/]", re.IGNORECASE)
_HTML = re.compile(rb"<(?:!doctype\s+html|html[\s>])", re.IGNORECASE)


def parse(
    body: bytes,
    url: str = "",
    *,
    content_type: str | None = None,
    newer_than_ms: int | None = None,
    own_place: bool = False,
) -> Sitemap:
    """The sitemap in `body`, plain or gzip; raises SitemapError.

    With `newer_than_ms` entries known to be older are left out (those without a date stay). With `own_place` only
    addresses on the sitemap's own host and below its own folder are kept, as the protocol demands of a sitemap nobody
    vouches for; by default they may lead anywhere and the crawl's scope decides.
    """
    text = narrowed(unpack(body)).lstrip(b"\xef\xbb\xbf \t\r\n\x00")
    root = _ROOT.search(text[:65536])
    if root is None:
        if _HTML.search(text[:4096]):
            raise SitemapError("html", "a page, not a sitemap")
        sitemap = _plain(text, url)
    elif root[1].lower() in (b"rss", b"feed", b"rdf"):
        sitemap = _feed(text, url, content_type)
    else:
        sitemap = parse_xml(text, url)
    dropped: Counter[str] = Counter()
    entries = _sifted(sitemap.entries, url if own_place else "", newer_than_ms, dropped)
    return replace(sitemap, entries=tuple(entries), dropped=dict(dropped))


def unpack(body: bytes) -> bytes:
    """The body without its gzip layers (:func:`seeds.markup.packed.unpacked`)."""
    try:
        return unpacked(body, MAX_BYTES)
    except PackedError as error:
        raise SitemapError(error.reason, error.detail) from error


def _plain(text: bytes, url: str) -> Sitemap:
    found: list[SitemapEntry] = []
    for line in text.decode("utf-8", "replace").splitlines():
        word = line.strip()
        if re.match(r"(?:[\w-]+\.)+[a-z]{2,}(?:[/?#]|$)", word, re.IGNORECASE):
            word = f"http://{word}"
        if word.lower().startswith(("http://", "https://")) and not re.search(r"\s", word):
            loc = join(url, word)
            if loc:
                found.append(SitemapEntry(loc))
    if not found:
        raise SitemapError("not_a_sitemap", "neither a known root element nor a list of addresses")
    return Sitemap("urlset", "TEXT", tuple(found))


def _feed(text: bytes, url: str, content_type: str | None) -> Sitemap:
    try:
        feed = feeds.parse(text, url, content_type)
    except feeds.FeedError as error:
        raise SitemapError("feed", str(error)) from error
    found = []
    for entry in feed.entries:
        loc = join(url, entry.link or (entry.id if entry.id.startswith(("http://", "https://")) else ""))
        if loc:
            news = News("", entry.language, entry.title, entry.published_ms, entry.published)
            found.append(SitemapEntry(loc, entry.updated_ms or entry.published_ms, news=news))
    form = "ATOM" if feed.format.startswith("atom") else "RSS"
    return Sitemap("urlset", form, tuple(found), feed.rescued)


def _sifted(
    found: Sequence[SitemapEntry], place: str, newer_than_ms: int | None, dropped: Counter[str]
) -> list[SitemapEntry]:
    kept: list[SitemapEntry] = []
    places: dict[str, int] = {}
    own = urlsplit(place)
    folder = own.path.rpartition("/")[0] + "/"
    for entry in found:
        dated = entry.dated_ms
        if entry.loc in places:
            dropped["repeated"] += 1
            kept[places[entry.loc]] = _agreed(kept[places[entry.loc]], entry)
        elif place and not _is_below(entry.loc, own, folder):
            dropped["elsewhere"] += 1
        elif newer_than_ms is not None and dated is not None and dated < newer_than_ms:
            dropped["older"] += 1
        elif len(kept) >= MAX_ENTRIES:
            dropped["over_limit"] += 1
        else:
            places[entry.loc] = len(kept)
            kept.append(entry)
    return kept


def _agreed(first: SitemapEntry, again: SitemapEntry) -> SitemapEntry:
    """The first of two of one address; of two days it was published on neither is known, as of a feed's items."""
    if first.news is None or again.news is None or first.news.published[:10] == again.news.published[:10]:
        return first
    return replace(first, news=replace(first.news, published=""))


def _is_below(loc: str, own: SplitResult, folder: str) -> bool:
    parts = urlsplit(loc)
    return parts.netloc.lower() == own.netloc.lower() and (parts.path or "/").startswith(folder)
