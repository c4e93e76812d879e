"""What has been kept, as 64-bit keys: by this run, and by earlier ones.

Guarantees: exact, nothing is forgotten. In memory are the newest keys (a set of about half a million, 50 MB) and those
of the batch that is being judged; the others lie in sorted runs on disk (:mod:`sieve.sets.runs`), 8 bytes a key, with
up to half a byte of index in memory. Those of this run are in the folder for temporary files (``TMPDIR``) until the
run ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from corpus.errors import UsageFault
from sieve.disk.scratch import Scratch
from sieve.fingerprint import Fingerprints
from sieve.sets.jobs import Job, Work
from sieve.sets.runs import Run
from sieve.sets.seen import Seen
from sieve.sets.store import RunStore

NEWEST_KEYS = 1 << 19


class Kept:
    """``earlier``: what was kept before this run. Before keys are asked for or added, :meth:`look_up` must have been
    told of them: so that the disk is asked once a batch."""

    def __init__(self, earlier: Sequence[Run] = (), newest_keys: int = NEWEST_KEYS) -> None:
        self._earlier = list(earlier)
        self._most = newest_keys
        self._newest: set[int] = set()
        self._found: set[int] = set()
        self._scratch: Scratch | None = None
        self._store: RunStore | None = None

    def look_up(self, keys: Fingerprints) -> None:
        """Make ready for these keys, which may repeat, and for no others."""
        if len(self._newest) >= self._most:
            self._spill()
        parts = [*self._earlier, *(self._store.runs if self._store else ())]
        if parts:
            keys = np.sort(keys)
            self._found = set(keys[~Seen.unknown(parts, keys)].tolist())

    def __contains__(self, key: int) -> bool:
        return key in self._newest or key in self._found

    def add(self, key: int) -> None:
        """Remember a key that is not kept."""
        self._newest.add(key)

    def add_new(self, keys: Iterable[int]) -> list[bool]:
        """Remember keys; of each: was it new?"""
        newest, found = self._newest, self._found
        new: list[bool] = []
        for key in keys:
            is_new = key not in newest and key not in found
            if is_new:
                newest.add(key)
            new.append(is_new)
        return new

    def share(self, keys: set[int]) -> float:
        """How many of these keys are kept, 0 to 1."""
        known = len(keys & self._newest) + len(keys & self._found)
        return known / max(1, len(keys))

    def update(self, keys: set[int]) -> None:
        """Remember keys."""
        self._newest |= keys - self._found

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
        keys = np.fromiter(self._newest, np.uint64, len(self._newest))
        keys.sort()
        return keys

    def _spill(self) -> None:
        if self._store is None:
            self._scratch = Scratch()
            self._store = RunStore(self._scratch.folder, durable=False)
        self._write(self._store.write(self._newest_sorted(), {}))
        self._newest.clear()
        while due := self._store.due():
            self._write(self._store.merge(due))

    def _write(self, work: Work) -> None:
        try:
            Job(work).finish()
        except OSError as error:
            raise UsageFault(f"keys cannot be written to the folder for temporary files (TMPDIR): {error}") from None
