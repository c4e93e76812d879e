"""Ulwembu beside whole crawlers on the same synthetic web: ``python -m bench.crawlers``.

Tasks: `polite` (a web with crooked robots.txt, Crawl-delay, 429 and 503 with Retry-After, traps and redirects), `focus`
and `choice` (relevant pages within 300 fetches, and fetches for 95 % of them, of few hosts and of many), `kill` (killed
in the middle and started anew), `fast` (many hosts and no delay). Scrapy and scrapy-redis come from pip; Heritrix,
BUbiNG and StormCrawler run when HERITRIX_HOME, BUBING_HOME and STORMCRAWLER_HOME name where they are.
docs/comparison.md says how each is got and configured, and what came out.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import signal
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from bench.crawlers import judge
from bench.crawlers.bubing import Bubing
from bench.crawlers.heritrix import Heritrix
from bench.crawlers.judge import Figures
from bench.crawlers.peer import Peer
from bench.crawlers.run import Order, Result, crawled
from bench.crawlers.scrapy_peers import PlainScrapy, ScrapyRedis
from bench.crawlers.stormcrawler import StormCrawler
from bench.crawlers.ulwembu import Ulwembu
from bench.ending import end_with
from bench.table import Columns, Row, show
from tests.web.spec import Rates, WebSpec, calm

PEERS: dict[str, Callable[[], Peer]] = {
    "ulwembu": Ulwembu,
    "ulwembu2": lambda: Ulwembu(2),
    "scrapy": PlainScrapy,
    "scrapy-redis": ScrapyRedis,
    "scrapy-redis2": lambda: ScrapyRedis(2),
    "heritrix": Heritrix,
    "bubing": Bubing,
    "stormcrawler": StormCrawler,
}
TASKS = ("polite", "focus", "choice", "kill", "fast")
# No host asks for a user agent by name, and none hangs; nothing leads out of this web.
ROBOTS = (
    "normal", "delay", "shapes", "down503", "redirect", "delay_fraction", "missing", "flaky503", "error500", "bom",
    "deny", "huge", "cut", "redirect_host", "crlf",
)  # fmt: skip
RATES = Rates(flaky=0.06, slow=0.02, dead=0.06, bad=0.0, trap=0.04, foreign=0.0)


def order_of(task: str, *, short: bool) -> Order:
    """The webs and how long they are crawled."""
    match task:
        case "polite":
            spec = WebSpec(hosts=16, pages=96 if short else 300, robots=ROBOTS, rates=RATES, retry_after_s=2)
            return Order(spec.replace(feeds=()), 0.3 if short else 0.5, most_s=6 if short else 75)
        case "focus":
            spec = calm(WebSpec(seed=3, hosts=24, pages=2000, structure="gateways", seed_hosts=2, feeds=()))
            return Order(spec, 0.05, most=150 if short else 0, most_s=150)
        case "choice":
            spec = calm(WebSpec(seed=3, hosts=120, pages=3600, structure="gateways", seed_hosts=2, feeds=()))
            return Order(spec, 0.2, most=200 if short else 0, most_s=150)
        case "kill":
            pages = 80 if short else 360
            spec = calm(WebSpec(seed=2, hosts=12, pages=pages, feeds=()))
            return Order(spec, 0.2 if short else 1.0, kill_at=pages // 2, most_s=120)
        case _:
            pages = 800 if short else 4000
            spec = calm(WebSpec(hosts=100, pages=pages, target_share=1.0, structure="clustered", feeds=()))
            return Order(
                spec.replace(page_bytes=8000, max_links=30), all_homes=True, concurrency=64, most_s=4 if short else 100
            )


def measure(peer: Peer, task: str, *, short: bool) -> Figures:
    """One crawl and its figures."""
    order = order_of(task, short=short)
    budget = 100 if short else 300
    judges: dict[str, Callable[[Result], Figures]] = {
        "polite": lambda result: judge.politeness(result, order.delay_s),
        "focus": lambda result: judge.focus(result, budget),
        "choice": lambda result: judge.focus(result, budget),
        "kill": judge.recovery,
        "fast": judge.throughput,
    }
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        crawled(peer, order, Path(folder)) as result,
    ):
        found = judges[task](result)
    return {"crawler": peer.name, "version": peer.version(), "task": task, **found}


def _of(part: str, whole: str) -> Callable[[Row], str]:
    return lambda row: f"{row[part]:,} of {row[whole]:,}"


FOUND: Columns = {
    "crawler": "crawler",
    "relevant at first": "relevant",
    "fetches for 95 %": "for_95",
    "fetches": "fetches",
    "relevant in the web": "relevant_in_web",
}
SHOWN: dict[str, tuple[str, Columns]] = {
    "polite": (
        "Politeness, by the web's own log",
        {
            "crawler": "crawler",
            "requests": "requests",
            "pages found": _of("pages", "demanded"),
            "for 95 %": "requests_for_95",
            "fetched twice": lambda row: str(row["twice"]),
            "in traps": lambda row: str(row["trap_requests"]),
            "forbidden": lambda row: str(row["forbidden"]),
            "robots unread": lambda row: str(row["robots_unreachable"] + row["robots_unasked"]),
            "Retry-After": lambda row: str(row["retry_after"]),
            "short gaps": _of("short_start_to_start", "gaps"),
            "from end to start": lambda row: str(row["short_end_to_start"]),
            "below Crawl-delay": _of("short_crawl_delay", "crawl_delay_gaps"),
            "seconds": "seconds",
        },
    ),
    "focus": ("Relevant pages among the first 300 fetches, and fetches for 95 % of them, 24 hosts", FOUND),
    "choice": ("The same, 120 hosts", FOUND),
    "kill": (
        "Killed (SIGKILL) in the middle and started again",
        {
            "crawler": "crawler",
            "before the kill": "before_kill",
            "pages found": _of("pages", "demanded"),
            "lost": lambda row: str(row["lost"]),
            "fetched again": lambda row: str(row["again"]),
        },
    ),
    "fast": (
        "No delay, 100 hosts",
        {
            "crawler": "crawler",
            "pages": "pages",
            "pages a second": "pages_a_s",
            "CPU ms a page": "cpu_ms_a_page",
            "to start, CPU s": "start_cpu_s",
            "peak MiB": "peak_mib",
            "archive, bytes": "archive_bytes",
            "archive by bytes sent": lambda row: f"{row['archive_share']:.1%}" if row["archive_share"] else "",
        },
    ),
}


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.crawlers", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--peer", action="append", choices=PEERS, help="this crawler (repeatable; all that there are)")
    parser.add_argument("--task", action="append", choices=TASKS, help="this task (repeatable; all)")
    parser.add_argument("--short", action="store_true", help="small webs, and several crawls at a time but in `fast`")
    parser.add_argument("--json", action="store_true", help="JSON lines")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that no crawler is left running
    peers: list[Peer] = []
    for name in options.peer or PEERS:
        peer = PEERS[name]()
        if reason := peer.missing():
            print(f"{peer.name}: left out, {reason}", file=sys.stderr, flush=True)
        elif options.peer or not options.short or peer.workers == 1:
            peers.append(peer)
    for task in options.task or (("polite", "fast") if options.short else TASKS):
        rows = []
        with contextlib.ExitStack() as stack:
            several = (
                stack.enter_context(ThreadPoolExecutor(len(peers))).map if options.short and task != "fast" else map
            )
            for row in several(partial(measure, task=task, short=options.short), peers):
                rows.append(row)
                print(json.dumps(row) if options.json else f"measured: {task}, {row['crawler']}", flush=True)
        if not options.json:
            show(*SHOWN[task], rows)
    return 0


if __name__ == "__main__":
    end_with(main)
