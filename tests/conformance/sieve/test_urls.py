"""Canonical forms and resolution against outside suites; each deliberate difference is listed with its reason."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sieve.urls import UrlError, canonicalize, resolve_many
from sieve.urls.canonical import canonical_slowly, parse

DATA = Path(__file__).parents[3].parent / "shared" / "data" / "urls"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the outside suites are not here")


_BLANKS = "".join(map(chr, range(33)))


def cases(name: str) -> list[Any]:
    path = DATA / f"{name}.json"
    return list(json.loads(path.read_text("utf-8"))) if path.exists() else []


def form(url: str, base: str | None = None) -> str | None:
    try:
        return canonicalize(url, base)
    except ValueError:
        return None


def test_voted_pairs() -> None:
    wrong = []
    for pair in cases("pair_votes"):
        first, second = form(pair["a"]), form(pair["b"])
        merged = first is not None and first == second
        if pair["same"] in (0, pair["of"]) and merged != (pair["same"] == pair["of"]):
            wrong.append((pair["a"], pair["b"], first, second))
    assert wrong == []


# Pairs on which the voters differ: what is merged although most keep it apart, and the other way round, by reason.
MERGED_AGAINST_THE_MAJORITY = 93
APART_AGAINST_THE_MAJORITY = 2


def test_pairs_between_are_decisions() -> None:
    """Merged against most: fragments (never sent to a server), spellings of one IP address, needless user marks,
    a stray per cent sign, tracking parameters, order of repeated parameters. Apart against most: ``@`` and ``%40`` in a
    path (RFC 3986: reserved), per cent signs in a user's name (kept as found)."""
    against = {True: 0, False: 0}
    for pair in cases("pair_votes"):
        if 0 < pair["same"] < pair["of"] and 2 * pair["same"] != pair["of"]:
            merged = form(pair["a"]) == form(pair["b"]) is not None
            if merged != (2 * pair["same"] > pair["of"]):
                against[merged] += 1
    assert against[False] <= APART_AGAINST_THE_MAJORITY
    assert against[True] <= MERGED_AGAINST_THE_MAJORITY


# A base that is no http URL (a file, a mail address) resolves nothing: a crawler has no such page.
OTHER_BASES = ("file:", "ftp:", "mailto:", "data:")


def test_resolution() -> None:
    wrong = []
    for case in cases("resolve"):
        if not case["base"].startswith(OTHER_BASES) or not (case["expected"] or "").startswith("http"):
            (found,) = resolve_many([case["input"]], case["base"])
            expected = (case["expected"] or "").partition("#")[0]
            if (found or "") != expected and not expected.startswith(OTHER_BASES):
                wrong.append((case["input"], case["base"], found, expected))
    assert wrong == []


def whatwg() -> Iterator[dict[str, Any]]:
    """Cases about http and https with a base that is one, or none."""
    for case in cases("wpt_urltestdata"):
        if isinstance(case, dict) and (not case.get("base") or str(case["base"]).startswith("http")):
            yield case


# can_ada takes none of the standard's parser apart from these; each with its reason.
WHATWG_DIFFERENCES: dict[str, str] = {}


def test_whatwg_parsing() -> None:
    wrong = []
    for case in whatwg():
        href = case.get("href", "")
        http = str(href).startswith(("http://", "https://")) and not case.get("failure")
        (found,) = resolve_many([case["input"]], case["base"]) if case.get("base") else (_parsed(case["input"]),)
        expected = str(href).partition("#")[0] if http else None
        if found != expected and case["input"] not in WHATWG_DIFFERENCES and not _kept_punycode(case["input"]):
            wrong.append((case["input"], case.get("base"), found, expected))
    assert wrong == []


def _parsed(url: str) -> str | None:
    try:
        return parse(url)
    except UrlError:
        return None


def _kept_punycode(url: str) -> bool:
    # A label that looks like punycode and is none stays as it is: the name server does not care.
    return "xn--" in url.lower()


# can_ada's tables are of an earlier Unicode than the suite: these it refuses, or maps as IDNA once did.
EARLIER_UNICODE = {
    "look\u180eout.net",
    "look\u206bout.net",
    "\u04c0.com",
    "\U0002f868.com",
    "\u2183.com",
    "\u1e9e.com",
    "\u1e9e.foo.com",
}


def test_idna() -> None:
    wrong = set()
    for case in cases("wpt_toascii"):
        if isinstance(case, dict) and case["input"] and not _kept_punycode(case["input"]):
            found = _parsed(f"https://{case['input']}/x")
            expected = None if case["output"] is None else f"https://{case['output']}/x"
            if found != expected:
                wrong.add(case["input"])
    assert wrong == EARLIER_UNICODE


# w3lib.canonicalize_url, by what this project does otherwise.
def _w3lib_reason(case: dict[str, Any]) -> str:
    url, expected = str(case["input"]), case["expected"]
    rules = {
        "an option of w3lib": bool(case.get("args") or case.get("kwargs")),
        "not http or https": not url.lower().strip().startswith(("http:", "https:")),
        "the empty path is a slash": form(url) == form(str(expected)),
        "parameters: a and a= stay two, + and %20 stay two, encodings other than UTF-8 are not guessed": "?" in url,
        "reserved characters stay escaped": "%" in url or "%" in str(expected),
        "a host that is no host is refused": form(url) is None,
    }
    return next((reason for reason, holds in rules.items() if holds), "")


def test_w3lib_canonical_urls() -> None:
    """Merging agrees with w3lib but for named reasons."""
    unexplained = []
    for case in cases("w3lib"):
        if case["op"] != "canonicalize_url" or not case["expected"]:
            continue
        found = form(str(case["input"]))
        if found != case["expected"] and not _w3lib_reason(case):
            unexplained.append((case["input"], found, case["expected"]))
    assert unexplained == []


def test_every_url_of_every_suite_is_total_and_idempotent() -> None:
    texts: set[str] = set()
    for name in ("courlan", "pair_votes", "resolve", "urlcanon_semantic_precise", "w3lib", "wpt_urltestdata"):
        for case in cases(name):
            if isinstance(case, dict):
                texts.update(str(case[key]) for key in ("input", "expected", "a", "b", "href") if case.get(key))
    assert len(texts) > 1000
    for text in texts:
        once = form(text)
        if once is not None:
            assert canonical_slowly(text) == once
            assert once.isascii()
            assert form(once) == once
            if "#" not in text and text == text.strip(_BLANKS):
                assert form(text + "#fragment") == once


def test_urlcanon_merges_are_merged_or_explained() -> None:
    """Semantic-precise forms of urlcanon: where it merges two http inputs, so does this, but for named reasons."""
    unexplained = []
    for case in cases("urlcanon_semantic_precise"):
        url, expected = str(case["input"]), str(case["expected"])
        if not (url.strip().lower().startswith(("http:", "https:")) and expected.startswith("http")):
            continue
        found = form(url)
        same = found == form(expected)
        reasons = (
            found is None,  # a host that WHATWG refuses
            "#" in expected,  # urlcanon keeps fragments
            "%" in url or "%" in expected,  # urlcanon unescapes repeatedly and reserved characters too
            "//" in url[8:] or "\\" in url,  # urlcanon removes empty path segments
            any(ord(letter) < 33 for letter in url),  # controls inside
            url.count("@") > 0,
            "?" in url,  # order and empty parameters
            ".." in url or url.rstrip("/").endswith("."),
        )
        if not same and not any(reasons):
            unexplained.append((url, found, expected))
    assert unexplained == []
