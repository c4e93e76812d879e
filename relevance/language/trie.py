"""The longest known n-gram that ends at each letter of a text, for all letters at once.

Up to three letters: one table by the last three, in which shorter n-grams stand where the longer ones are unknown.
Beyond: a bitmap trie (array mapped tries, Bagwell 2001). Rows are in order of n-gram length and then of letters, so the
n-grams that continue another one lie side by side: a child's row is the first child's plus the number of bits below its
letter in a map of 64. A pass over all letters makes what is known one letter longer; there is no loop over letters and
no hash table.

Relies on every n-gram's beginning and end being known n-grams too (training.closed). So the longest one that ends at a
letter continues the longest one that ended before it, or an end of that which the table has; and none reaches over a
word's start, as none was trained on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from relevance.language.alphabet import BITS, Codes

_LETTERS = 1 << BITS
_TABLE = 3
"""Letters that the table goes by."""
_BIT = np.uint64(1) << np.arange(_LETTERS, dtype=np.uint64)
_WINDOW = np.array([1 << (2 * BITS), 1 << BITS, 1])

Keys = npt.NDArray[np.int64]
Rows = npt.NDArray[np.int32]


def lay_out(keys: Sequence[Keys]) -> dict[str, npt.NDArray[Any]]:
    """The arrays of a Trie from the keys of the n-grams by length, each sorted. Rows count through all lengths."""
    table = np.zeros((_LETTERS,) * _TABLE, dtype=np.int32)
    starts = np.cumsum([0, *map(len, keys)])
    for size, known in enumerate(keys[:_TABLE], start=1):
        ends = table.reshape(_LETTERS ** (_TABLE - size), -1)
        ends[:, known] = np.arange(starts[size - 1], starts[size], dtype=np.int32)
    children, before = np.zeros(starts[-2], dtype=np.uint64), np.zeros(starts[-2], dtype=np.int32)
    for size, known in enumerate(keys[1:], start=1):
        parents = known >> BITS
        heads = np.flatnonzero(np.diff(parents, prepend=-1))
        rows = starts[size - 1] + np.searchsorted(keys[size - 1], parents[heads])
        children[rows] = np.bitwise_or.reduceat(_BIT[known & (_LETTERS - 1)], heads) if len(heads) else 0
        before[rows] = starts[size] + heads - 1
    return {"table": table.reshape(-1), "children": children, "before": before}


class Trie:
    """Known n-grams of up to `order` letters."""

    def __init__(self, arrays: Mapping[str, npt.NDArray[Any]], order: int) -> None:
        self._table, self._children, self._before = (arrays[name] for name in ("table", "children", "before"))
        self._passes = max(0, order - _TABLE)

    def longest(self, codes: Codes) -> Rows:
        """Rows for all codes but the first, which is a boundary (relevance.language.alphabet.encode)."""
        letters = codes.astype(np.int64)
        rows: Rows = self._table.take(np.correlate(letters, _WINDOW, "same")[:-1], mode="clip")
        contexts, ends = rows[:-1], rows[1:]
        above = (_LETTERS - 1 - letters[2:]).view(np.uint64)
        for _ in range(self._passes):
            children = self._children.take(contexts, mode="clip")
            children <<= above  # the letter's bit comes first, those above it fall out
            longer = self._before.take(contexts, mode="clip")
            longer += np.bitwise_count(children)
            longer *= children.view(np.int64) < 0
            np.maximum(ends, longer, out=ends)  # rows of longer n-grams come behind; much faster than a masked copy
        return rows
