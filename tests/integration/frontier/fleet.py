"""A worker process for the tests: leases, binds, "fetches" by writing (authority, address, start, end) to a log,
reports.

Run as ``python -m tests.integration.frontier.fleet URL CRAWL LOG SECONDS``. Its log is opened for appending and each
line is one write, so lines of killed workers are whole. A fetch that was begun is logged at its start, so that a
worker killed in the middle of one leaves its trace."""

from __future__ import annotations

import os
import random
import sys
import time

from frontier import FrontierConfig, FrontierUnavailable, Kind, Lease, Outcome, RobotsRecord
from frontier.redis_frontier import RedisFrontier
from sieve.urls import host_of

CONFIG = FrontierConfig(delay_ms=200, address_delay_ms=100, lease_ms=1500, audit=True, delay_factor=1.0)
ADDRESSES = 10


def address_of(authority: str) -> str:
    """Hosts share addresses, four to one."""
    number = int("".join(filter(str.isdigit, host_of(authority))))
    return f"192.0.2.{number % ADDRESSES}"


def write(log: int, *fields: object) -> None:
    """One line, one write."""
    os.write(log, ("\t".join(map(str, fields)) + "\n").encode())


def visit(frontier: RedisFrontier, lease: Lease, offset_s: float, start_by: float, log: int) -> None:
    """Fetch, slowly enough that kills hit the middle. `offset_s`: Redis' clock less the monotonic one; `start_by`: the
    last moment to begin, by the latter."""
    due_ms = lease.due_ms
    if not lease.address:
        bound = frontier.bind(lease.token, address_of(lease.authority))
        if not bound.granted:
            return
        due_ms = bound.due_ms
    time.sleep(max(0.0, due_ms / 1000 - offset_s - time.monotonic()))
    # Before the look at the lease, so that a pause right after it does not log the start when somebody else holds it.
    moment_us = time.time_ns() // 1000
    started = time.monotonic()
    if started > start_by:
        return  # too late: somebody else may hold it now
    write(log, "start", lease.authority, address_of(lease.authority), moment_us, lease.url, lease.token)
    time.sleep(random.uniform(0.005, 0.03))
    # In this order, so that after a pause in between the log does not end the visit later than the report does.
    moment_us = time.time_ns() // 1000
    ended = time.monotonic()
    robots = RobotsRecord("allow") if lease.kind is Kind.ROBOTS else None
    fetch_ms = int((ended - started) * 1000) + 1
    ago_ms = int((time.monotonic() - ended) * 1000)
    answer = frontier.report([Outcome(lease.token, "ok", fetch_ms=fetch_ms, ended_ago_ms=ago_ms, robots=robots)])
    if answer == [True]:
        # else it was stopped for longer than its lease, and the server had answered long before it noticed
        write(log, "end", lease.authority, address_of(lease.authority), moment_us, lease.url, lease.token)


def main() -> None:
    """Work until the time is up or nothing is left."""
    url, crawl, path, seconds = sys.argv[1:]
    log = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    frontier = RedisFrontier(url, crawl, CONFIG)
    until = time.monotonic() + float(seconds)
    while time.monotonic() < until:
        try:
            before = time.monotonic()
            grant = frontier.lease(1, ahead_ms=50)
            # later than the true offset by at most the round trip: then we send too late, not too early
            offset_s = grant.now_ms / 1000 - before
            offset_s -= time.monotonic() - before
            for lease in grant.leases:
                # From when it was asked on, as crawler.work.held does it: too early after a pause, not too late.
                start_by = before + (lease.expires_ms - 500 - grant.now_ms) / 1000
                visit(frontier, lease, offset_s, start_by, log)
            if not grant.leases:
                time.sleep(0.01)
        except FrontierUnavailable:
            time.sleep(0.05)


if __name__ == "__main__":
    main()
