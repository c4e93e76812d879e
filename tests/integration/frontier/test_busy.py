"""A Redis that is busy with a long script, or hangs, is one that cannot be reached: no fault, and all goes on then."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from crawler.state.embedded_redis import EmbeddedRedis
from frontier import redis_frontier, scripts
from frontier.errors import FrontierUnavailable
from frontier.redis_frontier import RedisFrontier
from frontier.types import Candidate, Once
from tests.integration.crawler.harness import wait_for


def test_a_busy_redis_is_waited_for(tmp_path: Path) -> None:
    with EmbeddedRedis(tmp_path) as server, redis.Redis.from_url(server.url) as client:
        frontier = RedisFrontier(server.url, "c")
        frontier.take_in([Candidate("http://a.test/1")])
        client.config_set("lua-time-limit", 10)
        long = threading.Thread(target=_spin, args=(server.url,))
        long.start()
        try:
            wait_for(lambda: _is_busy(client))
            for call in (
                lambda: frontier.lease(1),
                lambda: frontier.take_ready(10),
                lambda: frontier.host("http://a.test"),
            ):
                with pytest.raises(FrontierUnavailable, match="BUSY"):
                    call()
        finally:
            client.script_kill()
            long.join()
        assert len(frontier.lease(1).leases) == 1
        frontier.close()


def test_a_lease_for_which_nobody_waits_any_more_is_not_granted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that hung and goes on does what it was asked for meanwhile: each host would wait for the end of a lease that
    nobody knows of."""
    with EmbeddedRedis(tmp_path) as server:
        frontier = RedisFrontier(server.url, "c")
        frontier.take_in([Candidate(f"http://{host}.test/") for host in "abc"])
        assert len(frontier.lease(1).leases) == 1
        with monkeypatch.context() as patched:
            patched.setattr(scripts, "ANSWER_WITHIN_S", -60.0)
            hasty = RedisFrontier(server.url, "c")
        assert hasty.lease(0).leases == ()  # knows what time it is
        late = hasty.lease(9)
        hasty.close()
        assert late.leases == ()
        assert late.next_due_ms == late.now_ms, "there is work, for those who wait"
        assert frontier.status().leased == 1
        assert len(frontier.lease(9).leases) == 2
        frontier.close()


def test_a_rest_that_is_asked_for_while_much_is_let_go_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Much is let go in several calls; a host may ask for a rest between them."""
    host = "http://a.test"
    monkeypatch.setattr(redis_frontier, "INTAKE_BATCH", 2)
    with EmbeddedRedis(tmp_path) as server:
        frontier = RedisFrontier(server.url, "c")
        frontier.take_in([Candidate(f"{host}/{number}", depth=99) for number in range(5)])
        run, calls = frontier._run, 0

        def between(script: str, args: Any) -> Any:
            nonlocal calls
            answer = run(script, args)
            calls += 1
            if calls == 2:
                run("set_host", ["park", host, ["retry_after", 60_000]])
            return answer

        monkeypatch.setattr(frontier, "_run", between)
        assert (frontier.unpark(host), calls) == (5, 4)
        state = frontier.host(host)
        assert state
        assert (state.queued, state.parked, state.rest_reason) == (5, 0, "retry_after")
        frontier.close()


def test_what_a_redis_that_hung_does_late_is_counted_once(tmp_path: Path) -> None:
    with EmbeddedRedis(tmp_path) as server:
        client: Any = redis.Redis.from_url(server.url, single_connection_client=True, retry=Retry(NoBackoff(), 0))
        hasty, patient = RedisFrontier(client, "c"), RedisFrontier(server.url, "c")
        hasty.add_counts({"n": {"a": (1,)}}, Once("w", 1))
        pid = server.server_pid()
        os.kill(pid, signal.SIGSTOP)
        try:
            client.connection._sock.settimeout(0.1)  # only now: it is connected, and knows the script
            with pytest.raises(FrontierUnavailable):
                hasty.add_counts({"n": {"a": (1,)}}, Once("w", 2))
        finally:
            os.kill(pid, signal.SIGCONT)
        assert patient.add_counts({"n": {"a": (1,)}}, Once("w", 2)) == {"n": {"a": (2,)}}
        client.close()
        patient.close()
    with EmbeddedRedis(tmp_path) as server:  # ended and started again: by now it has done all that it was asked for
        frontier = RedisFrontier(server.url, "c")
        assert frontier.get_counts("n") == {"a": (2,)}
        frontier.close()


def _spin(url: str) -> None:
    with redis.Redis.from_url(url, socket_timeout=600) as client, pytest.raises(redis.ResponseError):
        client.eval("while true do end", 0)


def _is_busy(client: redis.Redis) -> bool:
    try:
        client.get("x")
    except redis.ResponseError:
        return True
    time.sleep(0.01)
    return False
