"""What workers serve for Prometheus, against what the crawl really did."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
import redis

from crawler.preflight import METRICS_PORTS
from crawler.state.embedded_redis import EmbeddedRedis
from frontier.answering import ANSWER_WITHIN_S
from frontier.audit import verify
from frontier.redis_frontier import RedisFrontier
from tests.integration.crawler.harness import ROOT, environment, run, wait_for
from tests.integration.crawler.scraping import HELD, free_port, get, held_crawl, ports_of, scrape, settled


def told_twice(url: str) -> None:
    """Write the last request of the audit into it once more: as if there had been no delay at all."""
    with redis.Redis.from_url(url) as client:
        rows = [fields[b"r"] for _, fields in client.xrevrange("{zulu}:f:audit")]
        client.xadd("{zulu}:f:audit", {"r": next(row for row in rows if b"end" in row and b"ok" in row)})


def test_two_workers_with_the_same_settings_tell_what_the_crawl_did(tmp_path: Path) -> None:
    with held_crawl(tmp_path, FRONTIER_AUDIT="1") as crawl:
        workers = [crawl.start(), crawl.start()]
        first, second = ports_of(crawl)
        assert {first, second} == {int(crawl.settings["METRICS_PORT"]) + place for place in (0, 1)}
        crawl.await_requests(HELD)
        pages = [settled(port) for port in (first, second)]
        with EmbeddedRedis(crawl.folder / "state" / "redis") as server:
            frontier = RedisFrontier(server.url, "zulu")
            status, proof = frontier.status(), verify(frontier.audit())
            frontier.close()
            told_twice(server.url)
        for page in pages:
            told = {
                "ulwembu_crawl_queued_urls": status.queued,
                "ulwembu_crawl_leased_urls": status.leased,
                "ulwembu_crawl_authorities": status.authorities,
                "ulwembu_crawl_pages_total": status.pages,
                "ulwembu_crawl_fetched_bytes_total": status.fetched_bytes,
                "ulwembu_crawl_words_total": status.words,
                "ulwembu_crawl_gaps_total": proof.gaps,
                "ulwembu_crawl_short_gaps_total": 0,
                "ulwembu_worker_redis_up": 1,
                "ulwembu_crawl_undecided_urls": 0,
            }
            assert {name: page.value(name, crawl="zulu") for name in told} == told
            assert page.sum("ulwembu_crawl_parked_urls") == status.parked
            assert page.sum("ulwembu_crawl_outcomes_total", kind="page", result="ok") == status.pages > 0
            judged = page.sum("ulwembu_crawl_judged_pages_total", verdict="kept")
            assert 0 < judged < page.sum("ulwembu_crawl_judged_pages_total") == status.pages
            assert (page.value("process_resident_memory_bytes") or 0) > 1e7
        assert scrape(first).sum("ulwembu_crawl_short_gaps_total") >= 1
        assert "Asked too soon: http" in crawl.logs()
        names = {dict(has)["worker"] for page in pages for name, has in page.values if name == "ulwembu_worker_info"}
        assert names == {f"{socket.gethostname()}-{worker.pid}" for worker in workers}
        held = sum(page.sum("ulwembu_worker_leases") for page in pages)
        assert held == status.leased
        answered = sum(page.sum("ulwembu_worker_responses_total", code="2xx") for page in pages)
        assert answered == HELD == sum(page.sum("ulwembu_worker_requests_total") for page in pages) - held
        crawl.running.let_go()
        assert crawl.wait() == [0, 0]
    assert "Traceback" not in crawl.logs()


def test_no_label_names_a_host_and_scrapes_in_a_crowd_are_answered(tmp_path: Path) -> None:
    with held_crawl(tmp_path) as crawl:
        crawl.start()
        (port,) = ports_of(crawl)
        crawl.await_requests(HELD)
        with ThreadPoolExecutor(50) as crowd:
            pages = list(crowd.map(scrape, [port] * 50))
        labels = {label for page in pages for _, has in page.values for label, _ in has}
        assert labels <= {
            "crawl", "worker", "version", "store", "code", "error", "level",
            "reason", "kind", "result", "verdict", "language",
        }  # fmt: skip
        assert not [has for page in pages for _, has in page.values if any("127." in value for _, value in has)]
        assert get(port, "/")[0] == 404
        with socket.create_connection(("127.0.0.1", port), timeout=10) as kept:
            kept.sendall(b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n")
            parts = list(iter(lambda: kept.recv(1 << 16), b""))  # to its end: no connection outlives a crawl
            assert b"\r\nConnection: close\r\n" in parts[0]
        with socket.create_connection(("127.0.0.1", port)) as slow:
            slow.sendall(b"GET /metr")  # and nothing more: others are answered all the same
            assert scrape(port).value("ulwembu_worker_redis_up") == 1
        with socket.create_connection(("127.0.0.1", port)) as gone:
            gone.sendall(b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n")
        crawl.running.let_go()
        assert crawl.wait() == [0]
    assert "Traceback" not in crawl.logs()
    assert "Unhandled" not in crawl.logs()


@pytest.mark.parametrize("way", [signal.SIGKILL, signal.SIGSTOP])
def test_without_redis_the_page_says_so_and_tells_nothing_old(tmp_path: Path, way: signal.Signals) -> None:
    with (
        EmbeddedRedis(tmp_path / "redis") as server,
        held_crawl(tmp_path, REDIS_URL=server.url) as crawl,
    ):
        worker = crawl.start()
        (port,) = ports_of(crawl)
        crawl.await_requests(HELD)
        assert scrape(port).value("ulwembu_worker_redis_up") == 1  # what could be told again
        pid = server.server_pid()
        os.kill(pid, way)
        try:
            begun = time.monotonic()
            page = scrape(port)
            assert time.monotonic() - begun < ANSWER_WITHIN_S, "as long as a worker waits for its Redis"
            assert page.value("ulwembu_worker_redis_up") == 0
            assert not [name for name in page.names() if name.startswith(("ulwembu_crawl", "ulwembu_redis"))]
            assert page.sum("ulwembu_worker_responses_total") == HELD
            with ThreadPoolExecutor(50) as crowd:
                assert {page.value("ulwembu_worker_redis_up") for page in crowd.map(scrape, [port] * 50)} == {0}
            crawl.running.let_go()
            wait_for(lambda: scrape(port).value("ulwembu_worker_blocked", store="redis") == 1)
        finally:
            if way is signal.SIGSTOP:
                os.kill(pid, signal.SIGCONT)
            else:
                assert server.revive()
        wait_for(lambda: worker.poll() is not None or up(port) == 1)
        assert crawl.wait() == [0]
    assert "Traceback" not in crawl.logs()


def up(port: int) -> float | None:
    """Whether a worker says that its Redis is there; None when it has gone itself."""
    try:
        return scrape(port).value("ulwembu_worker_redis_up")
    except OSError:
        return None


def test_when_no_port_can_be_had_the_start_is_refused(tmp_path: Path) -> None:
    seeds = tmp_path / "ndwedwe.toml"
    seeds.write_text(
        '[crawl]\nname = "ndwedwe"\nlanguage = "zul"\ncontact = "me@a.test"\n[[site]]\nurl = "http://127.0.0.1:2/"\n'
    )
    first = free_port()

    def told(**settings: str) -> list[str]:
        refused = run("crawl", "x", "-a", f"seeds={seeds}", DATA_DIR=str(tmp_path / "d"), **settings)
        assert refused.returncode == 1
        return refused.stderr.splitlines()

    with ExitStack() as opened:
        for port in range(first, first + METRICS_PORTS):
            opened.enter_context(socket.create_server(("127.0.0.1", port)))
        (line,) = told(METRICS_PORT=str(first))
    assert f"METRICS_PORT: no port from {first} to {first + METRICS_PORTS - 1} of METRICS_HOST 127.0.0.1" in line
    assert "Address already in use" in line
    (line,) = told(METRICS_PORT=str(first), METRICS_HOST="192.0.2.1")
    assert "of METRICS_HOST 192.0.2.1 can be used: Cannot assign requested address" in line
    (line,) = told(METRICS_PORT="70000")
    assert "setting METRICS_PORT='70000' must be a whole number from 0 to 65535" in line


_LOADS = """
import sys
from scrapy.settings import Settings
from scrapy.utils.misc import load_object
from crawler.addon import Ulwembu

settings = Settings({"METRICS_PORT": sys.argv[1]} if sys.argv[1] else {})
Ulwembu().update_settings(settings)
for name in settings.getdict("EXTENSIONS"):
    load_object(name)
print(*{"crawler.watch.metrics", "prometheus_client", "twisted.web.server"} & set(sys.modules))
"""


@pytest.mark.parametrize(("port", "loaded"), [("", 0), ("0", 0), ("9", 3)])
def test_where_nobody_asks_for_figures_nothing_of_them_is_loaded(port: str, loaded: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _LOADS, port], cwd=ROOT, env=environment(), capture_output=True, text=True
    )
    assert (done.returncode, len(done.stdout.split())) == (0, loaded), done.stderr
