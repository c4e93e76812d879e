"""Which site of a crawl a URL belongs to: asked for every link found, so it is one regular expression, one look-up.

Scopes are those of `sieve.urls.in_scope` (of canonical forms: it does not matter how an address is spelled), but that
`www.` never counts, since the one host commonly redirects to the other: `host` is the host name and port (http or
https); `domain` the registrable domain by the public suffix list; `prefix` the host, port and everything below the
URL's path, whole path segments (`/zu` covers `/zu`, `/zu/x` and `/zu?x`, not `/zulu`); `open` leads anywhere. The most
specific site wins: the longest prefix, then host, then domain.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Generic, Protocol, TypeVar

from sieve.urls import SCOPES, UrlError, canonicalize, registrable_domain

__all__ = ["SCOPES", "SiteIndex", "host_of", "place_of", "seed_key"]

_PARTS = re.compile(r"https?://(?:[^/?#@]*@)?((?:\[[^\]/]*\]|[^/?#:]+)(?::\d*)?)([^?#]*)", re.IGNORECASE)
_PORT = re.compile(r":(?:80|443)?$")
_BEFORE_PLACE = re.compile(r"https?://(?:[^/@]*@)?(?:www\.)?")
_HOSTS_KEPT = 1 << 16


def host_of(url: str) -> str:
    """The host name of an absolute http(s) URL, lower-case; "" for anything else."""
    match = _PARTS.match(url)
    return _split(match[1])[0] if match else ""


def _split(place: str) -> tuple[str, str]:
    """Host name and port of what stands between `//` and the path; port "" for the usual ones."""
    name, colon, port = _PORT.sub("", place).lower().rpartition(":")
    if not colon or port.endswith("]"):
        name, port = name + colon + port, ""
    return name.rstrip("."), port


def _bare(place: str) -> str:
    name, port = _split(place)
    return f"{name.removeprefix('www.')}:{port}"


def place_of(url: str) -> str:
    """Host name and port as a scope compares them, without ``www.``; ":" for what is no http(s) address."""
    return _bare(_canonical(url)[0])


def seed_key(url: str) -> str:
    """What addresses have in common that are one seed: those of one canonical form, or that differ in no more than
    scheme, user, ``www.`` and a last slash of the path. What is no http(s) address is like no other."""
    with suppress(UrlError):
        url = canonicalize(url)
    key = _BEFORE_PLACE.sub("", url, count=1)
    return key if "?" in key else key.rstrip("/")


def _canonical(url: str) -> tuple[str, str]:
    """Host with port, and path, however they are spelled; two empty ones of what is not http or https."""
    try:
        match = _PARTS.match(canonicalize(url))
    except UrlError:
        match = None
    return (match[1], match[2]) if match else ("", "")


class _Sited(Protocol):
    @property
    def url(self) -> str: ...
    @property
    def scope(self) -> str: ...


S = TypeVar("S", bound=_Sited)


class SiteIndex(Generic[S]):
    """Sites arranged for the question "which of you covers this URL?"; not thread-safe beyond the GIL's own."""

    def __init__(self, sites: Iterable[S]) -> None:
        self._prefixes: dict[str, list[tuple[str, S]]] = {}
        self._hosts: dict[str, S] = {}
        self._domains: dict[str, S] = {}
        self.open = False
        for site in sites:
            self._add(site)
        for rules in self._prefixes.values():
            rules.sort(key=lambda rule: -len(rule[0]))
        self._seen: dict[str, tuple[tuple[tuple[str, S], ...], S | None]] = {}

    def site_of(self, url: str) -> S | None:
        """The most specific site that covers `url`, None when none does (also for what is not http or https)."""
        match = _PARTS.match(url)
        if match is None:
            return None
        rules = self._seen.get(match[1])
        if rules is None:
            rules = self._look_up(match[1])
        path = _canonical(url)[1] if rules[0] else ""
        for prefix, site in rules[0]:
            if path.startswith(prefix) and (len(path) == len(prefix) or prefix[-1:] == "/" or path[len(prefix)] == "/"):
                return site
        return rules[1]

    def covers(self, url: str) -> bool:
        """Whether a link to `url` may be followed."""
        return self.site_of(url) is not None or (self.open and _PARTS.match(url) is not None)

    def _look_up(self, found_host: str) -> tuple[tuple[tuple[str, S], ...], S | None]:
        place = _canonical(f"http://{found_host}")[0]
        host = _bare(place)
        site = self._hosts.get(host) or self._domains.get(registrable_domain(_split(place)[0]))
        rules = (tuple(self._prefixes.get(host, ())), site)
        if len(self._seen) >= _HOSTS_KEPT:
            self._seen.clear()
        self._seen[found_host] = rules
        return rules

    def _add(self, site: S) -> None:
        place, path = _canonical(site.url)
        if not place:
            raise ValueError(f"not an http or https URL: {site.url!r}")
        host = _bare(place)
        if site.scope == "prefix":
            self._prefixes.setdefault(host, []).append((path, site))
        elif site.scope == "domain":
            self._domains.setdefault(registrable_domain(_split(place)[0]), site)
        else:
            self._hosts.setdefault(host, site)
            self.open = self.open or site.scope == "open"
