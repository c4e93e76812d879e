"""What travels between RedisFrontier and its Lua scripts; pure functions, no Redis."""

from __future__ import annotations

import re
import struct
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import islice
from typing import Any, NamedTuple

import msgpack

from frontier import robots
from frontier.audit import AuditRow
from frontier.config import FrontierConfig
from frontier.intake import Arrival
from frontier.payload import element, read_element, read_hop
from frontier.types import HostPolicy, HostState, Kind, Lease, Outcome
from sieve.urls import authority

DONE_CHUNK = 1 << 20
LEASED = 1 << 50
BAND_UNIT = 1 << 44
MOST_POLICIES = 100
"""In one call: everybody waits meanwhile."""
# The same structs as in lua/_visits.lua and lua/_report_quick.lua.
_CORE = struct.Struct("<4dId5IB")
_CORE_NAMES = (
    *("served", "next_ms", "address_next_ms", "address_until_ms", "queued"),
    *("fetched_bytes", "pages", "words", "mark_balance", "last_fetch_ms", "admitted"),
)
# The map behind a record has short names, since Redis keeps them with each host that has one (lua/_visits.lua).
_MAP_NAMES = {
    "al": "own_address_delay_ms",
    "cd": "crawl_delay_ms",
    "dl": "own_delay_ms",
    "e": "equal_ms",
    "es": "equal_sections",
    "f": "failures",
    "ft": "forgiven_from_ms",
    "g": "rest_ms",
    "gr": "rest_reason",
    "h": "hops",
    "mb": "max_bytes",
    "mp": "max_pages",
    "pm": "first_unpark_ms",
    "pn": "parked",
    "qv": "query_urls",
    "rf": "robots_failures",
    "rg": "gate_ms",
    "rgr": "gate_reason",
    "rr": "robots_retry_ms",
    "tn": "traps",
    "w": "waits_for_address",
    "z": "paused",
}
_ROBOTS = struct.Struct("<2d")
_LEASE = struct.Struct("<2dIBI")
_LEASE_NAMES = ("due", "expires", "key", "holds")
_NEW = struct.Struct("<2I")
_OUTCOME = struct.Struct("<dIH5d8s")
_LAST_FETCH = _CORE_NAMES.index("last_fetch_ms")
_SERVED, _MAPPED, _ENDS_SLOWLY, _LOOKED, _HELD = 1, 2, 4, 16, 32
_NO_TOKEN = ("", 0, 0)
_TOKEN = re.compile(r"([0-9a-f]{1,13})-([0-9a-f]{8})@([!-~]+)")


def encode(value: object) -> bytes:
    """msgpack without the bin types, which Redis' old cmsgpack does not tell from strings anyway."""
    return bytes(msgpack.packb(value, use_bin_type=False))


def decode(data: bytes) -> Any:
    """Inverse: every string comes as bytes."""
    return msgpack.unpackb(data, raw=True, strict_map_key=False)


def ready_entries(places: bytes, batch: bytes) -> list[tuple[str, bytes]]:
    """URL and payload of one batch of the sieve's ready queue, at the 16-bit places of what is new of it."""
    urls, payloads = decode(batch)
    payloads = payloads or [None] * len(urls)
    chosen = struct.unpack(f"<{len(places) // 2}H", places)
    return [(urls[place].decode("utf-8", "surrogatepass"), payloads[place] or b"") for place in chosen]


def outcomes(batch: Sequence[Outcome], jitters: Sequence[float], config: FrontierConfig) -> dict[str, object]:
    """Arguments of report.lua: columns, and by index (from 1) what most outcomes have not."""
    others = ((number, _others(found, config.user_agent)) for number, found in enumerate(batch, 1))
    results = list({found.result: None for found in batch})
    places = {result: place for place, result in enumerate(results, 1)}
    authorities, packed = [], []
    for found, jitter in zip(batch, jitters, strict=True):
        name, number, key = token_parts(found.token)
        times = found.ended_ago_ms, found.fetch_ms, jitter
        authorities.append(name)
        counts = found.fetched_bytes, found.words, found.page_mark
        packed.append(_OUTCOME.pack(number, key, places[found.result], *times, *counts))
    return {
        "results": results,
        "rows": [asdict(config.rule(result)) for result in results],
        "authorities": authorities,
        "once": len(set(authorities)) == len(authorities),
        "outcomes": b"".join(packed),
        "more": {number: fields for number, fields in others if fields},
    }


def _others(found: Outcome, user_agent: str) -> dict[str, object]:
    optional: tuple[tuple[str, object], ...] = (
        ("retry_after_ms", found.retry_after_ms),
        ("memo", found.memo),
        ("again_in_ms", found.again_in_ms),
    )
    fields = {name: value for name, value in optional if value is not None}
    if found.robots:
        fields.update(
            robots_kind=found.robots.kind,
            robots_body=found.robots.body,
            robots_expires_in_ms=found.robots.expires_in_ms,
        )
        if delay_ms := robots.crawl_delay_ms(found.robots, user_agent):
            fields["crawl_delay_ms"] = delay_ms
    if found.result == "robots_redirect":
        fields.update(_target(found.location))
    return fields


def _target(location: str) -> dict[str, object]:
    """Where a redirected robots.txt is to be fetched; empty for what is no http(s) URL."""
    try:
        host = authority(location)
    except ValueError:
        return {}
    whole = element(host, location, bytes(4))
    return {"target": host, "target_is_whole": whole[0], "target_rest": whole[4:]}


def groups(arrivals: Iterable[Arrival]) -> list[tuple[str, list[object]]]:
    """Arrivals by authority, in order of arrival; plain ones as their element alone."""
    by_authority: dict[str, list[object]] = {}
    for found in arrivals:
        item: object = found.element
        if found.places or found.trap or found.not_before_ms:
            first, second = found.places or (-1, -1)
            item = [found.element, found.not_before_ms, first, second, found.trap]
        by_authority.setdefault(found.authority, []).append(item)
    return list(by_authority.items())


def intake(
    arrivals: Sequence[Arrival], refused: Counter[str], ready: Mapping[str, object] | None = None
) -> dict[str, object]:
    """Arguments of take_in.lua; `ready`: the ready queue's key, its count of entries taken, and how many these are."""
    return {"groups": groups(arrivals), "refused": dict(refused), **(ready or {})}


def policies(wanted: Mapping[str, HostPolicy]) -> Iterator[list[list[str | int]]]:
    """Arguments of configure.lua, for up to :data:`MOST_POLICIES` authorities each."""
    rows = ((name, one.delay_ms, one.address_delay_ms, one.max_pages, one.max_bytes) for name, one in wanted.items())
    while batch := [[-1 if part is None else part for part in row] for row in islice(rows, MOST_POLICIES)]:
        yield batch


def token_of(authority: str, number: int, key: int) -> str:
    """A lease's token: it names the record that says whether the lease holds."""
    return f"{number:x}-{key:08x}@{authority}"


def token_parts(token: str) -> tuple[str, int, int]:
    """(authority, number, key) of a token; of what is none, those of no lease there ever was."""
    found = _TOKEN.fullmatch(token)
    return (found[3], int(found[1], 16), int(found[2], 16)) if found else _NO_TOKEN


def lease(authority: bytes, data: bytes, key: int) -> Lease:
    """A lease as lease.lua returns it, the record of `authority` or as much of it as says so; its token ends with
    `key`."""
    name, (record, _) = authority.decode(), _leased(data)
    place = record["address"].decode() if record["holds"] else ""
    packed, due_ms, expires_ms = record["element"], int(record["due"]), int(record["expires"])
    token = token_of(name, int(record["served"]), key)
    if not packed:
        url = name + "/robots.txt"
        return Lease(token, url, Kind.ROBOTS, name, place, due_ms, expires_ms, source=name, score=1.0)
    found = read_element(name, packed)
    source, hops, memo, version = found.source, 0, found.memo, int(record["robots_ms"])
    if found.kind is Kind.ROBOTS:
        source, hops = read_hop(found.memo)
        memo, version = b"", 0
    return Lease(
        token=token,
        url=found.url,
        kind=found.kind,
        authority=name,
        address=place,
        due_ms=due_ms,
        expires_ms=expires_ms,
        source=source,
        depth=found.depth,
        score=found.score,
        attempt=found.attempt,
        expiries=found.expiries,
        memo=memo,
        robots_ms=version,
        hops=hops,
    )


def _leased(data: bytes) -> tuple[dict[str, Any], int]:
    """What a record has of an authority that was leased before, up to its address, and the place behind it."""
    *numbers, marks = _CORE.unpack_from(data, 2)
    record: dict[str, Any] = dict(zip(_CORE_NAMES, numbers, strict=True))
    place = 2 + _CORE.size + marks
    record["marks"] = data[place - marks : place]
    record["robots_ms"], record["robots_expires_ms"] = _ROBOTS.unpack_from(data, place)
    place += _ROBOTS.size
    if data[0] & _HELD:
        *numbers, length = _LEASE.unpack_from(data, place)
        record.update(zip(_LEASE_NAMES, numbers, strict=True))
        place += _LEASE.size + length
        record["element"] = data[place - length : place]
    behind = place + 1 + data[place]
    record["address"] = data[place + 1 : behind]
    return record, behind


def read_record(data: bytes) -> dict[str, Any]:
    """An authority's record (layout: lua/_visits.lua), its `inline` URLs as a list of elements."""
    record, inline = _without_urls(data)
    record["inline"] = _elements(inline)
    return record


def _without_urls(data: bytes) -> tuple[dict[str, Any], bytes]:
    """A record but for its inline URLs, and the bytes of these."""
    if data[0] & _SERVED:
        record, place = _leased(data)
    else:
        record = dict(zip(("admitted", "queued"), _NEW.unpack_from(data, 2), strict=True))
        place = 2 + _NEW.size
    place += 1 + data[place]
    inline = int.from_bytes(data[place : place + 2], "little")
    place += 2 + inline
    if data[0] & _MAPPED:
        others = ((name.decode(), value) for name, value in decode(data[place:]).items())
        record.update((_MAP_NAMES.get(name, name), value) for name, value in others)
    return record, data[place - inline : place]


def _elements(inline: bytes) -> list[bytes]:
    found, place = [], 0
    while place < len(inline):
        start = place + 2
        place = start + int.from_bytes(inline[place:start], "big")
        found.append(inline[start:place])
    return found


def host_state(name: str, data: bytes, config: FrontierConfig) -> HostState:
    """An authority's record as people see it."""
    record, _ = _without_urls(data)

    def number(field: str) -> int:
        return int(record.get(field, 0))

    def text(field: str) -> str:
        return bytes(record.get(field, b"")).decode()

    delay_ms, address_delay_ms = _delays_ms(record, config)
    return HostState(
        authority=name,
        queued=number("queued"),
        parked=number("parked"),
        leased_token=token_of(name, number("served"), record["key"]) if "key" in record else "",
        leased_url=_leased_url(name, record["element"]) if "element" in record else "",
        next_ms=number("next_ms"),
        rest_ms=number("rest_ms"),
        rest_reason=text("rest_reason"),
        robots_gate_ms=number("gate_ms"),
        robots_gate_reason=text("gate_reason"),
        robots_ms=number("robots_ms"),
        robots_expires_ms=number("robots_expires_ms"),
        crawl_delay_ms=number("crawl_delay_ms"),
        delay_ms=delay_ms,
        address_delay_ms=address_delay_ms,
        address=text("address"),
        failures=number("failures"),
        last_fetch_ms=number("last_fetch_ms"),
        pages=number("pages"),
        fetched_bytes=number("fetched_bytes"),
        words=number("words"),
        admitted=number("admitted"),
        paused=bool(number("paused")),
        ready_ms=_ready_ms(number, config.obey_robots),
    )


def _leased_url(authority: str, element: bytes) -> str:
    return read_element(authority, element).url if element else f"{authority}/robots.txt"


def had_its_pages(data: bytes) -> bool:
    """Whether the host had all pages that its own rules allow, by its record as lease.lua returns it."""
    if not data[0] & _LOOKED:
        return False
    record, _ = _without_urls(data)
    return 0 < int(record.get("max_pages", 0)) <= int(record["pages"])


class Rests(NamedTuple):
    """Until when a record's authority and its address are left alone after its last answer, by their delays, and the
    authority for a reason that is the server's; when its robots.txt may be asked for again (0: now)."""

    host_ms: int = 0
    address_ms: int = 0
    asked_ms: int = 0
    robots_ms: int = 0


def rests(data: bytes, config: FrontierConfig, asked_for: Collection[str]) -> Rests:
    """Those of a record; `asked_for`: the reasons that are the server's."""
    record, _ = _without_urls(data)
    next_ms = int(record.get("next_ms", 0))
    delay_ms, address_delay_ms = _delays_ms(record, config)
    asked_ms = int(record["rest_ms"]) if record.get("rest_reason", b"").decode() in asked_for else 0
    return Rests(next_ms, next_ms - delay_ms + address_delay_ms, asked_ms, int(record.get("robots_retry_ms", 0)))


def delays_ms(data: bytes, config: FrontierConfig) -> tuple[int, int]:
    """The delays of an authority and of its address after an answer, by its record as lease.lua returns it."""
    if data[0] & _ENDS_SLOWLY:
        return _delays_ms(_without_urls(data)[0], config)
    return _delays_ms({"last_fetch_ms": _CORE.unpack_from(data, 2)[_LAST_FETCH]}, config)


def rules_until_ms(data: bytes) -> int:
    """Until when the rules of an authority's robots.txt hold, by its record as lease.lua returns it; 0: it has none."""
    return int(_leased(data)[0]["robots_expires_ms"])


def _delays_ms(record: Mapping[str, Any], config: FrontierConfig) -> tuple[int, int]:
    adaptive_ms = min(config.adaptive_cap_ms, int(config.delay_factor * record.get("last_fetch_ms", 0)))
    delay_ms = max(int(record.get("own_delay_ms", config.delay_ms)), int(record.get("crawl_delay_ms", 0)), adaptive_ms)
    return delay_ms, max(int(record.get("own_address_delay_ms", config.address_delay_ms)), adaptive_ms)


def _ready_ms(number: Callable[[str], int], obey_robots: bool) -> int | None:
    start = max(number("next_ms"), number("rest_ms"))
    if number("hops"):
        return start
    if number("queued"):
        start = max(start, number("gate_ms"))
    elif number("parked"):
        start = max(start, number("gate_ms"), number("first_unpark_ms"))
    else:
        return None
    if obey_robots and number("robots_expires_ms") <= start:
        start = max(start, number("robots_retry_ms"))
    return start


def done_place(token: str) -> tuple[int, int]:
    """(chunk, bit) of a token in the bitmaps of accepted reports."""
    return divmod(token_parts(token)[1], DONE_CHUNK)


def audit_row(data: bytes) -> AuditRow:
    """A row of the audit stream."""
    event, token, host, address, due_ms, *rest = decode(data)
    name = host.decode()
    place = event.decode(), f"{token.decode()}@{name}", name, address.decode(), int(due_ms)
    if not rest:
        return AuditRow(*place)
    start_ms, end_ms, result, delay_ms, address_delay_ms = rest
    delays = (int(delay_ms), int(address_delay_ms)) if delay_ms >= 0 else (None, None)
    return AuditRow(*place, int(start_ms), int(end_ms), result.decode(), *delays)


def counts(table: Mapping[bytes, bytes]) -> dict[str, tuple[int, ...]]:
    """Counters by their name, from their hash, whose fields are place, ":", name; all as long as the longest."""
    rows: dict[str, dict[int, int]] = {}
    for field, value in table.items():
        place, _, key = field.partition(b":")
        rows.setdefault(key.decode("utf-8", "surrogatepass"), {})[int(place)] = int(value)
    places = range(max(map(max, rows.values()), default=-1) + 1)
    return {key: tuple(row.get(place, 0) for place in places) for key, row in rows.items()}
