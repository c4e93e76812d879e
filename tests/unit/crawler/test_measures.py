from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from pathlib import Path
from unittest.mock import Mock

import pytest
from scrapy.settings import Settings

from archive import ArchiveFull
from crawler.errors import PreflightError
from crawler.preflight import metrics_socket
from crawler.watch.measures import CrawlFacts, Families, WorkerFacts, of_crawl, of_worker
from crawler.watch.metrics import Metrics
from crawler.work.intake import Intake
from crawler.work.patience import Patience
from crawler.work.worker import Worker
from frontier.errors import FrontierFull, FrontierUnavailable
from frontier.types import FrontierStatus
from sieve.errors import LinkError, LinkFull
from sieve.fleet.redis_link import Tally


def told(stats: Mapping[str, int], blocked_by: str = "", free_bytes: int | None = 7) -> dict[tuple[str, ...], float]:
    """Name and labels but the crawl's, and values, of a worker's metrics."""
    facts = WorkerFacts("host-1", stats, 3, blocked_by, False, 0, 0, free_bytes)
    samples = [sample for metric in of_worker(Families("zulu"), facts) for sample in metric.samples]
    assert {sample.labels.pop("crawl") for sample in samples} == {"zulu"}
    return {(sample.name, *sample.labels.values()): sample.value for sample in samples}


def test_statuses_are_told_by_class_since_servers_make_up_their_own() -> None:
    names = ("200", "204", "404", "999", "099")
    page = told({f"downloader/response_status_count/{name}": 2 for name in names})
    found = {key[1]: value for key, value in page.items() if key[0] == "ulwembu_worker_responses_total"}
    assert found == {"2xx": 4, "4xx": 2, "other": 4}


def test_an_error_has_the_name_of_its_class() -> None:
    names = ("crawler.fetch.errors.DnsError", "builtins.TimeoutError", "twisted.internet.error.TimeoutError")
    page = told({f"downloader/exception_type_count/{name}": 5 for name in names})
    assert page["ulwembu_worker_errors_total", "DnsError"] == 5
    assert page["ulwembu_worker_errors_total", "TimeoutError"] == 10


def test_what_was_never_logged_is_0_and_not_missing() -> None:
    """Else an alert on its increase would miss the first."""
    page = told({"log_count/ERROR": 2, "log_count/INFO": 1})
    found = {key[1]: value for key, value in page.items() if key[0] == "ulwembu_worker_log_lines_total"}
    assert found == {"WARNING": 0, "ERROR": 2, "CRITICAL": 0, "INFO": 1}


def test_a_worker_says_what_it_waits_for() -> None:
    page = told({}, blocked_by="disk")
    assert page["ulwembu_worker_blocked", "disk"] == 1
    assert page["ulwembu_worker_blocked", "redis"] == 0


def test_room_that_nobody_has_looked_for_is_not_told() -> None:
    assert ("ulwembu_worker_free_bytes",) in told({})
    assert ("ulwembu_worker_free_bytes",) not in told({}, free_bytes=None)


def test_the_figures_of_a_fleet_are_those_of_its_stores() -> None:
    results = {"ok": 9, "expired": 2, "robots:expired": 1, "gave_up:dns": 4, "dropped:depth": 5, "refused:not_a_url": 6}
    status = FrontierStatus(10, 11, 12, 13, None, 14, {"cut": 13}, results, pages=15, fetched_bytes=16, words=17)
    memory = {"used_memory": 18, "maxmemory": 19}
    facts = CrawlFacts(status, {"page:ok": (20, 9)}, {"kept:zul": (21,)}, Tally(30, 25, 22, 1), memory, None)
    samples = [sample for metric in of_crawl(Families("zulu"), facts) for sample in metric.samples]
    found = {(s.name.removeprefix("ulwembu_"), *list(s.labels.values())[1:]): s.value for s in samples}
    assert found == {
        ("crawl_queued_urls",): 10, ("crawl_due_authorities",): 11, ("crawl_leased_urls",): 12,
        ("crawl_parked_urls", "cut"): 13, ("crawl_authorities",): 14, ("crawl_pages_total",): 15,
        ("crawl_fetched_bytes_total",): 16, ("crawl_words_total",): 17, ("redis_memory_bytes",): 18,
        ("redis_memory_limit_bytes",): 19, ("crawl_outcomes_total", "page", "ok"): 20,
        ("crawl_judged_pages_total", "kept", "zul"): 21, ("crawl_enqueued_urls_total",): 30,
        ("crawl_seen_urls_total",): 22, ("crawl_undecided_urls",): 5, ("crawl_expired_leases_total",): 3,
        ("crawl_gave_up_total", "dns"): 4, ("crawl_dropped_total", "depth"): 5,
    }  # fmt: skip


def test_the_figures_of_a_worker_are_its_own() -> None:
    crawler = Mock()
    crawler.stats.get_stats.return_value = {"downloader/request_count": 4}
    metrics = Metrics(crawler)
    metrics._families, metrics._worker = Families("zulu"), Mock(leases_held=3, blocked_by="", intake_refused=True)
    metrics._worker.stores.archive = Mock(written_bytes=5, finished=[Path("a"), Path("b")])
    found = {sample.name: sample.value for metric in metrics.collect() for sample in metric.samples}
    names = ("redis_up", "leases", "intake_refused", "requests_total", "archived_bytes_total", "archive_files_total")
    assert [found[f"ulwembu_worker_{name}"] for name in names] == [0, 3, 1, 4, 5, 2]


def test_a_worker_knows_whether_redis_took_in_new_urls() -> None:
    worker = Worker.__new__(Worker)
    worker._committer, worker._teller = Mock(patiently=Mock(full=False)), Mock(patiently=Mock(full=False))
    stores = Mock(**{"start_urls.poll.return_value": 0})
    worker._intake = Intake(stores, Mock())
    stores.frontier.take_ready.side_effect = [FrontierFull("zulu", "OOM"), 0]
    worker._intake.take()
    assert worker.intake_refused
    worker._intake.take()
    assert not worker.intake_refused
    # All leases are of pages that wait: no lease is asked for, and nothing taken in.
    worker._committer.patiently.full = True
    assert worker.intake_refused
    worker._committer.patiently.full, worker._teller.patiently.full = False, True
    assert worker.intake_refused


def test_a_folder_that_is_gone_and_a_redis_that_is_away_cost_only_their_own_figures(tmp_path: Path) -> None:
    metrics = Metrics(Mock())
    metrics._worker = worker = Mock()
    worker.stores.folder = tmp_path
    worker.stores.frontier.audit_from.side_effect = FrontierUnavailable("zulu", "away")
    assert metrics._read() is None
    assert metrics._free_bytes
    worker.stores.folder = tmp_path / "gone"
    assert metrics._read() is None
    assert metrics._free_bytes is None
    worker.stores.frontier.audit_from.side_effect = [([], "-")]
    worker.stores.frontier.get_counts.return_value = {}
    worker.stores.sieve.tally.side_effect = LinkError("away")
    assert metrics._read() is None


def test_an_empty_address_is_not_all_addresses() -> None:
    settings = Settings({"METRICS_PORT": 21_000, "METRICS_HOST": ""})
    with metrics_socket(settings) as listening:
        assert listening.getsockname()[0] == "127.0.0.1"


def test_redis_is_asked_once_for_all_who_ask_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    metrics, let_go, reads = Metrics(Mock()), threading.Event(), Mock()

    def read() -> object:
        let_go.wait(20)
        found: object = reads()
        return found

    monkeypatch.setattr(metrics, "_read", read)

    async def ask() -> None:
        asked = [asyncio.ensure_future(metrics._fleet()) for _ in range(5)]
        await asyncio.sleep(0)
        let_go.set()
        assert await asyncio.gather(*asked) == [reads.return_value] * 5
        reads.assert_called_once()
        await metrics._fleet()
        assert reads.call_count == 2

    asyncio.run(ask())
    metrics._closed()


def test_who_asks_behind_the_end_of_a_crawl_gets_no_figures_and_no_fault() -> None:
    metrics = Metrics(Mock())
    metrics._stop = Mock()
    metrics._closed()
    metrics._stop.assert_called_once()
    assert asyncio.run(metrics._fleet()) is None


@pytest.mark.parametrize(
    ("error", "store", "full"),
    [
        (ArchiveFull("/d", 9, 1, "little is free"), "disk", False),
        (FrontierUnavailable("zulu", "away"), "redis", False),
        (LinkError("Redis: away"), "redis", False),
        (FrontierFull("zulu", "OOM"), "redis", True),
        (LinkFull("Redis: OOM"), "redis", True),
    ],
)
def test_what_finished_pages_wait_for_is_known_while_they_wait(
    error: Exception, store: str, full: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[str, bool, bool]] = []
    patiently = Patience(lambda: False, Mock())

    def told() -> tuple[str, bool, bool]:
        return patiently.blocked_by, patiently.full, patiently.lacks_room

    monkeypatch.setattr("crawler.work.patience.time.sleep", lambda _: seen.append(told()))
    patiently(Mock(side_effect=[error, error, None]))
    assert (seen, told()) == ([(store, full, full or store == "disk")] * 2, ("", False, False))


@pytest.mark.parametrize(("stored", "told_of", "said"), [("", "", ""), ("disk", "", "disk"), ("", "redis", "redis")])
def test_a_worker_waits_when_its_pages_wait_to_be_stored_or_to_be_told_of(stored: str, told_of: str, said: str) -> None:
    worker = Worker.__new__(Worker)
    worker._committer = Mock(patiently=Mock(blocked_by=stored))
    worker._teller = Mock(patiently=Mock(blocked_by=told_of))
    assert worker.blocked_by == said


def test_no_port_is_tried_that_there_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []

    def taken(address: tuple[str, int], **_: object) -> None:
        tried.append(address[1])
        raise OSError(98, "Address already in use")

    monkeypatch.setattr("socket.create_server", taken)
    for first, last in ((21_000, 21_009), (65_533, 65_535), (65_535, 65_535)):
        tried.clear()
        with pytest.raises(PreflightError, match=f"no port from {first} to {last} of"):
            metrics_socket(Settings({"METRICS_PORT": first}))
        assert tried == list(range(first, last + 1))
