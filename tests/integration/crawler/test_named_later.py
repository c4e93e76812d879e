"""Feeds that are named when their crawl has begun: each is polled, once, whatever the sieve knows and whoever dies."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import redis

from crawler.harvest.named_later import NamedLater
from crawler.state.embedded_redis import EmbeddedRedis
from frontier.config import FrontierConfig
from frontier.redis_frontier import RedisFrontier
from frontier.types import Candidate, Kind

HOME = "https://a.example"
FIRST = Candidate(f"{HOME}/feed/", Kind.FEED, source="seed")
LATER = Candidate(f"{HOME}/rss", Kind.FEED, source="seed")
MAP = Candidate(f"{HOME}/sitemap.xml", Kind.SITEMAP, source="seed")
PAGE = Candidate(f"{HOME}/", source="seed")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[redis.Redis]:
    with EmbeddedRedis(tmp_path / "redis") as private, redis.Redis.from_url(private.url) as client:
        yield client


@pytest.fixture
def frontier(server: redis.Redis) -> RedisFrontier:
    return RedisFrontier(server, "zulu", FrontierConfig())


@pytest.fixture
def named(server: redis.Redis, frontier: RedisFrontier) -> NamedLater:
    return NamedLater(server, "zulu", frontier)


def polled(frontier: RedisFrontier) -> list[str]:
    return sorted(waiting.url for waiting in frontier.peek(HOME, 99) if waiting.kind is not Kind.PAGE)


def test_what_is_named_at_first_goes_through_the_sieve(named: NamedLater, frontier: RedisFrontier) -> None:
    for _ in range(2):
        assert named.for_sieve([PAGE, FIRST]) == [PAGE, FIRST]
    assert polled(frontier) == []


def test_what_is_named_later_goes_to_the_frontier_once(named: NamedLater, frontier: RedisFrontier) -> None:
    named.for_sieve([PAGE])
    frontier.take_in([Candidate(LATER.url)])  # it waits as a page
    for _ in range(3):
        assert named.for_sieve([PAGE, LATER, MAP]) == [PAGE]
        assert polled(frontier) == [LATER.url, MAP.url]
    assert named.for_sieve([FIRST]) == []


def test_what_is_polled_already_is_left_alone(named: NamedLater, frontier: RedisFrontier) -> None:
    named.for_sieve([PAGE])
    frontier.take_in([LATER])
    assert named.for_sieve([PAGE, LATER]) == [PAGE]
    assert polled(frontier) == [LATER.url]


def test_a_worker_that_was_killed_before_it_was_done(
    named: NamedLater, frontier: RedisFrontier, server: redis.Redis
) -> None:
    named.for_sieve([PAGE])
    named.for_sieve([LATER])
    server.hdel("{zulu}:named", LATER.url)
    named.for_sieve([LATER])
    assert polled(frontier) == [LATER.url]


def test_sitemaps_of_sites_that_are_wanted_later(named: NamedLater, frontier: RedisFrontier) -> None:
    other = "https://b.example"
    made: list[str] = []

    def sitemaps(home: str) -> list[Candidate]:
        made.append(home)
        return [Candidate(f"{home}/sitemap.xml", Kind.SITEMAP, source=f"{home}/robots.txt")]

    named.take_in_sitemaps([other], sitemaps)
    named.for_sieve([PAGE])
    assert made == [], "a crawl that begins finds them with robots.txt"
    for _ in range(2):
        named.take_in_sitemaps([HOME, other], sitemaps)
        assert (made, polled(frontier)) == ([HOME], [MAP.url])
    there = Candidate(f"{other}/sitemap.xml", Kind.SITEMAP)
    odd = Candidate("https://b.example:99999/", Kind.SITEMAP)
    assert named.sitemaps_for_sieve([MAP, there, odd]) == [there, odd]
    assert named.sitemaps_for_sieve([]) == []


def test_sitemaps_that_are_found_later_of_sites_that_wanted_none(
    named: NamedLater, frontier: RedisFrontier, server: redis.Redis
) -> None:
    found = [Candidate(f"{HOME}/{name}.xml", Kind.SITEMAP, source=f"{HOME}/robots.txt") for name in "ab"]
    nested = Candidate(f"{HOME}/c.xml", Kind.SITEMAP, source=found[0].url)
    named.for_sieve([PAGE])
    assert named.sitemaps_for_sieve(found) == found, "no site has wanted its own so far"
    frontier.take_in([found[0], Candidate(found[1].url)])  # one that the sieve has let out, and one met as a page
    named.take_in_sitemaps([HOME], lambda _: [])
    for again in (named, NamedLater(server, "zulu", frontier)):
        again.take_in_sitemaps([HOME], lambda _: [])
        assert again.sitemaps_for_sieve([*found, nested]) == [nested]
        assert polled(frontier) == [sitemap.url for sitemap in found]


def test_many_that_start_at_once(named: NamedLater, frontier: RedisFrontier) -> None:
    named.for_sieve([PAGE])
    with ThreadPoolExecutor(6) as pool:
        left = list(pool.map(named.for_sieve, [[PAGE, LATER, MAP]] * 6))
    assert left == [[PAGE]] * 6
    assert polled(frontier) == [LATER.url, MAP.url]
