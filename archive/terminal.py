"""What command lines write to a terminal, a file or a pipe."""

from __future__ import annotations

import io
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

_ODD = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def printable(text: str) -> str:
    """Bytes that were no UTF-8, and signs that would steer a terminal or begin a line, as U+FFFD; tabs stay."""
    return _ODD.sub("\ufffd", text)


def escape_what_does_not_fit() -> None:
    """Letters that the encoding of standard output lacks (in a locale of one byte a letter) end no command."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


@contextmanager
def bytes_bar(console: Console, name: str, total_bytes: int | None) -> Iterator[Callable[[int], None]]:
    """A bar, gone when the block ends, by what it is told: how many bytes are done."""
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(name, total=total_bytes)
        yield lambda done_bytes: progress.update(task, completed=done_bytes)


def say(line: str) -> None:
    """A line on standard error, whatever strangers' names and texts it has. Where nobody can be told any more (it is
    closed, its reader gone, its disk full) the work goes on all the same: its result and its exit code tell what is
    needed. (print, where it is closed, would write to standard output.)"""
    if sys.stderr is not None:
        with suppress(OSError):
            sys.stderr.write(f"{printable(line)}\n")
            sys.stderr.flush()


def stop_on_term() -> None:
    """A SIGTERM ends the run as Ctrl-C does: what is half written is removed."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)


def give_up_stdout() -> None:
    """What could not be written is not tried again when the interpreter ends."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
