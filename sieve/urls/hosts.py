"""Authorities, registrable domains and scopes.

Sources: RFC 3986 section 3.2, the public suffix list (as the publicsuffixlist package ships it).
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from publicsuffixlist import PublicSuffixList

from sieve.types import Authority
from sieve.urls.canonical import UrlError, canonical

_AUTHORITY = re.compile(r"https?://(?:(?!xn--)[a-z0-9_-]+\.)*(?!xn--)[a-z_][a-z0-9_-]*(?=[/?#]|$)")
_ADDRESS = re.compile(r"\[.*\]|[0-9.]+")
SCOPES = ("host", "domain", "prefix", "open")


def authority(url: str) -> Authority:
    """``scheme://host[:port]`` of an absolute URL, without user; :class:`ValueError` when it is not http(s)."""
    found = _AUTHORITY.match(url)
    if found is not None:
        return Authority(found[0])
    return Authority(_authority(url))


@lru_cache(maxsize=4096)
def _authority(url: str) -> str:
    url = canonical(url)
    start = url.index("//") + 2
    return url[:start] + url[start : url.index("/", start)].rpartition("@")[2]


def host_of(url: str) -> str:
    """Host name or bracketed address of an absolute URL, without port."""
    host = authority(url).partition("//")[2]
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdigit() and not host.endswith("]") else host


@cache
def _suffixes() -> PublicSuffixList:
    return PublicSuffixList()


@lru_cache(maxsize=65536)
def registrable_domain(host: str) -> str:
    """The public suffix of `host` and one label more; an address, a bare suffix or a single label is its own."""
    host = host.lower().rstrip(".")
    if _ADDRESS.fullmatch(host):
        return host
    return _suffixes().privatesuffix(host) or host


def in_scope(url: str, scope_url: str, scope: str) -> bool:
    """Whether `url` lies in the scope of `scope_url`; the scheme never counts, and what cannot be parsed lies in none.

    `scope`: ``host`` (same host and port), ``domain`` (same registrable domain), ``prefix`` (same host and port, and
    the path is that of `scope_url` or lies below it), ``open`` (any http or https URL).
    """
    if scope not in SCOPES:
        raise ValueError(f"scope must be one of {', '.join(SCOPES)}: {scope!r}")
    try:
        if scope == "open":
            return bool(authority(url))
        if scope == "domain":
            return registrable_domain(host_of(url)) == registrable_domain(host_of(scope_url))
        if authority(url).partition(":")[2] != authority(scope_url).partition(":")[2]:
            return False
        return scope == "host" or _below(_path(canonical(url)), _path(canonical(scope_url)))
    except UrlError:
        return False


def _path(url: str) -> str:
    return url[url.index("/", 8) :].partition("?")[0]


def _below(path: str, top: str) -> bool:
    return path == top or path.startswith(top if top.endswith("/") else top + "/")
