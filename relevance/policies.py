"""Policies by name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from relevance.errors import PolicyError
from relevance.plain_policies import AfriwebPolicy, ThresholdPolicy
from relevance.policy import Policy, Target
from relevance.yield_policy import YieldPolicy


def make_policy(
    name: str, language: str, siblings: Collection[str] = (), options: Mapping[str, Any] | None = None
) -> Policy:
    """The policy called "afriweb", "threshold" or "yield" for a target language; PolicyError for any other."""
    policies: dict[str, Callable[[Target, Mapping[str, Any]], Policy]] = {
        "afriweb": AfriwebPolicy,
        "threshold": ThresholdPolicy,
        "yield": YieldPolicy,
    }
    made = policies.get(name)
    if made is None:
        raise PolicyError(f"no policy {name!r}; there are afriweb, threshold and yield")
    return made(Target(language, siblings), options or {})
