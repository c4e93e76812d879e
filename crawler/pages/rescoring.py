"""Looks at what waits for a host anew, from time to time, with what the crawl has learnt since it was queued.

A link is scored once, when it is found. Its host's worth is often learnt only from the first pages fetched of it, and
that other pages link to it only from those found later. So after some pages of a host its queue is read, scored by the
policy as it knows things now, and what belongs into another priority band is moved there. How often: in proportion to
what waits, so that a page costs the scoring of some MOST_A_PAGE waiting URLs. A host's first pages say most of it, so a
short queue is looked at after the 1st, 2nd and 4th, too, and then after each LEAST_PAGES. So is a long one of
which most has fallen into the last band: what is behind that (of a sitemap's fifty thousand pages, say) was found
together with it.

A host that nobody has fetched a page of would so keep the scores of the day it was found, however many relevant pages
link to it since and however much may be explored by now. So with every STRANGER_EVERY-th page one such host is looked
at, too, in turn.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence

from crawler.pages.link_memo import LinkMemo, read_link_memo
from frontier.errors import FrontierFull, FrontierUnavailable
from frontier.payload import is_least
from frontier.types import Frontier, Kind, Queued
from relevance.steering.policy import Policy
from sieve.urls import authority

LEAST_PAGES = 4
STRANGER_EVERY = 2
MOST_A_PAGE = 16
WINDOW = 256
"""Waiting URLs of each band that are looked at."""
_MANY_FALLEN = WINDOW // 2
_MOST_HOSTS = 50_000


class Rescorer:
    """See the module. For one thread; `policy` may be taught by another one meanwhile."""

    def __init__(self, policy: Policy, frontier: Frontier) -> None:
        self._policy = policy
        self._frontier = frontier
        self._known: OrderedDict[str, tuple[int, int]] = OrderedDict()  # pages of a host, and after which to look at it
        self._strangers: OrderedDict[str, None] = OrderedDict()  # hosts with links, but no page; looked at in turn
        self._pages = 0

    def found(self, links: Iterable[str]) -> None:
        """Links to these URLs were found."""
        for host in dict.fromkeys(str(authority(url)) for url in links):
            if host not in self._known and len(self._strangers) < _MOST_HOSTS:
                self._strangers.setdefault(host)

    def pages(self, authorities: Iterable[str]) -> int:
        """Pages of these were judged; the number of URLs moved. It may wait: while the frontier is away or full nothing
        is moved."""
        hosts: dict[str, None] = {}
        for host in authorities:
            if self._is_due(host):
                hosts[host] = None
            self._pages += 1
            if self._pages % STRANGER_EVERY == 0 and self._strangers:
                hosts[self._strangers.popitem(last=False)[0]] = None
        try:
            return self._look(list(hosts))
        except (FrontierUnavailable, FrontierFull):
            self._strangers.update(dict.fromkeys(host for host in hosts if host not in self._known))
            return 0

    def _is_due(self, host: str) -> bool:
        self._strangers.pop(host, None)
        pages, due = self._known.pop(host, (0, 1))
        self._known[host] = pages + 1, due
        if len(self._known) > _MOST_HOSTS:
            self._known.popitem(last=False)
        return pages + 1 >= due

    def _look(self, hosts: Sequence[str]) -> int:
        scores = {}
        for host, heads in zip(hosts, self._frontier.heads(hosts, WINDOW), strict=True):
            scores[host] = self._scores(heads)
            if host in self._known:
                pages, _ = self._known[host]
                fallen = sum(is_least(score) and not is_least(one.score) for one, score in scores[host])
                length = len(heads) if fallen < max(_MANY_FALLEN, len(heads) // 2) else 0
                self._known[host] = pages, pages + max(min(pages, LEAST_PAGES), length // MOST_A_PAGE)
            elif heads:  # else all was fetched by others, or never let in
                self._strangers[host] = None
        return self._frontier.rescore(scores)

    def _scores(self, heads: Iterable[Queued]) -> list[tuple[Queued, float]]:
        """What waits with what it is worth by now, best first."""
        links = {one: link for one in heads if (link := _link(one))}
        found = self._policy.rescore([(one.url, link.since_relevant, link.bucket) for one, link in links.items()])
        return sorted(zip(links, found, strict=False), key=lambda pair: -pair[1])


def _link(one: Queued) -> LinkMemo | None:
    """None: a seed, a feed or its item, a page that was fetched before; or its policy does not learn."""
    link = read_link_memo(one.memo) if one.memo and one.kind is Kind.PAGE else None
    return link if link and link.bucket else None
