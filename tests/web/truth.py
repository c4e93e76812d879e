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
from tests.web.paths import REDIRECTS, Resource
from tests.web.sites import Site

if TYPE_CHECKING:
    from tests.web.web import Web


class Known(NamedTuple):
    """A demanded page: `language` of its text, `status` of its final answer, `depth` in links from a seed."""

    language: str
    depth: int
    status: int = 200


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
    """The truth about `web`. Memory about 150 bytes a page."""
    truth, gate = Truth(web), Gate(web)
    queue: deque[tuple[Resource, int]] = deque()
    for url in web.seeds:
        if resource := web.read_url(url):
            queue.append((resource, 0))
    seen = {resource for resource, _ in queue}
    while queue:
        resource, depth = queue.popleft()
        site = web.sites[resource.site]
        if resource.kind == "go":
            found = [leads_to(web, site, resource)]
        else:
            if reason := gate.check(resource):
                truth.denied[resource] = reason
                continue
            truth.pages[resource] = Known(web.graph.language(site, resource.n), depth)
            found = list(followed(web, site, resource.n))
        for other in found:
            if other is not None and other not in seen:
                seen.add(other)
                queue.append((other, depth + (resource.kind == "page")))
    return truth


def followed(web: Web, site: Site, i: int) -> Iterator[Resource]:
    """Pages and redirects that page `i` leads a polite crawler to."""
    said = web.graph.traits(site, i).robots
    if said.endswith(("nofollow", "none")):
        return
    for link in web.graph.links(site, i):
        resource = link.resource
        if resource is None or link.nofollow:
            continue
        if resource.kind == "page" or (resource.kind == "go" and resource.how in REDIRECTS):
            yield resource


def leads_to(web: Web, site: Site, resource: Resource) -> Resource | None:
    """The page at the end of a redirect; None when the host itself is closed."""
    if robots.verdict(site.robots) not in ("rules", "allow"):
        return None
    if resource.how == "far":
        return far_page(web.paths, site, resource.n)
    return Resource(site.index, "page", resource.n % site.pages)
