"""What the web's own log says of a crawl, in figures that can be compared between crawlers.

Two measures of a gap: from the end of an answer to the next request (the promise of Ulwembu, Heritrix and BUbiNG), and
from request to request (that of Scrapy). A gap is short that is below nine tenths of the delay, so that the jitter of a
busy machine is not counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from bench.crawlers.run import Result
from tests.web import robots
from tests.web.paths import Resource
from tests.web.requestlog import LogEntry
from tests.web.verify import Expectations, RobotsHistory, verify
from tests.web.web import Web

Figures = dict[str, float | int | str]
_SHORT = 0.9


def politeness(result: Result, delay_s: float) -> Figures:
    """Whom it disturbed, and what it found."""
    web = result.running.web
    findings = verify(result.log, web, Expectations(delay_s, 0.0))
    known = [(entry, resource) for entry in result.log if (resource := read(web, entry))]
    kinds = Counter(resource.kind for _, resource in known)
    return {
        "requests": findings.requests,
        "pages": findings.fetched,
        "demanded": findings.demanded,
        "relevant": findings.languages.get(web.spec.language, (0, 0))[0],
        "relevant_demanded": findings.languages.get(web.spec.language, (0, 0))[1],
        "twice": sum(count - 1 for count in _whole_pages(known).values()),
        "trap_requests": kinds["trap"],
        "requests_for_95": requests_for(known, web, 0.95),
        "forbidden": len(findings.robots_denied),
        "robots_unasked": len(findings.robots_unasked),
        "robots_unreachable": len(findings.robots_unreachable),
        "retry_after": len(findings.retry_after),
        "overlaps": len(findings.overlaps),
        **gaps(result.log, web, delay_s),
        "seconds": round(_span_s(result.log), 1),
        "ended": int(result.ended),
    }


def requests_for(known: list[tuple[LogEntry, Resource]], web: Web, share: float) -> int:
    """Requests of any kind until so much of what can be found was found; 0 when it never was."""
    wanted, found = set(web.truth.pages), set[Resource]()
    for count, (entry, resource) in enumerate(known, start=1):
        if resource in wanted and entry.status == 200 and entry.whole:
            found.add(resource)
            if len(found) >= share * len(wanted):
                return count
    return 0


def gaps(log: Iterable[LogEntry], web: Web, delay_s: float) -> Figures:
    """Short gaps by both measures, and those below a Crawl-delay that had been read, from request to request."""
    log = list(log)
    known = [(entry, site, web.paths.read(site, entry.path)) for entry in log if (site := web.site(entry.host))]
    answered = RobotsHistory(known, web)
    asked_s = {site.host: robots.rules_of(web.spec, site, web.spec.agent).delay_s or 0.0 for site in web.sites}
    last: dict[str, LogEntry] = {}  # of each host the one that ended last
    begun: dict[str, LogEntry] = {}  # the one that began last: that may have ended before a slow one
    counts: Counter[str] = Counter()
    for entry, site, _ in known:
        before = last.get(entry.host)
        if before is not None:
            counts["gaps"] += 1
            counts["short_end_to_start"] += (entry.start_us - before.end_us) / 1e6 < delay_s * _SHORT
            between_s = (entry.start_us - begun[entry.host].start_us) / 1e6
            counts["short_start_to_start"] += between_s < delay_s * _SHORT
            if asked_s[entry.host] > delay_s and answered.settled_before(site.index, before.end_us):
                counts["crawl_delay_gaps"] += 1
                counts["short_crawl_delay"] += between_s < asked_s[entry.host] * _SHORT
        begun[entry.host] = entry
        if before is None or entry.end_us > before.end_us:
            last[entry.host] = entry
    names = ("gaps", "short_end_to_start", "short_start_to_start", "crawl_delay_gaps", "short_crawl_delay")
    return {name: counts[name] for name in names}


def focus(result: Result, budget: int) -> Figures:
    """Relevant pages among the first `budget` requests that are not for robots.txt, whatever they were for, and how
    many such requests it took for 95 % of them; 0: they were not found."""
    web = result.running.web
    relevant, found = web.truth.relevant(), set[Resource]()
    fetches, in_budget, for_95 = 0, 0, 0
    for entry in result.log:
        resource = read(web, entry)
        if resource is None or resource.kind == "robots":
            continue
        fetches += 1
        if resource in relevant and entry.status == 200 and entry.whole:
            found.add(resource)
        if fetches <= budget:
            in_budget = len(found)
        if not for_95 and len(found) >= 0.95 * len(relevant):
            for_95 = fetches
    return {"fetches": fetches, "relevant": in_budget, "for_95": for_95, "relevant_in_web": len(relevant)}


def recovery(result: Result) -> Figures:
    """What a kill cost: pages never fetched, and pages fetched again."""
    web = result.running.web
    findings = verify(result.log, web, Expectations())
    known = [(entry, resource) for entry in result.log if (resource := read(web, entry))]
    times = _whole_pages(known)
    before = _whole_pages([pair for pair in known if pair[0].end_us < result.killed_us])
    return {
        "before_kill": len(before),
        "pages": findings.fetched,
        "demanded": findings.demanded,
        "lost": len(findings.missing),
        "again": sum(count - 1 for count in times.values()),
        "ended": int(result.ended),
    }


def throughput(result: Result) -> Figures:
    """Pages a second from the first page to the last, each of them once, processor time and memory of all processes,
    archive."""
    web = result.running.web
    pages = [
        entry
        for entry in result.log
        if entry.status == 200 and entry.whole and (r := read(web, entry)) and r.kind == "page"
    ]
    seconds = _span_s(pages)
    distinct = len({read(web, entry) for entry in pages})
    sent = sum(entry.sent_bytes for entry in result.log)
    return {
        "pages": distinct,
        "seconds": round(seconds, 1),
        "pages_a_s": round(distinct / seconds, 1) if seconds else 0.0,
        "cpu_ms_a_page": round(1000 * (result.cpu_s - result.started_cpu_s) / max(1, distinct), 1),
        "start_cpu_s": round(result.started_cpu_s, 1),
        "peak_mib": round(result.peak_bytes / 2**20),
        "archive_bytes": result.archive_bytes,
        "archive_share": round(result.archive_bytes / max(1, sent), 4),
    }


def read(web: Web, entry: LogEntry) -> Resource | None:
    """What was asked for; None for another host."""
    site = web.site(entry.host)
    return web.paths.read(site, entry.path) if site else None


def _whole_pages(known: list[tuple[LogEntry, Resource]]) -> Counter[Resource]:
    return Counter(r for entry, r in known if r.kind == "page" and entry.status == 200 and entry.whole)


def _span_s(log: list[LogEntry]) -> float:
    return (max(e.end_us for e in log) - min(e.start_us for e in log)) / 1e6 if log else 0.0
