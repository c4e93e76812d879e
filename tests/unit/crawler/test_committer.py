"""What a worker does with finished pages when Redis goes away in the midst of it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from unittest.mock import Mock, call

import pytest

from archive import ArchiveFull
from crawler.pages.findings import Finding, Finished
from crawler.work.committer import Committer, entry_of
from crawler.work.patience import Patience
from frontier.errors import FrontierFull, FrontierUnavailable
from frontier.types import Candidate, Kind, Lease

LINK, REQUEST = Candidate("http://a.example/2"), Candidate("http://a.example/3")


def committed(stores: Mock) -> list[str]:
    """What is done to commit a page with one link, whose callback asked for one page."""
    stores.named.for_sieve.return_value = []
    patiently = Patience(lambda: False, stores.sieve.forget_sent)
    rooms = (stores.archive, stores.sieve, stores.frontier, stores.sources, stores.quality, stores.named)
    lease = Lease("1-0", "http://a.example/1", Kind.PAGE, "http://a.example", "", 0, 1, "seed")
    with ThreadPoolExecutor(1) as beside:
        committer = Committer(*rooms, patiently, beside)
        assert committer.commit([Finished(lease, Finding("cut", links=[LINK], requests=[REQUEST]), None)]) == [True]
    calls = ("sieve.enqueue", "sieve.forget_sent", "frontier.report_first")
    return [name for name, _, _ in stores.mock_calls if name in calls]


@pytest.mark.parametrize("fault", [ArchiveFull("warc", 2, 1, "full"), FrontierFull("zulu", "OOM")])
def test_a_wait_for_room_is_told_once_and_its_end(
    fault: Exception, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("crawler.work.patience._FIRST_PAUSE_S", 1e-9)
    caplog.set_level("INFO")
    patiently = Patience(lambda: False, Mock())
    assert [patiently(Mock(side_effect=[fault, fault, 7])), patiently(lambda: 8)] == [7, 8]
    assert [line.partition(":")[0] for line in caplog.messages] == ["The crawl waits", "The crawl goes on"]


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
    lease = Lease("1-0", "http://a.example/1", Kind.PAGE, "http://a.example", "", 0, 1, "seed")
    done = Finished(lease, Finding("cut"), None)
    rooms = (stores.archive, stores.sieve, stores.frontier, stores.sources, stores.quality, stores.named)
    with ThreadPoolExecutor(1) as beside:
        assert Committer(*rooms, Patience(lambda: False, Mock()), beside).commit([done]) == [ours]
    assert stores.quality.give_back.call_args.args[0] == ([] if ours else [done])


def test_a_store_that_is_away_is_asked_every_few_seconds_however_long_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr("time.sleep", slept.append)
    away = [FrontierUnavailable("zulu", "away")] * 12
    assert Patience(lambda: False, Mock())(Mock(side_effect=[*away, 7])) == 7
    assert slept[:6] == pytest.approx([0.1, 0.2, 0.4, 0.8, 1.6, 3.2])
    assert set(slept[6:]) == {5.0}
