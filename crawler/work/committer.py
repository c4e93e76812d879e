"""Stores and reports finished leases, in the one order in which nothing can be lost or kept twice.

0. pages that are one too many of their kind are left (crawler/pages/quality_caps.py);
1. the exchanges go to the archive's journal and are synced;
2. the links go to the sieve;
3. the outcomes go to the frontier, which says of each whether the lease was still ours;
4. the archive learns which of the journalled exchanges stay.

A Redis that was away may be back without its last seconds (docs/fleet.md): then 2 is done once more before 3, or, where
the absence was so short that only 3's answer told of it, behind it.

Killed before 3, the leases expire, the pages are fetched again, and the archive's recovery
drops what was journalled; killed after 3, recovery keeps it. Runs in one thread of the worker;
blocks while Redis is away or the disk is full.
"""

from __future__ import annotations

import logging
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from archive import ArchiveFull, Exchange, RevisitTarget, WarcWriter
from crawler.fetch.handler import Capture
from crawler.harvest.named_later import NamedLater
from crawler.pages.findings import Finished
from crawler.pages.quality_caps import QualityCaps
from crawler.records.provenance import Sources
from frontier.errors import FrontierFull, FrontierUnavailable
from frontier.payload import pack
from frontier.redis_frontier import RedisFrontier
from frontier.types import Candidate, Counts, Kind, Outcome
from seeds.harvest import stats as harvest_stats
from sieve.errors import LinkError, LinkFull
from sieve.fleet.redis_sieve import RedisSieve
from sieve.types import Entry

logger = logging.getLogger(__name__)
T = TypeVar("T")

_AWAY = (FrontierUnavailable, LinkError, FrontierFull)
_FULL = (FrontierFull, LinkFull)
_FIRST_PAUSE_S = 0.1
_LONGEST_PAUSE_S = 5.0


@dataclass(slots=True)
class Committer:
    """See the module. `stopped` is asked while waiting: True gives up with the last error; `polls_of` is the day that
    polls were last counted for, `blocked_by` what finished pages wait for now: "redis", "disk" or "", and `full`
    whether that is a Redis at its memory limit."""

    archive: WarcWriter
    sieve: RedisSieve
    frontier: RedisFrontier
    sources: Sources
    quality: QualityCaps
    named: NamedLater
    stopped: Callable[[], bool]
    keep_all: bool = True
    polls_of: str = ""
    blocked_by: str = ""
    full: bool = False

    def begin(self, seeds: Callable[[], list[Candidate]]) -> None:
        """Enqueue what the crawl starts from."""
        self.commit([], self._patiently(seeds))

    def commit(self, batch: Sequence[Finished], more: Sequence[Candidate] = ()) -> list[bool]:
        """Store and report `batch`, and enqueue `more`; says of each whether the frontier accepted it."""
        self.quality.settle(batch, self._patiently)
        archived = self._journal(batch)
        entries = self._enqueue(batch, more)
        accepted = self._report(batch, entries) if batch else []
        ours = [done for done, is_ours in zip(batch, accepted, strict=True) if is_ours]
        late = [done for done, is_ours in zip(batch, accepted, strict=True) if not is_ours]
        if archived:
            kept, dropped = ([done.lease.token for done in part] for part in (ours, late))
            self._patiently(lambda: self.archive.settle(kept, dropped))
        self.quality.give_back(late, self._patiently)
        self._count(ours)
        return accepted

    def _journal(self, batch: Sequence[Finished]) -> bool:
        """Write the exchanges that the archive is to have into its journal, durably; whether there are any."""
        archived = [done for done in batch if self._is_archived(done)]
        self._add_sources(archived)
        for done in archived:
            assert done.capture is not None
            finding, kind = done.finding, str(done.lease.kind)
            exchange = exchange_of(done.capture, kind, finding.metadata, finding.not_modified)
            self.archive.write(exchange, done.lease.token)
        if archived:
            self._patiently(self.archive.sync)
        return bool(archived)

    def _enqueue(self, batch: Sequence[Finished], more: Sequence[Candidate]) -> list[Entry]:
        """Put the links of `batch`, and `more`, into the sieve; what was put in."""
        links = [link for done in batch for link in done.finding.links]
        self.sources.remember({link.source for link in links})
        entries = [entry_of(link) for link in (*self._for_sieve(links), *more)]
        if entries:
            self._patiently(lambda: self.sieve.enqueue(entries))
        return entries

    def _for_sieve(self, links: list[Candidate]) -> list[Candidate]:
        """All but feeds that the frontier takes in past the sieve, which may know their URL as a page (NamedLater)."""
        feeds = [link for link in links if link.kind is Kind.FEED]
        if not feeds:
            return links
        for_sieve = self._patiently(lambda: self.named.for_sieve(feeds))
        return [link for link in links if link.kind is not Kind.FEED or link in for_sieve]

    def share(self, learnt: Mapping[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
        """Add what this worker's policy learnt to the fleet's counts; the fleet's totals of the same keys."""
        return self._patiently(lambda: self.frontier.add_counts({"yield": learnt}))["yield"] if learnt else {}

    def _add_sources(self, batch: Sequence[Finished]) -> None:
        """Write into the metadata of every answer but robots.txt how far from the seeds and on which page its URL was
        found; the frontier knows a tag of that page only."""
        found_on_pages = [done for done in batch if done.lease.kind is not Kind.ROBOTS]
        urls = self.sources.urls({done.lease.source for done in found_on_pages})
        for done in found_on_pages:
            source = done.lease.source
            where = {"source": urls.get(source, source), "depth": done.lease.depth}
            done.finding.metadata = {**done.finding.metadata, **where}

    def _is_archived(self, done: Finished) -> bool:
        """Whether the archive is to have the exchange: there was an answer, and ``WARC_KEEP`` wants it."""
        if done.capture is None or done.capture.answer is None:
            return False
        finding = done.finding
        wanted = finding.not_modified is not None or (finding.verdict is not None and finding.verdict.keep)
        return self.keep_all or done.lease.kind is not Kind.PAGE or wanted

    def _report(self, batch: Sequence[Finished], entries: Sequence[Entry]) -> list[bool]:
        tries = 0

        def report() -> list[bool]:
            nonlocal tries
            tries += 1
            if tries > 1 and entries:
                # Redis was away since it got them, and may be back without its last seconds.
                self.sieve.enqueue(entries)
            # Made anew at each try: the age of an answer grows while Redis is away.
            accepted = self.frontier.report([outcome_of(done) for done in batch])
            if entries and self.sieve.interrupted():
                # Another server took the report than the links, and no call failed: the client connects anew by itself.
                self.sieve.enqueue(entries)
            return accepted

        return self._patiently(report)

    def _patiently(self, action: Callable[[], T]) -> T:
        """`action`, again and again while its store is away or full, until it works or the worker must stop."""
        pause_s = _FIRST_PAUSE_S
        while True:
            try:
                done = action()
                self.blocked_by, self.full = "", False
                return done
            except (*_AWAY, ArchiveFull) as error:
                self.blocked_by = "disk" if isinstance(error, ArchiveFull) else "redis"
                self.full = isinstance(error, _FULL)
                if self.blocked_by == "redis" and not self.full:
                    self.sieve.forget_sent()
                if self.stopped():
                    raise
                if pause_s == _FIRST_PAUSE_S:
                    logger.warning("The crawl waits: %s", error)
                time.sleep(pause_s)
                pause_s = min(pause_s * 2, _LONGEST_PAUSE_S)

    def _count(self, batch: Sequence[Finished]) -> None:
        """Add to the fleet's figures; they are for people, so a kill in between may cost a few."""
        hosts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
        languages: Counter[str] = Counter()
        for done in batch:
            verdict, row = done.finding.verdict, hosts[str(done.lease.authority)]
            row[0] += 1
            row[2] += fetched_bytes(done)
            if verdict is not None:
                row[1] += verdict.keep
                row[3] += verdict.words
                languages[f"{'kept' if verdict.keep else 'left'}:{verdict.language}"] += 1
        polls = self._by_feed(harvest_stats.together(done.finding.feed_counts for done in batch))
        outcomes = Counter(f"{done.lease.kind}:{done.finding.result}" for done in batch)
        tables: dict[str, Counts] = {
            "hosts": {host: tuple(row) for host, row in hosts.items()},
            "languages": {language: (n,) for language, n in languages.items()},
            self._day_of(polls): polls,
            "outcomes": {outcome: (n,) for outcome, n in outcomes.items()},
        }
        if batch:
            self._patiently(lambda: self.frontier.add_counts(tables))

    def _day_of(self, polls: Mapping[str, tuple[int, ...]]) -> str:
        """The table of the day's counts of feeds; with the first of a day those of long ago are forgotten."""
        now_ms = time.time_ns() // 1_000_000
        day = harvest_stats.counter_name(now_ms)
        if polls and day != self.polls_of:
            self._patiently(lambda: self.frontier.forget_counts(harvest_stats.stale_names(now_ms)))
            self.polls_of = day
        return day

    def _by_feed(self, counts: Mapping[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
        """Counts under feeds' URLs; those of pages come under a tag, and of a tag whose URL is forgotten they go."""
        tags = {name for name in counts if "://" not in name}
        urls = self.sources.urls(tags)
        named = ((urls.get(name) if name in tags else name, figures) for name, figures in counts.items())
        return harvest_stats.together({name: figures} for name, figures in named if name)


def entry_of(candidate: Candidate) -> Entry:
    """A candidate as the sieve carries it."""
    return Entry(candidate.url, pack(candidate))


def fetched_bytes(done: Finished) -> int:
    """Bytes of the answer, head and payload as transferred."""
    answer = done.capture.answer if done.capture else None
    return len(answer.head) + len(answer.body) if answer else 0


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
