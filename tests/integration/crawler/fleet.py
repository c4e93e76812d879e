"""A fleet on forty hosts, some at one address, and what goes wrong with it; judged by the web's own log alone.

Every page's URL is pushed to ``zulu:start_urls`` at the start, so that no host ever waits for its links to be found and
every pause in the log is the fleet's own doing.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import redis

from crawler.state.embedded_redis import EmbeddedRedis
from frontier.audit import Proof, verify_plain
from tests.integration.crawler.harness import FORGETFUL, Crawl
from tests.web.requestlog import LogEntry
from tests.web.server import serve
from tests.web.spec import WebSpec, calm
from tests.web.verify import Expectations, Findings, verify
from tests.web.warcs import check_archive
from tests.web.web import CRAWL_FILE, HOSTS_FILE, Web

LEASE_S = 6.0
ADDRESS_DELAY_S = 0.1
LEAST_DELAY_S, MOST_DELAY_S = 0.2, 1.0
PATIENT = {"FRONTIER_LEASE_S": "300", "DOWNLOAD_TIMEOUT": "60"}
"""Of a crawl that fetches each page once: on a machine that stands still for some seconds no lease runs out."""


@dataclass(frozen=True, slots=True)
class Use:
    """How much of what the delays permit was used. `share`: of the time of all addresses that had work; `late_ms`: mean
    time from when a request was permitted to when it was sent."""

    share: float
    requests_a_s: float
    late_ms: float


def spec(hosts: int = 40, pages: int = 400) -> WebSpec:
    """A calm web in which a quarter of the hosts share an address with another."""
    shape = WebSpec(hosts=hosts, pages=pages, addresses=hosts * 4 // 5, named=True, page_bytes=3000)
    return calm(shape.replace(min_links=6, max_links=10))


def delays(web: Web) -> dict[str, float]:
    """Seconds of delay by authority: 0.2 to 1."""
    step = (MOST_DELAY_S - LEAST_DELAY_S) / max(1, len(web.sites) - 1)
    return {site.authority: round(LEAST_DELAY_S + number * step, 3) for number, site in enumerate(web.sites)}


def write_seeds(path: Path, web: Web) -> None:
    """The seed file: each host with a delay of its own."""
    lines = ["[crawl]", 'name = "zulu"', 'language = "zul"', 'contact = "https://example.org/crawler"']
    for authority, delay_s in delays(web).items():
        lines += ["[[site]]", f'url = "{authority}/"', 'scope = "host"', f"delay_s = {delay_s}"]
    path.write_text("\n".join(lines) + "\n")


@contextlib.contextmanager
def fleet(web: WebSpec, folder: Path, **settings: str) -> Iterator[Crawl]:
    """A crawl of `web`, with all its pages waiting in the list of start URLs; no worker yet."""
    with (
        EmbeddedRedis(folder / "crawl" / "state" / "redis") as server,
        fleet_on(server, web, folder, **settings) as crawl,
    ):
        yield crawl


@contextlib.contextmanager
def fleet_on(server: EmbeddedRedis, web: WebSpec, folder: Path, **settings: str) -> Iterator[Crawl]:
    """The same on a server that the workers know by its URL only, unless it is the one of their folder."""
    with serve(web, folder / "web") as running:
        write_seeds(running.folder / CRAWL_FILE, running.server.web)
        usual = {
            "FETCH_HOSTS_FILE": str(running.folder / HOSTS_FILE),
            "FRONTIER_DELAY_S": str(MOST_DELAY_S),
            "FRONTIER_IP_DELAY_S": str(ADDRESS_DELAY_S),
            **FORGETFUL,
            "FRONTIER_LEASE_S": str(LEASE_S),
            "FRONTIER_IDLE_CLOSE_S": "2",
        }
        crawl = Crawl(running, folder / "crawl", {**usual, **settings})
        with redis.Redis.from_url(server.url) as client:
            client.lpush("zulu:start_urls", *running.server.web.truth.urls())
        try:
            yield crawl
        finally:
            crawl.kill()


@dataclass(slots=True)
class Disturber:
    """Kills and stops workers and kills Redis, each at least once, until `until` requests came or `most_s` are over."""

    crawl: Crawl
    rng: random.Random
    most_s: float = 25.0
    kills: int = 0
    stops: int = 0
    restarts: int = 0

    def run(self, until: int, pause_s: float = 1.0) -> None:
        """One fault a `pause_s`, of all kinds in turn."""
        number, deadline = 0, time.monotonic() + self.most_s
        while not (self.kills and self.stops and self.restarts) or (
            self.crawl.running.server.requests < until and time.monotonic() < deadline
        ):
            time.sleep(pause_s)
            assert number < 200, "no fault of one kind could be done"
            living = [worker for worker in self.crawl.workers if worker.poll() is None]
            if not living:
                return
            victim = self.rng.choice(living)
            if number % 3 == 0:
                victim.kill()
                victim.wait()
                self.crawl.start()
                self.kills += 1
            elif number % 3 == 1:
                victim.send_signal(signal.SIGSTOP)
                threading.Timer(LEASE_S + 0.5, victim.send_signal, [signal.SIGCONT]).start()
                self.stops += 1
            else:
                self._restart_redis()
            number += 1

    def _restart_redis(self) -> None:
        pid = EmbeddedRedis(self.crawl.folder / "state" / "redis").server_pid()
        if pid:
            os.kill(pid, signal.SIGKILL)
            self.restarts += 1


def judge(crawl: Crawl, refetches: int = 0) -> tuple[Findings, Proof]:
    """What the log and the archive say: coverage and repeats, and every gap against its host's own delay."""
    web = crawl.running.server.web
    log = crawl.requests()
    findings = verify(log, web, Expectations(LEAST_DELAY_S, ADDRESS_DELAY_S, refetches=refetches))
    check_archive(crawl.folder / "warc", findings, web)
    by_host = {authority: (round(s * 1000), round(ADDRESS_DELAY_S * 1000)) for authority, s in delays(web).items()}
    rows = ((entry.authority, entry.address, entry.start_us / 1000, entry.end_us / 1000) for entry in log)
    return findings, verify_plain(rows, 1000, round(ADDRESS_DELAY_S * 1000), 1, by_host)


def use(log: list[LogEntry], delay_s: dict[str, float], skip_s: float = 0.0) -> Use:
    """From each address' first request (after `skip_s` of the log) to its last: its time less what was wasted, by its
    time. A request is permitted when its address has rested and a host there that has pages left has."""
    begin_us = min(entry.start_us for entry in log) + skip_s * 1e6
    last_us: dict[str, int] = {}
    by_address: dict[str, list[LogEntry]] = defaultdict(list)
    for entry in sorted(log, key=lambda entry: entry.start_us):
        last_us[entry.authority] = entry.start_us
        by_address[entry.address].append(entry)
    busy = wasted = 0.0
    requests = 0
    for entries in by_address.values():
        ready: dict[str, float] = {}
        before_us = 0
        for entry in entries:
            others = [at for host, at in ready.items() if last_us[host] >= entry.start_us]
            if others and entry.start_us >= begin_us:
                permitted_us = max(before_us + ADDRESS_DELAY_S * 1e6, min(others))
                wasted += max(0.0, entry.start_us - permitted_us)
                busy += max(0.0, entry.end_us - before_us)
                requests += 1
            before_us = entry.end_us
            ready[entry.authority] = entry.end_us + delay_s[entry.authority] * 1e6
    span_s = (max(entry.end_us for entry in log) - begin_us) / 1e6
    return Use(1 - wasted / max(busy, 1), requests / max(span_s, 0.001), wasted / max(requests, 1) / 1000)
