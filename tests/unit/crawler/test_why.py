"""The short answer of ``scrapy why``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest

from crawler.actions.why import _answer
from crawler.records.captures import Place
from frontier.types import Explanation, HostState, Kind, Waiting

URL = "https://a.example/x"
DONE = Explanation(URL, "https://a.example", "not here", None, None, "", "allowed")


@pytest.mark.parametrize(
    ("mime", "status", "kind", "said"),
    [
        ("application/pdf", "200", "page", "; application/pdf is no page, so it was not judged"),
        ("application/pdf", "404", "page", ""),
        ("application/rss+xml", "200", "feed", ""),
        ("text/html", "200", "page", ""),
        ("unk", "200", "page", ""),
        ("warc/revisit", "200", "page", ""),
    ],
)
def test_what_is_no_page_is_said_to_be_none(mime: str, status: str, kind: str, said: str) -> None:
    fetch = Place(URL, "20260101000000", status, Path("a.warc.xz"), 0, 1, 0, {"kind": kind}, mime)
    assert _answer(DONE, [fetch], "") == f"fetched 1 time(s), last with status {status}{said}"


def test_a_verdict_is_said_with_its_reason() -> None:
    told = {"kind": "page", "verdict": "left", "verdict-reason": "few words"}
    fetch = Place(URL, "20260101000000", "200", Path("a.warc.xz"), 0, 1, 0, told, "text/html")
    assert _answer(DONE, [fetch], "").endswith("status 200; verdict: left (few words)")


@pytest.mark.parametrize(
    ("score", "share", "said"),
    [
        (0.5, 0.1, "waits for its turn"),
        (0.05, 1.0, "waits for its turn"),
        (
            0.05,
            0.1,
            "waits for its turn; worth least, and those have 10% of the fetches while better URLs are to be had",
        ),
    ],
)
def test_what_is_worth_least_is_told_why_it_waits(score: float, share: float, said: str) -> None:
    queued = replace(DONE, place="queued", waiting=Waiting(URL, Kind.PAGE, "", 1, score, 0, 0))
    assert _answer(queued, [], "", True, share) == said


@pytest.mark.parametrize(
    ("admitted", "said"),
    [
        (False, "never admitted: it was not found on any page"),
        (True, "not waiting and in no closed WARC file: in a file still open, given up"),
        (None, "not waiting and in no closed WARC file: never found, in a file still open, given up"),
    ],
)
def test_what_was_found_once_is_told_apart_from_what_never_was(admitted: bool | None, said: str) -> None:
    known = replace(DONE, host=Mock(spec=HostState))
    assert _answer(known, [], "", admitted).startswith(said)
