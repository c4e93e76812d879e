"""The memory of ``corpus dedup --state``: what each output has kept, so that later ones leave it out.

A folder with one sorted run of keys (:mod:`sieve.sets.store`) an output, in the order in which the outputs were first
made. An output is known by its path as seen from the folder.

Guarantees: what an output has is counted, and nothing else, whenever a run is killed. The keys are committed first, as
pending, with inode and size of the finished hidden file; then that takes the output's name; then the commit is made
final. Whoever opens the folder next sees by inode and size whether the output got its name, and counts it or not. An
output that is made again is compared with those that were there before it and takes the place of its former self; when
others were made after it, it has to come out with the same keys: they left out what it had. One process at a time.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from archive.storage.disk import allow_many_files
from corpus.errors import UsageFault
from corpus.outputs import STDOUT, naming
from sieve.disk.files import FolderLock
from sieve.errors import DamagedError, LockedError, SieveError
from sieve.fingerprint import Fingerprints
from sieve.sets.jobs import Job
from sieve.sets.runs import Run
from sieve.sets.store import MANIFEST, RunStore, lost_manifest

_FOLDER = "dedup"
"""Inside of what the user names, which may have other files: the store removes runs that it does not know."""


@contextmanager
def opened(folder: Path, output: str, *, near: bool) -> Iterator[State]:
    """The state in ``folder``, made when absent, for a run that writes ``output``. UsageFault when that cannot be."""
    if output == STDOUT or (Path(output).exists() and not Path(output).is_file()):
        raise UsageFault(f"{output}: a run with --state writes a file")
    inside = folder / _FOLDER
    try:
        lock = FolderLock(inside)
    except LockedError:
        raise UsageFault(f"{folder}: another process is working with this state") from None
    try:
        allow_many_files()  # each run of keys stays open as long as the state
        if lost_manifest(inside):
            raise DamagedError(str(inside / MANIFEST), "it is missing")  # the store would name commands of a crawl
        with naming(folder):
            store = RunStore(inside)
            store.sweep()
        try:
            yield State(folder, store, output, near=near)
        finally:
            store.close()
    except SieveError as error:
        raise UsageFault(f"{error}; without it nothing can be compared with earlier outputs") from None
    finally:
        lock.release()


class State:
    """See :func:`opened`. ``earlier``: the keys of the outputs to compare with; ``without_near``: those among them that
    were made without --near.

    The store's facts have the outputs in the order of its runs; a run that is pending is the last.
    """

    def __init__(self, folder: Path, store: RunStore, output: str, *, near: bool) -> None:
        self._folder = Path(os.path.realpath(folder))
        self._store = store
        if not store.facts:
            store.commit([], {"outputs": [], "pending": None})
        self._recover()
        self._entry: dict[str, Any] = {"output": self._name(output), "near": near}
        try:
            self._entry["output"].encode()
        except UnicodeEncodeError:
            raise UsageFault(f"{output}: a state knows outputs by names in UTF-8 only") from None
        self._place = self._place_of(self._entry)
        self._expect_in_place(Path(output), folder)
        self.earlier: list[Run] = store.runs[: self._place]
        self.without_near: list[str] = [one["output"] for one in self._outputs[: self._place] if not one["near"]]

    @property
    def _outputs(self) -> list[dict[str, Any]]:
        return list(self._store.facts["outputs"])

    def _name(self, output: str) -> str:
        return os.path.relpath(os.path.realpath(output), self._folder)

    def has(self, path: str) -> bool:
        """Is this file an output that is counted?"""
        return self._name(path) in [one["output"] for one in self._outputs]

    def _expect_in_place(self, output: Path, folder: Path) -> None:
        """UsageFault when an output may have been moved, or moved to this name: compared with itself it would come out
        empty, and take the place of what it had."""
        if self._place < len(self._outputs) and not output.exists():
            raise UsageFault(
                f"{output}: counted in {folder}, but not there. If it was moved, take another name; "
                "if it was deleted to be made again, put an empty file there"
            )
        if self._place == len(self._outputs) and output.exists() and output.stat().st_size:
            gone = [one["output"] for one in self._outputs if not (self._folder / one["output"]).exists()]
            if gone:
                raise UsageFault(
                    f"{output}: there, but not counted in {folder}, where {gone[0]} is counted, but not there. "
                    "If one was moved to the other, or the state without its outputs, take another name"
                )

    def _place_of(self, entry: dict[str, Any]) -> int:
        """Where an output is, or where it is going to be."""
        names = [one["output"] for one in self._outputs]
        return names.index(entry["output"]) if entry["output"] in names else len(names)

    def commit(self, keys: Fingerprints, hidden: Path) -> None:
        """The output is whole in ``hidden``, which is going to take its name, and has kept ``keys``. UsageFault when it
        must not, since others were made after it."""
        if self._place < len(self._outputs):
            if np.array_equal(self._store.runs[self._place].keys, keys):
                return
            if self._place < len(self._outputs) - 1:
                raise UsageFault(
                    f"{self._entry['output']}: comes out otherwise now, but {self._outputs[-1]['output']} was made "
                    "after it and left out what it had. Keep to its options, give new input as a further output, or "
                    "make all of them again with a new state"
                )
        found = hidden.stat()
        pending = {**self._entry, "inode": found.st_ino, "size": found.st_size}
        with naming(self._folder):
            Job(self._store.write(keys, {"pending": pending})).finish()

    def done(self) -> None:
        """The output has its name."""
        if self._store.facts["pending"]:
            self._settle(taken=True)

    def _recover(self) -> None:
        pending = self._store.facts["pending"]
        if pending:
            self._settle(taken=_is(self._folder / pending["output"], pending["inode"], pending["size"]))

    def _settle(self, *, taken: bool) -> None:
        """Count what is pending, in the place of its former self, or forget it. A run that is named no more is removed
        when the store is opened next."""
        outputs, (*runs, new) = self._outputs, self._store.runs
        if taken:
            entry = self._store.facts["pending"]
            place = self._place_of(entry)
            outputs[place : place + 1], runs[place : place + 1] = [entry], [new]
        self._store.commit(runs, {"outputs": outputs, "pending": None})


def _is(path: Path, inode: int, size: int) -> bool:
    try:
        found = path.stat()
    except OSError:
        return False
    return (found.st_ino, found.st_size) == (inode, size)
