"""What a seed file's sites mean to the frontier, and a start while Redis comes and goes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from scrapy import Spider
from scrapy.settings import BaseSettings

from crawler import stores
from crawler.stores import host_policies, open_patiently
from frontier.errors import FrontierUnavailable
from frontier.types import HostPolicy
from seeds.crawl import Crawl
from seeds.model import Site


def test_sites_with_rules_of_their_own() -> None:
    sites = (
        Site("https://plain.example/", scope="host"),
        Site("https://slow.example/news", scope="prefix", delay_s=2.5, ip_delay_s=0.5),
        Site("http://small.example/", scope="host", max_pages=7),
        Site("http://light.example:8080/", scope="host", max_bytes=5_000_000),
    )
    assert host_policies(Crawl("x", "zul", sites=sites)) == {
        "https://slow.example": HostPolicy(delay_ms=2500, address_delay_ms=500),
        "http://small.example": HostPolicy(max_pages=7),
        "http://light.example:8080": HostPolicy(max_bytes=5_000_000),
    }


@pytest.mark.parametrize("away", [0, 1, 3, 4])
def test_a_redis_that_goes_away_during_the_start_is_waited_for(monkeypatch: pytest.MonkeyPatch, away: int) -> None:
    tries: list[str] = []

    @contextlib.contextmanager
    def opening(settings: BaseSettings, spider: Spider, folder: Path) -> Iterator[str]:
        tries.append(spider.name)
        if len(tries) <= away:
            raise FrontierUnavailable(spider.name, "connection reset")
        yield "open"
        tries.append("closed")

    monkeypatch.setattr(stores.Stores, "open", opening)
    monkeypatch.setattr(stores, "_OPENING_PAUSES_S", (0.0, 0.0, 0.0))
    with contextlib.ExitStack() as opened:
        if away > 3:
            with pytest.raises(FrontierUnavailable):
                open_patiently(opened, BaseSettings(), Spider("x"), Path())
            return
        assert open_patiently(opened, BaseSettings(), Spider("x"), Path()) == "open"  # type: ignore[comparison-overlap]
    assert tries == ["x"] * (away + 1) + ["closed"]
