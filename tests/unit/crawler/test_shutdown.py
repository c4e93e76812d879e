"""A worker that is told to stop while it is being opened is opened, and closed to its end, before the reactor ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock, Mock

import pytest
import twisted.internet
from scrapy import signals
from scrapy.signalmanager import SignalManager

from crawler.work import shutdown
from crawler.work.shutdown import Shutdown
from crawler.work.worker import Worker
from frontier.errors import FrontierFull


@pytest.fixture
def crawler(monkeypatch: pytest.MonkeyPatch) -> Any:
    """One that is told to stop before its engine runs, in a process with a reactor."""
    monkeypatch.setattr(shutdown, "_LOOK_S", 0)
    monkeypatch.setattr(shutdown, "is_reactor_installed", lambda: True)
    monkeypatch.setattr(twisted.internet, "reactor", Mock(), raising=False)
    crawler = Mock(crawling=True)
    crawler.signals = SignalManager(crawler)
    crawler.engine.running = False
    crawler.engine.stop_async = AsyncMock()
    return crawler


def at_the_reactors_end() -> Callable[[], Any]:
    reactor: Any = twisted.internet.reactor
    ((_, _, call), _) = reactor.addSystemEventTrigger.call_args
    found: Callable[[], Any] = call
    return found


@pytest.mark.parametrize("told", [False, True])
def test_an_engine_that_did_not_run_when_it_was_told_to_stop_is_stopped(crawler: Any, told: bool) -> None:
    async def work() -> None:
        ending = Shutdown(crawler)
        ending.begin()
        assert not ending.asked_early
        crawler.crawling = not told
        assert ending.asked_early is told
        await crawler.signals.send_catch_log_async(signals.engine_started)
        crawler.engine.stop_async.assert_not_awaited()  # one that does not run cannot be stopped
        crawler.engine.running = True
        for _ in range(5):
            await asyncio.sleep(0)

    asyncio.run(work())
    assert crawler.engine.stop_async.await_count == int(told)


def test_an_engine_that_opens_no_crawl_runs_on(crawler: Any) -> None:
    """`scrapy shell URL` starts one without saying that it crawls; stopped, the shell would wait for ever."""

    async def work() -> None:
        ending = Shutdown(crawler)  # signals hold it weakly
        crawler.crawling, crawler.engine.running = False, True
        await crawler.signals.send_catch_log_async(signals.engine_started)
        for _ in range(5):
            await asyncio.sleep(0)
        assert not ending.asked_early

    asyncio.run(work())
    crawler.engine.stop_async.assert_not_awaited()


def test_the_reactor_waits_for_a_crawl_that_is_being_opened_until_it_is_closed(crawler: Any) -> None:
    async def work() -> None:
        ending = Shutdown(crawler)
        ending.begin()
        crawler.crawling = False
        ended = asyncio.ensure_future(at_the_reactors_end()().asFuture(asyncio.get_running_loop()))
        for _ in range(5):
            await asyncio.sleep(0)
        assert not ended.done()
        crawler.engine.spider = None
        await ended

    asyncio.run(work())


def test_the_reactor_does_not_wait_for_a_crawl_that_runs(crawler: Any) -> None:
    """Whoever asks a second time forces it to stop."""

    async def work() -> None:
        ending = Shutdown(crawler)
        ending.begin()
        await crawler.signals.send_catch_log_async(signals.engine_started)
        assert at_the_reactors_end()() is None

    asyncio.run(work())


def test_a_worker_that_is_told_to_stop_does_not_wait_for_a_full_redis_to_take_its_seeds(
    crawler: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    stores = Mock()
    monkeypatch.setattr("crawler.work.worker.open_patiently", lambda *_: stores)
    monkeypatch.setattr("crawler.work.worker.data_folder", lambda *_: Path())

    async def guarded(_worker: Worker, loop: Coroutine[Any, Any, None]) -> None:
        loop.close()

    monkeypatch.setattr(Worker, "_guarded", guarded)
    monkeypatch.setattr("crawler.work.worker.settings_faults", lambda *_: "")
    crawler.settings.getint.return_value = crawler.settings.getfloat.return_value = 1

    async def work() -> None:
        worker = Worker.from_crawler(crawler)

        def begin(_seeds: object) -> None:
            stopped = stores.committer.call_args[0][0]
            assert not stopped()
            crawler.crawling = False
            assert stopped()
            raise FrontierFull("zulu", "OOM")

        stores.committer.return_value.begin = begin
        stores.teller.return_value.run = lambda: asyncio.sleep(0)
        await worker.open(Mock())
        for threads in (worker._ask_threads, worker._lease_thread, worker._commit_thread):
            threads.shutdown()

    asyncio.run(work())
    assert "Stopped before the seeds were put in" in caplog.text
