"""The fleet's politeness and diligence: real workers on forty hosts, some at one address, with delays of 0.2 to 1 s.

`python -m bench.fleet` crawls the same web with 1, 2, 4 and 8 workers undisturbed and prints how much of what the
delays permit was used; then once with workers killed and stopped (for longer than a lease) and Redis killed, at random.
By the web's own log: gaps below the delay, pages lost, pages fetched again; by the archive: pages kept twice.

`use`: of the time of all addresses that had work, the share that delays and answers took. `use_after_start`: the same
without the first five seconds, in which the workers start.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from pathlib import Path

from bench.ending import end_with
from bench.table import Columns, Row, show
from tests.integration.crawler.fleet import Disturber, delays, fleet, judge, spec, use

_START_S = 5.0


def measure(workers: int, pages: int, *, faults: bool = False, seed: int = 4) -> dict[str, object]:
    """One crawl."""
    with tempfile.TemporaryDirectory() as folder, fleet(spec(pages=pages), Path(folder)) as crawl:
        begun = time.monotonic()
        for _ in range(workers):
            crawl.start()
        disturber = Disturber(crawl, random.Random(seed))
        if faults:
            crawl.await_requests(60)
            disturber.run(until=round(0.9 * pages), pause_s=1.0)
        crawl.wait(120)
        took_s = time.monotonic() - begun
        findings, proof = judge(crawl, refetches=pages if faults else 0)
        log, delay_s = crawl.requests(), delays(crawl.running.server.web)
        whole, later = use(log, delay_s), use(log, delay_s, _START_S)
    return {
        "workers": workers,
        "seconds": round(took_s, 1),
        "requests": findings.requests,
        "gaps": proof.gaps,
        "gaps_too_short": len(proof.short),
        "pages_lost": len(findings.missing),
        "pages_fetched_again": len(findings.refetched) + len(findings.repeats),
        "repeats": len(findings.repeats),  # without a fault that excuses them
        "archive_faults": len(findings.archive),
        "use": round(whole.share, 4),
        "use_after_start": round(later.share, 4),
        "late_ms": round(later.late_ms, 1),
        "requests_a_s": round(whole.requests_a_s, 1),
        **({"kills": disturber.kills, "stops": disturber.stops, "redis_kills": disturber.restarts} if faults else {}),
    }


def name_of(row: Row) -> str:
    """Which fleet it was."""
    return f"{row['workers']} workers" + (", killed and stopped" if "kills" in row else "")


BROKEN = ("gaps_too_short", "pages_lost", "archive_faults", "repeats")
COLUMNS: Columns = {
    "fleet": name_of,
    "requests": "requests",
    "gaps": "gaps",
    "too short": lambda row: str(row["gaps_too_short"]),
    "pages lost": lambda row: str(row["pages_lost"]),
    "fetched again": lambda row: str(row["pages_fetched_again"]),
    "faults in the archive": lambda row: str(row["archive_faults"]),
    "use": lambda row: f"{row['use']:.1%}",
    "after the start": lambda row: f"{row['use_after_start']:.1%}",
    "late by ms": "late_ms",
    "requests a second": "requests_a_s",
}


def main() -> int:
    """Command line; 1 when a promise was broken."""
    parser = argparse.ArgumentParser(prog="python -m bench.fleet", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2, 4, 8], help="undisturbed fleets (1 2 4 8)")
    parser.add_argument("--pages", type=int, default=300)
    parser.add_argument("--faulty", type=int, default=4, help="workers of the fleet with faults (4); 0: none")
    parser.add_argument("--json", action="store_true", help="JSON lines")
    options = parser.parse_args()
    rows = []
    rounds = [(workers, False) for workers in options.workers]
    for workers, faults in [*rounds, *([(options.faulty, True)] if options.faulty else [])]:
        rows.append(measure(workers, options.pages, faults=faults))
        print(json.dumps(rows[-1]) if options.json else f"measured: {name_of(rows[-1])}", flush=True)
    if not options.json:
        show("Forty hosts, each busy while it has work", COLUMNS, rows)
    return int(any(row[name] for row in rows for name in BROKEN))


if __name__ == "__main__":
    end_with(main)
