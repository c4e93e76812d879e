"""Text drawn from the shipped model: words by their frequency, in sentences."""

from __future__ import annotations

import random
from functools import lru_cache
from itertools import accumulate

from relevance.language.model import shipped


@lru_cache(maxsize=64)
def _vocabulary(language: str) -> tuple[tuple[str, ...], tuple[float, ...]]:
    words, weights = shipped().vocabulary(language)
    return words, tuple(accumulate(weights))


def sentences(language: str, rng: random.Random, words: int) -> str:
    """About `words` words of a language (a class name of the model) in sentences of 4 to 18 words with a full stop."""
    vocabulary, cumulative = _vocabulary(language)
    drawn = rng.choices(vocabulary, cum_weights=cumulative, k=max(words, 0))
    out, at = [], 0
    while at < len(drawn):
        size = rng.randint(4, 18)
        out.append(" ".join(drawn[at : at + size]).capitalize() + ".")
        at += size
    return " ".join(out)
