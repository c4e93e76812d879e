"""What kept pages embed, where a crawl wants it (``page_requisites``): pictures, styles, scripts, fonts, sound, film.

They wait in the frontier as pages do, under the same rules, robots.txt and delays, and wherever they lie unless the
crawl is whitelist only; in the best priority band, in which such a crawl has no links of pages
(:mod:`crawler.pages.policy`): a page is to be whole before the next one, since what it embeds changes. When the crawl's
budget of pages is spent they alone are still leased, and none of them becomes a page any more. Their memo says what
they are: they are archived, not judged, and lead to nothing but, as style sheets, to further ones.

The sieve admits a URL once, as the one or the other. So what turns out to be a page where links might have led is read
as one (:func:`may_be_page`); and what a page links to and shows, as a gallery does, is embedded.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from crawler.pages.policy import BEHIND
from frontier.payload import REQUISITE_MARK
from frontier.types import Candidate, Kind, Lease
from relevance.pages.media_type import media_type
from seeds.crawl import Crawl
from sieve.urls import bad_port, resolve_many

MOST = 1000
"""Of a page, and of a style sheet."""
MOST_STEPS = 5
"""From sheet to sheet: each may name ever new ones."""
_FIRST_STEPS = 2
"""What the page names and what its style sheets do; who names ever more waits with the pages, as long as there are."""
_UNWANTED = frozenset({"nofollow", "none", "noimageindex"})
_PAGES = frozenset({"text/html", "application/xhtml+xml"})
"""Not plain text, as which scripts are served, too."""
_SHOWN = re.compile(r"(?:image|audio|video|font)/|text/css|(?:text|application)/(?:x-)?(?:java|ecma)script|.*font")
_NAMED = re.compile(r"\.(?:avif|bmp|css|eot|gif|ico|jpe?g|m?js|mp[34]|og[gv]|otf|png|svg|ttf|webm|webp|woff2?)\Z", re.I)
"""What no page's name ends with: an answer with text says there that it is missing."""


def wants_requisites(spec: Crawl | None, directives: frozenset[str]) -> bool:
    """Whether what a page embeds that has these robots directives is to be fetched."""
    return spec is not None and spec.page_requisites and not directives & _UNWANTED


def is_requisite(lease: Lease) -> bool:
    """Whether it was found as something that a page embeds."""
    return lease.kind is Kind.PAGE and lease.memo.startswith(REQUISITE_MARK)


def may_be_page(url: str, content_type: str, depth: int, spec: Crawl | None) -> bool:
    """Whether an answer of this type for what a page embeds is to be read: links might have led to it as well."""
    if spec is None or media_type(content_type) not in _PAGES:
        return False
    return spec.may_follow(url, depth) and not _NAMED.search(urlsplit(url).path)


def is_style_sheet(url: str, content_type: str) -> bool:
    """Whether an answer is one to browsers; where no type is told, by its name."""
    told = media_type(content_type)
    return told == "text/css" or (not told and urlsplit(url).path.endswith(".css"))


def may_be_shown(content_type: str, spec: Crawl | None) -> bool:
    """Whether pages may embed what is of this type and is no page, though a link led there first."""
    return spec is not None and spec.page_requisites and _SHOWN.match(media_type(content_type)) is not None


def behind_requisites(named: list[Candidate], spec: Crawl | None) -> list[Candidate]:
    """What a sitemap names, of which there may be fifty thousand, behind what its pages embed."""
    if spec is None or not spec.page_requisites:
        return named
    return [replace(one, score=min(BEHIND, one.score)) if one.kind is Kind.PAGE else one for one in named]


def requisites(addresses: Sequence[str], base: str, source: str, lease: Lease, spec: Crawl) -> list[Candidate]:
    """What the page or style sheet `source` embeds, which was fetched on `lease`; `addresses` as written, against
    `base`."""
    steps = 1 + int.from_bytes(lease.memo[len(REQUISITE_MARK) :][:1]) if is_requisite(lease) else 1
    if steps > MOST_STEPS:
        return []
    memo = REQUISITE_MARK + bytes((steps,))
    score = 1.0 if steps <= _FIRST_STEPS or lease.uncounted else BEHIND
    found = dict.fromkeys(filter(None, resolve_many(addresses[:MOST], base)))
    return [
        Candidate(url, source=source, depth=lease.depth + 1, score=score, memo=memo)
        for url in found
        if bad_port(url) is None and spec.wants_requisite(url)
    ]
