"""Long work in small steps, so that no caller waits long: a job is a generator that says what each step has cost.

A step yields the number of keys it handled, or a future that it waits for (an fsync in a thread). A job is paid for by
the calls that cause the work: each gives it some keys' worth of credit.
"""

from __future__ import annotations

from collections.abc import Generator
from concurrent.futures import Future

Work = Generator["int | Future[None]", None, None]


class Job:
    """A job in progress."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._credit = 0
        self._waiting: Future[None] | None = None
        self.done = False

    def pay(self, credit: int) -> None:
        """Let the job work for `credit` keys, at most about one step beyond; errors of the job, and of what it waited
        for, come out here, and the job is done."""
        self._credit = min(self._credit + credit, 4 * credit)
        while self._credit > 0 and not self.done:
            if self._waiting is not None and not self._waiting.done():
                return
            self._step()

    def finish(self) -> None:
        """Work and wait until done."""
        while not self.done:
            self._step()

    def cancel(self) -> None:
        """Give up: the job's own clean-up runs."""
        self._work.close()
        self.done = True

    def _step(self) -> None:
        waiting, self._waiting = self._waiting, None
        error = waiting.exception() if waiting is not None else None
        try:
            cost = next(self._work) if error is None else self._work.throw(error)
        except StopIteration:
            self.done = True
            return
        except BaseException:
            self.done = True
            raise
        if isinstance(cost, Future):
            self._waiting = cost
        else:
            self._credit -= cost
