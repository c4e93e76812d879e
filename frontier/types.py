"""Values and contract of the frontier: which admitted URL may be fetched now.

What every implementation guarantees, for a whole fleet and whoever crashes:

* At most one lease holds an authority, and at most one holds an address, at any instant.
* A lease's `due_ms` is never earlier than the end of the last answer of its authority plus that authority's delay, nor
  (when the address is known) than the end of the last answer from that address plus the address's delay. An expired
  lease counts as an answer that ended when it expired. So a worker that sends only between `due_ms` and `expires_ms`
  can never break a delay, whatever other workers do. Nor is it earlier than the instant until which the URL was parked.
* What was taken in is handed out until an accepted report ends it; nothing else removes it, but `drop` and `opt_out`.
* Before any page of an authority its robots.txt is handed out; a page is leased only under a valid record.

Instants are epoch milliseconds of the frontier's clock (Redis' own TIME in a fleet), durations have units in their
names. Methods are synchronous, cost one round trip, and raise :class:`frontier.errors.FrontierUnavailable` when Redis
does not answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, Protocol

from frontier.budget import Budget

BANDS = 8
Counts = Mapping[str, tuple[int, ...]]
"""What a table of counters holds, or is given: some numbers for each of its counters."""
Totals = dict[str, dict[str, tuple[int, ...]]]
"""By the name of their table."""


class Once(NamedTuple):
    """Names a call, so that however often it is made, for want of an answer, it counts once. `caller` is nobody else's;
    each of its calls has a greater `number` than those before, and is made until it is answered before the next."""

    caller: str
    number: int


LONGEST_MEMO_BYTES = 8192
"""Of a candidate. Links have at most 16 bytes; a spider's own requests take along what they were made with."""


class Kind(StrEnum):
    """What a URL is fetched for."""

    PAGE = "page"
    ROBOTS = "robots"
    FEED = "feed"
    SITEMAP = "sitemap"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A URL for the frontier.

    `source` is the URL where it was found, "seed", "feed" or "feed:URL"; URLs are remembered as fingerprints (see
    :func:`frontier.payload.source_tag`). `score` is 0..1, 1 is best. Not due before `not_before_ms` (0: at once).
    `memo`, at most :data:`LONGEST_MEMO_BYTES`, comes back as `Lease.memo` until a report leaves another; a waiting URL
    costs 2 bytes and its memo more.
    """

    url: str
    kind: Kind = Kind.PAGE
    source: str = ""
    depth: int = 0
    score: float = 0.0
    not_before_ms: int = 0
    memo: bytes = b""


@dataclass(frozen=True, slots=True)
class Lease:
    """A URL handed out. Send not before `due_ms`, and have the whole answer (or give up) before `expires_ms`.

    `address` "" means that none is bound: resolve, then :meth:`Frontier.bind` before sending. `robots_ms` is the
    version (instant of fetch) of the authority's robots record, 0 for robots leases. `memo` is what the last report
    left, before the first one the candidate's. `attempt` counts its answers that failed, `expiries` its leases that ran
    out. For kind ROBOTS `source` is the authority for which the file is fetched,
    `hops` the redirects followed so far. `uncounted`: granted when the budget of pages was spent, or that of its
    host; whatever is answered, it must be reported as no page."""

    token: str
    url: str
    kind: Kind
    authority: str
    address: str
    due_ms: int
    expires_ms: int
    source: str = ""
    depth: int = 0
    score: float = 0.0
    attempt: int = 0
    expiries: int = 0
    memo: bytes = b""
    robots_ms: int = 0
    hops: int = 0
    uncounted: bool = False


@dataclass(frozen=True, slots=True)
class Grant:
    """Answer of :meth:`Frontier.lease`.

    `next_due_ms`: when the next authority is due as things stand (None: none waits); a report of another worker may
    make one due earlier, so ask again at least every second or so. `closed`: the budget that is spent ("pages",
    "bytes", "seconds"), then there are no leases; "" otherwise. `narrowed`: that of pages is, and leases and
    `next_due_ms` are of what pages embed alone. `clock_ahead_ms`: of the frontier's clock, of its server's: below 0
    when that was set forward, above when back.
    """

    leases: tuple[Lease, ...]
    now_ms: int
    next_due_ms: int | None
    closed: str = ""
    clock_ahead_ms: int = 0
    narrowed: bool = False


@dataclass(frozen=True, slots=True)
class Bound:
    """Answer of :meth:`Frontier.bind`. When granted, send not before `due_ms`; it may be later than the lease's.

    Not granted: reason "address_busy", "address_not_due" (the lease was given back without penalty and comes again
    when the address is free; so with "other_crawl", :mod:`frontier.turns`) or "unknown_token" (expired meanwhile).
    """

    granted: bool
    due_ms: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class RobotsRecord:
    """What is known of an authority's robots.txt.

    `kind`: "rules" (`body` counts), "allow" (4xx: everything allowed), "disallow" (5xx, unreachable: nothing is). In
    reports `expires_in_ms` is capped at 24 h. From :meth:`Frontier.get_robots` both times are the frontier's.
    """

    kind: str
    body: bytes = b""
    fetched_ms: int = 0
    expires_in_ms: int = 86_400_000


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a lease. `result` is a key of :data:`frontier.outcomes.OUTCOMES`.

    `ended_ago_ms`: age of the end of the answer when :meth:`Frontier.report` is called, by the worker's monotonic
    clock. `fetch_ms`: from the begin of its connection (of the request, on one that was kept) to the end of the answer.
    `retry_after_ms`: the parsed header, None without. `again_in_ms`: the URL recurs, due again after so long (from the
    report). `memo`: kept with a URL that comes again; None keeps the last. `page_mark`: fingerprint of the page's text
    for the defence against traps (equal marks = near-identical pages), b"" for none. `location`: target of a
    robots redirect."""

    token: str
    result: str
    fetch_ms: int = 0
    ended_ago_ms: int = 0
    retry_after_ms: int | None = None
    location: str = ""
    robots: RobotsRecord | None = None
    fetched_bytes: int = 0
    words: int = 0
    memo: bytes | None = None
    again_in_ms: int | None = None
    page_mark: bytes = b""


@dataclass(frozen=True, slots=True)
class HostPolicy:
    """Rules of one authority that differ from the crawl's (None: the crawl's rule). A host that had
    `max_pages` pages or `max_bytes` bytes (0: no limit) rests for a day at a time, with the reason "quota" or
    "quota_bytes". Where the crawl's budget leaves what pages embed, `max_pages` does, too: the host rests when none
    of it is due."""

    delay_ms: int | None = None
    address_delay_ms: int | None = None
    max_pages: int | None = None
    max_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class FrontierStatus:
    """Counts of one instant. `due`: authorities that the next lease() may choose from (of those that stand in line for
    one address, one; in Redis also what is new since the last lease(), until that looks at it); `by_reason`: URLs
    parked now, by reason; `results`: reports accepted, by result, and "gave_up:RESULT" for URLs whose retries are
    spent. `parked_until_ms_min` is None when nothing is parked."""

    queued: int
    due: int
    leased: int
    parked: int
    parked_until_ms_min: int | None
    authorities: int
    by_reason: Mapping[str, int] = field(default_factory=dict)
    results: Mapping[str, int] = field(default_factory=dict)
    pages: int = 0
    fetched_bytes: int = 0
    words: int = 0
    started_ms: int = 0
    now_ms: int = 0

    def spent(self, budget: Budget) -> str:
        """See :meth:`Budget.spent`."""
        return budget.spent(self.pages, self.fetched_bytes, self.now_ms - self.started_ms if self.started_ms else 0)


@dataclass(frozen=True, slots=True)
class HostState:
    """One authority as it stands. `rest_ms`/`rest_reason`: nothing at all is sent to it before;
    `robots_gate_ms`/reason: nothing but robots.txt; 0 and "" when none. `ready_ms`: when it can next be leased, None
    when it has nothing. `leased_token`, `leased_url`: "" when it is not out on a lease."""

    authority: str
    queued: int
    parked: int
    leased_token: str
    leased_url: str
    next_ms: int
    rest_ms: int
    rest_reason: str
    robots_gate_ms: int
    robots_gate_reason: str
    robots_ms: int
    robots_expires_ms: int
    crawl_delay_ms: int
    delay_ms: int
    address_delay_ms: int
    address: str
    failures: int
    last_fetch_ms: int
    pages: int
    fetched_bytes: int
    words: int
    admitted: int
    paused: bool
    ready_ms: int | None


@dataclass(frozen=True, slots=True)
class Waiting:
    """A URL in a queue (`until_ms` 0) or parked (`until_ms`, `reason`); `attempt`, `expiries` and `memo` as its lease
    will have them."""

    url: str
    kind: Kind
    source: str
    depth: int
    score: float
    attempt: int
    expiries: int
    until_ms: int = 0
    reason: str = ""
    memo: bytes = b""


@dataclass(frozen=True, slots=True)
class Queued:
    """A URL in a queue as :meth:`Frontier.heads` shows it; `ticket` names it to :meth:`Frontier.rescore`."""

    ticket: bytes
    url: str
    kind: Kind
    score: float
    memo: bytes


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a URL is (not) fetched: `place` is "queued", "parked", "leased", "not here" (never admitted, already done,
    given up or dropped), or "far behind" (any of these but leased, since its host has more than 10,000 and it is not
    among the first); `refused` the rule of traps, ports or opt-outs that speaks against it, "" for none; `robots`
    "allowed", "denied", "no record", "none needed" with the rule's line."""

    url: str
    authority: str
    place: str
    waiting: Waiting | None
    host: HostState | None
    refused: str
    robots: str


class Frontier(Protocol):
    """The contract; see the module's text for what is guaranteed."""

    def take_in(self, candidates: Iterable[Candidate]) -> int:
        """Queue URLs (the caller has made sure each comes once); the number queued or parked by a trap rule.
        Raises FrontierFull at the memory limit, with nothing of the failing batch taken in."""

    def lease(self, limit: int, ahead_ms: int = 0) -> Grant:
        """Up to `limit` URLs of different authorities on different addresses, due by now + `ahead_ms`; best priority
        band first, within a band the authority that waited longest; in Redis so among those looked at: all that were
        due at an earlier call, and some more than `limit` of those due or met since. A URL that nobody reports or
        releases is handed out again after its lease has expired."""

    def bind(self, token: str, address: str) -> Bound:
        """Say which address the worker will connect to; required before sending when the lease has none, allowed when
        the address changed. The authority remembers it for `address_ttl_ms`. ValueError: not of 1 to 255 bytes."""

    def report(self, outcomes: Sequence[Outcome]) -> list[bool]:
        """End leases; in order of `outcomes`, True when accepted now or by an earlier identical call (a repeated call
        after a lost answer is safe), False when the token is unknown, expired or released: nothing changed."""

    def release(self, tokens: Iterable[str]) -> int:
        """Give unused leases back (nothing was sent): first in their queues, no delay, no attempt counted. The number
        that were held."""

    def accepted(self, tokens: Iterable[str]) -> set[str]:
        """Those of `tokens` whose report was accepted, remembered for at least a week."""

    def get_robots(self, authority: str) -> RobotsRecord | None:
        """The valid record of an authority, None when there is none."""

    def configure(self, policies: Mapping[str, HostPolicy]) -> None:
        """Set the rules of single authorities (whole record replaced); for the next grants on, also of one that rests
        since it had all that its rules allowed. `HostPolicy()`: the crawl's rules again."""

    def configured(self) -> list[str]:
        """The authorities that have rules of their own."""

    def opt_out(self, prefixes: Iterable[str], *, all_crawls: bool = False) -> int:
        """Never again lease what begins with a prefix: "example.org" (http and https, all of the host),
        "https://example.org" or "https://example.org/private/", however its path is escaped. Honoured from the next
        lease on; what is met in a queue is dropped and counted as "opted_out". `all_crawls`: in the table of all crawls
        that have this Redis, those of other names that begin later, too. The number of prefixes that were new."""

    def withdraw_opt_out(self, prefix: str, *, all_crawls: bool = False) -> int:
        """Undo :meth:`opt_out` of exactly this prefix in just that table, from the next lease on; nothing else ever
        does. The number of prefixes taken back; 0, and nothing is changed, when one that it stands for has not opted
        out there. A part of what a bare host stands for can be taken back. What was dropped meanwhile does not come
        back."""

    def opted_out(self, *, all_crawls: bool = False) -> list[str]:
        """All prefixes of this crawl's own table, or of that of all crawls."""

    def opted_out_by(self, url: str) -> str:
        """The prefix by which `url` has opted out, "" when neither table has one: for what is sent in place of a
        leased URL."""

    def park(self, authority: str, reason: str, for_ms: int) -> bool:
        """Let an authority rest, as long as it does already at least; False when it is unknown."""

    def unpark(self, authority: str) -> int:
        """End its rest and gates, and queue its parked URLs now; the number of URLs that came back. The politeness
        delay still holds, and robots.txt is asked for anew before any page."""

    def pause(self, authority: str) -> bool:
        """No lease of it until :meth:`resume`; False when unknown."""

    def resume(self, authority: str) -> bool:
        """Undo :meth:`pause`."""

    def drop(self, authority: str) -> int:
        """Forget all its waiting and parked URLs (a lease out is not touched); the number dropped."""

    def status(self) -> FrontierStatus:
        """Counts of the whole crawl, in time independent of its size."""

    def hosts(self, limit: int = 50) -> list[HostState]:
        """Authorities: leased ones first, then by the time of their next lease, idle ones last."""

    def host(self, authority: str) -> HostState | None:
        """One authority."""

    def peek(self, authority: str, limit: int = 20) -> list[Waiting]:
        """Its next URLs in order, without leasing, then its parked ones."""

    def parked(self, limit: int = 50) -> list[tuple[str, Waiting]]:
        """(authority, URL) parked, those that come back first first."""

    def explain(self, url: str) -> Explanation:
        """Why `url`, in whatever spelling of its canonical form it waits, is or is not fetched; looks through its
        authority's queue, so it is for people, not for loops."""

    def heads(self, authorities: Sequence[str], limit: int) -> list[list[Queued]]:
        """Of each of these up to `limit` URLs from the head of each band, best band first: what :meth:`rescore` may be
        asked for. Many are asked for in one call, since most have few."""

    def rescore(self, scores: Mapping[str, Sequence[tuple[Queued, float]]]) -> int:
        """Give queued URLs new scores, by their authorities. Those that change their band so go to its end, in order of
        `scores`; how many did. What is not among the first 512 of its band (leased meanwhile, or further behind) stays
        as it is."""

    def add_counts(self, tables: Mapping[str, Counts], once: Once | None = None) -> Totals:
        """Add to the fleet's counters, by the name of their table; the totals of just these counters and places. Of a
        call that has counted, and of one that comes later than a newer one, nothing is added: known for a day. Raises
        FrontierFull at the memory limit, with nothing added."""

    def get_counts(self, name: str) -> dict[str, tuple[int, ...]]:
        """All counters `name`, in time of their number: for people. All have as many places as the longest; of what is
        added meanwhile some may still be 0."""

    def forget_counts(self, names: Sequence[str]) -> None:
        """Drop whole tables of counters; one that does not exist is no fault."""
