"""Sitemaps of every format: read (`parse`) and found (`in_robots`, `well_known`); nothing here fetches."""

from seeds.sitemaps.addresses import in_robots, well_known
from seeds.sitemaps.parsing import parse, unpack
from seeds.sitemaps.types import News, Sitemap, SitemapEntry, SitemapError

__all__ = ["News", "Sitemap", "SitemapEntry", "SitemapError", "in_robots", "parse", "unpack", "well_known"]
