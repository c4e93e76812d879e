"""What a worker says when it ends."""

from __future__ import annotations

from scrapy.statscollectors import MemoryStatsCollector
from scrapy.utils.test import get_crawler

from crawler.work.endings import why_over
from frontier.types import Grant


def test_a_crawl_that_ends_before_all_is_fetched_says_what_waits_and_until_when() -> None:
    stats = MemoryStatsCollector(get_crawler())
    stats.inc_value("downloader/request_count")
    assert why_over(Grant((), 1000, None), stats) == "Nothing is left to fetch"
    assert "until 2026-11-24 14:12Z" in why_over(Grant((), 1000, 1795529520000), stats)
    assert "until 2026-11-24 14:13Z" in why_over(Grant((), 1000, 1795529520001), stats)
    hour_behind = Grant((), 1000, 1795529520000, clock_ahead_ms=-3_600_000)
    assert "until 2026-11-24 15:12Z" in why_over(hour_behind, stats), "by the clock that people look at"
    spent = "The crawl's budget of pages is spent"
    assert why_over(Grant((), 1000, 5000, "pages"), stats) == spent
    assert why_over(Grant((), 1000, None, narrowed=True), stats) == spent
    assert why_over(Grant((), 1000, 1795529520000, narrowed=True), stats).startswith(
        f"{spent}; of what they embed something waits, until 2026-11-24 14:12Z"
    )


def test_a_run_that_fetches_nothing_says_that_all_is_known() -> None:
    stats = MemoryStatsCollector(get_crawler())
    said = why_over(Grant((), 1000, None), stats)
    assert said.startswith("Nothing is left to fetch, paused hosts apart: ")
    assert "an empty Redis" not in said  # it would have forgotten who has opted out
