"""Reads what a worker serves for Prometheus."""

from __future__ import annotations

import http.client
import os
import re
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from crawler.preflight import METRICS_PORTS
from crawler.state.embedded_redis import EmbeddedRedis
from tests.integration.crawler.harness import Crawl, wait_for
from tests.web.server import serve
from tests.web.spec import WebSpec, calm

WEB = calm(WebSpec(hosts=4, pages=60, min_links=6, max_links=12, page_bytes=3000))
HELD = 40


@dataclass(frozen=True, slots=True)
class Scrape:
    """One page: kinds by name of the metric, values by name of the sample and labels."""

    kinds: dict[str, str]
    values: dict[tuple[str, frozenset[tuple[str, str]]], float]

    def value(self, sample: str, **labels: str) -> float | None:
        """The one value of a sample that has these labels, beside others; None when there is none."""
        found = [value for (name, has), value in self.values.items() if name == sample and labels.items() <= set(has)]
        assert len(found) < 2, (sample, labels, found)
        return found[0] if found else None

    def sum(self, sample: str, **labels: str) -> float:
        """All values of a sample that have these labels, together."""
        return sum(value for (name, has), value in self.values.items() if name == sample and labels.items() <= set(has))

    def names(self) -> set[str]:
        """Names of samples; of a metric that has none yet, what its samples are called."""
        return {name for name, _ in self.values} | {
            f"{name}_total" if kind == "counter" else name for name, kind in self.kinds.items()
        }


def get(port: int, path: str = "/metrics") -> tuple[int, str, str]:
    """Status, type and text of a page."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.headers["Content-Type"], answer.read().decode()
    finally:
        connection.close()


def scrape(port: int) -> Scrape:
    """The page of the worker that serves on `port`, read as Prometheus reads it."""
    status, content_type, text = get(port)
    assert (status, content_type) == (200, "text/plain; version=0.0.4; charset=utf-8"), text
    families = list(text_string_to_metric_families(text))
    assert len({family.name for family in families}) == len(families)
    values = {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in families
        for sample in family.samples
    }
    return Scrape({family.name: family.type for family in families}, values)


def ports_of(crawl: Crawl) -> list[int]:
    """Where the workers serve, once all do."""
    wait_for(lambda: crawl.logs().count("Figures for Prometheus: /metrics on ") == len(crawl.workers))
    return [int(port) for port in re.findall(r"/metrics on 127\.0\.0\.1, port (\d+)", crawl.logs())]


def free_port() -> int:
    """The first of as many free ports in a row as workers look for; each process of tests begins elsewhere."""
    for first in range(21_000 + os.getpid() % 500 * METRICS_PORTS, 29_000, METRICS_PORTS):
        with ExitStack() as opened:
            try:
                for port in range(first, first + METRICS_PORTS):
                    opened.enter_context(socket.create_server(("127.0.0.1", port)))
            except OSError:
                continue
            return first
    raise AssertionError("no free ports")


@contextmanager
def held_crawl(folder: Path, **settings: str) -> Iterator[Crawl]:
    """A crawl whose web answers only the first requests until it is let go; no worker yet."""
    with ExitStack() as opened:
        running = opened.enter_context(serve(WEB, folder / "web"))
        if "REDIS_URL" not in settings:  # a member that is not killed, and so stops it in the end
            opened.enter_context(EmbeddedRedis(folder / "crawl" / "state" / "redis"))
        crawl = Crawl(running, folder / "crawl", {"METRICS_PORT": str(free_port()), **settings})
        opened.callback(crawl.kill)
        running.hold(after=HELD)
        yield crawl


def settled(port: int) -> Scrape:
    """A page on which all that a held crawl was answered has been reported."""
    before = scrape(port)
    while True:
        time.sleep(1)
        after = scrape(port)
        if after.sum("ulwembu_crawl_outcomes_total") == before.sum("ulwembu_crawl_outcomes_total") > 0:
            return after
        before = after
