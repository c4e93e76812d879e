"""The default policy: follow the yield.

Yield is clean target-language text per fetched byte; a page's gain is its yield brought to 0..1. The gain of a URL is
expected from its place (host, path prefix, template) and from the links to it: their kind, how many stand on relevant
pages, how many anchors are in the language (relevance.steering.estimates says how). What the links of a host to other
hosts led to counts as well (a hub may be worth its fetch without being relevant). No verdict is final, and a share of
the fetches (`exploration`) may go to what is promising only because little is known of it.

Sources: Chakrabarti et al. (1999) for the roles of classifier and distiller; the tunnelling bound after Bergmark,
Lagoze and Sbityakov (2002); optimism in the face of uncertainty (UCB) for exploration. The thesis followed all links of
relevant pages and none of others; here links of irrelevant pages are ranked low, not lost.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from math import sqrt
from typing import Any, NamedTuple

from relevance.language.model import Model
from relevance.pages.measure import Measured
from relevance.pages.page import Page
from relevance.steering.estimates import ALL, Estimates, logit, sigmoid
from relevance.steering.hints import (
    AT_ANCHOR,
    AT_AWAY,
    AT_NAV,
    AT_SINCE,
    AT_TAG,
    AT_URL,
    KIND,
    NEITHER,
    OTHER,
    OURS,
    SIBLING,
    Hints,
    places,
    short_tag,
)
from relevance.steering.inlinks import NO_LINKS, InLinks, Links
from relevance.steering.plain_policies import ThresholdPolicy, option
from relevance.steering.policy import Counts, LinkContext, PageContext, Target, Verdict

SINCE = (0.55, 0.2, 0.12, 0.08, 0.04)
"""First guess of the gain by the number of irrelevant pages since the last relevant one."""
_NAMED = 0.35
"""The same of what a sitemap names, which no page vouches for."""
_URL = {NEITHER: 0.0, OURS: 1.8, OTHER: -1.4}
_LANG = {NEITHER: 0.0, OURS: 2.1, OTHER: -2.3}
_NAV, _AWAY = -0.2, -0.8
_GOOD, _BAD, _OURS, _OTHER = 0.6, -0.2, 1.1, -0.5
"""First guesses, in log-odds, of what a link's traits and one more link say."""
_CLASSES = (0.1, 0.5, 0.85)
"""Gains of hosts that bound the classes in which the worth of links is learnt apart."""
_HUB = 3.0
"""Worth of a relevant page on an unknown host found through a host, per page fetched of that host."""
FIRST = 2
"""Pages after which a host is unknown no more."""
NOVELTY = 0.1
"""What is added for a page of an unknown host at first."""
GROWN = 500
"""Fetches after which twice that is added."""
OPENS = 20.0
"""Pages that one of a host without a relevant one may open, divided by those the host has had. Else a site whose first
pages happen to be irrelevant waits for all others."""
OPENED = 0.25
"""The most that this makes of the gain of such a page."""
_ENDS = (0.0, 0.01, 0.03, 0.1, 0.3, 0.6, 0.8, 0.92, 1.0)
"""Worths at which a frontier's eight bands end, nearly even in log-odds: when all good pages are fetched, what
matters is whether one page in a hundred or in ten is relevant where the crawl looks next."""
_UNKNOWN = "100000"
"""Bucket of a page of which nobody knows how it was found."""
FEW_KNOWN = 3
"""Pages of a template with the text of others, from which on more of them are expected: a copy or two are no trap."""
REPEATS, FOUND_ON = "r", "o"
"""Kinds of keys: pages of a template that had the text of others; pages of its host that were found on such ones."""
LEADS_ON = 0.1
"""Gain of the pages found on those of such a template, from which on it is one of lists."""
NEW = "all:new"
"""Key of the pages fetched while their host was unknown: what exploration has cost."""


_COUNTED = {
    (keep, str(anchor)): (0 if keep else 1, *behind)
    for keep in (True, False)
    for anchor, behind in ((SIBLING, ()), (NEITHER, ()), (OURS, (2,)), (OTHER, (3,)))
}
"""Places in :class:`Links` that a link counts for, by whether its page is kept and what its anchor says."""


class _Evidence(NamedTuple):
    """What the links to a URL say: keys under which it is learnt, each with its first guess.

    kind: what kind of link led there; links: how many stand on relevant and irrelevant pages; anchors: how many are in
    the language and in others. since: as in a bucket, "0" where a relevant page links there, too. hopeful: something
    speaks for the URL, be it that or a sign of the language in its address, hreflang or anchors.
    """

    since: str
    hopeful: bool
    kind: str
    kind_guess: float
    links: str
    links_guess: float
    anchors: str
    anchors_guess: float


class _Place(NamedTuple):
    """What is known of where a URL lies. support: pages that speak for that (relevance.steering.estimates); pages: of
    its host; group: the class of its host, 0 hardly relevant to 3 nearly all. repeats: how probably the page has the
    text of another; opens: the gain of a page found on such a one."""

    log_odds: float
    support: float
    pages: int
    group: int
    hub: float
    known: bool  # the host has had a relevant page
    repeats: float
    opens: float


class _Shared:
    """What URLs looked at together share: their places, and the priorities of those that lie and are linked alike."""

    def __init__(self) -> None:
        self.places: dict[tuple[str, ...], _Place] = {}
        self.priorities: dict[tuple[_Place, str, Links, bool], float] = {}


class YieldPolicy(ThresholdPolicy):
    """Steers by estimated yield; verdicts are those of the threshold policy.

    Options besides words and share: exploration (share of fetches that may follow uncertainty, 0.1), tunnel
    (irrelevant pages in a row that may be crossed, 3; the links beyond have priority 0), full_yield (clean
    words per kilobyte that count as a whole gain, 10.0).
    """

    OPTIONS = ThresholdPolicy.OPTIONS | {"exploration", "tunnel", "full_yield"}

    def __init__(self, target: Target, options: Mapping[str, Any], model: Model | None = None) -> None:
        super().__init__(target, options, model)
        self.exploration = float(option(options, "exploration", 0.1, most=1.0))
        self.tunnel = int(option(options, "tunnel", 3))
        self.full_yield = float(option(options, "full_yield", 10.0, least=0.001))
        self._hints = Hints(target.language, target.siblings, self._identifier)
        self._inlinks = InLinks()
        self._estimates = Estimates()

    def decide(self, page: Page, found: Measured, context: PageContext) -> Verdict:
        verdict = super().decide(page, found, context)
        size = context.fetched_bytes or sum(len(block.text) for block in page.blocks) or 1
        gain = self.gain(verdict, size)
        if not context.again:
            self._learn(page.url, context.bucket, gain)
            self._learn_repeats(page.url, context, gain)
        scores = {**verdict.scores, "gain": round(gain, 3), "yield": round(verdict.words * 1024 / size, 2)}
        return replace(verdict, scores=scores)

    def _learn(self, url: str, bucket: str, gain: float) -> None:
        estimates, where = self._estimates, places(url)
        known = estimates.known(where)
        place = self._place(where)
        evidence = self._evidence(url, place, _known(bucket))
        effects = self._effects(evidence)
        # What one key has learnt of the page the next ones need not learn again. Else each would take the whole blame
        # for a page that was not what its links promised, and five together so much that all links like them waited.
        for key, effect in effects.items():
            guess = self._guess(key, evidence)
            estimates.add(key, gain, sigmoid(sum(effects.values()) + place.log_odds - effect + guess))
            effects[key] = guess + estimates.effect_alone(key)
        expected = sigmoid(sum(effects.values()))
        estimates.add(where[0], gain, expected, sections=where[-1] not in known)
        for key in where[1:]:
            estimates.add(key, gain, expected)
        if place.pages < FIRST:
            estimates.add(NEW, gain, 0.0)
            if _known(bucket)[AT_AWAY] == "1" and len(bucket) > KIND:
                estimates.add("l:" + bucket[KIND:], gain, 0.0)

    def _learn_repeats(self, url: str, context: PageContext, gain: float) -> None:
        """By template, since a trap's pages, and lists without a text of their own, are of few; and what was found on
        them, since that tells lists from traps, also where a host has both."""
        host, _, template = places(url)
        if context.known:
            self._estimates.add(_of(REPEATS, template), 0.0, 0.0)
        bucket = _known(context.bucket)
        if bucket[AT_AWAY] == "0" and len(bucket) > KIND:
            self._estimates.add(_found_on(host, bucket[KIND:]), gain, 0.0)

    def gain(self, verdict: Verdict, fetched_bytes: int) -> float:
        """0..1: half for being relevant, half for words per byte; a little for a page that falls short."""
        rate = min(1.0, verdict.words * 1024 / max(fetched_bytes, 1) / self.full_yield)
        return 0.5 + 0.5 * rate if verdict.keep else 0.3 * min(rate, verdict.words / 100)

    def link_priority(self, link: LinkContext) -> float:
        return self.rank([link])[0][0]

    def rank(self, links: Sequence[LinkContext]) -> list[tuple[float, str]]:
        """Priority and bucket of the links of a page at once; anchors are identified together."""
        buckets = self._hints.buckets(links)
        self._note(links, buckets)
        shared = _Shared()
        return [
            (self._estimate(link.url, link.since_relevant, bucket, shared), bucket)
            if not link.on_known or self._leads_on(link.source_url)
            else (0.0, bucket)
            for link, bucket in zip(links, buckets, strict=True)
        ]

    def _leads_on(self, source_url: str) -> bool:
        """Whether links on a page with the text of another lead to good pages, as those of lists do, not of traps."""
        host, _, template = places(source_url)
        return self._opens(host, short_tag(template)) >= LEADS_ON

    def _note(self, links: Sequence[LinkContext], buckets: Sequence[str]) -> None:
        """Counts the links of one judged page, each URL once."""
        found = {link.url: (link, bucket) for link, bucket in zip(links, buckets, strict=True) if not link.nav}
        for url, (link, bucket) in found.items():
            if link.source_verdict is not None:
                self._inlinks.add(url, _COUNTED[link.source_verdict.keep, bucket[AT_ANCHOR]])

    def rescore(self, queued: Sequence[tuple[str, int, str]]) -> list[float]:
        shared = _Shared()
        return [self._estimate(url, since, _known(bucket), shared) for url, since, bucket in queued]

    def explain(self, url: str, since_relevant: int, bucket: str) -> dict[str, float]:
        """Log-odds by key (estimates; the host's stands for all of the place), then parts of the worth."""
        where, bucket = places(url), _known(bucket)
        place = self._place(where)
        evidence = self._evidence(url, place, bucket)
        effects = self._effects(evidence)
        terms = {key: round(effect, 2) for key, effect in effects.items()}
        return {
            **terms,
            where[0]: round(place.log_odds, 2),
            "pages of the host": place.pages,
            "pages that speak for the place": round(place.support, 1),
            "gain": round(self._expected(place, sum(effects.values())), 3),
            "repeats": round(place.repeats, 3),
            "hub": round(place.hub, 3),
            "novelty": round(self._novelty(place.pages, evidence.since), 3),
            "priority": round(self.rescore([(url, since_relevant, bucket)])[0], 3),
        }

    def deltas(self) -> dict[str, tuple[int, ...]]:
        return self._estimates.deltas()

    def absorb(self, counts: Counts) -> None:
        self._estimates.absorb(counts)

    def _estimate(self, url: str, since: int, bucket: str, shared: _Shared) -> float:
        where = places(url)
        if len(bucket) > KIND and bucket[AT_AWAY] == "0" and self._opens(where[0], bucket[KIND:]) < LEADS_ON:
            return 0.0  # as when it was found (_leads_on), however good the rest of the host
        known = self._estimates.known(where)
        if (place := shared.places.get(known or where[:1])) is None:
            place = shared.places[known or where[:1]] = self._place(where)
        key = (place, bucket[:KIND], self._inlinks.seen(url), since > self.tunnel)
        if (priority := shared.priorities.get(key)) is None:
            priority = shared.priorities[key] = self._priority(*key)
        return priority

    def _priority(self, place: _Place, bucket: str, seen: Links, far: bool) -> float:
        """The priority of a URL. far: too many irrelevant pages in a row lead there."""
        evidence = _evidence(place.group, bucket, _counting(seen, bucket))
        if far and not place.known and not evidence.hopeful:
            return 0.0
        log_odds = sum(self._effects(evidence).values())
        mean = self._expected(place, log_odds)
        worth = 1.0 - (1.0 - mean) * (1.0 - place.hub) + self._novelty(place.pages, evidence.since)
        worth += self.exploration * 2.0 * sqrt(mean * (1 - mean) / (place.support + 4.0))
        return _evened(min(1.0, max(0.0001, worth)))

    @staticmethod
    def _expected(place: _Place, log_odds: float) -> float:
        """The gain expected, 0..1, of the page and of what it may open. log_odds: of what the links say."""
        mean = sigmoid(place.log_odds + log_odds)
        mean += place.repeats * (place.opens - mean)
        if place.known or place.pages < FIRST:
            return mean
        return max(mean, min(OPENED, mean * (1.0 + OPENS / place.pages)))

    def _place(self, where: Sequence[str]) -> _Place:
        log_odds, support = self._estimates.place(where)
        pages, gain, _ = self._estimates.counts(where[0])
        share = (gain + 1.0) / (pages + 2.0)
        group = bisect_left(_CLASSES, share)
        repeats = self._repeats(where[-1])
        hub = self._hub(where[0], pages) * (1.0 - repeats)  # its links, too, are those of others
        opens = self._opens(where[0], short_tag(where[-1])) if repeats else 0.0
        return _Place(log_odds, support, pages, group, hub, gain >= 0.5, repeats, opens)

    def _evidence(self, url: str, place: _Place, bucket: str) -> _Evidence:
        return _evidence(place.group, bucket[:KIND], _counting(self._inlinks.seen(url), bucket))

    def _effects(self, evidence: _Evidence) -> dict[str, float]:
        """Log-odds by key, first guess and what has been learnt."""
        effect = self._estimates.effect_alone
        return {
            ALL: effect(ALL),
            evidence.kind: evidence.kind_guess + effect(evidence.kind),
            evidence.links: evidence.links_guess + effect(evidence.links),
            evidence.anchors: evidence.anchors_guess + effect(evidence.anchors),
        }

    @staticmethod
    def _guess(key: str, evidence: _Evidence) -> float:
        guesses = {evidence.kind: evidence.kind_guess, evidence.links: evidence.links_guess}
        return guesses.get(key, evidence.anchors_guess if key == evidence.anchors else 0.0)

    def _novelty(self, pages: int, since: str) -> float:
        """Bonus of the first pages of an unknown host, while the exploration budget lasts. Both grow with the fetches:
        a crawl that has just begun has better links to follow; later a whole site may be missing."""
        if pages >= FIRST or since not in "01m":
            return 0.0
        fetched, explored = self._estimates.counts(ALL)[0], self._estimates.counts(NEW)[0]
        if explored > self.exploration * fetched:
            return 0.0
        return NOVELTY * (1.0 + min(1.0, fetched / GROWN)) * (1.0 - pages / FIRST)

    def _repeats(self, template: str) -> float:
        """How probably a page of a template has the text of another (Jeffreys' prior: a template of a trap has no other
        pages). The first of them has not."""
        repeats = self._estimates.counts(_of(REPEATS, template))[0]
        if repeats < FEW_KNOWN:
            return 0.0
        return (repeats + 0.5) / (max(repeats, self._estimates.counts(template)[0] - 1) + 1.0)

    def _opens(self, host: str, tag: str) -> float:
        """What pages found on those with the text of others have been worth, by the tag of their template."""
        pages, gain, _ = self._estimates.counts(_found_on(host, tag))
        return gain / (pages + 4.0)

    def _hub(self, host: str, pages: int) -> float:
        """What links from this host to others have been worth, for each of its pages."""
        found = self._estimates.counts("l:" + short_tag(host[2:]))[1]
        return min(0.8, _HUB * found / (pages + 4.0)) if found else 0.0


def _counting(seen: Links, bucket: str) -> Links:
    """The links to a URL, as far as it matters how many."""
    since, anchor = bucket[AT_SINCE], bucket[AT_ANCHOR]
    if seen == NO_LINKS and bucket[AT_NAV] == "0" and since != "s":
        # another worker read the link; a sitemap is no page, but may have said a title
        good, bad = int(since == "0"), int(since not in "0m")
        return Links(good, bad, int(anchor == str(OURS)), int(anchor == str(OTHER)))
    if max(seen) <= 3:
        return seen
    good, bad, ours, other = seen
    return Links(min(good, 4), min(bad, 4), min(ours, 3), min(other, 3))


@lru_cache(maxsize=4096)
def _evidence(group: int, bucket: str, seen: Links) -> _Evidence:
    """Of links to URLs of a class of hosts. `bucket`: the first KIND characters."""
    good, bad, ours, other = seen
    since = "0" if good and bucket[AT_SINCE] != "s" else bucket[AT_SINCE]
    url, tag = int(bucket[AT_URL]), int(bucket[AT_TAG])
    first = _NAMED if since == "m" else SINCE[int(since)] if since != "s" else 0.0
    guess = logit(first) + _URL[url] + _LANG[tag] if first else 3.2
    guess += _NAV * (bucket[AT_NAV] == "1") + _AWAY * (bucket[AT_AWAY] == "1")
    return _Evidence(
        since=since,
        hopeful=since == "0" or OURS in (url, tag) or ours > 0,
        kind=f"c:{since}{bucket[AT_URL:KIND]}",
        kind_guess=guess,
        links=f"i:{group}{good}{bad}",
        links_guess=_GOOD * max(good - 1, 0) + _BAD * bad,
        anchors=f"w:{group}{ours}{other}",
        anchors_guess=_OURS * ours + _OTHER * other,
    )


def _of(kind: str, key: str) -> str:
    """The key of another kind for the same place."""
    return kind + key[1:]


def _found_on(host: str, tag: str) -> str:
    """The key of what was found on pages of a template with the text of others."""
    return f"{_of(FOUND_ON, host)}/{tag}"


def _known(bucket: str) -> str:
    """The bucket, or that of a link of which nothing is known where another policy found it."""
    return bucket if len(bucket) >= KIND else _UNKNOWN


def _evened(worth: float) -> float:
    """0..1 to 0..1, so that each of a frontier's eight bands goes from one of _ENDS to the next."""
    band = min(bisect_right(_ENDS, worth), len(_ENDS) - 1) - 1
    return (band + (worth - _ENDS[band]) / (_ENDS[band + 1] - _ENDS[band])) / (len(_ENDS) - 1)
