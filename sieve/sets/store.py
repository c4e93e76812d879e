"""The seen-set on disk: a few sorted runs, merged when of like size, named by one manifest.

Guarantees: the manifest's atomic replacement is the only commit; a run is on disk before a manifest names it, and the
runs that it replaces are deleted after. A store whose manifest is lost (it is written before the first run) or does not
go with its runs is refused and left as it is; what the manifest does not name is deleted when the store has been opened
and found to be the one that was meant (:meth:`RunStore.sweep`). With runs merged whenever the smaller ones together
reach two thirds of the next, n keys written in runs of r are rewritten about log2(n / r) times.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from sieve.disk.files import Step, load, no_step, replace, sync_folder
from sieve.errors import DamagedError, StoreError
from sieve.fingerprint import Fingerprints
from sieve.sets.jobs import Job, Work
from sieve.sets.runs import Run, RunWriter

MANIFEST = "MANIFEST"
SALVAGED = "salvaged"
"""A fact of a store whose manifest was lost and made again from its runs: the keys that were lost with damaged blocks
and told. What else the manifest said is not known."""
_PIECE_KEYS = 1 << 16
_LIKE_SIZE = 1.5
_VERSION = 1


class RunStore:
    """Runs in `folder`. `durable` False leaves out fsync: for a copy of what is safe elsewhere. Opening deletes
    nothing: call :meth:`sweep` when the facts are those of the store that was meant."""

    def __init__(self, folder: Path, *, durable: bool = True, step: Step = no_step) -> None:
        self.folder = folder
        self._durable = durable
        self._step = step
        self._threads: ThreadPoolExecutor | None = None
        manifest = load(folder / MANIFEST) or self._begun()
        if manifest["version"] != _VERSION:
            raise StoreError(f"{folder}: made by a version of this program with store format {manifest['version']}")
        self.facts: dict[str, Any] = manifest["facts"]
        self._planned = self.facts
        self._next: int = manifest["next"]
        self.runs: list[Run] = [self._open(name, count) for name, count in manifest["runs"]]
        self._named = self.runs
        self._replaced: list[Run] = []  # by one that they were merged into; the manifest may still name them

    @property
    def behind(self) -> bool:
        """Whether the manifest lacks a run, as after one that could not be replaced. The next one has it."""
        return self._named is not self.runs

    def __len__(self) -> int:
        return sum(map(len, self.runs))

    def _begun(self) -> dict[str, Any]:
        """The manifest of a new store, written at once: from then on runs without one are a store that lost it."""
        if lost_manifest(self.folder):
            raise StoreError(
                f"{self.folder} has runs of seen URLs, but no {MANIFEST}: put that back, or make it again "
                "(of these runs: `scrapy sieve repair`; of the archive: `scrapy sieve rebuild FILE…`, docs/fleet.md)"
            )
        manifest = _manifest([], 0, {})
        replace(self.folder / MANIFEST, manifest, durable=self._durable)
        return manifest

    def _open(self, name: str, count: int) -> Run:
        path = self.folder / name
        if not path.exists():
            raise DamagedError(str(path), f"the run of {count} keys is missing")
        run = Run.open(path)
        if len(run) != count:
            raise DamagedError(str(path), f"{len(run)} keys where the manifest says {count}")
        return run

    def sweep(self) -> None:
        """Delete what a process that died has left: runs that no manifest names, and parts of one."""
        named = {run.path for run in self.runs}
        for path in (*self.folder.glob("*.run"), *self.folder.glob("*.run.new")):
            if path not in named:
                path.unlink()

    def commit(self, runs: Sequence[Run], facts: dict[str, Any]) -> None:
        """Replace the manifest; `facts` are added to those there are."""
        Job(self._committed(runs, facts)).finish()

    def _committed(self, runs: Sequence[Run], facts: dict[str, Any]) -> Work:
        """A job's last steps: the manifest is replaced in a thread, in the order of the calls, and what it no longer
        names is deleted.

        The runs count from now on, since their files are whole; the facts only when the manifest stands.
        """
        self.runs = named = list(runs)
        replaced = list(self._replaced)
        self._planned = together = {**self._planned, **facts}
        content = _manifest(runs, self._next, together)
        self._step("manifest")
        yield self.later(lambda: replace(self.folder / MANIFEST, content, durable=self._durable))
        self._step("manifest committed")
        self.facts, self._named = {**self.facts, **facts}, named
        for old in replaced:
            self._step("run deleted")
            old.path.unlink(missing_ok=True)
        self._replaced = [old for old in self._replaced if old not in replaced]

    def write(self, keys: Fingerprints, facts: dict[str, Any]) -> Work:
        """A job: store ascending distinct `keys` as a run and commit it with `facts`."""
        run = yield from self.written(keys)
        yield from self.add(run, facts)

    def written(self, keys: Fingerprints) -> Generator[int | Future[None], None, Run]:
        """The first steps of :meth:`write`; they return the run, which no manifest names yet."""
        pieces = (keys[start : start + _PIECE_KEYS] for start in range(0, len(keys), _PIECE_KEYS))
        return (yield from self._written(pieces, len(keys)))

    def add(self, run: Run, facts: dict[str, Any]) -> Work:
        """The last steps of :meth:`write`: the run counts from the first of them on."""
        yield from self._committed([*self.runs, run], facts)

    def due(self) -> list[Run]:
        """Runs that should be merged: the smallest ones, as far as they are of like size."""
        runs = sorted(self.runs, key=len)
        total, count = 0, 0
        for run in runs:
            if count and len(run) > _LIKE_SIZE * total:
                break
            total += len(run)
            count += 1
        return runs[:count] if count > 1 else []

    def merge(self, merged: Sequence[Run]) -> Work:
        """A job: put `merged` together in one run; runs written meanwhile stay."""
        total = sum(map(len, merged))
        run = yield from self._written(_merged([run.keys for run in merged], total), total)
        self._replaced += merged
        yield from self._committed([*(old for old in self.runs if old not in merged), run], {})

    def _written(self, pieces: Iterable[Fingerprints], expected: int) -> Generator[int | Future[None], None, Run]:
        """A job's first steps; they return the run, which no manifest names yet."""
        name = f"{self._next:08d}.run"
        self._next += 1
        writer = RunWriter(self.folder / name, expected)
        try:
            for piece in pieces:
                writer.append(piece)
                self._step("run written in part")
                yield len(piece)
            writer.finish()
            if self._durable:
                yield self.later(writer.sync)
            self._step("run synced")
            run = writer.publish()
            if self._durable:
                sync_folder(self.folder)
            self._step("run named")
        except BaseException:
            writer.discard()
            raise
        return run

    def later(self, call: Callable[[], None]) -> Future[None]:
        """Run `call`, an fsync, in a thread."""
        if self._threads is None:
            self._threads = ThreadPoolExecutor(1, thread_name_prefix="sieve-fsync")
        return self._threads.submit(call)

    def close(self) -> None:
        """Let go."""
        if self._threads is not None:
            self._threads.shutdown()
            self._threads = None


def lost_manifest(folder: Path) -> bool:
    """Whether there are runs, and no manifest that could name them."""
    return not (folder / MANIFEST).exists() and any(folder.glob("*.run"))


def make_again(folder: Path, keys: Fingerprints, facts: dict[str, Any]) -> None:
    """Replace what there is of a store in `folder` by one run of ascending distinct `keys`, with `facts`.

    Until the new manifest stands, all that was there is. The caller holds the folder's lock.
    """
    old = list(folder.glob("*.run"))
    number = 1 + max((int(path.stem) for path in old if path.stem.isdecimal()), default=-1)
    writer = RunWriter(folder / f"{number:08d}.run", len(keys))
    try:
        writer.append(keys)
        writer.finish()
        writer.sync()
        run = writer.publish()
    except BaseException:
        writer.discard()
        raise
    sync_folder(folder)
    replace(folder / MANIFEST, _manifest([run], number + 1, facts), durable=True)
    for path in old:
        path.unlink()


def _manifest(runs: Sequence[Run], following: int, facts: dict[str, Any]) -> dict[str, Any]:
    """What a manifest says; `following` is the number of the next run."""
    named = [[run.path.name, len(run)] for run in runs]
    return {"version": _VERSION, "runs": named, "next": following, "facts": facts}


def _merged(arrays: Sequence[Fingerprints], total: int) -> Iterable[Fingerprints]:
    """Ascending pieces of the union. Fingerprints are uniform, so equal ranges of values hold about equal numbers."""
    pieces = max(1, -(-total // _PIECE_KEYS))
    bounds = (np.arange(1, pieces, dtype=np.float64) * (2.0**64 / pieces)).astype(np.uint64)
    cuts = [np.concatenate([[0], np.searchsorted(array, bounds), [len(array)]]) for array in arrays]
    for piece in range(pieces):
        parts = [array[cut[piece] : cut[piece + 1]] for array, cut in zip(arrays, cuts, strict=True)]
        keys = np.concatenate(parts)
        # A stable sort is a merge where the parts are already sorted.
        keys.sort(kind="stable")
        yield distinct(keys)


def distinct(keys: Fingerprints) -> Fingerprints:
    """Sorted keys without repeats."""
    fresh = keys[1:] != keys[:-1]
    return keys if fresh.all() else np.concatenate([keys[:1], keys[1:][fresh]])
