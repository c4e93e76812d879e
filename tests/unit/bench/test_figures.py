"""Benchmarks count what they divide by."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from bench.frontier import Bench, cost
from bench.sieve.stream import BATCH, number_of, stream
from frontier import Kind


@pytest.mark.parametrize("count", [1, BATCH, 2 * BATCH + 1])
def test_the_stream_has_as_many_urls_as_it_is_asked_for(count: int) -> None:
    urls = [url for batch in stream(count) for url in batch]
    assert len(urls) == count
    assert [*dict.fromkeys(map(number_of, urls))] == [*range(len(set(urls)))]


class Busy:
    """A server and a frontier that hand out one page a lease, whatever is asked for. Seconds of the server's time: a
    tenth a report, one a calibration."""

    def __init__(self) -> None:
        self.cpu_s = 0.0

    def info(self, _: str) -> dict[str, float]:
        return {"used_cpu_user": self.cpu_s, "used_cpu_sys": 0.0}

    def eval(self, *_: object) -> None:
        self.cpu_s += 1.0

    def lease(self, _: int) -> Any:
        return SimpleNamespace(leases=(SimpleNamespace(token="t", kind=Kind.PAGE, url="http://a.example/"),))

    def report(self, _: object) -> None:
        self.cpu_s += 0.1


def test_a_calibration_is_divided_by_how_often_it_ran() -> None:
    busy = cast("Any", Busy())
    found = cost(Bench(busy, busy), grants=60, batch=32)
    assert (found["grants"], found["redis_cpu_us_a_grant"], found["calibration_us_a_round"]) == (60, 1e5, 1000.0)
