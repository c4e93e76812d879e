"""Time from enqueue in one process until a new URL is ready in Redis, at a steady rate, with a decider of its own."""

from __future__ import annotations

import multiprocessing
import struct
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from crawler.state.embedded_redis import EmbeddedRedis
from sieve import Entry, open_sieve
from sieve.fleet.decider import Decider
from sieve.fleet.redis_sieve import RedisSieve

_STAMP = struct.Struct("<d")


def _decide(spec: str, stop: Any) -> None:
    sieve = open_sieve(spec)
    assert isinstance(sieve, RedisSieve)
    decider = Decider(sieve)
    decider.start()
    stop.wait()
    decider.stop()
    sieve.close()


def _consume(spec: str, times: list[float], stop: threading.Event) -> None:
    sieve = open_sieve(spec)
    while not stop.is_set():
        for item in sieve.drain():
            assert isinstance(item, Entry)
            times.append(time.time() - _STAMP.unpack(item.payload)[0])
        time.sleep(0.002)
    sieve.close()


def latency(urls: int, batch: int = 500, pause_s: float = 0.02) -> dict[str, float]:
    """Percentiles in milliseconds."""
    with tempfile.TemporaryDirectory() as folder, EmbeddedRedis(Path(folder)) as server:
        spec = f"{server.url}&crawl=latency&canonical=yes"
        stop_decider = multiprocessing.get_context("spawn").Event()
        process = multiprocessing.get_context("spawn").Process(target=_decide, args=(spec, stop_decider))
        process.start()
        times: list[float] = []
        stop = threading.Event()
        consumer = threading.Thread(target=_consume, args=(spec, times, stop))
        consumer.start()
        sieve = open_sieve(spec)
        time.sleep(2)
        for start in range(0, urls, batch):
            stamp = _STAMP.pack(time.time())
            sieve.enqueue([Entry(f"https://example.org/{number}", stamp) for number in range(start, start + batch)])
            time.sleep(pause_s)
        deadline = time.time() + 20
        while len(times) < urls and time.time() < deadline:
            time.sleep(0.05)
        stop.set()
        consumer.join()
        stop_decider.set()
        process.join()
        sieve.close()
    p50, p99 = np.percentile(times, [50, 99]) * 1e3
    return {"urls": urls, "out": len(times), "p50_ms": float(p50), "p99_ms": float(p99), "worst_ms": max(times) * 1e3}
