"""What ``scrapy frontier`` shows of a crawl in a real Redis, and what it changes there."""

from __future__ import annotations

import json
from typing import Any

import pytest
import redis
from scrapy.exceptions import UsageError

from frontier.types import Candidate
from tests.unit.crawler.looking import Begun, Looking

A, B = "http://a.example", "http://b.example"
PAGES = [Candidate(f"{A}/1", score=0.5, memo=b"secret"), Candidate(f"{A}/2", score=0.9), Candidate(f"{B}/1", score=0.5)]


@pytest.fixture(autouse=True)
def waiting(begun: Begun) -> None:
    begun.frontier.take_in(PAGES)


def values(answer: Any) -> list[dict[str, Any]]:
    assert (answer.status, answer.err) == (0, "")
    return [json.loads(line) for line in answer.out.splitlines()]


def test_status_is_the_same_for_people_and_programs(begun: Begun, look: Looking) -> None:
    (told,) = values(look("frontier", "status", "--json"))
    assert (told["queued"], told["leased"], told["parked"]) == (3, 0, 0)
    shown = look("frontier", "status").out.splitlines()
    assert shown[0] == "Frontier of x"
    assert [line.split()[:2] for line in shown if line.split()[0] == "queued"] == [["queued", "3"]]


def test_no_more_rows_are_shown_than_asked_for(look: Looking) -> None:
    assert len(values(look("frontier", "hosts", "--json", "--limit", "1"))) == 1
    assert len(values(look("frontier", "hosts", "--json"))) == 2
    assert [row["url"] for row in values(look("frontier", "peek", A, "--json", "--limit", "1"))] == [f"{A}/2"]
    for wrong in ("0", "-1"):
        with pytest.raises(UsageError, match="at least 1 row"):
            look("frontier", "hosts", "--limit", wrong)


def test_what_comes_next_of_a_host_is_shown_the_best_first_without_its_memo(look: Looking) -> None:
    """Cookies and passwords of a spider's own request are there."""
    answer = look("frontier", "peek", A, "--json")
    assert [row["url"] for row in values(answer)] == [f"{A}/2", f"{A}/1"]
    assert "memo" not in answer.out
    assert "secret" not in answer.out
    rows = [line.split() for line in look("frontier", "peek", A).out.splitlines()[2:]]
    assert rows == [["0.90", "0", "0", f"{A}/2"], ["0.50", "0", "0", f"{A}/1"]]


def test_what_is_parked_is_shown_and_comes_again_when_it_is_released(begun: Begun, look: Looking) -> None:
    begun.fetched()
    assert len(begun.fetched("http_503")) == 2
    parked = values(look("frontier", "parked", "--json"))
    told = {(row["authority"], row["reason"], row["attempt"]) for row in parked}
    assert told == {(A, "http_503", 1), (B, "http_503", 1)}
    assert "memo" not in parked[0]
    assert len(values(look("frontier", "parked", "--json", "--limit", "1"))) == 1
    title, heading, *rows = look("frontier", "parked").out.splitlines()
    assert (title, heading.split()) == ("Parked in x", ["until", "reason", "tries", "URL"])
    assert sorted(row.split()[-3:] for row in rows) == [["http_503", "1", f"{A}/2"], ["http_503", "1", f"{B}/1"]]
    (shown,) = [row for row in look("frontier", "peek", A).out.splitlines() if row.endswith(f"{A}/2")]
    assert "http_503 until 20" in shown
    assert look("frontier", "release", "a.example").out == f"{A}: release done, URLs: 1\n"
    assert [row["authority"] for row in values(look("frontier", "parked", "--json"))] == [B]


def test_a_host_that_is_paused_is_not_asked_until_it_is_resumed(begun: Begun, look: Looking) -> None:
    assert look("frontier", "pause", A) == (0, f"{A}: pause done\n", "")
    assert begun.fetched() == [f"{B}/robots.txt"]
    (row,) = [row for row in look("frontier", "hosts").out.splitlines() if row.startswith(A)]
    assert "paused" in row
    assert values(look("frontier", "resume", A, "--json")) == [{"authority": A, "action": "resume", "urls": None}]
    assert f"{A}/robots.txt" in begun.fetched()


def test_what_is_dropped_of_a_host_is_gone_and_of_no_other(begun: Begun, look: Looking) -> None:
    assert values(look("frontier", "drop", A, "--json")) == [{"authority": A, "action": "drop", "urls": 2}]
    left = {row["authority"]: row["queued"] for row in values(look("frontier", "hosts", "--json"))}
    assert left == {A: 0, B: 1}
    assert values(look("frontier", "peek", A, "--json")) == []


def test_of_a_host_that_there_is_not_that_is_the_answer(look: Looking) -> None:
    said = "c.example: this crawl knows no such host (name it as `scrapy frontier hosts` does, with its port)"
    assert look("frontier", "pause", "c.example") == (1, f"{said}\n", "")
    assert look("frontier", "pause", "c.example", "--json") == (1, "", f"scrapy frontier: {said}\n")


@pytest.mark.parametrize(
    "words", [("status", "x"), ("pause",), ("pause", A, B), ("opt-out",), ("opt-outs", "x"), ("drop", A, "--withdraw")]
)
def test_words_that_are_too_many_or_too_few_do_nothing(words: tuple[str, ...], begun: Begun, look: Looking) -> None:
    with pytest.raises(UsageError):
        look("frontier", *words)
    assert begun.frontier.status().queued == 3


def test_a_redis_that_is_full_is_said(look: Looking, server: redis.Redis) -> None:
    server.config_set("maxmemory", server.info("memory")["used_memory"] // 2)
    try:
        answer = look("frontier", "status", "--json")
    finally:
        server.config_set("maxmemory", 0)
    assert "Redis is at its memory limit" in answer.err
    assert json.loads(answer.out)["queued"] == 3
