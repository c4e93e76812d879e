"""Sitemaps of every format: read (`parse`) and found (`in_robots`, `well_known`); nothing here fetches."""

from seeds.sitemaps.parsing import News, Sitemap, SitemapEntry, SitemapError, in_robots, parse, unpack, well_known

__all__ = ["News", "Sitemap", "SitemapEntry", "SitemapError", "in_robots", "parse", "unpack", "well_known"]
