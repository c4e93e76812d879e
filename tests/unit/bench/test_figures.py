"""Benchmarks count what they divide by."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from bench import archive, dedup, fleet, harvest_many, tagging
from bench.frontier import Bench, cost
from bench.sieve.latency import latency
from bench.sieve.stream import BATCH, number_of, stream
from bench.table import figure
from corpus.document import Document, Paragraph
from corpus.vertical.writing import text_of
from frontier import Kind


@pytest.mark.parametrize("count", [1, BATCH, 2 * BATCH + 1])
def test_the_stream_has_as_many_urls_as_it_is_asked_for(count: int) -> None:
    urls = [url for batch in stream(count) for url in batch]
    assert len(urls) == count
    assert [*dict.fromkeys(map(number_of, urls))] == [*range(len(set(urls)))]


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0, "0"), (0.0, "0"), (None, ""), ("", ""), (1234567, "1,234,567"), (0.12345, "0.123"), (1234.5, "1,234")],
)
def test_nothing_measured_is_blank_and_zero_is_not(value: object, shown: str) -> None:
    assert figure(value) == shown


def test_of_a_worker_that_ends_there_are_no_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "log").write_text("first\nwhat went wrong\n")
    monkeypatch.setattr(harvest_many, "POLL_LIMIT_S", 60.0)
    monkeypatch.setattr(harvest_many, "scrapy", lambda *_, **__: [sys.executable, "-c", "raise SystemExit(3)"])
    with pytest.raises(harvest_many.NoFiguresError, match="ended with status 3\nfirst\nwhat went wrong"):
        harvest_many.measure(3, 1, tmp_path)


class Busy:
    """A server and a frontier that hand out one page a lease, whatever is asked for. Seconds of the server's time: a
    tenth a report, one a calibration."""

    def __init__(self) -> None:
        self.cpu_s = 0.0

    def info(self, _: str) -> dict[str, float]:
        return {"used_cpu_user": self.cpu_s, "used_cpu_sys": 0.0}

    def eval(self, *_: object) -> None:
        self.cpu_s += 1.0

    def lease(self, _: int) -> Any:
        return SimpleNamespace(leases=(SimpleNamespace(token="t", kind=Kind.PAGE, url="http://a.example/"),))

    def report(self, _: object) -> None:
        self.cpu_s += 0.1


def test_a_calibration_is_divided_by_how_often_it_ran() -> None:
    busy = cast("Any", Busy())
    found = cost(Bench(busy, busy), grants=60, batch=32)
    assert (found["grants"], found["redis_cpu_us_a_grant"], found["calibration_us_a_round"]) == (60, 1e5, 1000.0)


def test_nothing_is_left_where_temporary_files_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert latency(500)["out"] == 500
    assert not [*tmp_path.iterdir()]


def test_an_archive_that_lacks_a_page_has_no_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages, write, report = archive.crawl_pages(24), archive.write_ours, archive.Report(quiet=True)
    # warcio leaves files open until they are collected.
    monkeypatch.setattr(archive, "write_warcio", lambda path, some: write(tmp_path, some, "gz")[0].rename(path))
    files = archive.writing(report, tmp_path, "all", pages, "")
    monkeypatch.setattr(archive, "write_ours", lambda folder, some, kind: write(folder, some[1:], kind))
    with pytest.raises(AssertionError, match="pages are lost"):
        archive.writing(report, tmp_path, "some", pages, "")
    files["xz"], _ = archive.write_ours(tmp_path / "xz", pages, "xz")
    with pytest.raises(AssertionError, match="not all read the same"):
        archive.reading(report, files)


class TaggerOf:
    """Knows one language, and changes nothing."""

    def __init__(self, language: str) -> None:
        self.taggers = {language: None}

    def __call__(self, rows: list[str]) -> tuple[list[str], dict[str, int]]:
        return rows, {"zu": 2}


def test_text_that_is_not_tagged_has_no_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "in.vert"
    path.write_text(text_of(Document("1", "", paragraphs=(Paragraph("Sawubona mhlaba", language="zul"),))))
    monkeypatch.setattr(tagging, "DocumentTagger", lambda *_: TaggerOf("zu"))
    assert tagging.whole(path, path) > 0
    monkeypatch.setattr(tagging, "DocumentTagger", lambda *_: TaggerOf("xh"))
    with pytest.raises(AssertionError, match="not all is tagged"):
        tagging.whole(path, path)


def test_how_much_stayed_is_told_beside_how_fast(tmp_path: Path) -> None:
    source, out = tmp_path / "in.tsv", tmp_path / "out.tsv"
    source.write_text("".join(dedup.rows(500)))
    command = ["bench.dedup", "--peer", "rows", str(source), str(out)]
    assert dedup.measured("set", command, 500, str(out))["kept_mb"] == out.stat().st_size / 1e6 > 0


@pytest.mark.parametrize("broken", ["", *fleet.BROKEN])
def test_a_fleet_that_breaks_a_promise_ends_with_1(broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    row = dict.fromkeys(("gaps_too_short", "pages_lost", "archive_faults", "repeats"), 0)
    monkeypatch.setattr(fleet, "measure", lambda *_, **__: row | ({broken: 1} if broken else {}))
    monkeypatch.setattr(sys, "argv", ["fleet", "--workers", "1", "--faulty", "0", "--json"])
    assert fleet.main() == bool(broken)
    assert tuple(row) == fleet.BROKEN
