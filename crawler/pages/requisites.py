"""What kept pages embed, where a crawl wants it (``page_requisites``): pictures, styles, scripts, fonts, sound, film.

They wait in the frontier as pages do, under the same rules, robots.txt and delays, in the priority band of their page,
and wherever they lie unless the crawl is whitelist only. Their memo says what they are: they are archived, not judged,
and lead to nothing but, as style sheets, to further ones.
"""

from __future__ import annotations

from collections.abc import Sequence

from crawler.pages.link_memo import REQUISITE_MARK
from frontier.types import Candidate, Kind, Lease
from seeds.crawl import Crawl
from sieve.urls import bad_port, resolve_many

MOST = 1000
"""Of a page, and of a style sheet."""
MOST_STEPS = 5
"""From sheet to sheet: each may name ever new ones."""
_UNWANTED = frozenset({"nofollow", "none", "noimageindex"})


def wants_requisites(spec: Crawl | None, directives: frozenset[str]) -> bool:
    """Whether what a page embeds that has these robots directives is to be fetched."""
    return spec is not None and spec.page_requisites and not directives & _UNWANTED


def is_requisite(lease: Lease) -> bool:
    """Whether it was found as something that a page embeds."""
    return lease.kind is Kind.PAGE and lease.memo.startswith(REQUISITE_MARK)


def requisites(addresses: Sequence[str], base: str, source: str, lease: Lease, spec: Crawl) -> list[Candidate]:
    """What the page or style sheet `source` embeds, which was fetched on `lease`; `addresses` as written, against
    `base`."""
    steps = 1 + int.from_bytes(lease.memo[len(REQUISITE_MARK) :][:1]) if is_requisite(lease) else 1
    if steps > MOST_STEPS:
        return []
    memo = REQUISITE_MARK + bytes((steps,))
    found = dict.fromkeys(filter(None, resolve_many(addresses[:MOST], base)))
    return [
        Candidate(url, source=source, depth=lease.depth + 1, score=lease.score, memo=memo)
        for url in found
        if bad_port(url) is None and spec.wants_requisite(url)
    ]
