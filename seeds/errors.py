"""What can be wrong with a seed file.

A seed file is written by hand, so its errors are for a person: every problem of the file is reported at once, one line
each, `file:line: message`, the form editors and terminals make a link of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Problem", "SeedError", "SeedsError"]


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One fault: `line` counts from 1; 0 means the file as a whole."""

    line: int
    message: str


class SeedsError(Exception):
    """Root of the errors of this package."""


class SeedError(SeedsError):
    """A seed file that cannot be used; `str()` gives one `file:line: message` line a problem, in order of lines."""

    def __init__(self, path: str, problems: Sequence[Problem]) -> None:
        self.path = path
        self.problems = tuple(sorted(set(problems)))
        super().__init__(path, self.problems)

    def __str__(self) -> str:
        return "\n".join(
            f"{self.path}:{problem.line}: {problem.message}" if problem.line else f"{self.path}: {problem.message}"
            for problem in self.problems
        )
