"""Modified Kneser-Ney over the letters of words, as numpy arrays.

Source: Chen and Goodman, An empirical study of smoothing techniques (1999), section 3; the thesis' wish for "other
smoothing". Discounts D1, D2, D3+ come from counts of counts; below the longest order an n-gram counts by how many
letters it follows, but an n-gram at the start of a word, which follows nothing, keeps its frequency. The order-0
distribution is uniform over the letters.

Differs from the textbook in one point: the model is word-wise, so no n-gram reaches over a space.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from relevance.language.alphabet import BITS, BOUNDARY, LATIN, Alphabet, ngram_keys

Keys = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
LETTERS = 62
"""Size of the uniform order-0 distribution: all codes but 0 and the two catch-alls counted once."""


@dataclass(frozen=True, slots=True)
class Ngrams:
    """The n-grams of one order of one language: sorted keys and their counts."""

    keys: Keys
    counts: Floats

    def at(self, keys: Keys) -> Floats:
        """Counts of these n-grams, 0 where absent."""
        if not len(self.keys):
            return np.zeros(len(keys))
        where = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[where] == keys, self.counts[where], 0.0)


def grouped(keys: Keys, counts: Floats) -> Ngrams:
    """Equal keys added up."""
    unique, inverse = np.unique(keys, return_inverse=True)
    return Ngrams(unique, np.bincount(inverse, weights=counts, minlength=len(unique)).astype(float))


def count_ngrams(word_counts: Mapping[str, float], order: int, alphabet: Alphabet = LATIN) -> list[Ngrams]:
    """Raw counts of the orders 1..order (index order - 1) over words with their frequencies."""
    tokens = list(word_counts)
    codes = alphabet.encode(tokens)
    keys, lengths, starts = ngram_keys(codes, order)
    weights = np.repeat(np.fromiter(word_counts.values(), float, len(tokens)), np.diff(np.append(starts, len(keys))))
    out = []
    for size in range(1, order + 1):
        fits = lengths >= size
        mask = (np.int64(1) << (BITS * size)) - 1
        out.append(grouped(keys[fits] & mask, weights[fits]))
    return out


def starts_word(keys: Keys, order: int) -> npt.NDArray[np.bool_]:
    return (keys >> (BITS * (order - 1))) == BOUNDARY if order > 1 else np.zeros(len(keys), dtype=bool)


def discounts(counts: Floats) -> tuple[float, float, float]:
    """D1, D2, D3+ from counts of counts; fixed ones where the text is too small to tell."""
    whole = np.rint(counts)
    n1, n2, n3, n4 = (float(np.count_nonzero(whole == k)) for k in (1, 2, 3, 4))
    if min(n1, n2, n3) < 1:
        return 0.6, 0.9, 1.1
    y = n1 / (n1 + 2 * n2)
    raw = (1 - 2 * y * n2 / n1, 2 - 3 * y * n3 / n2, 3 - 4 * y * n4 / n3)
    return (min(max(raw[0], 0.1), 0.95), min(max(raw[1], 0.2), 1.9), min(max(raw[2], 0.3), 2.8))


@dataclass(frozen=True, slots=True)
class Level:
    """One order of one language, ready to give probabilities: discounted counts and what is left for the shorter."""

    ngrams: Ngrams
    contexts: Ngrams  # sum of counts by context
    left: Floats  # weight of the shorter order, by context
    steps: tuple[float, float, float]

    def mix(self, keys: Keys, shorter: Floats) -> Floats:
        """p(letter | context), given the same of the next shorter order."""
        if not len(self.ngrams.keys):
            return shorter
        counts = self.ngrams.at(keys)
        context = keys >> BITS
        where = np.minimum(np.searchsorted(self.contexts.keys, context), len(self.contexts.keys) - 1)
        known = self.contexts.keys[where] == context
        total = np.where(known, self.contexts.counts[where], 1.0)
        gamma = np.where(known, self.left[where], 1.0)
        return np.maximum(counts - _discount(counts, self.steps), 0.0) / total + gamma * shorter


def _discount(counts: Floats, steps: tuple[float, float, float]) -> Floats:
    small = np.where(counts < 1.5, steps[0], np.where(counts < 2.5, steps[1], steps[2]))
    return np.minimum(np.where(counts > 0, small, 0.0), counts)


def _level(ngrams: Ngrams) -> Level:
    steps = discounts(ngrams.counts)
    taken = _discount(ngrams.counts, steps)
    context = ngrams.keys >> BITS
    totals = grouped(context, ngrams.counts)
    given = grouped(context, taken)
    left = np.clip(given.counts / np.maximum(totals.counts, 1e-12), 1e-6, 1.0)
    return Level(ngrams, totals, left, steps)


class KneserNey:
    """The letter model of one language."""

    def __init__(self, raw: list[Ngrams], alphabet: Alphabet = LATIN) -> None:
        self.order, self.alphabet = len(raw), alphabet
        self.levels: list[Level] = []
        for size in range(1, self.order + 1):
            ngrams = raw[size - 1]
            if size < self.order:
                ngrams = _continuations(ngrams, raw[size], size)
            self.levels.append(_level(ngrams))

    @classmethod
    def of(cls, word_counts: Mapping[str, float], order: int, alphabet: Alphabet) -> KneserNey:
        """The model of words with their frequencies."""
        return cls(count_ngrams(word_counts, order, alphabet), alphabet)

    def probabilities(self, keys: Keys, size: int) -> Floats:
        """p(last letter | the letters before) of n-grams all of one length."""
        p = np.full(len(keys), 1.0 / LETTERS)
        for n in range(1, size + 1):
            p = self.levels[n - 1].mix(keys & ((np.int64(1) << (BITS * n)) - 1), p)
        return p

    def word_logs(self, tokens: list[str]) -> Floats:
        """log p of whole words (end mark included), unpruned and unquantised: what the stored model approximates."""
        keys, lengths, starts = ngram_keys(self.alphabet.encode(tokens), self.order)
        logs = np.zeros(len(keys))
        for size in range(1, self.order + 1):
            these = lengths == size
            logs[these] = np.log(self.probabilities(keys[these], size))
        return np.add.reduceat(logs, starts)


def _continuations(raw: Ngrams, longer: Ngrams, size: int) -> Ngrams:
    """How many different letters stand before each n-gram; at a word's start its frequency."""
    mask = (np.int64(1) << (BITS * size)) - 1
    followed = grouped(longer.keys & mask, np.ones(len(longer.keys)))
    return Ngrams(raw.keys, np.where(starts_word(raw.keys, size), raw.counts, followed.at(raw.keys)))
