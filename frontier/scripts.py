"""The Lua scripts of RedisFrontier: each is put together of its parts, with the crawl's settings in front."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from importlib.resources import files

from frontier import host, outcomes, payload, traps
from frontier.answering import ANSWER_WITHIN_S
from frontier.config import FrontierConfig
from frontier.keys import OPT_OUTS_OF_ALL

_COMMON = ("_clock", "_common")
_VISITS = (*_COMMON, "_visits")
_RECORDS = ("_newcomers", "_records", "_queues", "_places")
_SHARED = (*_VISITS, *_RECORDS)
PARTS = {
    "lease": (*_VISITS, "_line", "_lease_quick", "lease"),
    "report": (*_VISITS, "_report_quick", "report"),
    "take_in": (*_SHARED, "take_in"),
    "release": (*_SHARED, "_give_back", "release"),
    "bind": (*_SHARED, "_give_back", "bind"),
    "set_host": (*_SHARED, "set_host"),
    "configure": (*_SHARED, "configure"),
    "rescore": (*_SHARED, "rescore"),
    "add_counts": (*_COMMON, "add_counts"),
    "now": ("_clock", "now"),
    "read": (*_VISITS, "_newcomers", "read"),
}
# What a script defines only when it needs it, by its function define_slow_way.
SLOW_PARTS = {
    "lease": (*_RECORDS, "_finish", "_lease_slow", "_lease_requisites"),
    "report": (*_RECORDS, "_finish", "_report_slow"),
}


# What the frontier in memory goes by, too, and no crawl sets.
_NUMBERS: dict[str, object] = {
    "forgive": outcomes.FORGIVE_MS,
    "retry_after_cap": outcomes.RETRY_AFTER_CAP_MS,
    "most_doublings": outcomes.MOST_DOUBLINGS,
    "day": outcomes.DAY,
    "unparked_at_once": host.UNPARKED_AT_ONCE,
    "parked_at_once": host.PARKED_AT_ONCE,
    "expired_at_once": host.EXPIRED_AT_ONCE,
    "opted_out_at_once": host.OPTED_OUT_AT_ONCE,
    "equal_pages_reason": host.EQUAL_PAGES,
    "most_sections": host.MOST_SECTIONS,
    "section_bytes": payload.SECTION_BYTES,
    "second_band": payload.SECOND_BAND,
    "most_hops": host.MOST_HOPS,
    "refresh_share": host.REFRESH_SHARE,
    "most_credit": host.MOST_CREDIT,
    "more": host.MORE_MS,
    "put_back": host.PUT_BACK_MS,
    "sketched_from": traps.SKETCHED_FROM,
    "mark_bytes": traps.MARK_BYTES,
    "marks_kept": traps.MARKS_KEPT,
}


def script_text(name: str, config: FrontierConfig) -> str:
    """Text of a script for a crawl with these settings."""
    return f"local SETTINGS = {_literal({**_settings(config), **_NUMBERS})}\n{_body(name)}"


def turns_text() -> str:
    """Text of the script that all crawls share."""
    return _part("_clock") + _part("turns")


def _literal(value: object) -> str:
    """In Lua."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {_literal(field)}" for name, field in value.items()) + " }"
    if isinstance(value, bytes):
        return '"' + "".join(f"\\{byte:03}" for byte in value) + '"'
    return str(value).lower() if isinstance(value, bool) else repr(value)


@cache
def _body(name: str) -> str:
    """What a script does, with what it shares with others in front.

    Each part is a function inside the one before: what it uses of that is then handed on as it is, where Lua would look
    for every name of an enclosing chunk in a list of all of them, at each call anew.
    """
    *shared, own = PARTS[name]
    slow = f"local function define_slow_way()\n{_nested(SLOW_PARTS[name])}\nend\n" if name in SLOW_PARTS else ""
    return _nested(shared, slow + _part(own))


def _nested(names: Sequence[str], *last: str) -> str:
    texts = [*map(_part, names), *last]
    return "\nreturn (function()\n".join(texts) + "\nend)()" * (len(texts) - 1)


def _part(name: str) -> str:
    return (files("frontier") / "lua" / f"{name}.lua").read_text("utf-8")


def _settings(config: FrontierConfig) -> dict[str, object]:
    """What Lua needs of a crawl's settings."""
    unreachable = config.rule("robots_unreachable")
    return {
        "delay": config.delay_ms,
        "address_delay": config.address_delay_ms,
        "factor": config.delay_factor,
        "adaptive_cap": config.adaptive_cap_ms,
        "crawl_delay_cap": config.crawl_delay_cap_ms,
        "lease": config.lease_ms,
        "address_ttl": config.address_ttl_ms,
        "bind_ahead": config.bind_ahead_ms,
        "obey": config.obey_robots,
        "robots_ttl": config.robots_ttl_ms,
        "robots_refresh": config.robots_refresh_ms,
        "hop_wait": config.robots_hop_wait_ms,
        "robots_base": unreachable.rest_base_ms,
        "robots_cap": unreachable.rest_cap_ms,
        "trap_park": config.trap_park_ms,
        "host_urls": config.limits.host_urls,
        "query_variants": config.limits.query_variants,
        "equal_pages": config.limits.equal_pages,
        "some_equal_pages": config.limits.some_equal_pages,
        "few_equal_pages": config.limits.few_equal_pages,
        "parked_traps": config.limits.parked_traps,
        "least_credit": False if config.least_credit is None else config.least_credit,
        "least_every": config.least_every_ms,
        "better_wait": config.better_wait_ms,
        "max_pages": config.budget.max_pages,
        "max_bytes": config.budget.max_bytes,
        "max_ms": config.budget.max_seconds * outcomes.SECOND,
        "requisites": payload.REQUISITE_MARK if config.budget.requisites else False,
        "opt_outs_of_all": OPT_OUTS_OF_ALL,
        "answer_within": round(ANSWER_WITHIN_S * 1000),
        "audit": config.audit_rows if config.audit else False,
        "expired": asdict(config.rule("expired")),
    }
