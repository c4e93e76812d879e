"""A crawl as data: its seed file read, checked with every fault at its line, and which URLs are in its scope."""

from seeds.crawl.loading import crawls, load_crawl, parse_crawl
from seeds.crawl.model import Crawl, FeedSource, IndexSource, Seed, Site, SitemapSource

__all__ = ["Crawl", "FeedSource", "IndexSource", "Seed", "Site", "SitemapSource", "crawls", "load_crawl", "parse_crawl"]
