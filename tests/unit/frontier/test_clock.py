"""The time that a worker reckons with is Redis', whatever its own clock says."""

from __future__ import annotations

from unittest.mock import Mock

import pytest
import redis

from frontier.errors import FrontierUnavailable
from frontier.redis_frontier import RedisFrontier


def test_the_time_is_that_of_redis_and_after_a_lease_without_a_round_trip(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Mock(**{"time.side_effect": [(7, 5000), redis.ConnectionError("away")]})
    frontier = RedisFrontier(server, "x")
    assert frontier.now_ms() == 7005
    with pytest.raises(FrontierUnavailable):
        frontier.now_ms()
    monkeypatch.setattr("frontier.redis_frontier.time.monotonic", lambda: 2.5)
    frontier._ahead_of_ours_ms = 9_000_000.0  # as a lease finds it
    assert frontier.now_ms() == 9_002_500
