"""The fleet's log of the pages that it keeps: fingerprints of their texts, and counts of their quality flags by host.

A log in Redis, bounded by number, to which every worker appends what it keeps and which it reads on from where it
stopped, in one round trip (``lua/note_kept.lua``); and a table of counts.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

import redis

from frontier.answering import answering
from frontier.errors import FrontierFull

ENTRY_BYTES = 32
MOST_PAGES = 1 << 17
"""Of the log; there are two, so the newest 131,072 to 262,144 pages are known: some 9 MB."""
MOST_COUNTS = 1 << 16
"""Of the table of counts; there are two: some 17 MB."""


@dataclass(frozen=True, slots=True)
class LogUpdate:
    """What other workers have appended since the last time: `older` entries in the log before the current one, `newer`
    ones in the current. `whole`: these are all entries there are, not only the new ones; `rotated`: a new log was begun
    since; `counts`: the totals of the fields that were added to."""

    whole: bool
    rotated: bool
    older: bytes
    newer: bytes
    counts: Mapping[str, int]


class KeptLog:
    """The log of one crawl. For one thread."""

    def __init__(self, client: redis.Redis, crawl: str, most_pages: int = MOST_PAGES) -> None:
        self._client = client
        self._crawl = crawl
        script = (files("crawler.pages") / "lua" / "note_kept.lua").read_text("utf-8")
        self._script = client.register_script(script)
        names = ("texts", "texts:before", "turn", "flagged", "flagged:before")
        self._keys = [f"{{{crawl}}}:kept:{name}" for name in (*names, f"once:{secrets.token_hex(8)}")]
        self._most_bytes = most_pages * ENTRY_BYTES
        self._turn, self._size = -1, 0

    def publish(self, entries: bytes, counts: Mapping[str, int], number: int) -> LogUpdate | None:
        """Append `entries`, add to `counts`, and read what is new; None while Redis is full: nothing was done then.

        FrontierUnavailable while it is away: to be called again, with the same `number`, by which it is done once
        however often Redis gets it; greater than that of all calls before."""
        asked = [str(part) for count in counts.items() for part in count]
        limits = (self._most_bytes, MOST_COUNTS)
        given: list[bytes | str | int] = [entries, self._turn, self._size, *limits, number, *asked]
        try:
            with answering(self._crawl):
                turn, size, whole, older, newer, totals = self._script(self._keys, given)
        except FrontierFull:
            return None
        rotated, self._turn, self._size = turn != self._turn, turn, size
        return LogUpdate(bool(whole), rotated, older, newer, dict(zip(counts, totals, strict=True)))

    def close(self) -> None:
        """Give the connection back."""
        self._client.close()
