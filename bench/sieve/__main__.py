"""``python -m bench.sieve rows|growth|growth-redis|latency|canonical``: what admitting URLs once costs, beside peers.

`rows` (each in a process of its own) is a table, with --json one JSON line a row; the others are JSON lines."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from bench.ending import end_with
from bench.table import Columns, figure, show, times


def _rows(arguments: argparse.Namespace) -> None:
    from bench.sieve.rows import ROWS

    chosen = [name for name in ROWS if not arguments.only or name in arguments.only]
    rows = []
    for name in chosen:
        command = [sys.executable, "-m", "bench.sieve", "row", "--only", name, "--urls", str(arguments.urls)]
        line = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        rows.append(json.loads(line))
        print(line if arguments.json else f"measured: {name}", end="" if arguments.json else "\n", flush=True)
    if not arguments.json:
        _table(rows)


def _table(rows: list[dict[str, Any]]) -> None:
    cpu_us = {row["row"]: row["client_us"] + row["server_us"] for row in rows}

    def beside(peer: str) -> Callable[[Mapping[str, Any]], str]:
        return lambda row: times(cpu_us.get(peer, 0.0), cpu_us[row["row"]])

    columns: Columns = {
        "way": "row",
        "URLs": "urls",
        "CPU us a URL": lambda row: figure(cpu_us[row["row"]]),
        "of it in Redis": "server_us",
        "scrapy-redis": beside("scrapy-redis"),
        "Scrapy": beside("Scrapy RFPDupeFilter"),
        "call, ms (99 %)": "call_p99_ms",
        "bytes a URL in Redis": "redis_bytes",
        "on disk": "disk_bytes",
        "lost, twice": lambda row: f"{row['lost']}, {row['doubled']}",
    }
    show("Admitting every URL once (scrapy-redis, Scrapy: times the CPU of this way)", columns, rows)


def _row(arguments: argparse.Namespace) -> None:
    from bench.sieve.measure import measure

    print(json.dumps(measure(arguments.only[0], int(arguments.urls))), flush=True)


def _growth(arguments: argparse.Namespace) -> None:
    from bench.sieve.growth import grown, grown_in_redis

    measured = grown if arguments.what == "growth" else grown_in_redis
    for size in arguments.sizes:
        print(json.dumps(measured(int(size), int(arguments.urls), Path(arguments.scratch))), flush=True)


def _latency(arguments: argparse.Namespace) -> None:
    from bench.sieve.latency import latency

    print(json.dumps(latency(int(arguments.urls))), flush=True)


def _canonical(_: argparse.Namespace) -> None:
    from bench.sieve.canonical import compare

    print(json.dumps(compare()), flush=True)


_MEASUREMENTS = {
    "rows": _rows,
    "row": _row,
    "growth": _growth,
    "growth-redis": _growth,
    "latency": _latency,
    "canonical": _canonical,
}


def main() -> None:
    """Run one measurement."""
    parser = argparse.ArgumentParser(prog="python -m bench.sieve", description=__doc__)
    parser.add_argument("what", nargs="?", default="rows", choices=list(_MEASUREMENTS), help="default: rows")
    parser.add_argument("--urls", type=float, default=1e6)
    parser.add_argument("--only", action="append")
    parser.add_argument("--sizes", type=float, nargs="*", default=[1e6, 3e6, 1e7, 3e7, 1e8])
    parser.add_argument("--scratch", default="/tmp")
    parser.add_argument("--json", action="store_true", help="rows as JSON lines")
    arguments = parser.parse_args()
    _MEASUREMENTS[arguments.what](arguments)


if __name__ == "__main__":
    end_with(main)
