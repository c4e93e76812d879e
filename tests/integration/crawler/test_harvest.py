"""A harvest as a service: real processes, feeds on a fast clock, a worker killed on the way."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.integration.crawler.harness import run_here, wait_for
from tests.integration.crawler.harvesting import SEEDS, Harvest, seed_file
from tests.web.server import serve
from tests.web.spec import FeedSpec, WebSpec, calm

Begin = Callable[..., Harvest]
SCALE = 30.0
HOSTS = 4
FEEDS = (
    FeedSpec(1, "rss", 60, 10),
    FeedSpec(1, "atom", 90, 10, burst=3),
    FeedSpec(1, "json", 45, 12),
    FeedSpec(1, "index", 90, 10),
    FeedSpec(1, "atom", 60, 20, keep_s=1200, archive=False),
    FeedSpec(1, "rss", 3600, 5),
)


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Begin]:
    """Serve a web with feeds and prepare a harvest of it."""
    with ExitStack() as opened:

        def make(feeds: tuple[FeedSpec, ...], more: str = "", **settings: str) -> Harvest:
            spec = calm(WebSpec(hosts=HOSTS, pages=8, feeds=feeds, time_scale=SCALE))
            running = opened.enter_context(serve(spec, tmp_path / "web"))
            (running.folder / SEEDS).write_text(seed_file(running.web, 1.0, more))
            crawl = Harvest(running, tmp_path / "crawl", settings)
            opened.callback(crawl.kill)
            return crawl

        yield make


def test_two_workers_and_a_kill_miss_nothing(begin: Begin) -> None:
    # What the killed worker held comes back before its feeds drop anything, and a web that stalls is waited for.
    crawl = begin(FEEDS, FRONTIER_LEASE_S="16", DOWNLOAD_TIMEOUT="12")
    started = time.monotonic()
    doomed = crawl.start()
    crawl.start()
    wait_for(lambda: sum(feed.polls for feed in crawl.figures(time.time())) > 20)
    doomed.kill()
    crawl.start()
    # Counted whoever found an item and whoever fetched it, but only what came after a feed's first poll: how soon there
    # are some depends on the machine.
    wait_for(lambda: sum(day["fetched"] for day in _days(crawl)) > 10)
    until = time.time()
    wait_for(lambda: not [url for feed in crawl.figures(until) for url in feed.missed])
    crawl.stop()
    lasted_s = time.monotonic() - started

    figures = crawl.figures(until)
    assert sum(feed.published for feed in figures) > 20
    # No oftener than its bound (but for the time that leases are handed out ahead), whoever polls.
    assert all(feed.polls <= lasted_s / 0.9 + 2 for feed in figures)
    times = crawl.most_fetches()
    assert sum(count - 1 for count in times.values()) <= HOSTS, "a killed worker has at most one lease a host"
    assert "Traceback" not in crawl.logs()
    _status_adds_up(crawl, sum(feed.polls for feed in figures))


def _status(crawl: Harvest, *words: str) -> str:
    seeds = str(crawl.running.folder / SEEDS)
    status = run_here("harvest", "status", "--seeds", seeds, *words, DATA_DIR=str(crawl.folder))
    assert status.returncode == 0, status.stderr
    return status.stdout


def _days(crawl: Harvest, *words: str) -> list[dict[str, int]]:
    return [json.loads(line) for line in _status(crawl, "--json", *words).splitlines()]


def _status_adds_up(crawl: Harvest, polls: int) -> None:
    days = _days(crawl, "--plot")
    # What a killed worker had asked but not reported is not counted, nor what was given back at the end.
    assert abs(sum(day["polls"] for day in days) - polls) <= 2 * HOSTS
    assert sum(day["missed"] for day in days) == 0
    assert (crawl.folder / "reports" / "harvest.png").stat().st_size > 10_000
    assert "all feeds" in _status(crawl)


@pytest.mark.slow
def test_what_passed_while_nobody_polled_is_paged_back_to(begin: Begin) -> None:
    crawl = begin((FeedSpec(1, "rss", 45, 5), FeedSpec(1, "json", 45, 5), FeedSpec(1, "atom", 45, 5)))
    first = crawl.start()
    wait_for(lambda: min(feed.polls for feed in crawl.figures(time.time())) >= 3)
    first.terminate()
    assert first.wait(120) == 0
    time.sleep(12)  # eight items a feed, of which it shows five
    until = time.time()
    crawl.start()
    wait_for(lambda: crawl.logs().count("gap_closed") >= 3)
    wait_for(lambda: not [url for feed in crawl.figures(until) for url in feed.missed])
    crawl.stop()
    figures = crawl.figures(until)
    assert not [url for feed in figures for url in feed.missed]
    assert max(crawl.most_fetches().values()) == 1
    days = _days(crawl)
    assert sum(day["gaps"] for day in days) >= 3
    assert sum(day["recovered"] for day in days) >= 3
    assert sum(day["missed"] for day in days) == 0
    assert "gap_closed" in crawl.logs()
