"""The last look at robots.txt before a page is fetched."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import cast
from unittest.mock import Mock

import pytest
from scrapy.http import Request

from crawler.fetch.errors import HostClosedError, OptedOutError, StaleLeaseError
from crawler.pages.answers import OutsideFrontierError, RobotsDeniedError
from crawler.robots import RobotsMiddleware
from crawler.work.held import HeldLease
from crawler.work.worker import Worker
from frontier.opt_outs import against
from frontier.robots import Rules
from frontier.types import Kind, Lease, RobotsRecord

LEASE = Lease("t", "http://a.test/open", Kind.PAGE, "http://a.test", "", 0, 0, robots_ms=7)


class Records:
    """The part of a worker that the middleware asks; `record` is the fleet's, `rules` are the host's opt-outs."""

    rules = ("/p?private",)

    def __init__(self, record: RobotsRecord | None, pages: int = 0) -> None:
        self.record = record
        self.pages = pages
        self.asked = 0

    async def robots(self, authority: str) -> RobotsRecord | None:
        assert authority == "http://a.test"
        self.asked += 1
        return self.record

    async def rest_while_closed(self, authority: str) -> bool:
        assert authority == "http://a.test"
        return self.pages > 0

    async def opted_out_by(self, url: str) -> str:
        return against(url, lambda _: self.rules)


def look(middleware: RobotsMiddleware, path: str, version: int = 7, sent: str = "", kind: Kind = Kind.PAGE) -> None:
    lease = replace(LEASE, url=f"http://a.test{path}", kind=kind, robots_ms=version)
    asyncio.run(middleware.process_request(granted(f"http://a.test{sent or path}", lease)))


def granted(url: str, lease: Lease) -> Request:
    return Request(url, meta={"lease": lease, "grant": HeldLease(lease, 0, (0.0, 0.0), 1.0, Mock())})


def middleware_for(records: Records) -> RobotsMiddleware:
    return RobotsMiddleware(cast(Worker, records), "ulwembu")


def test_rules_are_asked_for_once_and_kept() -> None:
    records = Records(RobotsRecord("rules", b"User-agent: *\nDisallow: /private"))
    middleware = middleware_for(records)
    look(middleware, "/open")
    with pytest.raises(RobotsDeniedError):
        look(middleware, "/private/x")
    assert records.asked == 1


def test_without_a_lease_nothing_is_looked_up_and_nothing_sent() -> None:
    records = Records(RobotsRecord("allow"))
    with pytest.raises(OutsideFrontierError):
        asyncio.run(middleware_for(records).process_request(Request("http://a.test/open")))
    assert records.asked == 0


def test_a_record_that_ran_out_sends_the_lease_back_and_denies_nothing_for_good() -> None:
    records = Records(None)
    middleware = middleware_for(records)
    with pytest.raises(StaleLeaseError):
        look(middleware, "/open")
    records.record = RobotsRecord("allow")
    look(middleware, "/open")


def test_parsed_rules_are_kept_within_a_bound_of_memory() -> None:
    rules = b"".join(b"User-agent: *\nDisallow: /%d\n" % n for n in range(5000))
    records = Records(RobotsRecord("rules", rules))
    middleware = middleware_for(records)
    for version in (1, 2, 1):
        look(middleware, "/open", version)
    assert records.asked == 3, "two such files are too much to keep"
    records.record = RobotsRecord("rules", rules[:1000])
    for version in (3, 4, 3, 4):
        look(middleware, "/open", version)
    assert records.asked == 5


def test_rules_that_cost_more_than_all_are_to_are_parsed_once_all_the_same() -> None:
    records = Records(RobotsRecord("rules", b"# " + b"x" * 500_000))
    middleware = middleware_for(records)
    for _ in range(2):
        look(middleware, "/open")
    assert records.asked == 1
    records.record = RobotsRecord("rules", b"")
    look(middleware, "/open", version=8)
    look(middleware, "/open")
    assert records.asked == 3, "and give way to others"


def test_a_host_that_gave_pages_and_denies_all_rests_and_loses_nothing() -> None:
    shut = RobotsRecord("rules", b"User-agent: *\nDisallow: /")
    with pytest.raises(HostClosedError):
        look(middleware_for(Records(shut, pages=1)), "/open")
    with pytest.raises(RobotsDeniedError):
        look(middleware_for(Records(shut)), "/open")
    with pytest.raises(RobotsDeniedError):
        look(middleware_for(Records(RobotsRecord("rules", b"User-agent: *\nDisallow: /open"), pages=1)), "/open")


def test_an_unreachable_robots_txt_denies_everything() -> None:
    with pytest.raises(RobotsDeniedError):
        look(middleware_for(Records(RobotsRecord("disallow"))), "/open")


@pytest.mark.parametrize("kind", [Kind.PAGE, Kind.FEED])
def test_what_is_sent_in_place_of_the_leased_url_is_held_against_the_opt_outs(kind: Kind) -> None:
    middleware = middleware_for(Records(RobotsRecord("allow")))
    look(middleware, "/p?a=1&private", kind=kind)
    look(middleware, "/p?a=1&private", sent="/p?a=1", kind=kind)
    for other in ("/p?private&a=1", "/p?%70rivate", "/x/../p?private"):
        with pytest.raises(OptedOutError, match=r"http://a.test/p\?private has opted out"):
            look(middleware, "/p?a=1&private", sent=other, kind=kind)


def test_where_a_robots_txt_has_moved_to_is_held_against_the_opt_outs() -> None:
    middleware = middleware_for(Records(None))
    own = Lease("t", "http://a.test/robots.txt", Kind.ROBOTS, "http://a.test", "", 0, 0)
    moved = replace(own, url="http://a.test/p?private=robots.txt", source="http://b.test", hops=1)
    for lease in (own, replace(moved, url="http://a.test/open.txt")):
        asyncio.run(middleware.process_request(granted(lease.url, lease)))
    with pytest.raises(OptedOutError, match="has opted out"):
        asyncio.run(middleware.process_request(granted(moved.url, moved)))


def test_rules_that_were_asked_for_twice_at_a_time_are_counted_once() -> None:
    middleware = middleware_for(Records(RobotsRecord("allow")))
    rules = Rules.of(RobotsRecord("allow"), "ulwembu")
    for _ in range(3):
        middleware._keep(("http://a.test", 7), rules, 100)
    assert middleware._rules_bytes == 100


def test_why_nothing_is_sent_is_kept_with_the_grant_whatever_a_middleware_asks_for_instead() -> None:
    request = granted(LEASE.url, LEASE)
    with pytest.raises(StaleLeaseError) as raised:
        asyncio.run(middleware_for(Records(None)).process_request(request))
    assert request.meta["grant"].error is raised.value
