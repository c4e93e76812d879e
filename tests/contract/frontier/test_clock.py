"""What time Redis says it is, to the millisecond; tests/integration/frontier has a clock that is really set."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator

import pytest
import redis

from frontier.scripts import _part

KEY = "{ulwembu}:clock"
LAST = 1_700_000_000_000
DAY = 86_400_000


class Told:
    """Redis, whose own clock says what a test says."""

    def __init__(self, server: redis.Redis) -> None:
        self.server = server
        self.keep(0, LAST)

    def keep(self, ahead_ms: int, last_ms: int) -> None:
        self.server.set(KEY, struct.pack("<ddd", ahead_ms, last_ms, -1))

    def kept(self) -> tuple[int, ...]:
        return struct.unpack("<ddd", self.server.get(KEY))  # type: ignore[arg-type]

    def tell(self, machine_ms: int, *known: int | str) -> dict[str, int]:
        """To a caller who knows its least and most, and an `ahead` that was wrong and the right one; or less."""
        arguments = ["", 0, *known, *[""] * (4 - len(known))]
        text = self.server.eval(f"{_part('_clock')}\nreturn cjson.encode(clock_of({machine_ms}))", 0, *arguments)
        return dict(json.loads(text))


@pytest.fixture
def told(server: redis.Redis) -> Iterator[Told]:
    yield Told(server)
    server.delete(KEY)


def test_a_clock_behind_by_more_than_clocks_differ_was_set_back(told: Told) -> None:
    assert told.tell(LAST - 100) == {"now": LAST - 100, "ahead": 0, "late": 0, "spread": 0, "jumped": -1}
    assert told.kept() == (0, LAST, -1)
    assert told.tell(LAST - 101) == {"now": LAST, "ahead": 101, "late": 0, "spread": 0, "jumped": -1}
    assert told.kept() == (101, LAST, -1)
    assert told.tell(LAST - 50)["now"] == LAST + 51, "it goes on from there"


def test_a_caller_knows_better_what_time_it_is_at_least(told: Told) -> None:
    assert told.tell(LAST, LAST + 100, LAST + 130)["now"] == LAST
    found = told.tell(LAST, LAST + 101, LAST + 131)
    assert found == {"now": LAST + 101, "ahead": 101, "late": 0, "spread": 30, "jumped": -1}


@pytest.mark.parametrize(("later_ms", "most_ms"), [(1000, 400), (1001, 501)])
def test_a_clock_not_far_beyond_what_is_known_is_believed(told: Told, later_ms: int, most_ms: int) -> None:
    found = told.tell(LAST + later_ms, LAST, LAST + most_ms)
    assert found == {"now": LAST + later_ms, "ahead": 0, "late": 0, "spread": 0, "jumped": -1}


def test_a_call_that_is_late_is_as_early_as_it_can_be(told: Told) -> None:
    """Or the clock was set forward: its caller will say so."""
    found = told.tell(LAST + 1001, LAST + 480, LAST + 500)
    assert found == {"now": LAST + 480, "ahead": 0, "late": 521, "spread": 20, "jumped": -1}
    assert told.kept() == (0, LAST, -1)


def test_a_caller_that_has_found_it_wrong_puts_it_right_once(told: Told) -> None:
    told.keep(5, LAST)
    assert told.tell(LAST, LAST, LAST, 4, -DAY)["ahead"] == 5
    moment = LAST + DAY + 10
    right = {"now": moment - DAY, "ahead": -DAY, "late": 0, "spread": 0, "jumped": moment - DAY}
    assert told.tell(moment, LAST, LAST + 20, 5, -DAY) == right
    assert told.kept() == (-DAY, moment - DAY, moment - DAY)
    assert told.tell(moment, LAST, LAST + 20, 5, -2 * DAY) == right


@pytest.mark.parametrize(
    ("later_ms", "knows", "kept"),
    [
        *((499, False, False), (500, False, True), (1000, False, True), (1001, False, False)),
        *((499, True, False), (500, True, True), (DAY, True, True)),
    ],
)
def test_an_instant_is_kept_twice_a_second_and_by_whoever_knows_the_time(
    told: Told, later_ms: int, knows: bool, kept: bool
) -> None:
    moment = LAST + later_ms
    assert told.tell(moment, *((moment, moment) if knows else ()))["now"] == moment
    assert told.kept() == (0, moment if kept else LAST, -1)


def test_what_is_no_clock_leaves_that_of_the_machine(told: Told) -> None:
    told.server.delete(KEY)
    told.server.hset(KEY, "a", "b")
    assert told.tell(LAST) == {"now": LAST, "ahead": 0, "late": 0, "spread": 0, "jumped": -1}
