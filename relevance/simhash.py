"""Near-duplicates: one number for the main text of a page, alike for alike texts.

SimHash (Charikar 2002; Manku, Jain and Das Sarma 2007; the lecture notes on web crawling): the signals are overlapping
triples of words, each with a 64-bit hash; bit i is set if more signals have it than not. Texts with an equal number are
near-duplicates; the further the numbers differ, the less that says. `exact` is a hash of the words themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import xxhash

from relevance.alphabet import words

NEAR = 10
"""Differing bits up to which pages are called near-duplicates (chosen on labelled pairs, docs/relevance.md)."""
_SHINGLE = 3
_SHIFTS = np.arange(64, dtype=np.uint64)


def _hashes(tokens: Sequence[str]) -> npt.NDArray[np.uint64]:
    known: dict[str, int] = {}
    digest = xxhash.xxh3_64_intdigest
    for token in tokens:
        if token not in known:
            known[token] = digest(token.encode())
    return np.fromiter((known[token] for token in tokens), np.uint64, len(tokens))


def simhash(text: str) -> int:
    """64 bits; 0 for a text without words. Cost: about 0.1 ms for 500 words."""
    single = _hashes(words(text))
    if not len(single):
        return 0
    size = min(_SHINGLE, len(single))
    mixed = np.zeros(len(single) - size + 1, dtype=np.uint64)
    for offset in range(size):
        mixed = (mixed ^ single[offset : offset + len(mixed)]) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    unique = np.unique(mixed)
    ones = np.unpackbits(unique.view(np.uint8).reshape(-1, 8), axis=1, bitorder="little").sum(axis=0, dtype=np.int64)
    return int(((ones * 2 > len(unique)).astype(np.uint64) << _SHIFTS).sum(dtype=np.uint64))


def distance(one: int, two: int) -> int:
    """Differing bits, 0 to 64."""
    return (one ^ two).bit_count()


def exact(text: str) -> int:
    """Equal for texts of equal words in equal order; 0 for none."""
    tokens = words(text)
    return xxhash.xxh3_64_intdigest(" ".join(tokens).encode()) if tokens else 0


class NearDuplicates:
    """Remembers SimHashes and finds those at most `near` bits away: the 64 bits are cut in near + 1 pieces of which one
    must be equal (pigeonhole). Memory: about 100 bytes a page and piece; meant for one host or one crawl's sample."""

    def __init__(self, near: int = NEAR) -> None:
        self._near = near
        edges = [round(64 * k / (near + 1)) for k in range(near + 2)]
        self._pieces = [(low, (1 << (high - low)) - 1) for low, high in pairwise(edges)]
        self._tables: list[dict[int, list[int]]] = [{} for _ in self._pieces]

    def add(self, value: int) -> int | None:
        """The first remembered value that is near, else None and the value is remembered."""
        parts = [(value >> low) & mask for low, mask in self._pieces]
        for table, part in zip(self._tables, parts, strict=True):
            for other in table.get(part, ()):
                if distance(value, other) <= self._near:
                    return other
        for table, part in zip(self._tables, parts, strict=True):
            table.setdefault(part, []).append(value)
        return None
