"""What a run says while it works: lines that people and programs can read, and a bar on a terminal.

A line begins with ``+OK``, ``-WARN`` or ``-ERR`` and one space (the log format of the earlier tools); what is of more
than one line stands between ``…_STAR`` and ``…_END``, and a line in it that looks like a marker is set in by a space.
All of it goes to standard error: standard output is for results.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console

from archive.terminal import bytes_bar, printable

MARKERS = {"ok": "+OK", "warn": "-WARN", "err": "-ERR"}
_STARTS = tuple(MARKERS.values())


def log_lines(level: str, text: str, detail: Sequence[str] = ()) -> list[str]:
    """A message in log form. ``level``: a key of :data:`MARKERS`."""
    marker = MARKERS[level]
    rows = [f"{marker} {' '.join(text.split())}"]
    if detail:
        inner = [f" {row}" if row.startswith(_STARTS) else row for part in detail for row in part.splitlines()]
        rows += [f"{marker}_STAR", *inner, f"{marker}_END"]
    return rows


class Report:
    """``quiet``: neither bar nor ``+OK`` lines; warnings and errors stay."""

    def __init__(self, *, quiet: bool = False, stream: TextIO | None = None) -> None:
        self._stream: TextIO | None = stream if stream is not None else sys.stderr
        self._quiet = quiet
        self._console = Console(file=self._stream, soft_wrap=True, highlight=False, markup=False)

    def ok(self, text: str, detail: Sequence[str] = ()) -> None:
        if not self._quiet:
            self._say("ok", text, detail)

    def warn(self, text: str, detail: Sequence[str] = ()) -> None:
        self._say("warn", text, detail)

    def err(self, text: str, detail: Sequence[str] = ()) -> None:
        self._say("err", text, detail)

    def _say(self, level: str, text: str, detail: Sequence[str]) -> None:
        for row in log_lines(level, text, detail):
            self.line(row)

    def line(self, row: str) -> None:
        """A line as it is. When nobody can be told any more (a closed pipe, a full disk) the work goes on all the same:
        its result and its exit code tell what is needed."""
        if self._stream is None:
            return
        # Not by way of rich where there is no bar: on a broken pipe that puts an end to standard output.
        if self._console.is_terminal:
            self._console.print(printable(row))
            return
        try:
            print(printable(row), file=self._stream, flush=True)
        except OSError:
            self._stream = None

    @contextmanager
    def progress(self, name: str, total_bytes: int | None) -> Iterator[Callable[[int], None]]:
        """A bar for one file when standard error is a terminal, nothing elsewhere; it is told how many of the file's
        bytes, as stored, have been read."""
        if self._quiet or not self._console.is_terminal:
            yield lambda _: None
            return
        with bytes_bar(self._console, name, total_bytes) as tick:
            yield tick
