"""The figures by which `bench.crawlers` compares crawlers, from logs made by hand; and which crawlers are left out."""

from __future__ import annotations

import os
import subprocess
import sys
from types import SimpleNamespace
from typing import Any, cast

import pytest

from bench.crawlers import judge
from bench.crawlers.__main__ import PEERS, TASKS, order_of
from bench.crawlers.run import Result
from bench.process import pss_bytes, tree
from tests.unit.web.test_verify import entry, faultless
from tests.web import LogEntry, Web, WebSpec, calm
from tests.web.paths import Resource

SPEC = calm(WebSpec(seed=3, hosts=3, pages=24, port=8123, seed_hosts=3))


def result(web: Web, log: list[LogEntry], killed_ms: float = 0.0) -> Result:
    log = sorted(log, key=lambda one: one.start_us)
    return Result(cast("Any", SimpleNamespace(web=web)), log, killed_us=round(killed_ms * 1000))


def pages(web: Web) -> list[str]:
    return [web.paths.url(resource) for resource in web.truth.pages]


def test_gaps_from_end_and_from_start_are_told_apart() -> None:
    web = Web(SPEC)
    first, second, third = pages(web)[0], pages(web)[0] + "?b", pages(web)[0] + "?c"
    log = [entry(web, first, 0, end_us=60_000), entry(web, second, 100), entry(web, third, 300)]
    found = judge.gaps(log, web, 0.1)
    assert (found["gaps"], found["short_end_to_start"], found["short_start_to_start"]) == (2, 1, 0)
    log[2] = entry(web, third, 150)
    assert judge.gaps(log, web, 0.1)["short_start_to_start"] == 1


def test_gaps_from_start_are_those_from_the_last_start_also_beside_a_slow_answer() -> None:
    web = Web(SPEC)
    slow, *others = (f"{pages(web)[0]}?{n}" for n in range(3))
    log = [entry(web, slow, 0, end_us=900_000), *(entry(web, url, 200 + 50 * n) for n, url in enumerate(others))]
    found = judge.gaps(log, web, 0.1)
    assert (found["gaps"], found["short_end_to_start"], found["short_start_to_start"]) == (2, 2, 1)


def test_gaps_below_a_crawl_delay_count_once_it_was_read() -> None:
    web = Web(SPEC.replace(robots=("delay",), crawl_delay_s=1.0))
    asking = web.sites[1]
    urls = [f"{asking.authority}/?{n}" for n in range(3)]
    log = [entry(web, asking.authority + "/robots.txt", 0), *(entry(web, u, 500 * n + 500) for n, u in enumerate(urls))]
    found = judge.gaps(log, web, 0.2)
    assert (found["crawl_delay_gaps"], found["short_crawl_delay"]) == (3, 3)
    assert judge.gaps(log[1:], web, 0.2)["crawl_delay_gaps"] == 0


def test_focus_counts_relevant_pages_once_and_every_fetch_but_robots() -> None:
    web = Web(SPEC)
    relevant = next(web.paths.url(r) for r in web.truth.pages if r in web.truth.relevant())
    other = next(web.paths.url(r) for r in web.truth.pages if r not in web.truth.relevant())
    log = [entry(web, web.sites[0].authority + "/robots.txt", 0)]
    log += [entry(web, url, 10 * n + 10) for n, url in enumerate([relevant, relevant, other, *pages(web)])]
    found = judge.focus(result(web, log), 3)
    assert (found["fetches"], found["relevant"]) == (len(log) - 1, 1)
    assert 0 < int(found["for_95"]) <= len(log) - 1
    assert judge.focus(result(web, log[: int(found["for_95"])]), 3)["for_95"] == 0, "one fetch fewer is too few"
    broken = [one._replace(whole=False) for one in log]
    assert judge.focus(result(web, broken), 3)["relevant"] == 0


def test_recovery_tells_what_was_lost_and_what_was_fetched_again() -> None:
    web = Web(SPEC)
    log = faultless(web)
    killed_ms = log[10].end_us / 1000 + 1
    again = entry(web, pages(web)[0], 1_000_000)
    found = judge.recovery(result(web, [*log[:-2], again], killed_ms))
    assert (found["lost"], found["again"]) == (2, 1)
    assert found["before_kill"] == 11 - len(web.sites)


def test_requests_until_most_was_found_count_all_requests() -> None:
    web = Web(SPEC)
    log = faultless(web)
    known = [(one, resource) for one in log if (resource := judge.read(web, one))]
    assert judge.requests_for(known, web, 1.0) == len(log)
    assert judge.requests_for(known[:-1], web, 1.0) == 0
    assert judge.requests_for(known, web, 0.01) == len(web.sites) + 1


def test_throughput_counts_whole_pages_from_the_first_to_the_last() -> None:
    web = Web(SPEC)
    log = [entry(web, url, 100 * n, sent_bytes=1000) for n, url in enumerate(pages(web)[:11])]
    error = log[-1]._replace(start_us=9_000_000, end_us=9_000_000, status=503)
    found = judge.throughput(result(web, [*log, error]))
    assert (found["pages"], found["seconds"]) == (11, 1.0)
    again = judge.throughput(result(web, [*log, *log[:5], error]))
    assert again["pages_a_s"] == found["pages_a_s"] != 0, "what is fetched twice is no other page"


def test_politeness_has_traps_repeats_and_the_verifiers_findings() -> None:
    web = Web(SPEC.replace(robots=("down503",), trap_kinds=("calendar",)))
    shut = web.paths.url(Resource(1, "page", 0))
    trap = web.paths.url(Resource(0, "trap", 1, "calendar"))
    shut_robots = web.sites[1].authority + "/robots.txt"
    log = [one._replace(status=503) if one.authority + one.path == shut_robots else one for one in faultless(web)]
    log += [entry(web, pages(web)[0], 900_000), entry(web, shut, 910_000), entry(web, trap, 920_000)]
    found = judge.politeness(result(web, log), 0.1)
    assert (found["twice"], found["trap_requests"]) == (1, 1)
    assert found["robots_unreachable"] == 1


def test_memory_is_that_of_a_process_and_its_children() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        assert {os.getpid(), child.pid} <= tree(os.getpid())
        assert tree(child.pid) == {child.pid}
        assert pss_bytes(os.getpid()) > 2**20
        child.communicate(b"\n")
    assert pss_bytes(child.pid) == 0


@pytest.mark.parametrize("name", ["HERITRIX_HOME", "BUBING_HOME", "STORMCRAWLER_HOME"])
def test_a_crawler_that_is_not_there_is_left_out_with_a_reason(name: str, monkeypatch: Any, tmp_path: Any) -> None:
    peer = PEERS[name.partition("_")[0].lower()]
    monkeypatch.delenv(name, raising=False)
    assert name in peer().missing()
    monkeypatch.setenv(name, str(tmp_path))
    assert str(tmp_path) in peer().missing()


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("short", [True, False])
def test_no_web_leads_anywhere_else(task: str, short: bool) -> None:
    spec = order_of(task, short=short).spec
    assert not spec.rates.foreign
    assert not spec.rates.bad
    assert "agents" not in spec.robots
