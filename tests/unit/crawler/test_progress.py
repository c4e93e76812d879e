"""A worker's lines of the fleet's figures."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any
from unittest.mock import Mock

import pytest

from crawler.watch.progress import Progress
from frontier.types import FrontierStatus


def of(worker: Mock, interval_s: float) -> Progress:
    return Progress(Mock(**{"settings.getfloat.return_value": interval_s, "get_extension.return_value": worker}))


def test_a_line_reads_nothing_that_grows_with_the_number_of_hosts(caplog: pytest.LogCaptureFixture) -> None:
    frontier = Mock()
    frontier.get_counts.side_effect = lambda name: {"kept:zul": (3,), "left:eng": (1,)} if name == "languages" else {}
    frontier.status.return_value = FrontierStatus(7, 1, 2, 3, None, 4)

    async def ask(question: Callable[[Mock], Any]) -> Any:
        return question(frontier)

    async def work() -> None:
        worker = Mock(ask=ask, before_close=[], is_open=False)
        of(worker, 0.01)._opened()
        while not caplog.messages:
            await asyncio.sleep(0.01)
        await worker.before_close[0](worker)

    caplog.set_level("INFO")
    asyncio.run(work())
    assert caplog.messages[0] == "4 pages judged, 3 kept (harvest rate 75%), 7 queued, 2 leased, 3 parked"
    assert {call.args[0] for call in frontier.get_counts.call_args_list} == {"languages", "outcomes"}


def test_an_interval_of_0_means_no_lines() -> None:
    async def tasks() -> int:
        of(Mock(before_close=[]), 0.0)._opened()
        return len(asyncio.all_tasks())

    assert asyncio.run(tasks()) == 1
