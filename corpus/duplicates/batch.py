"""The texts of many documents, judged one after the other, whose keys were looked up all at once.

Each text has a key, and may have those of its runs of words. What is kept of them is known before the first text is
judged, and then changes only where a text has what one before it in the batch has, too: these alone are looked at one
by one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from corpus.duplicates.kept import Kept
from sieve.fingerprint import Fingerprints
from sieve.sets.store import distinct


class Batch:
    """Texts are known by their number in ``keys``. ``runs``: of each the keys of its runs of words, which may repeat;
    none: they are not compared. What is added counts as kept at once, and is remembered by :meth:`finish`."""

    def __init__(self, kept: Kept, keys: Fingerprints, runs: Sequence[Fingerprints] = ()) -> None:
        self._kept = kept
        self._keys, at = np.unique(np.concatenate([keys, *runs]), return_inverse=True)
        before = kept.has(self._keys)
        self._before = before.astype(np.uint8)
        self._now = bytearray(self._before.tobytes())
        self._places: list[int] = at[: len(keys)].tolist()
        self._added: list[int] = []
        count = len(self._keys)
        texts = np.arange(len(keys) + 1)
        owners = np.repeat(texts[:-1], list(map(len, runs)) or 0)
        pairs = distinct(np.sort(owners * count + at[len(keys) :]))
        owners, self._runs = np.divmod(pairs, max(count, 1))
        self._starts = np.searchsorted(owners, texts)
        self._known = self._sums(before[self._runs])
        # What only one text has, or was kept before, does not change.
        changing = ~before[self._runs] & (np.bincount(self._runs, minlength=count) > 1)[self._runs]
        self._changing: list[int] = self._runs[changing].tolist()
        self._bounds = np.append(0, np.cumsum(self._sums(changing))).tolist()

    def _sums(self, mask: npt.NDArray[np.bool_]) -> list[int]:
        """How many of the runs of each text are in a mask of all runs."""
        until = np.append(0, np.cumsum(mask))
        sums: list[int] = np.diff(until[self._starts]).tolist()
        return sums

    def __contains__(self, number: int) -> bool:
        return bool(self._now[self._places[number]])

    def share(self, number: int) -> float:
        """How many of the runs of a text are kept, 0 to 1."""
        known = self._known[number] + sum(map(self._now.__getitem__, self._changing_of(number)))
        return known / max(1, int(self._starts[number + 1] - self._starts[number]))

    def add(self, number: int) -> None:
        """This text is kept."""
        self._now[self._places[number]] = 1
        for run in self._changing_of(number):
            self._now[run] = 1
        self._added.append(number)

    def finish(self) -> None:
        """Remember what was added."""
        now = np.frombuffer(self._now, np.uint8).copy()
        added = np.zeros(len(self._places), np.bool_)
        added[self._added] = True
        now[self._runs[np.repeat(added, np.diff(self._starts))]] = 1
        self._kept.add(self._keys[now > self._before])

    def _changing_of(self, number: int) -> list[int]:
        return self._changing[self._bounds[number] : self._bounds[number + 1]]
