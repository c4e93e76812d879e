"""What ``scrapy why`` says of URLs that wait in a real Redis."""

from __future__ import annotations

import contextlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import redis
from scrapy.exceptions import UsageError

from archive import WarcWriter
from crawler.pages.link_memo import LinkMemo
from frontier.payload import REQUISITE_MARK
from frontier.types import Candidate, Kind, Outcome, RobotsRecord
from seeds.harvest.revisits import Look, revisit
from tests.unit.archive.pages import page
from tests.unit.crawler.looking import Begun, Looking

A, B = "http://a.example", "http://b.example"
PAGE = Candidate(f"{A}/1", score=0.5)


def why(look: Looking, url: str) -> dict[str, Any]:
    answer = look("why", url, "--json")
    assert (answer.status, answer.err) == (0, "")
    facts: dict[str, Any] = json.loads(answer.out)
    return facts


def test_of_what_waits_it_is_known_that_it_was_admitted(begun: Begun, look: Looking) -> None:
    begun.frontier.take_in([Candidate(f"{A}/1", source="#75ff2ce0e508c9aa", depth=2, score=0.5)])
    facts = why(look, f"{A}/1")
    told = {name: facts[name] for name in ("answer", "place", "admitted", "source", "depth", "attempt", "expiries")}
    assert told == {
        "answer": "waits for its turn",
        "place": "queued",
        "admitted": True,  # the sieve, which may be a worker's, has never met it
        "source": "#75ff2ce0e508c9aa",
        "depth": 2,
        "attempt": 0,
        "expiries": 0,
    }
    begun.fetched()
    (lease,) = begun.frontier.lease(1, ahead_ms=1 << 30).leases
    facts = why(look, lease.url)
    assert (facts["answer"], facts["admitted"]) == ("being fetched now", True)
    facts = why(look, f"{B}/1")
    assert (facts["answer"][:8], facts["admitted"], facts["host_state"]) == ("refused:", False, "never met")
    assert (facts["depth"], facts["score"], facts["attempt"], facts["expiries"]) == (None, None, None, None)


def test_of_what_is_parked_it_is_said_why_and_until_when(begun: Begun, look: Looking) -> None:
    begun.frontier.take_in([PAGE])
    assert begun.fetched() == [f"{A}/robots.txt"]
    assert begun.fetched("http_503") == [f"{A}/1"]
    facts = why(look, f"{A}/1")
    assert facts["answer"].startswith("parked (http_503) until 20")
    assert (facts["parked_reason"], facts["attempt"]) == ("http_503", 1)
    assert facts["parked_until_ms"] > begun.frontier.now_ms()


def test_a_page_that_is_looked_at_again_has_no_terms_of_a_link(begun: Begun, look: Looking) -> None:
    memo = revisit(b"", Look(b"t" * 16)).memo
    begun.frontier.take_in([replace(PAGE, memo=memo), Candidate(f"{A}/feed", Kind.FEED, score=1.0, memo=b"no history")])
    for url in (f"{A}/1", f"{A}/feed"):
        facts = why(look, url)
        assert (facts["answer"], facts["score_terms"], facts["polls"]) == ("waits for its turn", {}, {})


def test_what_is_refused_is_told_by_its_rule(begun: Begun, look: Looking) -> None:
    begun.frontier.take_in([PAGE])
    (lease,) = begun.frontier.lease(1).leases
    robots = RobotsRecord("rules", b"User-agent: *\nDisallow: /no\n")
    assert begun.frontier.report([Outcome(lease.token, "ok", robots=robots)]) == [True]
    assert why(look, f"{A}/no")["answer"] == "refused: robots.txt denied: Disallow: /no"
    assert why(look, f"{A}/yes")["answer"].startswith("never admitted: it was not found on any page")
    scope = f"refused: scope: outside what {begun.seeds} allows"
    assert [why(look, f"{B}/{name}")["answer"] for name in ("1", "feed")] == [
        scope,
        "never admitted: no URL of this host was",  # the seed file names it: no scope speaks against it
    ]


@pytest.mark.parametrize("requisites", [False, True])
def test_of_what_waits_though_the_budget_is_spent_that_is_said(
    requisites: bool, url: str, server: redis.Redis, look: Looking, tmp_path: Path
) -> None:
    crawl = Begun(url, tmp_path, f"max_pages = 1\npage_requisites = {str(requisites).lower()}\n")
    embedded = Candidate(f"{A}/2.png", score=1.0, memo=REQUISITE_MARK + b"\x01")
    with contextlib.closing(crawl.frontier):
        crawl.frontier.take_in([PAGE])
        assert why(look, f"{A}/1")["answer"] == "waits for its turn"
        crawl.fetched()
        assert crawl.fetched() == [f"{A}/1"]
        crawl.frontier.take_in([Candidate(f"{A}/3", score=0.5), embedded])
        left = "what pages embed alone is fetched" if requisites else "nothing is fetched any more"
        but = f"; but max_pages of the seed file is spent: {left}"
        assert why(look, f"{A}/3")["answer"] == f"waits for its turn{but}"
        assert why(look, f"{A}/2.png")["answer"] == "waits for its turn" + ("" if requisites else but)
        assert why(look, f"{A}/4")["answer"].startswith("never admitted: it"), "nor does it wait"
        answer = look("frontier", "status")
        assert (answer.status, answer.err) == (0, f"scrapy frontier: {but[6:]}\n")


def test_what_people_are_shown_of_a_url(begun: Begun, look: Looking) -> None:
    begun.frontier.take_in([Candidate(f"{A}/1", source=f"{B}/from", depth=3, score=0.5)])
    shown = look("why", f"{A}/1?utm_source=x").out.splitlines()
    assert shown[0] == f"{A}/1?utm_source=x"
    rows = {line[2:23].strip(): line[24:] for line in shown[1:] if line[2] != " "}
    told = {
        name: rows[name] for name in ("answer", "canonical form", "admitted", "depth", "score", "refused by", "host")
    }
    assert told == {
        "answer": "waits for its turn",
        "canonical form": f"{A}/1",
        "admitted": "yes",
        "depth": "3",
        "score": "0.50, tries so far 0",
        "refused by": "no rule",
        "host": "waits",
    }
    assert [line[24:] for line in shown if line.startswith("    ")] == [
        "1 queued, 0 parked, 0 pages fetched",
        "delay 5 s, address unknown",
    ]
    assert rows["found on"] == begun.frontier.peek(A)[0].source != ""
    begun.frontier.take_in([Candidate(f"{A}/2", score=0.5)])
    assert "  found on              unknown\n" in look("why", f"{A}/2").out
    with pytest.raises(UsageError):
        look("why", f"{A}/1", f"{A}/2")


def archived(folder: Path, **told: object) -> Path:
    """The closed file of a crawl that has fetched a page of A."""
    with WarcWriter(folder / "warc", "x", "none") as writer:
        writer.write(page(1, url=f"{A}/1", kind="page", metadata=told))
    (path,) = (folder / "warc").glob("*.warc")
    return path


def test_of_what_was_fetched_it_is_known_where_it_lies_and_what_was_found(
    begun: Begun, look: Looking, tmp_path: Path
) -> None:
    path = archived(tmp_path, verdict="left", **{"verdict-reason": "few words", "source": f"{B}/from", "depth": 3})
    facts = why(look, f"{A}/1?utm_source=x")
    assert facts["answer"] == "fetched 1 time(s), last with status 200; verdict: left (few words)"
    assert (facts["admitted"], facts["source"], facts["depth"], facts["score"]) == (True, f"{B}/from", 3, None)
    told = [facts[name] for name in ("attempt", "expiries", "parked_reason", "parked_until_ms", "polls")]
    assert told == [None, None, "", 0, {}]
    (fetch,) = facts["fetches"]
    assert (fetch["path"], fetch["url"], fetch["told"]["verdict-reason"]) == (str(path), f"{A}/1", "few words")
    shown = look("why", f"{A}/1").out
    assert f" 200  {path}  at {fetch['offset']}" in shown
    assert " verdict-reason: few words\n" in shown
    assert why(look, f"{A}/2")["fetches"] == []
    path.rename(tmp_path / "away")
    assert "(the file is not there any more, only its index)" in look("why", f"{A}/1").out


def test_what_an_archive_lacks_is_told_once_and_no_answer_is_whole_then(
    begun: Begun, look: Looking, tmp_path: Path
) -> None:
    index = Path(f"{archived(tmp_path)}.cdxj")
    sound = index.read_bytes()
    (line,) = [line for line in sound.splitlines(keepends=True) if f"{A}/1".encode() in line]
    index.write_bytes(sound.replace(line, line + line.replace(b'"offset": "', b'"offset": "x') * 2))
    answer = look("why", f"{A}/1", "--json")
    assert (answer.status, len(json.loads(answer.out)["fetches"])) == (1, 1)
    lines = answer.err.splitlines()
    assert len(lines) == len(set(lines)) >= 1
    assert all(line.startswith(f"scrapy why: {index} has a line") for line in lines)


def test_the_score_of_a_link_is_told_by_its_terms(begun: Begun, look: Looking) -> None:
    link = LinkMemo(2, "230000").pack()
    begun.frontier.take_in([replace(PAGE, memo=link), Candidate(f"{A}/2", score=0.5)])
    terms = why(look, PAGE.url)["score_terms"]
    assert 0 <= terms["priority"] <= 1
    assert f" priority: {terms['priority']:g}\n" in look("why", PAGE.url).out
    assert why(look, f"{A}/2")["score_terms"] == {}, "no link led to it"


def test_where_the_archive_is_when_it_is_not_here(
    url: str, server: redis.Redis, look: Looking, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr("socket.gethostname", lambda: "another")
        Begun(url, tmp_path).frontier.close()
    said = "no archive of this crawl is on this machine; its workers ran on another\n"
    assert look("why", f"{A}/1").err == f"scrapy why: {said}"
    answer = look("politeness", "verify")
    assert (answer.status, answer.err) == (1, f"scrapy politeness: {said}")
