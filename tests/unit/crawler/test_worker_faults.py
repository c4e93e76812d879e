"""What a worker says when it cannot begin, or one of its loops ends for good."""

from __future__ import annotations

import asyncio
import contextlib
import resource
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock, Mock

import pytest
import redis
from scrapy import Spider, signals
from scrapy.exceptions import CloseSpider

from archive import ArchiveFull
from crawler.errors import PreflightError
from crawler.scheduler import FrontierScheduler
from crawler.state.redis_link import forbidden
from crawler.state.state_format import ensure_format
from crawler.watch.figures import Figures
from crawler.watch.progress import Progress
from crawler.work.endings import FAULT
from crawler.work.worker import Worker
from frontier.errors import FrontierUnavailable, OptOutsDamaged
from frontier.redis_frontier import RedisFrontier
from sieve.errors import LinkError

SCRIPT = (
    "Error running script (call to f_2d): @user_script:198: The user executing the script can't access at least one of "
    "the keys mentioned in the command arguments"
)


def said_of(error: Exception, caplog: pytest.LogCaptureFixture) -> tuple[str, list[str]]:
    """What stands in the log, and why the spider was closed."""
    worker, closed = Worker.__new__(Worker), []

    async def close(reason: str) -> None:
        closed.append(reason)

    async def ends() -> None:
        raise error

    async def guarded(loop: Coroutine[Any, Any, None]) -> None:
        await worker._guarded(loop)
        assert worker._closing_task is not None
        await worker._closing_task

    crawler: Any = SimpleNamespace(engine=SimpleNamespace(close_spider_async=close))
    worker._crawler = crawler
    caplog.clear()
    asyncio.run(guarded(ends()))
    return caplog.text, closed


def test_what_an_acl_hides_is_no_fault_of_this_program(caplog: pytest.LogCaptureFixture) -> None:
    for error in (redis.exceptions.NoPermissionError("no permissions to access"), redis.ResponseError(SCRIPT)):
        text, closed = said_of(error, caplog)
        assert "The crawl ends: " in text
        assert "must allow its user the keys {ulwembu}:*" in text
        assert "Traceback" not in text
        assert len(closed) == 1
    assert "A fault of this program" in said_of(redis.ResponseError("WRONGTYPE"), caplog)[0]


def test_a_user_without_scripts_is_told_which_commands_are_needed(server: redis.Redis, url: str) -> None:
    server.acl_setuser("mute", enabled=True, nopass=True, commands=["+@all", "-@scripting"], keys=["*"])
    frontier = RedisFrontier(f"{url}&username=mute&password=x", "zulu")
    try:
        with pytest.raises(redis.exceptions.NoPermissionError) as refused:
            frontier.lease(1)
    finally:
        frontier.close()
        server.acl_deluser("mute")
    assert "must allow its user the commands +@all -@dangerous +info" in forbidden(refused.value)


@pytest.mark.parametrize("missing", ["-evalsha", "-script"])
def test_a_user_without_scripts_is_told_before_anything_is_taken(server: redis.Redis, url: str, missing: str) -> None:
    server.script_flush()
    server.acl_setuser("mute", enabled=True, nopass=True, commands=["+@all", missing], keys=["*"])
    try:
        with pytest.raises(PreflightError, match=r"'zulu' .*: the ACL .* its user the commands \+@all -@dangerous"):
            ensure_format(f"{url}&username=mute&password=x", "zulu")
        assert not server.dbsize()
        ensure_format(url, "zulu")
        ensure_format(f"{url}&username=mute&password=x", "zulu", begin=False)  # for whoever only looks
    finally:
        server.acl_deluser("mute")


@pytest.mark.parametrize(
    ("words", "needed"),
    [
        ("User x has no permissions to run the 'evalsha' command", "commands"),
        ("ACL failure in script: User x has no permissions to run the 'zadd' command", "commands"),
        ("The user executing the script can't run this command or subcommand", "commands"),
        ("ACL failure in script: No permissions to access a key", "keys"),
        (SCRIPT, "keys"),
    ],
)
def test_commands_and_keys_that_an_acl_refuses_are_told_apart(words: str, needed: str) -> None:
    kind = redis.ResponseError if "script" in words else redis.exceptions.NoPermissionError
    assert f"must allow its user the {needed} " in forbidden(kind(words))


@pytest.mark.parametrize(
    "error",
    [
        OptOutsDamaged("{zulu}:f:optout", "http://b.example"),
        redis.exceptions.NoPermissionError("no permissions to run the 'evalsha' command"),
        FrontierUnavailable("zulu", "away"),
    ],
)
def test_a_crawl_that_cannot_begin_says_why_in_a_line_and_ends_with_a_fault(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    opening = opened_by(error)
    asyncio.run(opening._open(Spider("zulu")))
    (record,) = caplog.records
    assert (record.levelname, record.exc_info) == ("CRITICAL", None)
    assert str(error) in record.getMessage()
    with pytest.raises(CloseSpider) as closed:
        opening._refuse()
    assert closed.value.reason == FAULT


def test_a_fault_of_this_program_at_the_beginning_goes_through() -> None:
    with pytest.raises(KeyError):
        asyncio.run(opened_by(KeyError())._open(Spider("zulu")))


def test_a_crawl_that_has_begun_is_not_ended() -> None:
    opening = opened_by(None)
    asyncio.run(opening._open(Spider("zulu")))
    opening._refuse()


def opened_by(error: Exception | None) -> FrontierScheduler:
    """A scheduler whose worker's start ends so."""
    worker = Mock(open=AsyncMock(side_effect=error), is_open=error is None)
    crawler = Mock(**{"get_extension.return_value": worker, "settings.getbool.return_value": False})
    scheduler = FrontierScheduler.from_crawler(crawler)
    crawler.signals.connect.assert_any_call(scheduler._refuse, signals.spider_opened)
    return scheduler


def test_of_a_crawl_that_did_not_begin_no_figures_are_asked() -> None:
    crawler = Mock(**{"settings.getfloat.return_value": 60.0})
    worker = Mock(is_open=False)
    asyncio.run(Progress(crawler)._last(worker))
    worker.ask.assert_not_called()


def test_a_report_that_cannot_be_written_is_a_line_of_the_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    crawler = Mock(**{"settings.getfloat.return_value": 60.0})
    nothing = Figures(0, 0, 0, {}, {}, {}, {}, ())
    worker = Mock(is_open=True, ask=AsyncMock(return_value=nothing), **{"stores.folder": tmp_path / "file"})
    (tmp_path / "file").touch()
    asyncio.run(Progress(crawler)._last(worker))
    assert [(record.levelname, record.exc_info) for record in caplog.records] == [("ERROR", None)]


def test_of_a_report_for_which_there_is_no_room_nothing_is_left(tmp_path: Path) -> None:
    """Whoever reads all reports would stumble over half a one."""
    crawler = Mock(spider=None, **{"settings.getfloat.return_value": 60.0})
    nothing = Figures(0, 0, 0, {}, {}, {}, {}, ())
    worker = Mock(is_open=True, ask=AsyncMock(return_value=nothing), **{"stores.folder": tmp_path})
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, usual[1]))
    try:
        asyncio.run(Progress(crawler)._last(worker))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)
    assert list((tmp_path / "reports").iterdir()) == []


@pytest.mark.parametrize("error", [FrontierUnavailable("zulu", "away"), redis.ResponseError("WRONGTYPE")])
def test_a_worker_ends_in_order_though_its_leases_cannot_be_given_back(error: Exception) -> None:
    """Else what tells of its progress asks a frontier that is closed, and a private Redis is left behind."""
    calls: list[str] = []

    async def last(_worker: Worker) -> None:
        calls.append("last")

    async def work() -> None:
        worker: Any = Worker.__new__(Worker)
        worker._stores, worker._claims, worker._loops, worker._buffer, worker._returned = Mock(), set(), [], [], ["1-0"]
        worker._stores.frontier.release.side_effect = error
        worker.before_close, worker._opened = [last], contextlib.ExitStack()
        worker._opened.callback(calls.append, "closed")
        worker._ask_threads, worker._lease_thread, worker._commit_thread = (ThreadPoolExecutor(1) for _ in range(3))
        await worker.close()

    asyncio.run(work())
    assert calls == ["last", "closed"]


def test_a_sieve_that_cannot_give_back_its_lease_is_a_line_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    calls: list[str] = []

    def away() -> None:
        raise LinkError("Redis: away")

    async def let_go() -> None:
        worker: Any = Worker.__new__(Worker)
        worker.unfinished, worker._opened = False, contextlib.ExitStack()
        worker._opened.callback(calls.append, "closed")
        worker._opened.callback(away)
        with ThreadPoolExecutor(1) as worker._commit_thread:
            await worker._let_go()
        assert not worker.unfinished

    asyncio.run(let_go())
    assert calls == ["closed"]
    assert caplog.messages == ["The flush lease is not given back, it runs out: Redis: away"]


@pytest.mark.parametrize("error", [ArchiveFull("warc", 2, 1, "full"), OSError(5, "Input/output error")])
def test_an_archive_that_cannot_be_finished_is_known_when_all_is_let_go_of(error: Exception) -> None:
    """By its exit status whoever started the worker learns of it."""

    async def let_go() -> bool:
        worker: Any = Worker.__new__(Worker)
        worker.unfinished, worker._opened = False, contextlib.ExitStack()
        worker._opened.callback(Mock(side_effect=error))
        with ThreadPoolExecutor(1) as worker._commit_thread:
            await worker._let_go()
        unfinished: bool = worker.unfinished
        return unfinished

    assert asyncio.run(let_go())


def test_a_script_that_may_not_read_the_opt_outs_of_all_is_told_so(server: redis.Redis, url: str) -> None:
    server.acl_setuser("narrow", enabled=True, nopass=True, commands=["+@all"], keys=["{zulu}:*"])
    frontier = RedisFrontier(f"{url}&username=narrow&password=x", "zulu")
    try:
        with pytest.raises(redis.ResponseError) as refused:
            frontier.lease(1)
    finally:
        frontier.close()
        server.acl_deluser("narrow")
    assert "must allow its user the keys {ulwembu}:*" in forbidden(refused.value)
