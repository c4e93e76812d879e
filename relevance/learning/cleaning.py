"""Lines that lie in the wrong file.

Sources mislabel: a government newspaper has whole articles of one language in another's edition, and every news site
has captions in English. A line that a model trained with that very line still gives to another class is not what its
file says. Dropping such lines and training anew makes the model surer of the next ones, so it is done in rounds.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from relevance.language.alphabet import words
from relevance.language.model import STEP, Model
from relevance.learning.training import ClassSpec, Corpus

LEAST_WORDS = 6
BEHIND = 0.1
"""Nats a word by which another class must lead."""
_LINES = 2000


def cleaned(corpus: Corpus, classes: tuple[ClassSpec, ...], model: Model) -> tuple[Corpus, Counter[str]]:
    """The corpus without mislabelled lines, and how many were dropped by source/language. Pools stay as they are."""
    columns = {spec.languages[0]: n for n, spec in enumerate(classes) if spec.languages == (spec.label,)}
    dropped: Counter[str] = Counter()
    out: Corpus = {}
    for language, sources in corpus.items():
        out[language] = {}
        for source, lines in sources.items():
            kept = _kept(lines, columns[language], model) if language in columns else lines
            out[language][source] = kept
            dropped[f"{source}/{language}"] += len(lines) - len(kept)
    return out, +dropped


def _kept(lines: list[str], column: int, model: Model) -> list[str]:
    out: list[str] = []
    for at in range(0, len(lines), _LINES):
        some = lines[at : at + _LINES]
        tokens = [words(line) or ["a"] for line in some]
        sizes = np.array([len(line) for line in tokens])
        evidence = model.evidence([word for line in tokens for word in line])[:, : len(model.classes)]
        starts = np.cumsum(sizes) - sizes
        costs = np.add.reduceat(evidence, starts, axis=0, dtype=np.int64) * STEP
        behind = (costs[:, column] - costs.min(axis=1)) / sizes
        out += [
            line for line, gap, size in zip(some, behind, sizes, strict=True) if gap <= BEHIND or size < LEAST_WORDS
        ]
    return out
