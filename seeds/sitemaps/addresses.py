"""Where a site keeps its sitemaps: what its robots.txt names, and where they usually lie."""

from __future__ import annotations

import codecs
import re
from urllib.parse import urljoin, urlsplit

from seeds.markup.encodings import narrowed

__all__ = ["NO_DAY", "in_robots", "join", "named_day", "well_known"]

_MAX_LOC = 4096
_MOST_READ = 500 * 1024
"""Of a robots.txt, as of its rules (RFC 9309 2.5)."""
_LINE_END = re.compile(rb"[\r\n]+")
_SITEMAP = re.compile(rb"[ \t]*site-?maps?(?:[ \t]*:|[ \t])[ \t]*([^\s#]+)", re.IGNORECASE)

# A year, with its month and day where they follow: 2016-06-20, 20160620, yyyy=2016&mm=06&dd=20.
_DAY = re.compile(
    r"(?<!\d)((?:19|20)\d\d)(?:\D{0,7}(1[0-2]|0?[1-9])(?:\D{0,5}(3[01]|[12]\d|0?[1-9]))?)?(?!\d)", re.ASCII
)
NO_DAY = (9999,)
"""Of what is not of a day of its own, as the news are, and sections."""


def in_robots(robots_txt: bytes, url: str) -> list[str]:
    """The sitemaps a robots.txt names, absolute, each once, in order, but those of days (:func:`named_day`) behind all
    others, the newest first; in whatever encoding and with whatever ends of
    lines its rules are read, too (:mod:`frontier.robots`)."""
    lines = _LINE_END.split(narrowed(robots_txt[:_MOST_READ]).removeprefix(codecs.BOM_UTF8))
    if len(robots_txt) > _MOST_READ:
        lines.pop()  # it may be cut
    joined = (join(url, found[1].decode("utf-8", "replace")) for line in lines if (found := _SITEMAP.match(line)))
    return sorted(dict.fromkeys(link for link in joined if link), key=named_day, reverse=True)


def named_day(url: str) -> tuple[int, ...]:
    """Year, month and day that the address of a sitemap names, 0 for what it leaves open; the latest of several, and
    later than all of them where there is none."""
    path = url.partition("//")[2].partition("/")[2]
    return max((tuple(int(part or 0) for part in day) for day in _DAY.findall(path)), default=NO_DAY)


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
