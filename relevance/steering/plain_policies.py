"""The policies that decide once and learn nothing: the thesis' and plain thresholds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil, inf
from typing import Any, ClassVar

from relevance.errors import PolicyError
from relevance.language.identification import Identifier
from relevance.language.model import Model, shipped
from relevance.pages.measure import Measured, measure
from relevance.pages.page import Page
from relevance.steering.languagetags import declared, is_tag_of, primary
from relevance.steering.policy import Counts, LinkContext, PageContext, Target, Verdict

_KINDS = {int: "whole number", float: "number"}


def option(options: Mapping[str, Any], name: str, default: Any, least: float = 0.0, most: float = 1e9) -> Any:
    value = options.get(name, default)
    if type(value) not in ((int, float) if isinstance(default, float) else (int,)):
        raise PolicyError(f"option {name}: {value!r} is no {_KINDS[type(default)]}")
    if not 0 <= value < inf:
        raise PolicyError(f"option {name}: {value!r} is below 0 or has no end")
    if not least <= value <= most:
        raise PolicyError(f"option {name}: {value!r} is {f'below {least:g}' if value < least else f'above {most:g}'}")
    return value


def terms(measured: Measured) -> dict[str, float | int]:
    """The figures behind a verdict; "words:zul" are the clean words of each of the page's languages."""
    return {
        **{f"words:{code}": words for code, words in measured.by_language.items()},
        "words": measured.words,
        "total": measured.total,
        "share": round(measured.share, 3),
        "family": round(measured.family_share, 3),
    }


_WANTED = {1: 0.5, 0: 1.0, -1: 1.5}
"""Words wanted, by what the page declares."""


_NAMED = 0.5
"""The priority of what a site's sitemap names, which no page vouches for: a large one would keep the links of relevant
pages waiting else."""


class PlainPolicy(ABC):
    """Judges a page by its words, ranks a link by the verdict on the page it stands on, and learns nothing."""

    OPTIONS: ClassVar[frozenset[str]] = frozenset()
    """Names of the options that the policy takes."""
    LEAST: ClassVar[float] = 0.0
    """The priority of links of irrelevant pages."""

    def __init__(self, target: Target, options: Mapping[str, Any], model: Model | None = None) -> None:  # noqa: ARG002
        self.target = target
        self._identifier = Identifier(model or shipped(), wanted=target.language)

    def judge(self, page: Page, context: PageContext) -> Verdict:
        found = measure(page, self.target.language, self._identifier)
        if not context.counts:  # none of its words counts, but their language is told
            found = replace(found, words=0, total=0, raw=0)
        return replace(self.decide(page, found, context), blocks=found.blocks)

    @abstractmethod
    def decide(self, page: Page, found: Measured, context: PageContext) -> Verdict:
        """The verdict on a page whose words have been counted."""

    def rank(self, links: Sequence[LinkContext]) -> list[tuple[float, str]]:
        return [(0.0 if link.on_known else self.link_priority(link), "") for link in links]

    def rescore(self, queued: Sequence[tuple[str, int, str]]) -> list[float]:  # noqa: ARG002
        return []

    def explain(self, url: str, since_relevant: int, bucket: str) -> dict[str, float]:  # noqa: ARG002
        return {}

    def deltas(self) -> dict[str, tuple[int, ...]]:
        return {}

    def absorb(self, counts: Counts) -> None:  # noqa: B027 - one that learns overrides it
        """Nothing to learn."""

    def link_priority(self, link: LinkContext) -> float:
        if link.source_verdict is None:
            return _NAMED if link.source_url else 1.0
        return 1.0 if link.source_verdict.keep else self.LEAST


class AfriwebPolicy(PlainPolicy):
    """The thesis' rule, its words counted by today's model. Links of relevant pages only.

    Set 3 (default): html lang must be the target's (from 20 words) or English (from 50). Set 2: those or none, from 20
    words. Set 1: any, from 20 words.
    """

    OPTIONS = frozenset(("set", "words", "words_english"))

    def __init__(self, target: Target, options: Mapping[str, Any], model: Model | None = None) -> None:
        super().__init__(target, options, model)
        self.set = int(option(options, "set", 3))
        if self.set not in (1, 2, 3):
            raise PolicyError(f"option set: {self.set} is not 1, 2 or 3")
        self.least = int(option(options, "words", 20))
        self.least_english = int(option(options, "words_english", 50))

    def decide(self, page: Page, found: Measured, context: PageContext) -> Verdict:  # noqa: ARG002
        tag, ours = primary(page.html_lang), is_tag_of(page.html_lang, self.target.language)
        if self.set > 1 and not ours and not is_tag_of(tag, "eng") and (tag or self.set == 3):
            return Verdict(False, "html_lang", found.language, terms(found), found.words)
        least = self.least_english if self.set == 3 and not ours else self.least
        keep = found.raw >= least
        scores = {**terms(found), "raw": found.raw, "wanted": least}
        return Verdict(keep, "words" if keep else "few_words", found.language, scores, found.words)


class ThresholdPolicy(PlainPolicy):
    """Enough clean words of the target, and enough of the page.

    What a page declares (html lang, Content-Language, og:locale) is evidence: half of the words do where it declares
    the target, half as many again are wanted where it declares another language.
    """

    OPTIONS = frozenset(("words", "share"))
    LEAST = 0.2

    def __init__(self, target: Target, options: Mapping[str, Any], model: Model | None = None) -> None:
        super().__init__(target, options, model)
        self.words = int(option(options, "words", 20))
        self.share = float(option(options, "share", 0.3, most=1.0))

    def decide(self, page: Page, found: Measured, context: PageContext) -> Verdict:
        says = declared(page, context, self.target.language)
        wanted = ceil(self.words * _WANTED[says])
        scores = {**terms(found), "declared": says, "wanted": wanted}
        keep, reason = True, "words_and_share"
        if found.words < wanted:
            keep, reason = False, "few_words"
        elif found.share < self.share:
            keep, reason = False, "small_share"
        return Verdict(keep, reason, found.language, scores, found.words)


class KeepAllPolicy(PlainPolicy):
    """Every page with words: for whitelists, and for languages that the model does not know."""

    def decide(self, page: Page, found: Measured, context: PageContext) -> Verdict:  # noqa: ARG002
        keep = bool(found.by_language) and context.counts  # the total is 0, too, where all there is weighs little
        return Verdict(keep, "words" if keep else "no_words", found.language, terms(found), found.words)
