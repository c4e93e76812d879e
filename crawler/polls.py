"""Feeds, index pages and sitemaps as entries that come again: the wiring between seeds.harvest and a lease.

What a poll means is decided there, purely; here a lease becomes a request, an answer becomes facts, and the result
becomes a finding. The memory of a feed travels with its frontier entry (``Lease.memo``), so a poll is polite, made by
one worker at a time, and repeated when its worker died, as any fetch is.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime

from scrapy.http import Response
from scrapy.settings import BaseSettings

from crawler import answers
from crawler.findings import Finding
from frontier.types import Candidate, Kind, Lease
from seeds import harvest
from seeds.model import Crawl, FeedSource, IndexSource
from seeds.schedule import Polling

_FOLLOW_UPS = {"feed": Kind.FEED, "sitemap": Kind.SITEMAP}
_NEWS = 1.0


class Polls:
    """The polls of one crawl; `spec` None: items may lead anywhere."""

    def __init__(self, settings: BaseSettings, spec: Crawl | None) -> None:
        self._spec = spec
        self._indexes = frozenset(index.url for index in spec.indexes) if spec else frozenset()
        sources: list[FeedSource | IndexSource] = [*spec.feeds, *spec.indexes] if spec else []
        self._polling = {source.url: polling_of(settings, source.min_poll_s, source.max_poll_s) for source in sources}
        self._default = polling_of(settings, None, None)

    def request(self, lease: Lease) -> harvest.PollRequest:
        """What to send for a feed's lease: its URL or an older page, and the conditions."""
        return harvest.request(lease.url, lease.memo, _now_ms())

    def read(self, response: Response, lease: Lease, asked: str) -> Finding:
        """The finding of an answer."""
        facts = harvest.Answer(
            asked=asked,
            status=response.status,
            now_ms=_now_ms(),
            headers={
                name.decode("latin-1").lower(): values[-1].decode("latin-1")
                for name, values in response.headers.items()
                if values
            },
            body=response.body,
            kind=self._kind(lease),
            problem="too_large" if "truncated" in response.flags else "",
            location=answers.location_of(response),
            retry_after_ms=answers.retry_after_ms(response),
        )
        return self._finding(lease, facts, answers.result_of(response), response.status)

    def fail(self, lease: Lease, asked: str, result: str) -> Finding:
        """The finding of a poll that got no answer."""
        facts = harvest.Answer(asked=asked, status=0, now_ms=_now_ms(), kind=self._kind(lease), problem=result)
        return self._finding(lease, facts, result, 0)

    def _kind(self, lease: Lease) -> str:
        if lease.kind is Kind.SITEMAP:
            return "sitemap"
        return "index" if lease.url in self._indexes else "feed"

    def _finding(self, lease: Lease, facts: harvest.Answer, result: str, status: int) -> Finding:
        polled = harvest.poll(lease.url, lease.memo, facts, self._polling.get(lease.url, self._default))
        stats = polled.stats
        return Finding(
            result,
            status=status,
            links=self._links(lease, polled),
            retry_after_ms=facts.retry_after_ms,
            memo=polled.memo,
            again_in_ms=polled.again_in_ms,
            warnings=tuple(f"{lease.url}: {warning.reason} {warning.detail}".strip() for warning in polled.warnings),
            feed_counts={f"{datetime.now(UTC):%Y-%m-%d} {lease.url}": astuple(stats)},
        )

    def _links(self, lease: Lease, polled: harvest.PollResult) -> list[Candidate]:
        depth, source = lease.depth + 1, f"feed:{lease.url}"
        wanted = self._spec.wants_item if self._spec else bool
        items = dict.fromkeys(entry.link for entry in polled.new_items if entry.link and wanted(entry.link))
        links = [Candidate(url, source=source, depth=depth, score=_NEWS) for url in items]
        links += [Candidate(up.url, _FOLLOW_UPS[up.kind], source, depth, _NEWS) for up in polled.follow_ups]
        return links


def astuple(stats: harvest.PollStats) -> tuple[int, ...]:
    """Its counts in the order of :data:`FEED_COUNTS`."""
    return tuple(getattr(stats, name) for name in FEED_COUNTS)


FEED_COUNTS = (
    "polls",
    "unchanged",
    "new_items",
    "gaps",
    "missed",
    "recovered",
    "errors",
    "pages_back",
    "dated",
    "delay_s",
)


def polling_of(settings: BaseSettings, min_s: float | None, max_s: float | None) -> Polling:
    """The bounds of a feed's schedule: its own, else the settings'."""
    return Polling(
        min_s=min_s if min_s is not None else settings.getfloat("HARVEST_MIN_POLL_S"),
        max_s=max_s if max_s is not None else settings.getfloat("HARVEST_MAX_POLL_S"),
    )


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
