"""All pages of a site by its sitemaps: from robots.txt through indexes, each sitemap once, bounded.

For commands that look at a site as a whole; a crawl takes each sitemap as an entry of its frontier instead.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from seeds import sitemaps
from seeds.survey.probe import Fetch, Fetched, reach

__all__ = ["SiteMaps", "walk_site"]

Tell = Callable[[sitemaps.SitemapEntry], None]

MAX_DEPTH = 10
MAX_SITEMAPS = 1000
MAX_PAGES = 1_000_000


@dataclass(slots=True)
class SiteMaps:
    """What a walk found: addresses of pages in order of first sight (of a million no more is kept), sitemaps read, and
    what was wrong with others."""

    pages: dict[str, None] = field(default_factory=dict)
    read: list[str] = field(default_factory=list)
    problems: dict[str, str] = field(default_factory=dict)


def walk_site(homepage: str, fetch: Fetch, tell: Tell = lambda _: None) -> SiteMaps:
    """The sitemaps that robots.txt names, and those at well-known addresses (a missing one of these is no problem), and
    all they lead to, each address once, breadth first, the newest of an index first, at most 10 indexes deep. `tell`
    hears of each page as it is found. The home page may lack its scheme."""
    homepage, robots = reach(homepage, lambda url: _robots(url, fetch))
    well_known = sitemaps.well_known(homepage)
    if not well_known:
        return SiteMaps(problems={homepage: "not_http"})
    named = sitemaps.in_robots(robots.body, robots.url) if robots.ok else []
    found, met = SiteMaps(), set(named)
    _walk(named, met, fetch, tell, found)
    guessed = [url for url in well_known if url not in met and url not in found.read]
    met.update(guessed)
    _walk(guessed, met, fetch, tell, found)
    for url in guessed:
        if url not in found.read:
            found.problems.pop(url, None)
    return found


def _robots(homepage: str, fetch: Fetch) -> Fetched:
    root, _, _ = next(iter(sitemaps.well_known(homepage)), "").rpartition("/")
    return fetch(f"{root}/robots.txt") if root else Fetched(homepage, 0, problem="not_http")


def _walk(urls: Iterable[str], met: set[str], fetch: Fetch, tell: Tell, found: SiteMaps) -> None:
    waiting = deque((url, 0) for url in urls)
    while waiting and len(found.read) < MAX_SITEMAPS and len(found.pages) < MAX_PAGES:
        url, depth = waiting.popleft()
        for child in _read(url, depth, fetch, tell, found):
            if child not in met:
                met.add(child)
                waiting.append((child, depth + 1))
    for url, _ in waiting:
        found.problems[url] = "limit"


def _read(url: str, depth: int, fetch: Fetch, tell: Tell, found: SiteMaps) -> Iterator[str]:
    if depth > MAX_DEPTH:
        found.problems[url] = "too_deep"
        return
    answer = fetch(url)
    if not answer.ok:
        found.problems[url] = answer.problem or f"status {answer.status}"
    elif answer.url in found.read:
        found.problems[url] = f"redirects to {answer.url}, read already"
    else:
        try:
            sitemap = sitemaps.parse(answer.body, answer.url, content_type=answer.content_type)
        except sitemaps.SitemapError as error:
            found.problems[url] = str(error)
            return
        found.read.append(answer.url)
        if left_out := sitemap.dropped.get("over_limit"):
            found.problems[answer.url] = f"limit, {left_out} addresses left out"
        if sitemap.kind == "index":
            yield from sitemap.newest_first
        else:
            for entry in sitemap.entries:
                if entry.loc not in found.pages:
                    found.pages[entry.loc] = None
                    tell(entry)
