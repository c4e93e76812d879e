"""A fleet's flags and caps on pages whose texts are copies, by the archive alone: whichever workers fetched them, and
whoever was killed meanwhile."""

from __future__ import annotations

import json
import os
import signal
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest

from archive import Reader
from archive.index import cdxj
from archive.messages.fields import pairs_of
from crawler.state.embedded_redis import EmbeddedRedis
from relevance.pages.simhash import NEAR, distance
from tests.integration.crawler.fleet import fleet, judge, spec
from tests.integration.crawler.harness import Crawl
from tests.web.spec import WebSpec

CAP = 2
PAGES = 160


def copies() -> WebSpec:
    """A web in which half of the pages have the text of another of their host."""
    web = spec(hosts=8, pages=PAGES)
    return web.replace(rates=replace(web.rates, copied=0.5))


def told(crawl: Crawl) -> Iterator[tuple[str, dict[str, str]]]:
    """URL and metadata of each archived page."""
    for path in sorted((crawl.folder / "warc").glob("*.warc.xz")):
        for record in Reader(path):
            if record.type == "metadata" and "verdict" in (said := pairs_of(record.block())):
                yield record.url, said


def check(crawl: Crawl) -> dict[str, int]:
    """Of no host more than CAP flagged pages are kept, and of two kept pages that are near one has the flag; the number
    of flagged pages by host."""
    plain: dict[str, list[int]] = defaultdict(list)
    flagged: dict[str, int] = defaultdict(int)
    for url, said in told(crawl):
        host = url.split("/")[2]
        if said["verdict"] == "keep" and "near_duplicate" in json.loads(said["quality"]):
            flagged[host] += 1
        elif said["verdict"] == "keep":
            plain[host].append(int(said["simhash"], 16))
    assert all(number <= CAP for number in flagged.values()), flagged
    assert all(distance(*pair) > NEAR for values in plain.values() for pair in combinations(values, 2))
    return flagged


@pytest.mark.slow
def test_a_fleet_keeps_to_the_cap_over_kills_and_restarts(tmp_path: Path) -> None:
    with fleet(copies(), tmp_path, RELEVANCE_CAP=str(CAP)) as crawl:
        workers = [crawl.start() for _ in range(2)]
        crawl.await_requests(50)
        workers[0].kill()
        crawl.start()
        crawl.await_requests(80)
        redis_pid = EmbeddedRedis(crawl.folder / "state" / "redis").server_pid()
        assert redis_pid
        os.kill(redis_pid, signal.SIGKILL)
        crawl.await_requests(110)
        for worker in crawl.workers:
            worker.kill()
        crawl.start()
        crawl.start()
        crawl.wait()
        findings, proof = judge(crawl, refetches=PAGES)
        assert findings.ok, findings.faults
        assert proof.ok, proof.short[:5]
        flagged = check(crawl)
    reasons = [said["verdict-reason"] for _, said in told(crawl)]
    assert "capped_near_duplicate" in reasons
    assert CAP in flagged.values()
    lines = [line for path in (crawl.folder / "warc").glob("*.cdxj") for line in path.read_bytes().splitlines()]
    rows = [cdxj.parse(line) for line in lines]
    indexed = {row["url"] for row in rows if "near_duplicate" in row.get("quality", "")}
    assert indexed == {url for url, said in told(crawl) if "near_duplicate" in said.get("quality", "")}
