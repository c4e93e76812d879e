from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from unittest.mock import Mock

import pytest
from scrapy.settings import Settings

from archive.errors import ArchiveFull
from crawler.committer import Committer
from crawler.measures import Families, WorkerFacts, of_worker
from crawler.metrics import Metrics
from crawler.preflight import metrics_socket
from frontier.errors import FrontierUnavailable


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


def test_an_empty_address_is_not_all_addresses() -> None:
    settings = Settings({"METRICS_PORT": 21_000, "METRICS_HOST": ""})
    with metrics_socket(settings) as listening:
        assert listening.getsockname()[0] == "127.0.0.1"


def test_who_asks_behind_the_end_of_a_crawl_gets_no_figures_and_no_fault() -> None:
    metrics = Metrics(Mock())
    metrics._closed()
    assert asyncio.run(metrics._fleet()) is None


@pytest.mark.parametrize(
    ("error", "store"),
    [(ArchiveFull("/d", 9, 1, "little is free"), "disk"), (FrontierUnavailable("zulu", "away"), "redis")],
)
def test_what_finished_pages_wait_for_is_known_while_they_wait(
    error: Exception, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    stores = Mock()
    committer = Committer(
        stores.archive, stores.sieve, stores.frontier, stores.sources, stores.quality, stores.named, lambda: False
    )
    monkeypatch.setattr("crawler.committer.time.sleep", lambda _: seen.append(committer.blocked_by))
    committer._patiently(Mock(side_effect=[error, error, None]))
    assert (seen, committer.blocked_by) == ([store, store], "")
