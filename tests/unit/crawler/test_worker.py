"""A worker's loops: what moves to the frontier, when a crawl is over, how far ahead leases are asked for."""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import itertools
import threading
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any
from unittest.mock import Mock

import pytest

from crawler.focus import FocusMiddleware
from crawler.pages.findings import Finding, Finished
from crawler.signals import stopping
from crawler.state.state_format import StateGoneError
from crawler.work import intake
from crawler.work.held import HeldLease
from crawler.work.intake import Intake
from crawler.work.redis_watch import RedisWatch
from crawler.work.stores import Stores
from crawler.work.worker import Worker
from frontier.errors import FrontierFull, FrontierUnavailable
from frontier.payload import REQUISITE_MARK
from frontier.types import Bound, Grant, Kind, Lease
from relevance.steering.policy import Verdict
from sieve.errors import SieveError


def run_intake(stores: Mock, looks: int, *, resting: bool = False) -> list[str]:
    """Until it has looked so often; what was called meanwhile."""
    arrivals = Mock()
    stores.start_urls.poll.return_value = 0
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
    # A private one is started again, also while no lease is asked for; any may be back without its last seconds.
    stores.revive.assert_called_once_with()


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


@pytest.mark.parametrize(
    "facts",
    [(0, 0, False, False), (1, 0, False, False), (0, 1, False, False), (0, 0, True, False), (0, 0, False, True)],
)
def test_a_crawl_is_over_when_nothing_is_leased_undecided_or_on_its_way(facts: tuple[int, int, bool, bool]) -> None:
    leased, undecided, ready, unseen = facts
    stores: Any = Mock()
    stores.start_urls.waits = unseen
    stores.frontier.status.return_value.leased = leased
    stores.sieve.pending.return_value = undecided
    stores.frontier.has_ready.return_value = ready
    stores.frontier.moves.return_value, stores.sieve.tally.return_value.put = (17, 4), 300
    assert Stores.quiet(stores, budget_spent=False) == (None if any(facts) else (17, 4, 300))
    assert Stores.quiet(stores, budget_spent=True) == (None if leased else ()), "what waits is not fetched any more"


def looking_for_the_end(moved: int = 0) -> Any:
    """A worker whose crawl is quiet; `moved`: by its intake so far."""
    worker: Any = Worker.__new__(Worker)
    worker._stores, worker._crawler = Mock(**{"quiet.return_value": (17, 4, 300)}), Mock()
    worker._intake = Mock(moved=moved, between_looks=asyncio.Lock())
    worker._quiet, worker._moved_before, worker._stays, worker.exhausted = None, 0, False, False
    worker._to_lease = asyncio.Event()
    worker._to_lease.set()
    return worker


@pytest.mark.parametrize(("closed", "over"), [("", [False, False, False, True]), ("pages", [False, True, True, True])])
def test_a_crawl_is_not_over_while_the_intake_moves_something(closed: str, over: list[bool]) -> None:
    """Where Redis is far, it can go from the list of start URLs to the frontier between two looks at what waits."""

    async def work() -> list[bool]:
        worker = looking_for_the_end(moved=5)
        found = []
        with ThreadPoolExecutor(1) as worker._lease_thread:
            for moved in (5, 7, 7, 7):
                worker._intake.moved = moved
                await worker._look_for_end(Grant((), 1000, None, closed))
                found.append(worker.exhausted)
        return found

    assert asyncio.run(work()) == over


def test_why_a_crawl_ends_is_said_once_and_again_after_new_work(caplog: pytest.LogCaptureFixture) -> None:
    """It may not end at once: of its last page an item may be in a pipeline that takes long, or its spider raises
    DontCloseSpider and waits for something else."""

    async def work() -> None:
        worker = looking_for_the_end()
        worker._enqueued, worker._to_commit = [], asyncio.Event()
        with ThreadPoolExecutor(1) as worker._lease_thread:
            for _ in range(2):
                for _ in range(6):
                    worker._to_lease.set()
                    await worker._look_for_end(Grant((), 1000, None))
                assert worker.exhausted
                worker.enqueue(Mock())

    with caplog.at_level("INFO"):
        asyncio.run(work())
    assert caplog.text.count("Nothing is left to fetch") == 2


@pytest.mark.parametrize("most_held", [1, 9])
def test_a_worker_that_has_not_ended_yet_goes_on_with_what_others_find(most_held: int) -> None:
    """Or is given by LPUSH, or is due by now."""
    lease = Lease("1-0", "http://a.example/1", Kind.PAGE, "http://a.example", "", 1000, 9000)

    async def work() -> list[bool]:
        worker = looking_for_the_end()
        worker._buffer, worker._held, worker._returned, worker._most_held = [], set(), [], most_held
        worker._finished, worker._enqueued, worker._committing = [], [], False
        worker._committer = Mock(**{"patiently.lacks_room": False})
        worker._teller, worker._redis_watch = Mock(is_behind=False), RedisWatch()
        worker._round_s, worker._least_ahead_ms, worker._lease_pause_s = 0.0, 100, 0.0
        worker._idle_close_s, worker._fetch_timeout_s = 60.0, 60.0
        found = []
        with ThreadPoolExecutor(1) as worker._lease_thread:
            for grant in (
                Grant((), 1000, None),
                Grant((), 1000, 2000),
                Grant((), 1000, None),
                Grant((lease,), 1000, None),
            ):
                worker._stores.frontier.lease.return_value = grant
                for _ in range(2):
                    worker._to_lease.set()
                    await worker._lease_some()
                found.append(worker.exhausted)
        return found

    assert asyncio.run(work()) == [True, False, True, False]


@pytest.mark.parametrize(("due_ms", "over"), [(None, True), (1000 + 59_000, False), (1000 + 61_000, True)])
def test_a_crawl_that_has_spent_its_pages_goes_on_while_what_they_embed_is_soon_due(
    due_ms: int | None, *, over: bool
) -> None:
    """Also one that stays for its feeds ends then; and what the sieve may let out yet is waited for."""

    async def work() -> bool:
        worker = looking_for_the_end()
        worker._stays, worker._idle_close_s, worker._least_ahead_ms, worker._round_s = True, 60.0, 0, 0.0
        with ThreadPoolExecutor(1) as worker._lease_thread:
            for _ in range(2):
                await worker._look_for_end(Grant((), 1000, due_ms, narrowed=True))
        assert all(call.args == (False,) for call in worker._stores.quiet.call_args_list)
        exhausted: bool = worker.exhausted
        return exhausted

    assert asyncio.run(work()) is over


def test_a_crawl_is_not_over_while_another_worker_goes_from_lease_to_lease() -> None:
    """Its only page is leased when this one asks for leases, and not any more when it asks what is leased."""

    async def work() -> list[bool]:
        worker, stores = looking_for_the_end(), Mock(**{"sieve.pending.return_value": 0})
        stores.start_urls.waits, stores.sieve.tally.return_value.put = False, 300
        stores.frontier.status.return_value.leased, stores.frontier.has_ready.return_value = 0, False
        worker._stores.quiet = partial(Stores.quiet, stores)
        found = []
        with ThreadPoolExecutor(1) as worker._lease_thread:
            for number in (8, 9, 10, 10):
                stores.frontier.moves.return_value = number, 4
                await worker._look_for_end(Grant((), 1000, None))
                found.append(worker.exhausted)
        return found

    assert asyncio.run(work()) == [False, False, False, True]


@pytest.mark.parametrize("late", ["intake", "request"])
def test_a_crawl_is_not_over_before_a_look_of_the_intake_that_is_under_way(late: str) -> None:
    """It may have a start URL in its hands that is in no other list yet; and a spider's request may come meanwhile."""

    async def work() -> bool:
        worker = looking_for_the_end()
        worker._enqueued, worker._to_commit = [], asyncio.Event()
        with ThreadPoolExecutor(1) as worker._lease_thread:
            await worker._look_for_end(Grant((), 1000, None))
            async with worker._intake.between_looks:
                end = asyncio.ensure_future(worker._look_for_end(Grant((), 1000, None)))
                await asyncio.wrap_future(worker._lease_thread.submit(lambda: None))  # behind the second question
                for _ in range(5):
                    await asyncio.sleep(0)
                assert not end.done()
                if late == "intake":
                    worker._intake.moved = 1
                else:
                    worker.enqueue(Mock())
            await end
        exhausted: bool = worker.exhausted
        return exhausted

    assert not asyncio.run(work())


def test_what_the_intake_moves_is_counted_and_nothing_is_moved_between_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "_AGAIN_S", 0)
    stores = Mock()
    stores.start_urls.poll.side_effect = [2, 0, 0]
    stores.frontier.take_ready.side_effect = [0, 3, FrontierFull("zulu", "OOM")]
    one = Intake(stores, Mock())
    assert [one.take(), one.take(), one.take(), one.moved] == [0, 3, 0, 5]

    async def work() -> None:
        stores.check.reset_mock()
        async with one.between_looks:
            loop = asyncio.ensure_future(one.run(resting=lambda: False, closing=Mock(side_effect=[False, True])))
            for _ in range(5):
                await asyncio.sleep(0)
            stores.check.assert_not_called()
            stores.start_urls.poll.side_effect, stores.frontier.take_ready.side_effect = [0], [1]
        await loop
        stores.check.assert_called_once()

    asyncio.run(work())


def test_a_crawl_is_not_over_while_a_request_of_its_spider_is_on_its_way() -> None:
    """Into a Redis that is full, say: then it is in no list of the worker's and not in the sieve yet."""

    async def work() -> tuple[list[bool], list[bool]]:
        worker: Any = Worker.__new__(Worker)
        worker._finished, worker._enqueued, worker._held, worker._buffer = [], ["request"], set(), []
        worker._committing, worker._closing, worker._teller = False, True, Mock(is_behind=False)
        worker._committer = Mock(**{"patiently.lacks_room": False})
        worker._to_commit, worker._round_s, worker._least_ahead_ms = asyncio.Event(), 0.0, 100
        worker._most_held, worker._lease_pause_s, worker._returned = 9, 0.0, []
        worker._redis_watch = RedisWatch()
        worker._stores = Mock(**{"frontier.lease.return_value": Grant((), 1000, None)})
        looked: list[bool] = []

        async def look_for_end(_grant: Grant) -> float:
            looked.append(worker._committing)
            return 0.0

        async def commit(_batch: object, _requests: object) -> None:
            await worker._lease_some()
            during.extend(looked)

        during: list[bool] = []
        worker._look_for_end, worker._commit = look_for_end, commit
        worker._to_commit.set()
        with ThreadPoolExecutor(1) as worker._lease_thread:
            await worker._commit_loop()
            await worker._lease_some()
        return during, looked

    assert asyncio.run(work()) == ([], [False])


@pytest.mark.parametrize(
    ("committer_full", "teller_full", "teller_behind", "leases"),
    [(False, False, True, True), (False, True, False, True), (True, False, False, False), (False, True, True, False)],
)
def test_nothing_is_leased_while_what_is_finished_finds_no_room(
    committer_full: bool, teller_full: bool, teller_behind: bool, leases: bool
) -> None:
    """Else each URL of a small crawl is fetched until its leases have run out so often that it is given up."""

    async def work() -> bool:
        worker: Any = Worker.__new__(Worker)
        worker._held, worker._buffer, worker._returned, worker._most_held = {"1-0"}, [], [], 9
        worker._committer = Mock(**{"patiently.lacks_room": committer_full})
        worker._teller = Mock(is_behind=teller_behind, **{"patiently.lacks_room": teller_full})
        worker._round_s, worker._least_ahead_ms, worker._lease_pause_s = 0.0, 100, 0.0
        worker._redis_watch = RedisWatch()
        worker._stores = Mock(**{"frontier.lease.return_value": Grant((), 1000, None)})
        with ThreadPoolExecutor(1) as worker._lease_thread:
            await worker._lease_some()
        return bool(worker._stores.frontier.lease.called)

    assert asyncio.run(work()) is leases


@pytest.mark.parametrize(("expires_ms", "rest_ms"), [(61_000, 60_000), (900, 1000), (90_000_000, 86_400_000)])
def test_a_host_that_denies_everything_rests_by_the_clock_of_redis(expires_ms: int, rest_ms: int) -> None:
    frontier = Mock(**{"now_ms.return_value": 1000, "host.return_value": Mock(pages=1, robots_expires_ms=expires_ms)})

    async def ask(question: Any) -> Any:
        return question(frontier)

    worker: Any = Worker.__new__(Worker)
    worker.ask = ask
    assert asyncio.run(worker.rest_while_closed("http://a.example"))
    frontier.park.assert_called_once_with("http://a.example", "robots_denied", rest_ms)


@pytest.mark.parametrize("host", [None, Mock(pages=0)])
def test_a_host_that_never_gave_a_page_does_not_rest(host: Mock | None) -> None:
    frontier = Mock(**{"host.return_value": host})

    async def ask(question: Any) -> Any:
        return question(frontier)

    worker: Any = Worker.__new__(Worker)
    worker.ask = ask
    assert not asyncio.run(worker.rest_while_closed("http://a.example"))
    frontier.park.assert_not_called()


@pytest.mark.parametrize(
    ("bound", "slept_s"),
    [(Bound(True, 5000), [4.0]), (Bound(True, 1000), []), (Bound(False, 9000, "address_busy"), [])],
)
def test_a_request_waits_until_its_address_is_due_or_is_not_sent(
    bound: Bound, slept_s: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []

    async def ask(_question: Any) -> Bound:
        return bound

    async def sleep(wait_s: float) -> None:
        slept.append(wait_s)

    async def work() -> bool:
        monkeypatch.setattr(asyncio, "sleep", sleep)
        return bool(await worker.bind(lease, "192.0.2.1"))

    worker: Any = Worker.__new__(Worker)
    worker.ask, worker._claims, worker._held, worker._to_lease = ask, set(), {"1-0"}, asyncio.Event()
    lease = Lease("1-0", "http://a.example/1", Kind.PAGE, "http://a.example", "", 1000, 9000)
    assert asyncio.run(work()) is bound.granted
    assert slept == slept_s
    assert worker._held == ({"1-0"} if bound.granted else set())


def test_leases_come_when_they_are_due_the_first_one_first(monkeypatch: pytest.MonkeyPatch) -> None:
    worker: Any = Worker.__new__(Worker)
    worker._buffer = []
    for due_s in (3, 1, 2):
        lease = Lease(f"{due_s}-0", "http://a.example/1", Kind.PAGE, "http://a.example", "", due_s * 1000, 90_000)
        heapq.heappush(worker._buffer, HeldLease(lease, 0, (0.0, 0.0), 60.0, worker))

    def due_at(now_s: float) -> str:
        monkeypatch.setattr("crawler.work.worker.uptime_s", lambda: now_s)
        held = worker.next_due()
        return held.lease.token if held else ""

    assert [due_at(now_s) for now_s in (0.9, 1.0, 1.9, 3.0, 3.0, 3.0)] == ["", "1-0", "", "2-0", "3-0", ""]


def test_what_is_leased_is_held_and_the_engine_is_woken_at_its_instant(monkeypatch: pytest.MonkeyPatch) -> None:
    worker: Any = Worker.__new__(Worker)
    worker._buffer, worker._held, worker._fetch_timeout_s = [], set(), 60.0
    loop = Mock()
    monkeypatch.setattr(asyncio, "get_running_loop", lambda: loop)
    monkeypatch.setattr("crawler.work.worker.uptime_s", lambda: 100.0)
    leases = [
        Lease(f"{due_ms}-0", "http://a.example/1", Kind.PAGE, "http://a.example", "", due_ms, 90_000)
        for due_ms in (5000, 2999)
    ]
    worker._accept(Grant(tuple(leases), 3000, None), 99.0)
    assert [call.args for call in loop.call_later.call_args_list] == [
        (2.0, worker._wake_engine),
        (0.0, worker._wake_engine),
    ]
    assert worker._held == {"5000-0", "2999-0"}
    held = worker.next_due()
    assert (held.lease.token, worker.next_due()) == ("2999-0", None)


@pytest.mark.parametrize(("due_ms", "wait_s"), [(None, 0.2), (1150, 0.05), (1000, 0.005), (9000, 0.2)])
def test_leases_are_asked_for_as_soon_as_there_may_be_one_and_not_at_once(due_ms: int | None, wait_s: float) -> None:
    worker: Any = Worker.__new__(Worker)
    worker._least_ahead_ms, worker._round_s = 100, 0.0
    assert worker._wait_s(Grant((), 1000, due_ms)) == pytest.approx(wait_s)


@pytest.mark.parametrize(("judged", "result"), [(False, "requisite"), (True, "ok")])
def test_what_a_page_embeds_counts_as_no_page_unless_it_is_one(judged: bool, result: str) -> None:
    worker: Any = Worker.__new__(Worker)
    worker._held, worker._ended, worker._finished, worker._to_commit = {"1-0"}, set(), [], asyncio.Event()
    memo = REQUISITE_MARK + b"\x01"
    lease = Lease("1-0", "http://a.example/1", Kind.PAGE, "http://a.example", "", 0, 1, memo=memo)
    worker.finish(lease, Finding("ok", Verdict(True, "", "zul") if judged else None), None)
    assert [done.finding.result for done in worker._finished] == [result]


def test_a_lease_is_given_back_after_a_claim_for_it_has_come_to_its_end() -> None:
    """Else the claim takes a turn for it that nobody ends."""
    calls: list[str] = []
    begun, go_on = threading.Event(), threading.Event()

    def bind(_token: str, _address: str) -> Bound:
        begun.set()
        go_on.wait(60)
        calls.append("bound")
        return Bound(True, 0, "")

    async def work() -> None:
        worker: Any = Worker.__new__(Worker)
        worker._stores, worker._claims, worker._loops = Mock(), set(), []
        worker._stores.frontier.bind = bind
        worker._stores.frontier.release = calls.extend
        worker._buffer, worker._returned, worker._held = [], [], {"1-0"}
        worker._to_lease, worker.before_close, worker._opened = asyncio.Event(), [], contextlib.ExitStack()
        worker._ask_threads, worker._lease_thread, worker._commit_thread = (ThreadPoolExecutor(2) for _ in range(3))
        lease = Lease("1-0", "http://a.example/1", Kind.PAGE, "http://a.example", "", 0, 1)
        fetch = asyncio.ensure_future(worker.bind(lease, "127.0.0.1"))
        await asyncio.to_thread(begun.wait)
        fetch.cancel()  # the crawl is stopping
        with pytest.raises(asyncio.CancelledError):
            await fetch
        worker.give_back(lease)
        closing = asyncio.ensure_future(worker.close())
        for _ in range(20):
            await asyncio.sleep(0)
        go_on.set()
        await closing

    asyncio.run(work())
    assert calls == ["bound", "1-0"]


def test_what_is_finished_is_reported_and_told_of_before_the_rest_is_given_back_and_all_let_go_of() -> None:
    calls: list[str] = []

    async def commit(batch: list[str], _requests: object) -> None:
        calls.extend(batch)

    async def last(_worker: Worker) -> None:
        calls.append("last")

    async def work() -> None:
        def end() -> None:
            calls.append("told")
            worker._telling.set_result(None)

        worker: Any = Worker.__new__(Worker)
        worker._stores, worker._claims, worker._buffer, worker._returned = Mock(), set(), [], ["given back"]
        worker._stores.frontier.release = calls.extend
        worker._finished, worker._enqueued, worker._commit, worker._closing = ["reported"], [], commit, False
        worker._to_commit, worker._to_lease, worker._intake = asyncio.Event(), asyncio.Event(), Mock()
        worker._teller, worker._telling = Mock(is_behind=False), asyncio.get_running_loop().create_future()
        worker._teller.end = end
        worker._loops = [asyncio.ensure_future(worker._commit_loop())]
        worker.before_close, worker._opened = [last], contextlib.ExitStack()
        worker._opened.callback(calls.append, "let go")
        worker._ask_threads, worker._lease_thread, worker._commit_thread = (ThreadPoolExecutor(1) for _ in range(3))
        await asyncio.wait_for(worker.close(), 60)

    asyncio.run(work())
    assert calls == ["reported", "told", "given back", "last", "let go"]


@pytest.mark.parametrize(("round_s", "ahead_ms"), [(0.0, 100), (0.002, 102), (0.3, 400), (5.0, 1000)])
def test_leases_are_asked_for_sooner_where_redis_is_far(round_s: float, ahead_ms: int) -> None:
    worker: Any = Worker.__new__(Worker)
    worker._least_ahead_ms, worker._round_s = 100, round_s
    worker._stores, worker._returned = Mock(), []
    worker._lease_round(7)
    worker._stores.frontier.lease.assert_called_once_with(7, ahead_ms)


def test_what_a_spider_starts_with_waits_while_it_cannot_be_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be endless, and Redis away for long."""
    monkeypatch.setattr("crawler.focus._LOOK_S", 0)
    monkeypatch.setattr("crawler.work.worker._MOST_ENQUEUED", 3)
    worker: Any = Worker.__new__(Worker)
    worker._enqueued, worker._to_commit = [], asyncio.Event()
    focus = FocusMiddleware.__new__(FocusMiddleware)
    focus._worker = worker

    async def start() -> AsyncIterator[int]:
        for number in itertools.count():
            yield number

    async def work() -> list[int]:
        async def consume() -> None:
            async for candidate in focus.process_start(start()):
                worker.enqueue(candidate)

        consuming = asyncio.ensure_future(consume())
        lengths = []
        for _ in range(2):
            for _ in range(20):
                await asyncio.sleep(0)
            lengths.append(len(worker._enqueued))
            worker._enqueued = []  # they are committed
        consuming.cancel()
        return lengths

    assert asyncio.run(work()) == [3, 3]


def test_what_is_finished_is_committed_in_batches_and_all_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.work.worker._MOST_A_COMMIT", 2)
    batches: list[tuple[list[object], list[object]]] = []

    async def commit(batch: list[object], requests: list[object]) -> None:
        batches.append((batch, requests))
        if len(batches) == 1:
            worker._finished.append(6)  # meanwhile

    worker: Any = Worker.__new__(Worker)
    worker._teller, worker._commit, worker._closing = Mock(is_behind=False), commit, True
    worker._finished, worker._enqueued, worker._to_commit = [1, 2, 3, 4, 5], ["request"], asyncio.Event()
    worker._to_commit.set()
    asyncio.run(worker._commit_loop())
    assert batches == [([1, 2], ["request"]), ([3, 4], []), ([5, 6], [])]


@pytest.mark.parametrize(
    ("answer", "told", "said"),
    [
        ([True, False], ["1-0"], "1 leases had run out before their pages were stored; those pages go to others"),
        (FrontierUnavailable("zulu", "away"), [], "Stopped with 2 pages not reported; they will be fetched again"),
    ],
)
def test_after_a_commit_its_leases_are_held_no_more_and_only_what_was_accepted_is_told_of(
    answer: list[bool] | Exception, told: list[str], said: str, caplog: pytest.LogCaptureFixture
) -> None:
    noted: list[str] = []
    batch = [
        Finished(Lease(token, "http://a.example/1", Kind.PAGE, "http://a.example", "", 0, 1), Finding("ok"), None)
        for token in ("1-0", "2-0")
    ]

    async def work() -> Any:
        worker: Any = Worker.__new__(Worker)
        worker._held, worker._ended, worker._to_lease = (
            {"1-0", "2-0", "3-0", "4-0"},
            {"1-0", "2-0", "3-0"},
            asyncio.Event(),
        )
        worker._committer = Mock(**{"commit.side_effect": [answer]})
        worker._teller = Mock(note=lambda reported: noted.extend(one.lease.token for one in reported))
        with ThreadPoolExecutor(1) as worker._commit_thread:
            await worker._commit(batch, [])
        return worker

    worker = asyncio.run(work())
    assert (worker._held, worker._ended, worker._to_lease.is_set()) == ({"3-0", "4-0"}, {"3-0"}, True)
    assert noted == told
    assert said in caplog.text


@pytest.mark.parametrize("engine", [None, Mock(_slot=None), Mock()])
def test_an_engine_is_woken_only_while_it_has_a_spider(engine: Mock | None) -> None:
    """Timers of leases that were given back may run behind its end."""
    worker: Any = Worker.__new__(Worker)
    worker._crawler = Mock(engine=engine)
    worker._wake_engine()
    if engine is not None and engine._slot is not None:
        engine._slot.nextcall.schedule.assert_called_once_with()


def test_a_lease_is_finished_once_and_only_while_it_is_held() -> None:
    worker: Any = Worker.__new__(Worker)
    worker._held, worker._ended, worker._finished, worker._to_commit = {"1-0"}, set(), [], asyncio.Event()
    for token in ("1-0", "1-0", "2-0"):
        lease = Lease(token, "http://a.example/1", Kind.PAGE, "http://a.example", "", 0, 1)
        worker.finish(lease, Finding("ok"), None)
    assert [done.lease.token for done in worker._finished] == ["1-0"]


def test_what_is_given_back_while_others_are_goes_with_the_next_round() -> None:
    worker: Any = Worker.__new__(Worker)
    worker._least_ahead_ms, worker._round_s, worker._returned = 100, 0.0, ["1-0"]
    given: list[list[str]] = []

    def release(tokens: list[str]) -> None:
        given.append(list(tokens))
        if len(given) == 1:
            worker._returned.append("2-0")  # by the reactor
        if len(given) == 2:
            raise FrontierUnavailable("zulu", "away")

    worker._stores = Mock(**{"frontier.release": release})
    worker._lease_round(1)
    with pytest.raises(FrontierUnavailable):
        worker._lease_round(1)
    worker._lease_round(1)
    worker._lease_round(1)
    assert given == [["1-0"], ["2-0"], ["2-0"]]


def test_leases_are_asked_for_less_often_where_others_are_quicker() -> None:
    """But never so rarely that one would come behind its instant; and a Redis that was away is believed nothing."""
    lease = Lease("1-0", "http://a.example/1", Kind.PAGE, "http://a.example", "", 0, 1)
    none, one = Grant((), 0, None), Grant((lease,), 0, None)

    async def work() -> list[float]:
        worker: Any = Worker.__new__(Worker)
        worker._held, worker._buffer, worker._returned, worker._most_held = {"0-0"}, [], [], 9
        worker._committer, worker._teller = Mock(**{"patiently.lacks_room": False}), Mock(is_behind=False)
        worker._round_s, worker._least_ahead_ms, worker._lease_pause_s = 0.0, 100, 0.005
        worker._redis_watch, worker._fetch_timeout_s = RedisWatch(), 60.0
        worker._stores = Mock(**{"frontier.lease.side_effect": [none] * 5 + [one, none, FrontierUnavailable("z", "")]})
        pauses = []
        with ThreadPoolExecutor(1) as worker._lease_thread:
            for _ in range(7):
                await worker._lease_some()
                pauses.append(worker._lease_pause_s)
            worker._stores.sieve.forget_sent.assert_not_called()
            assert await worker._lease_some() == 1.0
            worker._stores.sieve.forget_sent.assert_called_once_with()
        return pauses

    assert asyncio.run(work()) == pytest.approx([0.01, 0.02, 0.04, 0.05, 0.05, 0.005, 0.01])


def test_answers_under_way_have_some_seconds_when_the_crawl_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.work.worker._LONGEST_WAIT_S", 0)
    worker, now = Worker.__new__(Worker), itertools.count(100, 1)
    monkeypatch.setattr("crawler.work.worker.time", Mock(monotonic=lambda: next(now)))
    hurried: list[object] = []

    def stop(signal: object) -> None:
        hurried.append((signal, next(now)))
        worker._closing = True

    worker._crawler = Mock(crawling=False, **{"signals.send_catch_log": stop})
    worker._closing, worker._to_lease = False, asyncio.Event()
    asyncio.run(worker._lease_loop())
    assert hurried == [(stopping, 105)]
