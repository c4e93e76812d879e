"""What has been kept, as 64-bit keys: by this run, and by earlier ones.

Guarantees: exact, nothing is forgotten. In memory are the newest keys (about half a million, 16 MB) and those of the
batch that is being judged; the others lie in sorted runs on disk (:mod:`sieve.sets.runs`), 8 bytes a key, with up to
half a byte of index in memory. Those of this run are in the folder for temporary files (``TMPDIR``) until the run ends.
A key that is 0 counts as 1.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from corpus.duplicates.table import KeyTable
from corpus.errors import UsageFault
from sieve.disk.scratch import Scratch
from sieve.fingerprint import Fingerprints, Mask
from sieve.sets.jobs import Job, Work
from sieve.sets.runs import Run
from sieve.sets.seen import Seen
from sieve.sets.store import RunStore

NEWEST_KEYS = 1 << 19


class Kept:
    """``earlier``: what was kept before this run."""

    def __init__(self, earlier: Sequence[Run] = (), newest_keys: int = NEWEST_KEYS) -> None:
        self._earlier = list(earlier)
        self._most = newest_keys
        self._newest = KeyTable()
        self._scratch: Scratch | None = None
        self._store: RunStore | None = None

    def has(self, keys: Fingerprints) -> Mask:
        """Which of these are kept; they ascend and are distinct. The disk is asked: many at once cost little more than
        few."""
        if len(self._newest) >= self._most:
            self._spill()
        keys = np.maximum(keys, 1)
        found = self._newest.contains(keys)
        left = np.flatnonzero(~found)
        found[left] = _in_runs([*self._earlier, *(self._store.runs if self._store else ())], keys[left])
        return found

    def add(self, keys: Fingerprints) -> None:
        """Remember distinct keys that are not kept."""
        self._newest.add(np.maximum(keys, 1))

    def keys(self) -> Fingerprints:
        """All keys that this run has added, ascending; good until :meth:`close`."""
        if self._store is None:
            return self._newest_sorted()
        self._spill()
        if len(self._store.runs) > 1:
            self._write(self._store.merge(self._store.runs))
        return self._store.runs[0].keys

    def close(self) -> None:
        """Remove what is on disk of this run."""
        if self._store is not None:
            self._store.close()
        if self._scratch is not None:
            self._scratch.remove()

    def _newest_sorted(self) -> Fingerprints:
        keys = self._newest.keys()
        keys.sort()
        return keys

    def _spill(self) -> None:
        if self._store is None:
            self._scratch = Scratch()
            self._store = RunStore(self._scratch.folder, durable=False)
        self._write(self._store.write(self._newest_sorted(), {}))
        self._newest = KeyTable(len(self._newest))
        while due := self._store.due():
            self._write(self._store.merge(due))

    def _write(self, work: Work) -> None:
        try:
            Job(work).finish()
        except OSError as error:
            raise UsageFault(f"keys cannot be written to the folder for temporary files (TMPDIR): {error}") from None


def _in_runs(runs: Sequence[Run], keys: Fingerprints) -> Mask:
    """Which of these are in a run. Each is asked for the keys, or where it has fewer, they for its own: of many small
    ones that takes a fifth of the time."""
    found = np.zeros(len(keys), np.bool_)
    for run in runs:
        if len(run) < len(keys):
            places = np.minimum(np.searchsorted(keys, run.keys), len(keys) - 1)
            found[places[keys[places] == run.keys]] = True
    left = np.flatnonzero(~found)
    found[left] = ~Seen.unknown([run for run in runs if len(run) >= len(keys)], keys[left])
    return found
