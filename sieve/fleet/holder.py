"""What the holder of the flush lease does: decide an epoch with the Bloom-and-runs code, and say what to commit.

A holder's knowledge is a copy of what is committed, plus one epoch that is not yet: when a commit fails for any reason
the holder is thrown away and made anew from what is committed. Two ways to keep the store:

* in Redis (fleet): new fingerprints go to ``fresh`` and, a chunk's worth at a time, sorted, to ``runs``. The holder
  works on a scratch copy on its own disk, read at take-over; it owns nothing.
* on the holder's disk: new fingerprints stay in ``fresh`` until a run that has them is on disk, whose manifest says the
  epoch up to which it is complete. ``home`` in Redis names the store, so that no other disk is taken for it, and
  ``stored`` how far it has come, so that no older copy of it is: each is refused, as is a Redis that has come less far
  than the store, until :func:`sieve.fleet.remaking.remake` has made the store again. Of a store that was put together
  again without its manifest, which does not say its epoch, the keys are counted: they must be as many as were admitted.
"""

from __future__ import annotations

import contextlib
import itertools
import secrets
import struct
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sieve.disk.files import FolderLock, Step, no_step, replace_text, sync_folder
from sieve.disk.scratch import Scratch
from sieve.errors import DamagedError, StoreError
from sieve.fingerprint import Fingerprints
from sieve.fleet.redis_link import Commit, RedisLink
from sieve.queues.items import packed_places
from sieve.sets.jobs import Job
from sieve.sets.seen import Seen, SeenConfig
from sieve.sets.store import SALVAGED, RunStore, distinct

EPOCH = struct.Struct("<Q")
"""In front of the fingerprints of an element of ``fresh``."""
_LOAD_KEYS = 1 << 22
_WAY_OUT = "put both back as they were at one time, or make the table again (`scrapy sieve rebuild`, docs/fleet.md)"
# A chunk of this many fingerprints and Redis' own bookkeeping fill a 64 KiB allocation.
CHUNK_KEYS = 8_176


@dataclass(slots=True)
class _Fresh:
    """Elements of ``fresh`` in Redis: epoch and fingerprints of each, oldest first."""

    elements: deque[tuple[int, Fingerprints]] = field(default_factory=deque)
    count: int = 0

    def add(self, epoch: int, keys: Fingerprints) -> None:
        self.elements.append((epoch, keys))
        self.count += len(keys)

    def drop(self, elements: int) -> None:
        for _ in range(elements):
            self.count -= len(self.elements.popleft()[1])


@dataclass(slots=True)
class Epoch:
    """One epoch decided and not committed."""

    commit: Commit
    admitted: Fingerprints
    fresh: Fingerprints


def store_id(folder: Path | None) -> str:
    """The id of the store in `folder`, made when there is none; empty for the store in Redis."""
    if folder is None:
        return ""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "ID"
    if not path.exists():
        new = folder / f"ID.{secrets.token_hex(8)}"
        replace_text(new, secrets.token_hex(8))
        # The first of several processes wins; link fails where rename would replace.
        with contextlib.suppress(FileExistsError):
            path.hardlink_to(new)
        new.unlink()
        sync_folder(folder)
    return path.read_text("ascii")


def name_store(folder: Path, home: str) -> None:
    """Give the store in `folder` the id that Redis knows it by. The caller holds the folder's lock."""
    replace_text(folder / "ID", home)


class Holder:
    """See the module. Made after the lease was taken at `epoch`; one thread at a time."""

    def __init__(
        self, link: RedisLink, epoch: int, folder: Path | None, config: SeenConfig, step: Step = no_step
    ) -> None:
        self.epoch = epoch
        self._in_redis = folder is None
        self._step = step
        self._scratch: Scratch | None = None
        self._lock: FolderLock | None = None
        if folder is None:
            self._scratch = Scratch()
            folder = self._scratch.folder
        else:
            self._lock = FolderLock(folder)
        self._fresh = _Fresh()
        try:
            self.seen = self._load(link, folder, config)
        except BaseException:
            self._let_go()
            raise

    def decide(self, packed: Sequence[bytes]) -> Epoch:
        """Decide waiting batches, oldest first, by their fingerprints: nobody here reads the URLs."""
        for batch in packed:
            if len(batch) % 8:
                raise DamagedError("the waiting log in Redis", f"{len(batch)} bytes are no row of fingerprints")
        keys = np.frombuffer(b"".join(packed), "<u8")
        new = self._new(keys)
        starts = np.cumsum([0, *(len(batch) // 8 for batch in packed)])
        cuts = np.searchsorted(new, starts)
        chosen = [
            packed_places(new[cut:end] - start)
            for start, (cut, end) in zip(starts.tolist(), itertools.pairwise(cuts.tolist()), strict=False)
        ]
        return self._epoch(len(keys), keys[new], chosen)

    def learn(self, keys: Fingerprints) -> Epoch | None:
        """An epoch by which `keys` are seen, and come out nowhere; None when all of them are."""
        new = self._new(keys)
        return self._epoch(0, keys[new], []) if len(new) else None

    def _new(self, keys: Fingerprints) -> npt.NDArray[np.intp]:
        """Where in `keys` one stands that was not seen, the first time."""
        first = np.zeros(len(keys), np.bool_)
        places, maybe = self.seen.screen(keys)
        first[places[~maybe]] = True
        perhaps = places[maybe]
        perhaps = perhaps[np.argsort(keys[perhaps])]
        first[perhaps[self.seen.unknown(self.seen.snapshot(), keys[perhaps])]] = True
        return np.flatnonzero(first)

    def committed(self, epoch: Epoch, number: int) -> None:
        """`epoch` was committed as `number`: take it into the store."""
        self.epoch = number
        self._fresh.drop(epoch.commit.fresh_done)
        if epoch.commit.fresh:
            self._fresh.add(number, epoch.fresh)
        self.seen.admit(epoch.admitted)
        self.seen.work(len(epoch.admitted))
        if self.seen.full:
            self.seen.freeze({"epoch": number})

    def settled(self) -> Commit | None:
        """At a store on disk: write everything to runs, and the commit that empties ``fresh``."""
        if self._in_redis or not self._fresh.elements:
            return None
        self.seen.settle({"epoch": self.epoch})
        return Commit(self.epoch, fresh_done=len(self._fresh.elements), stored=self._stored)

    def close(self) -> None:
        """Let go of everything."""
        try:
            self.seen.close()
        finally:
            self._let_go()

    def _let_go(self) -> None:
        if self._lock is not None:
            self._lock.release()
        if self._scratch is not None:
            self._scratch.remove()

    @property
    def _stored(self) -> int:
        """The epoch up to which the store on disk is complete."""
        return int(self.seen.store.facts.get("epoch", 0))

    def _epoch(self, urls: int, admitted: Fingerprints, places: list[bytes]) -> Epoch:
        fresh, chunks, done, stored = admitted, [], 0, 0
        if not self._in_redis:
            done = sum(epoch <= self._stored for epoch, _ in self._fresh.elements)
            stored = self._stored if done else 0
        elif self._fresh.count + len(admitted) >= CHUNK_KEYS:
            together = np.concatenate([*(keys for _, keys in self._fresh.elements), admitted])
            whole = len(together) // CHUNK_KEYS * CHUNK_KEYS
            chunks = [np.sort(part).tobytes() for part in np.split(together[:whole], whole // CHUNK_KEYS)]
            fresh, done = together[whole:], len(self._fresh.elements)
        element = EPOCH.pack(self.epoch + 1) + fresh.tobytes() if len(fresh) else b""
        return Epoch(Commit(self.epoch, urls, len(admitted), places, element, done, stored, chunks), admitted, fresh)

    def _load(self, link: RedisLink, folder: Path, config: SeenConfig) -> Seen:
        store = RunStore(folder, durable=not self._in_redis, step=self._step)
        stored = store.facts.get("epoch", 0)
        if stored > self.epoch:
            raise StoreError(
                f"the seen URLs in {folder} are those up to epoch {stored}, but Redis has only come to {self.epoch} "
                f"(it has lost data, or is an older copy): {_WAY_OUT}"
            )
        if self._in_redis:
            _copy(link, store)
        elif stored < (needed := link.stored()) and not says_no_epoch(store.facts):
            raise StoreError(
                f"the seen URLs in {folder} are those up to epoch {stored}, but Redis has left those up to {needed} to "
                f"them (the folder has lost data, or is an older copy): {_WAY_OUT}"
            )
        seen = Seen(store, config)
        for element in link.fresh():
            (epoch,) = EPOCH.unpack_from(element)
            keys = np.frombuffer(element, "<u8", offset=EPOCH.size)
            self._fresh.add(epoch, keys)
            if epoch > stored:
                seen.recover(keys, known=True)
        if says_no_epoch(store.facts):
            _expect_all(seen, link.tally().seen)
        store.sweep()
        return seen


def says_no_epoch(facts: Mapping[str, Any]) -> bool:
    """Whether these are the facts of a store on disk that was put together again without its manifest, and to which
    nothing was added since."""
    return SALVAGED in facts and "epoch" not in facts


def _expect_all(seen: Seen, admitted: int) -> None:
    """StoreError when there are fewer fingerprints than were ever admitted, or more."""
    lost = int(seen.store.facts[SALVAGED])
    if len(seen) <= admitted <= len(seen) + lost:
        return
    fault = "Redis has lost data" if len(seen) > admitted else "runs are missing"
    raise StoreError(
        f"the seen URLs in {seen.store.folder}, put together again without their MANIFEST, are {len(seen)}, but Redis "
        f"counts {admitted} ({fault}, or it is an older copy): {_WAY_OUT}"
    )


def _copy(link: RedisLink, store: RunStore) -> None:
    """Read the chunks in Redis into runs of the scratch store."""
    parts: list[Fingerprints] = []
    for chunk in link.runs():
        if len(chunk) % 8:
            raise DamagedError("runs in Redis", f"a chunk of {len(chunk)} bytes is no row of fingerprints")
        parts.append(np.frombuffer(chunk, "<u8"))
        if sum(map(len, parts)) >= _LOAD_KEYS:
            _write(store, parts)
            parts = []
    if parts:
        _write(store, parts)


def _write(store: RunStore, parts: Sequence[Fingerprints]) -> None:
    Job(store.write(distinct(np.sort(np.concatenate(parts))), {})).finish()
