"""Simulated crawls: a queue, a policy, and what was found after how many fetches."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

from bench.focus.webs import Node, Web
from crawler.pages.link_memo import NO_LINK, LinkMemo, read_link_memo
from crawler.pages.rescoring import Rescorer
from frontier import Candidate, FrontierConfig, Kind, Lease, MemoryFrontier, Outcome, TrapLimits
from relevance.pages.measure import Measured
from relevance.pages.page import Page
from relevance.steering.hints import host_of
from relevance.steering.plain_policies import AfriwebPolicy, ThresholdPolicy
from relevance.steering.policy import LinkContext, PageContext
from relevance.steering.yield_policy import YieldPolicy

WITHOUT_DELAY = FrontierConfig(delay_ms=0)
Order = list[int]
"""Pages in the order they were fetched."""


@dataclass(frozen=True, slots=True)
class Found:
    """Relevant pages and target words after each fetch, and how many relevant pages can be reached at all."""

    relevant: list[int]
    words: list[int]
    reachable: int
    words_reachable: int

    def fetches_for(self, share: float) -> int | None:
        """Fetches until this share of the reachable relevant pages was found; None if never."""
        goal = share * self.reachable
        return next((n for n, count in enumerate(self.relevant, start=1) if count >= goal), None)

    def recall_at(self, fetches: int) -> float:
        return self.relevant[min(fetches, len(self.relevant)) - 1] / max(1, self.reachable)


def measured(node: Node, language: str) -> Measured:
    language = language if node.words * 2 > node.total else "eng"
    return Measured(language, node.words, node.total, node.words, node.words / max(1, node.total))


def reachable(web: Web) -> list[int]:
    seen, queue = set(web.seeds), deque(web.seeds)
    while queue:
        for target, *_ in web.nodes[queue.popleft()].links:
            if target not in seen:
                seen.add(target)
                queue.append(target)
    return sorted(seen)


def curve(web: Web, order: Order) -> Found:
    relevant, words, count, total = [], [], 0, 0
    for place in order:
        node = web.nodes[place]
        count, total = count + node.relevant, total + node.words * node.relevant
        relevant.append(count)
        words.append(total)
    all_ = [web.nodes[i] for i in reachable(web)]
    return Found(relevant, words, sum(n.relevant for n in all_), sum(n.words for n in all_ if n.relevant))


def breadth_first(web: Web) -> Order:
    return _fifo(web, lambda _place, _order: True)


def afriweb(web: Web) -> Order:
    """Breadth first over the links of pages the thesis' set three keeps."""
    policy = AfriwebPolicy(web.target, {}, web.model)

    def follow(place: int, order: Order) -> bool:
        node = web.nodes[place]
        page = Page(node.url, html_lang=node.html_lang)
        return policy.decide(page, measured(node, web.target.language), PageContext()).keep or len(order) <= len(
            web.seeds
        )

    return _fifo(web, follow)


def linguacrawl(web: Web) -> Order:
    """Breadth first, but a host of which under 10 % of 200 pages are relevant is dropped."""
    pages: dict[str, list[int]] = {}

    def follow(place: int, _order: Order) -> bool:
        counts = pages.setdefault(host_of(web.nodes[place].url), [0, 0])
        counts[0] += 1
        counts[1] += web.nodes[place].relevant
        return True

    def dropped(place: int) -> bool:
        counts = pages.get(host_of(web.nodes[place].url), [0, 0])
        return counts[0] >= 200 and counts[1] < 0.1 * counts[0]

    return _fifo(web, follow, dropped)


def _fifo(
    web: Web, follow: Callable[[int, Order], bool], dropped: Callable[[int], bool] = lambda _place: False
) -> Order:
    order: Order = []
    seen, queue = set(web.seeds), deque(web.seeds)
    while queue:
        place = queue.popleft()
        if dropped(place):
            continue
        order.append(place)
        if follow(place, order):
            for target, *_ in web.nodes[place].links:
                if target not in seen:
                    seen.add(target)
                    queue.append(target)
    return order


def oracle(web: Web) -> Order:
    """Knows of every URL it has found whether it is relevant, and fetches those first; but not what lies behind a page,
    so its irrelevant pages come breadth first. What no crawler that goes by its estimates of pages can be sure of."""
    order: Order = []
    known = set(web.seeds)
    queues: tuple[deque[int], deque[int]] = (deque(), deque())
    for place in web.seeds:
        queues[not web.nodes[place].relevant].append(place)
    while any(queues):
        place = (queues[0] or queues[1]).popleft()
        order.append(place)
        for target, *_ in web.nodes[place].links:
            if target not in known:
                known.add(target)
                queues[not web.nodes[target].relevant].append(target)
    return order


def all_knowing(web: Web) -> Order:
    """Knows every page and every link of the web before it starts: relevant pages first, else the shortest way to a new
    one. No crawler can know that; the bound of all."""
    order: Order = []
    done: set[int] = set()
    known = set(web.seeds)
    good = deque(place for place in web.seeds if web.nodes[place].relevant)
    while True:
        path = [good.popleft()] if good else _way(web, known, done)
        if not path:
            break
        for place in path:
            if place in done:
                continue
            done.add(place)
            order.append(place)
            for target, *_ in web.nodes[place].links:
                if target not in known:
                    known.add(target)
                    if web.nodes[target].relevant:
                        good.append(target)
    return order + sorted(known - done)


def _way(web: Web, known: set[int], done: set[int]) -> list[int]:
    """The shortest chain of pages from what is known to a relevant page that is not."""
    before: dict[int, int | None] = dict.fromkeys(sorted(known - done))
    queue = deque(before)
    while queue:
        place = queue.popleft()
        if web.nodes[place].relevant:
            path: list[int] = []
            step: int | None = place
            while step is not None:
                path.append(step)
                step = before[step]
            return path[::-1]
        for target, *_ in web.nodes[place].links:
            if target not in before and target not in done:
                before[target] = place
                queue.append(target)
    return []


def threshold(web: Web) -> Order:
    return Steered(web, ThresholdPolicy(web.target, {}, web.model)).order()


def by_yield(web: Web, share: float = 1.0) -> Order:
    """share: of the reachable relevant pages, after which it stops (1: never)."""
    return Steered(web, YieldPolicy(web.target, {}, web.model)).order(share)


class Steered:
    """A crawl by a policy through the real frontier and rescorer: one page at a time, each URL once, without robots.txt
    and delays but those of `config`."""

    def __init__(
        self,
        web: Web,
        policy: ThresholdPolicy | YieldPolicy,
        config: FrontierConfig = WITHOUT_DELAY,
        clock: Callable[[], int] = lambda: 1,
    ) -> None:
        self._web, self._policy = web, policy
        self._places = {node.url: place for place, node in enumerate(web.nodes)}
        self._seen = set(web.seeds)
        limits = TrapLimits(depth=0, query_variants=0)
        config = replace(config, address_delay_ms=0, delay_factor=0, obey_robots=False, limits=limits)
        self._frontier = MemoryFrontier(config, clock)
        self._rescorer = Rescorer(policy, self._frontier)

    def order(self, share: float = 1.0) -> Order:
        """The pages in the order they are fetched, until this share of the reachable relevant ones is found (1: all
        pages)."""
        nodes, found = self._web.nodes, 0
        goal = share * sum(nodes[place].relevant for place in reachable(self._web)) if share < 1 else len(nodes) + 1
        self._begin()
        order: Order = []
        while leases := self._frontier.lease(1).leases:
            lease = leases[0]
            place = self._places[lease.url]
            order.append(place)
            found += nodes[place].relevant
            if found >= goal:
                break
            self._finish(lease)
        return order

    def _begin(self) -> None:
        seeds = [self._web.nodes[place].url for place in self._web.seeds]
        self._frontier.take_in([Candidate(url, source="seed", score=1.0) for url in seeds])

    def _finish(self, lease: Lease) -> None:
        links = self._links(self._web.nodes[self._places[lease.url]], lease)
        self._frontier.take_in(links)
        self._frontier.report([Outcome(lease.token, "ok")])
        self._rescorer.found(link.url for link in links)
        self._rescorer.pages([lease.authority])

    def _links(self, node: Node, lease: Lease) -> list[Candidate]:
        """As crawler.focus does it, for a page whose words are known."""
        link = read_link_memo(lease.memo) or NO_LINK
        context = PageContext(lease.depth, link.since_relevant, node.size, "", link.bucket)
        found = measured(node, self._web.target.language)
        verdict = self._policy.decide(Page(node.url, html_lang=node.html_lang), found, context)
        since, depth = 0 if verdict.keep else link.since_relevant + 1, lease.depth + 1
        links: dict[int, LinkContext] = {}
        for target, anchor, nav, hreflang in node.links:
            if target in links:
                links[target] = links[target].together(anchor, hreflang, nav)
            else:
                url = self._web.nodes[target].url
                links[target] = LinkContext(url, anchor, node.url, verdict, depth, since, hreflang, nav)
        ranked = zip(links.items(), self._policy.rank(list(links.values())), strict=True)
        new = [(place, one.url, *rank) for (place, one), rank in ranked if place not in self._seen]
        self._seen.update(place for place, *_ in new)
        return [Candidate(url, Kind.PAGE, node.url, depth, p, memo=LinkMemo(since, b).pack()) for _, url, p, b in new]


CRAWLS: dict[str, Callable[[Web], Order]] = {
    "breadth first": breadth_first,
    "afriweb": afriweb,
    "linguacrawl": linguacrawl,
    "threshold": threshold,
    "yield": by_yield,
    "oracle": oracle,
    "all-knowing": all_knowing,
}
