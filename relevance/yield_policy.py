"""The default policy: follow the yield."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from relevance.page import Page
from relevance.plain_policies import ThresholdPolicy
from relevance.policy import Counts, LinkContext, PageContext, Target, Verdict


class YieldPolicy(ThresholdPolicy):
    """A running estimate of relevant pages by host."""

    def __init__(self, target: Target, options: Mapping[str, Any]) -> None:
        super().__init__(target, options)
        self._own: Counter[tuple[str, int]] = Counter()
        self._fleet: dict[str, tuple[int, ...]] = {}

    def judge(self, page: Page, context: PageContext) -> Verdict:
        verdict = super().judge(page, context)
        host = "h:" + (urlsplit(page.url).hostname or "")
        self._own[(host, 0)] += 1
        self._own[(host, 1)] += int(verdict.keep)
        return verdict

    def link_priority(self, link: LinkContext) -> float:
        host = "h:" + (urlsplit(link.url).hostname or "")
        pages, good = self._fleet.get(host, (0, 0))[:2]
        pages, good = pages + self._own[(host, 0)], good + self._own[(host, 1)]
        prior = 0.6 if link.source_verdict is None or link.source_verdict.keep else 0.15
        return min(1.0, (good + 3 * prior) / (pages + 3))

    def deltas(self) -> dict[str, tuple[int, ...]]:
        hosts = {key for key, _ in self._own}
        out: dict[str, tuple[int, ...]] = {key: (self._own[(key, 0)], self._own[(key, 1)]) for key in hosts}
        for key, counts in out.items():
            old = self._fleet.get(key, (0, 0))
            self._fleet[key] = (old[0] + counts[0], old[1] + counts[1])
        self._own.clear()
        return out

    def absorb(self, counts: Counts) -> None:
        self._fleet.update(counts)
