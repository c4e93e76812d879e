"""Near-duplicates: one number for the main text of a page, alike for alike texts.

SimHash (Charikar 2002; Manku, Jain and Das Sarma 2007; the lecture notes on web crawling): the signals are overlapping
triples of words, each with a 64-bit hash; bit i is set if more signals have it than not. Texts with an equal number are
near-duplicates; the further the numbers differ, the less that says. `exact` is a hash of the words themselves.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import xxhash

from relevance.alphabet import words

NEAR = 10
"""Differing bits up to which pages are called near-duplicates (chosen on labelled pairs, docs/relevance.md)."""
_SHINGLE = 3
_SHIFTS = np.arange(64, dtype=np.uint64)


def _hashes(tokens: Sequence[str]) -> npt.NDArray[np.uint64]:
    digests = b"".join(map(xxhash.xxh3_64_digest, map(str.encode, tokens)))
    return np.frombuffer(digests, ">u8").astype(np.uint64)


def shingles(text: str, size: int) -> npt.NDArray[np.uint64]:
    """The hashes of all runs of `size` words of a text, in order; of a shorter text one of all its words."""
    single = _hashes(words(text))
    if not len(single):
        return single
    size = min(size, len(single))
    mixed = np.zeros(len(single) - size + 1, dtype=np.uint64)
    for offset in range(size):
        mixed = (mixed ^ single[offset : offset + len(mixed)]) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return mixed


def simhash(text: str) -> int:
    """64 bits; 0 for a text without words. Cost: about 0.1 ms for 500 words."""
    unique = np.unique(shingles(text, _SHINGLE))
    if not len(unique):
        return 0
    ones = np.unpackbits(unique.view(np.uint8).reshape(-1, 8), axis=1, bitorder="little").sum(axis=0, dtype=np.int64)
    return int(((ones * 2 > len(unique)).astype(np.uint64) << _SHIFTS).sum(dtype=np.uint64))


def distance(one: int, two: int) -> int:
    """Differing bits, 0 to 64."""
    return (one ^ two).bit_count()


def distances(values: npt.NDArray[np.uint64], value: int) -> npt.NDArray[np.uint8]:
    """Differing bits of each. At 10 bits a new text is simply compared with all of its host: no cut into pieces would
    leave out much (Manku et al. have 3 bits and 8 billion texts)."""
    differing: npt.NDArray[np.uint8] = np.bitwise_count(values ^ np.uint64(value))
    return differing


def exact(text: str) -> int:
    """Equal for texts of equal words in equal order; 0 for none."""
    tokens = words(text)
    return xxhash.xxh3_64_intdigest(" ".join(tokens).encode()) if tokens else 0
