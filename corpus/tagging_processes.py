"""Tagging in several processes: documents come out in the order in which they went in.

Each process loads the models for itself, and has every so manieth document. At most :data:`AHEAD` documents a process
are on their way. A process that dies (killed, no memory left) is noticed and ends the run; when the run ends or dies,
so do they. Each has a connection of its own: what a pool of :mod:`concurrent.futures` reads from is shared, and a
process that dies while it writes there leaves half of a result that the pool waits for the rest of, forever.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from itertools import cycle
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path
from queue import SimpleQueue

from corpus.errors import CorpusError
from corpus.tagging import DocumentTagger

AHEAD = 4
Tagged = tuple[list[str], Counter[str]]


def tagged(documents: Iterable[list[str]], tagger: DocumentTagger, processes: int) -> Iterator[Tagged]:
    """What ``tagger`` makes of each document, in their order."""
    if processes == 1:
        yield from map(tagger, documents)
        return
    children: list[_Child] = []
    try:
        children.extend(_Child(tagger) for _ in range(processes))
        waiting: deque[_Child] = deque()
        for child, rows in zip(cycle(children), documents, strict=False):
            if len(waiting) == AHEAD * processes:
                yield waiting.popleft().take()
            child.give(rows)
            waiting.append(child)
        while waiting:
            yield waiting.popleft().take()
    finally:
        for child in children:
            child.end()


class _Child:
    """A process that tags."""

    def __init__(self, tagger: DocumentTagger) -> None:
        context = multiprocessing.get_context("spawn")  # a fork would copy the locks of the progress bar's thread
        self._end, end = context.Pipe()
        self._process: SpawnProcess = context.Process(
            target=_work, args=(end, tagger.models, tagger.columns), daemon=True
        )
        kept = signal.signal(signal.SIGINT, signal.SIG_IGN)  # it inherits this: Ctrl-C is for the run, which ends it
        try:
            self._process.start()
        finally:
            signal.signal(signal.SIGINT, kept)
        end.close()

    def give(self, rows: list[str]) -> None:
        try:
            self._end.send(rows)
        except OSError:
            raise self._died() from None

    def take(self) -> Tagged:
        """What has become of the first document that was given and not taken."""
        try:
            made: Tagged | CorpusError = self._end.recv()
        except (EOFError, OSError):
            raise self._died() from None
        if isinstance(made, CorpusError):
            raise made
        return made

    def end(self) -> None:
        self._process.kill()
        self._process.join()
        self._end.close()

    def _died(self) -> CorpusError:
        return CorpusError("a process that tags has died (killed, or no memory left)")


def _work(end: Connection, models: dict[str, Path], columns: tuple[str, ...]) -> None:
    """The life of a process."""
    given: SimpleQueue[list[str]] = SimpleQueue()
    threading.Thread(target=_receive, args=(end, given), daemon=True).start()
    tagger = DocumentTagger(models, columns)
    while True:
        try:
            made: Tagged | CorpusError = tagger(given.get())
        except CorpusError as error:
            made = error
        end.send(made)


def _receive(end: Connection, given: SimpleQueue[list[str]]) -> None:
    """Takes what the run gives, always: it gives and takes in one thread. Ends the process when the run is gone."""
    try:
        while True:
            given.put(end.recv())
    except (EOFError, OSError):
        os._exit(1)
