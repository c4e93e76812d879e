"""Which URL means what: the one place that writes and reads the paths of the synthetic web.

`Paths.url` writes a resource's URL in its plain form, `Paths.spelled` in an odd spelling of the same, and `Paths.read`
turns whatever a client asked for back into the resource, so that the verifier knows repeats without the
crawler's own idea of a canonical URL.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import unquote

from tests.web.sites import BRANCHING, Site
from tests.web.spec import BAD_KINDS, TRAP_KINDS, WebSpec
from tests.web.text import pool


class Resource(NamedTuple):
    """One thing that a host serves. `kind`: page, go, dead, bad, trap, feed, item, sitemap, robots, unknown."""

    site: int
    kind: str
    n: int = 0
    how: str = ""


REDIRECTS = ("301", "302", "303", "307", "308", "meta", "relative", "chain3", "far")
#: Redirects that no crawler may or need follow: private addresses, other schemes, loops, too many hops.
DEAD_REDIRECTS = ("loop", "self", "chain30", "lan", "metadata", "file", "nowhere")
DEAD = ("404", "410", "403", "401", "500", "503", "429", "451")
_TAIL = re.compile(r"(\d{1,9})(?:\.html|\.aspx|/print|/)?(?:\?view=raw)?$")
_SPECIAL = re.compile(r"/(go|dead|bad)/([a-z0-9]+)/(\d{1,9})$")
_TRAP = re.compile(rf"/({'|'.join(TRAP_KINDS)})(?:/.*|\?.*)?$")
_FEED = re.compile(r"/(?:feed|atom|archive)/(\d{1,6})(?:\.(?:xml|json|html))?(?:\?paged=(\d{1,6}))?$")
_ITEM = re.compile(r"/item/(\d{1,6})/[a-z-]*?(\d{1,12})\.html$")
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_UNRESERVED = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
_DROPPED = ("utm_", "gclid=", "fbclid=", "PHPSESSID=")
SITEMAPS = ("/sitemap.xml", "/sitemap-pages.xml", "/sitemap-old.xml.gz", "/sitemap.txt", "/sitemap-news.xml")
_MIX = 2654435761


class Paths:
    """Paths of all hosts; page paths are computed, only the 13 heads of each host are kept."""

    def __init__(self, spec: WebSpec, sites: tuple[Site, ...]) -> None:
        self.sites = sites
        self._words = [[pool(tongue, spec.seed).words for tongue in site.languages] for site in sites]
        self._salt = [(spec.seed * 7919 + site.index * 104729) & 0xFFFFFFFF for site in sites]
        self._heads: list[dict[str, int]] = [
            {self.page(site, i): i for i in range(min(site.pages, BRANCHING + 1))} for site in sites
        ]

    def page(self, site: Site, i: int) -> str:
        """Path (and query) of plain page `i`."""
        if i == 0:
            return "/"
        s = section_of(i)
        section = site.sections[s]
        mixed = (i * _MIX + self._salt[site.index]) & 0xFFFFFFFF
        words = self._words[site.index][s]
        slug = f"{words[mixed % len(words)]}-{words[(mixed >> 12) % len(words)]}"
        if site.robots == "shapes" and s >= 7:
            return _styled(s, section, slug, i)
        if i <= BRANCHING:
            return f"/{section}/"
        match site.template:
            case "news":
                return f"/{section}/{slug}-{i}.html"
            case "blog":
                return f"/{section}/~{slug[:4].rstrip('-')}/20{10 + mixed % 15}/{1 + mixed % 12:02d}/{slug}-{i}/"
            case "wiki":
                return f"/{section}/wiki/{slug.replace('-', '_')}_{i}"
            case "forum":
                return f"/{section}/ingxoxo.php?f={1 + mixed % 9}&t={i}"
            case _:
                return f"/{section}/{slug}-{i}.aspx"

    def path(self, resource: Resource) -> str:
        """Plain path of any resource but a trap's deeper ones (those are written by the trap itself)."""
        site = self.sites[resource.site]
        match resource.kind:
            case "page":
                return self.page(site, resource.n)
            case "go" | "dead" | "bad":
                return f"/{resource.kind}/{resource.how}/{resource.n}"
            case "trap":
                return _trap_entrance(resource)
            case "feed":
                return f"/feed/{resource.n}" + (f"?paged={resource.how}" if resource.how else "")
            case "item":
                return f"/item/{resource.how}/udaba-{resource.n}.html"
            case "robots":
                return "/robots.txt"
            case _:
                return resource.how

    def url(self, resource: Resource) -> str:
        """Plain absolute URL."""
        return self.sites[resource.site].authority + self.path(resource)

    def read(self, site: Site, target: str) -> Resource:
        """What a request target (path and query, any spelling) means on `site`; kind "unknown" when nothing."""
        return (
            self._read(site, target) or self._read(site, normal(target)) or Resource(site.index, "unknown", 0, target)
        )

    def _read(self, site: Site, target: str) -> Resource | None:
        head = self._heads[site.index].get(target)
        if head is not None:
            return Resource(site.index, "page", head)
        tail = _TAIL.search(target)
        if tail:
            i = int(tail[1])
            if i < site.pages and self.page(site, i) == target:
                return Resource(site.index, "page", i)
            if special := _SPECIAL.match(target):
                return _read_special(site, special)
            if item := _ITEM.match(target):
                return Resource(site.index, "item", int(item[2]), str(int(item[1])))
        if feed := _FEED.match(target):
            return Resource(site.index, "feed", int(feed[1]), feed[2] or "")
        if target == "/robots.txt":
            return Resource(site.index, "robots")
        if target in SITEMAPS:
            return Resource(site.index, "sitemap", 0, target)
        if trap := _TRAP.match(target):
            return Resource(site.index, "trap", 0, f"{trap[1]}:{target}")
        return None

    def spelled(self, resource: Resource, how: str, number: int) -> str:
        """Absolute URL of `resource` in the odd spelling `how` (one of `SPELLINGS`); `number` picks details."""
        site, path = self.sites[resource.site], self.path(resource)
        query = "?" in path
        match how:
            case "case":
                return f"HTTP://{site.host.upper()}{path}"
            case "tilde" | "escape":
                return site.authority + _escaped(path, how)
            case "dots":
                return f"{site.authority}/{('.', 'aa/..', './.')[number % 3]}{path}"
            case "fragment":
                return f"{site.authority}{path}#ingxenye-{number % 7}"
            case "order" if query and "&" in path:
                base, _, parameters = path.partition("?")
                return f"{site.authority}{base}?{'&'.join(reversed(parameters.split('&')))}"
            case "question" if not query:
                return f"{site.authority}{path}?"
            case "session":
                return f"{site.authority}{path}{'&' if query else '?'}PHPSESSID={number * 0x9E3779B1 % (1 << 64):032x}"
            case _:
                return f"{site.authority}{path}{'&' if query else '?'}utm_source=ikhasi&utm_medium=isixhumanisi"


def section_of(i: int) -> int:
    """Section (1 … 12) of page `i`; 0 for the home page."""
    while i > BRANCHING:
        i = (i - 1) // BRANCHING
    return i


def _styled(s: int, section: str, slug: str, i: int) -> str:
    """Paths that the rules of robots kind "shapes" are about, one shape a section."""
    match s:
        case 7:
            return f"/{section}/{slug}-{i}/print"
        case 8:
            return f"/{section}/{slug}-{i}?view=raw"
        case 9:
            return f"/{section}/{'open-' if i % 3 == 0 else ''}{slug}-{i}"
        case _:
            return f"/{section}/{slug}-{i}"


def _trap_entrance(resource: Resource) -> str:
    n = resource.n
    match resource.how:
        case "calendar":
            return f"/calendar/{2000 + n % 30}/{1 + n % 12:02d}"
        case "visit":
            return f"/visit/{n % 20}?v={n * 0x9E3779B1 % (1 << 32):08x}"
        case "deeper":
            return f"/deeper/{'abcdef'[n % 6]}/"
        case "shop":
            return f"/shop?colour={n % 7}&size={n % 5}&sort={n % 3}"
        case _:
            return f"/lost/page-that-never-was-{n}"


def _read_special(site: Site, found: re.Match[str]) -> Resource | None:
    kind, how, n = found[1], found[2], int(found[3])
    if kind == "go":
        known = (
            how in REDIRECTS or how in DEAD_REDIRECTS or bool(re.fullmatch(r"chain\d{1,2}|loop2|robots\d{1,5}", how))
        )
    else:
        known = how in (DEAD if kind == "dead" else BAD_KINDS)
    return Resource(site.index, kind, n, how) if known else None


def normal(target: str) -> str:
    """The plain form of a request target: dot segments, needless escapes, tracking and session parameters, order."""
    path, _, query = target.partition("#")[0].partition("?")
    path = _ESCAPE.sub(_plain_escape, path)
    kept: list[str] = []
    for segment in path.split("/")[1:]:
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    path = "/" + "/".join(kept)
    parameters = sorted(p for p in _ESCAPE.sub(_plain_escape, query).split("&") if p and not p.startswith(_DROPPED))
    return path + ("?" + "&".join(parameters) if parameters else "")


def _plain_escape(found: re.Match[str]) -> str:
    letter = unquote(found[0], errors="replace")
    return letter if letter in _UNRESERVED else found[0].upper()


def _escaped(path: str, how: str) -> str:
    if how == "tilde" and "~" in path:
        return path.replace("~", "%7E")
    if how == "escape" and "%" in path:
        return _ESCAPE.sub(lambda m: m[0].lower(), path)
    for place, letter in enumerate(path):
        if letter.isalpha():
            code = f"%{ord(letter):02x}" if how == "escape" else f"%{ord(letter):02X}"
            return path[:place] + code + path[place + 1 :]
    return path
