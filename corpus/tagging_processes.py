"""Tagging in several processes: documents come out in the order in which they went in.

Each process loads the models for itself. At most :data:`AHEAD` documents a process are on their way. A process that
dies (killed, no memory left) is noticed and ends the run; when the run ends or dies, so do they.
"""

from __future__ import annotations

import multiprocessing
import signal
import threading
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from corpus.errors import CorpusError
from corpus.parallel import end_with_parent
from corpus.tagging import DocumentTagger

AHEAD = 4
Tagged = tuple[list[str], Counter[str]]
_loaded: list[DocumentTagger] = []
"""In a process that tags: what it tags with."""


def tagged(documents: Iterable[list[str]], tagger: DocumentTagger, processes: int) -> Iterator[Tagged]:
    """What ``tagger`` makes of each document, in their order."""
    if processes == 1:
        yield from map(tagger, documents)
        return
    # Spawned: a fork would copy the locks of the progress bar's thread.
    pool = ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), _begin, (tagger.models, tagger.columns))
    waiting: deque[Future[Tagged]] = deque()
    others = set(multiprocessing.active_children())
    try:
        for rows in documents:
            waiting.append(pool.submit(_work, rows))
            if len(waiting) >= AHEAD * processes:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool:
        raise CorpusError("a process that tags has died (killed, or no memory left)") from None
    except BaseException:
        for child in set(multiprocessing.active_children()) - others:  # nobody waits for their documents
            child.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _begin(models: dict[str, Path], columns: tuple[str, ...]) -> None:
    """In a new process."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C is for all; the run says so, once
    threading.Thread(target=end_with_parent, daemon=True).start()
    _loaded.append(DocumentTagger(models, columns))


def _work(rows: list[str]) -> Tagged:
    return _loaded[0](rows)
