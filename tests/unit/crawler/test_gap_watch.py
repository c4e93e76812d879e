from __future__ import annotations

import logging

import pytest

from crawler.watch.gap_watch import GapWatch
from frontier.audit import TOLERANCE_MS, AuditRow
from frontier.outcomes import HOUR


class Audit:
    """A frontier's audit, its rows counted as places; at most two at a time, and told where it was read."""

    def __init__(self) -> None:
        self.rows: list[AuditRow] = []
        self.places: list[str] = []

    def audit_from(self, place: str, most: int) -> tuple[list[AuditRow], str]:
        self.places.append(place)
        since = 0 if place == "-" else int(place)
        rows = self.rows[since : since + min(most, 2)]
        return rows, str(since + len(rows))


def end(host: str, start_ms: int, end_ms: int) -> AuditRow:
    return AuditRow("end", f"{start_ms}", host, "", start_ms, start_ms, end_ms, "ok", 1000, 500)


def look(watch: GapWatch, audit: Audit) -> tuple[int, int]:
    watch.look(audit)  # type: ignore[arg-type]
    return watch.checked, watch.short


def test_each_gap_is_counted_once_and_a_short_one_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    watch, audit = GapWatch(), Audit()
    audit.rows = [end("http://a", 0, 100), end("http://a", 1100 - TOLERANCE_MS, 1200), end("http://a", 2100, 2200)]
    with caplog.at_level(logging.ERROR):
        counts = [look(watch, audit) for _ in range(3)]
    assert counts == [(1, 0), (2, 1), (2, 1)]
    assert audit.places == ["-", "2", "3"]
    assert caplog.messages == ["Asked too soon: http://a after 900 ms, 1000 needed"]


def test_hosts_that_rested_long_ago_are_forgotten_when_there_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.watch.gap_watch._MOST_HOSTS", 10)
    watch, audit = GapWatch(), Audit()
    audit.rows = [end(f"http://{number}", number * HOUR // 2, number * HOUR // 2 + 1) for number in range(40)]
    for _ in range(20):
        look(watch, audit)
        assert len(watch._gaps) <= 10
    assert len(watch._gaps) > 2
