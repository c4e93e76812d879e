"""Articles of feeds that are looked at again: what a fetch leaves for the next, and what an unchanged one stands for.

The series and the memo are `seeds.harvest.revisits`' to decide; here a page becomes its digests and validators, and a
304 is tied to the record of the archive whose content is still valid.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import xxhash
from scrapy.http import Response
from scrapy.settings import BaseSettings

from archive import RevisitTarget
from archive.messages.fields import warc_date
from crawler.pages.answers import header
from crawler.pages.findings import Finding
from crawler.pages.link_memo import read_link_memo
from crawler.pages.own_requests import is_own
from frontier.types import Lease
from relevance.pages.page import Page
from seeds.harvest.revisits import Look, is_revisit, published, revisit, stored_us

if TYPE_CHECKING:
    from crawler.fetch.handler import Capture

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class Revisits:
    """See the module."""

    def __init__(self, settings: BaseSettings) -> None:
        self._after_s = tuple(float(wait_s) for wait_s in settings.getlist("HARVEST_REVISIT_AFTER_S"))
        self._version = str(settings["WARC_VERSION"])

    def read(self, page: Page, response: Response, lease: Lease, finding: Finding) -> None:
        """An article came, for the first time or again: let it come again, or no more when it has settled."""
        capture = response.meta.get("capture")
        look = Look(
            text=xxhash.xxh3_128_digest(page.text().encode("utf-8", "replace")),
            body=xxhash.xxh3_64_digest(response.body),
            fetched_us=started_us(capture),
            etag=header(response, "ETag"),
            modified=header(response, "Last-Modified"),
            published=published_of(lease.memo),
        )
        self._keep(lease, look, finding)

    def unchanged(self, lease: Lease, finding: Finding) -> None:
        """An article answered that it is as it was; a spider's own request, on its own condition, is none."""
        if is_own(lease) or not is_revisit(lease.memo):
            return
        self._keep(lease, None, finding)
        finding.not_modified = archived_at(lease.url, stored_us(lease.memo), self._version)

    def _keep(self, lease: Lease, look: Look | None, finding: Finding) -> None:
        found = revisit(lease.memo, look, self._after_s)
        finding.memo, finding.again_in_ms = found.memo, found.again_in_ms


def published_of(memo: bytes) -> str:
    """When an article was published, as the feed says that led to it: ISO 8601, "" = not known."""
    link = read_link_memo(memo)
    return link.published if link is not None else published(memo)


def started_us(capture: Capture | None) -> int:
    """When an exchange began, as its record's date has it; epoch microseconds, 0 without one."""
    return (capture.started - _EPOCH) // _MICROSECOND if capture is not None else 0


def archived_at(url: str, fetched_us: int, version: str) -> RevisitTarget | None:
    """The record of what was fetched then; None of 0."""
    return RevisitTarget(url, warc_date(_EPOCH + fetched_us * _MICROSECOND, version)) if fetched_us else None
