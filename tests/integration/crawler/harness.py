"""Runs the real ``scrapy crawl`` in processes of its own against a synthetic web."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar
from unittest.mock import patch

import pytest
from scrapy.cmdline import execute

from crawler.state.embedded_redis import EmbeddedRedis
from frontier.redis_frontier import RedisFrontier
from tests.web.requestlog import LogEntry
from tests.web.server import Running
from tests.web.verify import Expectations, Findings, verify
from tests.web.warcs import check_archive
from tests.web.web import CRAWL_FILE

ROOT = Path(__file__).parents[3]
DELAY_S = 0.05
QUICK = {
    "FETCH_ALLOWED_NETWORKS": "127.0.0.0/8",
    "FRONTIER_DELAY_S": str(DELAY_S),
    "FRONTIER_IP_DELAY_S": "0",
    "FRONTIER_DELAY_FACTOR": "0",
    "FRONTIER_LEASE_S": "90",
    "FRONTIER_IDLE_CLOSE_S": "1",
    "DOWNLOAD_TIMEOUT": "60",
}
# For a crawl that waits for the leases of killed workers; what times out on a machine that stalls is soon tried again.
FORGETFUL = {"FRONTIER_LEASE_S": "6", "DOWNLOAD_TIMEOUT": "3", "FRONTIER_RETRY_FACTOR": "0.00001"}


def scrapy(*words: str, **settings: str) -> list[str]:
    """The command line of ``scrapy`` with settings."""
    command = [sys.executable, "-m", "scrapy", *words]
    for name, value in settings.items():
        command += ["-s", f"{name}={value}"]
    return command


def environment() -> dict[str, str]:
    """Ours without what would change a crawl or a table. Scrapy itself leaves the name of its settings there."""
    changes = ("COLUMNS", "FORCE_COLOR", "REDIS_URL", "SCRAPY_PROJECT", "SCRAPY_SETTINGS_MODULE")
    return {name: value for name, value in os.environ.items() if name not in changes}


def run(*words: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run ``scrapy`` to its end in the project's folder."""
    return subprocess.run(
        scrapy(*words, **settings), cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=240
    )


@contextlib.contextmanager
def _own_signals() -> Iterator[None]:
    """Whatever a command makes of them, signals are as before when it has ended."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def run_here(*words: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """:func:`run` without a process of its own, which takes a second to import all: for commands without a reactor."""
    command = scrapy(*words, **settings)[2:]
    out, err = io.StringIO(), io.StringIO()
    with (
        _own_signals(),
        contextlib.chdir(ROOT),
        patch.dict(os.environ, environment(), clear=True),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        pytest.raises(SystemExit) as ended,
    ):
        execute(command)
    assert isinstance(ended.value.code, int)
    return subprocess.CompletedProcess(command, ended.value.code, out.getvalue(), err.getvalue())


@dataclass(slots=True)
class Crawl:
    """A crawl of a running web into `folder`, with any number of workers. `spider` is run, by the file `seeds`."""

    spider: ClassVar[str] = "zulu"
    seeds: ClassVar[str] = CRAWL_FILE
    running: Running
    folder: Path
    settings: dict[str, str] = field(default_factory=dict)
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self, patience_s: float = 0.0) -> subprocess.Popen[bytes]:
        """One more worker; `patience_s`: how long it waits for answers when it is told to stop (0: as ever)."""
        self.folder.mkdir(parents=True, exist_ok=True)
        settings = {**QUICK, "DATA_DIR": str(self.folder), **self.settings}
        settings["LOG_FILE"] = str(self.folder / f"worker-{len(self.workers) + 1}.log")
        command = scrapy("crawl", self.spider, "-a", f"seeds={self.running.folder / self.seeds}", **settings)
        if patience_s:
            patch = f"from crawler.work import worker; worker._GRACE_S = {patience_s}"
            command[1:3] = ["-c", f"{patch}; from scrapy.cmdline import execute; execute()"]
        worker = subprocess.Popen(command, cwd=ROOT, env=environment())
        self.workers.append(worker)
        return worker

    def await_joined(self) -> None:
        """Return when all workers have opened their stores; for crawls whose workers all live."""
        wait_for(lambda: len(list((self.folder / "warc").glob("*.journal"))) == len(self.workers))

    def wait(self, timeout_s: float = 240) -> list[int]:
        """The exit statuses of all workers; kills what is left on time-out."""
        deadline = time.monotonic() + timeout_s
        try:
            return [worker.wait(max(0.1, deadline - time.monotonic())) for worker in self.workers]
        finally:
            self.kill()

    def kill(self) -> None:
        """Kill the workers that still run."""
        for worker in self.workers:
            if worker.poll() is None:
                worker.kill()
                worker.wait()

    def logs(self) -> str:
        """What the workers logged."""
        return "\n".join(path.read_text(errors="replace") for path in sorted(self.folder.glob("worker-*.log")))

    def requests(self) -> list[LogEntry]:
        """What the web saw so far."""
        return self.running.logged()

    def await_requests(self, count: int, timeout_s: float = 240) -> None:
        """Return when the web has seen `count` requests."""
        wait_for(lambda: self.running.server.requests >= count, timeout_s)

    def judge(self, refetches: int = 0) -> Findings:
        """The verifier's findings, archive included."""
        expected = Expectations(DELAY_S, 0.0, refetches=refetches)
        findings = verify(self.requests(), self.running.server.web, expected)
        check_archive(self.folder / "warc", findings, self.running.server.web)
        return findings


def results_of(server: EmbeddedRedis) -> dict[str, int]:
    """What came of the leases of crawl zulu so far."""
    frontier = RedisFrontier(server.url, "zulu")
    results = dict(frontier.status().results)
    frontier.close()
    return results


def wait_for(condition: Callable[[], bool], timeout_s: float = 240) -> None:
    """Return when `condition` holds; AssertionError when it does not in time."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)
