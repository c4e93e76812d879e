"""What can go wrong in the corpus tools, as types that carry facts.

A record that is left out is a counted reason (:mod:`corpus.tally`), not an exception.
"""

from __future__ import annotations

from collections.abc import Callable


class CorpusError(Exception):
    """Root of all errors of this package."""


class UsageFault(CorpusError):  # noqa: N818 - an exit code 2, not a defect
    """What was asked for cannot be done: no such file, an option without sense. Nothing was written."""


class FormatError(CorpusError):
    """A file of ours (documents, vertical) that does not keep its format. ``line`` counts from 1."""

    def __init__(self, path: str, line: int, reason: str) -> None:
        super().__init__(f"{path}:{line}: {reason}")
        self.path = path
        self.line = line
        self.reason = reason


class BrokenOffError(FormatError):
    """A compressed file is damaged, or not whole: what was behind that line is not read."""


Fault = Callable[[FormatError], None]
"""Hears of what is wrong in a file while the rest of it is read on."""
