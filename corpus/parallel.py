"""Records read by several processes, in the order of the archive.

Guarantees: what comes out is what one process gives, in the same order; the records in memory are bounded. A process
that dies ends no run: what it had is read again, a record at a time, and the one that a process dies of again has
failed. Processes whose parent is gone end by themselves.
"""

from __future__ import annotations

import os
import signal
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait

from archive import ArchiveError, Record
from corpus.errors import CorpusError
from corpus.records import Read, ReadRecord

_BATCH_BYTES = 1 << 20
_BATCHES_EACH = 3
_MOST_DEATHS = 3
"""Deaths one after another, with no record read between them: then it is not the records."""

Found = Iterator[tuple[Record, Read]]
_Batch = tuple[list[Record], Future[list[Read]]]


class Readers:
    """``processes`` that read records. To be closed."""

    def __init__(self, reading: ReadRecord, processes: int) -> None:
        self._reading = reading
        self._processes = processes
        self._pool: ProcessPoolExecutor | None = None
        self._deaths = 0

    def close(self) -> None:
        """Ends the processes; what they have not begun is dropped."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def read(self, records: Iterable[Record]) -> Found:
        """Each record with what became of it. CorpusError when the processes cannot live."""
        waiting: deque[_Batch] = deque()
        batch: list[Record] = []
        faults: list[Exception] = []
        size = 0
        for record in _until_fault(records, faults):
            if record.in_memory:
                batch.append(record.alone())
                size += len(record.raw_head) + record.length
                if size >= _BATCH_BYTES:
                    waiting.append((batch, self._submit(batch)))
                    batch, size = [], 0
                    if len(waiting) > _BATCHES_EACH * self._processes:
                        yield from self._taken(*waiting.popleft())
            else:  # its block can be read but here and now
                yield from self._ended(waiting, batch)
                batch, size = [], 0
                yield record, self._reading(record)
        yield from self._ended(waiting, batch)
        if faults:
            raise faults[0]

    def _ended(self, waiting: deque[_Batch], batch: list[Record]) -> Found:
        """All that has been asked for, and the last batch."""
        if batch:
            waiting.append((batch, self._submit(batch)))
        while waiting:
            yield from self._taken(*waiting.popleft())

    def _submit(self, batch: list[Record]) -> Future[list[Read]]:
        if self._pool is not None:
            with suppress(BrokenProcessPool):
                return self._pool.submit(_read, batch)
            self.close()
        self._pool = ProcessPoolExecutor(self._processes, get_context("spawn"), _begin, (self._reading,))
        return self._pool.submit(_read, batch)

    def _taken(self, batch: list[Record], future: Future[list[Read]]) -> Found:
        try:
            results = future.result()
            self._deaths = 0
        except BrokenProcessPool:
            results = [self._alone(record) for record in batch]
        yield from zip(batch, results, strict=True)

    def _alone(self, record: Record) -> Read:
        """A record of a batch that a process died of, read by itself in another one."""
        try:
            [read] = self._submit([record]).result()
        except BrokenProcessPool:
            self._deaths += 1
            if self._deaths == _MOST_DEATHS:
                raise CorpusError(f"{self._deaths} reading processes have died one after another") from None
            return Read(reason="failed", why="a process died of it")
        self._deaths = 0
        return read


def _until_fault(records: Iterable[Record], faults: list[Exception]) -> Iterator[Record]:
    """What can be read; why no more can, for the time when all of it has been given."""
    try:
        yield from records
    except (OSError, ArchiveError) as error:
        faults.append(error)


_reading: ReadRecord | None = None


def _begin(reading: ReadRecord) -> None:
    """The beginning of a process."""
    global _reading  # noqa: PLW0603
    _reading = reading
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it, too, and ends all
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _read(batch: list[Record]) -> list[Read]:
    assert _reading is not None
    return [_reading(record) for record in batch]
