"""``mercator:`` the default: Mercator's sieve (Heydon and Najork 1999) with a filter in front and runs behind.

A URL that the filter calls certainly new is admitted at once. A perhaps-repeat waits in a buffer; when that is full (or
at :meth:`MercatorSieve.flush`) the buffer is sorted, compared with the sorted store, and what was in it for the first
time is handed out in order of arrival. Flushing, merging and filter building are cut into steps of a millisecond or so,
paid for by the calls that cause them, so that no call waits for all of it.

Differs from Mercator: the store is a few runs, not rewritten at each flush; buffer and queue are on disk from the first
moment. Guarantees: exact at any fill of the filter; kill -9 at any instant loses nothing and repeats at most what the
last drain handed out; memory bounded by the settings. Source: lecture notes section 2; BUbiNG's sieve for the weak
points (buffer lost, hand-out before the store, whole store rewritten, all threads stopped).
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sieve.disk.files import Place, Step, no_step, replace_text
from sieve.errors import DamagedError, StoreError
from sieve.fingerprint import Fingerprints
from sieve.kinds.local import LocalSieve
from sieve.queues.items import Batch, Fingerprinter, Numbers
from sieve.queues.ready import ReadyQueue
from sieve.queues.waiting import Waiting, WaitingRoom
from sieve.sets.filter import first_places
from sieve.sets.jobs import Job, Work
from sieve.sets.seen import Seen, SeenConfig
from sieve.sets.store import MANIFEST, RunStore
from sieve.spec import Spec

_LOOK_UP_KEYS = 1 << 13
_LATE_URLS = 2048
# Reading a record of the waiting log costs as much as looking up some hundred keys.
_RECORD_COST = 512
# Keys of flushing paid for by each key enqueued: a flush handles a key twice and ends before the buffer is full again.
_FLUSH_PACE = 4


@dataclass(frozen=True, slots=True)
class MercatorConfig:
    """Settings: `buffer` URLs wait before a flush begins by itself; `durable`: also safe against a power cut."""

    buffer: int = 1 << 18
    seen: SeenConfig = field(default_factory=SeenConfig)
    durable: bool = True
    already_canonical: bool = False
    seed: int | None = None

    @classmethod
    def of(cls, spec: Spec) -> MercatorConfig:
        """From ``mercator:DIR?buffer=&run=&filter=&filter_bytes=&sync=&canonical=&seed=``."""
        spec.known({"buffer", "run", "filter", "filter_bytes", "sync", "canonical", "seed"})
        usual = cls()
        seen = SeenConfig.of(spec, usual.seen)
        seed = spec.whole("seed", 0) if "seed" in spec.options else None
        return cls(spec.whole("buffer", usual.buffer, 1), seen, spec.flag("sync", True), spec.flag("canonical"), seed)


@dataclass(slots=True)
class _Late:
    """New URLs of several records of the waiting log: of each record few turn out to be new."""

    numbers: list[Numbers] = field(default_factory=list)
    batches: list[Batch] = field(default_factory=list)
    count: int = 0

    def add(self, numbers: Numbers, batch: Batch) -> None:
        """Add what is new of the next record."""
        self.numbers.append(numbers)
        self.batches.append(batch)
        self.count += len(batch)


def kept_seed(folder: Path) -> int | None:
    """The seed that is kept apart from the manifest, so that a store whose manifest is lost can be made again; None
    when there is none. DamagedError."""
    path = folder / "SEED"
    if not path.exists():
        return None
    if not (text := path.read_bytes()).isdigit():
        raise DamagedError(str(path), "it is no number")
    return int(text)


def is_of_another(folder: Path, facts: Mapping[str, Any]) -> bool:
    """Whether a manifest of these facts is another store's: no run in `folder` has fingerprints by its seed."""
    with contextlib.suppress(DamagedError):
        kept = kept_seed(folder)
        return kept is not None and facts.get("seed", kept) != kept
    return False


class MercatorSieve(LocalSieve):
    """See the module."""

    def __init__(self, folder: Path, config: MercatorConfig, step: Step = no_step) -> None:
        super().__init__(folder, step)
        self._config = config
        self._flushing: Job | None = None
        self._sealed: Waiting | None = None
        self._late = 0
        self._opened()

    @classmethod
    def open(cls, spec: Spec) -> MercatorSieve:
        """From a specification; see :meth:`MercatorConfig.of`."""
        return cls(Path(spec.folder()), MercatorConfig.of(spec))

    def flush(self) -> None:
        """See :class:`~sieve.types.Sieve`."""
        self._check_open()
        self._finish_flush()
        if self.waiting.now.count:
            self._begin_flush()
            self._finish_flush()
        self.ready.sync()

    def pending(self) -> int:
        """URLs that wait for a flush."""
        return self.waiting.now.count + (self._sealed.count if self._sealed else 0)

    def contains(self, url: str) -> bool:
        """Whether a URL equal to `url` was decided to be known; one that still waits is not."""
        keys = self._fingerprinter.fingerprint_of(url)
        return not bool(self.seen.unknown(self.seen.snapshot(), keys)[0])

    def _take(self, batch: Batch) -> None:
        places, maybe = self.seen.screen(batch.keys)
        admitted = 0
        if len(places):
            numbers = places.view(np.uint64) + np.uint64(self._next)
            self._next += len(batch)
            late, prompt = maybe.nonzero()[0], (~maybe).nonzero()[0]
            new = places[prompt]
            admitted = len(new)
            try:
                if len(late):
                    self.waiting.append(numbers[late], batch.at(places[late]))
                    self._step("waiting")
                if admitted:
                    self.ready.append(numbers[prompt], batch.at(new))
                    self._step("ready")
            except OSError:
                # What the logs do not hold was not met; the filter may go on saying "perhaps".
                self.seen.forget_recent()
                raise
            self.seen.admit(batch.keys[new])
        self._background(len(batch), admitted)

    def _background(self, count: int, admitted: int) -> None:
        self.seen.work(admitted + self._late, self._waiting_keys)
        self._late = 0
        if self.seen.full:
            self.seen.freeze(self._here(), self.ready.sync)
        if self._flushing is not None:
            with self._again_after_an_error():
                self._flushing.pay(_FLUSH_PACE * count)
            if self._flushing.done:
                self._flushing = None
        if self.waiting.now.count >= self._config.buffer:
            self._finish_flush()
            self._begin_flush()

    def _begin_flush(self) -> None:
        self._sealed = self.waiting.seal()
        self._step("sealed")
        self._flushing = Job(self._flush(self._sealed))

    def _finish_flush(self) -> None:
        if self._flushing is not None:
            with self._again_after_an_error():
                self._flushing.finish()
            self._flushing = None

    @contextlib.contextmanager
    def _again_after_an_error(self) -> Iterator[None]:
        """A flush that failed (on a full disk) begins again: what it had admitted is known by then."""
        try:
            yield
        except OSError:
            if self._sealed is not None:
                self._flushing = Job(self._flush(self._sealed))
            raise

    def _flush(self, sealed: Waiting) -> Work:
        together = np.concatenate(sealed.keys)
        keys, places = first_places(together)
        yield len(together)
        snapshot = self.seen.snapshot()
        new = []
        for start in range(0, len(keys), _LOOK_UP_KEYS):
            piece = slice(start, start + _LOOK_UP_KEYS)
            new.append(places[piece][self.seen.unknown(snapshot, keys[piece])])
            yield _LOOK_UP_KEYS
        admitted = np.sort(np.concatenate(new))
        late = _Late()
        for numbers, batch in self.waiting.texts(sealed, admitted):
            late.add(numbers, batch)
            yield _RECORD_COST
            if late.count >= _LATE_URLS:
                yield self._admit(late)
                late = _Late()
        if late.count:
            yield self._admit(late)
        yield self.store.later(self.ready.sync)
        self.waiting.drop(sealed)
        self._sealed = None
        self._step("flushed")

    def _seed(self) -> int:
        """The seed of this store's fingerprints, made and committed at the first opening."""
        if is_of_another(self.folder, self.store.facts):
            raise DamagedError(str(self.folder / MANIFEST), "its seed is not the one in SEED")
        if "seed" not in self.store.facts:
            seed = kept_seed(self.folder)
            if seed is None:
                seed = secrets.randbits(63) if self._config.seed is None else self._config.seed
                replace_text(self.folder / "SEED", str(seed))
            self.store.commit(self.store.runs, {"seed": seed})
        seed = int(self.store.facts["seed"])
        if self._config.seed not in (None, seed):
            raise StoreError(f"{self.store.folder} was made with seed {seed}, not {self._config.seed}")
        return seed

    def _admit(self, late: _Late) -> int:
        batch = Batch.join(late.batches)
        self.ready.append_late(np.concatenate(late.numbers), batch)
        self._step("late")
        self.seen.admit(batch.keys)
        self._late += len(batch)
        return len(batch)

    def _open(self) -> None:
        durable = self._config.durable
        self.store = RunStore(self.folder, durable=durable, step=self._step)
        self._fingerprinter = Fingerprinter(self._seed(), self._config.already_canonical)
        self.store.sweep()
        self.seen = Seen(self.store, self._config.seen)
        self.waiting = WaitingRoom(self.folder, durable=durable)
        self.ready = ReadyQueue(self.folder, durable=durable)
        self._recover()

    def _recover(self) -> None:
        admitted = list(self.ready.recover(self._stored()))
        if admitted:
            self.seen.recover(np.concatenate(admitted), known=True)
        waiting = self.waiting.now
        if waiting.count:
            self.seen.recover(np.concatenate(waiting.keys), known=False)
        last = max((int(numbers[-1]) for numbers in waiting.numbers), default=-1)
        self._next = max(self.ready.next_number, last + 1)

    def _waiting_keys(self) -> list[Fingerprints]:
        return [*self.waiting.now.keys, *(self._sealed.keys if self._sealed else ())]

    def _here(self) -> dict[str, Any]:
        return {"stored": list(self.ready.end)}

    def _stored(self) -> Place:
        return Place(*self.store.facts.get("stored", (0, 0)))

    def _complete(self) -> None:
        if self._flushing is not None:
            self._flushing.cancel()
        self.seen.settle(self._here(), self.ready.sync)
        self.ready.tidy(self._next)

    def _let_go(self) -> None:
        try:
            self.seen.close()
        finally:
            self.waiting.close()
