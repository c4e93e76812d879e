"""Letter models of close siblings, tuned to tell them apart on words that they have not met.

Most mistakes on short text are words that no list has (leave-one-source-out: knowing those words would lift F1 of
isiZulu in 1-4 words from 73 to 86, knowing the listed ones better only to 75), and letter models that were counted
for each language alone overrate what one of them happens to have seen. So the word types are split into FOLDS; each
part is judged by letter models of the others, and what is added to the values of the n-grams is chosen so that the
softmax over the siblings fits (cross entropy with an L2 penalty: a convex problem).

Differs from a discriminative model of text: the Kneser-Ney values stay and only a small difference is learnt; each
word counts by WEIGHT of its frequency, hardly more than once, so that no source's topics are learnt; and words are
always judged by models that have not seen them. Tuning on strings instead of types fits the sources (F1 lost).

The differences of an n-gram add up to 0 over the siblings, so what is not of the group sees the same group.
Deterministic: the folds come from a hash of the word.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from relevance.language import storage
from relevance.language.alphabet import LATIN, Alphabet, word_starts
from relevance.language.strangeness import told_by
from relevance.language.trie import Trie, lay_out
from relevance.learning.kneserney import Floats, Keys, KneserNey
from relevance.learning.training import Description, WordCounts, moved

FOLDS = 4
WEIGHT = 0.3
PENALTY = 3e-4
STEPS = 25
_MEMORY = 8
"""Steps that the descent remembers."""

Objective = Callable[[Floats], tuple[float, Floats]]
"""A point -> its value and its gradient."""


def tuned(model: storage.Parameters, counted: Mapping[str, WordCounts], description: Description) -> storage.Parameters:
    """The model with each group of siblings tuned; a second-stage class moves with the one it is split from."""
    rows, step, alphabet = model.rows, description.settings.step, Alphabet.of(model.meta)
    for group in description.siblings:
        types = word_types([counted[name] for name in group], model.keys, description.settings.order, alphabet)
        change = differences(types, model.keys) * told_by(min(counted[name].total() for name in group))
        rows = moved(rows, description, group, change / step)
    return replace(model, rows=rows)


@dataclass(frozen=True, slots=True)
class Types:
    """The words of a group: which n-grams they have, what models that have not met them say, whose they are."""

    ngrams: npt.NDArray[np.int32]  # row of the longest n-gram that ends at each letter, word after word
    starts: npt.NDArray[np.int64]  # of the words in `ngrams`
    logs: Floats  # word x sibling
    truth: Floats  # word x sibling, a row adds up to 1
    weights: Floats  # of the words; all add up to 1


def word_types(counted: Sequence[WordCounts], kept: tuple[Keys, ...], order: int, alphabet: Alphabet = LATIN) -> Types:
    """All words of the siblings, judged by letter models of the other folds."""
    tokens = sorted(set().union(*counted))
    folds = np.array([zlib.crc32(token.encode()) % FOLDS for token in tokens])
    codes = alphabet.encode(tokens)
    logs = np.zeros((len(tokens), len(counted)))
    shares = np.zeros_like(logs)
    for column, counts in enumerate(counted):
        shares[:, column] = [counts.get(token, 0) ** WEIGHT for token in tokens]
        for fold in range(FOLDS):
            met = {t: counts[t] for t, f in zip(tokens, folds.tolist(), strict=True) if f != fold and t in counts}
            unmet = np.flatnonzero(folds == fold)
            if met and len(unmet):
                letters = KneserNey.of(met, order, alphabet)
                logs[unmet, column] = letters.word_logs([tokens[i] for i in unmet.tolist()])
    shares /= shares.sum(axis=0) * len(counted)
    weights = shares.sum(axis=1)
    ngrams = Trie(lay_out(kept), order).longest(codes)
    return Types(ngrams, word_starts(codes), logs, shares / weights[:, np.newaxis], weights)


def differences(types: Types, kept: tuple[Keys, ...]) -> Floats:
    """What is added to log p, n-gram x sibling. An n-gram has what its shorter ones have and something of its own,
    which alone is penalised."""
    bounds = np.cumsum([0, *map(len, kept)])
    shape = int(bounds[-1]), types.logs.shape[1]
    parents = storage.parents(kept)
    words = np.repeat(np.arange(len(types.starts)), np.diff(np.append(types.starts, len(types.ngrams))))

    def summed(own: Floats) -> Floats:
        whole = own.reshape(shape).copy()
        for start, end in pairwise(bounds[1:]):
            whole[start:end] += whole[parents[start:end]]
        return whole

    def objective(own: Floats) -> tuple[float, Floats]:
        scores = types.logs + np.add.reduceat(summed(own).take(types.ngrams, axis=0), types.starts, axis=0)
        scores -= scores.max(axis=1, keepdims=True)
        scores -= np.log(np.exp(scores).sum(axis=1, keepdims=True))
        loss = -float((types.truth * scores).sum(axis=1) @ types.weights)
        slope = (np.exp(scores) - types.truth) * types.weights[:, np.newaxis]
        columns = [np.bincount(types.ngrams, slope[words, k], shape[0]) for k in range(shape[1])]
        for column in columns:
            for start, end in zip(bounds[-2:0:-1], bounds[:1:-1], strict=True):
                column[:start] += np.bincount(parents[start:end], column[start:end], start)
        return loss + 0.5 * PENALTY * float(own @ own), np.stack(columns, axis=1).ravel() + PENALTY * own

    return summed(descend(objective, np.zeros(shape[0] * shape[1]), STEPS))


def descend(objective: Objective, at: Floats, steps: int) -> Floats:
    """Towards the minimum of a convex function: L-BFGS with halved steps (Nocedal and Wright, 7.2, 3.1)."""
    value, slope = objective(at)
    moves: list[tuple[Floats, Floats]] = []
    for _ in range(steps):
        way = _direction(slope, moves)
        length, gain = 1.0, float(slope @ way)
        for _ in range(20):
            there = at - length * way
            lower, next_slope = objective(there)
            if lower <= value - 1e-4 * length * gain:
                break
            length /= 2
        else:
            return at
        if (there - at) @ (next_slope - slope) > 0:
            moves = [*moves[1 - _MEMORY :], (there - at, next_slope - slope)]
        at, value, slope = there, lower, next_slope
    return at


def _direction(slope: Floats, moves: Sequence[tuple[Floats, Floats]]) -> Floats:
    """The slope, bent by the curvature met so far; at first as long as changes the largest value by 0.1."""
    way = slope.copy()
    if not moves:
        return way * (0.1 / max(float(np.abs(way).max()), 1e-12))
    taken = []
    for move, bend in reversed(moves):
        taken.append(float(move @ way) / float(move @ bend))
        way -= taken[-1] * bend
    move, bend = moves[-1]
    way *= float(move @ bend) / float(bend @ bend)
    for (move, bend), part in zip(moves, reversed(taken), strict=True):
        way += (part - float(bend @ way) / float(move @ bend)) * move
    return way
