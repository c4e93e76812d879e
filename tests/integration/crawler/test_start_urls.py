"""LPUSH zulu:start_urls, as users of scrapy-redis know it."""

from __future__ import annotations

from pathlib import Path

import pytest
import redis

from crawler.state.embedded_redis import EmbeddedRedis
from crawler.work.start_urls import StartUrls, url_in
from sieve.errors import LinkError
from sieve.types import Entry


@pytest.mark.parametrize(
    ("value", "url"),
    [
        (b"http://a.example/\n", "http://a.example/"),
        (b'{"url": "http://a.example/x", "meta": {"n": 1}}', "http://a.example/x"),
        (b'{"url": 3}', ""),
        (b"{broken", ""),
        (b'{"url": ' + b"[" * 100_000, ""),
        (b"", ""),
    ],
)
def test_the_url_of_an_entry(value: bytes, url: str) -> None:
    assert url_in(value) == url


def test_nothing_is_lost_whoever_pushes_meanwhile(tmp_path: Path) -> None:
    taken: list[Entry] = []
    with EmbeddedRedis(tmp_path / "redis") as server:
        client = redis.Redis.from_url(server.url)

        def enqueue(entries: list[Entry]) -> None:
            taken.extend(entries)
            client.lpush("zulu:start_urls", "http://left.example/")
            client.rpush("zulu:start_urls", "http://right.example/", "http://a.example/")

        client.lpush("zulu:start_urls", "http://a.example/", '{"url": "http://b.example/"}', "no url")
        lists = StartUrls(client, "zulu", enqueue)
        assert lists.poll() == 3
        assert lists.poll() == 0, "it looks again only after a while"
        assert [entry.url for entry in taken] == ["http://b.example/", "http://a.example/"]
        assert client.lrange("zulu:start_urls", 0, -1) == [
            b"http://left.example/",
            b"http://a.example/",
            b"http://right.example/",
        ]
        lists.close()


def test_what_the_sieve_did_not_take_stays(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def refuse(_entries: list[Entry]) -> None:
        raise LinkError("Redis is full")

    with EmbeddedRedis(tmp_path / "redis") as server:
        client = redis.Redis.from_url(server.url)
        client.lpush("zulu:start_urls", "http://a.example/")
        lists = StartUrls(client, "zulu", refuse)
        assert lists.poll() == 0
        assert client.llen("zulu:start_urls") == 1
        lists.close()
    assert "stays as it is" in caplog.text
