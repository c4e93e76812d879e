"""A thread that decides what waits in a Redis sieve: one in every worker process, one of them holds the flush lease."""

from __future__ import annotations

import errno
import logging
import threading
import time
from collections.abc import Callable

from sieve.errors import FencedError, LinkError
from sieve.fleet.redis_sieve import RedisSieve

_LOG = logging.getLogger(__name__)
_AGAIN_S = 1.0
_LOOK_S = 0.1
_BUSY_S = 1.0
_LOG_EVERY_S = 60.0
_DISK_FULL = frozenset((errno.ENOSPC, errno.EDQUOT))


class Decider:
    """Decides every `interval_s` while there is work; starts and stops with :meth:`start` and :meth:`stop`. When no
    other process has put anything in for a while it looks for that less often; what its own puts in wakes it.

    A lost connection or lease, or a full disk, is tried again each second, and logged at once, then once a minute
    while it lasts. `error` is the last such error, ``None`` after a success. Any other (another store than the crawl's,
    damage, a disk that fails) ends the thread: :meth:`check` raises it, for whoever waits for decisions. `on_decided`
    is called, in the thread, when something was decided here.
    """

    def __init__(self, sieve: RedisSieve, interval_s: float = 0.02) -> None:
        self._sieve = sieve
        self._interval_s = interval_s
        self._stop = threading.Event()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        self.error: Exception | None = None
        self._fault: Exception | None = None
        self._log_from = 0.0
        self._others_until = 0.0
        self.on_decided: Callable[[], None] = lambda: None

    def check(self) -> None:
        """Raise what has ended the thread; nothing while it decides."""
        if self._fault is not None:
            raise self._fault

    def start(self) -> None:
        """Start the thread; once."""
        if self._thread is None:
            self._sieve.on_append = self._wake.set
            self._thread = threading.Thread(target=self._run, name="sieve-decider", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Let the epoch in progress end and join the thread. The sieve stays open."""
        self._stop.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _run(self) -> None:
        try:
            self._decide_on()
        except Exception as error:  # noqa: BLE001 - the rim of the thread: nobody else would hear of it
            self._fault = error

    def _decide_on(self) -> None:
        while not self._stop.is_set():
            woken = self._wake.is_set()
            self._wake.clear()
            try:
                decided = self._sieve.decide()
            except (FencedError, LinkError, OSError) as error:
                if isinstance(error, OSError) and error.errno not in _DISK_FULL:
                    raise
                self._log_error(error)
                self._stop.wait(_AGAIN_S)
                continue
            self.error = None
            if decided:
                self.on_decided()
            if not decided:
                self._rest()
            elif not woken:
                self._others_until = time.monotonic() + _BUSY_S

    def _rest(self) -> None:
        holds = self._sieve.holds
        self._stop.wait(self._interval_s if holds else self._sieve.retry_s)
        if holds and time.monotonic() >= self._others_until and not self._stop.is_set():
            self._wake.wait(_LOOK_S)

    def _log_error(self, error: Exception) -> None:
        now = time.monotonic()
        if self.error is None or now >= self._log_from:
            _LOG.warning("sieve not decided, will try again: %s", error)
            self._log_from = now + _LOG_EVERY_S
        self.error = error
