"""Simulated crawls: a queue, a policy, and what was found after how many fetches."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from bench.focus.webs import Node, Web
from relevance.hints import host_of
from relevance.measure import Measured
from relevance.page import Page
from relevance.plain_policies import AfriwebPolicy, ThresholdPolicy
from relevance.policy import LinkContext, PageContext, Target, Verdict
from relevance.yield_policy import YieldPolicy

TARGET = Target("zul", ("xho", "nbl", "ssw"))
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


def measured(node: Node) -> Measured:
    language = "zul" if node.words * 2 > node.total else "eng"
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
    policy = AfriwebPolicy(TARGET, {})

    def follow(place: int, order: Order) -> bool:
        node = web.nodes[place]
        page = Page(node.url, html_lang=node.html_lang)
        return policy.decide(page, measured(node), PageContext()).keep or len(order) <= len(web.seeds)

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
    """Knows what is relevant and where every link leads: relevant pages first, else the shortest way to a new one."""
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
    return _steered(web, ThresholdPolicy(TARGET, {}))


def by_yield(web: Web) -> Order:
    return _steered(web, YieldPolicy(TARGET, {}))


@dataclass(slots=True)
class _Waiting:
    bucket: str
    since: int
    depth: int


def _steered(web: Web, policy: ThresholdPolicy | YieldPolicy) -> Order:
    """Best first by the policy's priorities. A queued link is looked at anew when its turn comes and when it is seen
    again: its host's estimate may have moved."""
    order: Order = []
    waiting: dict[int, _Waiting] = {}
    done: set[int] = set()
    heap: list[tuple[float, int, int]] = []
    count = 0
    for place in web.seeds:
        waiting[place] = _Waiting("s00000", 0, 0)
        heapq.heappush(heap, (-1.0, count, place))
        count += 1
    while heap:
        score, turn, place = heapq.heappop(heap)
        if place in done:
            continue
        if isinstance(policy, YieldPolicy) and waiting[place].bucket[0] != "s" and score < 0:
            now = policy.rescore(web.nodes[place].url, waiting[place].bucket)
            if heap and -now > score + 0.02 and -now > heap[0][0]:  # it has become worth less
                heapq.heappush(heap, (-now, turn, place))
                continue
        done.add(place)
        order.append(place)
        for target, priority, wait in _links(web, policy, place, waiting):
            if target in done:
                continue
            waiting[target] = wait
            heapq.heappush(heap, (-priority, count, target))
            count += 1
    return order


def _links(
    web: Web, policy: ThresholdPolicy | YieldPolicy, place: int, waiting: dict[int, _Waiting]
) -> list[tuple[int, float, _Waiting]]:
    node, here = web.nodes[place], waiting[place]
    context = PageContext(here.depth, here.since, node.size, "", here.bucket)
    verdict: Verdict = policy.decide(Page(node.url, html_lang=node.html_lang), measured(node), context)
    since = 0 if verdict.keep else here.since + 1
    links = [
        LinkContext(web.nodes[t].url, anchor, node.url, verdict, here.depth + 1, since, lang, nav)
        for t, anchor, nav, lang in node.links
    ]
    buckets = policy.link_buckets(links)
    priorities = policy.link_priorities(links)
    out = []
    for (target, *_), bucket, priority in zip(node.links, buckets, priorities, strict=True):
        old = waiting.get(target)
        if old is None or since < old.since:
            out.append((target, priority, _Waiting(bucket, since, here.depth + 1)))
        elif isinstance(policy, YieldPolicy) and old.bucket[0] != "s":
            out.append((target, policy.rescore(web.nodes[target].url, old.bucket), old))
    return out


CRAWLS: dict[str, Callable[[Web], Order]] = {
    "breadth first": breadth_first,
    "afriweb": afriweb,
    "linguacrawl": linguacrawl,
    "threshold": threshold,
    "yield": by_yield,
    "oracle": oracle,
}
