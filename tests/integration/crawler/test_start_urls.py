"""LPUSH zulu:start_urls, as users of scrapy-redis know it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from unittest.mock import Mock

import pytest
import redis

from crawler.state.embedded_redis import EmbeddedRedis
from crawler.work import start_urls
from crawler.work.start_urls import StartUrls, url_in
from crawler.work.stores import Stores
from frontier.errors import FrontierFull
from sieve.errors import LinkError, LinkFull
from sieve.types import Entry

NOTHING_WAITS = {
    "frontier.moves.return_value": (0, 0),
    "frontier.status.return_value.leased": 0,
    "sieve.pending.return_value": 0,
    "frontier.has_ready.return_value": False,
}


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


def test_what_the_sieve_did_not_take_is_tried_again_soon_and_keeps_the_crawl_from_its_end(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[Entry] = []
    refusals = [LinkError("away"), LinkFull("Redis is full"), FrontierFull("zulu", "OOM"), None]
    clock = Mock(**{"monotonic.return_value": 100.0})
    monkeypatch.setattr(start_urls, "time", clock)

    def enqueue(entries: list[Entry]) -> None:
        if error := refusals.pop(0):
            raise error
        taken.extend(entries)

    with EmbeddedRedis(tmp_path / "redis") as server:
        client = redis.Redis.from_url(server.url)
        client.lpush("zulu:start_urls", "http://a.example/")
        lists = StartUrls(client, "zulu", enqueue)
        quiet = partial(Stores.quiet, Mock(start_urls=lists, **NOTHING_WAITS), False)
        assert quiet()
        for _ in range(3):
            assert lists.poll() == 0
            assert client.llen("zulu:start_urls") == 1
            assert not quiet()
            clock.monotonic.return_value += 1
        assert lists.poll() == 1
        assert quiet()
        lists.close()
    assert [entry.url for entry in taken] == ["http://a.example/"]
    assert caplog.text.count("zulu:start_urls waits: ") == 1


def test_what_is_no_list_stays_and_keeps_no_crawl_from_its_end(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with EmbeddedRedis(tmp_path / "redis") as server:
        client = redis.Redis.from_url(server.url)
        client.set("zulu:start_urls", "http://a.example/")
        lists = StartUrls(client, "zulu", lambda _: None)
        assert (lists.poll(), lists.waits) == (0, False)
        lists.close()
    assert "zulu:start_urls stays as it is: WRONGTYPE" in caplog.text


def test_what_was_pushed_first_comes_first_however_much_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(start_urls, "_BATCH", 2)
    monkeypatch.setattr(start_urls, "_EVERY_S", 0)
    urls, taken = [f"http://a.example/{number}" for number in range(5)], list[Entry]()
    with EmbeddedRedis(tmp_path / "redis") as server:
        client = redis.Redis.from_url(server.url)
        client.lpush("zulu:start_urls", *urls)
        lists = StartUrls(client, "zulu", taken.extend)
        assert [lists.poll() for _ in range(4)] == [2, 2, 1, 0]
        lists.close()
    assert sorted(entry.url for entry in taken) == urls
    assert {entry.url for entry in taken[:2]} == set(urls[:2])
