"""What people ask of a frontier: states of hosts, queues, explanations; shared by both implementations."""

from __future__ import annotations

from collections.abc import Iterable

from frontier import traps
from frontier.config import FrontierConfig
from frontier.host import Host
from frontier.payload import read_element
from frontier.robots import Rules
from frontier.types import Explanation, Frontier, HostState, Waiting
from sieve.urls import authority, bad_port, canonicalize, canonicalize_many

LOOKED_THROUGH = 10_000
FAR_BEHIND = "far behind"


def host_state(host: Host, config: FrontierConfig, leased_url: str) -> HostState:
    """Snapshot of a memory record."""
    return HostState(
        authority=host.authority,
        queued=host.queued(),
        parked=len(host.parked),
        leased_token=host.token,
        leased_url=leased_url,
        next_ms=host.next_ms,
        rest_ms=host.rest_ms,
        rest_reason=host.rest_reason,
        robots_gate_ms=host.gate_ms,
        robots_gate_reason=host.gate_reason,
        robots_ms=host.robots_ms,
        robots_expires_ms=host.robots_expires_ms,
        crawl_delay_ms=host.crawl_delay_ms,
        delay_ms=host.delay_ms(config),
        address_delay_ms=host.address_delay_ms(config),
        address=host.address,
        failures=host.failures,
        last_fetch_ms=host.last_fetch_ms,
        pages=host.pages,
        fetched_bytes=host.fetched_bytes,
        words=host.words,
        admitted=host.admitted,
        paused=host.paused,
        ready_ms=host.ready_ms(config.obey_robots),
    )


def in_order(states: Iterable[HostState]) -> list[HostState]:
    """Leased ones first, then by the time of their next lease, idle ones last."""
    return sorted(states, key=lambda s: (not s.leased_token, s.ready_ms is None, s.ready_ms or 0, s.authority))


def parked(authority: str, member: bytes, until_ms: float) -> Waiting:
    """A parked URL from its member and score in Redis: reason, NUL, element; the end of parking."""
    reason, _, element = member.partition(b"\0")
    return waiting(authority, element, int(until_ms), reason.decode())


def waiting(host: str, element: bytes, until_ms: int = 0, reason: str = "") -> Waiting:
    """A queue element as people see it."""
    found = read_element(host, element)
    what = (found.url, found.kind, found.source, found.depth, found.score, found.attempt, found.expiries)
    return Waiting(*what, until_ms, reason, found.memo)


def waiting_of(host: Host) -> list[Waiting]:
    """Everything a memory record holds, in order."""
    queued = [waiting(host.authority, element) for queue in (host.hops, *host.bands) for element in queue]
    return queued + [parked(host.authority, member, until_ms) for until_ms, member, _ in host.parked]


def explain(frontier: Frontier, url: str, config: FrontierConfig) -> Explanation:
    """See :meth:`frontier.types.Frontier.explain`."""
    host, key = authority(url), canonicalize(url)
    state = frontier.host(host)
    there = frontier.peek(host, LOOKED_THROUGH) if state else []
    forms = canonicalize_many([waiting.url for waiting in there])
    found = next((waiting for waiting, form in zip(there, forms, strict=True) if form == key), None)
    leased_url = state.leased_url if state else ""
    leased = leased_url and canonicalize(leased_url) == key
    place = "leased" if leased else _place(found, state)
    url = leased_url if leased else found.url if found else url
    refused = traps.check(url, found.depth if found else 0, config.limits)
    if (port := bad_port(url)) is not None:
        refused = f"bad_port:{port}"
    if prefix := frontier.opted_out_by(url):
        refused = f"opted_out:{prefix}"
    return Explanation(url, host, place, found, state, refused, _robots_word(frontier, host, url, config))


def _place(found: Waiting | None, state: HostState | None) -> str:
    if found is not None:
        return "parked" if found.until_ms else "queued"
    return FAR_BEHIND if state and state.queued + state.parked > LOOKED_THROUGH else "not here"


def _robots_word(frontier: Frontier, host: str, url: str, config: FrontierConfig) -> str:
    if not config.obey_robots:
        return "none needed"
    record = frontier.get_robots(host)
    if record is None:
        return "no record"
    if record.kind != "rules":
        return "allowed" if record.kind == "allow" else "denied"
    rules = Rules(record.body, config.user_agent)
    word = "allowed" if rules.allowed(url) else "denied"
    line = rules.line(url)
    return f"{word}: {line}" if line else word
