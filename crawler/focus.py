"""Judges each answer of a lease and steers the crawl: page to verdict and links, robots.txt to record, feed to entries.

A spider middleware, so that a spider's own callback runs in between as usual; when its output has been consumed, the
lease is finished. One parse of the page serves text, links, directives and language (relevance.pages.page).
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Self
from weakref import WeakKeyDictionary

import xxhash
from scrapy.crawler import Crawler
from scrapy.http import Request, Response

from crawler.fetch.handler import Capture, refusal_behind
from crawler.harvest.item_dates import memo_elsewhere
from crawler.harvest.polls import RECURRING
from crawler.harvest.revisits import Revisits, published_of
from crawler.harvest.site_sitemaps import sitemaps_of
from crawler.pages import answers
from crawler.pages.detour import detour_memo
from crawler.pages.findings import Finding
from crawler.pages.link_memo import NO_LINK, LinkMemo, read_link_memo
from crawler.pages.own_requests import is_on_site, without_secrets
from crawler.pages.quality_caps import NEAR_IDENTICAL, quality_fields
from crawler.pages.requisites import (
    is_requisite,
    is_style_sheet,
    may_be_page,
    may_be_shown,
    requisites,
    wants_requisites,
)
from crawler.pdf_documents import is_document
from crawler.work.worker import Worker
from frontier.types import Candidate, Kind, Lease
from relevance.errors import PdfError
from relevance.pages.media_type import media_type
from relevance.pages.page import Page, read_page
from relevance.pages.quality import Quality
from relevance.pages.requisites import page_requisites, stylesheet_requisites
from relevance.steering.policy import LinkContext, PageContext, Verdict
from seeds.crawl import Crawl
from sieve.urls import bad_port, resolve_many

logger = logging.getLogger(__name__)

# A page with more links than this, or with more in its head, is a list of links; the first ones say enough.
_MOST_LINKS = 3000
_LEAST_MARKED = 40
_MOST_MARKS = 20_000
_REPEATS = b"repeats "
"""Mark of all pages that have the text of another, of which we remember many and the frontier the last few: a site that
gives each article at ever new addresses has more of them."""
_LOOK_S = 0.03
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class _RawLink:
    """A link as its page has it, before it is joined and scored."""

    href: str
    anchor: str = ""
    hreflang: str = ""
    nav: bool = False


def no_items(_response: Response) -> None:
    """Callback for robots.txt, feeds, sitemaps and what pages embed: the middleware deals with them, no spider sees
    them."""


class FocusMiddleware:
    """See the module."""

    def __init__(self, crawler: Crawler, worker: Worker) -> None:
        self._crawler = crawler
        self._worker = worker
        self._user_agent = str(crawler.settings["ROBOTS_USER_AGENT"])
        # What becomes of each answer, kept from its callback, which may do with its `meta` what it likes.
        self._judged: WeakKeyDictionary[Response, tuple[Lease, Finding, Capture | None]] = WeakKeyDictionary()
        self._marks: OrderedDict[tuple[str, bytes, bool], str] = OrderedDict()  # the first page with it
        self._robots_age_ms = round(crawler.settings.getfloat("ROBOTS_MAX_AGE_S") * 1000)
        self._revisits = Revisits(crawler.settings) if crawler.settings.getbool("HARVEST_REVISIT") else None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        worker = crawler.get_extension(Worker)
        assert worker is not None
        return cls(crawler, worker)

    # Scrapy's side

    def process_spider_input(self, response: Response) -> None:
        """Judge before the callback sees the answer (``response.meta["finding"]``)."""
        lease = answers.lease_of(self._request(response))
        if lease is None:
            return
        if lease.kind in RECURRING:
            assert "finding" in response.meta, "the downloader middleware crawler.poll_reader is missing"
        else:
            response.meta["finding"] = self._finding(response, lease)
        self._judged[response] = lease, response.meta["finding"], response.meta.get("capture")

    def _finding(self, response: Response, lease: Lease) -> Finding:
        finding = Finding(answers.result_of(response))
        finding.retry_after_ms = answers.retry_after_ms(refusal_behind(response), self._now_ms)
        finding.shown = is_requisite(lease) and answers.may_keep(self._told(response))
        if finding.result == "redirect":
            self._follow_redirect(response, lease, finding)
        elif lease.kind is Kind.ROBOTS:
            finding.robots = answers.record_of(response, self._robots_age_ms)
            finding.links = sitemaps_of(self._worker.stores.spec, lease.source, finding.robots)
        elif finding.result in ("ok", "too_large") and is_requisite(lease):
            self._read_requisite(response, lease, finding)
        elif finding.result in ("ok", "too_large"):
            self._read_page(response, lease, finding)
        elif finding.result == "not_modified" and self._revisits is not None:
            self._revisits.unchanged(lease, finding)
        return finding

    async def process_start(self, start: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Pass on what a spider starts with, however much, no sooner than it can be kept: Redis may be away."""
        async for output in start:
            while self._worker.lags:
                await asyncio.sleep(_LOOK_S)
            yield output

    def process_spider_output(self, response: Response, result: Iterable[Any]) -> Iterator[Any]:
        """Pass on what the callback gives; its end is the end of the lease. Its requests are handed on at once: Scrapy
        takes what is yielded when it comes to it, behind items whose pipelines may take long, and a page must not be
        reported before its requests are kept. None stands for them, so that Scrapy has its turn as often as before."""
        for output in result:
            yield None if self._hand_on(output, response) else output
        self._finish(response)

    async def process_spider_output_async(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """As :meth:`process_spider_output`."""
        async for output in result:
            yield None if self._hand_on(output, response) else output
        self._finish(response)

    def _hand_on(self, output: Any, response: Response) -> bool:
        """Whether it was a request of a leased page's, which is scheduled now."""
        if not isinstance(output, Request) or response not in self._judged:
            return False
        assert self._crawler.engine is not None
        output.meta.setdefault("finding", self._judged[response][1])  # whose request it is
        self._crawler.engine.crawl(output)
        return True

    def process_spider_exception(self, response: Response, exception: Exception) -> None:  # noqa: ARG002
        """A callback's fault costs its items, never the page or its links."""
        self._finish(response)

    def _finish(self, response: Response) -> None:
        if response in self._judged:
            self._worker.finish(*self._judged[response])

    @staticmethod
    def _request(response: Response) -> Request:
        assert response.request is not None
        return response.request

    def _told(self, response: Response, meta: frozenset[str] = frozenset()) -> frozenset[str]:
        """The robots directives of an answer, and of its page where that has some."""
        return answers.directives(response, meta, self._user_agent)

    # Kinds of answers

    def _read_page(self, response: Response, lease: Lease, finding: Finding) -> None:
        page = self._page(response, finding)
        if page is None:
            finding.result = "unwanted" if finding.result == "ok" else finding.result
            shown = may_be_shown(answers.header(response, "Content-Type"), self._worker.stores.spec)
            finding.shown = shown and answers.may_keep(self._told(response))
            return
        directives = self._told(response, page.robots_meta)
        finding.shown &= answers.may_keep(directives)
        finding.title = page.title
        fetched_before = read_link_memo(lease.memo) is None
        finding.page_mark = b"" if fetched_before else page_mark(page)  # a page like itself is no trap
        repeats = self._repeats(lease, finding.page_mark, may_keep=answers.may_keep(directives))
        if repeats:
            finding.page_mark = _REPEATS
        # What we have already is worth nothing again; so the policy learns where not to look for more.
        verdict = self._judge(page, response, lease, directives, known=repeats)
        if repeats:
            verdict = replace(verdict, keep=False, reason=NEAR_IDENTICAL)
        verdict, quality = self._worker.stores.quality.look(lease, page, verdict, fetched_before)
        finding.verdict, finding.quality = verdict, None if fetched_before else quality
        if verdict.keep and wants_requisites(self._worker.stores.spec, directives):
            # First: what is also linked to comes out of the sieve as what comes first, and would be left as no page.
            finding.links = self._embedded(page, response, lease)
        # A spider without a seed file says itself which links it wants; there is no scope to go by.
        if answers.may_follow(directives) and self._worker.stores.spec is not None:
            finding.links += self._links(page, response, lease, verdict)
        finding.metadata = page_metadata(page, verdict, quality)
        if published := published_of(lease.memo):
            finding.metadata = {**finding.metadata, "feed-published": published}
        if lease.source.startswith("feed"):
            self._read_item(page, response, lease, finding)

    def _embedded(self, page: Page, response: Response, lease: Lease) -> list[Candidate]:
        content_type = answers.header(response, "Content-Type")
        if media_type(content_type) == "text/plain" or is_document(response):
            return []
        assert self._worker.stores.spec is not None
        addresses = page_requisites(response.body, content_type)
        return requisites(addresses, _base_of(page, response), response.url, lease, self._worker.stores.spec)

    def _read_requisite(self, response: Response, lease: Lease, finding: Finding) -> None:
        """What a kept page embeds is archived, whatever it is; style sheets lead to more."""
        content_type, spec = answers.header(response, "Content-Type"), self._worker.stores.spec
        found = replace(lease, memo=b"")
        is_page = not lease.uncounted and may_be_page(response.url, content_type, lease.depth, spec)
        if is_page and self._is_new(response, found):
            self._request(response).callback = None  # the spider's own, as of any page
            self._read_page(response, found, finding)
            return
        if is_style_sheet(response.url, content_type) and wants_requisites(spec, self._told(response)):
            assert spec is not None
            addresses = stylesheet_requisites(response.body, content_type)
            finding.links = requisites(addresses, response.url, response.url, lease, spec)

    def _is_new(self, response: Response, lease: Lease) -> bool:
        """Whether it is a page with a text of its own, not one that a site gives for all that is missing."""
        page = self._page(response, Finding("ok"))
        if page is None or not (mark := page_mark(page)):
            return False
        return not self._repeats(lease, mark, may_keep=answers.may_keep(self._told(response, page.robots_meta)))

    def _page(self, response: Response, finding: Finding) -> Page | None:
        """What is read of an answer; None: it is no page, or a document that cannot be read."""
        read = response.meta.get("pdf_read")  # by crawler.pdf_documents
        if isinstance(read, Page):
            return read
        if isinstance(read, PdfError):
            finding.metadata = {"unread": read.reason}
        content_type = answers.header(response, "Content-Type")
        if media_type(content_type) not in answers.PAGE_TYPES or is_document(response):
            return None
        return read_page(response.body, response.url, content_type or None, self._user_agent)

    def _read_item(self, page: Page, response: Response, lease: Lease, finding: Finding) -> None:
        """A page that a feed led to: how soon it was fetched, and when to look at it again."""
        finding.feed_counts = self._worker.stores.polls.arrived(lease)
        if self._revisits and finding.result == "ok" and finding.verdict is not None and finding.verdict.keep:
            self._revisits.read(page, response, lease, finding)

    def _repeats(self, lease: Lease, mark: bytes, *, may_keep: bool) -> bool:
        """Whether the fleet has kept another page of the authority with the mark, or this worker has met one. One that
        may not be kept, as a version to be printed, takes nothing from one that may."""
        if not mark:
            return False
        key = (lease.authority, mark, may_keep)
        self._marks[key] = first = self._marks.pop(key, lease.url)
        while len(self._marks) > _MOST_MARKS:
            self._marks.popitem(last=False)
        return self._worker.stores.quality.repeats(lease, mark, met=first != lease.url)

    def _judge(
        self, page: Page, response: Response, lease: Lease, directives: frozenset[str], *, known: bool
    ) -> Verdict:
        found_by, may_keep = read_link_memo(lease.memo), answers.may_keep(directives)
        link = found_by or NO_LINK
        context = PageContext(
            depth=lease.depth,
            since_relevant=link.since_relevant,
            bucket=link.bucket,
            fetched_bytes=len(response.body),
            content_language=answers.header(response, "Content-Language"),
            known=known,
            may_keep=may_keep,
            again=found_by is None,
        )
        verdict = self._worker.stores.policy.judge(page, context)
        return verdict if may_keep else replace(verdict, keep=False, reason="noindex")

    def _links(self, page: Page, response: Response, lease: Lease, verdict: Verdict) -> list[Candidate]:
        links = [
            _RawLink(link.href, link.text, link.hreflang, link.context == "nav")
            for link in page.links[:_MOST_LINKS]
            if "nofollow" not in link.rel
        ]
        links += [_RawLink(href, hreflang=language) for language, href in page.hreflangs[:_MOST_LINKS]]
        links += [_RawLink(target) for target in (page.refresh, answers.refresh_of(response)) if target]
        return self._candidates(links, _base_of(page, response), response.url, lease, verdict)

    def _candidates(
        self, links: list[_RawLink], base: str, source: str, lease: Lease, verdict: Verdict
    ) -> list[Candidate]:
        spec, policy = self._worker.stores.spec, self._worker.stores.policy
        depth, since = lease.depth + 1, _since_relevant(lease, verdict)
        on_known = verdict.reason == NEAR_IDENTICAL
        contexts: dict[str, LinkContext] = {}
        for link, url in zip(links, resolve_many([link.href for link in links], base), strict=True):
            if url is None:
                continue
            if url in contexts:
                contexts[url] = contexts[url].together(link.anchor, link.hreflang, link.nav)
            elif _may_follow(spec, url, depth):
                contexts[url] = LinkContext(
                    url, link.anchor, source, verdict, depth, since, link.hreflang, link.nav, on_known
                )
        ranks = policy.rank(list(contexts.values()))
        return [
            Candidate(url, source=source, depth=depth, score=score, memo=LinkMemo(since, bucket).pack())
            for url, (score, bucket) in zip(contexts, ranks, strict=True)
        ]

    def _now_ms(self) -> int:
        """By Redis' clock."""
        return self._worker.stores.frontier.date_ms()

    def _follow_redirect(self, response: Response, lease: Lease, finding: Finding) -> None:
        location = answers.location_of(response)
        if lease.kind is Kind.ROBOTS:
            finding.result, finding.location = "robots_redirect", location
            finding.retry_after_ms = answers.redirect_wait_ms(response, self._now_ms) or None
            return
        detours = self._request(response).meta["detours"]
        wait_ms = answers.redirect_wait_ms(response, self._now_ms)
        if (memo := detour_memo(lease, response.url, location, detours)) is not None:
            finding.memo, finding.again_in_ms = memo, wait_ms
        elif location and self._may_redirect_to(response, lease, location):
            # The same page at another place: neither a step further from the seeds nor of less worth. The step counts
            # all the same when there are many, since a loop of ever new addresses must end.
            depth = lease.depth + 1
            is_first = is_requisite(lease) or read_link_memo(lease.memo) is not None
            memo = lease.memo if is_first and lease.kind is Kind.PAGE else b""
            memo = memo_elsewhere(without_secrets(memo, response.url, location), response.url, location)
            # An item stays its feed's: what the feed gives and how soon is judged by the article.
            source = lease.source if lease.source.startswith("feed") else response.url
            not_before_ms = self._worker.stores.frontier.now_ms() + wait_ms if wait_ms else 0
            finding.links = [Candidate(location, lease.kind, source, depth, lease.score, not_before_ms, memo)]

    def _may_redirect_to(self, response: Response, lease: Lease, location: str) -> bool:
        """Whether a page may be fetched where it has moved to: an item of a feed wherever items may lead, what a spider
        without a seed file asked for within its ``allowed_domains``."""
        spec = self._worker.stores.spec
        if bad_port(location) is not None:
            return False
        if spec is None:
            return bool(response.meta.get("allow_offsite")) or is_on_site(self._crawler.spider, location)
        if is_requisite(lease):
            return spec.wants_requisite(location)
        if lease.source.startswith("feed"):
            return spec.wants_item(location)
        return _may_follow(spec, location, 0)


def _base_of(page: Page, response: Response) -> str:
    """What the addresses of a page are relative to."""
    return (resolve_many([page.base], response.url)[0] if page.base else None) or response.url


def _may_follow(spec: Crawl | None, url: str, depth: int) -> bool:
    return bad_port(url) is None and (spec is None or spec.may_follow(url, depth))


def _since_relevant(lease: Lease, verdict: Verdict) -> int:
    """Irrelevant pages between the last relevant one and what the lease's page links to."""
    if verdict.keep:
        return 0
    return (read_link_memo(lease.memo) or NO_LINK).since_relevant + 1


def page_mark(page: Page) -> bytes:
    """8 bytes that pages share which differ in numbers only, as the pages of a trap do; b"" for hardly any text."""
    text = _DIGITS.sub("", page.text(0.5))
    return xxhash.xxh3_64_digest(text.encode("utf-8", "replace")) if len(text) >= _LEAST_MARKED else b""


def page_metadata(page: Page, verdict: Verdict, quality: Quality | None = None) -> dict[str, object]:
    """Fields of the page's WARC metadata record; `quality` is that of a page that is kept. On which page its URL was
    found is added when it is stored (`crawler.work.committer`)."""
    return {
        "languages": verdict.language,
        "verdict": "keep" if verdict.keep else "leave",
        "verdict-reason": verdict.reason,
        "verdict-scores": dict(verdict.scores),
        "target-words": verdict.words,
        "blocks": [list(block) for block in verdict.blocks],
        **(quality_fields(quality) if quality else {}),
        "charset": page.charset,
        "charset-source": page.charset_source,
    }
