"""Judges a crawl by the web's own request log: coverage, repeats, politeness, Retry-After, robots, foreign requests.

Nothing is taken from the crawler: what a URL means, which pages can be reached and what a robots.txt allows is computed
from the web's specification, times are the server's.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from tests.web import robots
from tests.web.paths import Resource, normal
from tests.web.requestlog import LogEntry
from tests.web.sites import Site
from tests.web.web import Web

_ONCE = ("page", "item", "go")
_US = 1_000_000


@dataclass(frozen=True, slots=True)
class Expectations:
    """What the crawl promised. `coverage`: all | target (pages in the web's language) | none.

    `refetches`: how many repeated pages are excused, since workers were killed on purpose.
    """

    delay_s: float = 0.0
    ip_delay_s: float = 0.0
    coverage: str = "all"
    refetches: int = 0
    tolerance_ms: float = 1.0
    robots: bool = True


@dataclass(slots=True)
class Findings:
    """Everything found, each finding one line of text. `failures` are those that must be empty."""

    requests: int = 0
    demanded: int = 0
    fetched: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    languages: dict[str, tuple[int, int]] = field(default_factory=dict)  # language -> (fetched, demanded)
    missing: list[str] = field(default_factory=list)
    repeats: list[str] = field(default_factory=list)
    refetched: list[str] = field(default_factory=list)
    too_fast: list[str] = field(default_factory=list)  # on an authority
    too_fast_address: list[str] = field(default_factory=list)
    overlaps: list[str] = field(default_factory=list)
    retry_after: list[str] = field(default_factory=list)
    robots_denied: list[str] = field(default_factory=list)
    robots_unasked: list[str] = field(default_factory=list)
    robots_unreachable: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)  # of a host of this web, but nothing that it has; not a failure
    archive: list[str] = field(default_factory=list)  # see tests.web.warcs
    whole: set[str] = field(default_factory=set)  # plain URLs of pages that were fetched whole

    FAILURES = (
        "missing", "repeats", "too_fast", "too_fast_address", "overlaps", "retry_after", "robots_denied",
        "robots_unasked", "robots_unreachable", "foreign", "archive",
    )  # fmt: skip

    @property
    def ok(self) -> bool:
        """Does everything hold? (A log without any request holds nothing.)"""
        return self.requests > 0 and not any(getattr(self, name) for name in self.FAILURES)

    @property
    def faults(self) -> str:
        """What does not hold, in short."""
        named = {name: getattr(self, name) for name in self.FAILURES}
        return "; ".join(f"{len(found)} {name}: {found[:3]}" for name, found in named.items() if found)

    def to_json(self) -> dict[str, Any]:
        """Plain values: counts, and the findings themselves."""
        values = {name: getattr(self, name) for name in (*self.FAILURES, "refetched", "unknown")}
        return {
            "ok": self.ok,
            "requests": self.requests,
            "demanded": self.demanded,
            "fetched": self.fetched,
            "statuses": {str(status): n for status, n in sorted(self.statuses.items())},
            "languages": {name: list(pair) for name, pair in self.languages.items()},
            "counts": {name: len(found) for name, found in values.items()},
            **values,
        }


def verify(log: Iterable[LogEntry], web: Web, expectations: Expectations | None = None) -> Findings:
    """Findings of a whole crawl. About 10 us a request plus the truth."""
    expected = expectations or Expectations()
    entries = sorted(log, key=lambda entry: entry.start_us)
    findings = Findings(requests=len(entries), statuses=Counter(entry.status for entry in entries))
    known: list[tuple[LogEntry, Site, Resource]] = []
    for entry in entries:
        site = web.site(entry.host)
        if site is None or entry.status == 421:
            findings.foreign.append(f"{entry.method} {entry.host}{entry.path} on {entry.address}:{entry.port}")
            continue
        resource = web.paths.read(site, entry.path)
        if resource.kind == "unknown":
            findings.unknown.append(f"{entry.host}{entry.path}")
        known.append((entry, site, resource))
    _coverage(known, web, expected, findings)
    answered = RobotsHistory(known, web)
    _politeness(known, web, expected, findings, answered)
    if expected.robots:
        _robots(known, web, findings, answered)
    return findings


def _coverage(
    known: list[tuple[LogEntry, Site, Resource]], web: Web, expected: Expectations, findings: Findings
) -> None:
    times: dict[Resource, int] = defaultdict(int)
    for entry, _site, resource in known:
        if resource.kind in _ONCE and entry.status == 200 and entry.whole and entry.method == "GET":
            times[resource] += 1
    repeated = [f"{web.paths.url(r)} ({n} times)" for r, n in times.items() if n > 1]
    again = sum(n - 1 for n in times.values())
    if again <= expected.refetches:
        findings.refetched = repeated
    else:
        findings.repeats = repeated
    findings.fetched = len(times)
    findings.whole = {web.paths.url(resource) for resource in times if resource.kind != "go"}
    if expected.coverage == "none":
        return
    demanded = web.truth.pages
    if expected.coverage == "target":
        relevant = web.truth.relevant()
        demanded = {r: page for r, page in demanded.items() if r in relevant}
    findings.demanded = len(demanded)
    found, all_of = Counter[str](), Counter[str]()
    for resource, page in demanded.items():
        all_of[page.language] += 1
        if resource in times:
            found[page.language] += 1
        else:
            findings.missing.append(web.paths.url(resource))
    findings.languages = {name: (found[name], n) for name, n in all_of.most_common()}


class RobotsHistory:
    """When the robots.txt of each host was answered, and how."""

    def __init__(self, known: list[tuple[LogEntry, Site, Resource]], web: Web) -> None:
        finals: dict[tuple[int, str], int] = {}
        for site in web.sites:
            there, path = robots.chain(web.spec, web.sites, site)[-1]
            finals[there.index, path] = site.index
        self.asked: dict[int, list[int]] = defaultdict(list)
        self.settled: dict[int, list[int]] = defaultdict(list)
        for entry, site, resource in known:
            path = "/robots.txt" if resource.kind == "robots" else entry.path
            if (owner := finals.get((site.index, path))) is None:
                if resource.kind == "robots":
                    self.asked[site.index].append(entry.end_us)
                continue
            self.asked[owner].append(entry.end_us)
            enough = entry.whole or (web.sites[owner].robots == "huge" and entry.sent_bytes >= robots.LIMIT_BYTES)
            if enough and 200 <= entry.status < 500:
                self.settled[owner].append(entry.end_us)
        for times in (*self.asked.values(), *self.settled.values()):
            times.sort()

    def settled_before(self, site: int, instant_us: int) -> bool:
        """Had an answer that counts (2xx, 4xx) arrived by then?"""
        return bisect_right(self.settled.get(site, ()), instant_us) > 0

    def asked_before(self, site: int, instant_us: int) -> bool:
        """Had any answer arrived by then?"""
        return bisect_right(self.asked.get(site, ()), instant_us) > 0


def _politeness(
    known: list[tuple[LogEntry, Site, Resource]],
    web: Web,
    expected: Expectations,
    findings: Findings,
    answered: RobotsHistory,
) -> None:
    slack_us = int(expected.tolerance_ms * 1000)
    last: dict[str, tuple[int, str]] = {}
    due: dict[int, int] = {}
    delays = {site.index: robots.rules_of(web.spec, site, web.spec.agent).delay_s or 0.0 for site in web.sites}
    for entry, site, _resource in known:
        by_rule = (entry.host, findings.too_fast, expected.delay_s)
        by_address = (f"address {entry.address}", findings.too_fast_address, expected.ip_delay_s)
        for name, found, configured_s in (by_rule, by_address):
            end_us, before = last.get(name, (None, ""))
            if end_us is not None:
                gap_us = entry.start_us - end_us
                wait_s = configured_s
                if name == entry.host and answered.settled_before(site.index, end_us):
                    wait_s = max(wait_s, delays[site.index])
                story = f"{name}: {gap_us / 1000:.1f} ms from {before} to {entry.path}"
                if gap_us < -slack_us:
                    findings.overlaps.append(story)
                elif gap_us < wait_s * _US - slack_us:
                    found.append(f"{story}, allowed {wait_s * 1000:.0f} ms")
            if end_us is None or entry.end_us > end_us:
                last[name] = (entry.end_us, entry.path)
        if entry.start_us < due.get(site.index, 0) - slack_us:
            early_s = (due[site.index] - entry.start_us) / _US
            findings.retry_after.append(f"{entry.host}{entry.path}: {early_s:.3f} s before the host's Retry-After")
        if entry.due_us:
            due[site.index] = max(due.get(site.index, 0), entry.due_us)


def _robots(
    known: list[tuple[LogEntry, Site, Resource]], web: Web, findings: Findings, answered: RobotsHistory
) -> None:
    for entry, site, resource in known:
        if resource.kind == "robots" or (resource.kind == "go" and resource.how.startswith("robots")):
            continue
        url = f"{entry.host}{entry.path}"
        verdict = robots.verdict(site.robots)
        if not answered.asked_before(site.index, entry.start_us):
            findings.robots_unasked.append(url)
        elif verdict != "unclear" and not answered.settled_before(site.index, entry.start_us):
            findings.robots_unreachable.append(url)
        elif verdict in ("rules", "deny"):
            path = normal(entry.path) if resource.kind in ("unknown", "trap") else web.paths.path(resource)
            # A rule that ends in "$" is not about the same path with parameters, though they mean nothing.
            _, mark, query = entry.path.partition("#")[0].partition("?")
            asked = path.partition("?")[0] + mark + query
            token = re.match(r"[A-Za-z_-]+", entry.agent)
            agent = token[0] if token else web.spec.agent
            if not robots.parse(robots.body(web.spec, site), agent).allowed(asked):
                findings.robots_denied.append(url)
