"""Policies by name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from relevance.errors import PolicyError
from relevance.model import shipped
from relevance.plain_policies import AfriwebPolicy, KeepAllPolicy, ThresholdPolicy
from relevance.policy import Policy, Target
from relevance.yield_policy import YieldPolicy


def make_policy(
    name: str, language: str, siblings: Collection[str] = (), options: Mapping[str, Any] | None = None
) -> Policy:
    """The policy called "yield", "threshold", "afriweb" or "all" for a target language.

    PolicyError for any other name, and for a language that the model does not know unless everything is kept.
    """
    policies: dict[str, Callable[[Target, Mapping[str, Any]], Policy]] = {
        "afriweb": AfriwebPolicy,
        "threshold": ThresholdPolicy,
        "yield": YieldPolicy,
        "all": KeepAllPolicy,
    }
    made = policies.get(name)
    if made is None:
        raise PolicyError(f"no policy {name!r}; there are {', '.join(policies)}")
    if name != "all" and language not in shipped().labels:
        raise PolicyError(f"the model does not know {language!r}; train one that does, or keep all pages: policy all")
    return made(Target(language, siblings), options or {})
