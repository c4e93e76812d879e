"""Stores and reports finished leases, in the one order in which nothing can be lost or kept twice.

0. pages that are one too many of their kind are left (crawler/pages/quality_caps.py);
1. the exchanges go to the archive's journal and are synced;
2. the links go to the sieve;
3. the outcomes go to the frontier, which says of each whether the lease was still ours;
4. the archive learns which of the journalled exchanges stay.

What is told of them afterwards waits for nobody (:mod:`crawler.work.teller`).

A Redis that was away may be back without its last seconds (docs/fleet.md): then 2 is done once more before 3, or, where
the absence was so short that only 3's answer told of it, behind it.

Killed before 3, the leases expire, the pages are fetched again, and the archive's recovery
drops what was journalled; killed after 3, recovery keeps it. Runs in one thread of the worker;
blocks while Redis is away or the disk is full.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass

from archive import Exchange, RevisitTarget, WarcWriter
from crawler.fetch.handler import Capture
from crawler.harvest.named_later import NamedLater
from crawler.pages.findings import Finished
from crawler.pages.quality_caps import QualityCaps
from crawler.pages.requisites import is_requisite
from crawler.records.provenance import Sources
from crawler.work.patience import Patience
from crawler.work.teller import fetched_bytes
from frontier.payload import pack
from frontier.redis_frontier import RedisFrontier
from frontier.types import Candidate, Kind, Outcome
from sieve.fleet.redis_sieve import RedisSieve
from sieve.types import Entry


@dataclass(slots=True)
class Committer:
    """See the module. `beside`: where what can be asked for meanwhile is asked for."""

    archive: WarcWriter
    sieve: RedisSieve
    frontier: RedisFrontier
    sources: Sources
    quality: QualityCaps
    named: NamedLater
    patiently: Patience
    beside: Executor
    keep_all: bool

    def begin(self, seeds: Callable[[], list[Candidate]]) -> None:
        """Enqueue what the crawl starts from."""
        self.commit([], self.patiently(seeds))

    def commit(self, batch: Sequence[Finished], more: Sequence[Candidate] = ()) -> list[bool]:
        """Store and report `batch`, and enqueue `more`; says of each whether the frontier accepted it."""
        urls = self.beside.submit(self._urls_of_sources, batch)
        self.quality.settle(batch, self.patiently)
        archived = self._journal(batch, urls.result())
        entries = self._entries(batch, more)
        absences = self.patiently(lambda: self._put(entries)) if entries else 0
        accepted = self._report(batch, entries, absences) if batch else []
        ours = [done for done, is_ours in zip(batch, accepted, strict=True) if is_ours]
        late = [done for done, is_ours in zip(batch, accepted, strict=True) if not is_ours]
        if archived:
            kept, dropped = ([done.lease.token for done in part] for part in (ours, late))
            self.patiently(lambda: self.archive.settle(kept, dropped))
        self.quality.give_back(late, self.patiently)
        return accepted

    def _urls_of_sources(self, batch: Sequence[Finished]) -> dict[str, str]:
        """On which pages the URLs of `batch` were found, of which the frontier knows a tag only. From now on its own
        pages are known, as far as they have links."""
        found_on_pages = {done.lease.source for done in batch if done.lease.kind is not Kind.ROBOTS}
        return self.sources.urls(found_on_pages, {link.source for done in batch for link in done.finding.links})

    def _journal(self, batch: Sequence[Finished], urls: Mapping[str, str]) -> bool:
        """Write the exchanges that the archive is to have into its journal, durably; whether there are any. Metadata of
        all but robots.txt say how far from the seeds the URL was found, and on which page as far as `urls` knows; of a
        robots.txt that has moved, for which host it was asked for: else nobody could tell from the archive."""
        archived = [done for done in batch if self._is_archived(done)]
        for done in archived:
            assert done.capture is not None
            finding, source = done.finding, done.lease.source
            kind = "requisite" if is_requisite(done.lease) and finding.verdict is None else str(done.lease.kind)
            if done.lease.kind is not Kind.ROBOTS:
                finding.metadata = {**finding.metadata, "source": urls.get(source, source), "depth": done.lease.depth}
            elif done.lease.hops:
                finding.metadata = {**finding.metadata, "source": source}
            exchange = exchange_of(done.capture, kind, finding.metadata, finding.not_modified)
            self.archive.write(exchange, done.lease.token)
        if archived:
            self.patiently(self.archive.sync)
        return bool(archived)

    def _entries(self, batch: Sequence[Finished], more: Sequence[Candidate]) -> list[Entry]:
        """The links of `batch`, its spider's requests, and `more`, for the sieve."""
        links = [link for done in batch for link in done.finding.links]
        requests = [request for done in batch for request in done.finding.requests]
        return [entry_of(link) for link in (*self._for_sieve(links), *requests, *more)]

    def _put(self, entries: Sequence[Entry]) -> int:
        """Put them into the sieve; how often Redis had been away before."""
        absences = self.sieve.absences()
        self.sieve.enqueue(entries)
        return absences

    def _for_sieve(self, links: list[Candidate]) -> list[Candidate]:
        """All but feeds and sitemaps that the frontier takes in past the sieve, which may know their URL as a page
        (NamedLater)."""
        feeds = [link for link in links if link.kind is Kind.FEED]
        sitemaps = [link for link in links if link.kind is Kind.SITEMAP]
        if not feeds and not sitemaps:
            return links
        for_sieve = self.patiently(lambda: self.named.for_sieve(feeds)) if feeds else []
        for_sieve += self.patiently(lambda: self.named.sitemaps_for_sieve(sitemaps))
        return [link for link in links if link.kind is Kind.PAGE] + for_sieve

    def _is_archived(self, done: Finished) -> bool:
        """Whether the archive is to have the exchange: there was an answer, and ``WARC_KEEP`` wants it."""
        if done.capture is None or done.capture.answer is None:
            return False
        finding = done.finding
        wanted = finding.shown or finding.not_modified is not None
        wanted |= finding.verdict is not None and finding.verdict.keep
        return self.keep_all or done.lease.kind is not Kind.PAGE or wanted

    def _report(self, batch: Sequence[Finished], entries: Sequence[Entry], absences: int) -> list[bool]:
        tries = 0

        def report() -> list[bool]:
            nonlocal tries, absences
            tries += 1
            if tries > 1 and entries:
                # Redis was away since it got them, and may be back without its last seconds.
                absences = self._put(entries)
            # Made anew at each try: the age of an answer grows while Redis is away.
            accepted = self.frontier.report_first([outcome_of(done) for done in batch])
            if entries and self.sieve.absences() != absences:
                # Another server took the report than the links, and no call failed: the client connects anew by itself.
                self.sieve.enqueue(entries)
            return accepted

        return self.patiently(report)


def entry_of(candidate: Candidate) -> Entry:
    """A candidate as the sieve carries it."""
    return Entry(candidate.url, pack(candidate))


def outcome_of(done: Finished) -> Outcome:
    """The finished lease as the frontier wants to hear of it, with its age at this very moment."""
    finding, capture = done.finding, done.capture
    return Outcome(
        token=done.lease.token,
        result=finding.result,
        fetch_ms=capture.fetch_ms if capture else 0,
        ended_ago_ms=int((time.monotonic() - capture.ended) * 1000) if capture else 0,
        retry_after_ms=finding.retry_after_ms,
        location=finding.location,
        robots=finding.robots,
        fetched_bytes=fetched_bytes(done),
        words=finding.verdict.words if finding.verdict else 0,
        memo=finding.memo,
        again_in_ms=finding.again_in_ms,
        page_mark=finding.page_mark,
    )


def exchange_of(
    capture: Capture, kind: str, metadata: Mapping[str, object], not_modified: RevisitTarget | None = None
) -> Exchange:
    """What was captured, as the archive keeps it."""
    assert capture.answer is not None
    return Exchange(
        url=capture.url,
        ip=capture.address,
        started=capture.started,
        request_bytes=capture.request_head,
        response_head=capture.answer.head,
        payload=bytes(capture.answer.body),
        protocol=capture.protocol,
        cipher=capture.cipher,
        truncated=capture.answer.truncated,
        metadata=metadata,
        fetch_ms=capture.fetch_ms,
        kind=kind,
        not_modified=not_modified,
    )
