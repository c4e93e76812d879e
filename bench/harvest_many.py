"""What one harvest worker costs with very many feeds: ``python -m bench.harvest_many [feeds]``.

Every feed is an authority of its own on loopback, served by one small server in this process: no robots.txt, and a JSON
Feed of 20 items that all feeds share, so that polling is measured and not fetching. Printed: the worker's CPU from the
first request until every feed was polled so many times, with the robots.txt requests that come before, and its peak
memory after each round.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from bench.ending import end_with
from bench.process import cpu_s
from tests.integration.crawler.harness import QUICK, ROOT, environment, scrapy

ITEMS = [{"id": str(n), "url": f"http://127.72.0.1:9/{n}", "date_published": "2026-01-01T00:00:00Z"} for n in range(20)]
FEED = json.dumps({"version": "https://jsonfeed.org/version/1.1", "title": "t", "items": ITEMS}).encode()
POLL_LIMIT_S = 500.0


class Server(threading.Thread):
    """Answers on every loopback address; counts the polls."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.polls = self.requests = self.port = 0
        self.ready = threading.Event()

    def run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._answer, "0.0.0.0", 0, backlog=1000)
        self.port = server.sockets[0].getsockname()[1]
        self.ready.set()
        await server.serve_forever()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n", 1)[0]:
                self.requests += 1
                if b"/feed" in line:
                    self.polls += 1
                    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/feed+json\r\nContent-Length: %d\r\n\r\n"
                    writer.write(head % len(FEED) + FEED)
                else:
                    writer.write(b"HTTP/1.1 404 None\r\nContent-Length: 0\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()


def addresses(count: int) -> list[str]:
    """So many loopback addresses."""
    return [f"127.{80 + n // 62_500}.{n // 250 % 250}.{n % 250 + 1}" for n in range(count)]


def peak_mib(pid: int) -> int:
    """The most memory a process has held."""
    return int(Path(f"/proc/{pid}/status").read_text().partition("VmHWM:")[2].split()[0]) // 1024


class NoFiguresError(Exception):
    """Why there are none; `str()` says it."""


def measure(count: int, rounds: int, folder: Path) -> dict[str, object]:
    """Run one worker until there were so many polls for each feed. NoFiguresError."""
    server = Server()
    server.start()
    server.ready.wait()
    urls = ",\n".join(f'"http://{address}:{server.port}/feed"' for address in addresses(count))
    seeds = folder / "many.toml"
    seeds.write_text(f'[crawl]\nname = "zulu"\nlanguage = "zul"\ncontact = "me@a.test"\n[[feed]]\nurl = [\n{urls}\n]\n')
    settings = {
        "DATA_DIR": str(folder / "data"), "LOG_FILE": str(folder / "log"), "HARVEST_SPREAD_S": "5",
        "HARVEST_MAX_POLL_S": "90",
        "FETCH_ALLOWED_NETWORKS": ",".join(f"127.{80 + n}.0.0/16" for n in range(20)),
    }  # fmt: skip
    command = scrapy("crawl", "harvest", "-a", f"seeds={seeds}", **(QUICK | settings))
    worker = subprocess.Popen(command, cwd=ROOT, env=environment())
    try:
        deadline = time.monotonic() + POLL_LIMIT_S
        _wait(worker, lambda: server.requests, 1, deadline)
        if not server.requests:
            raise NoFiguresError(f"no feed was asked for within {POLL_LIMIT_S:g} s")
        started, before = time.monotonic(), cpu_s(worker.pid)
        peaks = []
        for done in range(rounds):
            _wait(worker, lambda: server.polls, count * (done + 1), deadline)
            peaks.append(peak_mib(worker.pid))
        took_s, used_s = time.monotonic() - started, cpu_s(worker.pid) - before
    except NoFiguresError as error:
        log = folder / "log"
        last = log.read_text("utf-8", "replace").splitlines()[-10:] if log.exists() else []
        raise NoFiguresError("\n".join([str(error), *last])) from None
    finally:
        worker.terminate()
        worker.wait(30)
    return {
        "feeds": count,
        "polls": server.polls,
        "requests": server.requests,
        "seconds": round(took_s, 1),
        "worker_cpu_ms_a_request": round(used_s * 1000 / server.requests, 2),
        "worker_peak_mib": peaks,
    }


def _wait(worker: subprocess.Popen[bytes], count: Callable[[], int], least: int, deadline: float) -> None:
    """Until there are so many, or the deadline. NoFiguresError when the worker ends before."""
    while count() < least and time.monotonic() < deadline:
        if worker.poll() is not None:
            raise NoFiguresError(f"the worker ended with status {worker.returncode}")
        time.sleep(0.05)


def main() -> None:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(prog="python -m bench.harvest_many", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("feeds", nargs="?", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=2, help="polls of each feed")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        try:
            print(json.dumps(measure(options.feeds, options.rounds, Path(name)), indent=1))
        except NoFiguresError as error:
            raise SystemExit(f"bench.harvest_many: {error}") from None


if __name__ == "__main__":
    end_with(main)
