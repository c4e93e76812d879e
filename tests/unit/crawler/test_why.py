"""The short answer of ``scrapy why``."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest
from scrapy.settings import Settings

from crawler.actions.why import Why, _admitted, _answer, _number, _poll_rows, _polling, _polls, _refused, _text
from crawler.console.crawl_state import CrawlState
from crawler.console.terminal import clock
from crawler.records.captures import Place
from frontier.types import Explanation, HostState, Kind, Waiting
from seeds.crawl import load_crawl
from seeds.harvest import Answer, poll
from sieve.errors import LinkError

URL = "https://a.example/x"
DONE = Explanation(URL, "https://a.example", "not here", None, None, "", "allowed")


@pytest.mark.parametrize(
    ("mime", "status", "kind", "said"),
    [
        ("image/png", "200", "page", "; image/png was not read as a page, so it was not judged"),
        ("image/png", "404", "page", ""),
        ("application/rss+xml", "200", "feed", ""),
        ("text/html", "200", "page", ""),
        ("unk", "200", "page", ""),
        ("warc/revisit", "200", "page", ""),
    ],
)
def test_what_is_no_page_is_said_to_be_none(mime: str, status: str, kind: str, said: str) -> None:
    fetch = Place(URL, "20260101000000", status, Path("a.warc.xz"), 0, 1, 0, {"kind": kind}, mime)
    assert _answer(DONE, [fetch], "") == f"fetched 1 time(s), last with status {status}{said}"


def test_why_a_document_was_not_judged_is_said() -> None:
    told = {"kind": "page", "unread": "password"}
    fetch = Place(URL, "20260101000000", "200", Path("a.warc.xz"), 0, 1, 0, told, "application/pdf")
    assert _answer(DONE, [fetch], "").endswith("; a PDF that could not be read (password), so it was not judged")


def test_of_what_a_page_embeds_it_is_said_that_it_is_not_judged() -> None:
    fetch = Place(URL, "20260101000000", "", Path("a.warc.xz"), 0, 1, 0, {"kind": "requisite"}, "image/png")
    said = "fetched 2 time(s), last with status unknown; a page embeds it, so it was not judged"
    assert _answer(DONE, [fetch, fetch], "") == said


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


def test_of_what_is_polled_it_is_said_when_it_is_again(tmp_path: Path) -> None:
    seeds = tmp_path / "zulu.toml"
    seeds.write_text(
        '[crawl]\nname = "zulu"\nlanguage = "zul"\n'
        f'[[feed]]\nurl = "{URL}"\n[[site]]\nurl = "https://b.example/"\nscope = "host"\n'
    )
    state = Mock(spec=CrawlState)
    state.spec = load_crawl(seeds)
    as_page, as_feed = (Place(URL, "", "200", Path(), 0, 1, 0, {"kind": kind}) for kind in ("page", "feed"))
    feed = Waiting(URL, Kind.FEED, "", 0, 1.0, 0, 0)
    queued, parked = replace(DONE, waiting=feed), replace(DONE, waiting=replace(feed, until_ms=5000))
    assert _polling(state, queued, [as_feed]) == "; polled again now"
    assert _polling(state, parked, [as_feed]) == f"; polled again {clock(5000)}"
    assert _polling(state, replace(queued, waiting=replace(feed, kind=Kind.PAGE)), [as_page]) == ""
    assert _polling(state, DONE, [as_feed, as_page]) == "; not polled any more"
    assert _polling(state, DONE, [as_page]) == "; to be polled from the next start on", "the seed file has it now"
    assert _polling(state, replace(DONE, url="https://b.example/"), [as_page]) == "", "named, and not as a feed"
    for unseen in (DONE, queued):
        assert _polling(state, unseen, []) == ""
    assert _polling(state, replace(DONE, place="leased"), [as_feed]) == ""


def test_of_a_host_with_very_many_urls_it_is_said_how_many_were_looked_through() -> None:
    host = Mock(spec=HostState)
    far = replace(DONE, place="far behind", host=host)
    said = "not among the first 10,000 URLs that wait of its host: behind them, parked, or done with"
    assert [_answer(far, [], "", admitted) for admitted in (True, None)] == [said, said]
    assert _answer(far, [], "", False).startswith("never admitted")


@pytest.mark.parametrize(
    ("admitted", "said"),
    [
        (False, "never admitted: it was not found on any page"),
        (True, "not waiting and in no closed WARC file here: in a file still open, moved away or in another"),
        (None, "not waiting and in no closed WARC file here: never found, in a file still open, moved"),
    ],
)
def test_what_was_found_once_is_told_apart_from_what_never_was(admitted: bool | None, said: str) -> None:
    known = replace(DONE, host=Mock(spec=HostState))
    assert _answer(known, [], "", admitted).startswith(said)


@pytest.mark.parametrize("admitted", [True, None])
def test_what_is_gone_may_have_been_dropped(admitted: bool | None) -> None:
    """As while its host had opted out, which is withdrawn by now: then no rule says any more that it did."""
    known = replace(DONE, host=Mock(spec=HostState))
    assert "or dropped (by an opt-out" in _answer(known, [], "", admitted)


def test_the_scope_is_that_of_links(tmp_path: Path) -> None:
    """What the seed file names is fetched wherever it lies, and so is what was let in, as pictures of pages are."""
    seeds = tmp_path / "zulu.toml"
    seeds.write_text(
        '[crawl]\nname = "zulu"\nlanguage = "zul"\n[[feed]]\nurl = "https://a.example/feed"\n'
        '[[site]]\nurl = "https://b.example/"\nscope = "host"\n'
    )
    state = Mock(spec=CrawlState)
    state.spec = load_crawl(seeds)
    for admitted in (False, None):
        assert _refused(state, DONE, 0, admitted).startswith("scope: outside what ")
        assert _refused(state, replace(DONE, url="https://a.example/feed"), 0, admitted) == ""
    assert _refused(state, DONE, 0, True) == ""
    denied = replace(DONE, robots="denied: Disallow: /")
    assert _refused(state, denied, 0, True) == "robots.txt denied: Disallow: /"
    assert _refused(state, replace(DONE, refused="opted_out:https://a.example/"), 0, True).startswith("opted_out:")


def test_a_feed_steers_no_terminal() -> None:
    signs = b'<!DOCTYPE rss [<!ENTITY \x1b[2J "' + b"x" * 9999 + b'">]><rss version="2.0"><channel/></rss>'
    result = poll(URL, b"", Answer(URL, 200, 1_790_000_000_000, body=signs))
    assert "\x1b" not in result.warnings[0].detail
    polls = {"polls": 1, "last_s": 0, "errors": 1, "failing_since_s": 1_790_000_000, "problem": "\x1b[2J"}
    words = ("url", "answer", "canonical", "fingerprint", "source", "source_url", "place", "robots", "refused")
    facts = dict.fromkeys((*words, "host_state"), "") | dict.fromkeys(("depth", "score", "host", "admitted"))
    shown = _text({**facts, "score_terms": {}, "fetches": [], "polls": polls}).plain
    assert "in a row: \ufffd[2J\n" in shown


def test_of_a_feed_that_fails_it_says_why() -> None:
    memo = poll(URL, b"", Answer(URL, 404, 1_790_000_000_000)).memo
    waiting = Waiting(URL, Kind.FEED, "", 0, 1.0, 0, 0, memo=memo)
    (name, told), (_, failing) = _poll_rows(_polls(waiting))
    assert (name, told) == ("polls", "1, none good yet")
    assert failing.startswith("failing since 2026-09-21 ")
    assert failing.endswith("1 time(s) in a row: status 404")
    assert _polls(replace(waiting, kind=Kind.PAGE)) == {}
    assert _polls(replace(waiting, memo=b"no history")) == {}
    good = poll(URL, memo, Answer(URL, 200, 1_790_000_100_000, body=b'<rss version="2.0"><channel/></rss>')).memo
    ((_, told),) = _poll_rows(_polls(replace(waiting, memo=good)))
    assert told.startswith("2, last good 2026-09-21 ")


def test_a_redis_that_takes_no_writes_is_not_taken_for_a_worker_that_has_the_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`scrapy sieve contains` says what ails it, and `scrapy why` all else that it knows."""
    sieve = Mock(decide=Mock(side_effect=LinkError("Redis: READONLY")))
    monkeypatch.setattr("crawler.console.crawl_state.open_sieve", lambda *_: sieve)
    state = CrawlState("x", None, Path(), Mock(), Mock(), Settings(), "", "")
    with pytest.raises(LinkError, match="READONLY"):
        state.admitted(URL)
    assert _admitted(state, URL) is None
    assert sieve.close.call_count == 2


def test_of_what_is_no_url_that_is_the_answer_in_either_form(capsys: pytest.CaptureFixture[str]) -> None:
    answers = []
    for json_wanted in (False, True):
        assert Why(Settings(), "why").perform(["mailto:a@b"], argparse.Namespace(json=json_wanted)) == 1
        answers.append(capsys.readouterr().out)
    facts = json.loads(answers[1])
    assert f"{facts['url']}: {facts['answer']}\n" == answers[0]
    assert facts["answer"].startswith("no URL that a crawl could fetch: neither http nor https")


@pytest.mark.parametrize(
    ("told", "depth"), [("12", 12), ("", 0), ("-1", 0), ("٣", 0), ("²", 0), ("9" * 9, 999_999_999), ("9" * 10, 0)]
)
def test_a_depth_that_others_have_written_is_a_number_or_none(told: str, depth: int) -> None:
    assert _number(told) == depth
