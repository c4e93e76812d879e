"""Runs one crawler on one synthetic web and watches it: requests, time, processor time, memory, archive."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from bench.crawlers.peer import Peer, Task
from bench.process import cpu_s, pss_bytes, tree
from crawler.state.embedded_redis import EmbeddedRedis
from tests.web.requestlog import LogEntry
from tests.web.server import Running, serve
from tests.web.spec import WebSpec

_LOOK_S = 0.05
_IDLE_S = 12.0
_START_S = 240.0
_MEMORY_EVERY = 10  # looks


@dataclass(frozen=True, slots=True)
class Order:
    """What is asked for. `most`, `most_s`: requests, and seconds from the first, after which it is ended; `kill_at`:
    requests after which it is killed and started anew; `all_homes`: every host's home page is a seed."""

    spec: WebSpec
    delay_s: float = 0.0
    most: int = 0
    most_s: float = 90.0
    kill_at: int = 0
    all_homes: bool = False
    concurrency: int = 32


@dataclass(slots=True)
class Result:
    """What came of it."""

    running: Running
    log: list[LogEntry] = field(default_factory=list)
    started_cpu_s: float = 0.0  # used when the first request came
    cpu_s: float = 0.0
    peak_bytes: int = 0
    archive_bytes: int = 0
    ended: bool = False  # by itself, with status 0
    killed_us: int = 0


class Crawl:
    """The processes of one crawl."""

    def __init__(self, peer: Peer, task: Task, result: Result, redis_folder: Path) -> None:
        self._peer, self._task, self._result = peer, task, result
        self._redis = EmbeddedRedis(redis_folder)
        self._workers: list[subprocess.Popen[bytes]] = []
        self._cpu_s: dict[int, float] = {}
        self._looks = 0

    def start(self) -> None:
        """All workers."""
        self._workers = []
        for number in range(1, self._peer.workers + 1):
            self._task.worker = number
            with (self._task.folder / f"output-{number}.txt").open("ab") as output:
                self._workers.append(
                    subprocess.Popen(
                        self._peer.command(self._task),
                        cwd=self._peer.place or self._task.folder,
                        env=dict(self._peer.environment()),
                        stdin=subprocess.DEVNULL,
                        stdout=output,
                        stderr=output,
                        start_new_session=True,
                    )
                )

    def alive(self) -> bool:
        """Does one run?"""
        return any(worker.poll() is None for worker in self._workers)

    def look(self) -> None:
        """Note processor time, and memory now and then."""
        pids = {pid for worker in self._workers for pid in tree(worker.pid)}
        with contextlib.suppress(OSError):
            pids |= {pid for pid in (self._redis.server_pid(),) if pid}
        for pid in pids:
            with contextlib.suppress(OSError):
                self._cpu_s[pid] = cpu_s(pid)
        self._looks += 1
        if self._looks % _MEMORY_EVERY == 1:
            self._result.peak_bytes = max(self._result.peak_bytes, sum(map(pss_bytes, pids)))
        self._result.cpu_s = sum(self._cpu_s.values())
        if not self._result.running.server.requests:
            self._result.started_cpu_s = self._result.cpu_s

    def watch(self, stop: Callable[[], bool]) -> None:
        """Until all have ended, or `stop` says so."""
        while self.alive() and not stop():
            self.look()
            time.sleep(_LOOK_S)

    def kill(self, how: signal.Signals, patience_s: float = 0.0) -> None:
        """End what still runs of the workers; afterwards nothing does."""
        for worker in self._workers:
            if worker.poll() is None:
                os.killpg(worker.pid, how)
        for worker in self._workers:
            with contextlib.suppress(subprocess.TimeoutExpired):
                worker.wait(patience_s or 5)
            if worker.poll() is None:
                os.killpg(worker.pid, signal.SIGKILL)
                worker.wait()

    def clean(self) -> bool:
        """Did all end with status 0?"""
        return all(worker.poll() == 0 for worker in self._workers)


@contextlib.contextmanager
def crawled(peer: Peer, order: Order, folder: Path) -> Iterator[Result]:
    """One crawl, over; its web is still served, so that it can be asked about."""
    with contextlib.ExitStack() as stack:
        running = stack.enter_context(serve(order.spec, folder / "web"))
        web, mine = running.web, folder / "crawler"
        mine.mkdir()
        seeds = tuple(site.authority + "/" for site in web.sites) if order.all_homes else web.seeds
        task = Task(web, mine, seeds, order.delay_s, concurrency=order.concurrency)
        redis_folder = mine / "crawl" / "state" / "redis"
        if peer.needs_redis:
            redis_folder = mine / "redis"
            task.redis_url = stack.enter_context(EmbeddedRedis(redis_folder)).url
        result = Result(running)
        crawl = Crawl(peer, task, result, redis_folder)
        peer.prepare(task)
        try:
            crawl.start()
            if order.kill_at:
                _kill_amid(crawl, peer, task, order, result)
            crawl.watch(_over(running, order))
            result.ended = crawl.clean()
        finally:
            crawl.kill(signal.SIGTERM, 15)
        result.log = sorted(running.logged(), key=lambda entry: entry.start_us)
        result.archive_bytes = peer.archived_bytes(task)
        yield result


def _kill_amid(crawl: Crawl, peer: Peer, task: Task, order: Order, result: Result) -> None:
    """A checkpoint at half of the requests before the kill, if it has such a thing; SIGKILL; a new start."""
    requests = result.running.server
    crawl.watch(lambda: requests.requests >= order.kill_at // 2)
    peer.checkpoint(task)
    crawl.watch(lambda: requests.requests >= order.kill_at)
    result.killed_us = time.monotonic_ns() // 1000
    crawl.kill(signal.SIGKILL)
    task.resumed = True
    crawl.start()


def _over(running: Running, order: Order) -> Callable[[], bool]:
    """Enough requests, time over, or no request for a while."""
    server = running.server
    begun = count = server.requests
    first = last = time.monotonic()

    def over() -> bool:
        nonlocal first, last, count
        now = time.monotonic()
        if server.requests != count:
            last, count = now, server.requests
        if count == begun:
            first = now
        patience_s = _START_S if count == begun else _IDLE_S
        return 0 < order.most <= count or now - first > order.most_s or now - last > patience_s

    return over
