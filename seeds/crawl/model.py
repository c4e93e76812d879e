"""The values a seed file becomes: a crawl, its sites, feeds, index pages and sitemaps; what each key means is in
docs/seeds.md. All are frozen; a limit of 0, None or "" leaves the matter to the crawl's settings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from seeds.crawl.scope import SiteIndex, host_of, place_of, seed_key

__all__ = ["MOST_STEPS", "Crawl", "FeedSource", "IndexSource", "Seed", "Site", "SitemapSource"]

MOST_STEPS = 254
"""From a seed: the frontier counts them as far as the next number."""


@dataclass(frozen=True, slots=True)
class Seed:
    """One URL a crawl starts from; `kind` is page, feed, sitemap or index."""

    url: str
    kind: str


@dataclass(frozen=True, slots=True)
class Site:
    """A place to crawl. None or 0 leaves a limit to the crawl's settings. `sitemaps`: what its sitemaps name, too."""

    url: str
    scope: str = "host"
    delay_s: float | None = None
    ip_delay_s: float | None = None
    max_pages: int = 0
    max_bytes: int = 0
    max_depth: int = 0
    sitemaps: bool = False
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FeedSource:
    """A feed to poll. `min_poll_s` and `max_poll_s` bound what the schedule learns; None: the settings do."""

    url: str
    min_poll_s: float | None = None
    max_poll_s: float | None = None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IndexSource:
    """A page of links read as a feed, for sites without one."""

    url: str
    min_poll_s: float | None = None
    max_poll_s: float | None = None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SitemapSource:
    """A sitemap or sitemap index. `newer_than_days` > 0 takes only entries whose lastmod is that recent."""

    url: str
    newer_than_days: int = 0
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Crawl:
    """One crawl; limits of 0 mean none. `policy` "" leaves the choice to the settings.

    `model`: the file of a language model, from the seed file's folder; "": the shipped one.
    """

    name: str
    language: str
    path: str = ""
    siblings: tuple[str, ...] = ()
    contact: str = ""
    max_pages: int = 0
    max_bytes: int = 0
    max_seconds: int = 0
    whitelist_only: bool = False
    page_requisites: bool = False
    tags: tuple[str, ...] = ()
    policy: str = ""
    model: str = ""
    policy_options: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    sites: tuple[Site, ...] = ()
    feeds: tuple[FeedSource, ...] = ()
    indexes: tuple[IndexSource, ...] = ()
    sitemaps: tuple[SitemapSource, ...] = ()
    _index: SiteIndex[Site] = field(init=False, repr=False, compare=False)
    _bounded: bool = field(init=False, repr=False, compare=False)
    _mapped: frozenset[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_index", SiteIndex(self.sites))
        object.__setattr__(self, "_bounded", any(site.max_depth for site in self.sites))
        object.__setattr__(self, "_mapped", frozenset(place_of(site.url) for site in self.sites if site.sitemaps))

    def in_scope(self, url: str) -> bool:
        """Whether a link to this absolute URL may be followed; about a microsecond a call, three where prefixes are."""
        return self._index.covers(url)

    def may_follow(self, url: str, depth: int) -> bool:
        """Whether a link `depth` steps from a seed may be followed: it is in scope, and not too far for its site."""
        if not self.in_scope(url):
            return False
        site = self.site_of(url) if self._bounded else None
        return site is None or not site.max_depth or depth <= site.max_depth

    def site_of(self, url: str) -> Site | None:
        """The most specific site whose own scope covers `url`: the one whose delays and limits hold for it."""
        return self._index.site_of(url)

    def wants_sitemaps(self, url: str) -> bool:
        """Whether the sitemaps of a URL's host are to be read: that of a site with ``sitemaps``, or in its scope."""
        site = self.site_of(url)
        return (site is not None and site.sitemaps) or place_of(url) in self._mapped

    def wants_item(self, url: str) -> bool:
        """Whether an item of one of the crawl's feeds may be fetched: anywhere, unless the crawl is whitelist only."""
        return self.in_scope(url) if self.whitelist_only else host_of(url) != ""

    def wants_requisite(self, url: str) -> bool:
        """Whether what a page embeds may be fetched for it: where items of feeds may, if the crawl wants any."""
        return self.page_requisites and self.wants_item(url)

    def seeds(self) -> Iterator[Seed]:
        """Every URL the crawl starts from: sites, then feeds, index pages and sitemaps, in order of the file.

        A site's URL that is an index page too comes as that only: a URL is admitted once.
        """
        polled = {seed_key(index.url) for index in self.indexes}
        yield from (Seed(site.url, "page") for site in self.sites if seed_key(site.url) not in polled)
        yield from (Seed(feed.url, "feed") for feed in self.feeds)
        yield from (Seed(index.url, "index") for index in self.indexes)
        yield from (Seed(sitemap.url, "sitemap") for sitemap in self.sitemaps)
