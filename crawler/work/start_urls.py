"""Feeding a crawl while it runs, as users of scrapy-redis know it: ``LPUSH zulu:start_urls https://example.org/``.

Entries are URLs or JSON objects with a "url". They enter the sieve like seeds: known ones are not fetched again. An
entry leaves the list only after the sieve has it, and is then removed by its value, so that nothing is lost by a kill,
nor by other workers or clients that push and take at either end at the same time. In a Cluster, where that name may lie
on another node than the crawl, the list is ``{zulu}:start_urls`` then.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable
from typing import Any

import redis

from frontier.answering import answering
from frontier.errors import FrontierElsewhere, FrontierFull, FrontierUnavailable
from frontier.payload import pack
from frontier.types import Candidate
from sieve.errors import LinkError
from sieve.types import Entry
from sieve.urls import canonicalize

logger = logging.getLogger(__name__)

_EVERY_S = 0.25
_AWAY_PAUSE_S = 1.0
_FAULT_PAUSE_S = 10.0
_BATCH = 500


class StartUrls:
    """The list of one crawl. `enqueue` puts entries into the sieve. `waits`: the last look found Redis away or full, so
    that nobody can say that nothing is left."""

    def __init__(self, client: Any, crawl: str, enqueue: Callable[[list[Entry]], None]) -> None:
        self.key = f"{crawl}:start_urls"
        self._client = client
        self._crawl = crawl
        self._enqueue = enqueue
        self.waits = False
        self._next_s = 0.0

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def poll(self) -> int:
        """Move what was pushed, if it is time to look again; the number of entries taken. At most four small round
        trips a second; what cannot be moved now stays for a later call."""
        if time.monotonic() < self._next_s:
            return 0
        self._next_s = time.monotonic() + _EVERY_S
        try:
            with answering(self._crawl):
                moved = self._move()
        except (FrontierUnavailable, FrontierFull, LinkError) as error:
            if isinstance(error, FrontierElsewhere) and self.key != (beside := f"{{{self._crawl}}}:start_urls"):
                logger.info("%s lies on another node of this Redis Cluster; the list is %s here", self.key, beside)
                self.key, self._next_s = beside, 0.0
                return self.poll()
            if not self.waits:
                logger.warning("%s waits: %s", self.key, error)
            self.waits = True
            self._next_s = time.monotonic() + _AWAY_PAUSE_S
            return 0
        except redis.RedisError as error:  # the key is something else, or an ACL hides it: that takes a hand
            logger.warning("%s stays as it is: %s", self.key, error)
            moved = 0
            self._next_s = time.monotonic() + _FAULT_PAUSE_S
        self.waits = False
        return moved

    def _move(self) -> int:
        values = self._client.lrange(self.key, -_BATCH, -1)
        if not values:
            return 0
        entries = [entry for value in values if (entry := self._entry(value)) is not None]
        if entries:
            self._enqueue(entries)
        pipe = self._client.pipeline(transaction=False)
        for value in reversed(values):
            pipe.lrem(self.key, -1, value)
        pipe.execute()
        logger.info("%d of %d entries of %s taken in", len(entries), len(values), self.key)
        return len(values)

    def _entry(self, value: bytes) -> Entry | None:
        url = url_in(value)
        try:
            canonicalize(url)
        except ValueError:
            logger.warning("%s: %r is no URL and no JSON object with one; dropped", self.key, value[:200])
            return None
        return Entry(url, pack(Candidate(url, source="seed", score=1.0)))


def url_in(value: bytes) -> str:
    """The URL of an entry, plain or as ``{"url": …}``; "" when it has none."""
    text = value.decode("utf-8", "replace").strip()
    if not text.startswith("{"):
        return text
    try:
        found = json.loads(text).get("url", "")
    except (ValueError, RecursionError):
        return ""
    return found if isinstance(found, str) else ""
