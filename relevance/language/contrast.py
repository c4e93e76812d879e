"""A second look at short or doubtful text of close siblings: letters across words, words and pairs of words.

The model proper knows words by themselves. Which of two siblings a text is in shows between the words, too: concords
agree, and some words follow only certain others. A linear model adds up a weight for every n-gram of up to ORDER
letters (words' ends and beginnings together), every word and every pair of words that the text has; each once, as a
name in a list says no more by coming again. The weights are learnt by `relevance.learning.contrasting`; they lie in a
table of 2^BUCKETS rows by hash, without the n-grams themselves, so two may share a row.

It costs more than all that the model proper does with known words, so only texts are looked at whose best two are
siblings less than CLOSE nats apart: what lies further apart it hardly ever turns.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from itertools import accumulate, chain
from typing import Any

import numpy as np
import numpy.typing as npt

from relevance.language.alphabet import BITS, BOUNDARY, LATIN, Alphabet

ORDER = 5
BUCKETS = 20
WIDE = 31
CLOSE = 6.0
STEP = 0.01
"""Nats of one unit of the table."""
_MIXER, _PAIR = np.uint64(0x9E3779B97F4A7C15), np.uint64(0x100000001B3)
_WORDS, _PAIRS = np.uint64(1 << 33), np.uint64(1 << 34)
_SIZES = (np.arange(1, ORDER + 1, dtype=np.uint64) << np.uint64(58))[:, np.newaxis]
_BACK = np.arange(ORDER)[:, np.newaxis]
_SHIFTS = [np.uint64(BITS * size) for size in range(1, ORDER)]  # to make one takes as long as to shift by it
_WIDE, _HASH = np.uint64(WIDE), np.uint64((1 << WIDE) - 1)

Table = npt.NDArray[np.int8]
Hashes = npt.NDArray[np.int64]


def features(
    texts: Sequence[Sequence[str]], bits: int = BUCKETS, alphabet: Alphabet = LATIN
) -> tuple[Hashes, npt.NDArray[np.int64]]:
    """What texts (words; no text is empty) have: hashes of so many bits, each once a text, and whose text each is."""
    flat = [*chain.from_iterable(texts)]
    codes = alphabet.encode(flat).astype(np.uint64)
    sizes = [*map(len, texts)]
    bounds = (codes == BOUNDARY).nonzero()[0].take([0, *accumulate(sizes)])
    starts, lengths = bounds[:-1], bounds[1:] - bounds[:-1]
    whose = np.arange(len(texts), dtype=np.uint64) << _WIDE
    keys = np.empty((ORDER, len(codes) - 1), dtype=np.uint64)
    keys[0] = codes[1:]
    for size, shift in enumerate(_SHIFTS, start=1):
        keys[size] = keys[size - 1]
        keys[size, size - 1 :] |= codes[: max(0, len(codes) - size)] << shift
    # An n-gram lies in its text where its last letter is far enough from the start.
    inside = np.arange(1, len(codes)) - starts.repeat(lengths) >= _BACK
    inside[0] = codes[1:] != BOUNDARY
    words = np.fromiter(map(zlib.crc32, map(str.encode, flat)), dtype=np.uint64, count=len(flat))
    owner = whose.repeat(sizes)
    pairs = words[:-1] * _PAIR + words[1:] + _PAIRS
    within = owner[:-1] == owner[1:]
    shift = np.uint64(64 - bits)
    parts = (
        ((keys + _SIZES) * _MIXER >> shift | whose.repeat(lengths))[inside],
        (words + _WORDS) * _MIXER >> shift | owner,
        (pairs * _MIXER >> shift | owner[1:])[within],
    )
    every = np.concatenate(parts)
    every.sort()
    different = np.ones(len(every), dtype=np.bool_)
    np.not_equal(every[1:], every[:-1], out=different[1:])
    every = every[different]
    return (every & _HASH).view(np.int64), (every >> _WIDE).view(np.int64)


def scores(table: Table, texts: Sequence[Sequence[str]], alphabet: Alphabet = LATIN) -> npt.NDArray[Any]:
    """Nats that speak for each sibling, text x sibling; they mean something against one another only."""
    found, owner = features(texts, alphabet=alphabet)
    starts = owner.searchsorted(np.arange(len(texts)))
    return np.add.reduceat(table.take(found, axis=0), starts, axis=0, dtype=np.int32) * STEP
