"""A language model in use: word -> one row of evidence per class.

A word's evidence for a class is log(l p_word + (1 - l) p_letters), taken relative to the best class and cut at `clip`
nats: no single word, name or misprint decides a text by itself. Rows are bytes in steps of STEP nats, so a text is a
sum of bytes. The frequent words' rows come with the model; new words go through the n-grams together, as arrays
(relevance.language.trie), and are remembered. A word whose letters are drawn out, as in tweets ("yebooooo"), has the
row of the word that is meant. What a word says of close siblings counts less where it is strange to all of them
(relevance.language.strangeness). Any number of threads may ask one model.

What was tried and left: docs/relevance-experiments.md.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from functools import cached_property, lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, SupportsIndex

import numpy as np
import numpy.typing as npt

from relevance.errors import ModelError, UnknownLanguageError
from relevance.language import storage, strangeness, trie
from relevance.language.alphabet import OTHER_SCRIPT, Alphabet, Codes, drawn_out, word_lengths, word_starts

STEP = 0.05
"""Nats of one unit of evidence."""
REMEMBERED = 1 << 17
"""New words remembered before the memory starts anew (about 25 MB)."""
LONGEST = 100
"""Letters of a word that is remembered: one that fills a page would stay as long as a thousand others."""
_TOGETHER = 1024
"""New words that go through the n-grams together: enough for speed, few enough for the processor's cache."""
_ONE_OF_OTHERS = np.float32(np.log(32))
"""Nats that it takes to say which letter of another script one is: as many as alphabets have."""
_LANES, _BYTE = np.uint64(0x00FF00FF00FF00FF), np.uint64(8)

Evidence = npt.NDArray[np.uint8]
Unsigned = npt.NDArray[np.uint64]
Sums = npt.NDArray[np.uint16]
Floats = npt.NDArray[np.float32]


def lay_out(model: storage.Parameters) -> storage.Arrays:
    """The arrays a Model works on."""
    arrays: storage.Arrays = {
        **trie.lay_out(model.keys),
        "rows": _interleaved(model.rows),
        "words": np.frombuffer("\n".join(model.words).encode(), dtype=np.uint8),
        "word_rows": model.word_rows,
    }
    if model.evidence is not None:
        arrays["evidence"] = model.evidence
    arrays |= {f"contrast{group}": table for group, table in enumerate(model.contrasts)}
    return arrays


def _interleaved(rows: storage.Rows) -> Unsigned:
    """Rows as whole 64-bit numbers, so that eight classes are added at once (`_summed`): the low bytes of the 16-bit
    lanes are the first half of the classes, the high ones the second; at least two columns are left over."""
    half = (rows.shape[1] + 1) // 8 * 4 + 4
    out = np.full((len(rows), half, 2), 255, dtype=np.uint8)
    out[:, : min(half, rows.shape[1]), 0] = rows[:, :half]
    out[:, : max(0, rows.shape[1] - half), 1] = rows[:, half:]
    return out.reshape(len(rows), -1).view(np.uint64)


def _summed(rows: Unsigned, starts: npt.NDArray[np.int64]) -> Sums:
    """Sums of interleaved rows from each start to the next, by class; what is left over has the highest. A word has at
    most 2 MAX_WORD + 3 codes of at most 255, so lanes never overflow."""
    high = rows >> _BYTE
    high &= _LANES
    rows &= _LANES
    sums = np.concatenate([np.add.reduceat(rows, starts, axis=0), np.add.reduceat(high, starts, axis=0)], axis=1)
    return sums.view(np.uint16)


def _packed(evidence: Evidence) -> list[bytes]:
    """One string of bytes a word."""
    return evidence.view(f"V{evidence.shape[1]}").ravel().tolist()


class Model:
    """Scores words and texts against the classes of one model file.

    path: of that file; a model that has one is pickled as its name, so that the processes of one machine share its
    arrays. The file must be as it was, then.
    """

    def __init__(self, meta: Mapping[str, Any], arrays: storage.Arrays, path: Path | None = None) -> None:
        self.meta = meta
        self.path = path
        self.classes: tuple[str, ...] = tuple(c["name"] for c in meta["classes"])
        self.labels: tuple[str, ...] = tuple(c["label"] for c in meta["classes"])
        self.alphabet = Alphabet.of(meta)
        self._step = float(meta["step"])
        self._share = float(meta["word_share"])
        self._clip = float(meta["clip"])
        self._trie = trie.Trie(arrays, int(meta["order"]))
        self._rows: Unsigned = arrays["rows"]
        self._word_rows: storage.Rows = arrays["word_rows"]
        groups = [tuple(map(self.classes.index, group)) for group in meta.get("siblings", ())]
        # Siblings that a second look tells apart (relevance.language.contrast), with its table.
        self.contrasts = [(g, arrays[f"contrast{n}"]) for n, g in enumerate(groups) if f"contrast{n}" in arrays]
        text = bytes(arrays["words"]).decode()
        self._words = text.split("\n") if text else []
        family = meta.get("family", ())
        columns = [place for place, name in enumerate(self.classes) if name in family]
        self._family = strangeness.columns(columns)
        self._strangeness = strangeness.Strangeness(
            columns or range(len(self.classes)),
            [self._with_seconds(group) for group in groups],
            [strangeness.told_by(min(meta["classes"][place]["words"] for place in group)) for group in groups],
        )
        self._unlisted = -np.float32(np.log1p(-self._share))
        # Evidence by steps behind the best class, for a word by its letters alone.
        most = int(np.ceil(self._clip / self._step))
        self._steps = self._cut(np.arange(most + 1, dtype=np.float32) * np.float32(self._step))
        ready = np.zeros((len(self._words), 8 * self._rows.shape[1]), dtype=np.uint8)
        ready[:, : len(self.classes) + 2] = arrays["evidence"] if "evidence" in arrays else self.listed_evidence()
        self._ready = dict(zip(self._words, _packed(ready), strict=True))
        self._known = self._ready.copy()

    def _with_seconds(self, group: Sequence[int]) -> list[int]:
        """The classes of a group and those that are split from them."""
        stages = self.meta.get("second_stage", {})
        names = {self.classes[place] for place in group}
        return [place for place, name in enumerate(self.classes) if name in names or stages.get(name) in names]

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[Any, ...]:
        return super().__reduce_ex__(protocol) if self.path is None else (load, (self.path,))

    @cached_property
    def _places(self) -> dict[str, int]:
        return {word: place for place, word in enumerate(self._words)}

    def _letter_sums(self, codes: Codes) -> Sums:
        """-log p of words by their letters in steps, word x class (and more columns): each letter after the longest
        known context."""
        return _summed(self._rows.take(self._trie.longest(codes), axis=0), word_starts(codes))

    def letter_logs(self, tokens: Sequence[str]) -> Floats:
        """log p of words by their letters, word x class. Letters of scripts that are not known share a code and so a
        probability, which each has a part of: else how long a word is would weigh more than which word it is."""
        codes = self.alphabet.encode(tokens)
        logs: Floats = self._letter_sums(codes)[:, : len(self.classes)] * np.float32(-self._step)
        others = np.add.reduceat(codes[1:] == OTHER_SCRIPT, word_starts(codes), dtype=np.float32)
        return logs - (others * _ONE_OF_OTHERS)[:, np.newaxis]

    def word_logs(self, tokens: Sequence[str]) -> Floats:
        """log p of words, letters and word list together, word x class."""
        logs = self.letter_logs(tokens) + np.float32(np.log1p(-self._share))
        rows = np.array([self._places.get(word, -1) for word in tokens])
        at = np.flatnonzero(rows >= 0)
        stored = self._word_rows[rows[at]]
        words = stored * np.float32(-self._step) + np.float32(np.log(self._share))
        logs[at] = np.logaddexp(logs[at], np.where(stored == storage.ABSENT, np.float32(-1e9), words))
        return logs

    def listed_evidence(self) -> Evidence:
        """Evidence of all listed words in their order, computed; without the columns that have no meaning."""
        out = np.zeros((len(self._words), len(self.classes) + 2), dtype=np.uint8)
        for at in range(0, len(self._words), _TOGETHER):
            some = self._words[at : at + _TOGETHER]
            logs = self.word_logs(some)
            rows = out[at : at + len(some)]
            rows[:, :-2] = self._cut(logs.max(axis=1, keepdims=True) - logs)
            self._finish(rows, self._strangeness.lowest(-logs), word_lengths(self.alphabet.encode(some)))
        return out

    def _finish(self, evidence: Evidence, lowest: strangeness.Nats, lengths: npt.NDArray[np.int64]) -> None:
        """Puts the columns behind the classes' and weighs what words say of siblings."""
        best = np.minimum.reduce(evidence[:, self._family], axis=1, initial=255)
        np.equal(best, 0, out=evidence[:, len(self.classes)])
        evidence[:, len(self.classes) + 1] = self._strangeness.weigh(evidence, lowest, lengths)

    def _cut(self, behind: Floats) -> Evidence:
        steps: Evidence = np.rint(np.minimum(behind, self._clip) / np.float32(STEP)).astype(np.uint8)
        return steps

    def evidence(self, tokens: Sequence[str]) -> Evidence:
        """Nats behind the best class in steps of STEP, word x class; 0 is the best, but among siblings what is strange
        to them counts less (relevance.language.strangeness). Behind these columns: 1 where a class of the model's
        family is as good as any; what the word costs the family; and some without meaning."""
        rows: list[Any] = [*map(self._known.get, tokens)]  # None: not known
        try:
            data = b"".join(rows)
        except TypeError:
            missing = [place for place, row in enumerate(rows) if row is None]
            learned = self._learned({tokens[place] for place in missing})
            for place in missing:
                rows[place] = learned[tokens[place]]
            data = b"".join(rows)
        return np.frombuffer(data, dtype=np.uint8).reshape(len(tokens), -1)

    def meant(self, texts: Sequence[Sequence[str]]) -> Sequence[Sequence[str]]:
        """Words of texts as they are meant: letters drawn out once, where the word is not listed as it is written."""
        drawn = drawn_out([*chain.from_iterable(texts)], self.alphabet)
        if not drawn:
            return texts
        return [[word if word in self._ready else drawn.get(word, word) for word in words] for words in texts]

    def _learned(self, unknown: Set[str]) -> dict[str, bytes]:
        """Rows of words that are not known, which are from now on unless one is too long to be remembered, or they are
        too many. The memory of another thread stays whole when this one starts anew."""
        known, rows = self._known, dict[str, bytes]()
        new = [*unknown]
        if drawn := drawn_out(new, self.alphabet):
            new = [*(unknown - drawn.keys() | set(drawn.values()).difference(known))]
        for at in range(0, len(new), _TOGETHER):
            some = new[at : at + _TOGETHER]
            codes = self.alphabet.encode(some)
            sums = self._letter_sums(codes)
            lowest = self._strangeness.lowest(sums) * np.float32(self._step) + self._unlisted
            sums -= np.minimum.reduce(sums, axis=1, keepdims=True)
            evidence = self._steps.take(sums, mode="clip")
            self._finish(evidence, lowest, word_lengths(codes))
            rows.update(zip(some, _packed(evidence), strict=True))
        rows.update([(word, rows.get(plain) or known[plain]) for word, plain in drawn.items()])
        if len(rows) <= REMEMBERED and max(map(len, rows)) <= LONGEST:
            if len(known) - len(self._ready) + len(rows) > REMEMBERED:
                self._known = self._ready | rows
            else:
                known.update(rows)
        return rows

    def vocabulary(self, name: str) -> tuple[tuple[str, ...], tuple[float, ...]]:
        """The listed words of a class with their probabilities."""
        if name not in self.classes:
            raise UnknownLanguageError(name, self.classes)
        column = self._word_rows[:, self.classes.index(name)]
        rows = np.flatnonzero(column != storage.ABSENT).tolist()
        return tuple(self._words[row] for row in rows), tuple(np.exp(-self._step * column[rows].astype(float)).tolist())


def _give_back_memory() -> None:
    """What unpacking took and nobody has any more goes back to the system; glibc would keep 36 MB of it for good."""
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)


def load(path: str | Path) -> Model:
    """A model from its file, its arrays shared with other processes where a cache folder can be written; ModelError
    where it cannot be used."""
    path = Path(path)
    data = storage.content(path)
    meta = storage.header(path, data)
    cache = storage.cache_path(path, data)
    mapped = storage.map_arrays(cache) if cache else None
    if mapped is not None:
        with suppress(*storage.MISFITS):  # a damaged cache is made anew
            return Model(meta, mapped, path)
    try:
        arrays = lay_out(storage.unpacked(path, data))
        if cache and storage.save_arrays(cache, arrays):
            arrays = storage.map_arrays(cache) or arrays
            _give_back_memory()
        return Model(meta, arrays, path)
    except storage.MISFITS as error:
        raise storage.damaged(path, error) from error


SHIPPED = Path(__file__).parents[1] / "models" / "southern.model"


@lru_cache(maxsize=1)
def shipped() -> Model:
    """The model that comes with the package, loaded once a process."""
    return load(SHIPPED)


def chosen(model: str | Model) -> Model:
    """The model that is given, or the shipped one by its name."""
    if isinstance(model, Model):
        return model
    if model != "southern":
        raise ModelError(str(model), "is neither southern nor afriweb; load other models with relevance.load_model")
    return shipped()
