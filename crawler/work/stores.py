"""Opens what a crawl shares and what it writes: sieve, frontier, archive and policy."""

from __future__ import annotations

import contextlib
import logging
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

from scrapy import Spider
from scrapy.settings import BaseSettings

from archive import Earlier, WarcWriter, WriterConfig, recover
from archive.storage.warcfile import finished_in
from archive.writing.earlier import indexes_of
from crawler.harvest.named_later import NamedLater
from crawler.harvest.polls import Polls, first_poll_ms
from crawler.harvest.site_sitemaps import sitemaps_of
from crawler.options import OPTIONS
from crawler.pages.kept_log import KeptLog
from crawler.pages.policy import open_policy, policy_name
from crawler.pages.quality_caps import QualityCaps
from crawler.records.provenance import MOST_PAYLOADS, MOST_SOURCES, Payloads, Sources, program_commit
from crawler.state.redis_link import (
    RedisHome,
    RedisUnreachableError,
    client,
    is_cluster,
    private_neighbours,
    redis_home,
)
from crawler.state.run_record import RunRecord, worker_record
from crawler.state.shared_table import SharedTable
from crawler.state.state_format import StateWatch, ensure_format
from crawler.version import VERSION
from crawler.work.committer import Committer
from crawler.work.opening import open_frontier, open_sieve
from crawler.work.patience import Patience
from crawler.work.start_urls import StartUrls
from crawler.work.teller import Teller
from frontier.config import FrontierConfig
from frontier.errors import FrontierUnavailable
from frontier.redis_frontier import RedisFrontier
from frontier.types import Candidate, Kind, RobotsRecord
from relevance.steering.policy import Policy
from seeds.crawl import Crawl
from sieve.errors import LinkError
from sieve.fleet.decider import Decider
from sieve.fleet.redis_sieve import RedisSieve
from sieve.urls import authority

logger = logging.getLogger(__name__)

_OPENING_PAUSES_S = (0.2, 1.0, 3.0)
_OTHERS = (
    "Crawls beside this one run on a private Redis of their own: %s. A host that they want, too, is asked by each at "
    "its own pace; with one REDIS_URL they take turns"
)
_CLUSTER = (
    "Redis is a node of a Cluster: crawls whose names lie on its other nodes know nothing of this one. A host that "
    "they want, too, is asked by each at its own pace, and what has opted out of all crawls has to be said of each"
)
_BEGINS_ANEW = (
    "Redis knows nothing of crawl %r, whose archive is in %s: it begins anew at its seeds, without the opt-outs and "
    "delays that it may have had. Where that is not meant, stop it, and give Redis its data back"
)
_NEVER_ENDS = (
    "FRONTIER_RETRY_FACTOR=%g: a host whose robots.txt cannot be had is asked for it anew after %g s at most. By "
    "FRONTIER_IDLE_CLOSE_S=%g that is soon: as long as there is one, nothing but a budget ends the crawl"
)
_MANY_INDEXES = 64
_MERGE = "WARC_EARLIER: each of %d indexes is asked for every page; `python -m archive index --merge` makes one of them"
_KINDS = {"page": Kind.PAGE, "feed": Kind.FEED, "index": Kind.FEED, "sitemap": Kind.SITEMAP}


@dataclass
class Stores:
    """One crawl's open stores; `spec` is None for a spider that has no seed file."""

    folder: Path
    home: RedisHome
    sieve: RedisSieve
    decider: Decider
    frontier: RedisFrontier
    archive: WarcWriter
    sources: Sources
    quality: QualityCaps
    policy: Policy
    polls: Polls
    start_urls: StartUrls
    watch: StateWatch
    record: RunRecord
    named: NamedLater
    spec: Crawl | None
    settings: BaseSettings

    @classmethod
    @contextlib.contextmanager
    def open(cls, settings: BaseSettings, spider: Spider, folder: Path) -> Iterator[Stores]:
        """The stores of `spider`'s crawl, with dead workers' WARC files closed and this worker deciding when it may.

        `folder` is the crawl's data folder. RedisUnreachableError when there is no Redis, FrontierUnavailable while
        it reads its data, StateFormatError when the state in it is another version's.
        """
        spec: Crawl | None = getattr(spider, "spec", None)
        crawl = spider.name
        with contextlib.ExitStack() as opened:
            held, closing = opened.enter_context, contextlib.closing
            home = held(_home(settings, folder))
            ensure_format(home.url, crawl, patient=False)
            watch = held(closing(StateWatch(home.url, crawl)))
            frontier = held(closing(open_frontier(settings, home, crawl, spec)))
            if not any(frontier.moves()) and finished_in(folder / "warc"):
                logger.warning(_BEGINS_ANEW, crawl, folder)
            _warn_of_no_end(frontier.config, settings.getfloat("FRONTIER_IDLE_CLOSE_S"))
            sieve = held(closing(open_sieve(settings, home, crawl, folder)))
            # Now and when this worker ends: one that is killed, before or meanwhile, leaves no file open.
            earlier = _earlier(settings)
            _recover(folder, frontier, earlier)
            opened.callback(_recover, folder, frontier, earlier)
            sources = held(closing(SharedTable(client(home.url), crawl, "sources", MOST_SOURCES)))
            payloads = held(closing(SharedTable(client(home.url), crawl, "payloads", MOST_PAYLOADS)))
            told = told_of(settings, crawl, spec, frontier.config)
            ours = worker_record(settings, folder, spec.path if spec else "")
            config = archive_config(settings, Payloads(payloads), earlier, told)
            yield cls(
                folder=folder,
                home=home,
                sieve=sieve,
                frontier=frontier,
                sources=Sources(sources),
                quality=held(closing(_quality(settings, home, crawl))),
                archive=held(closing(_archive(settings, folder, crawl, config))),
                decider=held(_deciding(sieve, settings.getfloat("SIEVE_FLUSH_MS") / 1000)),
                policy=open_policy(settings, spec),
                polls=Polls(settings, spec, frontier.date_ms),
                start_urls=held(closing(StartUrls(client(home.url), crawl, sieve.enqueue))),
                watch=watch,
                named=held(closing(NamedLater(client(home.url), crawl, frontier))),
                record=held(closing(RunRecord(home.url, crawl, ours))),
                spec=spec,
                settings=settings,
            )

    @cached_property
    def seed_hosts(self) -> frozenset[str]:
        """The authorities that the seed file names."""
        return frozenset(str(authority(seed.url)) for seed in self.spec.seeds()) if self.spec else frozenset()

    def seeds(self) -> list[Candidate]:
        """What the crawl starts from; the sieve drops what a resumed crawl already knows. FrontierUnavailable,
        FrontierFull: what is polled and was named later than the crawl began goes to the frontier from here."""
        if self.spec is None:
            return []
        found = [(seed.url, _KINDS.get(seed.kind, Kind.PAGE)) for seed in self.spec.seeds()]
        polled = sum(kind is not Kind.PAGE for _, kind in found)
        now_ms = self.frontier.now_ms()
        seeds = [
            Candidate(
                url,
                kind,
                source="seed",
                score=1.0,
                not_before_ms=0 if kind is Kind.PAGE else first_poll_ms(self.settings, url, polled, now_ms),
            )
            for url, kind in found
        ]
        homes = dict.fromkeys(str(authority(site.url)) for site in self.spec.sites if site.sitemaps)
        self.named.take_in_sitemaps(list(homes), self._sitemaps_of)
        return self.named.for_sieve(seeds)

    def _sitemaps_of(self, home: str) -> list[Candidate]:
        """Those that a site's robots.txt names, or where it has to be read first the usual one."""
        return sitemaps_of(self.spec, home, self.frontier.get_robots(home) or RobotsRecord("allow"))

    def committer(self, stopped: Callable[[], bool], beside: Executor) -> Committer:
        """What stores and reports this worker's finished leases; `stopped`: whether it is to wait no longer, `beside`:
        threads for what need not wait for another."""
        patiently = Patience(stopped, self.sieve.forget_sent)
        return Committer(
            archive=self.archive,
            sieve=self.sieve,
            frontier=self.frontier,
            sources=self.sources,
            quality=self.quality,
            named=self.named,
            patiently=patiently,
            beside=beside,
            keep_all=self.settings.get("WARC_KEEP") == "fetched",
        )

    def teller(self, stopped: Callable[[], bool]) -> Teller:
        """What tells of those that were reported; `stopped`: as above."""
        patiently = Patience(stopped, self.sieve.forget_sent)
        # Else no link is scored, and the memos of what waits are long.
        return Teller(self.frontier, self.sources, self.policy, patiently, scores=self.spec is not None)

    def check(self, every_s: float) -> None:
        """Make sure that the crawl's state is still there, and note that this worker is; StateGoneError,
        FrontierUnavailable."""
        self.watch.check(every_s)
        self.record.refresh()

    def revive(self) -> None:
        """Redis does not answer: a private one is started again, and any may come back without its last seconds."""
        self.sieve.forget_sent()
        self.home.revive()

    def quiet(self, budget_spent: bool) -> tuple[int, ...] | None:
        """How far the fleet has come, when nothing in it is out on a lease, waits to be decided or to be taken in, as
        far as start URLs could be looked for; else None. StateGoneError: all is lost.

        These are looked at one after another, and what another worker moves meanwhile may be seen in none of them: they
        tell of the whole fleet only when a later look finds it just as far, and has asked for leases in between."""
        self.watch.check()
        # Before all else: what comes to an end behind this must have begun before it.
        come = () if budget_spent else (*self.frontier.moves(), self.sieve.tally().put)
        if self.frontier.status().leased:
            return None
        if not budget_spent and (self.start_urls.waits or self.sieve.pending() or self.frontier.has_ready()):
            return None
        return come


def open_patiently(opened: contextlib.ExitStack, settings: BaseSettings, spider: Spider, folder: Path) -> Stores:
    """:meth:`Stores.open` inside `opened`; a Redis that goes away in these very seconds is waited for, some seconds.
    RedisUnreachableError at once when it was not there to begin with."""
    went_away: tuple[type[Exception], ...] = (FrontierUnavailable, LinkError)
    for pause_s in _OPENING_PAUSES_S:
        try:
            return opened.enter_context(Stores.open(settings, spider, folder))
        except went_away as error:
            logger.warning("Redis went away while the crawl was opened, trying again: %s", error)
            went_away = (*went_away, RedisUnreachableError)
            time.sleep(pause_s)
    return opened.enter_context(Stores.open(settings, spider, folder))


@contextlib.contextmanager
def _home(settings: BaseSettings, folder: Path) -> Iterator[RedisHome]:
    with redis_home(settings, folder) as home:
        if home.embedded and (others := private_neighbours(folder)):
            logger.warning(_OTHERS, ", ".join(map(str, others)))
        with contextlib.closing(client(home.url)) as server:
            if is_cluster(server):
                logger.warning(_CLUSTER)
        yield home


def _warn_of_no_end(rules: FrontierConfig, idle_close_s: float) -> None:
    """Of pages the retries are bounded; robots.txt is asked for as long as it does not answer."""
    longest_s = rules.rule("robots_unreachable").rest_cap_ms / 1000
    if longest_s <= idle_close_s:
        logger.warning(_NEVER_ENDS, rules.retry_factor, longest_s, idle_close_s)


@contextlib.contextmanager
def _deciding(sieve: RedisSieve, interval_s: float) -> Iterator[Decider]:
    decider = Decider(sieve, interval_s)
    decider.start()
    try:
        yield decider
    finally:
        decider.stop()


def _earlier(settings: BaseSettings) -> Earlier | None:
    """What earlier crawls have stored."""
    indexes = indexes_of(settings.getlist("WARC_EARLIER"))
    if len(indexes) > _MANY_INDEXES:
        logger.warning(_MERGE, len(indexes))
    return Earlier(indexes) if indexes else None


def _recover(folder: Path, frontier: RedisFrontier, earlier: Earlier | None) -> None:
    try:
        found = recover(folder / "warc", frontier.accepted, WriterConfig(earlier=earlier.find if earlier else None))
    except FrontierUnavailable as error:
        logger.warning("WARC files of dead workers stay open until the next start: %s", error)
        return
    for path in found.finished:
        logger.info("Closed %s of a worker that had died", path)
    for damage in found.damage:
        logger.error("Damage in the journal of a worker that had died: %s", damage)


def archive_config(
    settings: BaseSettings, payloads: Payloads, earlier: Earlier | None, told: Mapping[str, object]
) -> WriterConfig:
    """How the crawl's WARC files are written; `told`: what their first records say of the crawl."""
    return WriterConfig(
        version=settings.get("WARC_VERSION"),
        digest=settings.get("WARC_DIGEST"),
        max_age_s=settings.getfloat("WARC_MAX_AGE_S"),
        seen=payloads.find,
        remember=payloads.remember,
        earlier=earlier.find if earlier else None,
        warcinfo=told,
    )


def told_of(settings: BaseSettings, crawl: str, spec: Crawl | None, rules: FrontierConfig) -> dict[str, object]:
    """What the first records of a crawl's WARC files say of it."""
    return {
        "software": f"Ulwembu/{VERSION}",
        "commit": program_commit() or "unknown",
        "format": f"WARC File Format {settings.get('WARC_VERSION')}",
        "isPartOf": crawl,
        "robots": "obey (RFC 9309)",
        "http-header-user-agent": settings.get("USER_AGENT"),
        "operator": settings.get("CONTACT"),
        "hostname": socket.gethostname(),
        "relevance": {"language": spec.language if spec else "", "policy": policy_name(settings, spec)},
        "frontier": asdict(rules),
        "settings": {option.name: settings.get(option.name) for option in OPTIONS if option.name != "REDIS_URL"},
    }


def _archive(settings: BaseSettings, folder: Path, crawl: str, config: WriterConfig) -> WarcWriter:
    prefix = str(settings.get("WARC_PREFIX")).replace("{crawl}", crawl)
    max_bytes = settings.getint("WARC_MAX_BYTES")
    return WarcWriter(folder / "warc", prefix, settings.get("WARC_COMPRESSION"), max_bytes, config)


def _quality(settings: BaseSettings, home: RedisHome, crawl: str) -> QualityCaps:
    log = KeptLog(client(home.url), crawl)
    return QualityCaps(log, settings.getlist("RELEVANCE_CAPPED"), settings.getint("RELEVANCE_CAP"))
