"""A worker's loops: what moves to the frontier, when a crawl is over, how far ahead leases are asked for."""

from __future__ import annotations

import asyncio
import threading
from typing import Any
from unittest.mock import Mock

import pytest

from crawler.state.state_format import StateGoneError
from crawler.work import intake
from crawler.work.intake import Intake
from crawler.work.stores import Stores
from crawler.work.worker import Worker
from frontier.errors import FrontierFull, FrontierUnavailable
from sieve.errors import SieveError


def run_intake(stores: Mock, looks: int, *, resting: bool = False) -> list[str]:
    """Until it has looked so often; what was called meanwhile."""
    arrivals = Mock()
    one = Intake(stores, arrivals)
    stores.frontier.attach_mock(arrivals, "arrivals")
    closing = Mock(side_effect=[False] * looks + [True])
    asyncio.run(one.run(resting=lambda: resting, closing=closing))
    return [name.rpartition(".")[2] for name, _, _ in stores.frontier.mock_calls]


def test_what_is_ready_is_taken_in_and_whoever_leases_hears_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "LOOK_S", 0.0)
    stores = Mock()
    stores.frontier.take_ready.side_effect = [3, 0, FrontierFull("zulu", "OOM"), 2]
    assert run_intake(stores, 4) == ["take_ready", "arrivals", *["take_ready"] * 3, "arrivals"]
    assert stores.check.call_count == stores.start_urls.poll.call_count == stores.decider.check.call_count == 4


def test_nothing_is_taken_in_by_a_worker_that_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "LOOK_S", 0.0)
    stores = Mock()
    assert run_intake(stores, 3, resting=True) == []


def test_the_intake_is_woken_when_something_was_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "LOOK_S", 3600.0)
    stores = Mock()

    def nothing_yet() -> int:
        # of the decider's thread
        threading.Thread(target=stores.decider.on_decided).start()
        return 0

    stores.frontier.take_ready.side_effect = nothing_yet
    assert run_intake(stores, 3) == ["take_ready"] * 3
    stores.decider.on_decided()  # after its end, and that of the loop


def test_a_redis_that_is_away_does_not_end_the_intake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "_AWAY_PAUSE_S", 0.0)
    monkeypatch.setattr(intake, "LOOK_S", 0.0)
    stores = Mock()
    stores.check.side_effect = [FrontierUnavailable("zulu", "away"), None]
    stores.frontier.take_ready.return_value = 0
    assert run_intake(stores, 2) == ["take_ready"]
    stores.sieve.forget_sent.assert_called_once_with()  # it may be back without its last seconds


@pytest.mark.parametrize(
    ("part", "error"),
    [("check", StateGoneError("zulu")), ("decider.check", SieveError("damage")), ("start_urls.poll", KeyError())],
)
def test_what_ends_the_crawl_goes_through_and_nothing_is_taken_in(part: str, error: Exception) -> None:
    stores = Mock(**{f"{part}.side_effect": error})
    with pytest.raises(type(error)):
        run_intake(stores, 3)
    stores.frontier.take_ready.assert_not_called()


def test_no_more_pages_are_reported_than_can_be_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Redis that is full takes reports, and no figures."""
    monkeypatch.setattr("crawler.work.worker._COMMIT_EVERY_S", 0)
    committed: list[object] = []

    async def commit(batch: list[object], _requests: object) -> None:
        committed.extend(batch)

    async def work() -> None:
        worker: Any = Worker.__new__(Worker)
        worker._teller, worker._commit, worker._closing = Mock(is_behind=True), commit, False
        worker._finished, worker._enqueued, worker._to_commit = ["page"], [], asyncio.Event()
        worker._to_commit.set()
        loop = asyncio.ensure_future(worker._commit_loop())
        for _ in range(20):
            await asyncio.sleep(0)
        assert committed == []
        worker._closing = True  # what is finished is reported all the same
        await loop

    asyncio.run(work())
    assert committed == ["page"]


@pytest.mark.parametrize("facts", [(0, 0, False), (1, 0, False), (0, 1, False), (0, 0, True)])
def test_a_crawl_is_over_when_nothing_is_leased_undecided_or_on_its_way(facts: tuple[int, int, bool]) -> None:
    leased, undecided, ready = facts
    stores: Any = Mock()
    stores.frontier.status.return_value.leased = leased
    stores.sieve.pending.return_value = undecided
    stores.frontier.has_ready.return_value = ready
    assert Stores.quiet(stores, budget_spent=False) is not any(facts)
    assert Stores.quiet(stores, budget_spent=True) is not bool(leased), "what waits is not fetched any more"


@pytest.mark.parametrize(("round_s", "ahead_ms"), [(0.0, 100), (0.002, 102), (0.3, 400), (5.0, 1000)])
def test_leases_are_asked_for_sooner_where_redis_is_far(round_s: float, ahead_ms: int) -> None:
    worker: Any = Worker.__new__(Worker)
    worker._least_ahead_ms, worker._round_s = 100, round_s
    worker._stores, worker._returned = Mock(), []
    worker._lease_round(7)
    worker._stores.frontier.lease.assert_called_once_with(7, ahead_ms)
