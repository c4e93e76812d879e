"""Which language a text is in.

`identify` sums the evidence of the words. Long texts are judged by four slices of together LETTERS letters, so the
cost of a text is bounded. Only text of MIN_SECOND words or more may be called by a second-stage language
(Zimbabwean Ndebele), and only by a margin: as an equal class it takes 5-10 % of out-of-domain isiZulu sentences.
A language of the family is named only when it leads what is not of the family by GUARD nats a word: names and loans in
thousands of languages look like isiZulu, while true text leads by seven. (Leave-one-source-out: languages never
seen in training called isiZulu fall from 0.09 to 0.01 % of sentences, 0.77 to 0.27 % of 1-4 words, F1 of short -0.5.)
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from relevance.alphabet import words
from relevance.errors import ModelError, UnknownLanguageError
from relevance.model import STEP, Model, shipped

UNDETERMINED = "und"
LETTERS = 1000
SLICES = 4
MIN_SECOND = 25
SECOND_MARGIN = 0.1
"""Nats a word."""
GUARD = 1.5
TOGETHER = 256
"""Texts worked on at a time: bounds the memory of a call."""
GUARDED = 8
"""Words after which the guard grows no more: mixed text keeps its chance."""


@dataclass(frozen=True, slots=True)
class Identification:
    """What a text is written in.

    language: ISO 639-3, or "und": no words, or a language the model only knows as "another".
    score: probability of that class at equal priors, 0 to 1. margin: nats a word to the next language.
    family_share: part of the words that fit a language of the model's family (Nguni) at least as well as any other.
    words: words looked at (long texts are sampled).
    """

    language: str
    score: float
    margin: float
    family_share: float
    words: int


NOTHING = Identification(UNDETERMINED, 0.0, 0.0, 0.0, 0)


def sampled(text: str) -> str:
    """The text, or SLICES pieces of it where it is long; pieces begin and end at white space."""
    if len(text) <= LETTERS + LETTERS // 4:
        return text
    piece = LETTERS // SLICES
    stride = (len(text) - piece) // (SLICES - 1)
    parts = []
    for k in range(SLICES):
        part = text[k * stride : k * stride + piece]
        first, last = part.find(" "), part.rfind(" ")
        parts.append(part[first + 1 : last] if 0 <= first < last else part)
    return " ".join(parts)


class Identifier:
    """A model with its rules: second stage, family, pools that answer "und"."""

    def __init__(self, model: Model, languages: Collection[str] | None = None) -> None:
        self.model = model
        known = tuple(dict.fromkeys(label for label in model.labels if label != UNDETERMINED))
        for language in languages or ():
            if language not in known:
                raise UnknownLanguageError(language, known)
        allowed = [languages is None or label in languages for label in model.labels]
        self._columns = np.flatnonzero(allowed)
        self._labels = [model.labels[i] for i in self._columns]
        names = [model.classes[i] for i in self._columns]
        family = set(model.meta.get("family", ()))
        self._family = np.array([name in family for name in names])
        stages = {second: first for second, first in model.meta.get("second_stage", {}).items() if second in names}
        self._guard = GUARD if languages is None and self._family.any() and not self._family.all() else 0.0
        alone = languages is not None and len(names) == 1
        self._second = [] if alone else [(names.index(s), names.index(f)) for s, f in stages.items() if f in names]

    def __call__(self, texts: Sequence[str]) -> list[Identification]:
        return [found for at in range(0, len(texts), TOGETHER) for found in self._some(texts[at : at + TOGETHER])]

    def _some(self, texts: Sequence[str]) -> list[Identification]:
        tokens = [words(sampled(text)) for text in texts]
        flat = [word for some in tokens for word in some]
        if not flat:
            return [NOTHING] * len(texts)
        rows = self.model.rows_of(flat)
        evidence = self.model.table.take(rows, axis=0)
        if len(self._columns) < len(self.model.classes):
            evidence = evidence[:, self._columns]
        sizes = np.array([len(some) for some in tokens])
        full = np.flatnonzero(sizes)
        starts = (np.cumsum(sizes) - sizes)[full]
        costs = np.add.reduceat(evidence, starts, axis=0, dtype=np.int32).astype(np.float64) * STEP
        shares = self._family_share(evidence, starts, sizes[full])
        out = [NOTHING] * len(texts)
        for place, found in zip(full.tolist(), self._decide(costs, shares, sizes[full]), strict=True):
            out[place] = found
        return out

    def _family_share(
        self, evidence: npt.NDArray[np.uint8], starts: npt.NDArray[np.int64], sizes: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.float64]:
        if self._family.all() or not self._family.any():
            return np.full(len(sizes), float(self._family.all()))
        inside = evidence[:, self._family].min(axis=1) <= evidence[:, ~self._family].min(axis=1)
        return np.add.reduceat(inside, starts, dtype=np.int64) / sizes

    def _decide(
        self, costs: npt.NDArray[np.float64], shares: npt.NDArray[np.float64], counts: npt.NDArray[np.int64]
    ) -> Iterator[Identification]:
        """One answer a row of `costs` (texts x classes, nats), which are changed."""
        for second, first in self._second:
            few = counts < MIN_SECOND
            off = few | (costs[:, second] + SECOND_MARGIN * counts > costs[:, first])
            joined = off & ~few
            costs[joined, first] = np.minimum(costs[joined, first], costs[joined, second])
            costs[off, second] = np.inf
        if self._guard:
            costs[:, ~self._family] -= (self._guard * np.minimum(counts, GUARDED))[:, np.newaxis]
        rows, best = np.arange(len(costs)), costs.argmin(axis=1)
        lowest = costs[rows, best]
        scores = 1.0 / np.exp(np.minimum(lowest[:, np.newaxis] - costs, 0.0)).sum(axis=1)
        costs[rows, best] = np.inf
        behind = costs.min(axis=1) - lowest
        margins = np.where(np.isfinite(behind), behind, 0.0) / counts
        columns = (best.tolist(), scores.tolist(), margins.tolist(), shares.tolist(), counts.tolist())
        for place, score, margin, share, count in zip(*columns, strict=True):
            yield Identification(self._labels[place], score, margin, share, count)


def identify(
    texts: Sequence[str], languages: Collection[str] | None = None, model: str | Model = "southern"
) -> list[Identification]:
    """The language of each text.

    `languages` limits the answer to these (ISO 639-3). `model`: the shipped one, another loaded one, or "afriweb": the
    thesis' method, which knows isiZulu and not isiZulu ("und").
    """
    if model == "afriweb":
        from relevance.thesis import thesis_model

        return thesis_model().identify(texts)
    if isinstance(model, str) and model != "southern":
        raise ModelError(model, "is neither southern nor afriweb; load other models with relevance.model.load")
    return _identifier(shipped() if isinstance(model, str) else model, frozenset(languages) if languages else None)(
        texts
    )


@lru_cache(maxsize=16)
def _identifier(model: Model, languages: frozenset[str] | None) -> Identifier:
    return Identifier(model, languages)


def codes(texts: Sequence[str]) -> list[str]:
    """The languages alone."""
    return [found.language for found in identify(texts)]
