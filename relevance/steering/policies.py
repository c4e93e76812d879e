"""Policies by name."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from typing import Any

from relevance.errors import PolicyError
from relevance.language.model import Model, shipped
from relevance.steering.plain_policies import AfriwebPolicy, KeepAllPolicy, PlainPolicy, ThresholdPolicy
from relevance.steering.policy import Policy, Target
from relevance.steering.yield_policy import YieldPolicy
from relevance.types import UNDETERMINED

POLICIES: dict[str, type[PlainPolicy]] = {
    "afriweb": AfriwebPolicy,
    "threshold": ThresholdPolicy,
    "yield": YieldPolicy,
    "all": KeepAllPolicy,
}


def options_of(name: str) -> frozenset[str]:
    """Names of a policy's options; PolicyError for a policy that there is not."""
    if name not in POLICIES:
        raise PolicyError(f"no policy {name!r}; there are {', '.join(POLICIES)}")
    return POLICIES[name].OPTIONS


def make_policy(
    name: str,
    language: str,
    siblings: Collection[str] = (),
    options: Mapping[str, Any] | None = None,
    model: Model | None = None,
) -> Policy:
    """The policy called "yield", "threshold", "afriweb" or "all" for a target language; model: default the shipped one.

    PolicyError for any other name, for an option that the policy does not have, and for a language that the model does
    not know unless everything is kept.
    """
    known = options_of(name)
    for option in options or ():
        if option not in known:
            close = difflib.get_close_matches(option, known, n=1)
            raise PolicyError(
                f"policy {name} has no option {option!r}"
                + (f" (did you mean {close[0]}?)" if close else f"; it has {', '.join(sorted(known)) or 'none'}")
            )
    model = model or shipped()
    if name != "all" and (language == UNDETERMINED or language not in model.labels):
        raise PolicyError(f"the model does not know {language!r}; train one that does, or keep all pages: policy all")
    return POLICIES[name](Target(language, siblings), options or {}, model)
