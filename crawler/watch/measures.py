"""A crawl's figures as Prometheus wants them: names, help texts, labels.

``ulwembu_crawl_…`` are the whole fleet's, read from Redis: every worker tells the same (``max by (crawl)`` in PromQL,
never ``sum``). ``ulwembu_worker_…`` are of one process. Labels are words that the code, the outcome table or the
language model has, never a host or a URL, so there is a bounded number of series however large the crawl is. What is
not known at the moment is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from crawler.state.redis_link import memory_facts
from crawler.version import VERSION
from crawler.watch.gap_watch import GapWatch
from crawler.work.stores import Stores
from frontier.types import FrontierStatus
from sieve.fleet.redis_link import Tally

Values = Mapping[tuple[str, ...], float]
_ERRORS = "downloader/exception_type_count/"
_STATUSES = "downloader/response_status_count/"
_LOGGED = "log_count/"
_NOTHING_LOGGED: Values = {(level,): 0 for level in ("WARNING", "ERROR", "CRITICAL")}
"""Of what was not there before Prometheus sees no increase."""


@dataclass(frozen=True, slots=True)
class CrawlFacts:
    """The fleet's figures at one instant; `outcomes` by "kind:result", `languages` by "kept:LANGUAGE" and
    "left:LANGUAGE", `memory` as Redis' INFO has it, `gaps` looked at and too short (None: there is no audit)."""

    status: FrontierStatus
    outcomes: Mapping[str, tuple[int, ...]]
    languages: Mapping[str, tuple[int, ...]]
    tally: Tally
    memory: Mapping[str, Any]
    gaps: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class WorkerFacts:
    """One process' figures; `stats` are Scrapy's, `free_bytes` those of the archive's disk (None: not known)."""

    name: str
    stats: Mapping[str, Any]
    leases_held: int
    blocked_by: str
    intake_refused: bool
    archived_bytes: int
    archive_files: int
    free_bytes: int | None


def crawl_facts(stores: Stores, watch: GapWatch) -> CrawlFacts:
    """Five reads of Redis whose cost does not grow with the crawl, and what is new in the audit. FrontierError,
    LinkError."""
    frontier = stores.frontier
    if frontier.config.audit:
        watch.look(frontier)
    return CrawlFacts(
        status=frontier.status(),
        outcomes=frontier.get_counts("outcomes"),
        languages=frontier.get_counts("languages"),
        tally=stores.sieve.tally(),
        memory=memory_facts(stores.home.url),
        gaps=(watch.checked, watch.short) if frontier.config.audit else None,
    )


class Families:
    """Makes metrics of one crawl; each has its name as the label `crawl`."""

    def __init__(self, crawl: str) -> None:
        self._crawl = crawl

    def gauge(self, name: str, text: str, value: float) -> Metric:
        """What goes up and down."""
        return self._filled(GaugeMetricFamily(name, text, labels=("crawl",)), {(): value})

    def gauges(self, name: str, text: str, labels: tuple[str, ...], values: Values) -> Metric:
        """The same by labels."""
        return self._filled(GaugeMetricFamily(name, text, labels=("crawl", *labels)), values)

    def counter(self, name: str, text: str, value: float) -> Metric:
        """What only grows, but for a new start."""
        return self._filled(CounterMetricFamily(name, text, labels=("crawl",)), {(): value})

    def counters(self, name: str, text: str, labels: tuple[str, ...], values: Values) -> Metric:
        """The same by labels."""
        return self._filled(CounterMetricFamily(name, text, labels=("crawl", *labels)), values)

    def _filled(self, family: GaugeMetricFamily | CounterMetricFamily, values: Values) -> Metric:
        for labels, value in values.items():
            family.add_metric((self._crawl, *labels), value)
        return family


def of_worker(to: Families, facts: WorkerFacts) -> Iterator[Metric]:
    """The metrics of a process."""
    stats = facts.stats
    info: Values = {(facts.name, VERSION): 1}
    yield to.gauges("ulwembu_worker_info", "Which process this is: host and number.", ("worker", "version"), info)
    yield to.gauge("ulwembu_worker_leases", "Leases that this worker holds.", facts.leases_held)
    waits: Values = {(store,): float(facts.blocked_by == store) for store in ("redis", "disk")}
    yield to.gauges(
        "ulwembu_worker_blocked", "1 while finished pages wait for a store that is away or full.", ("store",), waits
    )
    yield to.gauge(
        "ulwembu_worker_intake_refused",
        "1 while Redis takes in no new URLs, being at its memory limit.",
        facts.intake_refused,
    )
    yield to.counter("ulwembu_worker_requests_total", "Requests begun.", stats.get("downloader/request_count", 0))
    yield to.counters(
        "ulwembu_worker_responses_total", "Answers by class of status.", ("code",), _by_class(stats, _STATUSES)
    )
    yield to.counters(
        "ulwembu_worker_errors_total", "Requests without an answer, by error.", ("error",), _by_name(stats, _ERRORS)
    )
    logged = {**_NOTHING_LOGGED, **_by_name(stats, _LOGGED)}
    yield to.counters("ulwembu_worker_log_lines_total", "Lines logged.", ("level",), logged)
    yield to.counter(
        "ulwembu_worker_archived_bytes_total", "Bytes written to WARC files, as stored.", facts.archived_bytes
    )
    yield to.counter("ulwembu_worker_archive_files_total", "WARC files finished.", facts.archive_files)
    if facts.free_bytes is not None:
        yield to.gauge("ulwembu_worker_free_bytes", "Room on the disk of DATA_DIR.", facts.free_bytes)


def of_crawl(to: Families, facts: CrawlFacts) -> Iterator[Metric]:
    """The metrics of the fleet."""
    yield from _of_urls(to, facts)
    yield from _of_results(to, facts)
    status, memory = facts.status, facts.memory
    judged = {tuple(name.split(":", 1)): float(counts[0]) for name, counts in facts.languages.items()}
    yield to.counters("ulwembu_crawl_judged_pages_total", "Pages judged.", ("verdict", "language"), judged)
    yield to.counter("ulwembu_crawl_pages_total", "Pages fetched, as budgets count them.", status.pages)
    yield to.counter("ulwembu_crawl_fetched_bytes_total", "Bytes of answers.", status.fetched_bytes)
    yield to.counter("ulwembu_crawl_words_total", "Clean words of the target language.", status.words)
    if status.started_ms:
        text, started = "When the first lease was given (Unix time).", status.started_ms / 1000
        yield to.gauge("ulwembu_crawl_started_timestamp_seconds", text, started)
    if facts.gaps is not None:
        checked, short = facts.gaps
        yield to.counter("ulwembu_crawl_gaps_total", "Gaps between two requests to a host or an address.", checked)
        yield to.counter("ulwembu_crawl_short_gaps_total", "Those shorter than the delay in force.", short)
    if memory:
        used, most = memory.get("used_memory", 0), memory.get("maxmemory", 0)
        yield to.gauge("ulwembu_redis_memory_bytes", "Memory that Redis uses for all that it has.", used)
        yield to.gauge("ulwembu_redis_memory_limit_bytes", "Its maxmemory; 0: none.", most)


def _of_urls(to: Families, facts: CrawlFacts) -> Iterator[Metric]:
    status, tally = facts.status, facts.tally
    reasons: Values = {(reason,): float(number) for reason, number in status.by_reason.items()}
    yield to.gauge("ulwembu_crawl_queued_urls", "URLs in the queues of hosts.", status.queued)
    yield to.gauge("ulwembu_crawl_due_authorities", "Hosts that may be asked at this instant.", status.due)
    yield to.gauge("ulwembu_crawl_leased_urls", "URLs out on a lease.", status.leased)
    yield to.gauges("ulwembu_crawl_parked_urls", "URLs that wait for an instant.", ("reason",), reasons)
    yield to.gauge("ulwembu_crawl_authorities", "Hosts (scheme, name and port) that are known.", status.authorities)
    yield to.counter("ulwembu_crawl_enqueued_urls_total", "URLs put into the sieve, repeats included.", tally.put)
    yield to.counter("ulwembu_crawl_seen_urls_total", "URLs that the sieve has admitted.", tally.seen)
    yield to.gauge("ulwembu_crawl_undecided_urls", "URLs that wait in the sieve.", tally.put - tally.decided)


def _of_results(to: Families, facts: CrawlFacts) -> Iterator[Metric]:
    outcomes = {tuple(name.split(":", 1)): float(counts[0]) for name, counts in facts.outcomes.items()}
    yield to.counters(
        "ulwembu_crawl_outcomes_total",
        "Leases reported, by what they were for and what came of them.",
        ("kind", "result"),
        outcomes,
    )
    results = facts.status.results
    for word, text in (("gave_up", "URLs whose retries are spent."), ("dropped", "URLs refused by a trap rule.")):
        found: Values = {(reason,): number for reason, number in _behind(results, f"{word}:")}
        yield to.counters(f"ulwembu_crawl_{word}_total", text, ("reason",), found)
    expired = sum(number for name, number in results.items() if name.removeprefix("robots:") == "expired")
    yield to.counter("ulwembu_crawl_expired_leases_total", "Leases that nobody reported in time.", expired)


def _by_name(stats: Mapping[str, Any], prefix: str) -> Values:
    """Scrapy's counts behind `prefix`; of a class its name without its module, which another's may have, too."""
    names: Counter[tuple[str, ...]] = Counter()
    for name, number in _behind(stats, prefix):
        names[(name.rpartition(".")[2],)] += number
    return names


def _by_class(stats: Mapping[str, Any], prefix: str) -> Values:
    """Counts of statuses as 1xx to 5xx; a server may send any other three digits, too."""
    classes: Counter[tuple[str, ...]] = Counter()
    for code, number in _behind(stats, prefix):
        classes[(f"{code[0]}xx" if code[0] in "12345" else "other",)] += number
    return classes


def _behind(stats: Mapping[str, Any], prefix: str) -> Iterable[tuple[str, int]]:
    return ((name.removeprefix(prefix), number) for name, number in stats.items() if name.startswith(prefix))
