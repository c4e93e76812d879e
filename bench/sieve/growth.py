"""Cost a URL as the store grows: a store is filled with the fingerprints of known URLs, then the stream goes on."""

from __future__ import annotations

import itertools
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from bench.sieve.measure import server_bytes, server_cpu_s
from bench.sieve.rows import OursRedis
from bench.sieve.stream import BATCH, stream, url
from sieve import open_sieve
from sieve.fingerprint import fingerprints
from sieve.fleet.holder import CHUNK_KEYS
from sieve.fleet.keys import RedisKeys
from sieve.kinds.mercator import MercatorConfig, MercatorSieve
from sieve.sets.jobs import Job
from sieve.sets.store import RunStore

_PIECE = 1 << 20


def known_fingerprints(count: int, folder: Path) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """Fingerprints of the first `count` URLs of the stream, in order; kept in `folder` for the next time."""
    path = folder / "sieve-bench-known.npy"
    if path.exists() and len(kept := np.load(path, mmap_mode="r")) >= count:
        return kept[:count]  # type: ignore[no-any-return]
    known = np.empty(count, np.uint64)
    for start in range(0, count, _PIECE):
        stop = min(start + _PIECE, count)
        known[start:stop] = fingerprints(list(map(url, range(start, stop))))
    np.save(path, known)
    return known


def fill(folder: Path, known: np.ndarray[Any, np.dtype[np.uint64]]) -> None:
    """Make a store with runs of 4/7, 2/7 and 1/7 of the keys, as merging leaves them."""
    folder.mkdir(parents=True)
    store = RunStore(folder, durable=False)
    store.commit([], {"seed": 0})
    cuts = [0, len(known) * 4 // 7, len(known) * 6 // 7, len(known)]
    for start, stop in itertools.pairwise(cuts):
        if stop > start:
            Job(store.write(np.unique(known[start:stop]), {})).finish()
    store.close()


def grown(size: int, urls: int, scratch: Path) -> dict[str, float]:
    """CPU microseconds a URL, worst pause, opening time, bytes on disk a URL at a store of `size`."""
    folder = Path(tempfile.mkdtemp(prefix="bench-", dir=scratch))
    fill(folder / "s", known_fingerprints(size, scratch))
    started = time.perf_counter()
    sieve = MercatorSieve(folder / "s", MercatorConfig(already_canonical=True, durable=False))
    opened = time.perf_counter() - started
    cpu, pauses, out, new = 0.0, [], 0, 0
    for batch in stream(urls, known=size):
        new = max(new, *(int(text.rpartition("-")[2]) for text in batch))
        start, start_cpu = time.perf_counter(), time.process_time()
        sieve.enqueue(batch)
        pauses.append(time.perf_counter() - start)
        out += len(sieve.drain())
        cpu += time.process_time() - start_cpu
    start_cpu = time.process_time()
    sieve.flush()
    out += len(sieve.drain())
    cpu += time.process_time() - start_cpu
    runs = len(sieve.store.runs)
    sieve.close()
    disk = sum(path.stat().st_size for path in (folder / "s").iterdir())
    shutil.rmtree(folder)
    return {
        "store": size,
        "cpu_us": cpu / urls * 1e6,
        "worst_ms": max(pauses) * 1e3,
        "p99_ms": float(np.percentile(pauses, 99)) * 1e3,
        "p50_ms": float(np.percentile(pauses, 50)) * 1e3,
        "open_s": opened,
        "runs": runs,
        "disk_bytes": disk / (new + 1),
        "lost_or_doubled": new + 1 - size - out,
        "batch": BATCH,
    }


def grown_in_redis(size: int, urls: int, scratch: Path) -> dict[str, float]:
    """The same through Redis with the store in it: CPU of both sides, time of a take-over, bytes in Redis a URL."""
    row = OursRedis()
    assert row.server is not None
    row.sieve.close()
    row.client.flushall()
    keys = RedisKeys("bench")
    row.client.hset(keys.state, mapping={"seed": 0})
    known = known_fingerprints(size, scratch)
    for start in range(0, size, CHUNK_KEYS):
        row.client.rpush(keys.runs, np.sort(known[start : start + CHUNK_KEYS]).tobytes())
    sieve = open_sieve(f"{row.server.url}&crawl=bench&canonical=yes")
    started = time.perf_counter()
    sieve.enqueue([url(0)])
    sieve.flush()
    opened = time.perf_counter() - started
    cpu, out, new = 0.0, 0, 0
    server = server_cpu_s(row)
    for number, batch in enumerate(stream(urls, known=size)):
        new = max(new, *(int(text.rpartition("-")[2]) for text in batch))
        start_cpu = time.process_time()
        sieve.enqueue(batch)
        if number % 32 == 31:
            sieve.flush()
        cpu += time.process_time() - start_cpu
        out += len(sieve.drain())
    sieve.flush()
    out += len(sieve.drain())
    server = server_cpu_s(row) - server
    sieve.close()
    redis_bytes = server_bytes(row) / (new + 1)
    row.close()
    shutil.rmtree(row.folder)
    return {
        "store": size,
        "client_us": cpu / urls * 1e6,
        "server_us": server / urls * 1e6,
        "take_over_s": opened,
        "redis_bytes": redis_bytes,
        "lost_or_doubled": new + 1 - size - out,
    }
