"""Where a site keeps its sitemaps: what its robots.txt names, and where they usually lie."""

from __future__ import annotations

import re
from urllib.parse import urljoin, urlsplit

__all__ = ["in_robots", "join", "well_known"]

_MAX_LOC = 4096


def in_robots(robots_txt: bytes, url: str) -> list[str]:
    """The sitemaps a robots.txt names, absolute, in order, each once."""
    found = re.findall(rb"^[ \t]*site-?map[ \t]*:[ \t]*(\S+)", robots_txt[:512_000], re.IGNORECASE | re.MULTILINE)
    joined = (join(url, loc.decode("utf-8", "replace")) for loc in found)
    return list(dict.fromkeys(link for link in joined if link))


def well_known(url: str) -> list[str]:
    """Addresses where sites keep sitemaps that their robots.txt does not name, the likeliest first."""
    names = "sitemap.xml sitemap_index.xml wp-sitemap.xml sitemap-index.xml news-sitemap.xml sitemap.xml.gz sitemap.txt"
    return [link for name in names.split() if (link := join(url, f"/{name}"))]


def join(base: str, loc: str) -> str:
    """Absolute and without fragment, "" for what is no http(s) address; joined only when it has to be."""
    loc = loc.strip()
    if not loc or len(loc) > _MAX_LOC:
        return ""
    try:
        if not loc.lower().startswith(("http://", "https://")):
            loc = urljoin(base, loc)
        parts = urlsplit(loc)
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https") or not parts.netloc:
        return ""
    return parts.scheme + loc.split("#", 1)[0][len(parts.scheme) :]
