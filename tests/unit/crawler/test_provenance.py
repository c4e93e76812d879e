"""What a fleet knows together of sources and payloads, on a real Redis."""

from __future__ import annotations

import re
import socket
from datetime import UTC, datetime
from pathlib import Path
from unittest.mock import Mock

import pytest
import redis

from archive import Exchange, Reader, RevisitTarget, WarcWriter, WriterConfig
from crawler.records import provenance
from crawler.records.provenance import Payloads, Sources, program_commit
from crawler.state.redis_link import client
from crawler.state.shared_table import WAYS, SharedTable
from frontier.payload import source_tag


def test_a_slot_knows_its_newest_entries_and_takes_none_for_another(server: redis.Redis) -> None:
    table = SharedTable(server, "zulu", "t", size=1)
    keys = [bytes((65 + number,)) * 40 for number in range(WAYS + 2)]
    for key in keys:
        table.put({key: key.lower()})
    table.put({keys[-1]: b"again", keys[3]: b"newest"})
    assert table.get([*keys, b"F", b""]) == {key: key.lower() for key in keys[2:]} | {
        keys[-1]: b"again",
        keys[3]: b"newest",
    }
    table.put({b"next": b""})
    assert keys[2] not in table.get(keys), "the oldest makes room"
    assert keys[3] in table.get(keys)
    assert server.hlen("{zulu}:t") == 1


@pytest.mark.parametrize("junk", [b"\x08#1234567http://a.example/", b"", b"\x01", b"\x93\x01\x02\x03", b"\xc1"])
def test_what_is_no_slot_of_ours_is_empty(junk: bytes, server: redis.Redis) -> None:
    server.hset("{zulu}:t", "0", junk)
    table = SharedTable(server, "zulu", "t", size=1)
    assert table.get([b"key"]) == {}
    table.put({b"key": b"value"})
    assert table.get([b"key"]) == {b"key": b"value"}


def test_of_a_sixteenth_of_a_table_nothing_is_forgotten(server: redis.Redis) -> None:
    """In slots of one entry each some 60 of these would be."""
    table = SharedTable(server, "zulu", "t", size=1 << 15)
    entries = {number.to_bytes(8, "big"): str(number).encode() for number in range(1 << 11)}
    table.put(entries)
    assert table.get(entries) == entries


def test_crawls_and_tables_do_not_meet(server: redis.Redis) -> None:
    SharedTable(server, "zulu", "t", 8).put({b"key": b"value"})
    assert SharedTable(server, "xhosa", "t", 8).get([b"key"]) == {}
    assert SharedTable(server, "zulu", "u", 8).get([b"key"]) == {}


def test_without_redis_nothing_is_known_and_nothing_breaks(tmp_path: Path) -> None:
    table = SharedTable(redis.Redis.from_url(f"unix://{tmp_path}/none.sock"), "zulu", "t", 8)
    table.put({b"key": b"value"})
    assert table.get([b"key"]) == {}


def test_a_redis_that_hangs_is_not_asked_again_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.state.shared_table._AWAY_S", 3600.0)
    with socket.socket(socket.AF_UNIX) as deaf:
        deaf.bind(str(tmp_path / "s"))
        deaf.listen()
        deaf.setblocking(False)
        table = SharedTable(client(f"unix://{tmp_path}/s?socket_timeout=0.2"), "zulu", "t", 8)
        for _ in range(3):
            assert table.get([b"key"]) == {}
            table.put({b"key": b"value"})
        table.close()
        asked, _ = deaf.accept()
        asked.close()
        with pytest.raises(BlockingIOError):
            deaf.accept()


def test_a_sources_url_is_found_by_its_tag(server: redis.Redis) -> None:
    sources = Sources(SharedTable(server, "zulu", "sources", 1 << 10))
    page, feed = "http://a.example/ikhasi", "feed:http://a.example/feed.xml"
    assert sources.urls([source_tag(page)], [page, feed, "seed", ""]) == {}, "they are asked for first"
    tags = [source_tag(page), source_tag(feed), "seed", "", "#00000000000000ff"]
    assert sources.urls(tags) == {tags[0]: page, tags[1]: "http://a.example/feed.xml"}
    sources.urls([], tags)  # what another worker knows by its tag only
    assert sources.urls(tags) == {tags[0]: page, tags[1]: "http://a.example/feed.xml"}


def test_a_payload_that_another_worker_stored_becomes_a_revisit(server: redis.Redis, tmp_path: Path) -> None:
    def store(worker: str, url: str) -> list[tuple[str, str]]:
        payloads = Payloads(SharedTable(server, "zulu", "payloads", 1 << 10))
        config = WriterConfig(seen=payloads.find, remember=payloads.remember)
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"
        writer = WarcWriter(tmp_path / worker, "zulu", "gz", 1 << 30, config)
        writer.write(
            Exchange(url, "127.0.0.1", datetime.now(UTC), b"GET / HTTP/1.1\r\n\r\n", head, b"amagama " * 100), token="t"
        )
        writer.sync()
        writer.settle(["t"], [])
        writer.close()
        (path,) = (tmp_path / worker).glob("*.warc.gz")
        with Reader(path) as reader:
            return [(record.type, record.field("WARC-Refers-To-Target-URI")) for record in reader][1:2]

    assert store("one", "http://a.example/1") == [("response", "")]
    assert store("two", "http://a.example/2") == [("revisit", "http://a.example/1")]


def test_a_target_comes_back_as_it_was(server: redis.Redis) -> None:
    payloads = Payloads(SharedTable(server, "zulu", "payloads", 8))
    target = RevisitTarget("http://a.example/", "2026-01-02T03:04:05.000006Z", "<urn:uuid:1>")
    payloads.remember({"sha1:ABC": target})
    assert payloads.find(["sha1:ABC", "sha1:ABD"]) == {"sha1:ABC": target}


@pytest.mark.skipif(not (Path(__file__).parents[3] / ".git").exists(), reason="not a git checkout")
def test_the_commit_is_known_in_a_checkout() -> None:
    assert re.fullmatch(r"[0-9a-f]{40}(-dirty)?", program_commit())


@pytest.mark.parametrize(
    ("told", "commit"),
    [
        ('{"url": "https://git.example/u", "vcs_info": {"vcs": "git", "commit_id": "1a2b"}}', "1a2b"),
        ('{"url": "file:///u.whl", "archive_info": {}}', ""),
        (None, ""),  # of an index of packages
    ],
)
def test_outside_a_checkout_the_commit_is_what_pip_has_noted(
    told: str | None, commit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(provenance, "_HOME", tmp_path)
    monkeypatch.setattr("importlib.metadata.distribution", lambda _name: Mock(**{"read_text.return_value": told}))
    assert program_commit.__wrapped__() == commit
