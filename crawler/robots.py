"""robots.txt at the rim: every leased page is held against its host's rules before anything is sent.

What is sent in place of the leased URL (another spelling of it that its server wants, an older page of a feed) is held
against the opt-outs, too: the frontier has looked at the leased one only. So is where a robots.txt has moved to, of
which the frontier has looked at the host: rules that may not be had forbid everything, as any that cannot be read.

A host that has given pages and then denies all of them may have been taken down for an hour: it rests until its
robots.txt is asked for again, and loses nothing that waits.

The record is the fleet's, fetched under a lease like any page and kept in the frontier; parsed rules are cached here.
Fails closed: without a valid record nothing is sent. Source: RFC 9309.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Self

from scrapy.crawler import Crawler
from scrapy.http import Request

from crawler.downloader import LEASE_CHANGED, refused
from crawler.fetch.errors import HostClosedError, OptedOutError, StaleLeaseError
from crawler.pages.answers import RobotsDeniedError, lease_of
from crawler.work.held import HeldLease
from crawler.work.worker import Worker
from frontier.robots import Rules
from frontier.types import Kind, Lease

_MOST_RULES_BYTES = 8 * 1024 * 1024
# Parsed rules measured: 0.5 KB without any, 2.3 KB for 100 bytes of them, 230 KB for 6 KB.
_BYTES_OF_RULES, _TIMES_THE_TEXT = 600, 36


class RobotsMiddleware:
    """Downloader middleware; see the module."""

    def __init__(self, worker: Worker, user_agent: str) -> None:
        self._worker = worker
        self._user_agent = user_agent
        self._rules: OrderedDict[tuple[str, int], tuple[Rules, int]] = OrderedDict()
        self._rules_bytes = 0

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        worker = crawler.get_extension(Worker)
        assert worker is not None
        return cls(worker, crawler.settings["ROBOTS_USER_AGENT"])

    async def process_request(self, request: Request) -> None:
        """:class:`RobotsDeniedError` for a leased URL that its host's rules deny, :class:`HostClosedError` when they
        now deny all there is, :class:`OptedOutError`; :class:`OutsideFrontierError` for what has no lease any more."""
        lease, grant = lease_of(request), request.meta.get("grant")
        if lease is None or not isinstance(grant, HeldLease):
            raise refused(request, LEASE_CHANGED)
        try:
            await self._look(request, lease)
        except Exception as error:
            grant.error = error  # a middleware that asks for the page again instead does not change that
            raise

    async def _look(self, request: Request, lease: Lease) -> None:
        elsewhere = request.url != lease.url or lease.hops > 0
        if elsewhere and (prefix := await self._worker.opted_out_by(request.url)):
            raise OptedOutError(f"{prefix} has opted out, and with it {request.url}")
        if lease.kind is Kind.ROBOTS:
            return
        known = self._rules.get((lease.authority, lease.robots_ms))
        rules = known[0] if known is not None else await self._fetch_rules(lease)
        if not rules.allowed(request.url):
            if rules.closed and await self._worker.rest_while_closed(lease.authority):
                raise HostClosedError(f"robots.txt of {lease.authority} denies all now, and did not before")
            raise RobotsDeniedError(f"robots.txt of {lease.authority} denies {request.url}")

    async def _fetch_rules(self, lease: Lease) -> Rules:
        record = await self._worker.robots(lease.authority)
        if record is None:  # it ran out since the lease was granted; the page waits until it has been fetched again
            raise StaleLeaseError(f"the robots.txt of {lease.authority} has run out")
        rules = Rules.of(record, self._user_agent)
        self._keep((lease.authority, lease.robots_ms), rules, _BYTES_OF_RULES + _TIMES_THE_TEXT * len(record.body))
        return rules

    def _keep(self, key: tuple[str, int], rules: Rules, cost: int) -> None:
        """Remember rules; the longest known are forgotten when all together cost too much, these never: those of one
        host may cost more than all others are to."""
        _, old = self._rules.pop(key, (rules, 0))
        self._rules[key] = rules, cost
        self._rules_bytes += cost - old
        while self._rules_bytes > _MOST_RULES_BYTES and len(self._rules) > 1:
            _, (_, freed) = self._rules.popitem(last=False)
            self._rules_bytes -= freed
