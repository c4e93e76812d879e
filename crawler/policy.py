"""The relevance policy of a crawl, from its seed file and the settings."""

from __future__ import annotations

import contextlib

from scrapy.settings import BaseSettings

from relevance.policies import make_policy
from relevance.policy import Policy
from seeds.crawl import Crawl

DEFAULT_POLICY = "yield"


def policy_options(settings: BaseSettings) -> dict[str, int | float | str]:
    """``RELEVANCE_OPTIONS`` ("words=10,share=0.5") as values; what is no number stays text."""
    found: dict[str, int | float | str] = {}
    for part in settings.getlist("RELEVANCE_OPTIONS"):
        name, _, text = part.partition("=")
        value: int | float | str = text.strip()
        for kind in (float, int):
            with contextlib.suppress(ValueError):
                value = kind(text)
        found[name.strip()] = value
    return found


def open_policy(settings: BaseSettings, spec: Crawl | None) -> Policy:
    """The policy of a crawl, by setting or seed file; PolicyError when it cannot be had.

    Without a seed file there is no language to look for, and everything is kept.
    """
    if spec is None:
        return make_policy("all", "")
    name = settings.get("RELEVANCE_POLICY") or spec.policy or DEFAULT_POLICY
    return make_policy(name, spec.language, spec.siblings, {**spec.policy_options, **policy_options(settings)})
