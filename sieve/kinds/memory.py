"""``memory:`` a dictionary and a queue: the reference model that every other kind is compared with.

Guarantees: exact, compares the canonical forms themselves, admits at once. Keeps nothing on disk; 160 bytes a URL.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import islice

from sieve.errors import ClosedError
from sieve.spec import Spec
from sieve.types import Entry, Item
from sieve.urls.canonical import canonical


class MemorySieve:
    """See the module."""

    def __init__(self, *, already_canonical: bool = False) -> None:
        self._seen: set[str] = set()
        self._queue: deque[Item] = deque()
        self._already_canonical = already_canonical
        self._closed = False

    @classmethod
    def open(cls, spec: Spec) -> MemorySieve:
        """From ``memory:?canonical=no``."""
        spec.known({"canonical"})
        return cls(already_canonical=spec.flag("canonical"))

    def enqueue(self, urls: Sequence[Item]) -> None:
        """See :class:`~sieve.types.Sieve`."""
        self._check_open()
        texts = [item.url if isinstance(item, Entry) else item for item in urls]
        forms = texts if self._already_canonical else list(map(canonical, texts))
        for item, form in zip(urls, forms, strict=True):
            if form not in self._seen:
                self._seen.add(form)
                self._queue.append(item)

    def flush(self) -> None:
        """Nothing ever waits here."""
        self._check_open()

    def drain(self, limit: int | None = None) -> list[Item]:
        """See :class:`~sieve.types.Sieve`."""
        self._check_open()
        count = len(self._queue) if limit is None else min(max(limit, 0), len(self._queue))
        out = list(islice(self._queue, count))
        for _ in range(count):
            self._queue.popleft()
        return out

    def close(self) -> None:
        """Forget everything."""
        self._closed = True
        self._seen.clear()
        self._queue.clear()

    def _check_open(self) -> None:
        if self._closed:
            raise ClosedError("the sieve is closed")
