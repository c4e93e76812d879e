"""What the frontier costs, and what scrapy-redis does with the same URLs: ``python -m bench.frontier [--hosts 1000
1000000]``.

One private Redis at a time, on a Unix socket, without AOF writes (both sides alike). Reported:

* cost: Redis CPU (INFO cpu, less that of the INFO calls) of lease + report a URL at steady state, for each number of
  hosts: those visited are bound and their robots.txt known (20,000 of them when there are more hosts; the others wait
  in line behind them, as most hosts of a large crawl do); batches of --batch leases; grants a second seen by the client
  and permitted by Redis' CPU; first_visit: lease, bind and report of a host's robots.txt;
* memory: used_memory a waiting URL above the URL's length (hosts' records and all; and by scrapy-redis' queue plus
  dupefilter);
* violations: processes that share one queue and one delay, gaps between starts on one host as the workers see them,
  in the way of Scrapy (a delay inside each process) over scrapy-redis' queue, and in ours.

Figures are ratios between runs on one machine, not promises. A calibration loop (a fixed piece of Lua) is timed
beside each cost, so that runs on a busy machine can be told from slow code."""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import tempfile
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import redis

from bench.ending import end_with
from bench.table import Columns, figure, show, times
from crawler.state.embedded_redis import EmbeddedRedis
from frontier import Candidate, FrontierConfig, Kind, Lease, Outcome, RobotsRecord
from frontier.redis_frontier import RedisFrontier

SEEN_PUSH_POP = "redis_cpu_us_a_url_seen_push_pop"
KNOWN = 20_000
"""Hosts that are visited, at most."""
ROBOTS = RobotsRecord("rules", b"User-agent: *\nDisallow: /private/\n")
CALIBRATION = """
local s = cmsgpack.pack({a=1, b=2, c=3, d=4, e=5, f=6, g=7, h=8, i=9, j=10})
for i = 1, 1000 do local x = cmsgpack.unpack(s); local y = 'k' .. i; redis.call('GET', 'k'); local z = {i, i, i} end
"""


@dataclass
class Bench:
    """A private server and a frontier on it."""

    client: Any
    frontier: RedisFrontier


def server_cpu_s(client: Any) -> float:
    """CPU seconds of the server so far."""
    info = client.info("cpu")
    return float(info["used_cpu_user"]) + float(info["used_cpu_sys"])


def used_bytes(client: Any) -> int:
    """Memory of the server's data."""
    return int(client.info("memory")["used_memory"])


def url_of(host: int, number: int) -> str:
    """Like URLs of news sites: some 60 characters."""
    return f"https://www.host{host}.example/news/2024/some-title-of-it-{number}.html"


def scores(rng: random.Random, host: int, hosts: int) -> Iterator[float]:
    """Those of a host's URLs: in all bands; if not all hosts are visited, of those that are in the best one."""
    while True:
        if hosts <= KNOWN:
            yield rng.random()
        else:
            yield 0.9 + 0.1 * rng.random() if host < KNOWN else 0.8 * rng.random()


def fill(bench: Bench, hosts: int, pages: int) -> dict[str, float]:
    """Take in `pages` URLs of each of `hosts`; bytes a URL above its length."""
    before, total, characters, started = used_bytes(bench.client), 0, 0, time.perf_counter()
    rng = random.Random(1)
    for first in range(0, hosts, 500):
        candidates = [
            Candidate(url_of(host, n), source=f"https://www.host{host}.example/", depth=3, score=score)
            for host in range(first, min(hosts, first + 500))
            for n, score in zip(range(pages), scores(rng, host, hosts), strict=False)
        ]
        total += bench.frontier.take_in(candidates)
        characters += sum(len(candidate.url) for candidate in candidates)
    seconds = time.perf_counter() - started
    used = used_bytes(bench.client) - before
    return {
        "urls": total,
        "bytes_a_url": round(used / total, 1),
        "bytes_a_url_above_length": round((used - characters) / total, 1),
        "client_us_a_url": round(seconds / total * 1e6, 1),
    }


def address_of(lease: Lease) -> str:
    """An address for each host."""
    number = int("".join(filter(str.isdigit, lease.authority)))
    return f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"


def outcomes(leases: tuple[Lease, ...]) -> list[Outcome]:
    """What a worker that fetched them would say."""
    return [
        Outcome(
            lease.token,
            "ok",
            fetch_ms=50,
            fetched_bytes=14_000,
            words=200,
            robots=ROBOTS if lease.kind is Kind.ROBOTS else None,
            page_mark=f"{zlib.crc32(lease.url.encode()):08x}".encode() if lease.kind is Kind.PAGE else b"",
        )
        for lease in leases
    ]


def warm_up(bench: Bench, hosts: int) -> dict[str, float]:
    """Bind and fetch the robots.txt of `hosts` authorities; all others get their places in line."""
    done, started = 0, server_cpu_s(bench.client)
    while done < hosts:
        leases = bench.frontier.lease(500).leases
        for lease in leases:
            if not lease.address:
                bench.frontier.bind(lease.token, address_of(lease))
        bench.frontier.report(outcomes(leases))
        done += sum(lease.kind is Kind.ROBOTS for lease in leases)
        if not leases:
            break
    spent = server_cpu_s(bench.client) - started
    while bench.client.llen(bench.frontier.keys.new):
        bench.frontier.lease(0)
    return {"redis_cpu_us_a_first_visit": round(spent / max(1, done) * 1e6, 1)}


def cost(bench: Bench, grants: int, batch: int) -> dict[str, float]:
    """CPU of Redis a lease + report."""
    spent = wall = calibration = info = 0.0
    done = rounds = 0
    while done < grants:
        rounds += 1
        t0 = server_cpu_s(bench.client)
        t1 = server_cpu_s(bench.client)
        started = time.perf_counter()
        count = 0
        for _ in range(20):
            leases = bench.frontier.lease(batch).leases
            if leases:
                bench.frontier.report(outcomes(leases))
            count += len(leases)
        wall += time.perf_counter() - started
        t2 = server_cpu_s(bench.client)
        bench.client.eval(CALIBRATION, 0)
        t3 = server_cpu_s(bench.client)
        spent, calibration, info = spent + t2 - t1, calibration + t3 - t2, info + t1 - t0
        done += count
        if not count:
            break
    return {
        "grants": done,
        "redis_cpu_us_a_grant": round((spent - info) / done * 1e6, 1),
        "calibration_us_a_round": round((calibration - info) / rounds / 1000 * 1e6, 2),
        "grants_a_s_by_redis_cpu": round(done / (spent - info)),
        "grants_a_s_seen_by_one_client": round(done / wall),
    }


def costs(hosts: int, pages: int, grants: int, batch: int) -> dict[str, Any]:
    """Memory and cost at a number of hosts."""
    # a delay of a few ms: authorities come due all the time, as in a crawl, and are not all due at once
    config = FrontierConfig(delay_ms=20, address_delay_ms=10, delay_factor=0.0)
    with tempfile.TemporaryDirectory() as folder, EmbeddedRedis(folder) as server:
        client = redis.Redis.from_url(server.url)
        client.config_set("appendonly", "no")
        bench = Bench(client, RedisFrontier(client, "bench", config))
        found: dict[str, Any] = {"hosts": hosts, "pages_a_host": pages, "batch": batch}
        found |= fill(bench, hosts, pages)
        found |= warm_up(bench, min(hosts, KNOWN))
        found |= cost(bench, grants, batch)
        client.close()
    return found


# -- scrapy-redis ------------------------------------------------------------------------------------------------------


def scrapy_redis_memory(urls: int) -> dict[str, float]:
    """Bytes a waiting URL in scrapy-redis: its queue and its dupefilter, filled in its own formats."""
    from scrapy import Request, Spider
    from scrapy_redis.dupefilter import RFPDupeFilter
    from scrapy_redis.queue import PriorityQueue

    with tempfile.TemporaryDirectory() as folder, EmbeddedRedis(folder) as server:
        client = redis.Redis.from_url(server.url)
        client.config_set("appendonly", "no")
        queue = PriorityQueue(client, Spider("bench"), "%(spider)s:requests")
        seen = RFPDupeFilter(client, "bench:dupefilter")
        before, characters, started = used_bytes(client), 0, server_cpu_s(client)
        for number in range(urls):
            request = Request(url_of(number % 1000, number // 1000))
            characters += len(request.url)
            if not seen.request_seen(request):
                queue.push(request)
        used = used_bytes(client) - before
        pops = min(urls, 5000)
        for _ in range(pops):
            queue.pop()
        spent = server_cpu_s(client) - started
        client.close()
    return {
        "urls": urls,
        "bytes_a_url": round(used / urls, 1),
        "bytes_a_url_above_length": round((used - characters) / urls, 1),
        SEEN_PUSH_POP: round(spent / urls * 1e6, 1),
    }


def _scrapy_way(url: str, start: float, seconds: float, delay_s: float, log: Any) -> None:
    """A worker with a delay of its own over a shared scrapy-redis queue."""
    from scrapy import Spider
    from scrapy_redis.queue import PriorityQueue

    client = redis.Redis.from_url(url)
    queue = PriorityQueue(client, Spider("bench"), "%(spider)s:requests")
    slots: dict[str, list[str]] = {}
    next_s: dict[str, float] = {}
    while (now := time.time()) < start + seconds:
        if sum(map(len, slots.values())) < 16 and (request := queue.pop()):
            slots.setdefault(request.url.split("/")[2], []).append(request.url)
        for host in [host for host, waiting in slots.items() if waiting and next_s.get(host, 0.0) <= now]:
            slots[host].pop()
            log.put((host, time.time()))
            next_s[host] = time.time() + delay_s
        time.sleep(0.001)


def _our_way(url: str, start: float, seconds: float, config: FrontierConfig, log: Any) -> None:
    frontier = RedisFrontier(url, "bench", config)
    while time.time() < start + seconds:
        grant = frontier.lease(16)
        for lease in grant.leases:
            log.put((lease.authority, time.time()))
        if grant.leases:
            frontier.report([Outcome(lease.token, "ok") for lease in grant.leases])
        time.sleep(0.001)
    frontier.close()


def _gaps(rows: Iterator[tuple[str, float]], delay_s: float) -> dict[str, float]:
    last: dict[str, float] = {}
    gaps = short = requests = 0
    for host, moment in sorted(rows, key=lambda row: row[1]):
        requests += 1
        if host in last:
            gaps += 1
            short += moment - last[host] < delay_s - 0.001
        last[host] = moment
    return {"requests": requests, "gaps": gaps, "too_short": short, "share_too_short": round(short / max(1, gaps), 3)}


def violations(workers: int, hosts: int, seconds: float, delay_s: float) -> dict[str, Any]:
    """Both ways with the same queue contents."""
    from scrapy import Request, Spider
    from scrapy_redis.queue import PriorityQueue

    urls = [url_of(host, n) for n in range(int(seconds / delay_s * workers) + 5) for host in range(hosts)]
    config = FrontierConfig(obey_robots=False, delay_ms=int(delay_s * 1000), address_delay_ms=0)
    found: dict[str, Any] = {"workers": workers, "hosts": hosts, "delay_s": delay_s}
    for name in ("scrapy-redis", "ours"):
        with tempfile.TemporaryDirectory() as folder, EmbeddedRedis(folder) as server:
            client = redis.Redis.from_url(server.url)
            log: Any = multiprocessing.Manager().Queue()
            start = time.time() + 1
            if name == "ours":
                RedisFrontier(client, "bench", config).take_in([Candidate(url) for url in urls])
                call: tuple[Any, tuple[Any, ...]] = (_our_way, (server.url, start, seconds, config, log))
            else:
                queue = PriorityQueue(client, Spider("bench"), "%(spider)s:requests")
                for url in urls:
                    queue.push(Request(url))
                call = (_scrapy_way, (server.url, start, seconds, delay_s, log))
            processes = [multiprocessing.Process(target=call[0], args=call[1]) for _ in range(workers)]
            for process in processes:
                process.start()
            for process in processes:
                process.join()
            rows = [log.get() for _ in range(log.qsize())]
            found[name] = _gaps(iter(rows), delay_s)
            permitted = hosts * (seconds / delay_s)
            found[name]["share_of_permitted_used"] = round(len(rows) / permitted, 2)
            client.close()
    return found


def tables(rows: list[dict[str, Any]]) -> None:
    """The rows for people."""
    of = {bench: [row for row in rows if row["bench"] == bench] for bench in ("cost", "scrapy-redis", "violations")}
    peer = of["scrapy-redis"][0] if of["scrapy-redis"] else {}
    show(
        "Leasing and reporting a page, and what a waiting URL takes",
        {
            "hosts": lambda row: figure(row.get("hosts")) or "scrapy-redis",
            "URLs": "urls",
            "bytes a URL": "bytes_a_url",
            "scrapy-redis'": lambda row: times(peer.get("bytes_a_url", 0.0), row["bytes_a_url"]),
            "Redis us a page": lambda row: figure(row.get("redis_cpu_us_a_grant", row.get(SEEN_PUSH_POP))),
            "calibration us": "calibration_us_a_round",
            "us a first visit": "redis_cpu_us_a_first_visit",
            "pages a second": "grants_a_s_by_redis_cpu",
            "by one client": "grants_a_s_seen_by_one_client",
        },
        [*of["cost"], *of["scrapy-redis"]],
    )
    ways = [
        {"way": f"{name}, {row['workers']} workers", **row[name]}
        for row in of["violations"]
        for name in ("scrapy-redis", "ours")
    ]
    share: Columns = {
        "way": "way",
        "requests": "requests",
        "gaps": "gaps",
        "too short": lambda row: str(row["too_short"]),
        "of what the delay permits": lambda row: f"{row['share_of_permitted_used']:.0%}",
    }
    if ways:
        show("Gaps between requests to a host", share, ways)


def main() -> None:
    """Run all and print tables or JSON lines."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.frontier", description="Cost and politeness of the frontier beside scrapy-redis"
    )
    parser.add_argument("--hosts", type=int, nargs="*", default=[1000, 100_000])
    parser.add_argument("--pages", type=int, default=100, help="URLs a host (2 from 100,000 hosts on)")
    parser.add_argument("--grants", type=int, default=20_000)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--workers", type=int, nargs="*", default=[2, 4])
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--json", action="store_true", help="JSON lines")
    arguments = parser.parse_args()
    rows: list[dict[str, Any]] = []

    def add(bench: str, row: dict[str, Any]) -> None:
        rows.append({"bench": bench, **row})
        print(json.dumps(rows[-1]) if arguments.json else f"measured: {bench}", flush=True)

    for hosts in arguments.hosts:
        pages = arguments.pages if hosts < 100_000 else 2
        add("cost", costs(hosts, pages, arguments.grants, arguments.batch))
    if arguments.workers:
        add("scrapy-redis", scrapy_redis_memory(20_000))
    for workers in arguments.workers:
        add("violations", violations(workers, 40, arguments.seconds, 1.0))
    if not arguments.json:
        tables(rows)


if __name__ == "__main__":
    end_with(main)
