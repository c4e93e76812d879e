"""What a seed file's sites mean to the frontier, and a start while Redis comes and goes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import Mock, call

import pytest
import redis
from scrapy import Spider
from scrapy.settings import BaseSettings, Settings

from crawler.addon import Ulwembu
from crawler.options import OPTIONS
from crawler.state.redis_link import RedisHome, RedisUnreachableError
from crawler.state.state_format import StateGoneError, ensure_format
from crawler.work import stores
from crawler.work.opening import frontier_config, host_policies, open_frontier
from crawler.work.stores import Stores, open_patiently, told_of
from frontier import Budget, FrontierConfig, TrapLimits
from frontier.errors import FrontierUnavailable
from frontier.turns import TurnTakingFrontier
from frontier.types import HostPolicy, RobotsRecord
from seeds.crawl import Crawl
from seeds.crawl.model import Site


def test_sites_with_rules_of_their_own() -> None:
    sites = (
        Site("https://plain.example/", scope="host"),
        Site("https://slow.example/news", scope="prefix", delay_s=2.5, ip_delay_s=0.5),
        Site("http://small.example/", scope="host", max_pages=7),
        Site("http://light.example:8080/", scope="host", max_bytes=5_000_000),
    )
    found = host_policies(Crawl("x", "zul", sites=sites))
    assert not any("plain" in host for host in found)
    assert found["https://slow.example"] == HostPolicy(delay_ms=2500, address_delay_ms=500)
    assert found["http://small.example"] == HostPolicy(max_pages=7)
    assert found["http://light.example:8080"] == HostPolicy(max_bytes=5_000_000)


def test_the_rules_of_a_frontier_are_those_of_the_settings_and_the_seed_file() -> None:
    settings = Settings(
        {
            "FRONTIER_DELAY_S": 7,
            "FRONTIER_IP_DELAY_S": 0.25,
            "FRONTIER_DELAY_FACTOR": 1.5,
            "FRONTIER_MAX_DELAY_S": 40,
            "FRONTIER_MAX_CRAWL_DELAY_S": 90,
            "FRONTIER_RETRY_FACTOR": 0.5,
            "FRONTIER_MAX_RETRIES": 3,
            "FRONTIER_LEASE_S": 100,
            "FRONTIER_IDLE_CLOSE_S": 60,
            "FRONTIER_LEAST_SHARE": 0.2,
            "FRONTIER_AUDIT": True,
            "FRONTIER_MAX_DEPTH": 9,
            "FRONTIER_MAX_HOST_URLS": 1000,
            "FRONTIER_MAX_EQUAL_PAGES": 11,
            "ROBOTS_MAX_AGE_S": 3600,
            "ROBOTS_USER_AGENT": "spider",
        }
    )
    found = frontier_config(settings, Crawl("x", "zul", max_pages=5, max_bytes=6, max_seconds=7))
    assert found == FrontierConfig(
        user_agent="spider",
        delay_ms=7000,
        address_delay_ms=250,
        delay_factor=1.5,
        adaptive_cap_ms=40_000,
        crawl_delay_cap_ms=90_000,
        retry_factor=0.5,
        most_retries=3,
        lease_ms=100_000,
        robots_ttl_ms=3_600_000,
        least_share=0.2,
        least_every_ms=3500,
        better_wait_ms=15_000,
        audit=True,
        budget=Budget(5, 6, 7),
        limits=TrapLimits(depth=9, host_urls=1000, equal_pages=11),
    )
    assert frontier_config(settings, None).budget == Budget()
    embedded = frontier_config(settings, Crawl("x", "zul", max_pages=5, page_requisites=True)).budget
    assert embedded == Budget(5, requisites=True)
    settings.set("FRONTIER_IDLE_CLOSE_S", 20)
    assert frontier_config(settings, None).better_wait_ms == 10_000
    settings.set("FRONTIER_DELAY_S", 0)
    assert frontier_config(settings, None).least_every_ms == 1


def test_rules_of_a_site_hold_however_its_host_is_spelled() -> None:
    slower, address = HostPolicy(delay_ms=60_000), HostPolicy(max_pages=7)
    sites = (
        Site("https://news.example/", scope="domain", delay_s=30),
        Site("http://www.news.example/archive/", scope="prefix", delay_s=60),
        Site("http://127.0.0.1:8080/", max_pages=7),
    )
    assert host_policies(Crawl("x", "zul", sites=sites)) == {
        "https://news.example": slower,
        "http://www.news.example": slower,
        "http://news.example": slower,
        "https://www.news.example": slower,
        "http://127.0.0.1:8080": address,
        "https://127.0.0.1:8080": address,
    }


def test_of_several_sites_of_one_host_none_takes_back_what_another_says() -> None:
    parts = (
        Site("https://slow.example/zu/", "prefix", delay_s=30, max_bytes=9),
        Site("https://slow.example/xh/", "prefix", delay_s=10, ip_delay_s=2, max_pages=7),
        Site("https://slow.example/ss/", "prefix", max_pages=8),
        Site("https://slow.example/nd/", "prefix"),
        Site("http://www.slow.example/old/", "prefix", max_pages=5, ip_delay_s=1),
    )
    whole = HostPolicy(delay_ms=30_000, address_delay_ms=2000, max_pages=5, max_bytes=9)
    for sites in (parts, parts[::-1]):
        found = host_policies(Crawl("x", "zul", sites=sites))
        assert found == {f"{scheme}://{www}slow.example": whole for scheme in ("http", "https") for www in ("", "www.")}


def test_a_start_puts_the_rules_of_its_seed_file_in_force_and_no_others(url: str, server: redis.Redis) -> None:
    assert not server.dbsize()
    settings = Settings()
    Ulwembu().update_settings(settings)

    def delays(*sites: Site, spec: bool = True) -> list[int | None]:
        crawl = Crawl("x", "zul", sites=sites) if spec else None
        with contextlib.closing(open_frontier(settings, RedisHome(url), "x", crawl)) as frontier:
            states = [frontier.host(f"http://{name}.example") for name in ("a", "www.a", "b")]
        return [None if state is None else state.delay_ms for state in states]

    slow = Site("http://a.example/", delay_s=30)
    assert delays(slow) == [30_000, 30_000, None]
    assert delays(spec=False) == [30_000, 30_000, None], "a command that looks at the crawl"
    assert delays(Site("http://a.example/"), Site("http://b.example/", delay_s=9)) == [5000, 5000, 9000]
    assert delays(slow) == [30_000, 30_000, 5000]
    assert delays() == [5000, 5000, 5000]


def test_a_start_says_whose_rules_its_seed_file_has_no_more(
    url: str, server: redis.Redis, caplog: pytest.LogCaptureFixture
) -> None:
    settings = Settings()
    Ulwembu().update_settings(settings)
    caplog.set_level("INFO")
    for sites in ((Site("http://a.example/", delay_s=30),), ()):
        open_frontier(settings, RedisHome(url), "x", Crawl("x", "zul", sites=sites)).close()
    (said,) = [line for line in caplog.messages if line.startswith("Under the crawl's own rules again")]
    assert "since the seed file has none for them: " in said
    assert "http://a.example" in said


def test_the_opt_outs_of_the_file_are_in_force_before_anything_is_leased(
    url: str, server: redis.Redis, tmp_path: Path
) -> None:
    (tmp_path / "out").write_text("a.example\n")
    settings = Settings({"FRONTIER_OPT_OUT_FILE": str(tmp_path / "out")})
    Ulwembu().update_settings(settings)
    with contextlib.closing(open_frontier(settings, RedisHome(url), "x", None)) as frontier:
        assert frontier.opted_out_by("http://a.example/1") == "http://a.example"


@pytest.mark.parametrize("embedded", [False, True])
def test_crawls_of_one_redis_take_turns_at_a_host(url: str, server: redis.Redis, embedded: bool) -> None:
    settings = Settings()
    Ulwembu().update_settings(settings)
    home = Mock(url=url, embedded=embedded)
    with contextlib.closing(open_frontier(settings, home, "x", None)) as frontier:
        assert isinstance(frontier, TurnTakingFrontier) is not embedded


@pytest.mark.parametrize("away", [0, 1, 3, 4])
def test_a_redis_that_goes_away_during_the_start_is_waited_for(monkeypatch: pytest.MonkeyPatch, away: int) -> None:
    tries: list[str] = []
    gone: Exception = FrontierUnavailable("x", "connection reset")

    @contextlib.contextmanager
    def opening(settings: BaseSettings, spider: Spider, folder: Path) -> Iterator[str]:
        tries.append(spider.name)
        if len(tries) <= away:
            raise gone if len(tries) == 1 else RedisUnreachableError("connection refused")
        yield "open"
        tries.append("closed")

    monkeypatch.setattr(stores.Stores, "open", opening)
    monkeypatch.setattr(stores, "_OPENING_PAUSES_S", (0.0, 0.0, 0.0))
    with contextlib.ExitStack() as opened:
        if away > 3:
            with pytest.raises(RedisUnreachableError):
                open_patiently(opened, BaseSettings(), Spider("x"), Path())
            return
        assert open_patiently(opened, BaseSettings(), Spider("x"), Path()) == "open"  # type: ignore[comparison-overlap]
    assert tries == ["x"] * (away + 1) + ["closed"]


def test_a_redis_that_is_not_there_to_begin_with_is_not_waited_for(tmp_path: Path) -> None:
    settings = Settings({"REDIS_URL": f"unix://{tmp_path}/none.sock"})
    Ulwembu().update_settings(settings)
    with contextlib.ExitStack() as opened, pytest.raises(RedisUnreachableError, match="no Redis at"):
        open_patiently(opened, settings, Spider("x"), tmp_path)
    with pytest.raises(FrontierUnavailable):
        ensure_format(settings["REDIS_URL"], "x", patient=False)  # asked when it has just answered


def test_a_worker_makes_sure_of_its_state_before_it_says_that_it_is_there() -> None:
    these = Mock()
    Stores.check(these, 5.0)
    these.watch.check.assert_called_once_with(5.0)
    these.record.refresh.assert_called_once_with()
    these.watch.check.side_effect = StateGoneError("zulu")
    with pytest.raises(StateGoneError):
        Stores.check(these, 5.0)
    with pytest.raises(StateGoneError):
        Stores.quiet(these, budget_spent=False)
    these.record.refresh.assert_called_once_with()


def test_a_redis_that_does_not_answer_is_revived_and_believed_nothing() -> None:
    these = Mock()
    Stores.revive(these)
    assert these.mock_calls == [call.sieve.forget_sent(), call.home.revive()]


@pytest.mark.parametrize(
    ("record", "sitemaps"),
    [
        (None, ["http://a.example/sitemap.xml"]),
        (RobotsRecord("rules", b"Sitemap: /named.xml"), ["http://a.example/named.xml"]),
        (RobotsRecord("disallow"), []),
    ],
)
def test_sitemaps_of_a_site_are_those_of_its_robots_txt_where_that_is_known(
    record: RobotsRecord | None, sitemaps: list[str]
) -> None:
    spec = Crawl("x", "zul", sites=(Site("http://a.example/", sitemaps=True),))
    these = Mock(**{"frontier.get_robots.return_value": record})
    these.spec = spec
    assert [found.url for found in Stores._sitemaps_of(these, "http://a.example")] == sitemaps


def test_the_archive_tells_all_settings_but_where_its_redis_is() -> None:
    """Its address may have a password, and archives are given away."""
    settings = Settings({"REDIS_URL": "redis://:hidden@127.0.0.1/0"})
    Ulwembu().update_settings(settings)
    told = told_of(settings, "x", Crawl("x", "zul"), FrontierConfig())
    assert told["settings"] == {it.name: settings[it.name] for it in OPTIONS if it.name != "REDIS_URL"}
    assert "hidden" not in str(told)
    assert told["relevance"] == {"language": "zul", "policy": "yield"}
