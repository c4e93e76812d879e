"""Text in more than one language: a label for every word.

The most probable sequence of languages when a change costs SWITCH nats (Viterbi over the words' evidence): a word by
itself is right half of the time, its neighbours decide the rest. Pools ("und") compete like any language.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from relevance.alphabet import words
from relevance.errors import UnknownLanguageError
from relevance.model import STEP, Model, shipped

SWITCH = 6.0


def labels_by_word(
    text: str, languages: Collection[str] | None = None, model: Model | None = None
) -> list[tuple[str, str]]:
    """(word in lower case, language) in order; `languages` limits the choice. Cost: about 10 microseconds a word."""
    model = model or shipped()
    tokens = words(text)
    if not tokens:
        return []
    for language in languages or ():
        if language not in model.labels:
            raise UnknownLanguageError(language, model.labels)
    second = set(model.meta.get("second_stage", {}))
    names = zip(model.classes, model.labels, strict=True)
    columns = [
        i
        for i, (name, label) in enumerate(names)
        if (label in languages if languages is not None else name not in second)
    ]
    costs = model.evidence(tokens)[:, columns].astype(np.float64) * STEP
    back = np.empty(costs.shape, dtype=np.intp)
    best, stay = costs[0], np.arange(len(columns))
    for at in range(1, len(costs)):
        cheapest = int(best.argmin())
        change = best[cheapest] + SWITCH
        back[at] = np.where(best <= change, stay, cheapest)
        best = np.minimum(best, change) + costs[at]
    path = [int(best.argmin())]
    for at in range(len(costs) - 1, 0, -1):
        path.append(int(back[at][path[-1]]))
    return [(word, model.labels[columns[at]]) for word, at in zip(tokens, reversed(path), strict=True)]
