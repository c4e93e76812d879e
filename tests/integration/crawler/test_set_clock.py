"""The clock of Redis' machine is set while a fleet crawls: by the web's own log no delay is cut short, all is fetched,
and the workers say so."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawler.state.embedded_redis import EmbeddedRedis
from tests.integration.crawler.fleet import PATIENT, fleet_on, judge, spec
from tests.stepped_clock import SteppedClock

PAGES = 120
DAY_S = 86_400


@pytest.mark.slow
@pytest.mark.parametrize("steps_s", [(2 * DAY_S, 0), (-3600, -3605)])
def test_a_clock_that_is_set_changes_nothing(
    tmp_path: Path, steps_s: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = SteppedClock(tmp_path / "clock")
    with monkeypatch.context() as patch:
        for name, value in clock.environment.items():
            patch.setenv(name, value)
        server = EmbeddedRedis(tmp_path / "redis").__enter__()
    try:
        with fleet_on(server, spec(hosts=8, pages=PAGES), tmp_path, REDIS_URL=server.url, **PATIENT) as crawl:
            for _ in range(2):
                crawl.start()
            crawl.await_joined()
            for number, ahead_s in enumerate(steps_s, 1):
                crawl.await_requests(30 * number)
                clock.set_ahead(ahead_s)
            assert crawl.wait() == [0, 0]
            findings, proof = judge(crawl)
            assert findings.ok, findings.faults
            assert proof.ok, proof.short[:5]
            assert crawl.logs().count("The clock of Redis' machine was set") == 2 * len(steps_s)
            assert "The crawl ends, but some URLs wait" not in crawl.logs()
    finally:
        server.__exit__(None, None, None)
