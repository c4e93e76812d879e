"""The link graph, computed page by page: what a page links to and how it behaves, from its number alone.

Plain pages of a host form a tree with twelve children a node (so that every page can be reached); on top come blocks of
links that many pages of a section share (as sidebars do), to the section and to other hosts (target language mostly to
its like), and, by the rates of the specification, redirects, odd spellings, dead ends, traps and foreign things.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tests.web.hashing import draws, pick, share
from tests.web.paths import DEAD, DEAD_REDIRECTS, REDIRECTS, Resource, section_of
from tests.web.sites import BRANCHING, Site, host_links
from tests.web.spec import WebSpec

#: The home page and section heads up to this one are always sound.
SOUND_PAGES = 7
FLAKY = ("503-seconds", "429-seconds", "503-date", "500", "cut", "429-date", "reset")
ENCODINGS = ("gzip", "chunked", "br", "deflate", "chunked-gzip")
CHARSETS = ("windows-1252", "utf-16", "latin-1-as-utf-8", "missing", "utf-8-as-latin-1", "header-only")
FOREIGN = (
    "mailto:umhleli@{host}", "javascript:void(0)", "ftp://127.0.0.1/izincwadi.zip", "file:///etc/passwd",
    "tel:+27310000000",
    "http://10.0.0.1/admin", "http://169.254.169.254/latest/meta-data/", "http://[::1]:{port}/", "http://0.0.0.0:{port}/",
    "data:text/html,<p>hello", "http://", "http://[broken/", "https://user:secret@192.168.1.1/",
    "http://%/", "http://127.0.0.1:22/",
)  # fmt: skip
BlockKey = tuple[int, int, int]  # host, section, number
BLOCK_LINKS = 8
_FIRST_DRAW = 8


class Traits(NamedTuple):
    """How a page behaves; "" or 0: as it should. `lang` is what the html element claims (None: nothing)."""

    flaky: str = ""
    failures: int = 0
    slow: bool = False
    encoding: str = ""
    charset: str = ""
    lang: str | None = ""
    robots: str = ""  # "meta noindex", "header nofollow", …
    etag: bool = True
    pdf: bool = False
    drawn: bool = False


class Link(NamedTuple):
    """A link as it stands on a page. `href` is written by the web only when the resource is drawn ("" = plain URL)."""

    resource: Resource | None  # None: a foreign thing, `href` says what
    nofollow: bool = False
    spelling: str = ""
    number: int = 0
    href: str = ""


class Graph:
    """Links and traits of all plain pages: a pure function of the specification (blocks are kept once drawn)."""

    def __init__(self, spec: WebSpec, sites: tuple[Site, ...]) -> None:
        self.spec = spec
        self.sites = sites
        self.host_links = host_links(spec, sites)
        self._kin = {
            True: [s.index for s in sites if s.role in ("target", "mixed")],
            False: [s.index for s in sites if s.role in ("gateway", "other")] or [0],
        }
        self._any = list(range(len(sites)))
        self._recent: tuple[tuple[int, int], Traits] = ((-1, -1), Traits())
        self._blocks: dict[BlockKey, tuple[Link, ...]] = {}

    def traits(self, site: Site, i: int) -> Traits:
        """Behaviour of plain page `i`. (A request asks several times in a row, so the last one is kept.)"""
        key, traits = self._recent
        if key != (site.index, i):
            traits = self._traits(site, i)
            self._recent = (site.index, i), traits
        return traits

    def _traits(self, site: Site, i: int) -> Traits:
        rates = self.spec.rates
        d = draws(12, self.spec.seed, "traits", site.index, i)
        lang: str | None = ""
        if share(d[8]) < rates.lang:
            lang = pick((None, "en", None, "en-US", "zu"), d[9])
        if i < SOUND_PAGES:
            return Traits(lang=lang if i else "")
        flaky = pick(FLAKY, d[1]) if share(d[0]) < rates.flaky else ""
        robots = ""
        if share(d[7]) < rates.robots_meta:
            robots = pick(("meta noindex", "meta nofollow", "header noindex", "header nofollow", "meta none"), d[10])
        is_leaf = BRANCHING * i + 1 >= site.pages
        # A document has no meta elements.
        may_be_pdf = is_leaf and not robots.startswith("meta")
        pdf = bool(may_be_pdf) and self._has("pdf", rates.pdf, site, i)
        return Traits(
            flaky,
            (1 + (d[1] >> 8) % 2) if flaky else 0,
            not flaky and share(d[2]) < rates.slow,
            pick(ENCODINGS, d[4]) if share(d[3]) < rates.encoded else "",
            pick(CHARSETS, d[6]) if share(d[5]) < rates.charset else "",
            lang,
            robots,
            d[11] % 4 != 0,
            pdf,
            not pdf and self._has("drawn", rates.drawn, site, i),
        )

    def _has(self, trait: str, rate: float, site: Site, i: int) -> bool:
        """Has the page this trait, which came later than others? (Its draws are its own: all else stays as it was.)"""
        return rate > 0 and share(draws(1, self.spec.seed, trait, site.index, i)[0]) < rate

    def language(self, site: Site, i: int) -> str:
        """Language of the text of plain page `i`."""
        return site.languages[section_of(i)]

    def links(self, site: Site, i: int) -> list[Link]:
        """All links of the page in the order in which they stand on it: navigation, own links, shared blocks."""
        own, blocks = self.parts(site, i)
        return [*self.navigation(site), *own, *(link for block in blocks for link in self.block(*block))]

    def parts(self, site: Site, i: int) -> tuple[list[Link], list[BlockKey]]:
        """The page's own links (to its parent, children, other hosts, odd things) and the blocks that fill it up."""
        spec = self.spec
        d = draws(24, spec.seed, "links", site.index, i)
        own = [Link(Resource(site.index, "page", (i - 1) // BRANCHING))] if i else []
        first = BRANCHING * i + 1
        for slot, child in enumerate(range(first, min(first + BRANCHING, site.pages))):
            own.append(self._tree_link(site, child, d[_FIRST_DRAW + slot]))
        own += [Link(Resource(other, "page", 0)) for other in self.host_links.get((site.index, i), ())]
        own += self._oddities(site, i, d)
        there = self.navigation_size(site) + len(own)
        wanted = spec.min_links + d[0] % (spec.max_links - spec.min_links + 1)
        count = max(0, min(-(-(wanted - there) // BLOCK_LINKS), (spec.max_links - there) // BLOCK_LINKS))
        kinds, s = block_count(site), section_of(i)
        return own, [(site.index, s, (d[21] + n) % kinds) for n in range(min(count, kinds))]

    def block(self, site_index: int, s: int, b: int) -> tuple[Link, ...]:
        """Links of shared block `b` of section `s`: what stands in the sidebars of many pages of the section."""
        found = self._blocks.get((site_index, s, b))
        if found is None:
            site = self.sites[site_index]
            d = draws(3 * BLOCK_LINKS, self.spec.seed, "block", site_index, s, b)
            found = tuple(self._filler(site, s, *d[3 * n : 3 * n + 3]) for n in range(BLOCK_LINKS))
            self._blocks[site_index, s, b] = found
        return found

    def navigation(self, site: Site) -> list[Link]:
        """Home page and up to eight section heads, the same on every page of the host."""
        return [Link(Resource(site.index, "page", i)) for i in range(self.navigation_size(site))]

    def navigation_size(self, site: Site) -> int:
        """How many links :meth:`navigation` has."""
        return min(9, site.pages, self.spec.min_links // 2)

    def _tree_link(self, site: Site, child: int, number: int) -> Link:
        rates, chance = self.spec.rates, share(number)
        resource = Resource(site.index, "page", child)
        if child < SOUND_PAGES:
            return Link(resource)
        if chance < rates.redirect:
            return Link(Resource(site.index, "go", child, REDIRECTS[number % len(REDIRECTS)]))
        if chance > 1 - rates.spelling:
            return self._spelled(resource, number)
        return Link(resource, nofollow=rates.redirect <= chance < rates.redirect + rates.nofollow)

    def _spelled(self, resource: Resource, number: int) -> Link:
        return Link(resource, spelling=self.spec.spellings[number % len(self.spec.spellings)], number=number >> 5)

    def _oddities(self, site: Site, i: int, d: tuple[int, ...]) -> Iterator[Link]:
        """Dead ends, hostile answers, traps and foreign things; the home page has none but dead links."""
        rates, spec = self.spec.rates, self.spec
        if share(d[1]) < rates.dead:
            yield Link(Resource(site.index, "dead", i, pick(DEAD, d[2])))
        if not i:
            return
        if share(d[3]) < rates.bad and spec.bad_kinds:
            yield Link(Resource(site.index, "bad", i, pick(spec.bad_kinds, d[4])))
        if share(d[5]) < rates.trap and spec.trap_kinds:
            yield Link(Resource(site.index, "trap", i, pick(spec.trap_kinds, d[6])))
        if share(d[7]) < rates.foreign:
            if d[7] % 3 == 0:
                yield Link(Resource(site.index, "go", i, pick(DEAD_REDIRECTS, d[6])))
            else:
                yield Link(None, href=pick(FOREIGN, d[6]).format(host=site.host, port=site.port))

    def _filler(self, site: Site, s: int, where: int, which: int, how: int) -> Link:
        """A link within the host (85 %), mostly within the section, or to a page near the top of another host."""
        rates, chance = self.spec.rates, share(where)
        if chance < 0.85 or len(self.sites) == 1:
            if s and where % 5 and site.pages > BRANCHING * s + BRANCHING:
                j = self._in_section(site, s, which)
            else:
                j = which % site.pages
            resource = Resource(site.index, "page", j)
        else:
            other = self.sites[self._neighbour(site, s, where, which)]
            resource = Resource(other.index, "page", how % min(other.pages, 40))
        if resource.n >= SOUND_PAGES and share(how) > 1 - rates.spelling:
            return self._spelled(resource, how)
        return Link(resource, nofollow=rates.nofollow > 0 and how % 50 == 0)

    @staticmethod
    def _in_section(site: Site, s: int, number: int) -> int:
        """A page of section `s`: down the tree from its head, by a drawn number, until it would leave the host."""
        j = s
        while number % 7 and (below := BRANCHING * j + 1 + number % BRANCHING) < site.pages:
            j, number = below, number // BRANCHING
        return j

    def _neighbour(self, site: Site, s: int, where: int, which: int) -> int:
        """Another host: kin to the section's language in three cases of four; gateways count as kin of target hosts."""
        target = site.languages[s] == self.spec.language or site.role == "gateway"
        crowd = self._kin[target] if where % 4 and self._kin[target] else self._any
        return pick(crowd, which)


def block_count(site: Site) -> int:
    """How many blocks each section of the site has: about one for every five pages of it, at least 8, at most 48."""
    return max(8, min(48, site.pages // 60))
