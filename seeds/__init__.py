"""Where a crawl starts: seed files, feeds, sitemaps, and the schedule by which they are polled.

A crawl is one TOML file of this folder (docs/seeds.md); `seeds.crawl` reads it. The files of other crawls need not lie
here.
"""

from seeds.crawl import Crawl, FeedSource, IndexSource, Seed, Site, SitemapSource, crawls, load_crawl
from seeds.errors import Problem, SeedError, SeedsError

__all__ = [
    "Crawl",
    "FeedSource",
    "IndexSource",
    "Problem",
    "Seed",
    "SeedError",
    "SeedsError",
    "Site",
    "SitemapSource",
    "crawls",
    "load_crawl",
]
