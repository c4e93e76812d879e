"""One suite over every kind of sieve."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from sieve import Entry, Item, Sieve
from sieve.errors import ClosedError, LockedError
from tests.contract.sieve.conftest import PERSISTENT, Maker


def url(number: int) -> str:
    return f"https://example.org/page/{number}"


def test_every_url_comes_out_once_in_order_of_first_arrival(sieve: Sieve) -> None:
    chance = random.Random(3)
    sent = [url(chance.randrange(400)) for _ in range(2000)]
    for start in range(0, len(sent), 37):
        sieve.enqueue(sent[start : start + 37])
    sieve.flush()
    assert sieve.drain() == list(dict.fromkeys(sent))
    assert sieve.drain() == []


def test_nothing_is_lost_or_doubled_when_drained_while_filled(sieve: Sieve) -> None:
    chance = random.Random(4)
    sent: list[str] = []
    got: list[Item] = []
    for _ in range(60):
        batch = [url(chance.randrange(600)) for _ in range(chance.randrange(40))]
        sent += batch
        sieve.enqueue(batch)
        if chance.random() < 0.3:
            sieve.flush()
        got += sieve.drain(chance.randrange(30))
    sieve.flush()
    got += sieve.drain()
    assert sorted(map(str, got)) == sorted(set(sent))


def test_nothing_is_lost_when_more_is_put_in_than_is_taken(sieve: Sieve) -> None:
    sent: list[str] = []
    got: list[Item] = []
    for number in range(100):
        batch = [url(3 * number + page) for page in range(3)]
        sent += batch
        sieve.enqueue(batch)
        if number >= 70:
            got += sieve.drain(2)
    sieve.flush()
    got += sieve.drain()
    assert got == sent


def test_a_flush_leaves_no_file_open(sieve: Sieve) -> None:
    """What is deleted keeps its room on the disk for as long as somebody has it open."""
    counts = []
    for number in range(60):
        sieve.enqueue([url(number), url(max(0, number - 20))])
        sieve.flush()
        sieve.drain()
        counts.append(len(list(Path("/proc/self/fd").iterdir())))
    assert counts[-1] - counts[19] <= 4


def test_urls_with_one_canonical_form_are_one_and_come_out_as_found(sieve: Sieve) -> None:
    sieve.enqueue(["HTTP://Example.ORG:80/a/../b?y=1&x=2&utm_source=z#part", "http://example.org/b?x=2&y=1"])
    sieve.flush()
    assert sieve.drain() == ["HTTP://Example.ORG:80/a/../b?y=1&x=2&utm_source=z#part"]


def test_payload_travels_and_each_comes_back_as_it_was_put_in(sieve: Sieve) -> None:
    items: list[Item] = [Entry(url(1), b"\x00\xff"), url(2), Entry(url(3)), Entry(url(1), b"later"), url(3)]
    sieve.enqueue(items)
    sieve.flush()
    assert sieve.drain() == items[:3]


def test_odd_texts_survive(sieve: Sieve) -> None:
    items = [
        "https://example.org/\u017fa b\n\tc",
        "https://b\u00fccher.example/\U0001f577",
        "http://h/\ud800x",
        "http://h/\x00",
    ]
    sieve.enqueue(items)
    sieve.flush()
    assert sieve.drain() == items


def test_what_is_no_url_is_refused_and_nothing_of_its_batch_is_put_in(sieve: Sieve) -> None:
    with pytest.raises(ValueError, match="mailto"):
        sieve.enqueue([url(1), "mailto:a@example.org"])
    sieve.flush()
    assert sieve.drain() == []
    sieve.enqueue([url(1)])
    sieve.flush()
    assert sieve.drain() == [url(1)]


def test_limits(sieve: Sieve) -> None:
    sieve.enqueue([url(number) for number in range(10)])
    sieve.enqueue([])
    sieve.flush()
    assert sieve.drain(0) == []
    assert sieve.drain(3) == [url(number) for number in range(3)]
    assert sieve.drain(100) == [url(number) for number in range(3, 10)]


def test_after_closing_it_is_closed(sieve: Sieve) -> None:
    sieve.close()
    sieve.close()
    with pytest.raises(ClosedError):
        sieve.enqueue([url(1)])
    with pytest.raises(ClosedError):
        sieve.drain()
    with pytest.raises(ClosedError):
        sieve.flush()


@pytest.mark.parametrize("maker", PERSISTENT, indirect=True)
@pytest.mark.parametrize("flush", [True, False])
def test_opening_again_continues_exactly_there(maker: Maker, flush: bool) -> None:
    chance = random.Random(5)
    sent: list[str] = []
    got: list[object] = []
    sieve = maker.new()
    for _ in range(12):
        batch = [url(chance.randrange(300)) for _ in range(40)]
        sent += batch
        sieve.enqueue(batch)
        if flush:
            sieve.flush()
        got += sieve.drain(11)
        sieve.close()
        sieve = maker.again()
    sieve.flush()
    got += sieve.drain()
    assert sorted(map(str, got)) == sorted(set(sent))
    if flush:
        assert got == list(dict.fromkeys(sent))
    sieve.close()


@pytest.mark.parametrize("maker", [kind for kind in PERSISTENT if not kind.startswith("redis")], indirect=True)
def test_a_folder_has_one_process(maker: Maker) -> None:
    sieve = maker.new()
    with pytest.raises(LockedError):
        maker.again()
    sieve.close()
    maker.again().close()
