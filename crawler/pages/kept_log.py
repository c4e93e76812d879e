"""What a fleet's workers tell each other of the pages they keep: fingerprints of texts, and counts of flags by host.

A log in Redis, bounded by number, which every worker reads from where it stopped; and a table of counts. Telling and
hearing are one round trip (``lua/note_kept.lua``).
"""

from __future__ import annotations

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
class News:
    """What the others have told, `older` in the log before, `newer` in the one now. `whole`: it is all there is, not
    only what is new; `turned`: the log has become the one before since the last time; `counts`: of the fields."""

    whole: bool
    turned: bool
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
        self._keys = [f"{{{crawl}}}:kept:{name}" for name in names]
        self._most_bytes = most_pages * ENTRY_BYTES
        self._turn, self._size = -1, 0

    def tell(self, entries: bytes, counts: Mapping[str, int]) -> News | None:
        """Append `entries`, add to `counts`; None while Redis is full: nothing was told or heard then.

        FrontierUnavailable while it is away; to be called again, which may tell a thing twice."""
        asked = [str(part) for count in counts.items() for part in count]
        given: list[bytes | str | int] = [entries, self._turn, self._size, self._most_bytes, MOST_COUNTS, *asked]
        try:
            with answering(self._crawl):
                turn, size, whole, older, newer, totals = self._script(self._keys, given)
        except FrontierFull:
            return None
        turned, self._turn, self._size = turn != self._turn, turn, size
        return News(bool(whole), turned, older, newer, dict(zip(counts, totals, strict=True)))

    def close(self) -> None:
        """Give the connection back."""
        self._client.close()
