"""Reads PDF documents before Scrapy's spider middlewares see them, off the reactor, in a process that may die of them.

A downloader middleware, since only there an answer may be waited for; outside of what unpacks answers. What came of it
waits in ``request.meta["pdf_read"]`` for the focus middleware: a page, or why there is none. One document at a time,
and none for longer than its lease will last.
"""

from __future__ import annotations

import asyncio
from typing import Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Request, Response

from crawler.pages import answers
from crawler.pages.requisites import is_requisite
from crawler.work.held import HeldLease
from frontier.clock_line import uptime_s
from frontier.types import Kind
from relevance import Page, PdfError
from relevance.pages.media_type import media_type
from relevance.pdf import PdfReader, is_pdf

_LONGEST_S = 20.0
_SHARE = 0.5
"""Of what is left of its lease; the rest is for what comes after the reading."""


class PdfDocuments:
    """See the module."""

    def __init__(self, crawler: Crawler) -> None:
        assert crawler.stats is not None
        self._stats = crawler.stats
        self._reader = PdfReader()
        self._one_at_a_time = asyncio.Lock()
        crawler.signals.connect(self._reader.close, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        if not crawler.settings.getbool("RELEVANCE_PDF"):
            raise NotConfigured
        return cls(crawler)

    async def process_response(self, request: Request, response: Response) -> Response:
        """Leave what a document says in the request's meta."""
        lease = answers.lease_of(request)
        if lease is None or lease.kind is not Kind.PAGE or is_requisite(lease) or not is_document(response):
            return response
        async with self._one_at_a_time:
            read = await self._read(response, request.meta["grant"])
        self._stats.inc_value(f"pdf/{read.reason}" if isinstance(read, PdfError) else "pdf/read")
        request.meta["pdf_read"] = read
        return response

    async def _read(self, response: Response, held: HeldLease) -> Page | PdfError:
        left_s = min(_LONGEST_S, _SHARE * (held.ends - uptime_s()))
        if left_s <= 0:  # it waited for others; whoever has the lease now reads it
            return PdfError(response.url, "late")
        try:
            return await asyncio.to_thread(self._reader.read, response.body, response.url, left_s)
        except PdfError as error:
            hurried = error.reason == "slow" and left_s < _LONGEST_S  # alone it might have had time enough
            return PdfError(response.url, "late") if hurried else error


def is_document(response: Response) -> bool:
    """Whether an answer is a PDF document, of which more than a part is there."""
    if answers.result_of(response) not in ("ok", "too_large"):
        return False
    return is_pdf(media_type(answers.header(response, "Content-Type")), response.body)
