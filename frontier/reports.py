"""What the memory frontier does with an arrival and with the end of a lease (reported or expired), step by step.

``lua/take_in.lua`` and ``finish`` in ``lua/_finish.lua`` do the same steps in the same order.
"""

from __future__ import annotations

from dataclasses import dataclass

from frontier import robots
from frontier.audit import AuditRow
from frontier.host import EQUAL_PAGES, MOST_HOPS, Host
from frontier.intake import Arrival
from frontier.memory_tables import Held, MemoryTables
from frontier.outcomes import DAY, RETRY_AFTER_CAP_MS, Row, backoff_ms, row
from frontier.payload import band, hop_element, read_element, read_hop, revised
from frontier.traps import MARK_BYTES, MARKS_KEPT, SKETCHED_FROM
from frontier.types import Kind, Lease, Outcome, RobotsRecord
from sieve.urls import authority

MEMO_CAP = 65_535
_REDIRECTED = ("robots_wait", "robots_later")
"""Why a host's pages wait while its robots.txt is found elsewhere: until that has answered, or may be asked for."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a lease ended. `jitter` 0..1 is drawn for each outcome."""

    outcome: Outcome
    now_ms: int
    end_ms: int
    jitter: float


def check(outcome: Outcome) -> None:
    """Raise for what no table knows, before anything is changed."""
    row(outcome.result)
    if len(outcome.page_mark) not in (0, MARK_BYTES):
        raise ValueError(f"a page mark has {MARK_BYTES} bytes, not {len(outcome.page_mark)}")
    if outcome.memo is not None and len(outcome.memo) > MEMO_CAP:
        raise ValueError(f"a memo has at most {MEMO_CAP} bytes, not {len(outcome.memo)}")


def check_address(address: str) -> None:
    """Raise for what no record has room for."""
    if not 0 < len(address.encode()) < 256:
        raise ValueError(f"an address has 1 to 255 bytes, not {len(address.encode())}")


def admit(frontier: MemoryTables, arrival: Arrival) -> bool:
    """Queue or park one arrival; False when it was only counted."""
    host = frontier.host_of(arrival.authority)
    limits = frontier.config.limits
    trap = arrival.trap
    if not trap and limits.host_urls and host.admitted >= limits.host_urls:
        trap = "trap_host_urls"
    if not trap and arrival.places and limits.query_variants:
        trap = _count_query(host, arrival.places, limits.query_variants)
    if trap:
        if host.traps >= limits.parked_traps:
            frontier.results["dropped:" + trap] += 1
            return False
        if host.park(arrival.element, trap, frontier.clock() + frontier.config.trap_park_ms):
            host.traps += 1
        return True
    host.admitted += 1
    if arrival.not_before_ms > frontier.clock():
        host.park(arrival.element, "not_before", arrival.not_before_ms)
        return True
    if host.is_trapped(arrival.element, frontier.clock()):
        host.park(arrival.element, EQUAL_PAGES, host.equal_ms)
        return True
    if not host.queued() or (frontier.is_narrowed() and band(arrival.element) == 0 < host.best_band()):
        host.rank = None
    elif host.rank:
        if frontier.is_least(host) and host.first_parked_ms() != host.looked_ms:
            host.look_ms = host.first_parked_ms()  # of what was parked while it stood last
        host.rank = min(host.rank, (band(arrival.element), *host.rank[1:]))
    host.push(arrival.element)
    return True


def _count_query(host: Host, places: tuple[int, int], limit: int) -> str:
    host.query_urls += 1
    if host.query_urls <= min(SKETCHED_FROM, limit):
        return ""
    for place in places:
        host.sketch[place] = min(65_535, host.sketch.get(place, 0) + 1)
    seen = min(host.sketch[place] for place in places)
    return "trap_query_variants" if seen > limit else ""


def finish(frontier: MemoryTables, held: Held, ending: Ending) -> None:
    """End a lease that was taken out of `held`."""
    lease, outcome, rule = held.lease, ending.outcome, frontier.config.rule(ending.outcome.result)
    host = frontier.known[lease.authority]
    host.token = ""
    frontier.results[("robots:" if lease.kind is Kind.ROBOTS else "") + outcome.result] += 1
    _rest(frontier, host, rule, ending)
    _count(frontier, host, held, outcome, rule)
    if rule.forgets_address:
        host.address_until_ms = 0
    if lease.address:
        state = frontier.addresses[lease.address]
        state.token = ""
        if rule.sent:
            state.next_ms = max(state.next_ms, ending.end_ms + host.address_delay_ms(frontier.config))
    if lease.kind is Kind.ROBOTS:
        origin = read_hop(read_element(lease.authority, held.element).memo)[0] if held.element else lease.authority
        _end_robots(frontier, frontier.known[origin], lease, ending)
    else:
        _end_page(frontier, host, held, ending)
    if frontier.config.audit:
        delays = host.delay_ms(frontier.config), host.address_delay_ms(frontier.config)
        frontier.audit_rows.append(AuditRow.of_end(lease, outcome, ending.end_ms, delays if rule.sent else None))


def _rest(frontier: MemoryTables, host: Host, rule: Row, ending: Ending) -> None:
    outcome = ending.outcome
    if rule.sent:
        if outcome.result != "expired":
            host.last_fetch_ms = max(0, outcome.fetch_ms)
        host.next_ms = max(host.next_ms, ending.end_ms + host.delay_ms(frontier.config))
    if rule.rest_base_ms:
        rest_ms = host.fail(rule, ending.now_ms, ending.jitter)
        if outcome.retry_after_ms is not None:
            rest_ms = min(RETRY_AFTER_CAP_MS, max(0, outcome.retry_after_ms))
        host.forgiven_from_ms = ending.end_ms + rest_ms  # else a long rest would forgive what it is for
        host.rest(ending.end_ms + rest_ms, outcome.result)
    elif rule.sent and outcome.retry_after_ms and outcome.result != "robots_redirect":
        host.rest(ending.end_ms + min(RETRY_AFTER_CAP_MS, outcome.retry_after_ms), outcome.result)
    elif rule.heals:
        host.heal(ending.now_ms)


def _count(frontier: MemoryTables, host: Host, held: Held, outcome: Outcome, rule: Row) -> None:
    host.fetched_bytes += outcome.fetched_bytes
    host.words += outcome.words
    frontier.totals["bytes"] += outcome.fetched_bytes
    frontier.totals["words"] += outcome.words
    if rule.page and held.lease.kind is not Kind.ROBOTS:
        host.pages += 1
        frontier.totals["pages"] += 1
    if host.trap(held.element, frontier.clock(), equal=False):
        host.mark_balance = 0  # there were more than are parked at once
    elif outcome.page_mark and frontier.config.limits.equal_pages:
        _mark(frontier, host, held.element, outcome.page_mark)


def _mark(frontier: MemoryTables, host: Host, element: bytes, page_mark: bytes) -> None:
    """What leads further into a trap is in the last band: when equal pages come from there, what is there of the same
    section waits, and the host's other pages and feeds go on. Equal pages of other bands, as lists are, say nothing of
    it; after many the host rests."""
    limits, now_ms, before = frontier.config.limits, frontier.clock(), host.mark_balance
    balance = host.mark(page_mark, MARKS_KEPT)
    least = limits.some_equal_pages if host.equal_ms <= now_ms else limits.few_equal_pages
    if balance > before and balance >= least and host.trap(element, now_ms, equal=True):
        host.mark_balance = 0
    elif balance >= limits.equal_pages:
        host.mark_balance = 0
        host.rest(now_ms + DAY, EQUAL_PAGES)


def _end_page(frontier: MemoryTables, host: Host, held: Held, ending: Ending) -> None:
    outcome, rule = ending.outcome, frontier.config.rule(ending.outcome.result)
    tries = held.element[1]
    if outcome.again_in_ms is not None:
        element = revised(held.element, 0, outcome.memo)
        host.park(element, "again", ending.now_ms + max(0, outcome.again_in_ms))
    elif (tried := rule.tried(tries)) < rule.retries:
        element = revised(held.element, tries + rule.unit, outcome.memo)
        until_ms = ending.end_ms + backoff_ms(rule.base_ms, rule.cap_ms, 2 * tried, ending.jitter)
        if rule.rest_base_ms:
            until_ms = max(until_ms, host.rest_ms)
        if until_ms > ending.now_ms:
            host.park(element, outcome.result, until_ms)
        else:
            host.push(element, front=True)
    elif rule.retries:
        frontier.results["gave_up:" + outcome.result] += 1


def _end_robots(frontier: MemoryTables, origin: Host, lease: Lease, ending: Ending) -> None:
    outcome, end_ms = ending.outcome, ending.end_ms
    if outcome.result == "robots_redirect" and lease.hops < MOST_HOPS and (target := _authority_of(outcome.location)):
        if outcome.retry_after_ms and (lease.hops or origin.gate_reason not in _REDIRECTED):
            _wait_for_hop(frontier, origin, lease, ending)
            return
        if lease.hops == 0 and origin.gate_reason == "robots_wait":  # where it led to last time has not answered
            origin.robots_failures += 1
        hop = hop_element(target, outcome.location, origin.authority, lease.hops + 1)
        if hop not in frontier.host_of(target).hops:
            frontier.host_of(target).hops.append(hop)
        frontier.host_of(target).rank = None
        wait_ms = max(frontier.config.robots_hop_wait_ms, _robots_rest_ms(frontier, origin, ending))
        _gate(origin, end_ms + wait_ms, "robots_wait", end_ms)
    elif outcome.result in ("expired", "aborted"):
        # its worker died or was stopped, which says nothing about the host: ask again, politely, from the beginning
        origin.robots_retry_ms, origin.rank = 0, None
        if origin.gate_reason in _REDIRECTED:
            origin.gate_ms, origin.gate_reason = 0, ""
    elif outcome.robots and outcome.robots.kind in ("rules", "allow"):
        _set_robots(frontier, origin, outcome.robots, end_ms)
        if lease.url == f"{lease.authority}/robots.txt":  # it is that host's own, too
            _slow_down(frontier, frontier.known[lease.authority], outcome.robots, end_ms)
    else:
        _no_robots(frontier, origin, ending)


def _wait_for_hop(frontier: MemoryTables, origin: Host, lease: Lease, ending: Ending) -> None:
    """The server asks to wait before its redirect is followed: the first is asked for again then, and followed; later
    ones are not."""
    if lease.hops:
        _no_robots(frontier, origin, ending)
        return
    wait_ms = min(RETRY_AFTER_CAP_MS, ending.outcome.retry_after_ms or 0)
    _gate(origin, ending.end_ms + wait_ms, "robots_later", ending.end_ms)


def _authority_of(location: str) -> str:
    """Empty for what is no http(s) URL."""
    try:
        return authority(location)
    except ValueError:
        return ""


def _set_robots(frontier: MemoryTables, origin: Host, record: RobotsRecord, end_ms: int) -> None:
    config = frontier.config
    origin.robots, origin.robots_failures, origin.robots_retry_ms = record, 0, 0
    origin.robots_ms = max(end_ms, origin.robots_ms + 1)
    origin.robots_expires_ms = end_ms + min(max(1, record.expires_in_ms), config.robots_ttl_ms, DAY)
    origin.gate_ms, origin.gate_reason, origin.rank = 0, "", None
    _slow_down(frontier, origin, record, end_ms)
    if origin.crawl_delay_ms > config.crawl_delay_cap_ms:
        origin.gate_ms, origin.gate_reason = origin.robots_expires_ms, "crawl_delay"


def _slow_down(frontier: MemoryTables, host: Host, record: RobotsRecord, end_ms: int) -> None:
    host.crawl_delay_ms = robots.crawl_delay_ms(record, frontier.config.user_agent)
    host.next_ms = max(host.next_ms, end_ms + host.delay_ms(frontier.config))


def _no_robots(frontier: MemoryTables, origin: Host, ending: Ending) -> None:
    """Unreachable: keep what is still valid, else nothing is fetched until it was asked for again."""
    rest_ms = _robots_rest_ms(frontier, origin, ending)
    if ending.outcome.retry_after_ms is not None:
        rest_ms = max(rest_ms, min(RETRY_AFTER_CAP_MS, ending.outcome.retry_after_ms))
    origin.robots_failures += 1
    _gate(origin, ending.end_ms + rest_ms, "robots_unreachable", ending.end_ms)


def _robots_rest_ms(frontier: MemoryTables, origin: Host, ending: Ending) -> int:
    rule = frontier.config.rule("robots_unreachable")
    return backoff_ms(rule.rest_base_ms, rule.rest_cap_ms, origin.robots_failures, ending.jitter)


def _gate(origin: Host, until_ms: int, reason: str, end_ms: int) -> None:
    origin.robots_retry_ms, origin.rank = until_ms, None
    if origin.robots_expires_ms <= end_ms:
        origin.gate_ms, origin.gate_reason = until_ms, reason
