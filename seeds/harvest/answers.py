"""What came back from a poll, and the reading of it: feeds, index pages and sitemaps become one kind of document."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from itertools import islice

from seeds import feeds, sitemaps
from seeds.feeds.dates import without_doubted
from seeds.feeds.types import Feed, FeedEntry
from seeds.harvest.history import FeedHistory
from seeds.harvest.index_page import read_index
from seeds.sitemaps.parsing import MAX_ENTRIES
from seeds.sitemaps.types import News, SitemapEntry

__all__ = ["Answer", "Document", "cache_lifetime_s", "read"]

_REFUSED = ("robots_denied", "refused_address", "bad_url", "opted_out")
_PRIMARY = re.compile("[-_]")
_MAX_AGE = re.compile(r"(?:^|[\s,])max-age\s*=\s*\"?(\d{1,9})", re.IGNORECASE)
_NOT_CACHED = re.compile(r"\bno-(?:cache|store)\b", re.IGNORECASE)
_SITEMAP_ROOT = re.compile(rb"<(?:[\w.-]+:)?(?:urlset|sitemapindex)[\s>]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one request.

    `asked` is the address requested, `kind` what is to be read: feed, index or sitemap. `problem` is why no
    answer was taken (timeout, too_large, robots_denied, …), "" otherwise; `location` the absolute target of a redirect.
    `headers` have lower-case names. `sitemaps` are those the host's robots.txt names, if known. `fetched_us`: when it
    was asked for, as the archive has it (epoch microseconds), 0 = not known. `languages`: primary tags and names (in
    small letters) of those in which the pages are wanted that a sitemap names as other versions of its own, too.
    `wants_sitemap` says which of the sitemaps that an index names are to be taken up, `most_sitemaps` how many; None:
    all.
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
    languages: frozenset[str] = frozenset()
    wants_sitemap: Callable[[str], bool] | None = None
    most_sitemaps: int | None = None

    def header(self, name: str) -> str:
        """A header's value, "" without."""
        return self.headers.get(name, "")

    @property
    def may_pass(self) -> bool:
        """Whether it is a failure of the moment, as of a busy host or of the network."""
        return self.status == 429 or self.status >= 500 or (not self.status and self.problem not in _REFUSED)

    @property
    def is_page(self) -> bool:
        """Whether it is an index page, which may ask robots not to follow its links; what one says that is missing or
        gone does not hide that it is."""
        return self.kind == "index" and 200 <= self.status < 300 and not self.is_sitemap

    @property
    def is_sitemap(self) -> bool:
        """Whether it is read as one, be it asked for as such or not."""
        return self.kind == "sitemap" or _SITEMAP_ROOT.search(self.body[:4096]) is not None


@dataclass(frozen=True, slots=True)
class Document:
    """A document read: `feed` holds its entries, `sitemaps` what an index leads to, the newest first, `places` the
    template place of an index page's links. `ordered`: it shows the newest of something, so a gap can be told.
    `left_out`: how many of its entries are beyond the limit."""

    feed: Feed
    sitemaps: tuple[str, ...] = ()
    places: Mapping[str, int] = field(default_factory=dict)
    ordered: bool = True
    left_out: int = 0


def read(answer: Answer, url: str, history: FeedHistory, since_s: int = 0) -> Document:
    """Read an answer's body by its kind; raises FeedError or SitemapError.

    With `since_s` the body is a sitemap asked for while catching up: only what is dated at or after it counts.
    """
    kind = answer.header("content-type") or None
    if since_s:
        return _sitemap(answer, url, since_s)
    if answer.is_sitemap:
        return _sitemap(answer, url, 0)
    if answer.kind == "index":
        page, places = read_index(answer.body, url, history.places, kind)
        if not page.entries:
            raise feeds.FeedError("html", "no list of articles found in the page")
        return Document(page, places=places)
    feed = feeds.parse(answer.body, url, kind)
    if not feed.format and not feed.entries:
        raise feeds.FeedError("not_a_feed", f"{len(answer.body)} bytes of something else")
    return Document(feed)


def cache_lifetime_s(answer: Answer) -> int:
    """How long the answer says it stays fresh (RFC 9111 4.2: max-age, else Expires less Date; less Age); 0 without."""
    control = answer.header("cache-control")
    if _NOT_CACHED.search(control):
        return 0
    found = _MAX_AGE.search(control)
    try:
        age_s = max(0, int(answer.header("age") or 0))
        if found:
            return max(0, int(found[1]) - age_s)
        expires, date = answer.header("expires"), answer.header("date")
        if not (expires and date):
            return 0
        fresh = parsedate_to_datetime(expires) - parsedate_to_datetime(date)
        return max(0, int(fresh.total_seconds()) - age_s)
    except (ValueError, TypeError, IndexError, OverflowError):
        return 0


def _sitemap(answer: Answer, url: str, since_s: int) -> Document:
    kind, since_ms = answer.header("content-type") or None, since_s * 1000 if since_s else None
    sitemap = sitemaps.parse(answer.body, url, content_type=kind, newer_than_ms=since_ms)
    left_out = sitemap.dropped.get("over_limit", 0)
    if sitemap.kind == "index":
        return Document(Feed("sitemap"), tuple(sitemap.newest_first), ordered=False, left_out=left_out)
    named = [entry for entry in sitemap.entries if not since_s or entry.dated_ms is not None]
    entries = [_entry(entry) for entry in named]
    known = {entry.loc for entry in sitemap.entries}
    versions = _versions(named, known, answer.languages)
    entries += islice(versions, MAX_ENTRIES)
    left_out += sum(1 for _ in versions)
    return Document(Feed("sitemap", without_doubted(tuple(entries))), ordered=False, left_out=left_out)


def _versions(named: Iterable[SitemapEntry], known: set[str], languages: Set[str]) -> Iterator[FeedEntry]:
    """The versions in these languages of what is named that are no `known` entries; as new as that is."""
    for entry in named:
        for language, url in entry.alternates:
            if url not in known and _PRIMARY.split(language, 1)[0] in languages:
                known.add(url)
                yield FeedEntry(link=url, id=url, url=url, published_ms=entry.dated_ms, language=language)


def _entry(entry: SitemapEntry) -> FeedEntry:
    """A page of a sitemap as an item of a feed. Of its versions by language (hreflang) it is one itself."""
    own = (language for language, url in entry.alternates if url == entry.loc and language != "x-default")
    news = entry.news or News()
    return FeedEntry(
        link=entry.loc,
        id=entry.loc,
        title=news.title,
        url=entry.loc,
        published_ms=entry.dated_ms,
        published=news.published,
        language=news.language or next(own, ""),
    )
