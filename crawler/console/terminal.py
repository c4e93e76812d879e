"""Words and instants as commands show them, to readers that may leave."""

from __future__ import annotations

import errno
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.text import Text

from archive.terminal import give_up_stdout, printable, say, stop_on_term
from frontier.budget import Budget
from frontier.types import FrontierStatus, HostState

INTERRUPTED = 130
"""The exit status of a command that Ctrl-C has ended, as of any program."""
_OF_OUTPUT = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF))


def clock(instant_ms: int) -> str:
    """An instant in UTC; "" for none."""
    return f"{datetime.fromtimestamp(instant_ms / 1000, UTC):%Y-%m-%d %H:%M:%S}Z" if instant_ms else ""


def hear_interrupts() -> None:
    """Something may be held from here on: SIGTERM, and Ctrl-C where it would end the process at once
    (crawler/console/given_settings.py), are a KeyboardInterrupt."""
    stop_on_term()
    if signal.getsignal(signal.SIGINT) == signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def reader_may_leave() -> Iterator[None]:
    """What is printed in it may be cut by a reader that has seen enough (``| head``): it ends there, no error. An
    OSError of standard output, which is closed or on a full disk, names it."""
    if sys.stdout is None:
        raise OSError(errno.EBADF, "is closed", "standard output")
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        give_up_stdout()
    except OSError as error:
        if error.filename is None and error.errno in _OF_OUTPUT:
            give_up_stdout()
            error.filename = "standard output"
        raise


@contextmanager
def writing(place: Path) -> Iterator[None]:
    """Its errors name `place`: a disk that is full only as something is written names no file, and would be taken for
    that of standard output."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(place)
        raise


def aside(what: object) -> None:
    """For people, beside the answer: each line of it on standard error, whatever has become of that."""
    for line in str(what).split("\n"):
        say(line)


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Says what is waited for: on a terminal as long as the block runs, elsewhere in a line."""
    if sys.stderr is not None and sys.stderr.isatty():
        with Console(stderr=True).status(Text(printable(what))):  # an IPv6 address has brackets
            yield
    else:
        aside(what)
        yield


def told(error: OSError) -> str:
    """What cannot be read or written, and why."""
    return f"{error.filename}: {error.strerror}" if error.filename else str(error)


def host_words(row: HostState, now_ms: int) -> str:
    """What an authority does at an instant of the frontier's clock."""
    if row.paused:
        return "paused"
    if row.leased_token:
        return "being fetched"
    rests = ((row.rest_ms, row.rest_reason), (row.robots_gate_ms, row.robots_gate_reason))
    if held := {reason: until_ms for until_ms, reason in rests if reason and until_ms > now_ms}:
        return f"rests ({', '.join(held)}) until {clock(max(held.values()))}"
    if row.parked and not row.queued and row.ready_ms is not None and row.ready_ms > now_ms:
        return f"parked until {clock(row.ready_ms)}"
    return "waits" if row.queued else ""


def budget_words(status: FrontierStatus, budget: Budget) -> str:
    """Which of the crawl's budgets is spent, and what that leaves; "" while none is."""
    if not (spent := status.spent(budget)):
        return ""
    left = "what pages embed alone is fetched" if budget.narrowed(spent) else "nothing is fetched any more"
    return f"max_{spent} of the seed file is spent: {left}"
