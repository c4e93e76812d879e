"""robots.txt at the rim: every leased page is held against its host's rules before anything is sent.

The record is the fleet's, fetched under a lease like any page and kept in the frontier; parsed rules are cached here.
Fails closed: without a valid record nothing is sent. Source: RFC 9309.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Self

from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Request, Response

from crawler.worker import Worker
from frontier.robots import Rules
from frontier.types import Kind, Lease, RobotsRecord

_MOST_RULES = 5000
_NOTHING_ALLOWED = b"User-agent: *\nDisallow: /\n"
# RFC 9309 2.5: at least 500 KiB must be looked at; the rest may be ignored.
MOST_BYTES = 500 * 1024


class RobotsDeniedError(IgnoreRequest):
    """The host's robots.txt does not allow this URL, or there is no record to ask."""


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
        rules = Rules(_text(record), self._user_agent)
        if record is not None:
            self._rules[lease.authority, lease.robots_ms] = rules
            while len(self._rules) > _MOST_RULES:
                self._rules.popitem(last=False)
        return rules


def _text(record: RobotsRecord | None) -> bytes:
    if record is None or record.kind == "disallow":
        return _NOTHING_ALLOWED
    return record.body if record.kind == "rules" else b""


def record_of(response: Response, max_age_ms: int) -> RobotsRecord | None:
    """What an answer for robots.txt means; None for a redirect, whose target has to be asked (RFC 9309 2.3.1)."""
    status = response.status
    if 200 <= status < 300:
        return RobotsRecord("rules", response.body[:MOST_BYTES], expires_in_ms=max_age_ms)
    if 300 <= status < 400 and response.headers.get("Location"):
        return None
    # 429 is a refusal for now, not the absence of rules: treated as unreachable, like 5xx.
    if 400 <= status < 500 and status != 429:
        return RobotsRecord("allow", expires_in_ms=max_age_ms)
    return RobotsRecord("disallow", expires_in_ms=max_age_ms)
