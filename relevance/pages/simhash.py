"""Near-duplicates: one number for the main text of a page, alike for alike texts.

SimHash (Charikar 2002; Manku, Jain and Das Sarma 2007; the lecture notes on web crawling): the signals are overlapping
triples of words, each with a 64-bit hash; bit i is set if more signals have it than not. Texts with an equal number are
near-duplicates; the further the numbers differ, the less that says.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt
import xxhash

NEAR = 10
"""Differing bits up to which pages are called near-duplicates (chosen on labelled pairs, docs/relevance.md)."""
_SHINGLE = 3
Hashes = npt.NDArray[np.uint64]


def _hashes(tokens: Sequence[bytes]) -> Hashes:
    digests = b"".join(map(xxhash.xxh3_64_digest, tokens))
    return np.frombuffer(digests, ">u8").astype(np.uint64)


def _mixed(single: Hashes, size: int) -> Hashes:
    """The hashes of all runs of `size` words."""
    mixed = np.zeros(max(0, len(single) - size + 1), dtype=np.uint64)
    for offset in range(size):
        mixed = (mixed ^ single[offset : offset + len(mixed)]) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return mixed


def shingles(texts: Sequence[Sequence[bytes]], size: int) -> list[Hashes]:
    """Of each text, given as its words in UTF-8, the hashes of all its runs of `size` words, in order; of a shorter one
    that of all its words, of one without words none. Many texts at once, since most of the time for a short one is that
    of calls."""
    single = _hashes([*chain.from_iterable(texts)])
    mixed = _mixed(single, size)
    found = []
    end = 0
    for part in texts:
        start, end = end, end + len(part)
        short = len(part) < size
        found.append(_mixed(single[start:end], max(1, len(part))) if short else mixed[start : end - size + 1])
    return found


def simhash(words: Sequence[str]) -> int:
    """64 bits; 0 for a text without words. Cost: about 0.1 ms for 500 words."""
    every = np.sort(shingles([[*map(str.encode, words)]], _SHINGLE)[0])
    if not len(every):
        return 0
    different = np.ones(len(every), dtype=np.bool_)
    np.not_equal(every[1:], every[:-1], out=different[1:])
    bits = np.unpackbits(every[different].view(np.uint8), bitorder="little").reshape(-1, 64)
    ones = np.add.reduce(bits, axis=0, dtype=np.uint32)
    return int.from_bytes(np.packbits(ones * 2 > len(bits), bitorder="little").tobytes(), "little")


def distance(one: int, two: int) -> int:
    """Differing bits, 0 to 64."""
    return (one ^ two).bit_count()


def distances(values: Hashes, value: int) -> npt.NDArray[np.uint8]:
    """Differing bits of each. At 10 bits a new text is simply compared with all of its host: no cut into pieces would
    leave out much (Manku et al. have 3 bits and 8 billion texts)."""
    differing: npt.NDArray[np.uint8] = np.bitwise_count(values ^ np.uint64(value))
    return differing
