"""Which payloads are in the archive already: a small bounded map of this process, and the fleet's by callbacks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from archive.writing.exchange import RevisitTarget

Lookup = Callable[[Collection[str]], Mapping[str, RevisitTarget]]
Remember = Callable[[Mapping[str, RevisitTarget]], None]


class SeenPayloads:
    """Payload digest -> the record that holds it. Only records that stand in a file are ever remembered.

    The oldest entry goes when there are more than ``capacity`` (about 400 bytes each); 0 switches the map off.
    ``lookup`` is asked for what the map does not know; ``remember`` is told of every new payload; both once a pack,
    since whoever keeps them may be a slow network away.
    """

    def __init__(self, capacity: int, lookup: Lookup | None = None, remember: Remember | None = None) -> None:
        self._capacity = capacity
        self._known: dict[str, RevisitTarget] = {}
        self._lookup = lookup
        self._remember = remember

    def find(self, checksums: Collection[str]) -> dict[str, RevisitTarget]:
        """Those of them that are known."""
        found = {checksum: target for checksum in checksums if (target := self._known.get(checksum)) is not None}
        asked = set(checksums) - found.keys()
        if asked and self._lookup is not None:
            found.update(self._lookup(asked))
        return found

    def add(self, targets: Mapping[str, RevisitTarget]) -> None:
        """They stand in a file now."""
        if self._capacity:
            self._known.update(targets)
            while len(self._known) > self._capacity:
                del self._known[next(iter(self._known))]
        if targets and self._remember is not None:
            self._remember(targets)
