"""Which fingerprints were met before."""

from __future__ import annotations

import numpy as np

from sieve.fingerprint import Fingerprints
from sieve.items import Mask


class SeenSet:
    """Exact, in memory."""

    def __init__(self) -> None:
        self._known: set[int] = set()

    def add(self, keys: Fingerprints) -> None:
        """Take `keys` for known."""
        self._known.update(keys.tolist())

    def first(self, keys: Fingerprints) -> Mask:
        """Which of `keys` are met for the first time, now; they are known afterwards."""
        known = self._known
        mask = np.zeros(len(keys), np.bool_)
        for place, key in enumerate(keys.tolist()):
            if key not in known:
                known.add(key)
                mask[place] = True
        return mask
