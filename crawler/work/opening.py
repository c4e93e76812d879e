"""Opens a crawl's frontier and sieve as its settings and its seed file say: for its workers, and for commands."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.settings import BaseSettings

from crawler.fetch.opt_outs import read_opt_outs
from crawler.state.redis_link import RedisHome
from frontier.budget import Budget
from frontier.config import FrontierConfig
from frontier.opt_outs import spelled_out
from frontier.redis_frontier import RedisFrontier
from frontier.traps import TrapLimits
from frontier.turns import TurnTakingFrontier
from frontier.types import HostPolicy
from seeds.crawl import Crawl
from sieve.urls import authority

if TYPE_CHECKING:
    from sieve.fleet.redis_sieve import RedisSieve

logger = logging.getLogger(__name__)

_MOST_NAMED = 100
"""Hosts in one line of the log."""


def frontier_config(settings: BaseSettings, spec: Crawl | None) -> FrontierConfig:
    """The frontier's rules as the settings and the seed file give them."""
    return FrontierConfig(
        user_agent=settings.get("ROBOTS_USER_AGENT"),
        delay_ms=_ms(settings, "FRONTIER_DELAY_S"),
        address_delay_ms=_ms(settings, "FRONTIER_IP_DELAY_S"),
        delay_factor=settings.getfloat("FRONTIER_DELAY_FACTOR"),
        adaptive_cap_ms=_ms(settings, "FRONTIER_MAX_DELAY_S"),
        crawl_delay_cap_ms=_ms(settings, "FRONTIER_MAX_CRAWL_DELAY_S"),
        retry_factor=settings.getfloat("FRONTIER_RETRY_FACTOR"),
        most_retries=settings.getint("FRONTIER_MAX_RETRIES"),
        lease_ms=_ms(settings, "FRONTIER_LEASE_S"),
        robots_ttl_ms=_ms(settings, "ROBOTS_MAX_AGE_S"),
        least_share=settings.getfloat("FRONTIER_LEAST_SHARE"),
        least_every_ms=max(1, _ms(settings, "FRONTIER_DELAY_S") / 2),
        better_wait_ms=min(2 * _ms(settings, "FRONTIER_DELAY_S") + 1000, _ms(settings, "FRONTIER_IDLE_CLOSE_S") // 2),
        audit=settings.getbool("FRONTIER_AUDIT"),
        budget=Budget(spec.max_pages, spec.max_bytes, spec.max_seconds, spec.page_requisites) if spec else Budget(),
        limits=TrapLimits(
            depth=settings.getint("FRONTIER_MAX_DEPTH"),
            host_urls=settings.getint("FRONTIER_MAX_HOST_URLS"),
            equal_pages=settings.getint("FRONTIER_MAX_EQUAL_PAGES"),
        ),
    )


def open_frontier(
    settings: BaseSettings, home: RedisHome, crawl: str, spec: Crawl | None, *, looks: bool = False
) -> RedisFrontier:
    """The crawl's frontier, with the seed file's delays, those and no others, and the opt-outs in force. `looks`: for
    a command, which leaves the delays as workers have set them."""
    # A private Redis has no other crawl.
    kind = RedisFrontier if home.embedded else TurnTakingFrontier
    frontier = kind(home.url, crawl, frontier_config(settings, spec))
    if spec is not None and not looks:
        policies = host_policies(spec)
        # What an earlier start has put there, of this file as it was or of another.
        gone = [host for host in frontier.configured() if host not in policies]
        frontier.configure({**dict.fromkeys(gone, HostPolicy()), **policies})
        if gone:
            where, named = spec.path or "the seed file", ", ".join(gone[:_MOST_NAMED])
            more = f" and {len(gone) - _MOST_NAMED} more" if len(gone) > _MOST_NAMED else ""
            logger.info("Under the crawl's own rules again, since %s has none for them: %s%s", where, named, more)
    if opt_outs := settings.get("FRONTIER_OPT_OUT_FILE"):
        frontier.opt_out(read_opt_outs(Path(opt_outs)))
    return frontier


def open_sieve(settings: BaseSettings, home: RedisHome, crawl: str, folder: Path) -> RedisSieve:
    """The crawl's sieve; seen URLs live in the fleet's Redis, or beside the private one on disk."""
    from sieve.fleet.redis_link import RedisLink  # here, since most commands open none
    from sieve.fleet.redis_sieve import RedisConfig, RedisSieve

    store = settings.get("SIEVE_STORE") or ("disk" if home.embedded else "redis")
    config = RedisConfig(folder / "state" / "sieve" if store == "disk" else None)
    return RedisSieve(RedisLink(home.url, crawl), config)


def host_policies(spec: Crawl) -> dict[str, HostPolicy]:
    """The rules of the seed file's sites that have their own, by authority.

    A site's rules hold for its host however a redirect or a link spells it: by http and https, with and without
    ``www.``, as scopes take it. Of several that are parts of one host the longest delays and the smallest limits hold.
    """
    found: dict[str, HostPolicy] = {}
    for site in spec.sites:
        if site.delay_s is not None or site.ip_delay_s is not None or site.max_pages or site.max_bytes:
            policy = HostPolicy(
                delay_ms=None if site.delay_s is None else round(site.delay_s * 1000),
                address_delay_ms=None if site.ip_delay_s is None else round(site.ip_delay_s * 1000),
                max_pages=site.max_pages or None,
                max_bytes=site.max_bytes or None,
            )
            for host in spelled_out(authority(site.url).partition("://")[2]):
                found[host] = _stricter(found.get(host, HostPolicy()), policy)
    return found


def _stricter(one: HostPolicy, other: HostPolicy) -> HostPolicy:
    return HostPolicy(
        delay_ms=_of(max, one.delay_ms, other.delay_ms),
        address_delay_ms=_of(max, one.address_delay_ms, other.address_delay_ms),
        max_pages=_of(min, one.max_pages, other.max_pages),
        max_bytes=_of(min, one.max_bytes, other.max_bytes),
    )


def _of(choose: Callable[[list[int]], int], *said: int | None) -> int | None:
    """Of what was said; None when nothing was."""
    numbers = [number for number in said if number is not None]
    return choose(numbers) if numbers else None


def _ms(settings: BaseSettings, name: str) -> int:
    return round(settings.getfloat(name) * 1000)
