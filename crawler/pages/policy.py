"""The relevance policy of a crawl, from its seed file and the settings."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from scrapy.settings import BaseSettings

from relevance.errors import PolicyError
from relevance.language.model import Model, load
from relevance.pages.page import Page
from relevance.steering.policies import make_policy, options_of
from relevance.steering.policy import Counts, LinkContext, PageContext, Policy, Verdict
from seeds.crawl import Crawl

DEFAULT_POLICY = "yield"
BEHIND = 0.87
"""The best priority of a link where what pages embed goes first: that of the second band."""


def policy_options(settings: BaseSettings) -> dict[str, int | float | str]:
    """``RELEVANCE_OPTIONS`` ("words=10,share=0.5") as values; what is no number stays text. PolicyError."""
    found: dict[str, int | float | str] = {}
    given = settings.get("RELEVANCE_OPTIONS") or ""
    if not isinstance(given, str | list | tuple) or not all(isinstance(part, str) for part in given):
        raise PolicyError(f"RELEVANCE_OPTIONS is a comma list of name=value, not {given!r:.80}")
    for part in settings.getlist("RELEVANCE_OPTIONS"):
        name, _, text = part.partition("=")
        value: int | float | str = text.strip()
        for kind in (float, int):
            with contextlib.suppress(ValueError):
                value = kind(text)
        found[name.strip()] = value
    return found


def model_of(settings: BaseSettings, spec: Crawl | None) -> Model | None:
    """The language model of a crawl: ``RELEVANCE_MODEL``, or the seed file's (beside it); None: the shipped one.
    ModelError when it cannot be used."""
    if given := settings.get("RELEVANCE_MODEL"):
        return _loaded(Path(given))
    return _loaded(Path(spec.path).parent / spec.model) if spec is not None and spec.model else None


@lru_cache(maxsize=1)
def _loaded(path: Path) -> Model:
    return load(path)


def policy_name(settings: BaseSettings, spec: Crawl | None) -> str:
    """What a crawl's policy is called, by setting or seed file."""
    if spec is None:
        return "all"
    return settings.get("RELEVANCE_POLICY") or spec.policy or DEFAULT_POLICY


def open_policy(settings: BaseSettings, spec: Crawl | None) -> Policy:
    """The policy of a crawl, by setting or seed file; PolicyError or ModelError when it cannot be had.

    Options of the seed file that the policy chosen by the setting does not have are left out; any other unknown one is
    an error. Without a seed file there is no language to look for, and everything is kept.
    """
    policy = _open_policy(settings, spec)
    return BehindRequisites(policy) if spec is not None and spec.page_requisites else policy


def _open_policy(settings: BaseSettings, spec: Crawl | None) -> Policy:
    model = model_of(settings, spec)
    if spec is None:
        return make_policy(policy_name(settings, spec), "", model=model)
    name = policy_name(settings, spec)
    options = dict(spec.policy_options)
    if name != (spec.policy or DEFAULT_POLICY):  # the seed file's options were meant for the policy it names
        options = {option: value for option, value in options.items() if option in options_of(name)}
    return make_policy(name, spec.language, spec.siblings, {**options, **policy_options(settings)}, model)


class BehindRequisites:
    """A policy whose links leave the best priority band to what kept pages embed (:mod:`crawler.pages.requisites`)."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy

    def judge(self, page: Page, context: PageContext) -> Verdict:
        return self._policy.judge(page, context)

    def link_priority(self, link: LinkContext) -> float:
        return min(BEHIND, self._policy.link_priority(link))

    def rank(self, links: Sequence[LinkContext]) -> list[tuple[float, str]]:
        return [(min(BEHIND, score), bucket) for score, bucket in self._policy.rank(links)]

    def rescore(self, queued: Sequence[tuple[str, int, str]]) -> list[float]:
        return [min(BEHIND, score) for score in self._policy.rescore(queued)]

    def explain(self, url: str, since_relevant: int, bucket: str) -> dict[str, float]:
        terms = self._policy.explain(url, since_relevant, bucket)
        return {name: min(BEHIND, term) if name == "priority" else term for name, term in terms.items()}

    def deltas(self) -> dict[str, tuple[int, ...]]:
        return self._policy.deltas()

    def absorb(self, counts: Counts) -> None:
        self._policy.absorb(counts)
