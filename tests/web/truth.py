"""What a crawl of a synthetic web must find: a breadth-first search that never draws a page.

A page is demanded when it can be reached from the seeds by links that a polite crawler follows: none marked nofollow
(`rel`, meta or X-Robots-Tag), through hosts whose robots.txt lets it in, by redirects of at most five hops and meta
refresh. Pages reached in no such way may be fetched (unless robots.txt forbids them) but are not demanded.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from tests.web import robots
from tests.web.answers import far_page
from tests.web.graph import BlockKey, Link
from tests.web.paths import REDIRECTS, Resource
from tests.web.sites import Site

if TYPE_CHECKING:
    from tests.web.web import Web


class Known(NamedTuple):
    """A demanded page: `language` of its text, `depth` in links from a seed."""

    language: str
    depth: int


class Truth:
    """`pages`: demanded pages in breadth-first order. `denied`: plain pages linked to that robots.txt forbids."""

    def __init__(self, web: Web) -> None:
        self.web = web
        self.pages: dict[Resource, Known] = {}
        self.denied: dict[Resource, str] = {}

    def urls(self) -> Iterator[str]:
        """Plain URLs of the demanded pages."""
        return map(self.web.paths.url, self.pages)

    def languages(self) -> Counter[str]:
        """Demanded pages by language."""
        return Counter(known.language for known in self.pages.values())

    def relevant(self) -> set[Resource]:
        """Demanded pages in the web's language."""
        return {r for r, known in self.pages.items() if known.language == self.web.spec.language}


class Gate:
    """What the robots rules of each host say to the web's agent."""

    def __init__(self, web: Web) -> None:
        self._web = web
        self._verdicts = [robots.verdict(site.robots) for site in web.sites]
        self._rules = [robots.rules_of(web.spec, site, web.spec.agent) for site in web.sites]

    def check(self, resource: Resource) -> str:
        """ "" when the resource may be fetched, else why not."""
        verdict = self._verdicts[resource.site]
        if verdict == "allow":
            return ""
        if verdict != "rules":
            return f"robots {verdict}"
        return "" if self._rules[resource.site].allowed(self._web.paths.path(resource)) else "disallowed"


def explore(web: Web) -> Truth:
    """The truth about `web`. Memory about 300 bytes a page."""
    truth, gate = Truth(web), Gate(web)
    queue: deque[tuple[Resource, int]] = deque()
    for url in web.seeds:
        if resource := web.read_url(url):
            queue.append((resource, 0))
    seen = {resource for resource, _ in queue}
    blocks: set[BlockKey] = set()
    while queue:
        resource, depth = queue.popleft()
        site = web.sites[resource.site]
        if resource.kind == "go":
            there = leads_to(web, site, resource)
            found = [Link(there)] if there else []
        elif reason := gate.check(resource):
            truth.denied[resource] = reason
            continue
        else:
            truth.pages[resource] = Known(web.graph.language(site, resource.n), depth)
            found = followed(web, site, resource.n, blocks)
        for other, nofollow, *_ in found:
            if other is not None and not nofollow and other not in seen and other.kind in ("page", "go"):
                seen.add(other)
                if other.kind == "page" or other.how in REDIRECTS:
                    queue.append((other, depth + (resource.kind == "page")))
    return truth


def followed(web: Web, site: Site, i: int, blocks: set[BlockKey]) -> list[Link]:
    """Links of page `i` that count; those of a shared block only once (`blocks`: the ones seen already)."""
    if web.graph.traits(site, i).robots.endswith(("nofollow", "none")):
        return []
    links, shared = web.graph.parts(site, i)
    for key in shared:
        if key not in blocks:
            blocks.add(key)
            links += web.graph.block(*key)
    if i == 0:
        links += web.graph.navigation(site)
    return links


def leads_to(web: Web, site: Site, resource: Resource) -> Resource | None:
    """The page at the end of a redirect; None when the host itself is closed."""
    if robots.verdict(site.robots) not in ("rules", "allow"):
        return None
    if resource.how == "far":
        return far_page(web.paths, site, resource.n)
    return Resource(site.index, "page", resource.n % site.pages)
