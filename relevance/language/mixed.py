"""Text in more than one language: a label for every word.

A hidden Markov model over the words' evidence. A word stays in the language of the one before it with probability STAY
or else is drawn from the languages that the text is made of. How much of the text is in which language is not known
beforehand: it is fitted to the text itself (Baum and Welch, 1970) until no share changes by SETTLED, at most ROUNDS
times. So in an isiZulu text with English in it a single English word is found, as a change costs little, while it is
not given to the other twenty languages that it could be in, too. What keeps the mixture plain:
- a language must have won more than FEW words of the text, so single words hardly bring one in;
- siblings seldom stand in one text, so of what siblings have together the strongest gets more than its part
  (SHARPER), and single isiZulu words are not given to isiXhosa;
- where little is known of which sibling it is, the language that the model is made for is the better guess, as it is of
  a whole text (relevance.language.calibration): it begins with WANTED times the share of each of the others.

A word's label is its most probable language, not that of the most probable sequence. Pools ("und") compete like any
language.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from relevance.errors import ModelError
from relevance.language.alphabet import words
from relevance.language.identification import answerable, limits
from relevance.language.model import STEP, Model, chosen

STAY = 0.8
SETTLED = 0.05
ROUNDS = 4
FEW = 0.9
SHARPER = 3.0
WANTED = 2.0
_LEAST = 1e-4
"""Of the mixture, for a language that has no word: it may come back."""

Shares = npt.NDArray[np.floating[Any]]


def labels_by_word(
    text: str, languages: Iterable[str] | None = None, model: str | Model = "southern"
) -> list[tuple[str, str]]:
    """(word in lower case, language) in order; `languages` limits the choice (none: all). `model`: the shipped one or
    another loaded one. Cost: about 60 microseconds and 700 bytes a word."""
    if not isinstance(text, str):
        raise TypeError(f"text is no string but of type {type(text).__name__}")
    allowed = limits(languages)
    if model == "afriweb":
        raise ModelError(model, "does not label words")
    model = chosen(model)
    columns = answerable(model, allowed)
    tokens = words(text)
    if not tokens:
        return []
    if allowed is None:
        second = model.meta.get("second_stage", {})
        columns = [column for column in columns if model.classes[column] not in second]
    likely = np.exp(model.evidence(tokens)[:, columns].astype(np.float64) * -STEP)
    among = [model.classes[column] for column in columns]
    siblings = [[among.index(name) for name in group if name in among] for group in model.meta.get("siblings", ())]
    wanted = model.meta.get("wanted", "")
    shares = _made_of(likely, siblings, among.index(wanted) if wanted in among else -1)
    best = _by_word(likely, shares).argmax(axis=1).tolist()
    return [(word, model.labels[columns[place]]) for word, place in zip(tokens, best, strict=True)]


def _made_of(likely: Shares, siblings: Sequence[Sequence[int]], wanted: int) -> Shares:
    """The share of each language in the text. likely: word x language, up to a factor a word; wanted: the column of the
    language that the model is made for, -1 for none."""
    count = likely.shape[1]
    shares = np.full(count, 1 / count)
    for group in siblings:
        if wanted in group:
            shares[group] *= len(group) / (len(group) - 1 + WANTED)
            shares[wanted] *= WANTED
    for least in (FEW / 2, *[FEW] * (ROUNDS - 1)):
        found = _by_word(likely, shares).sum(axis=0)
        for group in siblings:
            together = found[group].sum()
            sharp = found[group] ** SHARPER
            found[group] = together * sharp / max(float(sharp.sum()), np.finfo(float).tiny)
        found = np.maximum(found - least, 0) + _LEAST
        before, shares = shares, found / found.sum()
        if np.abs(shares - before).max() < SETTLED:
            break
    return shares


def _by_word(likely: Shares, shares: Shares) -> Shares:
    """Probability of each language for each word (forward and backward pass), word x language."""
    drawn = (1 - STAY) * shares
    ahead, behind = np.empty_like(likely), np.ones_like(likely)
    before = likely[0] * shares
    ahead[0] = before = before / before.sum()
    for at in range(1, len(likely)):
        before = likely[at] * (STAY * before + drawn)
        ahead[at] = before = before / before.sum()
    after = behind[-1]
    for at in range(len(likely) - 1, 0, -1):
        after = likely[at] * after
        after = STAY * after + drawn @ after
        behind[at - 1] = after = after / after.sum()
    ahead *= behind
    ahead /= ahead.sum(axis=1, keepdims=True)
    return ahead
