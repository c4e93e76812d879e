"""What an answer, or its absence, turned out to be: the crawler's own words between fetch, relevance and frontier."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from archive import RevisitTarget
from frontier.types import Candidate, Lease, RobotsRecord
from relevance.pages.quality import Quality
from relevance.steering.policy import Verdict

if TYPE_CHECKING:
    from crawler.fetch.handler import Capture


@dataclass(slots=True)
class Finding:
    """The result of one lease.

    `result` is a key of the frontier's outcome table. `links` are the URLs to enqueue, scored; `requests` those
    that a spider's callback asked for, which have been enqueued already, and are once more before the report: Redis
    may have forgotten them since. `metadata` goes into the page's metadata record. `page_mark`: pages with equal
    marks are near-identical (b"": not marked). `again_in_ms` and `memo` are for URLs that are visited again and
    again (feeds, and articles that are looked at again), `not_modified` for a 304 among them: the record whose
    content is still valid. `quality`: of a page that is kept for the first time; `claimed`: the fleet's counts in
    which it is. `shown`: what pages embed, or may embed, and is to be archived for it.
    """

    result: str
    verdict: Verdict | None = None
    quality: Quality | None = None
    claimed: tuple[str, ...] = ()
    title: str = ""
    links: list[Candidate] = field(default_factory=list)
    requests: list[Candidate] = field(default_factory=list)
    robots: RobotsRecord | None = None
    location: str = ""
    retry_after_ms: int | None = None
    memo: bytes | None = None
    again_in_ms: int | None = None
    page_mark: bytes = b""
    metadata: Mapping[str, object] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    feed_counts: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    not_modified: RevisitTarget | None = None
    shown: bool = False


@dataclass(slots=True)
class Finished:
    """A lease that is done with, on its way to be stored and reported."""

    lease: Lease
    finding: Finding
    capture: Capture | None
