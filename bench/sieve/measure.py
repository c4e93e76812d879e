"""Measuring one row in this process: CPU of both sides, pauses, memory, disk, what was lost or doubled."""

from __future__ import annotations

import resource
import shutil
import time
from typing import Any

import numpy as np

from bench.process import cpu_s
from bench.sieve.rows import ROWS, Row, Server
from bench.sieve.stream import number_of, stream


class Tally:
    """Counts what comes out by number."""

    def __init__(self, most: int) -> None:
        self._counts = np.zeros(most, np.uint8)

    def add(self, urls: list[Any]) -> None:
        if urls:
            np.add.at(self._counts, list(map(number_of, urls)), 1)

    def lost_and_doubled(self, distinct: int) -> tuple[int, int]:
        counts = self._counts[:distinct]
        return int((counts == 0).sum()), int((counts > 1).sum())


def server_cpu_s(row: Row) -> float:
    """CPU seconds of the row's server and of its children, which rewrite its log, so far."""
    return 0.0 if row.server is None else cpu_s(row.server.server_pid(), children=True)


def server_bytes(row: Row) -> int:
    """Memory of the row's server."""
    return int(row.client.info("memory")["used_memory"]) if isinstance(row, Server) else 0


def disk_bytes(row: Row) -> int:
    """Bytes of the row's files, without the server's."""
    files = (path for path in row.folder.rglob("*") if path.is_file() and "redis" not in path.parts[-2:-1])
    return sum(path.stat().st_blocks * 512 for path in files)


def measure(name: str, urls: int) -> dict[str, Any]:
    """Run one row over the stream. `*_us` are CPU microseconds a URL put in, `*_bytes` are a distinct URL."""
    row = ROWS[name]()
    urls = min(urls, row.most)
    tally = Tally(urls)
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    at_server, kept = server_cpu_s(row), server_bytes(row)
    cpu = wall = 0.0
    pauses: list[float] = []
    largest = 0
    for batch in stream(urls):
        largest = max(largest, *map(number_of, batch))
        start, start_cpu = time.perf_counter(), time.process_time()
        out = row.take(batch)
        cpu += time.process_time() - start_cpu
        pauses.append(time.perf_counter() - start)
        tally.add([*out, *row.taken()])
    start, start_cpu = time.perf_counter(), time.process_time()
    out = row.end()
    cpu += time.process_time() - start_cpu
    wall = sum(pauses) + time.perf_counter() - start
    used = server_cpu_s(row) - at_server
    tally.add([*out, *row.rest()])
    distinct = largest + 1
    redis_bytes = (server_bytes(row) - kept) / distinct
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - resident
    row.close()
    lost, doubled = tally.lost_and_doubled(distinct)
    result = {
        "row": name,
        "urls": urls,
        "client_us": cpu / urls * 1e6,
        "server_us": used / urls * 1e6,
        "urls_a_second": urls / wall,
        "call_p50_ms": float(np.percentile(pauses, 50)) * 1e3,
        "call_p99_ms": float(np.percentile(pauses, 99)) * 1e3,
        "worst_ms": max(pauses) * 1e3,
        "memory_bytes": resident * 1024 / distinct,
        "redis_bytes": redis_bytes,
        "disk_bytes": disk_bytes(row) / distinct,
        "lost": lost,
        "doubled": doubled,
    }
    shutil.rmtree(row.folder, ignore_errors=True)
    return result
