"""What a worker says when one of its loops ends for good."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from types import SimpleNamespace
from typing import Any

import pytest
import redis

from crawler.state.redis_link import forbidden
from crawler.work.worker import Worker
from frontier.redis_frontier import RedisFrontier

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
