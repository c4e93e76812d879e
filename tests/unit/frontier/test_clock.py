"""The time that a worker reckons with is the frontier's, whatever its own clock says or Redis' is set to."""

from __future__ import annotations

from unittest.mock import Mock

import msgpack
import pytest
import redis

from frontier.clock_line import ClockLine
from frontier.errors import FrontierUnavailable
from frontier.redis_frontier import RedisFrontier

DAY = 86_400_000


@pytest.fixture
def uptime(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What the machine's running clock says, to be changed."""
    moment = [1000.0]
    monkeypatch.setattr("frontier.clock_line.uptime_ms", lambda: moment[0])
    return moment


def test_the_time_is_that_of_redis_and_after_a_lease_without_a_round_trip(uptime: list[float]) -> None:
    script = Mock(side_effect=[msgpack.packb([7005, 0]), redis.ConnectionError("away")])
    frontier = RedisFrontier(Mock(**{"register_script.return_value": script}), "x")
    assert frontier.now_ms() == 7005
    with pytest.raises(FrontierUnavailable):
        frontier.now_ms()
    frontier._line.note(1000.0, 9000, 0, 0)  # as a lease does
    uptime[0] = 3500.0
    assert frontier.now_ms() in range(11_501, 11_510)
    frontier._line.note(3500.0, 11_500, 4000, 0)
    assert frontier.date_ms() in range(7500, 7505), "less what its clock is ahead of the one that is set"


def test_what_is_sent_of_the_time_is_what_each_answer_leaves(uptime: list[float]) -> None:
    line = ClockLine()
    assert line.bounds() == ["", "", "", ""]
    uptime[0] = 1400.0
    assert line.note(1000.0, 50_000, 0, 0) == 50_000  # that was at 1000 to 1400
    assert line.bounds() == [50_000, 50_401, "", ""]
    uptime[0] = 1510.0
    line.note(1500.0, 50_300, 0, 0)  # 50300 at 1500 to 1510: the time is known better
    assert line.bounds() == [50_300, 50_311, "", ""]
    uptime[0] = 51_510.0  # and less well after fifty seconds
    assert line.bounds() == [100_250, 100_461, "", ""]


def test_a_call_that_was_late_is_told_from_a_clock_that_was_set_forward(uptime: list[float]) -> None:
    line = ClockLine()
    line.note(1000.0, 50_000, 0, 0)
    uptime[0] = 9000.0
    line.note(1000.0, 50_000, 0, 7000)  # it was in Redis' hands for so long
    assert line.bounds()[2:] == ["", ""]
    line.note(9000.0, 57_992, 5, DAY)
    assert line.bounds()[2:] == [5, 5 - DAY]
    assert line.ahead_ms == 5 - DAY, "by which dates are told: those of the clock that was set"
    line.note(9000.0, 58_000, 5 - DAY, 0)
    assert line.bounds()[2:] == ["", ""]


def test_calls_that_all_take_long_are_late_but_once(uptime: list[float]) -> None:
    """By a connection that has become slow: else nothing would ever be leased."""
    line = ClockLine()
    line.note(1000.0, 50_000, 0, 0)
    uptime[0] = 4000.0
    line.note(2000.0, 51_000, 0, 2000)
    assert line.bounds()[1] == 53_010 + 2000 + 1200
    uptime[0] = 6000.0
    line.note(4000.0, 55_000, 0, 0)
    assert line.bounds()[1] in range(55_001 + 3200, 55_020 + 3200)
    uptime[0] = 6010.0
    line.note(6000.0, 55_005, 0, 0)
    assert line.bounds()[1] in range(55_010, 55_030), "quick again"


def test_nobody_sets_the_clock_back_for_a_machine_that_is_slow(uptime: list[float]) -> None:
    line = ClockLine()
    line.note(1000.0, 50_000, 0, 0)
    uptime[0] = 5000.0
    line.note(5000.0, 54_000, 0, 400)  # and Redis stood still meanwhile
    assert line.bounds()[2:] == ["", ""]
    for second in range(5, 1000):
        uptime[0] = 1000.0 * second
        answered = round(49_000 + 1002 * uptime[0] / 1000)
        assert line.note(uptime[0], answered, 0, 0) >= answered - 1, "it waits no longer for that"


def test_a_machine_that_was_not_answered_for_long_does_not_say_what_time_it_is_at_least(uptime: list[float]) -> None:
    """Its clock may be fast."""
    line = ClockLine()
    line.note(1000.0, 50_000, 0, 0)
    uptime[0] = 601_000.0
    assert line.bounds() == ["", 651_801, "", ""]
    line.note(601_000.0, 50_000, 0, DAY)  # but what it knows is no less true when TIME was set forward
    assert line.bounds()[2:] == [0, 599_400 - DAY]
    line.note(601_000.0, 649_500, 599_400 - DAY, 0)
    assert line.bounds()[0] == 649_500


def test_a_small_step_forward_is_waited_for(uptime: list[float]) -> None:
    line = ClockLine()
    line.note(1000.0, 50_000, 0, 0)
    uptime[0] = 2000.0
    assert line.note(2000.0, 51_900, 0, 0) in range(51_001, 51_005), "it cannot be that late"
    uptime[0] = 902_000.0
    assert line.note(902_000.0, 951_900, 0, 0) == 951_900, "clocks may differ by so much after a while"


def test_of_a_machine_that_stood_still_others_know_better(uptime: list[float]) -> None:
    """As a virtual one that was moved: none of its clocks tells it."""
    line = ClockLine()
    line.note(1000.0, 50_000, 0, 0)
    uptime[0] = 2000.0
    assert line.note(2000.0, 51_000 + DAY, 0, 0) == 51_000 + DAY
    assert line.bounds() == [51_000 + DAY, 51_001 + DAY, "", ""]
