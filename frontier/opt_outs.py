"""Hosts and URL prefixes that must never be fetched: tables, authority -> path prefixes ("": all of it).

Each crawl has one, and all crawls of a Redis have one together, those that begin later, too: a URL that lies under a
rule of either is not leased, and where either cannot be read nothing is.

Only :func:`withdraw` takes anything out of it, and only what is named exactly as it was put in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from urllib.parse import unquote_to_bytes, urlsplit

from sieve.urls import as_parsed, authority

Rule = tuple[str, str]
Table = dict[str, list[str]]
_PLACE_ENDS = re.compile(r"[/?#:]")
_HOST_ENDS = re.compile(r"[/?#\\]")
_NO_HOST = re.compile(r"[@,;]")
"""Parsers take them: `a.example,b.example` for a name, `me@a.example` for a user's."""
_LABEL = r"[a-z0-9_-]{1,63}"
_AUTHORITY = re.compile(rf"https?://(?:(?!https?(?::|\Z)){_LABEL}(?:\.{_LABEL})*\.?|\[[0-9a-f:.]+\])(?::\d+)?")
"""Of a crawl's URLs. Parsers also take `"a.example"` with its marks, and `http` of `http//a.example` and of
`http://http://a.example`."""
_BREAKS = re.compile(r"[\t\r\n]")
"""Parsers leave them out: two lines would be one name."""


def opt_out_rules(prefixes: Iterable[str]) -> Iterator[Rule]:
    """(authority, path prefix; "" is all of it) of each prefix: a bare host counts for http and https, with and without
    ``www.``. ValueError for what is neither a host nor an http(s) URL, for a pattern, and for several in one."""
    for prefix in prefixes:
        text = prefix.strip()
        if _BREAKS.search(text):
            raise ValueError(f"{prefix!r} has more than one line or column")
        for url in [text] if "://" in text else spelled_out(_with_host(text)):
            home = authority(url)
            if home == url and _AUTHORITY.fullmatch(home):  # as nearly all of a long list: it needs no parser
                yield home, ""
                continue
            parts = urlsplit(as_parsed(url))
            path = parts.path + (f"?{parts.query}" if parts.query else "")
            if "*" in parts.netloc + path:
                raise ValueError(f"{prefix!r} is a pattern, and an opt-out names a host or how URLs begin (* is %2A)")
            if parts.netloc.startswith(".") or ".." in parts.netloc:
                raise ValueError(f"{prefix!r} is no host: it begins with a dot, or has two together")
            if not _AUTHORITY.fullmatch(home):
                raise ValueError(f"{prefix!r} names no host: {home}")
            yield home, "" if path == "/" else path


def _with_host(place: str) -> str:
    """`place` with its host in ASCII, so that its ``www.`` is seen in any letters; ValueError when it has none."""
    host = _HOST_ENDS.split(place, maxsplit=1)[0]
    if not host or _NO_HOST.search(host):
        raise ValueError(f"{place!r} does not begin with a host")
    return place if host.isascii() else authority(f"http://{host}").partition("//")[2] + place[len(host) :]


def spelled_out(place: str) -> list[str]:
    """What a host (with a port or a path, perhaps) is called: by http and https, a name with and without ``www.``."""
    bare = place[4:] if place[:4].lower() == "www." else place
    names = (bare,) if _is_address(bare) else (bare, f"www.{bare}")
    return [f"{scheme}://{name}" for name in names for scheme in ("http", "https")]


def _is_address(place: str) -> bool:
    """As browsers tell it: in brackets, or its last label is a number."""
    return place.startswith("[") or _PLACE_ENDS.split(place)[0].rstrip(".").rpartition(".")[2].isdigit()


def lies_under(path: str | bytes, prefix: str) -> bool:
    """Whether `path`, what follows a URL's authority, begins with `prefix`, however their letters are escaped (RFC 9309
    2.2.2; of reserved ones, too: an opt-out takes rather too much than too little)."""
    return unquote_to_bytes(path).startswith(unquote_to_bytes(prefix))


def add(table: Table, rules: Iterable[Rule]) -> int:
    """Put `rules` in; the number that were new."""
    new = 0
    known: dict[str, set[str]] = {}
    for host, path in rules:
        if host not in table:  # as nearly all of a long list: no set for each
            table[host] = [path]
            new += 1
            continue
        paths = table[host]
        if host not in known:
            known[host] = set(paths)
        if path not in known[host]:
            known[host].add(path)
            paths.append(path)
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


def listed(table: Table) -> list[str]:
    """All of it, as prefixes of URLs."""
    return sorted(host + path for host, paths in table.items() for path in paths)


def against(url: str, rules: Callable[[str], Iterable[str]]) -> str:
    """The first prefix under which `url` lies, "" when none is; `rules` gives those of an authority."""
    parts, host = urlsplit(as_parsed(url)), authority(url)
    path = parts.path + (f"?{parts.query}" if parts.query else "")
    return next((host + rule for rule in rules(host) if lies_under(path, rule)), "")
