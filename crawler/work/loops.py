"""What the worker's loops are made of: calls that block, in a thread each, and pauses that end when there is work."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


async def in_thread(thread: ThreadPoolExecutor, call: Callable[[], T]) -> T:
    """What `call` gives; the reactor goes on meanwhile."""
    return await asyncio.get_running_loop().run_in_executor(thread, call)


async def pause(event: asyncio.Event, timeout_s: float) -> None:
    """Until `event` is set, which it then is no more, or the time is over."""
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), timeout_s)
    event.clear()
