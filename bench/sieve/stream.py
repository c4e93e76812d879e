"""A realistic stream: URLs of about 67 bytes, 30 % new; repeats 60 % recent, 25 % popular, 15 % from any time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

BATCH = 1000


def url(number: int) -> str:
    """The URL with this number; numbers are given in order of first arrival."""
    mixed = number * 2654435761 % 4294967296
    return f"https://www.example{number % 977}.co.za/izindaba/ezasekhaya/{mixed:010d}/isihloko-{number}"


def number_of(text: str) -> int:
    """The number of a URL of the stream."""
    return int(text.rpartition("-")[2])


def stream(count: int, *, known: int = 0, seed: int = 1) -> Iterator[list[str]]:
    """Batches, `count` URLs in all (the last one may be smaller); URLs with numbers below `known` were met before the
    stream begins."""
    rng = np.random.default_rng(seed)
    total = known
    for start in range(0, count, BATCH):
        new = rng.random(BATCH) < 0.3
        numbers = total - 1 + np.cumsum(new)
        last = np.maximum(numbers, 0)
        kind = rng.random(BATCH)
        recent = np.maximum(last - rng.geometric(1 / 20_000, BATCH), 0)
        popular = np.minimum((rng.pareto(0.8, BATCH) * 50).astype(np.int64), last)
        any_time = (rng.random(BATCH) * (last + 1)).astype(np.int64)
        repeats = np.where(kind < 0.6, recent, np.where(kind < 0.85, popular, any_time))
        total += int(new.sum())
        yield list(map(url, np.where(new, numbers, repeats)[: count - start].tolist()))
