"""Tagging in several processes: documents come out in the order in which they went in.

Each process loads the models for itself, and has every so manieth document. At most :data:`AHEAD` documents a process
are on their way. A process that dies (killed, no memory left) ends the run.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import cycle

from corpus.children import Child, ChildDied
from corpus.errors import CorpusError
from corpus.tagging.tagger import DocumentTagger

AHEAD = 4
Tagged = tuple[list[str], Counter[str]]


def tagged(documents: Iterable[list[str]], tagger: DocumentTagger, processes: int) -> Iterator[Tagged]:
    """What ``tagger`` makes of each document, in their order."""
    if processes == 1:
        yield from map(tagger, documents)
        return
    children: list[Child[list[str], Tagged]] = []
    try:
        children.extend(Child(partial(DocumentTagger, tagger.models, tagger.columns)) for _ in range(processes))
        waiting: deque[Child[list[str], Tagged]] = deque()
        for child, rows in zip(cycle(children), documents, strict=False):
            if len(waiting) == AHEAD * processes:
                yield waiting.popleft().take()
            child.give(rows)
            waiting.append(child)
        while waiting:
            yield waiting.popleft().take()
    except ChildDied:
        raise CorpusError("a process that tags has died (killed, or no memory left)") from None
    finally:
        for child in children:
            child.close()
