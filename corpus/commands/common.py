"""What the commands have in common: what each of their modules has, exit codes, names of files."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from corpus.errors import UsageFault
from corpus.inputs import STDIN

GOOD, FAULTS, USAGE, INTERRUPTED = 0, 1, 2, 130


class Command(Protocol):
    """A module of a command. ``arguments``: adds what it takes, beside the files and ``--quiet`` that all take; ``run``
    returns the exit code."""

    HELP: str
    EPILOG: str

    def arguments(self, sub: argparse.ArgumentParser) -> None: ...

    def run(self, options: argparse.Namespace) -> int: ...


def expect_other(files: Sequence[str], target: str) -> None:
    """UsageFault when what is to be written would take the place of a file to read."""
    if Path(target).exists() and any(name != STDIN and Path(name).samefile(target) for name in files):
        raise UsageFault(f"{target}: is one of the files to read")
