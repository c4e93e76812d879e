"""Queues are looked at anew as the crawl learns."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from crawler.pages.link_memo import LinkMemo
from crawler.pages.rescoring import LEAST_PAGES, STRANGER_EVERY, WINDOW, Rescorer
from frontier import Candidate, FrontierConfig, Kind, MemoryFrontier
from frontier.errors import FrontierUnavailable
from frontier.types import Queued
from relevance.pages.blocks import Block
from relevance.pages.page import Page
from relevance.steering.policies import make_policy
from relevance.steering.policy import PageContext, Policy

HOST = "http://a.example"
ENGLISH = Block("The news of today comes from all over the country and the world, as it does every day.", "main")


class Counting(MemoryFrontier):
    """Notes whose queues are read, and can be away."""

    is_away = False

    def __init__(self, config: FrontierConfig, clock: Callable[[], int]) -> None:
        super().__init__(config, clock)
        self.reads: list[str] = []

    def heads(self, authorities: Sequence[str], limit: int) -> list[list[Queued]]:
        if self.is_away:
            raise FrontierUnavailable("x", authorities[0])
        self.reads.extend(authorities)
        return super().heads(authorities, limit)


def frontier(*candidates: Candidate) -> MemoryFrontier:
    made = MemoryFrontier(FrontierConfig(obey_robots=False), clock=lambda: 1)
    made.take_in(candidates)
    return made


def link(number: int) -> Candidate:
    return Candidate(f"{HOST}/news/{number}.html", score=0.8, memo=LinkMemo(0, "000000").pack())


def taught(policy: Policy) -> Policy:
    for number in range(20):
        policy.judge(Page(f"{HOST}/news/x{number}.html", blocks=(ENGLISH,)), PageContext(bucket="000000"))
    return policy


def test_what_has_become_worth_less_falls_behind() -> None:
    waiting = frontier(*map(link, range(5)))
    assert Rescorer(taught(make_policy("yield", "zul")), waiting).pages([HOST]) == 5
    assert all(one.score < 0.5 for one in waiting.peek(HOST))


def test_seeds_feeds_and_other_policies_keep_their_scores() -> None:
    seed, feed = Candidate(f"{HOST}/", source="seed", score=1.0), Candidate(f"{HOST}/feed", Kind.FEED, score=0.9)
    item = Candidate(f"{HOST}/item", source="feed", score=0.9, memo=LinkMemo(published_s=5).pack())
    waiting = frontier(seed, feed, item)
    assert Rescorer(taught(make_policy("yield", "zul")), waiting).pages([HOST]) == 0
    assert Rescorer(taught(make_policy("threshold", "zul")), frontier(*map(link, range(5)))).pages([HOST]) == 0


def test_how_often_a_queue_is_read_follows_its_length() -> None:
    policy = make_policy("yield", "zul")
    for number, read_after in ((3, [1, 2, 4, *range(4 + LEAST_PAGES, 41, LEAST_PAGES)]), (256, [1, 17, 33])):
        waiting = Counting(FrontierConfig(obey_robots=False), clock=lambda: 1)
        waiting.take_in(map(link, range(number)))
        rescorer = Rescorer(policy, waiting)
        reads = []
        for page in range(1, 41):
            before = len(waiting.reads)
            rescorer.pages([HOST])
            reads += [page] * (len(waiting.reads) - before)
        assert reads == read_after


def test_a_long_queue_that_turns_out_worthless_is_looked_at_again_soon() -> None:
    """As a sitemap's, all of whose pages were found at once."""
    waiting = Counting(FrontierConfig(obey_robots=False), clock=lambda: 1)
    waiting.take_in(map(link, range(3 * WINDOW)))
    policy = make_policy("yield", "zul")
    for _ in range(20):
        taught(policy)
    rescorer = Rescorer(policy, waiting)
    moved = [rescorer.pages([HOST]) for _ in range(12)]
    assert (sum(moved), max(moved)) == (3 * WINDOW, WINDOW)
    assert len(waiting.reads) == 4, "and when no more moves, as rarely as any other"


def test_it_can_wait_for_a_frontier_that_is_away() -> None:
    waiting = Counting(FrontierConfig(obey_robots=False), clock=lambda: 1)
    stranger = "http://b.example/1"
    waiting.take_in([link(1), Candidate(stranger, score=0.9, memo=LinkMemo(1, "100000").pack())])
    rescorer = Rescorer(make_policy("yield", "zul"), waiting)
    rescorer.found([stranger])
    waiting.is_away = True
    assert rescorer.pages([HOST] * STRANGER_EVERY) == 0
    waiting.is_away = False
    rescorer.pages([HOST] * STRANGER_EVERY)
    assert "http://b.example" in waiting.reads, "it is not forgotten"


def test_hosts_without_a_page_are_looked_at_in_turn() -> None:
    policy = taught(make_policy("yield", "zul"))
    elsewhere = [f"http://{name}.example/1" for name in "bcd"]
    waiting = frontier(
        *map(link, range(3)), *(Candidate(url, score=0.9, memo=LinkMemo(1, "100000").pack()) for url in elsewhere)
    )
    rescorer = Rescorer(policy, waiting)
    rescorer.found([*elsewhere, f"{HOST}/news/1.html", "http://unknown.example/x"])
    for _ in range(5 * STRANGER_EVERY):
        rescorer.pages([HOST])
    assert all(one.score < 0.7 for url in elsewhere for one in waiting.peek(url.removesuffix("/1")))


def test_with_every_second_page_one_of_them_is_looked_at() -> None:
    waiting = Counting(FrontierConfig(obey_robots=False), clock=lambda: 1)
    elsewhere = [f"http://{name}.example/1" for name in "bcd"]
    waiting.take_in([Candidate(url, score=0.9, memo=LinkMemo(1, "100000").pack()) for url in elsewhere])
    rescorer = Rescorer(make_policy("yield", "zul"), waiting)
    rescorer.found(elsewhere)
    rescorer.pages(["http://d.example"])  # it is none any more
    waiting.reads.clear()
    for page in range(2, 10):
        before = len(waiting.reads)
        rescorer.pages([f"http://{page}.example"])
        assert len(waiting.reads) - before == (1 if page % 2 else 2)
    assert [host for host in waiting.reads if host[7] in "bcd"] == ["http://b.example", "http://c.example"] * 2


def test_a_host_whose_pages_come_is_no_stranger() -> None:
    waiting = Counting(FrontierConfig(obey_robots=False), clock=lambda: 1)
    waiting.take_in(map(link, range(3)))
    rescorer = Rescorer(make_policy("yield", "zul"), waiting)
    rescorer.pages([HOST])
    rescorer.found([f"{HOST}/news/1.html", "http://gone.example/x"])
    for _ in range(2 * STRANGER_EVERY):
        rescorer.pages(["http://z.example"])
    assert waiting.reads.count(HOST) == 1, "when its first page came"
    assert waiting.reads.count("http://gone.example") == 1, "nothing waits there: it is forgotten"


def test_so_many_hosts_are_remembered_and_those_met_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.pages.rescoring._MOST_HOSTS", 3)
    waiting = Counting(FrontierConfig(obey_robots=False), clock=lambda: 1)
    rescorer = Rescorer(make_policy("yield", "zul"), waiting)
    rescorer.found(f"http://{number}.example/x" for number in range(9))
    assert list(rescorer._strangers) == [f"http://{number}.example" for number in range(3)]
    for host in (HOST, "http://b.example", "http://c.example", HOST, "http://d.example"):
        rescorer.pages([host])
    assert list(rescorer._known) == ["http://c.example", HOST, "http://d.example"]
