"""Sitemaps of the sites that are to be crawled by them, too (``sitemaps = true`` of a ``[[site]]``).

They are found with robots.txt, which is asked for before any page and read anew each day. What they name is fetched
within the scope of the sites only, and ranked as links are: a large one would keep all else waiting.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice

from crawler.pages.link_memo import NO_LINK, read_link_memo
from frontier.types import Candidate, Kind, RobotsRecord
from relevance.steering.policy import LinkContext, Policy
from seeds.crawl.model import Crawl
from seeds.feeds.types import FeedEntry
from seeds.sitemaps.addresses import in_robots, well_known
from sieve.urls import canonicalize_many

_MOST_NAMED = 100
_MOST_LOOKED_AT = 2000
_AT_ONCE = 200
"""Pages that are ranked before other answers have their turn."""


def sitemaps_of(spec: Crawl | None, authority: str, record: RobotsRecord | None) -> list[Candidate]:
    """The sitemaps of a host whose robots.txt was read: those in scope that it names, else the usual address; none of a
    site that does not want them."""
    home, source = f"{authority}/", f"{authority}/robots.txt"
    if spec is None or record is None or record.kind == "disallow" or not spec.wants_sitemaps(home):
        return []
    lines = in_robots(record.body, source)[:_MOST_LOOKED_AT]
    # What people write there may be no URL.
    named = (
        url for url, form in zip(lines, canonicalize_many(lines), strict=True) if form and spec.wants_sitemaps(url)
    )
    wanted = list(islice(named, _MOST_NAMED)) or well_known(home)[:1]
    return [Candidate(url, Kind.SITEMAP, source, score=1.0) for url in wanted]


async def ranked(
    links: Sequence[Candidate], entries: Iterable[FeedEntry], sitemap: str, policy: Policy
) -> list[Candidate]:
    """What a site's sitemap names, as the policy ranks it by what the `entries` say; further sitemaps as they are."""
    found: list[Candidate] = []
    said = {entry.url: (entry.title, entry.language) for entry in entries if entry.title or entry.language}
    for start in range(0, len(links), _AT_ONCE):
        some = links[start : start + _AT_ONCE]
        contexts = [
            LinkContext(link.url, title, source_url=sitemap, depth=link.depth, hreflang=language)
            for link in some
            for title, language in (said.get(link.url, ("", "")),)
        ]
        for link, (score, bucket) in zip(some, policy.rank(contexts), strict=True):
            if link.kind is Kind.PAGE:
                memo = (read_link_memo(link.memo) or NO_LINK)._replace(bucket=bucket)
                link = replace(link, score=score, memo=memo.pack())
            found.append(link)
        await asyncio.sleep(0)
    return found
