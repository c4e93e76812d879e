"""``python -m bench.sieve rows|growth|growth-redis|latency|canonical``: one JSON line a result, each row a process."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path


def _rows(arguments: argparse.Namespace) -> None:
    from bench.sieve.rows import ROWS

    chosen = [name for name in ROWS if not arguments.only or name in arguments.only]
    for name in chosen:
        command = [sys.executable, "-m", "bench.sieve", "row", "--only", name, "--urls", str(arguments.urls)]
        subprocess.run(command, check=True)


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
    arguments = parser.parse_args()
    _MEASUREMENTS[arguments.what](arguments)


if __name__ == "__main__":
    main()
