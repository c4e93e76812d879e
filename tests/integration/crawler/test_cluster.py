"""Nodes of a Redis Cluster: a crawl runs on the one that has its keys, by itself, and it says what is not there."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis.exceptions import MovedError
from scrapy import Spider
from scrapy.settings import Settings

from crawler.addon import Ulwembu
from crawler.errors import PreflightError
from crawler.state.redis_link import RedisUnreachableError, client
from crawler.state.run_record import RunRecord, WorkerRecord, crawls_of, workers
from crawler.state.state_format import ensure_format
from crawler.work.start_urls import StartUrls
from crawler.work.stores import Stores
from frontier import Candidate, FrontierConfig, Outcome
from frontier.errors import FrontierElsewhere, FrontierUnavailable, OptOutsElsewhere
from frontier.turns import TurnTakingFrontier
from sieve.errors import LinkError
from sieve.fleet.redis_link import RedisLink
from sieve.types import Entry
from tests.redis_cluster import Cluster, redis_cluster

ALL = "ulwembu"
A, B = "http://a.example", "http://b.example"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with redis_cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@contextlib.contextmanager
def frontier_of(cluster: Cluster, crawl: str) -> Iterator[TurnTakingFrontier]:
    url = cluster.url(cluster.home(crawl))
    with contextlib.closing(TurnTakingFrontier(url, crawl, FrontierConfig(obey_robots=False))) as frontier:
        yield frontier


def test_at_a_wrong_node_it_is_told_which_one_is_right(cluster: Cluster) -> None:
    for number in range(2):
        crawl = cluster.name_at(1 - number, "wrong")
        for begin in (True, False):
            with pytest.raises(PreflightError) as refusal:
                ensure_format(cluster.url(number), crawl, begin=begin)
            right = f"127.0.0.1:{cluster.ports[1 - number]}"
            said = f"its keys lie on another node of this Redis Cluster, {right}, which REDIS_URL must name"
            assert str(refusal.value).endswith(said)
        ensure_format(cluster.url(1 - number), crawl)


def test_beside_the_node_of_what_all_crawls_share_it_goes_by_itself(cluster: Cluster) -> None:
    crawl = cluster.name_at(1 - cluster.home(ALL), "apart")
    with frontier_of(cluster, crawl) as frontier:
        frontier.take_in([Candidate(f"{A}/1"), Candidate(f"{B}/1")])
        frontier.opt_out([f"{B}/"])
        with pytest.raises(OptOutsElsewhere, match=f"lie on its node 127.0.0.1:{cluster.ports[cluster.home(ALL)]}"):
            frontier.opt_out([f"{A}/"], all_crawls=True)
        leases = frontier.lease(10).leases
        assert [lease.authority for lease in leases] == [A]
        assert frontier.report([Outcome(leases[0].token, "ok")]) == [True]
        assert frontier.opted_out_by(f"{B}/1")
        assert not frontier.opted_out_by(f"{A}/1")


def test_its_dead_workers_are_forgotten_and_its_name_is_asked_for(cluster: Cluster) -> None:
    number = 1 - cluster.home(ALL)
    crawl, url = cluster.name_at(number, "recorded"), cluster.url(number)
    ensure_format(url, crawl)
    for folder in ("/first", "/second"):
        RunRecord(url, crawl, WorkerRecord("machine", folder, "")).close()
    assert [one.folder for one in workers(url, crawl)[0]] == ["/second"]
    with pytest.raises(
        RedisUnreachableError, match="is a node of a Redis Cluster, and no list of its crawls is there: "
    ):
        crawls_of(url)


def test_its_start_urls_are_looked_for_where_the_crawl_is(cluster: Cluster, caplog: pytest.LogCaptureFixture) -> None:
    number = 0
    crawl, taken = cluster.name_at(number, "fed", beside=":start_urls"), list[Entry]()
    caplog.set_level(logging.INFO)
    with contextlib.closing(StartUrls(client(cluster.url(number)), crawl, taken.extend)) as lists:
        cluster.nodes[number].lpush(f"{{{crawl}}}:start_urls", f"{A}/1")
        assert lists.poll() == 1
        assert [entry.url for entry in taken] == [f"{A}/1"]
        assert f"the list is {{{crawl}}}:start_urls here" in caplog.text
        assert not lists.waits
        with pytest.raises(MovedError):
            cluster.nodes[number].lpush(f"{crawl}:start_urls", f"{A}/2")


def test_while_its_keys_move_to_another_node_nothing_is_leased_and_its_opt_outs_hold(cluster: Cluster) -> None:
    crawl = cluster.name_at(1 - cluster.home(ALL), "moving")
    link = RedisLink(cluster.url(cluster.home(crawl)), crawl)
    with frontier_of(cluster, crawl) as frontier, contextlib.closing(link):
        frontier.take_in([Candidate(f"{A}/1"), Candidate(f"{B}/1")])
        frontier.opt_out([f"{A}/"])
        with cluster.moving(crawl):
            cluster.move(crawl, [f"{{{crawl}}}:f:optout".encode()])
            with pytest.raises(FrontierUnavailable):
                frontier.lease(10)
            with pytest.raises(FrontierUnavailable, match="being moved"):
                frontier.opted_out_by(f"{A}/1")
        right = f"127.0.0.1:{cluster.ports[1 - cluster.home(crawl)]}"
        for call in (lambda: frontier.lease(10), frontier.status, lambda: frontier.opted_out_by(f"{A}/1")):
            with pytest.raises(FrontierElsewhere, match=right):
                call()
        with pytest.raises(LinkError, match=f"has the keys on its node {right}"):
            link.tally()


def test_a_worker_warns_that_other_crawls_do_not_see_it(
    cluster: Cluster, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    crawl = cluster.name_at(cluster.home(ALL), "open")
    settings = Settings({"REDIS_URL": cluster.url(cluster.home(ALL)), "CONTACT": "me@a.test"})
    Ulwembu().update_settings(settings)
    with Stores.open(settings, Spider(crawl), tmp_path):
        pass
    assert "Redis is a node of a Cluster: crawls whose names lie on its other nodes" in caplog.text
