"""A crawl as data: its seed file read, checked with every fault at its line, and which URLs are in its scope."""

from seeds.crawl.loading import (
    Crawl,
    FeedSource,
    IndexSource,
    Seed,
    Site,
    SitemapSource,
    crawls,
    load_crawl,
    parse_crawl,
)

__all__ = ["Crawl", "FeedSource", "IndexSource", "Seed", "Site", "SitemapSource", "crawls", "load_crawl", "parse_crawl"]
