"""A language model in use: word -> one row of evidence per class.

A word's evidence for a class is log(l p_word + (1 - l) p_letters), taken relative to the best class and cut at
`clip` nats: no single word, name or misprint decides a text by itself. Rows are bytes in steps of STEP nats, so a text
is a sum of bytes. Words seen before come from a dictionary; new ones go through the n-gram tables together, as arrays.

Source: spec/relevance.md section 3 (what worked in prototypes). Not thread-safe while it meets new words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from relevance import storage
from relevance.alphabet import BITS, encode, ngram_keys
from relevance.errors import ModelError, UnknownLanguageError

STEP = 0.05
"""Nats of one unit of evidence."""
REMEMBERED = 1 << 17
"""Words kept in the dictionary before it starts anew (about 16 MB)."""
_TOGETHER = 4096
"""New words that go through the tables together: enough for speed, few enough for the processor's cache."""
_FIRST, _SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)
_ROW_BITS = np.uint64(24)
_ROW_MASK = np.uint64((1 << 24) - 1)

Evidence = npt.NDArray[np.uint8]
Unsigned = npt.NDArray[np.uint64]
Floats = npt.NDArray[np.float32]


def _places(keys: Unsigned, bits: int) -> tuple[Unsigned, Unsigned]:
    """The two slots a key may be in; never the same."""
    first = (keys * _FIRST) >> np.uint64(64 - bits)
    return first, first ^ (((keys * _SECOND) >> np.uint64(64 - bits)) | np.uint64(1))


def _slots(keys: npt.NDArray[np.int64], bits: int = 0) -> Unsigned:
    """Cuckoo hashing (Pagh and Rodler 2001), at most half full: key << 24 | row + 1, 0 = empty. Keys have <= 40 bits.
    A look-up is two reads, whatever is in the table: no loop, which is what counts with arrays."""
    bits = max(bits, 4, int(np.ceil(np.log2(max(len(keys), 1) * 2))))
    table = np.zeros(1 << bits, dtype=np.uint64)
    hand = (keys.astype(np.uint64) << _ROW_BITS) | np.arange(1, len(keys) + 1, dtype=np.uint64)
    place, _ = _places(hand >> _ROW_BITS, bits)
    for _ in range(200):
        old = table[place]
        table[place] = hand
        lost = table[place] != hand
        out = ~lost & (old != 0)
        hand, place = np.concatenate([hand[lost], old[out]]), np.concatenate([place[lost], place[out]])
        if not len(hand):
            return table
        first, second = _places(hand >> _ROW_BITS, bits)
        place ^= first ^ second
    return _slots(keys, bits + 1)


def _find(table: Unsigned, keys: Unsigned) -> npt.NDArray[np.int64]:
    """Rows of keys plus one, 0 where absent."""
    first, second = _places(keys, len(table).bit_length() - 1)
    one, two = table.take(first.view(np.int64)), table.take(second.view(np.int64))
    one *= (one >> _ROW_BITS) == keys
    two *= (two >> _ROW_BITS) == keys
    one |= two  # a key is in one of its slots at most
    one &= _ROW_MASK
    return one.view(np.int64)


def lay_out(model: storage.Parameters) -> storage.Arrays:
    """The arrays a Model works on."""
    keys = np.concatenate(model.keys)
    if len(keys) >= 1 << 24:
        raise ModelError("model", "has more than 16 million n-grams")
    arrays: storage.Arrays = {
        "slots": _slots(keys),
        "rows": model.rows,
        "words": np.frombuffer("\n".join(model.words).encode(), dtype=np.uint8),
        "word_rows": model.word_rows,
    }
    if model.evidence is not None:
        arrays["evidence"] = model.evidence
    return arrays


class Model:
    """Scores words and texts against the classes of one model file."""

    def __init__(self, meta: Mapping[str, Any], arrays: storage.Arrays) -> None:
        self.meta = meta
        self.classes: tuple[str, ...] = tuple(c["name"] for c in meta["classes"])
        self.labels: tuple[str, ...] = tuple(c["label"] for c in meta["classes"])
        self.order = int(meta["order"])
        self._step = float(meta["step"])
        self._masks = (np.uint64(1) << (np.arange(1, self.order + 1, dtype=np.uint64) * np.uint64(BITS))) - np.uint64(1)
        self._share = float(meta["word_share"])
        self._clip = float(meta["clip"])
        self._slots: Unsigned = arrays["slots"]
        self._rows: storage.Rows = arrays["rows"]
        self._word_rows: storage.Rows = arrays["word_rows"]
        self._ready: Evidence | None = arrays.get("evidence")
        text = bytes(arrays["words"]).decode()
        self._listed = {word: row for row, word in enumerate(text.split("\n"))} if text else {}
        self._forget()

    def _forget(self) -> None:
        self._known: dict[str, int] = {}
        self._evidence = np.zeros((1024, len(self.classes)), dtype=np.uint8)

    def letter_logs(self, tokens: Sequence[str]) -> Floats:
        """log p of words by their letters, word x class: each letter after the longest known context."""
        keys, lengths, starts = ngram_keys(encode(tokens), self.order)
        rows = self._longest(keys, lengths)
        sums = np.add.reduceat(self._rows.take(rows, axis=0), starts, axis=0, dtype=np.uint16)  # at most 41 x 254 each
        logs: Floats = sums * np.float32(-self._step)
        return logs

    def _longest(self, keys: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        wide = keys.astype(np.uint64)
        rows: npt.NDArray[np.int64] = np.zeros(len(keys), dtype=np.int64)
        left = np.arange(len(keys))
        for size in range(self.order, 0, -1):
            these = left[lengths[left] >= size]
            rows[these] = _find(self._slots, wide[these] & self._masks[size - 1])
            left = left[rows[left] == 0]
            if not len(left):
                break
        return rows - 1

    def word_logs(self, tokens: Sequence[str]) -> Floats:
        """log p of words, letters and word list together, word x class."""
        logs = self.letter_logs(tokens) + np.float32(np.log1p(-self._share))
        listed = [(i, self._listed[word]) for i, word in enumerate(tokens) if word in self._listed]
        if listed:
            at, rows = np.array(listed).T
            stored = self._word_rows[rows]
            words = stored * np.float32(-self._step) + np.float32(np.log(self._share))
            logs[at] = np.logaddexp(logs[at], np.where(stored == storage.ABSENT, np.float32(-1e9), words))
        return logs

    def evidence(self, tokens: Sequence[str]) -> Evidence:
        """Nats behind the best class in steps of STEP, word x class; 0 is the best."""
        if not tokens:
            return np.zeros((0, len(self.classes)), dtype=np.uint8)
        if self._ready is None:
            return self._computed(tokens)
        places = np.array([self._listed.get(word, -1) for word in tokens], dtype=np.int64)
        out: Evidence = self._ready[places]
        rare = np.flatnonzero(places < 0)
        if len(rare):
            out[rare] = self._computed([tokens[place] for place in rare.tolist()])
        return out

    def listed_evidence(self) -> Evidence:
        """Evidence of all listed words in their order, computed."""
        parts = [list(self._listed)[at : at + _TOGETHER] for at in range(0, len(self._listed), _TOGETHER)]
        none = np.zeros((0, len(self.classes)), dtype=np.uint8)
        return np.concatenate([none, *(self._computed(part) for part in parts)])

    def _computed(self, tokens: Sequence[str]) -> Evidence:
        logs = self.word_logs(tokens)
        behind = logs.max(axis=1, keepdims=True) - logs
        steps: Evidence = np.rint(np.minimum(behind, self._clip) / np.float32(STEP)).astype(np.uint8)
        return steps

    def rows_of(self, tokens: Sequence[str]) -> npt.NDArray[np.int64]:
        """Places of these words' evidence in `table`; valid until the next call."""
        known = self._known
        try:
            return np.array([known[word] for word in tokens], dtype=np.int64)
        except KeyError:
            self._learn(tokens)
        return np.array([self._known[word] for word in tokens], dtype=np.int64)

    def vocabulary(self, name: str) -> tuple[tuple[str, ...], tuple[float, ...]]:
        """The listed words of a class with their probabilities."""
        if name not in self.classes:
            raise UnknownLanguageError(name, self.classes)
        column = self._word_rows[:, self.classes.index(name)]
        listed = list(self._listed)
        rows = np.flatnonzero(column != storage.ABSENT).tolist()
        return tuple(listed[row] for row in rows), tuple(np.exp(-self._step * column[rows].astype(float)).tolist())

    @property
    def table(self) -> Evidence:
        return self._evidence

    def _learn(self, tokens: Sequence[str]) -> None:
        new = [word for word in dict.fromkeys(tokens) if word not in self._known]
        if len(self._known) + len(new) > REMEMBERED:
            self._forget()
            new = list(dict.fromkeys(tokens))
        start = len(self._known)
        if start + len(new) > len(self._evidence):
            grown = np.zeros((max(2 * len(self._evidence), start + len(new)), len(self.classes)), dtype=np.uint8)
            grown[:start] = self._evidence[:start]
            self._evidence = grown
        for at in range(0, len(new), _TOGETHER):
            some = new[at : at + _TOGETHER]
            self._evidence[start + at : start + at + len(some)] = self.evidence(some)
        self._known.update(zip(new, range(start, start + len(new)), strict=True))


def load(path: Path) -> Model:
    """A model from its file, its arrays shared with other processes where a cache folder can be written."""
    meta = storage.header_of(path)
    cache = storage.cache_path(path)
    arrays = storage.map_arrays(cache) if cache else None
    if arrays is None:
        arrays = lay_out(storage.read(path))
        if cache and storage.save_arrays(cache, arrays):
            arrays = storage.map_arrays(cache) or arrays
    return Model(meta, arrays)


SHIPPED = Path(__file__).parent / "models" / "southern.model"


@lru_cache(maxsize=1)
def shipped() -> Model:
    """The model that comes with the package, loaded once a process."""
    return load(SHIPPED)
