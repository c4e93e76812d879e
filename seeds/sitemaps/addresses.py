"""Where a site keeps its sitemaps: what its robots.txt names, and where they usually lie."""

from __future__ import annotations

import codecs
import re
from urllib.parse import urljoin, urlsplit

from seeds.markup.encodings import narrowed

__all__ = ["in_robots", "join", "well_known"]

_MAX_LOC = 4096
_MOST_READ = 500 * 1024
"""Of a robots.txt, as of its rules (RFC 9309 2.5)."""
_LINE_END = re.compile(rb"[\r\n]+")
_SITEMAP = re.compile(rb"[ \t]*site-?maps?(?:[ \t]*:|[ \t])[ \t]*([^\s#]+)", re.IGNORECASE)


def in_robots(robots_txt: bytes, url: str) -> list[str]:
    """The sitemaps a robots.txt names, absolute, in order, each once; in whatever encoding and with whatever ends of
    lines its rules are read, too (:mod:`frontier.robots`)."""
    lines = _LINE_END.split(narrowed(robots_txt[:_MOST_READ]).removeprefix(codecs.BOM_UTF8))
    if len(robots_txt) > _MOST_READ:
        lines.pop()  # it may be cut
    joined = (join(url, found[1].decode("utf-8", "replace")) for line in lines if (found := _SITEMAP.match(line)))
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
