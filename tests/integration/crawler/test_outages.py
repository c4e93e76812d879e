"""What a fleet does while its Redis is away or full, and after one of its workers stood still: by the web's log and the
archive nothing is lost, nothing is kept twice and no delay is cut short."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
import redis

from crawler.state.embedded_redis import EmbeddedRedis
from frontier.answering import ANSWER_WITHIN_S
from tests.integration.crawler.fleet import LEASE_S, fleet, fleet_on, judge, spec
from tests.integration.crawler.harness import Crawl, results_of, run_here, wait_for
from tests.web.spec import WebSpec

PAGES = 120


@contextmanager
def fleet_apart(web: WebSpec, folder: Path) -> Iterator[tuple[Crawl, EmbeddedRedis]]:
    """A fleet whose Redis is somebody else's: no worker may start it again."""
    with (
        EmbeddedRedis(folder / "redis") as server,
        fleet_on(server, web, folder, REDIS_URL=server.url) as crawl,
    ):
        yield crawl, server


def nothing_lost(crawl: Crawl, refetches: int) -> None:
    findings, proof = judge(crawl, refetches=refetches)
    assert findings.ok, findings.faults
    assert proof.ok, proof.short[:5]


def stop_amid_an_answer(crawl: Crawl, worker: subprocess.Popen[bytes]) -> None:
    """Stop a fleet's only worker while the web is still answering it."""
    while True:
        worker.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, worker.pid, os.WSTOPPED)
        if len(crawl.requests()) < crawl.running.server.requests:  # the log has what was answered
            return
        worker.send_signal(signal.SIGCONT)
        time.sleep(0.05)


@pytest.mark.slow
@pytest.mark.parametrize("way", ["killed", "hung"])
def test_without_redis_nothing_is_sent_and_nothing_lost(tmp_path: Path, way: str) -> None:
    with fleet_apart(spec(hosts=8, pages=PAGES), tmp_path) as (crawl, server):
        for _ in range(2):
            crawl.start()
        crawl.await_joined()
        crawl.await_requests(25)
        pid = server.server_pid()
        os.kill(pid, signal.SIGKILL if way == "killed" else signal.SIGSTOP)
        time.sleep(LEASE_S + 0.5)  # what was leased may still be sent, while its lease lasts
        crawl.requests()  # the web has heard all that came
        sent = crawl.running.server.requests
        assert sent < PAGES
        time.sleep(ANSWER_WITHIN_S + 2 - LEASE_S)
        assert crawl.running.server.requests == sent
        if way == "killed":
            assert server.revive()
        else:
            os.kill(pid, signal.SIGCONT)
        assert crawl.wait() == [0, 0]
        nothing_lost(crawl, refetches=PAGES)
        if way == "killed":
            assert "No new requests until it answers again" in crawl.logs()
            assert "the crawl goes on" in crawl.logs()
        # an outage of ours is no failure of a page or its host
        assert not {"protocol", "connect", "dns"} & set(results_of(server))


@pytest.mark.slow
def test_at_the_memory_limit_the_crawl_waits_and_says_so(tmp_path: Path) -> None:
    with fleet_apart(spec(hosts=8, pages=PAGES), tmp_path) as (crawl, server):
        with redis.Redis.from_url(server.url) as client:
            client.delete(
                "zulu:start_urls"
            )  # pages are found by their links, so that there is always something to take in
            for _ in range(2):
                crawl.start()
            crawl.await_joined()
            crawl.await_requests(30)
            client.config_set("maxmemory", 1)
            wait_for(lambda: "maxmemory" in crawl.logs())
            time.sleep(LEASE_S)  # long enough for leases to run out
            assert all(worker.poll() is None for worker in crawl.workers)
            for form in ((), ("--json",)):
                status = run_here("frontier", "status", *form, REDIS_URL=server.url, DATA_DIR=str(crawl.folder))
                assert "Redis is at its memory limit" in status.stderr
            assert crawl.running.server.requests < PAGES
            client.config_set("maxmemory", 0)
        assert crawl.wait() == [0, 0]
        nothing_lost(crawl, refetches=PAGES)


@pytest.mark.slow
def test_a_worker_that_stood_still_for_longer_than_its_leases_changes_nothing(tmp_path: Path) -> None:
    web = spec(hosts=8, pages=PAGES)
    web = web.replace(rates=replace(web.rates, slow=1.0), slow_s=1.0)
    with fleet(web, tmp_path) as crawl:
        stopped = crawl.start()
        crawl.await_requests(20)
        stop_amid_an_answer(crawl, stopped)
        sent = crawl.running.server.requests
        crawl.start()
        time.sleep(LEASE_S + 0.5)
        crawl.await_requests(sent + 5)  # others have taken over
        stopped.send_signal(signal.SIGCONT)
        assert crawl.wait() == [0, 0]
        assert "leases had run out before their pages were stored" in (crawl.folder / "worker-1.log").read_text()
        nothing_lost(crawl, refetches=20)


def test_a_worker_that_cannot_close_its_files_says_so_and_the_next_one_does(tmp_path: Path) -> None:
    with fleet(spec(hosts=8, pages=PAGES), tmp_path, WARC_COMPRESSION="none") as crawl:
        worker = crawl.start()
        crawl.await_requests(10)
        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.prlimit(worker.pid, resource.RLIMIT_FSIZE, (60_000, hard))  # its log is far smaller
        wait_for(lambda: "The crawl waits: archive is full" in crawl.logs())
        worker.send_signal(signal.SIGINT)
        assert worker.wait(120) == 1
        assert "left to the next start, which finishes it: archive is full" in crawl.logs()
        assert "Traceback" not in crawl.logs()
        crawl.start()
        assert crawl.wait() == [1, 0]
        nothing_lost(crawl, refetches=PAGES)
