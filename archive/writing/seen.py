"""Which payloads are in the archive already: a small bounded map of this process, and the fleet's by callbacks."""

from __future__ import annotations

from collections.abc import Callable

from archive.writing.exchange import RevisitTarget

Lookup = Callable[[str], RevisitTarget | None]
Remember = Callable[[str, RevisitTarget], None]


class SeenPayloads:
    """Payload digest -> the record that holds it. Only records that stand in a file are ever remembered.

    The oldest entry goes when there are more than ``capacity`` (about 400 bytes each); 0 switches the map off.
    ``lookup`` is asked when the map does not know; ``remember`` is told of every new payload.
    """

    def __init__(self, capacity: int, lookup: Lookup | None = None, remember: Remember | None = None) -> None:
        self._capacity = capacity
        self._known: dict[str, RevisitTarget] = {}
        self._lookup = lookup
        self._remember = remember

    def find(self, checksum: str) -> RevisitTarget | None:
        target = self._known.get(checksum)
        if target is None and self._lookup is not None:
            target = self._lookup(checksum)
        return target

    def add(self, checksum: str, target: RevisitTarget) -> None:
        if self._capacity:
            self._known[checksum] = target
            if len(self._known) > self._capacity:
                del self._known[next(iter(self._known))]
        if self._remember is not None:
            self._remember(checksum, target)
