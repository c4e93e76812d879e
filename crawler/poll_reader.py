"""Reads the answers of polls before Scrapy's spider middlewares see them, large ones off the reactor.

A downloader middleware, since only there an answer may be waited for; outside all others, so that it sees what they
have unpacked and is spared what they refuse. Its finding waits in ``request.meta["finding"]`` for the focus middleware.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from dataclasses import replace
from typing import Self

from scrapy.crawler import Crawler
from scrapy.http import Request, Response

from crawler.harvest.polls import RECURRING
from crawler.harvest.revisits import started_us
from crawler.harvest.site_sitemaps import ranked
from crawler.pages import answers
from crawler.pages.findings import Finding
from crawler.pages.requisites import behind_requisites
from crawler.work.worker import Worker
from frontier.errors import FrontierUnavailable
from frontier.types import Kind, Lease
from seeds.harvest import Answer, PollResult
from seeds.markup.packed import is_packed
from seeds.sitemaps.addresses import in_robots

logger = logging.getLogger(__name__)

# 13 ms of parsing for 35 KiB: more than that is not done while other answers wait.
_LARGE_BYTES = 16 * 1024
_MOST_HOSTS = 2000
_MOST_NAMED = 20


class PollReader:
    """See the module."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._one_at_a_time = asyncio.Lock()
        self._sitemaps: OrderedDict[tuple[str, int], tuple[str, ...]] = OrderedDict()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        worker = crawler.get_extension(Worker)
        assert worker is not None
        return cls(worker)

    async def process_response(self, request: Request, response: Response) -> Response:
        """Leave the finding of a poll in the request's meta."""
        lease = answers.lease_of(request)
        if lease is None or lease.kind not in RECURRING:
            return response
        polls = self._worker.stores.polls
        facts = polls.facts(
            response, lease, request.url, await self._sitemaps_of(lease), started_us(request.meta.get("capture"))
        )
        result = answers.result_of(response)
        # Of what is packed a few bytes may be thousands of pages.
        if len(response.body) > _LARGE_BYTES or is_packed(response.body):
            async with self._one_at_a_time:
                polled, finding = await asyncio.to_thread(self._read, lease, facts, result)
        else:
            polled, finding = self._read(lease, facts, result)
        if finding.result == "redirect":
            self._wait_to_follow(response, finding)
        for warning in finding.warnings:
            logger.warning("Feed %s", warning)
        if polls.is_of_a_site(lease):
            finding.links = await ranked(finding.links, polled.new_items, lease.url, self._worker.stores.policy)
        request.meta["finding"] = finding
        return response

    def _read(self, lease: Lease, facts: Answer, result: str) -> tuple[PollResult, Finding]:
        """Reading and all that is done for each item, which touches nothing that other answers need."""
        polls = self._worker.stores.polls
        polled = polls.poll(lease, facts)
        finding = polls.finding(lease, facts, polled, result)
        if lease.kind is Kind.SITEMAP and not polls.is_of_a_site(lease):
            finding.links = behind_requisites(finding.links, self._worker.stores.spec)
        return polled, finding

    def _wait_to_follow(self, response: Response, finding: Finding) -> None:
        """Where it has moved to, be that another spelling of its own, is asked for when the answer says."""
        frontier = self._worker.stores.frontier
        if wait_ms := answers.redirect_wait_ms(response, frontier.date_ms):
            not_before_ms = frontier.now_ms() + wait_ms
            finding.links = [replace(link, not_before_ms=not_before_ms) for link in finding.links]
            finding.again_in_ms = max(wait_ms, finding.again_in_ms or 0)

    async def _sitemaps_of(self, lease: Lease) -> tuple[str, ...]:
        """What the robots.txt of the lease's host names, remembered for as long as that record is; nothing while the
        frontier is away."""
        key = lease.authority, lease.robots_ms
        if key not in self._sitemaps:
            try:
                record = await self._worker.robots(lease.authority)
            except FrontierUnavailable:
                # The host has answered: a lease that was given back for this would be granted again without a delay.
                return ()
            named = in_robots(record.body, f"{lease.authority}/robots.txt") if record is not None else []
            self._sitemaps[key] = tuple(named[:_MOST_NAMED])
            while len(self._sitemaps) > _MOST_HOSTS:
                self._sitemaps.popitem(last=False)
        return self._sitemaps[key]
