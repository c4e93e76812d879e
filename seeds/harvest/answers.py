"""What came back from a poll, and the reading of it: feeds, index pages and sitemaps become one kind of document."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime

from seeds import feeds, sitemaps
from seeds.feeds.dates import without_doubted
from seeds.feeds.types import Feed, FeedEntry
from seeds.harvest.history import FeedHistory
from seeds.harvest.index_page import read_index

__all__ = ["Answer", "Document", "cache_lifetime_s", "read"]

_MAX_AGE = re.compile(r"(?:^|[\s,])max-age\s*=\s*\"?(\d{1,9})", re.IGNORECASE)
_NOT_CACHED = re.compile(r"\bno-(?:cache|store)\b|must-revalidate", re.IGNORECASE)
_SITEMAP_ROOT = re.compile(rb"<(?:[\w.-]+:)?(?:urlset|sitemapindex)[\s>]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one request.

    `asked` is the address requested, `kind` what the entry is polled as: feed, index or sitemap. `problem` is why no
    answer was taken (timeout, too_large, robots_denied, …), "" otherwise; `location` the absolute target of a redirect.
    `headers` have lower-case names. `sitemaps` are those the host's robots.txt names, if known. `fetched_us`: when it
    was asked for, as the archive has it (epoch microseconds), 0 = not known.
    """

    asked: str
    status: int
    now_ms: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    kind: str = "feed"
    problem: str = ""
    location: str = ""
    retry_after_ms: int | None = None
    sitemaps: Sequence[str] = ()
    fetched_us: int = 0

    def header(self, name: str) -> str:
        """A header's value, "" without."""
        return self.headers.get(name, "")


@dataclass(frozen=True, slots=True)
class Document:
    """A document read: `feed` holds its entries, `sitemaps` what an index leads to, `places` the template place of an
    index page's links. `ordered`: it shows the newest of something, so a gap can be told."""

    feed: Feed
    sitemaps: tuple[str, ...] = ()
    places: Mapping[str, int] = field(default_factory=dict)
    ordered: bool = True


def read(answer: Answer, url: str, history: FeedHistory, since_s: int = 0) -> Document:
    """Read an answer's body by its kind; raises FeedError or SitemapError.

    With `since_s` the body is a sitemap asked for while catching up: only what is dated at or after it counts.
    """
    kind = answer.header("content-type") or None
    if since_s:
        return _sitemap(answer.body, url, kind, since_s)
    if answer.kind == "sitemap" or _SITEMAP_ROOT.search(answer.body[:4096]):
        return _sitemap(answer.body, url, kind, 0)
    if answer.kind == "index":
        page, places = read_index(answer.body, url, history.places)
        if not page.entries:
            raise feeds.FeedError("html", "no list of articles found in the page")
        return Document(page, places=places)
    feed = feeds.parse(answer.body, url, kind)
    if not feed.format and not feed.entries:
        raise feeds.FeedError("not_a_feed", f"{len(answer.body)} bytes of something else")
    return Document(feed)


def cache_lifetime_s(answer: Answer) -> int:
    """How long the answer says it stays fresh (RFC 9111: max-age less Age, else Expires less Date); 0 without."""
    control = answer.header("cache-control")
    if _NOT_CACHED.search(control):
        return 0
    found = _MAX_AGE.search(control)
    try:
        if found:
            return max(0, int(found[1]) - max(0, int(answer.header("age") or 0)))
        expires, date = answer.header("expires"), answer.header("date")
        if not (expires and date):
            return 0
        return max(0, int((parsedate_to_datetime(expires) - parsedate_to_datetime(date)).total_seconds()))
    except (ValueError, TypeError, IndexError, OverflowError):
        return 0


def _sitemap(body: bytes, url: str, content_type: str | None, since_s: int) -> Document:
    sitemap = sitemaps.parse(body, url, content_type=content_type, newer_than_ms=since_s * 1000 if since_s else None)
    if sitemap.kind == "index":
        named = sorted(sitemap.entries, key=lambda entry: -(entry.lastmod_ms or 0))
        return Document(Feed("sitemap"), tuple(entry.loc for entry in named), ordered=False)
    entries = tuple(
        FeedEntry(
            link=entry.loc,
            id=entry.loc,
            title=entry.news.title if entry.news else "",
            url=entry.loc,
            published_ms=entry.dated_ms,
            published=entry.news.published if entry.news else "",
            language=entry.news.language if entry.news else "",
        )
        for entry in sitemap.entries
        if not since_s or entry.dated_ms is not None
    )
    return Document(Feed("sitemap", without_doubted(entries)), ordered=False)
