"""Feeds that publish and expire on the web's clock, and sitemaps.

What a feed shows depends on the seed, the feed and the time since the server began; item `k` of feed `f` appears at
`Feeds.instant_s(f, k)`, so every item is known in advance. The first `window` items are older than the server.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import formatdate

from tests.web.answer import HTML, Answer, Asked, error
from tests.web.hashing import draw, draws, share
from tests.web.paths import SITEMAPS, Paths, Resource
from tests.web.sites import Site, short_code
from tests.web.spec import FeedSpec, WebSpec
from tests.web.text import POOL_PARAGRAPHS, pool

MEDIA = {
    "rss": "application/rss+xml",
    "atom": "application/atom+xml",
    "json": "application/feed+json",
    "index": "text/html",
}
_SITEMAP_URLS = 500


@dataclass(frozen=True, slots=True)
class Feed:
    """One feed of one host. Items are published in groups of `spec.burst`."""

    number: int
    site: Site
    spec: FeedSpec
    phase_s: float

    @property
    def path(self) -> str:
        """Path on its host."""
        return f"/feed/{self.number}"

    @property
    def language(self) -> str:
        """Of its items."""
        return self.spec.language or self.site.language


class Feeds:
    """All feeds of a web."""

    def __init__(self, spec: WebSpec, paths: Paths) -> None:
        self.spec = spec
        self.paths = paths
        opened = [site for site in paths.sites if site.opens] or list(paths.sites)
        wanted = [feed for feed in spec.feeds for _ in range(feed.count)]
        self.all = tuple(
            Feed(f, opened[f % len(opened)], feed, share(draw(spec.seed, "phase", f)) * feed.interval_s)
            for f, feed in enumerate(wanted)
        )

    def named(self) -> dict[int, tuple[tuple[str, str], ...]]:
        """host -> (media type, path) of its feeds, as the pages' head names them (index pages are not named)."""
        table: dict[int, tuple[tuple[str, str], ...]] = {}
        for feed in self.all:
            if feed.spec.kind != "index":
                table[feed.site.index] = (*table.get(feed.site.index, ()), (MEDIA[feed.spec.kind], feed.path))
        return table

    def instant_s(self, feed: Feed, k: int) -> float:
        """When item `k` appears, in seconds of the web's clock (below 0: before the server began). Grows with `k`."""
        step, group = feed.spec.interval_s * feed.spec.burst, k // feed.spec.burst
        before = -(-feed.spec.window // feed.spec.burst)
        jitter = share(draw(self.spec.seed, "item", feed.number, group)) * 0.8
        return (group - before + jitter) * step + feed.phase_s * feed.spec.burst - 0.9 * step

    def newest(self, feed: Feed, now_s: float) -> int:
        """Number of the newest item that is out."""
        step = feed.spec.interval_s * feed.spec.burst
        group = int((now_s - self.instant_s(feed, 0)) // step) + 2
        k = max(0, group + 1) * feed.spec.burst - 1
        while k > 0 and self.instant_s(feed, k) > now_s:
            k -= feed.spec.burst
        return k

    def window(self, feed: Feed, now_s: float, page: int = 1) -> list[int]:
        """Items shown, newest first; `page` 2 and on: the archive."""
        newest = self.newest(feed, now_s) - (page - 1) * feed.spec.window
        items = [k for k in range(newest, newest - feed.spec.window, -1) if k >= 0]
        if page == 1 and feed.spec.keep_s:
            return [k for k in items if now_s - self.instant_s(feed, k) <= feed.spec.keep_s]
        return items

    def published(self, feed: Feed, until_s: float) -> Iterator[tuple[int, float]]:
        """(item, instant) of all items out between the server's start and `until_s`."""
        for k in range(self.newest(feed, until_s) + 1):
            if (instant := self.instant_s(feed, k)) >= 0:
                yield k, instant

    def item_url(self, feed: Feed, k: int) -> str:
        """URL of an item's page."""
        return self.paths.url(Resource(feed.site.index, "item", k, str(feed.number)))

    def answer(self, site: Site, resource: Resource, asked: Asked) -> Answer:
        """A feed (or a page of its archive)."""
        if resource.n >= len(self.all) or self.all[resource.n].site.index != site.index:
            return error(404)
        feed = self.all[resource.n]
        page = int(resource.how or 1)
        if page < 1 or (page > 1 and not feed.spec.archive):
            return error(404)
        items = self.window(feed, asked.now_s, page)
        if page > 1 and not items:
            return error(404)
        newest = self.instant_s(feed, items[0]) if items else 0.0
        etag = f'"{feed.number}-{items[0] if items else 0}-{len(items)}"'
        modified = formatdate(asked.epoch_s + newest / self.spec.time_scale, usegmt=True)
        stamps = (("ETag", etag), ("Last-Modified", modified))
        # By the date alone two items within a second would be missed, so the date counts only as a whole second ago.
        if asked.etag == etag or (not asked.etag and asked.since == modified and asked.now_s - newest > 1):
            return Answer(304, headers=stamps)
        media = MEDIA[feed.spec.kind] + "; charset=utf-8"
        body = self._draw(feed, items, page, asked).encode()
        return Answer(200, body, (("Content-Type", media), *stamps))

    def item(self, site: Site, resource: Resource, asked: Asked) -> Answer:
        """An item's page: 404 before it is out."""
        f = int(resource.how)
        if f >= len(self.all) or self.all[f].site.index != site.index:
            return error(404)
        feed = self.all[f]
        if self.instant_s(feed, resource.n) > asked.now_s:
            return error(404)
        corrected = 0 < feed.spec.correct_s <= asked.now_s - self.instant_s(feed, resource.n)
        headers = [("Content-Type", HTML)]
        if feed.spec.validators:
            headers.append(("ETag", f'"{resource.n}-{int(corrected)}"'))
            if asked.etag == headers[-1][1]:
                return Answer(304, headers=tuple(headers[1:]))
        stock = pool(feed.language, self.spec.seed)
        d = draws(24, self.spec.seed, "item text", f, resource.n)
        text = b"".join(stock.paragraphs[n % POOL_PARAGRAPHS] for n in d[: 8 + d[0] % 16 - corrected])
        title = self._title(feed, resource.n)
        head = (
            f'<!DOCTYPE html>\n<html lang="{short_code(feed.language)}"><head>'
            f'<meta charset="utf-8">'
            f"<title>{title}</title></head>\n"
            f'<body><nav><a href="/">{site.name}</a></nav><main><h1>{title}</h1>\n'
        )
        return Answer(200, head.encode() + text + b"</main></body></html>\n", tuple(headers))

    def _title(self, feed: Feed, k: int) -> str:
        anchors = pool(feed.language, self.spec.seed).anchors
        return f"{anchors[draw(self.spec.seed, 'item title', feed.number, k) % len(anchors)]} {k}"

    def _draw(self, feed: Feed, items: list[int], page: int, asked: Asked) -> str:
        rows = [
            (
                self.item_url(feed, k),
                self._title(feed, k),
                asked.epoch_s + self.instant_s(feed, k) / self.spec.time_scale,
            )
            for k in items
        ]
        older = ""
        if feed.spec.archive and items and items[-1] > 0:
            older = f"{feed.site.authority}{feed.path}?paged={page + 1}"
        language = short_code(feed.language)
        here = feed.site.authority + feed.path
        match feed.spec.kind:
            case "rss":
                return _rss(feed.site.name, here, language, older, rows)
            case "atom":
                return _atom(feed.site.name, here, language, older, rows)
            case "json":
                return _json(feed.site.name, here, language, older, rows)
            case _:
                return _index(feed.site.name, language, rows)


Rows = list[tuple[str, str, float]]


def _rss(name: str, here: str, language: str, older: str, rows: Rows) -> str:
    link = f'<atom:link rel="prev-archive" href="{older}"/>\n' if older else ""
    items = "".join(
        f"<item><title>{title}</title><link>{url}</link><guid isPermaLink=\"true\">{url}</guid>"
        f"<pubDate>{formatdate(epoch_s, usegmt=True)}</pubDate><description>{title}.</description></item>\n"
        for url, title, epoch_s in rows
    )  # fmt: skip
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom">\n<channel>'
        f"<title>{name}</title><link>{here}</link><description>{name}</description><language>{language}</language>\n"
        f'<atom:link rel="self" href="{here}" type="application/rss+xml"/>\n{link}{items}</channel>\n</rss>\n'
    )


def _stamp(epoch_s: float) -> str:
    return datetime.fromtimestamp(epoch_s, UTC).isoformat(timespec="milliseconds")


def _atom(name: str, here: str, language: str, older: str, rows: Rows) -> str:
    link = f'<link rel="prev-archive" href="{older}"/>\n' if older else ""
    entries = "".join(
        f'<entry><id>{url}</id><title>{title}</title><link href="{url}"/><published>{_stamp(epoch_s)}</published>'
        f"<updated>{_stamp(epoch_s)}</updated><summary>{title}.</summary></entry>\n"
        for url, title, epoch_s in rows
    )
    updated = _stamp(rows[0][2] if rows else 0)
    return (
        f'<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="{language}">\n'
        f'<id>{here}</id><title>{name}</title><updated>{updated}</updated><author><name>{name}</name></author>\n'
        f'<link rel="self" href="{here}"/>\n{link}{entries}</feed>\n'
    )  # fmt: skip


def _json(name: str, here: str, language: str, older: str, rows: Rows) -> str:
    feed: dict[str, object] = {
        "version": "https://jsonfeed.org/version/1.1", "title": name, "feed_url": here, "language": language,
        "items": [
            {"id": url, "url": url, "title": title, "date_published": _stamp(epoch_s), "content_text": title + "."}
            for url, title, epoch_s in rows
        ],
    }  # fmt: skip
    return json.dumps(feed | ({"next_url": older} if older else {}))


def _index(name: str, language: str, rows: Rows) -> str:
    links = "".join(f'<li class="news"><a href="{url}">{title}</a></li>\n' for url, title, _ in rows)
    return (
        f'<!DOCTYPE html>\n<html lang="{language}"><head><meta charset="utf-8"><title>{name}</title></head>\n'
        f'<body><nav><a href="/">{name}</a></nav>\n<ul id="latest">{links}</ul></body></html>\n'
    )


def sitemap(feeds: Feeds, site: Site, path: str, asked: Asked) -> Answer:
    """/sitemap.xml (an index) and what it names: pages, older pages (gzip), plain text, news."""
    urls = [feeds.paths.url(Resource(site.index, "page", i)).replace("&", "&amp;") for i in _slice(site, path)]
    kind, start = "application/xml", '<?xml version="1.0" encoding="UTF-8"?>\n'
    space = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
    if path == SITEMAPS[0]:
        parts = "".join(f"<sitemap><loc>{site.authority}{name}</loc></sitemap>\n" for name in SITEMAPS[1:])
        text = f"{start}<sitemapindex {space}>\n{parts}</sitemapindex>\n"
    elif path.endswith(".txt"):
        kind, text = "text/plain", "".join(f"{url.replace('&amp;', '&')}\n" for url in urls)
    elif path.endswith("news.xml"):
        text = f"{start}<urlset {space} {_NEWS_SPACE}>\n{_news(feeds, site, asked)}</urlset>\n"
    else:
        rows = "".join(
            f"<url><loc>{url}</loc><lastmod>2026-0{1 + n % 9}-11</lastmod></url>\n" for n, url in enumerate(urls)
        )
        text = f"{start}<urlset {space}>\n{rows}</urlset>\n"
    body = text.encode()
    if path.endswith(".gz"):
        kind, body = "application/gzip", gzip.compress(body, 6, mtime=0)
    return Answer(200, body, (("Content-Type", kind),))


_NEWS_SPACE = 'xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"'


def _slice(site: Site, path: str) -> range:
    half = min(site.pages // 2, _SITEMAP_URLS)
    return range(half, min(site.pages, half + _SITEMAP_URLS)) if path.endswith(".gz") else range(half)


def _news(feeds: Feeds, site: Site, asked: Asked) -> str:
    rows = []
    for feed in feeds.all:
        if feed.site.index == site.index:
            language = short_code(feed.language)
            for k in feeds.window(feed, asked.now_s):
                out = _stamp(asked.epoch_s + feeds.instant_s(feed, k) / feeds.spec.time_scale)
                rows.append(
                    f"<url><loc>{feeds.item_url(feed, k)}</loc><news:news><news:publication><news:name>{site.name}"
                    f"</news:name><news:language>{language}</news:language></news:publication>"
                    f"<news:publication_date>{out}</news:publication_date><news:title>{k}</news:title></news:news></url>\n"
                )
    return "".join(rows)
