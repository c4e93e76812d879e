"""robots.txt at the rim: every leased page is held against its host's rules before anything is sent.

The record is the fleet's, fetched under a lease like any page and kept in the frontier; parsed rules are cached here.
Fails closed: without a valid record nothing is sent. Source: RFC 9309.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Self

from scrapy.crawler import Crawler
from scrapy.http import Request

from crawler.answers import RobotsDeniedError
from crawler.fetch.errors import StaleLeaseError
from crawler.worker import Worker
from frontier.robots import Rules
from frontier.types import Kind, Lease, RobotsRecord

_MOST_RULES = 5000
_NOTHING_ALLOWED = b"User-agent: *\nDisallow: /\n"


class RobotsMiddleware:
    """Downloader middleware; see the module."""

    def __init__(self, worker: Worker, user_agent: str) -> None:
        self._worker = worker
        self._user_agent = user_agent
        self._rules: OrderedDict[tuple[str, int], Rules] = OrderedDict()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        worker = crawler.get_extension(Worker)
        assert worker is not None
        return cls(worker, crawler.settings["ROBOTS_USER_AGENT"])

    async def process_request(self, request: Request) -> None:
        """:class:`RobotsDeniedError` for a leased URL that its host's rules deny."""
        lease: Lease | None = request.meta.get("lease")
        if lease is None or lease.kind is Kind.ROBOTS:
            return
        rules = self._rules.get((lease.authority, lease.robots_ms))
        if rules is None:
            rules = await self._fetch_rules(lease)
        if not rules.allowed(request.url):
            raise RobotsDeniedError(f"robots.txt of {lease.authority} denies {request.url}")

    async def _fetch_rules(self, lease: Lease) -> Rules:
        record = await self._worker.robots(lease.authority)
        if record is None:  # it ran out since the lease was granted; the page waits until it has been fetched again
            raise StaleLeaseError(f"the robots.txt of {lease.authority} has run out")
        rules = Rules(_text(record), self._user_agent)
        self._rules[lease.authority, lease.robots_ms] = rules
        while len(self._rules) > _MOST_RULES:
            self._rules.popitem(last=False)
        return rules


def _text(record: RobotsRecord) -> bytes:
    if record.kind == "disallow":
        return _NOTHING_ALLOWED
    return record.body if record.kind == "rules" else b""
