"""From candidates to queue arrivals: authority, trap rules, header; the part of the intake that needs no state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from frontier import traps
from frontier.config import FrontierConfig
from frontier.payload import element, pack, split_payload
from frontier.types import Candidate
from sieve.urls import authority, bad_port


@dataclass(frozen=True, slots=True)
class Arrival:
    """An element on its way into its authority's queue. `places`: counters of the host's query sketch, None without
    query; `trap`: the rule it breaks, "" for none."""

    authority: str
    element: bytes
    not_before_ms: int
    places: tuple[int, int] | None
    trap: str


def arrival(url: str, payload: bytes, config: FrontierConfig) -> Arrival:
    """ValueError for what is no http(s) URL or no payload of ours."""
    host = authority(url)
    header, not_before_ms = split_payload(payload)
    trap = traps.check(url, header[3], config.limits)
    return Arrival(host, element(host, url, header), not_before_ms, traps.sketch_places(url), trap)


def arrivals(candidates: Iterable[Candidate], config: FrontierConfig) -> tuple[list[Arrival], Counter[str]]:
    """(arrivals, counts of what was refused by reason)."""
    return packed_arrivals(((candidate.url, pack(candidate)) for candidate in candidates), config)


def packed_arrivals(entries: Iterable[tuple[str, bytes]], config: FrontierConfig) -> tuple[list[Arrival], Counter[str]]:
    """The same from (url, payload)."""
    found: list[Arrival] = []
    refused: Counter[str] = Counter()
    for url, payload in entries:
        if bad_port(url) is not None:
            refused["refused:bad_port"] += 1
            continue
        try:
            found.append(arrival(url, payload, config))
        except ValueError:
            refused["refused:not_a_url"] += 1
    return found, refused
