"""Records read by several processes, in the order of the archive.

Guarantees: what comes out is what one process gives, in the same order; the records in memory are bounded. A process
that dies ends no run: what it had is read again, a record at a time, and the one that a process dies of again has
failed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from archive import ArchiveError, Record
from corpus.children import Child, ChildDied
from corpus.errors import CorpusError
from corpus.records import Read, ReadRecord

_BATCH_BYTES = 1 << 20
_BATCHES_EACH = 3
_MOST_DEATHS = 3
"""Deaths one after another, with no record read between them: then it is not the records."""

Found = Iterator[tuple[Record, Read]]
_Reader = Child[list[Record], list[Read]]


class Readers:
    """``processes`` that read records. To be closed."""

    def __init__(self, reading: ReadRecord, processes: int) -> None:
        self._reading = reading
        self._processes = processes
        self._children: deque[_Reader] = deque()
        self._spare: _Reader | None = None
        self._deaths = 0

    def close(self) -> None:
        """Ends the processes; what they have not given is dropped."""
        for child in (*self._children, self._spare):
            if child is not None:
                child.close()
        self._children.clear()
        self._spare = None

    def read(self, records: Iterable[Record]) -> Found:
        """Each record with what became of it. CorpusError when the processes cannot live."""
        waiting: deque[tuple[list[Record], _Reader]] = deque()
        batch: list[Record] = []
        faults: list[Exception] = []
        size = 0
        for record in _until_fault(records, faults):
            if record.in_memory:
                batch.append(record.alone())
                size += len(record.raw_head) + record.length
                if size >= _BATCH_BYTES:
                    waiting.append((batch, self._given(batch)))
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

    def _ended(self, waiting: deque[tuple[list[Record], _Reader]], batch: list[Record]) -> Found:
        """All that has been asked for, and the last batch."""
        if batch:
            waiting.append((batch, self._given(batch)))
        while waiting:
            yield from self._taken(*waiting.popleft())

    def _given(self, batch: list[Record]) -> _Reader:
        """The process whose turn it is has this batch now."""
        if len(self._children) < self._processes:
            self._children.appendleft(self._begun())
        child = self._children[0]
        self._children.rotate(-1)
        child.give(batch)
        return child

    def _begun(self) -> _Reader:
        return Child(partial(_reader, self._reading))

    def _taken(self, batch: list[Record], child: _Reader) -> Found:
        try:
            results = child.take()
            self._deaths = 0
        except ChildDied:
            if child in self._children:
                self._children.remove(child)
                child.close()
            results = [self._alone(record) for record in batch]
        yield from zip(batch, results, strict=True)

    def _alone(self, record: Record) -> Read:
        """A record of a batch that a process died of, read by itself in one that has nothing else to do."""
        if self._spare is None:
            self._spare = self._begun()
        self._spare.give([record])
        try:
            [read] = self._spare.take()
        except ChildDied:
            self._spare.close()
            self._spare = None
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


def _reader(reading: ReadRecord) -> Callable[[list[Record]], list[Read]]:
    return lambda batch: [reading(record) for record in batch]
