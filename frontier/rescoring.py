"""Queued URLs whose scores are looked at anew: what may be seen of them, and how they move.

A score is given when a URL is found. What a crawl learns afterwards of its host, or of the pages that link to it, comes
too late for it unless somebody looks again: :meth:`frontier.types.Frontier.heads` and ``rescore``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from operator import itemgetter

from frontier.host import Host
from frontier.payload import band, read_element, score_byte
from frontier.types import Queued

MOST_PLACES = 512
"""Places from the head of each band within which a URL is looked for; it bounds the cost of a call."""
MOST_MOVES = 1000
"""In one call, of whatever hosts: everybody waits meanwhile. The queues of a host have at most 2,048 that may move."""


def queued(authority: str, elements: Iterable[bytes]) -> list[Queued]:
    """What may be seen of queue elements."""
    found = ((element, read_element(authority, element)) for element in elements)
    return [Queued(data, one.url, one.kind, one.score, one.memo) for data, one in found]


def moves(scores: Sequence[tuple[Queued, float]]) -> list[tuple[bytes, int]]:
    """(element, score byte) of those that change their band."""
    wanted = ((one.ticket, score_byte(score)) for one, score in scores)
    return [(data, score) for data, score in wanted if score >> 5 != data[2] >> 5]


def calls(scores: Mapping[str, Sequence[tuple[Queued, float]]]) -> Iterator[list[list[str | bytes | int]]]:
    """What :data:`MOST_MOVES` moves at a time are for ``lua/rescore.lua``: a list an authority, behind its name."""
    wanted = [(name, data, score) for name, waiting in scores.items() for data, score in moves(waiting)]
    for start in range(0, len(wanted), MOST_MOVES):
        groups = groupby(wanted[start : start + MOST_MOVES], itemgetter(0))
        yield [[name, *(part for _, data, score in group for part in (data, score))] for name, group in groups]


def move(host: Host, wanted: Sequence[tuple[bytes, int]]) -> int:
    """Move elements of a memory record; ``lua/rescore.lua`` does the same."""
    moved = 0
    for data, score in wanted:
        queue = host.bands[band(data)]
        place = next((place for place, other in enumerate(islice(queue, MOST_PLACES)) if other == data), None)
        if place is not None:
            del queue[place]
            host.push(data[:2] + bytes((score,)) + data[3:])
            moved += 1
    if moved:
        host.rank = None
    return moved
