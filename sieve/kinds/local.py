"""What the kinds that keep a folder have in common: one process, a queue on disk, implied acknowledgement."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path

from sieve.disk.files import FolderLock, Place, Step, no_step
from sieve.errors import ClosedError
from sieve.queues.items import Batch, Fingerprinter
from sieve.queues.ready import ReadyQueue
from sieve.types import Item

_SLICE = 1 << 14


class LocalSieve(ABC):
    """Base of the kinds in a folder. One that lets URLs wait has :meth:`flush` and :meth:`pending` of its own.

    One thread at a time; one process at a time.
    """

    ready: ReadyQueue
    _fingerprinter: Fingerprinter
    _next: int = 0

    def __init__(self, folder: Path, step: Step = no_step) -> None:
        self.folder = folder
        self._step = step
        self._closed = False
        self._lock = FolderLock(folder)

    def _opened(self) -> None:
        try:
            self._open()
        except BaseException:
            self._lock.release()
            raise

    def enqueue(self, urls: Sequence[Item]) -> None:
        """See :class:`~sieve.types.Sieve`."""
        self._check_open()
        batch = self._fingerprinter.batch(urls)
        for start in range(0, len(batch), _SLICE):
            self._take(batch if len(batch) <= _SLICE else batch.part(start, start + _SLICE))

    def flush(self) -> None:
        """See :class:`~sieve.types.Sieve`. What was put in and acknowledged before is durable after it."""
        self._check_open()
        self.ready.sync()

    def drain(self, limit: int | None = None) -> list[Item]:
        """See :class:`~sieve.types.Sieve`. When nothing is ready, what waits is flushed first."""
        self._check_open()
        self._acknowledge()
        if limit is not None and limit <= 0:
            return []
        items = self.ready.read(limit)
        if not items and self.pending():
            self.flush()
            items = self.ready.read(limit)
        self._step("drained")
        return items

    def pending(self) -> int:
        """URLs that wait for a flush."""
        return 0

    def close(self) -> None:
        """See :class:`~sieve.types.Sieve`."""
        if self._closed:
            return
        self._closed = True
        with contextlib.ExitStack() as letting_go:  # all of it, whatever fails of the rest
            letting_go.callback(self._lock.release)
            letting_go.callback(self.ready.close)
            letting_go.callback(self._let_go)
            self.ready.acknowledge(self._next)
            self.ready.sync()
            self._complete()

    @contextlib.contextmanager
    def _all_or_closed(self) -> Iterator[None]:
        """An error half-way closes the sieve: opening it again is what puts its parts in step."""
        try:
            yield
        except BaseException:
            self._closed = True
            try:
                self._let_go()
            finally:
                self.ready.abandon()
                self._lock.release()
            raise

    def _acknowledge(self) -> None:
        self.ready.acknowledge(self._next)
        self._step("acknowledged")
        self.ready.drop_before(self._stored())

    def _check_open(self) -> None:
        if self._closed:
            raise ClosedError("the sieve is closed")

    @abstractmethod
    def _open(self) -> None:
        """Open what is in the folder; the lock is held."""

    @abstractmethod
    def _take(self, batch: Batch) -> None:
        """Put in a batch of at most 16,384 URLs."""

    @abstractmethod
    def _complete(self) -> None:
        """Store what is not stored yet: the sieve is being closed, and its queue is on the disk."""

    @abstractmethod
    def _let_go(self) -> None:
        """Close what :meth:`_open` opened, but the queue, without completing anything."""

    @abstractmethod
    def _stored(self) -> Place:
        """The place in the queue before which all fingerprints are stored elsewhere."""
