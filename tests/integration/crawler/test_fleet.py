"""A fleet of real workers under faults: no gap too short by the web's log, no page lost, none kept twice."""

from __future__ import annotations

import random
import signal
from pathlib import Path

import pytest

from tests.integration.crawler.fleet import PATIENT, Disturber, fleet, judge, spec
from tests.web.web import CRAWL_FILE


def test_a_stopped_worker_gives_its_leases_back_within_seconds(tmp_path: Path) -> None:
    """The leases would run out only after five minutes; that everything is fetched shows that they came back."""
    with fleet(spec(hosts=8, pages=80), tmp_path, **PATIENT) as crawl:
        crawl.running.hold(after=20)
        stopped = crawl.start()
        crawl.await_requests(20)
        stopped.send_signal(signal.SIGTERM)
        assert stopped.wait(120) == 0
        crawl.running.let_go()
        crawl.start()
        assert crawl.wait(240) == [0, 0]
        findings, proof = judge(crawl)
        assert findings.ok, findings.faults
        assert proof.ok, proof.short[:5]


def test_a_budget_of_pages_is_kept_by_all_workers_together(tmp_path: Path) -> None:
    """Each of them has room for every host at once."""
    with fleet(spec(hosts=20, pages=120), tmp_path, **PATIENT) as crawl:
        seeds = crawl.running.folder / CRAWL_FILE
        seeds.write_text(seeds.read_text().replace("[crawl]", "[crawl]\nmax_pages = 30", 1))
        for _ in range(2):
            crawl.start()
        assert crawl.wait() == [0, 0]
        assert sum(entry.path != "/robots.txt" for entry in crawl.requests()) == 30
        assert "The crawl's budget of pages is spent" in crawl.logs()


@pytest.mark.slow
def test_faults_of_all_kinds_break_no_delay_and_lose_nothing(tmp_path: Path) -> None:
    with fleet(spec(pages=240), tmp_path) as crawl:
        crawl.running.hold(after=200)
        for _ in range(2):
            crawl.start()
        crawl.await_requests(60)
        disturber = Disturber(crawl, random.Random(4))
        disturber.run(until=200, pause_s=1.0)
        crawl.running.let_go()
        crawl.wait()
        assert disturber.kills
        assert disturber.stops
        assert disturber.restarts
        findings, proof = judge(crawl, refetches=240)
        assert findings.ok, findings.faults
        assert proof.ok, proof.short[:5]
        assert proof.gaps > 170
