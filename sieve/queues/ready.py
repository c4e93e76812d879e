"""What was admitted and not yet taken, on disk, oldest arrival first.

One log holds the admitted URLs with their fingerprints: it is the queue and, until they are in a run, the record that
they are known. A record is either prompt (its URLs were certainly new and were admitted on arrival) or late (they had
to wait for a flush). Each of the two kinds is in order of arrival; they are merged by their arrival numbers.

The acknowledged position is the last record of a small log (replacing a file by another costs ten times an append): the
place among the prompt records, that of the first late one that is not used up, and how many URLs of either were taken.
It is made durable at each flush; a power cut, unlike kill -9, may repeat what was handed out since.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgpack
import numpy as np

from sieve.disk.files import Log, Place
from sieve.fingerprint import Fingerprints
from sieve.queues.items import Batch, Numbers, pack_numbered, unpack_numbered
from sieve.types import Item

_PROMPT, _LATE = 0, 1
_POSITIONS_BYTES = 1 << 18
_WRITTEN_ROWS = 64


@dataclass(slots=True)
class _Row:
    """An opened record and how much of it was read."""

    place: Place
    end: Place
    numbers: Numbers
    items: list[Item]
    read: int = 0

    @property
    def next(self) -> int:
        return int(self.numbers[self.read])

    @property
    def left(self) -> int:
        return len(self.items) - self.read


def _body(kind: int, numbers: Numbers, batch: Batch) -> bytes:
    return bytes([kind]) + pack_numbered(numbers, batch)


def _parse(body: bytes) -> tuple[int, Numbers, Batch]:
    return body[0], *unpack_numbered(body, 1)


class ReadyQueue:
    """See the module. `durable`: what is handed out was made durable before.

    Call :meth:`recover` once after opening.
    """

    def __init__(self, folder: Path, *, durable: bool = True) -> None:
        self._log = Log(folder, "ready", durable=durable)
        self._positions = Log(folder, "taken", _POSITIONS_BYTES, durable=durable)
        self._durable = durable
        position = self._last_position()
        self._place = Place(*position["prompt"])
        self._read: int = position["read"]
        late, read = min(position["late"], default=(position["end"], 0))
        self._late_place, self._late_read = Place(*late), int(read)
        self._prompt: _Row | None = None
        self._late: _Row | None = None
        self._later: deque[tuple[Place, int]] = deque()  # late records behind that one, and their first numbers
        self._written: deque[_Row] = deque()  # prompt records without a gap, the oldest that are not read
        self._left_out = False  # whether later ones are in the log alone
        self._acknowledged = True
        self.next_number: int = position["next"]

    @property
    def end(self) -> Place:
        """Where the next record will be written."""
        return self._log.end

    def recover(self, stored: Place) -> Iterator[Fingerprints]:
        """Read the log after opening: finds the late records, gives the fingerprints of records from `stored` on."""
        reached = max(stored, self._place, self._late_place)
        if self._log.end < reached:  # its end was lost: what is new must not lie where all was read or stored already
            self._log.roll(reached.segment + 1)
        for record in self._log.records(min(stored, self._place, self._late_place)):
            kind, numbers, batch = _parse(record.body)
            self.next_number = max(self.next_number, int(numbers.max()) + 1)
            if kind == _LATE and record.place >= self._late_place:
                self._later.append((record.place, int(numbers[self._late_read_of(record.place)])))
            if record.place >= stored:
                yield batch.keys

    def append(self, numbers: Numbers, batch: Batch) -> None:
        """Add URLs admitted on arrival; their numbers are above all before."""
        place = self._log.append(_body(_PROMPT, numbers, batch))
        # What is read soon after it was written need not be parsed again. After a row that was left out all are, or it
        # would be passed over.
        following = not self._left_out if self._written else self._caught_up(place)
        self._left_out = not following or len(self._written) >= _WRITTEN_ROWS
        if not self._left_out:
            self._written.append(_Row(place, self._log.end, numbers, batch.items()))

    def append_late(self, numbers: Numbers, batch: Batch) -> None:
        """Add URLs that had to wait, in ascending order of their arrival numbers, above all late ones before."""
        self._later.append((self._log.append(_body(_LATE, numbers, batch)), int(numbers[0])))

    def read(self, limit: int | None) -> list[Item]:
        """Take up to `limit` URLs out, oldest arrival first."""
        if self._durable:
            self._log.sync()
        out: list[Item] = []
        while limit is None or len(out) < limit:
            row = self._oldest()
            if row is None:
                break
            count = row.left if limit is None else min(row.left, limit - len(out))
            bound = self._bound(row)
            if bound is not None:
                count = min(count, int(np.searchsorted(row.numbers[row.read :], np.uint64(bound))))
            out += row.items[row.read : row.read + count]
            row.read += count
            self._acknowledged = False
            if not row.left and row is self._late:
                self._late = None
        return out

    def acknowledge(self, next_number: int) -> None:
        """What was read is not to come again, whatever happens; `next_number` is the next arrival number."""
        if self._acknowledged:
            return
        row, late = self._prompt, self._oldest_late()
        content = {
            "prompt": tuple(row.place if row else self._place),
            "read": row.read if row else self._read,
            "late": [(tuple(late), self._late.read if self._late else self._late_read_of(late))] if late else (),
            "end": tuple(self._log.end),
            "next": next_number,
        }
        place = self._positions.append(msgpack.packb(content))
        if not place.offset:
            self._positions.sync()  # of the segments that go, the last may be all that a power cut would leave
            self._positions.drop_before(place.segment)
        self._acknowledged = True

    def drop_before(self, stored: Place) -> None:
        """Delete what is taken and acknowledged, and whose fingerprints lie before `stored`."""
        if self._acknowledged:
            place = self._prompt.place if self._prompt else self._place
            self._log.drop_before(min(stored, place, self._oldest_late() or place).segment)

    def tidy(self, next_number: int) -> None:
        """Delete all of the log when all of it is taken and its fingerprints are in runs."""
        if self._oldest() is None and self._log.end.offset:
            self._log.roll()
            self._place, self._read, self._prompt = self._log.end, 0, None
            self._acknowledged = False
            self._positions.roll()
            self.acknowledge(next_number)
            self._log.drop_before(self._log.end.segment)

    def sync(self) -> None:
        """Make all of it durable."""
        self._log.sync()
        self._positions.sync()

    def close(self) -> None:
        """Make durable and close."""
        try:
            self._log.close()
        finally:
            self._positions.close()

    def abandon(self) -> None:
        """Close without making anything durable."""
        self._log.abandon()
        self._positions.abandon()

    def _last_position(self) -> dict[str, Any]:
        position = {"prompt": (0, 0), "read": 0, "late": (), "end": (0, 0), "next": 0}
        for record in self._positions.records(Place(self._positions.segments()[0], 0)):
            position |= msgpack.unpackb(record.body)
        return position

    def _caught_up(self, place: Place) -> bool:
        """Whether everything before `place` is read."""
        if self._prompt is None:
            return self._place == place and not self._read
        return not self._prompt.left and self._prompt.end == place

    def _oldest(self) -> _Row | None:
        prompt, late = self._prompt_row(), self._first_late()
        if late is not None and (prompt is None or late < prompt.next):
            return self._late_row()
        return prompt

    def _bound(self, row: _Row) -> int | None:
        """Number of the oldest URL outside `row`, but for late ones behind a late row."""
        if row is self._prompt:
            return self._first_late()
        return self._prompt.next if self._prompt is not None and self._prompt.left else None

    def _first_late(self) -> int | None:
        """Number of the oldest late URL."""
        if self._late is not None:
            return self._late.next
        return self._later[0][1] if self._later else None

    def _oldest_late(self) -> Place | None:
        if self._late is not None:
            return self._late.place
        return self._later[0][0] if self._later else None

    def _late_read_of(self, place: Place) -> int:
        """How many URLs of a late record the last process took."""
        return self._late_read if place == self._late_place else 0

    def _late_row(self) -> _Row:
        if self._late is None:
            record = self._log.read(self._later[0][0])
            _, numbers, batch = _parse(record.body)
            self._late = _Row(record.place, record.end, numbers, batch.items(), self._late_read_of(record.place))
            self._later.popleft()
        return self._late

    def _prompt_row(self) -> _Row | None:
        row = self._prompt
        if row is not None and row.left:
            return row
        if self._written:
            self._prompt = self._written.popleft()
            return self._prompt
        while (record := self._log.following(row.end if row else self._place)) is not None:
            kind, numbers, batch = _parse(record.body)
            read = self._read if record.place == self._place else 0
            row = _Row(record.place, record.end, numbers, batch.items() if kind == _PROMPT else [], read)
            self._prompt = row
            if row.left:
                return row
        return None
