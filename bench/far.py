"""A worker whose Redis is far: the same crawl with 0, 20, 50 and 100 ms to Redis and back, and what it asks Redis for.

`python -m bench.far` puts a line between worker and Redis (`redis_line`) that holds back what is sent, half of the time
each way, and counts round trips. Two webs: `polite`, 40 hosts with a delay of half a second, which a worker can ask 80
times a second at most; `fast`, 100 hosts without delay. Figures are taken from the fifth second after the first request
on, so that the start is left out.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from bench.crawlers.peer import Task
from bench.crawlers.run import Order, crawled
from bench.crawlers.ulwembu import Ulwembu
from bench.ending import end_with
from bench.redis_line import RedisLine
from bench.table import Columns, Row, show
from tests.web.spec import WebSpec, calm

_START_S = 5.0
_DELAY_S = 0.5
FAST = calm(WebSpec(hosts=100, pages=4000, target_share=1.0, structure="clustered", feeds=()))
POLITE = calm(WebSpec(hosts=40, pages=4000, target_share=1.0, structure="clustered", feeds=()))
WEBS = {
    "polite": (POLITE.replace(page_bytes=8000, max_links=30), _DELAY_S),
    "fast": (FAST.replace(page_bytes=8000, max_links=30), 0.0),
}


class FarUlwembu(Ulwembu):
    """A worker that reaches its Redis over `line`."""

    needs_redis = True

    def __init__(self, line: RedisLine) -> None:
        super().__init__()
        self._line = line

    def prepare(self, task: Task) -> None:
        """The seed file, and the line to the crawl's Redis."""
        super().prepare(task)
        self._line.lead_to(task.redis_url)

    def command(self, task: Task) -> list[str]:
        """As ever, but for the Redis; leases long enough for the farthest."""
        return [*super().command(task), "-s", f"REDIS_URL={self._line.url}", "-s", "FRONTIER_LEASE_S=60"]


def measure(web: str, away_ms: float, most_s: float) -> dict[str, object]:
    """One crawl."""
    spec, delay_s = WEBS[web]
    order = Order(spec, delay_s, all_homes=True, most_s=most_s + _START_S)
    with (
        RedisLine(away_ms / 1000) as line,
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        crawled(FarUlwembu(line), order, Path(folder)) as result,
    ):
        first_us = min(entry.start_us for entry in result.log)
        begin_us, end_us = first_us + _START_S * 1e6, first_us + (_START_S + most_s) * 1e6
        requests = sum(begin_us <= entry.start_us < end_us for entry in result.log)
        trips = line.trips_between(begin_us / 1e6, end_us / 1e6)
        cpu_ms = 1000 * (result.cpu_s - result.started_cpu_s) / len(result.log)
    return {
        "web": web,
        "away_ms": away_ms,
        "requests_a_s": round(requests / most_s, 1),
        "cpu_ms_a_request": round(cpu_ms, 1),
        "trips_a_request": round(sum(trips.values()) / max(1, requests), 2),
        "trips": {name: round(number / max(1, requests), 3) for name, number in trips.most_common()},
    }


COLUMNS: Columns = {
    "web": "web",
    "to Redis and back, ms": lambda row: f"{row['away_ms']:g}",
    "requests a second": "requests_a_s",
    "round trips a request": "trips_a_request",
    "CPU ms a request": "cpu_ms_a_request",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.far", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--web", action="append", choices=WEBS, help="this web (repeatable; both)")
    parser.add_argument("--away-ms", type=float, nargs="*", default=[0, 20, 50, 100], help="(0 20 50 100)")
    parser.add_argument("--seconds", type=float, default=20.0, help="of each crawl that count (20)")
    parser.add_argument("--json", action="store_true", help="JSON lines, with the round trips by kind")
    options = parser.parse_args(arguments)
    rows: list[Row] = []
    for web in options.web or WEBS:
        for away_ms in options.away_ms:
            rows.append(row := measure(web, away_ms, options.seconds))
            print(json.dumps(row) if options.json else f"measured: {web}, {away_ms:g} ms", flush=True)
            time.sleep(0.2)
    if not options.json:
        show("One worker, its Redis far away", COLUMNS, rows)
    return 0


if __name__ == "__main__":
    end_with(main)
