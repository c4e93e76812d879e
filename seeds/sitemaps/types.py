"""What a sitemap is read into, whatever its format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from seeds.errors import SeedsError
from seeds.sitemaps.addresses import NO_DAY, named_day

__all__ = ["News", "Sitemap", "SitemapEntry", "SitemapError"]

_DAY_MS = 86_400_000


class SitemapError(SeedsError):
    """A document that is no sitemap; `reason` is too_large, gzip, html, feed or not_a_sitemap."""

    def __init__(self, reason: str, detail: str = "") -> None:
        self.reason = reason
        super().__init__(f"{reason}: {detail}" if detail else reason)


@dataclass(frozen=True, slots=True)
class News:
    """Google's news extension of one entry. `published`: as of :class:`seeds.feeds.types.FeedEntry`."""

    publication: str = ""
    language: str = ""
    title: str = ""
    published_ms: int | None = None
    published: str = ""


@dataclass(frozen=True, slots=True)
class SitemapEntry:
    """One address. `alternates` maps hreflang to the same page in other languages; `lastmod_ms` None when unknown."""

    loc: str
    lastmod_ms: int | None = None
    changefreq: str = ""
    priority: float | None = None
    alternates: tuple[tuple[str, str], ...] = ()
    news: News | None = None

    @property
    def dated_ms(self) -> int | None:
        """When the page is from: its publication in a news sitemap, else its lastmod."""
        return self.news.published_ms if self.news and self.news.published_ms is not None else self.lastmod_ms


@dataclass(frozen=True, slots=True)
class Sitemap:
    """A sitemap of pages (kind "urlset") or of sitemaps ("index"); `format` is XML, INDEX, TEXT, RSS or ATOM."""

    kind: str
    format: str
    entries: tuple[SitemapEntry, ...] = ()
    rescued: bool = False
    dropped: Mapping[str, int] = field(default_factory=dict)

    @property
    def locs(self) -> list[str]:
        """The addresses alone."""
        return [entry.loc for entry in self.entries]

    @property
    def newest_first(self) -> list[str]:
        """The addresses by the day of their lastmod, and where that is the same, or none is said, by the one that they
        name themselves (:func:`seeds.sitemaps.addresses.named_day`): papers have a sitemap for each day, and often say
        no lastmod, or the present day, of all. What says neither, as the news may, can have changed with the latest."""
        latest_ms = max((entry.lastmod_ms or 0 for entry in self.entries), default=0)

        def age(entry: SitemapEntry) -> tuple[int, tuple[int, ...], int]:
            lastmod_ms, day = entry.lastmod_ms or 0, named_day(entry.loc)
            may_be_latest = not lastmod_ms and day == NO_DAY
            return (latest_ms if may_be_latest else lastmod_ms) // _DAY_MS, day, lastmod_ms

        return [entry.loc for entry in sorted(self.entries, key=age, reverse=True)]
