"""What is told of reported pages, while others are stored and reported."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from unittest.mock import Mock

import pytest

from crawler.pages.findings import Finding
from crawler.pages.link_memo import LinkMemo
from crawler.work.patience import Patience
from crawler.work.teller import Reported, Teller
from frontier import Candidate, FrontierConfig, Kind, Lease, MemoryFrontier
from frontier.errors import FrontierFull, FrontierUnavailable
from frontier.types import Once, Totals
from relevance.steering.policy import Verdict

HOST = "http://a.example"
Counts = Mapping[str, tuple[int, ...]]


class Told(MemoryFrontier):
    """Notes what it is told, and in which order; `gate` holds up whoever adds counts."""

    def __init__(self) -> None:
        super().__init__(FrontierConfig(obey_robots=False), clock=lambda: 1)
        self.calls: list[str] = []
        self.entered, self.gate = threading.Event(), threading.Event()
        self.gate.set()

    def date_ms(self) -> int:
        return 1_790_000_000_000

    def tell_others(self) -> None:
        self.calls.append("others")

    def add_counts(self, tables: Mapping[str, Counts], once: Once | None = None) -> Totals:
        self.calls.append("counts")
        self.entered.set()
        assert self.gate.wait(60)
        return super().add_counts(tables, once)


def page(number: int, *, keep: bool = True, words: int = 5) -> Reported:
    lease = Lease("1-0", f"{HOST}/{number}", Kind.PAGE, HOST, "", 0, 1, "seed")
    links = [Candidate(f"{HOST}/{number}/x", memo=LinkMemo(0, "000000").pack())]
    return Reported(lease, Finding("ok", Verdict(keep, "", "zul", words=words), links=links), 100)


def teller(frontier: Told, policy: Mock, *, stopped: bool = False, scores: bool = True) -> Teller:
    policy.deltas.return_value = {}
    policy.rescore.return_value = []
    patiently = Patience(lambda: stopped, Mock())
    return Teller(frontier, Mock(**{"urls.return_value": {}}), policy, patiently, scores=scores)  # type: ignore[arg-type]


def test_figures_of_pages_are_added_up_and_others_hear_first() -> None:
    frontier = Told()
    one = teller(frontier, Mock())
    robots = Reported(Lease("2-0", f"{HOST}/robots.txt", Kind.ROBOTS, HOST, "", 0, 1), Finding("ok"), 7)
    unanswered = Reported(Lease("3-0", f"{HOST}/3", Kind.PAGE, HOST, "", 0, 1), Finding("timeout"), 0)
    totals = one.tell([page(1), page(2, keep=False, words=0), robots, unanswered], {"h": (1, 2)})
    assert totals == {"h": (1, 2)}
    assert frontier.calls == ["others", "counts"]
    assert frontier.get_counts("hosts") == {HOST: (3, 1, 207, 5)}
    assert frontier.get_counts("languages") == {"kept:zul": (1,), "left:zul": (1,)}
    assert frontier.get_counts("outcomes") == {"page:ok": (2,), "robots:ok": (1,), "page:timeout": (1,)}


def test_polls_are_counted_for_the_day_of_the_frontiers_clock() -> None:
    """By its own a worker's counts went to another day, and one that was months ahead forgot the tables there are."""
    frontier, feed = Told(), f"{HOST}/feed"
    finding = Finding("ok", feed_counts={feed: (1,)})
    teller(frontier, Mock()).tell([Reported(Lease("2-0", feed, Kind.FEED, HOST, "", 0, 1), finding, 7)], {})
    assert frontier.get_counts("harvest:2026-09-21") == {feed: (1,)}


def test_what_is_noted_meanwhile_is_told_together_and_all_of_it_before_the_end() -> None:
    frontier, policy = Told(), Mock()
    one = teller(frontier, policy)
    frontier.gate.clear()

    async def run() -> None:
        running = asyncio.ensure_future(one.run())
        one.note([page(1)])
        await asyncio.to_thread(frontier.entered.wait)
        for number in (2, 3):
            one.note([page(number)])  # at once, whatever the first waits for
        one.end()
        frontier.gate.set()
        await running

    asyncio.run(run())
    assert frontier.get_counts("hosts") == {HOST: (3, 3, 300, 15)}
    assert frontier.calls == ["others", "counts"] * 2
    assert policy.absorb.call_count == 2


@pytest.mark.parametrize("scores", [True, False])
def test_waiting_urls_are_scored_with_what_was_learnt_where_links_are_scored(scores: bool) -> None:
    frontier, policy = Told(), Mock()
    frontier.take_in([Candidate(f"{HOST}/9", score=0.9, memo=LinkMemo(0, "000000").pack())])
    one = teller(frontier, policy, scores=scores)
    policy.rescore.return_value = [0.1]
    one.note([page(1)])
    one.end()
    asyncio.run(one.run())
    assert [round(waits.score, 1) for waits in frontier.peek(HOST)] == [0.1 if scores else 0.9]
    names = [name for name, _, _ in policy.mock_calls if name in ("deltas", "absorb", "rescore")]
    assert names == ["deltas", "absorb", *["rescore"] * scores]


@pytest.mark.parametrize("error", [FrontierUnavailable("zulu", "away"), FrontierFull("zulu", "OOM")])
def test_a_worker_that_is_told_to_stop_does_not_wait_for_figures(
    error: Exception, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    frontier, policy = Told(), Mock()
    add_counts = Mock(side_effect=error)
    monkeypatch.setattr(frontier, "add_counts", add_counts)
    one = teller(frontier, policy, stopped=True)

    async def run() -> None:
        running = asyncio.ensure_future(one.run())
        one.note([page(1)])
        while not add_counts.called:
            await asyncio.sleep(0)
        frontier.calls.clear()
        one.note([page(2)])  # nor once more for what was reported meanwhile
        one.end()
        await running

    asyncio.run(run())
    assert not policy.absorb.called
    assert add_counts.call_count == 1
    assert "figures of 2 pages not added up" in caplog.text
    assert frontier.calls == ["others"], "no other crawl waits for that"


def test_other_crawls_do_not_wait_for_figures_that_a_full_redis_does_not_take(monkeypatch: pytest.MonkeyPatch) -> None:
    frontier = Told()
    one = teller(frontier, Mock())
    add_counts = Mock(side_effect=[FrontierFull("zulu", "OOM"), FrontierFull("zulu", "OOM"), {"yield": {}}])
    monkeypatch.setattr(frontier, "add_counts", add_counts)
    monkeypatch.setattr("crawler.work.patience.time.sleep", lambda _: None)
    one.tell([page(1)], {})
    assert frontier.calls == ["others"] * 3, "of what was reported meanwhile, too"


def test_figures_whose_answer_was_lost_are_added_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    frontier = Told()
    one = teller(frontier, Mock())
    add, answers = frontier.add_counts, iter([False, True, True])

    def lose(tables: Mapping[str, Counts], once: Once | None = None) -> Totals:
        totals = add(tables, once)
        if not next(answers):
            raise FrontierUnavailable("zulu", "timed out")
        return totals

    monkeypatch.setattr(frontier, "add_counts", lose)
    monkeypatch.setattr("crawler.work.patience.time.sleep", lambda _: None)
    assert one.tell([page(1)], {"h": (1,)}) == {"h": (1,)}
    assert one.tell([page(1)], {"h": (1,)}) == {"h": (2,)}, "the next call counts"
    assert frontier.get_counts("hosts") == {HOST: (2, 2, 200, 10)}


def test_a_teller_says_when_it_is_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.work.teller._MOST_UNTOLD", 2)
    one = teller(Told(), Mock())
    one.note([page(1)])
    assert not one.is_behind
    one.note([page(2)])
    assert one.is_behind
    one.end()
    asyncio.run(one.run())
    assert not one.is_behind


def test_a_fault_goes_through(monkeypatch: pytest.MonkeyPatch) -> None:
    """To the worker, which ends the crawl and says so."""
    frontier = Told()
    monkeypatch.setattr(frontier, "add_counts", Mock(side_effect=ZeroDivisionError))
    one = teller(frontier, Mock())
    one.note([page(1)])
    with pytest.raises(ZeroDivisionError):
        asyncio.run(one.run())


def test_the_tables_of_long_ago_are_forgotten_with_the_first_poll_of_a_day(monkeypatch: pytest.MonkeyPatch) -> None:
    frontier, feed, day_ms = Told(), f"{HOST}/feed", 86_400_000
    monkeypatch.setattr(frontier, "forget_counts", forgotten := Mock())
    one = teller(frontier, Mock())
    polled = Reported(Lease("2-0", feed, Kind.FEED, HOST, "", 0, 1), Finding("ok", feed_counts={feed: (1,)}), 7)
    for days, reported in ((0, page(1)), (0, polled), (0, polled), (1, polled)):
        monkeypatch.setattr(frontier, "date_ms", lambda days=days: 1_790_000_000_000 + days * day_ms)
        one.tell([reported], {})
    assert forgotten.call_count == 2
