"""Hosts and URL prefixes that must never be fetched: a crawl's table, authority -> path prefixes ("": all of it).

Only :func:`withdraw` takes anything out of it, and only what is named exactly as it was put in. What a prefix means is
`frontier.admin.opt_out_rules`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from urllib.parse import urlsplit

from frontier import admin
from sieve.urls import as_parsed, authority

Rule = tuple[str, str]
Table = dict[str, list[str]]


def add(table: Table, rules: Iterable[Rule]) -> int:
    """Put `rules` in; the number that were new."""
    new = 0
    for host, path in rules:
        known = table.setdefault(host, [])
        if path not in known:
            known.append(path)
            new += 1
    return new


def withdraw(table: Table, rules: Iterable[Rule]) -> int:
    """Take `rules` out, or nothing when one of them is not there; the number taken out."""
    wanted = set(rules)
    if not all(path in table.get(host, ()) for host, path in wanted):
        return 0
    for host, path in wanted:
        table[host].remove(path)
    return len(wanted)


def against(url: str, rules: Callable[[str], Iterable[str]]) -> str:
    """The first prefix under which `url` lies, "" when none is; `rules` gives those of an authority."""
    parts, host = urlsplit(as_parsed(url)), authority(url)
    path = parts.path + (f"?{parts.query}" if parts.query else "")
    return next((host + rule for rule in rules(host) if admin.lies_under(path, rule)), "")
