"""Processes that work for a run, each with a connection of its own.

What a pool of :mod:`concurrent.futures` reads from is shared: a process that is killed while it writes there leaves
half of a result, and the pool waits for its rest forever. Here the death of a process is the end of its connection.
Children do not hear Ctrl-C, which is for the run; when that ends or dies, so do they.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

from corpus.errors import CorpusError

Task = TypeVar("Task")
Result = TypeVar("Result")
Work = Callable[[Task], Result]


class ChildDied(Exception):  # noqa: N818 - what happened
    """A process has died: killed, no memory left, or of what it was given."""


class Child(Generic[Task, Result]):
    """A process. ``make``: called there, once, for what is done with each task; it is pickled, as are tasks and
    results. CorpusError when it cannot be started: an OSError would be taken for one of the file that is read."""

    def __init__(self, make: Callable[[], Work[Task, Result]]) -> None:
        try:
            self._end, self._process = _started()
        except OSError as error:
            raise CorpusError(f"a process that works for the run cannot be started: {error}") from None
        self._send(make)

    def give(self, task: Task) -> None:
        """Never waits for the work. Of a process that has died :meth:`take` tells."""
        self._send(task)

    def _send(self, given: object) -> None:
        try:
            self._end.send(given)
        except OSError:
            self._end.close()

    def take(self) -> Result:
        """What has become of the first task that was given and not taken. ChildDied; CorpusError of the work."""
        try:
            made: Result | CorpusError = self._end.recv()
        except (EOFError, OSError):
            raise ChildDied from None
        if isinstance(made, CorpusError):
            raise made
        return made

    def close(self) -> None:
        """What it has not given is gone."""
        self._process.kill()
        self._process.join()
        self._end.close()


def _started() -> tuple[Connection, SpawnProcess]:
    """A process, and the end here of its connection. It is given no more than that: what is larger than a pipe holds,
    as a model, would wait forever for one that dies before it takes that in."""
    context = get_context("spawn")  # a fork would copy the locks of the progress bar's thread
    ours, its = context.Pipe()
    process = context.Process(target=_live, args=(its,), daemon=True)
    resource_tracker.ensure_running()  # as its start unblocks signals
    # Inherited: from its first instant it does not hear.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    its.close()
    return ours, process


def _live(end: Connection) -> None:
    try:
        make = end.recv()
    except (EOFError, OSError):  # the run is gone
        return
    given: SimpleQueue[Any] = SimpleQueue()
    threading.Thread(target=_receive, args=(end, given), daemon=True).start()
    work = make()
    while True:
        try:
            made = work(given.get())
        except CorpusError as error:
            made = error
        end.send(made)


def _receive(end: Connection, given: SimpleQueue[Any]) -> None:
    """Takes what the run gives, always: that gives and takes in one thread. Ends the process when the run is gone, or
    what it gave cannot be taken in, as for want of memory."""
    try:
        while True:
            given.put(end.recv())
    finally:
        os._exit(1)
