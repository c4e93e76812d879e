"""A web that stood still, as on a slow machine, ends no entry of its log later than its client had left."""

from __future__ import annotations

import select
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.integration.crawler.harness import wait_for
from tests.web import LogEntry, Web, WebSpec, serve
from tests.web.server import Running


@contextmanager
def standing_still(running: Running) -> Iterator[None]:
    """Nothing is read or sent inside."""
    begun, over = threading.Event(), threading.Event()

    def stand() -> None:
        begun.set()
        over.wait()

    running.loop.call_soon_threadsafe(stand)
    assert begun.wait(60)
    try:
        yield
    finally:
        over.set()


def ask(web: Web, path: str) -> socket.socket:
    site = web.sites[0]
    connection = socket.create_connection((site.address, site.port), timeout=60)
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: {site.host}\r\n\r\n".encode())
    return connection


def entry_of(running: Running, path: str) -> LogEntry:
    wait_for(lambda: bool(running.logged()))
    [entry] = running.logged()
    assert entry.path == path
    return entry


def now_us() -> int:
    return time.monotonic_ns() // 1000


@pytest.mark.parametrize("how", ["hang", "endless"])
def test_of_a_client_that_leaves_meanwhile(tmp_path: Path, how: str) -> None:
    with serve(WebSpec(hosts=3, pages=60), tmp_path) as running:
        connection = ask(running.web, f"/bad/{how}/1")
        wait_for(lambda: running.server.requests == 1)
        asked_us = now_us()
        wait_for(lambda: running.server.looked_us > asked_us)
        with standing_still(running):
            connection.close()
            left_us = now_us()
        entry = entry_of(running, f"/bad/{how}/1")
        assert asked_us < entry.end_us < left_us
        assert not entry.whole


def test_of_a_client_that_gave_up_before_it_was_heard(tmp_path: Path) -> None:
    with serve(WebSpec(hosts=3, pages=60), tmp_path) as running:
        with standing_still(running):
            ask(running.web, "/").close()
            left_us = now_us()
            time.sleep(1.1)  # to wait for less than this is nobody's time-out
        entry = entry_of(running, "/")
        assert entry.end_us < left_us < entry.start_us


def test_what_is_held_is_answered_when_it_is_let_go(tmp_path: Path) -> None:
    with serve(WebSpec(hosts=3, pages=60), tmp_path) as running:
        running.hold(after=1)
        with ask(running.web, "/") as first:
            assert first.recv(12) == b"HTTP/1.1 200"
        with ask(running.web, "/") as second:
            wait_for(lambda: running.server.requests == 2)
            ask(running.web, "/").close()
            wait_for(lambda: running.server.requests == 3)
            assert len(running.logged()) < 3
            assert select.select([second], [], [], 0)[0] == []
            running.let_go()
            assert second.recv(12) == b"HTTP/1.1 200"
