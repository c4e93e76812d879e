"""Feeds, index pages and sitemaps that are named after their crawl began: by the seed file, or by a feed that moved;
and sites whose sitemaps the seed file wants only later, when these are known at once or with the next robots.txt.

The sieve admits a URL once, and by then it may have been met as a page, since a link led to it: as a seed it would
never come out, and never be polled. So what is named later goes to the frontier itself. What has been named is kept in
Redis, and which way it went, since the sieve would let out at the next start what it has not met. One worker at a time
looks; if it is killed before it is done, the next takes in what is not there yet. What is polled already, because a
feed moved there or an index led to it, is left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import redis

from crawler.harvest.polls import RECURRING
from frontier.answering import answering
from frontier.errors import FrontierUnavailable
from frontier.redis_frontier import RedisFrontier
from frontier.types import Candidate
from sieve.urls import authority, canonicalize, canonicalize_many

_BEGAN = ""
_SITEMAPS = "sitemaps "
_BY_SIEVE, _DIRECTLY = b"s", b"d"
_LOCKED_S = 60.0
_MOST_LOOKED_AT = 1_000_000
"""Of what waits on one host."""


class NamedLater:
    """What has been named so far to be polled in one crawl."""

    def __init__(self, client: Any, crawl: str, frontier: RedisFrontier) -> None:
        self._client = client
        self._crawl = crawl
        self._key = f"{{{crawl}}}:named"
        self._frontier = frontier
        self._sitemaps_later = False  # some site's were wanted only when the crawl had begun

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def for_sieve(self, seeds: Sequence[Candidate]) -> list[Candidate]:
        """Take in what is named for the first time in a crawl that has begun; those that go through the sieve.
        FrontierUnavailable, FrontierFull."""
        polled = {canonicalize(seed.url): seed for seed in seeds if seed.kind in RECURRING}
        with self._alone():
            direct = self._take_in(polled)
        return [seed for seed in seeds if seed.kind not in RECURRING or canonicalize(seed.url) not in direct]

    def take_in_sitemaps(self, homes: Sequence[str], sitemaps_of: Callable[[str], Sequence[Candidate]]) -> None:
        """Take in the sitemaps of sites (their authorities) whose are wanted for the first time, in a crawl that has
        begun: no page of them may be left to be fetched, and no robots.txt with it. To be called before
        :meth:`for_sieve`, which begins the crawl. FrontierUnavailable, FrontierFull."""
        marks = {f"{_SITEMAPS}{home}": home for home in homes}
        if not marks:
            return
        with self._alone():
            began, *ways = self._client.hmget(self._key, [_BEGAN, *marks])
            fresh = [mark for mark, way in zip(marks, ways, strict=True) if way is None]
            self._sitemaps_later = _DIRECTLY in ways or (bool(fresh) and began is not None)
            for mark in fresh:
                if began is not None:
                    self._take_in_unpolled(_by_url(sitemaps_of(marks[mark])))
                self._client.hset(self._key, mark, _BY_SIEVE if began is None else _DIRECTLY)

    def sitemaps_for_sieve(self, sitemaps: Sequence[Candidate]) -> list[Candidate]:
        """Of those found while the crawl goes on the ones that go through the sieve: not what went past it, which it
        would let out a second time. Where a site wants them only later, its robots.txt may have run out by then, and
        what that names once it is read goes past the sieve, too. FrontierUnavailable, FrontierFull."""
        if not sitemaps:
            return []
        named = _by_url([found for found in sitemaps if found.source.endswith("/robots.txt")])
        if self._sitemaps_later and named:
            with self._alone():
                self._take_in(named)
        with answering(self._crawl):
            ways = self._client.hmget(self._key, [url or "-" for url in canonicalize_many([it.url for it in sitemaps])])
        return [sitemap for sitemap, way in zip(sitemaps, ways, strict=True) if way != _DIRECTLY]

    @contextmanager
    def _alone(self) -> Iterator[None]:
        try:
            with answering(self._crawl), self._client.lock(f"{self._key}:lock", _LOCKED_S, blocking_timeout=_LOCKED_S):
                yield
        except redis.exceptions.LockError as error:
            raise FrontierUnavailable(self._crawl, f"another worker takes in what is named later: {error}") from error

    def _take_in(self, polled: dict[str, Candidate]) -> set[str]:
        """The canonical URLs of those that went, or go, to the frontier directly."""
        began, *ways = self._client.hmget(self._key, [_BEGAN, *polled])
        found = dict(zip(polled, ways, strict=True))
        fresh = [url for url, way in found.items() if way is None]
        if began is None:  # or it began before this was kept: then, too, all goes the usual way
            self._client.hset(self._key, mapping=dict.fromkeys((_BEGAN, *fresh), _BY_SIEVE))
            return set()
        self._take_in_unpolled({url: polled[url] for url in fresh})
        return {url for url, way in found.items() if way != _BY_SIEVE}

    def _take_in_unpolled(self, named: Mapping[str, Candidate]) -> None:
        """Those that are not polled already, by their canonical URLs; all count as named from now on."""
        polled: dict[str, set[str]] = {}
        for url, candidate in named.items():
            home = str(authority(url))
            if home not in polled:
                polled[home] = self._polled_at(home)
            if url not in polled[home]:
                self._frontier.take_in([candidate])
            self._client.hset(self._key, url, _DIRECTLY)

    def _polled_at(self, home: str) -> set[str]:
        """What an authority has that is polled, or leased just now."""
        state = self._frontier.host(home)
        waiting = self._frontier.peek(home, _MOST_LOOKED_AT)
        found = [one.url for one in waiting if one.kind in RECURRING]
        return {canonicalize(url) for url in (*found, state.leased_url if state else "") if url}


def _by_url(found: Sequence[Candidate]) -> dict[str, Candidate]:
    """By their canonical URLs, but what has none."""
    urls = canonicalize_many([candidate.url for candidate in found])
    return {url: candidate for url, candidate in zip(urls, found, strict=True) if url}
