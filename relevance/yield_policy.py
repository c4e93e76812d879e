"""The default policy: follow the yield.

Yield is clean target-language text per fetched byte. A running estimate of a page's gain (its yield, brought to 0..1)
is kept for each host, path prefix, URL template and kind of link (bucket, see hints), and for what the links of a
host to other hosts led to (a hub may be worth its fetch without being relevant). A link's priority combines them:
the estimates of its places, narrow ones shrunk towards wide ones, moved by what its kind is worth compared with the
average page, in log-odds. No verdict is final: every estimate keeps a pull towards its prior, effective counts are
capped, and a share of the fetches (`exploration`) may go to what is promising only because little is known of it.

Sources: Chakrabarti et al. (1999) for the roles of classifier and distiller; the tunnelling bound after Bergmark,
Lagoze and Sbityakov (2002); the estimates are Beta means with optimism in the face of uncertainty (UCB). The
thesis followed all links of relevant pages and none of others; here links of irrelevant pages are ranked low, not lost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, log, sqrt
from typing import Any

from relevance.hints import OTHER, OURS, SIBLING, Hints, places, short_tag
from relevance.inlinks import InLinks, first_evidence
from relevance.measure import Measured
from relevance.page import Page
from relevance.plain_policies import ThresholdPolicy, option
from relevance.policy import Counts, LinkContext, PageContext, Target, Verdict

MILLI = 1000
SINCE = (0.55, 0.2, 0.12, 0.08, 0.04)
"""First guess of the gain by the number of irrelevant pages since the last relevant one."""
_ODDS = {
    "anchor": {OURS: 3.0, SIBLING: 0.8, OTHER: 0.6},
    "url": {OURS: 6.0, OTHER: 0.25},
    "lang": {OURS: 8.0, OTHER: 0.1},
}
_NAV_ODDS, _AWAY_ODDS = 0.8, 0.7
_CAP = 400.0
_PULL = {"h": 4.0, "p": 4.0, "t": 6.0, "c": 12.0, "i": 12.0}
"""Pages a prior is worth, by kind of key."""

KIND = 6
"""Characters of a bucket that say what kind of link it is; behind them stands who links."""
_HUB = 2.0
"""Worth of a relevant page found elsewhere through a host, per page fetched of that host: it may open a new site."""
LEVELS = 20
"""Pages from which the worth of being linked often is learnt."""
NOVELTY, FIRST = 0.1, 2
"""What is added for an unknown host, and for how many pages it is one."""
NEW = "new"
"""Key of the pages fetched while their host was unknown: what exploration has cost."""
ALL = "all"
"""Key of the crawl's own totals: pages, gain, words, kilobytes, explored pages."""


def _logit(p: float) -> float:
    p = min(max(p, 1e-4), 1 - 1e-4)
    return log(p / (1 - p))


def first_guess(bucket: str) -> float:
    """Gain expected of a kind of link before anything is known of the crawl."""
    if bucket[0] == "s":
        return 0.9
    odds = SINCE[int(bucket[0])] / (1 - SINCE[int(bucket[0])])
    odds *= _ODDS["anchor"].get(int(bucket[1]), 1.0) * _ODDS["url"].get(int(bucket[2]), 1.0)
    odds *= _ODDS["lang"].get(int(bucket[3]), 1.0)
    odds *= _NAV_ODDS if bucket[4] == "1" else 1.0
    odds *= _AWAY_ODDS if bucket[5] == "1" else 1.0
    return odds / (1 + odds)


class YieldPolicy(ThresholdPolicy):
    """Steers by estimated yield; verdicts are those of the threshold policy.

    Options besides words and share: exploration (share of fetches that may follow uncertainty, 0.1), tunnel (irrelevant
    pages in a row that may be crossed, 3; the links beyond are parked with priority 0), full_yield (clean words per
    kilobyte that count as a whole gain, 10.0).
    """

    def __init__(self, target: Target, options: Mapping[str, Any]) -> None:
        super().__init__(target, options)
        self.exploration = float(option(options, "exploration", 0.1))
        self.tunnel = int(option(options, "tunnel", 3))
        self.full_yield = float(option(options, "full_yield", 10.0))
        self._hints = Hints(target.language, target.siblings, self._identifier)
        self._inlinks = InLinks()
        self._own: dict[str, list[int]] = {}
        self._fleet: dict[str, tuple[int, ...]] = {}

    def decide(self, page: Page, measured: Measured, context: PageContext) -> Verdict:
        verdict = super().decide(page, measured, context)
        size = context.fetched_bytes or sum(len(block.text) for block in page.blocks) or 1
        gain = self.gain(verdict, size)
        counts = (1, round(gain * MILLI), verdict.words, max(1, round(size / 1024)))
        keys = [*places(page.url), ALL]
        if context.bucket:
            since = context.bucket[0]
            keys += ["c:" + context.bucket[:KIND], f"i:{since}", f"i:{since}{self._inlinks.level(page.url)}"]
            if len(context.bucket) > KIND:
                keys.append("l:" + context.bucket[KIND:])
        if self._counts(keys[0])[0] < FIRST:
            keys.append(NEW)
        for key in keys:
            self._add(key, counts)
        scores = {**verdict.scores, "gain": round(gain, 3), "yield": round(verdict.words * 1024 / size, 2)}
        return Verdict(verdict.keep, verdict.reason, verdict.language, scores, verdict.words)

    def gain(self, verdict: Verdict, fetched_bytes: int) -> float:
        """0..1: half for being relevant, half for words per byte; a little for a page that falls short."""
        rate = min(1.0, verdict.words * 1024 / max(fetched_bytes, 1) / self.full_yield)
        return 0.5 + 0.5 * rate if verdict.keep else 0.3 * min(rate, verdict.words / 100)

    def link_priority(self, link: LinkContext) -> float:
        return self.rank([link])[0][0]

    def link_priorities(self, links: Sequence[LinkContext]) -> list[float]:
        return [priority for priority, _ in self.rank(links)]

    def rank(self, links: Sequence[LinkContext]) -> list[tuple[float, str]]:
        """Priority and bucket of the links of a page at once; anchors are identified together."""
        buckets = self._hints.buckets(links)
        self._inlinks.add(links)
        known: dict[tuple[str, ...], tuple[float, float]] = {}
        return [
            (0.0 if self._parked(link, bucket) else self._estimate(link.url, bucket, known), bucket)
            for link, bucket in zip(links, buckets, strict=True)
        ]

    def link_bucket(self, link: LinkContext) -> str:
        return self._hints.buckets([link])[0]

    def link_buckets(self, links: Sequence[LinkContext]) -> list[str]:
        return self._hints.buckets(links)

    def rescore(self, url: str, bucket: str) -> float:
        """The priority as it is known now of a URL queued earlier with this bucket."""
        return self._estimate(url, bucket)

    def explain(self, link: LinkContext) -> dict[str, float | str]:
        """The terms of a link's priority."""
        bucket = self.link_bucket(link)
        out: dict[str, float | str] = {"bucket": bucket, "first_guess": first_guess(bucket)}
        for key in (*places(link.url), "c:" + bucket[:KIND], ALL):
            pages, gain = self._counts(key)[:2]
            out[key] = round(gain / MILLI / pages, 3) if pages else "unknown"
        return {**out, "priority": self.link_priority(link)}

    def deltas(self) -> dict[str, tuple[int, ...]]:
        given: dict[str, tuple[int, ...]] = {key: tuple(counts) for key, counts in self._own.items()}
        for key, counts in given.items():
            old = self._fleet.get(key, (0,) * len(counts))
            self._fleet[key] = tuple(a + b for a, b in zip(old, counts, strict=True))
        self._own.clear()
        return given

    def absorb(self, counts: Counts) -> None:
        self._fleet.update(counts)

    def _add(self, key: str, counts: tuple[int, ...]) -> None:
        own = self._own.setdefault(key, [0] * len(counts))
        for place, value in enumerate(counts):
            own[place] += value

    def _counts(self, key: str) -> tuple[int, int]:
        fleet = self._fleet.get(key, (0, 0))
        own = self._own.get(key, (0, 0))
        return fleet[0] + own[0], fleet[1] + own[1]

    def _mean(self, key: str, prior: float) -> tuple[float, float]:
        """Shrunk mean gain and the (capped) number of pages behind it."""
        pages, gain = self._counts(key)
        weight = min(1.0, _CAP / pages) if pages else 1.0
        pull = _PULL[key[0]]
        return (gain / MILLI * weight + pull * prior) / (pages * weight + pull), pages * weight

    def _parked(self, link: LinkContext, bucket: str) -> bool:
        return link.since_relevant > self.tunnel and str(OURS) not in bucket[2:4]

    def _estimate(
        self, url: str, bucket: str, known: dict[tuple[str, ...], tuple[float, float]] | None = None
    ) -> float:
        """Expected worth of a URL; `known` keeps what links of the same place and kind share."""
        key = (*places(url), bucket)
        shared = known.get(key) if known is not None else None
        if shared is None:
            shared = self._shared(key[0], key[1], key[2], bucket)
            if known is not None:
                known[key] = shared
        odds, doubtful = shared
        mean = 1.0 / (1.0 + exp(-(odds + self._linked(url, bucket[0]))))
        worth = 1.0 - (1.0 - mean) * (1.0 - self._hub(key[0])) + self._novelty(key[0], bucket)
        return min(1.0, max(0.001, worth + self.exploration * 2.0 * sqrt(mean * (1 - mean) / doubtful)))

    def _shared(self, host: str, prefix: str, template: str, bucket: str) -> tuple[float, float]:
        """Log-odds of the gain by place and kind, and the number of pages that rest on."""
        kind, _ = self._mean("c:" + bucket[:KIND], first_guess(bucket))
        pages, gain = self._counts(ALL)
        average = (gain / MILLI + 4 * 0.4) / (pages + 4)
        place, seen = self._mean(host, average)
        place, _ = self._mean(prefix, place)
        place, deep = self._mean(template, place)
        trust = 1.0 - 0.5 * deep / (deep + 20.0)
        return _logit(place) + trust * (_logit(kind) - _logit(average)), seen + 4.0

    def _linked(self, url: str, since: str) -> float:
        """Log-odds to add for how often a URL was linked, as this crawl has found it to matter."""
        level = self._inlinks.level(url)
        known = self._counts(f"i:{since}")
        if known[0] < LEVELS:
            return first_evidence(level)
        usual = (known[1] / MILLI + 2.0) / (known[0] + 4.0)
        guess = 1.0 / (1.0 + exp(-(_logit(usual) + first_evidence(level))))
        return _logit(self._mean(f"i:{since}{level}", guess)[0]) - _logit(usual)

    def _novelty(self, host: str, bucket: str) -> float:
        """Bonus of the first pages of an unknown host, while the exploration budget lasts."""
        pages = self._counts(host)[0]
        if pages >= FIRST or bucket[0] not in "01":
            return 0.0
        fetched, explored = self._counts(ALL)[0], self._counts(NEW)[0]
        return NOVELTY * (1.0 - pages / FIRST) if explored <= self.exploration * fetched + 3 else 0.0

    def _hub(self, host: str) -> float:
        """What links from this host to others have been worth, for each of its pages."""
        found = self._counts("l:" + short_tag(host[2:]))[1] / MILLI
        pages = self._counts(host)[0]
        return min(0.8, _HUB * found / (pages + 4.0)) if found else 0.0
