"""Parsed TOML to a Crawl: every check a seed file goes through, every fault with its line."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from seeds.crawl.languages import bibliographic, meant
from seeds.crawl.model import MOST_STEPS, Crawl, FeedSource, IndexSource, Site, SitemapSource
from seeds.crawl.scope import SCOPES, host_of, seed_key
from seeds.crawl.table import Table, nearest
from seeds.crawl.toml_lines import LineMap
from seeds.errors import Problem
from sieve.urls import bad_port, canonicalize

__all__ = ["Reader", "check_contact", "check_name", "check_url"]

T = TypeVar("T")
_TABLES = ("crawl", "relevance", "site", "feed", "index", "sitemap")


class Reader:
    """Turns parsed TOML into a Crawl, noting every fault with its line."""

    def __init__(self, data: Mapping[str, Any], lines: LineMap, problems: list[Problem]) -> None:
        self._data = data
        self._lines = lines
        self._problems = problems
        self._urls: dict[tuple[bool, str], int] = {}

    def crawl(self, path: str) -> Crawl | None:
        for key in self._data:
            if key not in _TABLES:
                self._fault(f"unknown table or key {key!r}{nearest(key, _TABLES)}", key)
        head = self._head()
        policy, model, options = self._relevance()
        sites = self._many("site", self._site)
        feeds = self._many("feed", lambda table, url: FeedSource(url, *_polls(table), table.texts("tags")))
        indexes = self._many("index", lambda table, url: IndexSource(url, *_polls(table), table.texts("tags")))
        sitemaps = self._many(
            "sitemap", lambda table, url: SitemapSource(url, table.count("newer_than_days"), table.texts("tags"))
        )
        if not (sites or feeds or indexes or sitemaps) and not self._problems:
            self._problems.append(Problem(0, "nothing to crawl: no [[site]], [[feed]], [[index]] or [[sitemap]]"))
        if head.get("whitelist_only"):
            self._check_whitelist(sites)
        if self._problems:
            return None
        return Crawl(
            path=path,
            policy=policy,
            model=model,
            policy_options=MappingProxyType(options),
            sites=sites,
            feeds=feeds,
            indexes=indexes,
            sitemaps=sitemaps,
            **head,
        )

    def _head(self) -> dict[str, Any]:
        if not isinstance(self._data.get("crawl"), dict):
            self._fault("the table [crawl] with name and language is missing", "crawl")
            return {}
        table = Table(self._data["crawl"], ("crawl",), self._lines, self._problems)
        head: dict[str, Any] = {
            "name": table.text("name", check=check_name, required=True),
            "language": table.text("language", check=_check_language, required=True),
            "siblings": table.texts("siblings", check=_check_language),
            "contact": table.text("contact", check=check_contact),
            "max_pages": table.count("max_pages"),
            "max_bytes": table.count("max_bytes"),
            "max_seconds": table.count("max_seconds"),
            "whitelist_only": table.flag("whitelist_only"),
            "page_requisites": table.flag("page_requisites"),
            "tags": table.texts("tags"),
        }
        if head["language"] and head["language"] in head["siblings"]:
            table.fault("siblings: the crawl's own language is not its sibling", "siblings")
        table.finish()
        return head

    def _relevance(self) -> tuple[str, str, dict[str, Any]]:
        data = self._data.get("relevance", {})
        if not isinstance(data, dict):
            self._fault("relevance: expected a table, [relevance]", "relevance")
            return "", "", {}
        table = Table(data, ("relevance",), self._lines, self._problems)
        policy, model = table.text("policy"), table.text("model")
        options = table.rest()
        for key, value in options.items():
            if not isinstance(value, str | int | float | bool):
                table.fault(f"{key}: expected a number, a string or true/false, found {value!r}", key)
        return policy, model, options

    def _many(self, name: str, make: Callable[[Table, str], T]) -> tuple[T, ...]:
        """All `[[name]]` tables; one whose url is a list gives one value a URL."""
        tables = self._data.get(name, [])
        if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
            self._fault(f"{name}: expected [[{name}]] tables", name)
            return ()
        found: list[T] = []
        for index, data in enumerate(tables):
            table = Table(data, (name, index), self._lines, self._problems)
            urls = table.texts("url", check=check_url, required=True)
            self._note_duplicates(name, index, data.get("url"))
            found += [make(table, url) for url in urls] or [make(table, "http://unusable.invalid/")]
            table.finish()
        return tuple(found)

    def _site(self, table: Table, url: str) -> Site:
        return Site(
            url=url,
            scope=table.choice("scope", SCOPES, "host"),
            delay_s=table.seconds("delay_s"),
            ip_delay_s=table.seconds("ip_delay_s"),
            max_pages=table.count("max_pages"),
            max_bytes=table.count("max_bytes"),
            max_depth=table.count("max_depth", MOST_STEPS),
            sitemaps=table.flag("sitemaps"),
            tags=table.texts("tags"),
        )

    def _note_duplicates(self, name: str, index: int, urls: object) -> None:
        """What is polled is so as one of the three; a site may have the same address."""
        found: list[object] = urls if isinstance(urls, list) else [urls]
        for position, url in enumerate(found):
            if not isinstance(url, str):
                continue
            key = (name == "site", seed_key(url))
            line = self._lines.line(name, index, "url", position)
            if key in self._urls:
                self._problems.append(Problem(line, f"{url} is listed already, in line {self._urls[key]}"))
            else:
                self._urls[key] = line

    def _check_whitelist(self, sites: tuple[Site, ...]) -> None:
        if not self._data.get("site"):
            self._fault("whitelist_only: no item would be fetched without a [[site]]", "crawl", "whitelist_only")
        for index, data in enumerate(self._data["site"] if sites else []):  # without any they may be no tables
            if data.get("scope") == "open":
                message = 'scope "open" contradicts whitelist_only = true of [crawl]'
                self._problems.append(Problem(self._lines.line("site", index, "scope"), message))

    def _fault(self, message: str, *path: str | int) -> None:
        self._problems.append(Problem(self._lines.line(*path), message))


def _polls(table: Table) -> tuple[float | None, float | None]:
    shortest, longest = table.seconds("min_poll_s"), table.seconds("max_poll_s")
    if longest == 0:
        table.fault("max_poll_s: 0 is no time to wait at most (absent: that of the settings)", "max_poll_s")
    if shortest is not None and longest is not None and shortest > longest:
        table.fault(f"min_poll_s ({shortest:g}) is above max_poll_s ({longest:g})", "min_poll_s")
    return shortest, longest


def check_name(name: str) -> str:
    if not re.fullmatch(r"[a-z][a-z0-9_-]{0,62}", name):
        raise ValueError(f"{name!r}: lower-case letters, digits, - and _ only, a letter first")
    return name


def _check_language(code: str) -> str:
    if not re.fullmatch(r"[a-z]{3}", code) or bibliographic(code):
        found = meant(code)
        hint = f'did you mean "{found}"?' if found else "three lower-case letters, such as zul"
        raise ValueError(f"{code!r} is not an ISO 639-3 code ({hint})")
    return code


def check_contact(contact: str) -> str:
    if contact and not re.fullmatch(r"https?://[^\s/]+\S*|(mailto:)?[^\s@<>]+@[^\s@<>]+\.[^\s@<>]+", contact):
        raise ValueError(f"{contact!r} is neither a web address nor an e-mail address")
    return contact


def check_url(url: str) -> str:
    if re.search(r"[\s\x00-\x1f]", url):
        raise ValueError(f"{url!r} contains white space")
    if not re.match(r"https?://", url, re.IGNORECASE):
        raise ValueError(f"{url!r} does not start with http:// or https://")
    if not host_of(url):
        raise ValueError(f"{url!r} has no host")
    if (port := bad_port(canonicalize(url))) is not None:  # ValueError
        raise ValueError(f"port {port} of {url!r} is none of a web server")
    return url
