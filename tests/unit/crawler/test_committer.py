"""What a worker does with finished pages, also when Redis goes away in the midst of it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from unittest.mock import Mock, call

import pytest

from archive import ArchiveFull, RevisitTarget
from crawler.fetch.connection import Answer
from crawler.fetch.handler import Capture
from crawler.pages.findings import Finding, Finished
from crawler.work.committer import Committer, entry_of, outcome_of
from crawler.work.patience import Patience
from crawler.work.teller import Reported
from frontier.errors import FrontierFull, FrontierUnavailable
from frontier.types import Candidate, Kind, Lease
from relevance.steering.policy import Verdict

LINK, REQUEST = Candidate("http://a.example/2"), Candidate("http://a.example/3")


def committed(stores: Mock) -> list[str]:
    """What is done to commit a page with one link, whose callback asked for one page."""
    stores.named.for_sieve.return_value = []
    patiently = Patience(lambda: False, stores.sieve.forget_sent)
    rooms = (stores.archive, stores.sieve, stores.frontier, stores.sources, stores.quality, stores.named)
    lease = Lease("1-0", "http://a.example/1", Kind.PAGE, "http://a.example", "", 0, 1, "seed")
    with ThreadPoolExecutor(1) as beside:
        committer = Committer(*rooms, patiently, beside, keep_all=True)
        assert committer.commit([Finished(lease, Finding("cut", links=[LINK], requests=[REQUEST]), None)]) == [True]
    calls = ("sieve.enqueue", "sieve.forget_sent", "frontier.report_first")
    return [name for name, _, _ in stores.mock_calls if name in calls]


def answered(number: int, finding: Finding, kind: Kind = Kind.PAGE) -> Finished:
    """A lease that was answered; what led to its URL has its number for a tag."""
    url, begun = f"http://a.example/{number}", datetime(2026, 1, 1, tzinfo=UTC)
    lease = Lease(f"{number}-0", url, kind, "http://a.example", "", 0, 1, f"#{number}", depth=number)
    return Finished(lease, finding, Capture(url, "192.0.2.1", begun, b"", Answer(200, head=b"HTTP/1.1 200 OK\r\n\r\n")))


def commit(stores: Mock, batch: list[Finished], *, keep_all: bool = True) -> list[bool]:
    stores.sieve.absences.return_value = 0
    stores.sources.urls.return_value = {"#1": "http://a.example/from"}
    stores.named.sitemaps_for_sieve.return_value = []
    rooms = (stores.archive, stores.sieve, stores.frontier, stores.sources, stores.quality, stores.named)
    with ThreadPoolExecutor(1) as beside:
        return Committer(*rooms, Patience(lambda: False, Mock()), beside, keep_all).commit(batch)


def test_each_step_is_done_before_the_next_may_make_it_count() -> None:
    """Killed between any two, nothing is lost and nothing kept twice."""
    stores = Mock()
    stores.frontier.report_first.return_value = [True, False]
    assert commit(stores, [answered(1, Finding("ok", links=[LINK])), answered(2, Finding("ok"))]) == [True, False]
    steps = ("archive.write", "archive.sync", "sieve.enqueue", "frontier.report_first", "archive.settle")
    assert [name for name, _, _ in stores.mock_calls if name in steps] == [steps[0], *steps]
    stores.archive.settle.assert_called_once_with(["1-0"], ["2-0"])


def test_nothing_is_written_or_reported_where_nothing_is_finished() -> None:
    stores = Mock()
    assert commit(stores, []) == []
    stores.archive.settle.assert_not_called()
    stores.frontier.report_first.assert_not_called()


@pytest.mark.parametrize(
    ("finding", "kind", "kept"),
    [
        (Finding("ok", Verdict(True, "", "zul")), Kind.PAGE, True),
        (Finding("ok", Verdict(False, "", "zul")), Kind.PAGE, False),
        (Finding("http_404"), Kind.PAGE, False),
        (Finding("ok", shown=True), Kind.PAGE, True),
        (Finding("not_modified", not_modified=RevisitTarget("http://a.example/1", "")), Kind.PAGE, True),
        (Finding("ok"), Kind.FEED, True),
        (Finding("ok"), Kind.SITEMAP, True),
        (Finding("robots_unreachable"), Kind.ROBOTS, True),
    ],
)
def test_what_is_archived_where_only_what_is_kept_is_to_be(finding: Finding, kind: Kind, kept: bool) -> None:
    for keep_all in (True, False):
        stores = Mock()
        stores.frontier.report_first.return_value = [True]
        commit(stores, [answered(1, finding, kind)], keep_all=keep_all)
        assert stores.archive.write.call_count == stores.archive.sync.call_count == (keep_all or kept)


def test_the_archive_is_told_on_which_page_a_url_was_found_and_how_far_from_the_seeds() -> None:
    stores = Mock()
    stores.frontier.report_first.return_value = [True] * 3
    commit(stores, [answered(1, Finding("ok")), answered(2, Finding("ok")), answered(3, Finding("ok"), Kind.ROBOTS)])
    told = [(args[0].kind, args[0].metadata, args[1]) for _, args, _ in stores.archive.write.mock_calls]
    assert told == [
        ("page", {"source": "http://a.example/from", "depth": 1}, "1-0"),
        ("page", {"source": "#2", "depth": 2}, "2-0"),
        ("robots", {}, "3-0"),
    ]
    assert stores.sources.urls.call_args.args[0] == {"#1", "#2"}


def test_the_archive_is_told_for_which_host_a_robots_txt_that_has_moved_was_asked_for() -> None:
    stores = Mock()
    stores.frontier.report_first.return_value = [True]
    done = answered(1, Finding("ok"), Kind.ROBOTS)
    commit(stores, [replace(done, lease=replace(done.lease, source="http://b.example", hops=1))])
    assert stores.archive.write.call_args.args[0].metadata == {"source": "http://b.example"}


def test_feeds_and_sitemaps_that_go_past_the_sieve_do_not_come_to_it() -> None:
    stores = Mock()
    stores.frontier.report_first.return_value = [True]
    feed, other = Candidate("http://a.example/feed", Kind.FEED), Candidate("http://a.example/feed2", Kind.FEED)
    sitemap = Candidate("http://a.example/map", Kind.SITEMAP)
    stores.named.for_sieve.return_value = [other]
    commit(stores, [answered(1, Finding("ok", links=[feed, LINK, other, sitemap]))])
    stores.named.for_sieve.assert_called_once_with([feed, other])
    stores.named.sitemaps_for_sieve.assert_called_once_with([sitemap])
    stores.sieve.enqueue.assert_called_once_with([entry_of(LINK), entry_of(other)])


def test_bytes_are_those_of_head_and_body_as_transferred() -> None:
    done = answered(1, Finding("ok"))
    assert done.capture is not None
    done.capture.answer = Answer(200, head=b"HTTP/1.1 200 OK\r\n\r\n", body=bytearray(b"yebo"))
    assert outcome_of(done).fetched_bytes == Reported.of(done).fetched_bytes == 23
    done.capture.answer = None
    assert outcome_of(done).fetched_bytes == 0


def test_the_words_of_a_page_are_those_of_its_verdict_and_none_without_one() -> None:
    judged = Finding("ok", Verdict(True, "", "zul", words=12))
    assert [outcome_of(answered(1, finding)).words for finding in (judged, Finding("http_404"))] == [12, 0]


def test_the_age_of_an_answer_is_that_of_this_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """From its end the delay of its host runs."""
    monkeypatch.setattr("time.monotonic", lambda: 102.5)
    done = answered(1, Finding("ok"))
    assert done.capture is not None
    done.capture.ended, done.capture.fetch_ms = 100.0, 7
    assert (outcome_of(done).ended_ago_ms, outcome_of(done).fetch_ms) == (2500, 7)
    unasked = Finished(done.lease, Finding("dns"), None)
    assert (outcome_of(unasked).ended_ago_ms, outcome_of(unasked).fetch_ms) == (0, 0)


@pytest.mark.parametrize("fault", [ArchiveFull("warc", 2, 1, "full"), FrontierFull("zulu", "OOM")])
def test_a_wait_for_room_is_told_once_and_its_end(
    fault: Exception, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("crawler.work.patience._FIRST_PAUSE_S", 1e-9)
    caplog.set_level("INFO")
    patiently = Patience(lambda: False, Mock())
    assert [patiently(Mock(side_effect=[fault, fault, 7])), patiently(lambda: 8)] == [7, 8]
    assert [line.partition(":")[0] for line in caplog.messages] == ["The crawl waits", "The crawl goes on"]


def test_what_a_worker_that_stops_does_without_room_is_no_sign_of_any(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    patiently = Patience(lambda: True, Mock())
    with pytest.raises(ArchiveFull):
        patiently(Mock(side_effect=ArchiveFull("warc", 2, 1, "full")))
    assert (patiently(lambda: "of another store"), caplog.messages) == ("of another store", [])


def test_links_are_sent_again_when_the_report_had_to_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Redis that is back without its last seconds has the lease, which is older, and not the links."""
    monkeypatch.setattr("crawler.work.patience._FIRST_PAUSE_S", 0.0)
    stores = Mock()
    stores.sieve.absences.return_value = 0
    stores.frontier.report_first.side_effect = [FrontierUnavailable("zulu", "away"), [True]]
    made = ["sieve.enqueue", "frontier.report_first", "sieve.forget_sent", "sieve.enqueue", "frontier.report_first"]
    assert committed(stores) == made
    assert stores.sieve.enqueue.call_args_list == [call([entry_of(LINK), entry_of(REQUEST)])] * 2


@pytest.mark.parametrize("interrupted", [False, True])
def test_links_are_sent_again_when_another_server_took_the_report(interrupted: bool) -> None:
    stores = Mock()
    stores.sieve.absences.side_effect = [7, 7 + interrupted]
    stores.frontier.report_first.return_value = [True]
    assert committed(stores) == ["sieve.enqueue", "frontier.report_first", *["sieve.enqueue"] * interrupted]


@pytest.mark.parametrize("ours", [True, False])
def test_what_was_claimed_for_a_page_whose_lease_had_run_out_is_given_back(ours: bool) -> None:
    """Another worker fetches it, and counts it."""
    stores = Mock()
    stores.frontier.report_first.return_value = [ours]
    done = answered(1, Finding("ok"))
    assert commit(stores, [done]) == [ours]
    assert stores.quality.give_back.call_args.args[0] == ([] if ours else [done])


def test_a_store_that_is_away_is_asked_every_few_seconds_however_long_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr("time.sleep", slept.append)
    away = [FrontierUnavailable("zulu", "away")] * 12
    assert Patience(lambda: False, Mock())(Mock(side_effect=[*away, 7])) == 7
    assert slept[:6] == pytest.approx([0.1, 0.2, 0.4, 0.8, 1.6, 3.2])
    assert set(slept[6:]) == {5.0}
