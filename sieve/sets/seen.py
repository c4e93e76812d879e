"""Which fingerprints were met before: recent table, Bloom filter, newest keys in memory, runs on disk.

Guarantees: exact. The filter only says "certainly new"; everything else is looked up in the newest keys and the runs.
The filter holds every key that is stored, newest or waiting; when it is full, a larger one is made from them in small
steps while the old one goes on answering (both get what comes meanwhile). Memory: the filter (2.5 bytes a key, bounded
by `filter_bytes`; beyond that more keys wait and none is lost), 8 bytes for each of at most about twice `run_keys`
newest keys, 0.25 byte a stored key for sparse indexes, 8 MiB of recent keys.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sieve.fingerprint import Fingerprints, Mask, Places
from sieve.sets.filter import BITS_PER_KEY, RecentTable, WordFilter
from sieve.sets.jobs import Job, Work
from sieve.sets.runs import Run
from sieve.sets.store import RunStore, distinct
from sieve.spec import Spec

_LOG = logging.getLogger(__name__)
_PIECE_KEYS = 1 << 15
_LOOSE_KEYS = 1 << 14
_GROWTH = 4
# Keys of background work paid for by each new key; merging 100 M keys takes seven rewrites and one new filter.
_PACE = 12

Part = Run | Fingerprints
"""Where keys are looked up: a run, or a sorted array."""


@dataclass(frozen=True, slots=True)
class SeenConfig:
    """Bounds of memory. `run_keys`: newest keys that make a run; `filter_keys`: what the first filter is made for."""

    run_keys: int = 1 << 20
    filter_keys: int = 1 << 20
    filter_bytes: int = 512 << 20
    recent_bits: int = 20

    @classmethod
    def of(cls, spec: Spec, usual: SeenConfig) -> SeenConfig:
        """From the options ``run= filter= filter_bytes=``; as in `usual` without them."""
        return replace(
            usual,
            run_keys=spec.whole("run", usual.run_keys, 1),
            filter_keys=spec.whole("filter", usual.filter_keys, 1),
            filter_bytes=spec.whole("filter_bytes", usual.filter_bytes, 8),
        )


class Newest:
    """Admitted keys that are in no run yet: sorted arrays, merged when of like size; the very last are sorted late."""

    def __init__(self) -> None:
        self._sorted: list[Fingerprints] = []
        self._loose: list[Fingerprints] = []
        self._loose_count = 0
        self.count = 0

    def add(self, keys: Fingerprints) -> None:
        """Add distinct keys that are not here."""
        self._loose.append(keys)
        self._loose_count += len(keys)
        self.count += len(keys)
        if self._loose_count >= _LOOSE_KEYS:
            self._sort()

    def arrays(self) -> list[Fingerprints]:
        """All keys, in sorted arrays that stay as they are."""
        self._sort()
        return list(self._sorted)

    def all(self) -> Fingerprints:
        """All keys, sorted."""
        keys = np.concatenate([*self.arrays(), np.zeros(0, np.uint64)])
        keys.sort(kind="stable")
        return keys

    def _sort(self) -> None:
        if not self._loose_count:
            return
        keys = np.sort(np.concatenate(self._loose))
        self._loose, self._loose_count = [], 0
        while self._sorted and len(self._sorted[-1]) < 2 * len(keys):
            keys = np.concatenate([self._sorted.pop(), keys])
            keys.sort(kind="stable")
        self._sorted.append(keys)


class Seen:
    """See the module. One thread at a time."""

    def __init__(self, store: RunStore, config: SeenConfig) -> None:
        self.store = store
        self._config = config
        self._recent = RecentTable(config.recent_bits)
        self._filter = WordFilter(self._capacity(max(config.filter_keys, 2 * len(store))))
        for run in store.runs:
            for start in range(0, len(run), _PIECE_KEYS):
                self._filter.add_sorted(run.keys[start : start + _PIECE_KEYS])
        self._building: WordFilter | None = None
        self._newest = Newest()
        self._frozen: Fingerprints | None = None
        self._jobs: dict[str, Job] = {}  # under way: "write" a run, "merge" some, "grow" the filter
        self._left_alone: list[Run] = []

    def __len__(self) -> int:
        return len(self.store) + self._newest.count + (0 if self._frozen is None else len(self._frozen))

    def recover(self, keys: Fingerprints, *, known: bool) -> None:
        """Take up keys found in a log at opening; `known`: admitted, else waiting. They may be in runs already."""
        keys = distinct(np.sort(keys))
        self._filter.add_sorted(keys)
        if known:
            self._newest.add(keys[self.unknown(self.snapshot(), keys)])

    def screen(self, keys: Fingerprints) -> tuple[Places, Mask]:
        """Places of the keys that are not certainly repeats, in order, and which of them are perhaps repeats.

        The others are certainly new. All of them now count as met.
        """
        places = self._recent.screen(keys)
        keys = keys[places]
        maybe = self._filter.take(keys)
        if self._building is not None:
            self._building.add(keys)
        return places, maybe

    def forget_recent(self) -> None:
        """Keys screened lately may not be known after all: look everything up."""
        self._recent.clear()

    def admit(self, keys: Fingerprints) -> None:
        """Store distinct keys, screened and found new."""
        self._newest.add(keys)

    def snapshot(self) -> list[Part]:
        """What a look-up has to search: a consistent picture that later changes leave alone. Largest part first."""
        arrays = [*self._newest.arrays(), *([] if self._frozen is None else [self._frozen])]
        return [*sorted(self.store.runs, key=len, reverse=True), *sorted(arrays, key=len, reverse=True)]

    @staticmethod
    def unknown(snapshot: Sequence[Part], keys: Fingerprints) -> Mask:
        """Which of the sorted `keys` are nowhere in `snapshot`."""
        left = np.arange(len(keys))
        for part in snapshot:
            if not len(left):
                break
            sought = keys[left]
            found = _in_array(part, sought) if isinstance(part, np.ndarray) else part.contains(sought)
            left = left[~found]
        mask = np.zeros(len(keys), np.bool_)
        mask[left] = True
        return mask

    @property
    def full(self) -> bool:
        """Whether the newest keys should become a run (and the last ones have)."""
        return self._newest.count >= self._config.run_keys and "write" not in self._jobs

    def freeze(self, facts: dict[str, Any], before: Callable[[], None] = lambda: None) -> None:
        """Begin to store the newest keys as a run; `facts` are committed with it, when `before` is done."""
        if "write" not in self._jobs and self._newest.count:
            self._frozen = self._newest.all()
            self._newest = Newest()
            self._jobs["write"] = Job(self._write(self._frozen, facts, before))

    def work(self, new: int, waiting: Callable[[], Iterable[Fingerprints]] = tuple) -> None:
        """Give background work its share of a call that admitted `new` keys; `waiting` gives the keys not decided."""
        if "grow" not in self._jobs and self._filter.count > self._filter.capacity:
            capacity = self._capacity(self._filter.capacity * _GROWTH)
            if capacity > self._filter.capacity:
                self._building = WordFilter(capacity)
                self._jobs["grow"] = Job(self._grow(self._building, list(waiting())))
        if "merge" not in self._jobs and self.store.runs is not self._left_alone:
            self._left_alone = self.store.runs
            if runs := self.store.due():
                self._jobs["merge"] = Job(self._merge(runs))
        for name, job in list(self._jobs.items()):
            try:
                job.pay(_PACE * new)
            finally:
                if job.done:
                    del self._jobs[name]

    def settle(self, facts: dict[str, Any], before: Callable[[], None] = lambda: None) -> None:
        """Finish the run that is being written, and store the newest keys with `facts`."""
        self._finish_writing()
        self.freeze(facts, before)
        self._finish_writing()
        if self.store.behind:
            before()
            self.store.commit(self.store.runs, facts)

    def _finish_writing(self) -> None:
        if job := self._jobs.pop("write", None):
            job.finish()

    def close(self) -> None:
        """Give up background work; it begins again after the next opening."""
        with contextlib.ExitStack() as letting_go:
            letting_go.callback(self.store.close)
            for job in self._jobs.values():
                letting_go.callback(job.cancel)

    def _capacity(self, wanted: int) -> int:
        return max(1, min(wanted, self._config.filter_bytes * 8 // BITS_PER_KEY))

    def _write(self, keys: Fingerprints, facts: dict[str, Any], before: Callable[[], None]) -> Work:
        try:
            yield self.store.later(before)
            run = yield from self.store.written(keys)
        except OSError:
            self._newest.add(keys)
            raise
        finally:
            self._frozen = None
        # Of the store from here on, whether or not the manifest can be replaced: else they were counted twice.
        yield from self.store.add(run, facts)

    def _merge(self, runs: Sequence[Run]) -> Work:
        try:
            yield from self.store.merge(runs)
        except OSError as error:
            # A disk too full to merge may still hold what comes; try again when there is another run.
            _LOG.warning("runs of seen URLs cannot be merged, which is put off: %s", error)
            self._left_alone = self.store.runs

    def _grow(self, larger: WordFilter, waiting: Sequence[Fingerprints]) -> Work:
        snapshot = [part if isinstance(part, np.ndarray) else part.keys for part in self.snapshot()]
        for keys in waiting:
            larger.add(keys)
            yield len(keys)
        for part in snapshot:
            for start in range(0, len(part), _PIECE_KEYS):
                larger.add_sorted(part[start : start + _PIECE_KEYS])
                yield _PIECE_KEYS
        self._filter, self._building = larger, None


def _in_array(array: Fingerprints, keys: Fingerprints) -> Mask:
    places = np.searchsorted(array, keys)
    np.minimum(places, len(array) - 1, out=places)
    found: Mask = array[places] == keys
    return found
