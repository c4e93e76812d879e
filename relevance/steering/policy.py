"""What a crawl asks of relevance: keep this page? how promising is this link?

A policy never fetches, stores or forgets by itself. What it learns it gives away as additive counts (`deltas`) and
takes back as the fleet's totals of the same keys (`absorb`), so any number of workers steer by the same estimates of
what each has had pages of.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from relevance.pages.measure import BlockShare
from relevance.pages.page import Page

Counts = Mapping[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class PageContext:
    """How a page was come by. bucket: what rank() said of the link that led here ("" = unknown)."""

    depth: int = 0
    since_relevant: int = 0  # irrelevant pages between this one and the last relevant one (0: found on a relevant page)
    fetched_bytes: int = 0  # 0 = length unknown, the policy takes the text's
    content_language: str = ""  # the HTTP header
    bucket: str = ""
    known: bool = False  # its text has been kept of another page: it is worth nothing again
    may_keep: bool = True  # else its site asks not to keep it, and it is worth nothing either
    again: bool = False  # it has been judged before: nothing is to be learnt of it any more

    @property
    def counts(self) -> bool:
        """Whether its words may be worth something."""
        return self.may_keep and not self.known


class LinkContext(NamedTuple):
    """A link on a judged page."""

    url: str
    anchor: str = ""
    source_url: str = ""
    source_verdict: Verdict | None = None  # None: a seed, a feed or a sitemap entry
    depth: int = 0
    since_relevant: int = 0  # of the link's target: 0 when the page it stands on is relevant
    hreflang: str = ""
    nav: bool = False
    on_known: bool = False  # the page it stands on has a text that has been kept of another page

    def together(self, anchor: str, hreflang: str, nav: bool) -> LinkContext:
        """With what another link of the page to the same URL says: a picture's has no anchor, <link rel=alternate> says
        the language, and what stands in the text, too, is more than navigation."""
        both = self
        if anchor and not (self.anchor and (nav or not self.nav)):
            both = both._replace(anchor=self.anchor or anchor, nav=self.nav and nav)
        return both._replace(hreflang=hreflang) if hreflang and not self.hreflang else both


@dataclass(frozen=True, slots=True)
class Verdict:
    """keep: the page is relevant. reason: one word. scores: the terms it rests on. words: clean words of the target."""

    keep: bool
    reason: str
    language: str = "und"
    scores: Mapping[str, float | int] = field(default_factory=dict)
    words: int = 0
    blocks: tuple[BlockShare, ...] = ()  # the languages of the page's main text, block by block


class Policy(Protocol):
    """Decides on pages and ranks links."""

    def judge(self, page: Page, context: PageContext) -> Verdict:
        """The verdict on a page; learns from it when it is judged for the first time."""

    def link_priority(self, link: LinkContext) -> float:
        """How promising a link is, 0 (fetched last of all, if ever) to 1."""

    def rank(self, links: Sequence[LinkContext]) -> list[tuple[float, str]]:
        """(priority, bucket) of all links of a page, in order: what a crawler calls, once a page. bucket: a tag
        (<= 10 ASCII characters) of the link's kind, to travel with the URL and come back in PageContext. Links of a
        page with a known text, of which most lead into a trap, have priority 0 at first, unless it is known that those
        of such pages lead on."""

    def rescore(self, queued: Sequence[tuple[str, int, str]]) -> list[float]:
        """The priorities as they are known now of URLs queued earlier: (URL, since_relevant, bucket) of each. An empty
        list: as they were."""

    def explain(self, url: str, since_relevant: int, bucket: str) -> dict[str, float]:
        """The terms of that priority; none where nothing is learnt."""

    def deltas(self) -> dict[str, tuple[int, ...]]:
        """Counts gathered since the last call, as far as they are worth telling, to be added to the fleet's: what
        corrects an earlier one may be below 0."""

    def absorb(self, counts: Counts) -> None:
        """The fleet's totals of some keys, with the last deltas: replaces what was absorbed before for them."""


@dataclass(frozen=True, slots=True)
class Target:
    """The language wanted and those it must not be mistaken for."""

    language: str
    siblings: Collection[str] = ()
