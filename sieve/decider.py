"""A thread that decides what waits in a Redis sieve: one in every worker process, one of them holds the flush lease."""

from __future__ import annotations

import logging
import threading

from sieve.errors import FencedError, LinkError
from sieve.redis_sieve import RedisSieve

_LOG = logging.getLogger(__name__)


class Decider:
    """Decides every `interval_s` while there is work; starts and stops with :meth:`start` and :meth:`stop`.

    A lost connection or lease is logged and tried again. `error` is the last such error, ``None`` after a success.
    """

    def __init__(self, sieve: RedisSieve, interval_s: float = 0.02) -> None:
        self._sieve = sieve
        self._interval_s = interval_s
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self.error: Exception | None = None

    def start(self) -> None:
        """Start the thread; once."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="sieve-decider", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Let the epoch in progress end and join the thread. The sieve stays open."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                decided = self._sieve.decide()
            except (FencedError, LinkError) as error:
                _LOG.warning("sieve not decided, will try again: %s", error)
                self.error = error
                self._stop.wait(1.0)
                continue
            self.error = None
            if not decided:
                self._stop.wait(self._interval_s if self._sieve.holds else self._sieve.retry_s)
