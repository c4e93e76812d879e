"""How many of the random trials tests make; EFFORT=4 makes four times as many, to look for faults."""

from __future__ import annotations

import os

EFFORT = int(os.environ.get("EFFORT", "1"))


def trials(number: int) -> range:
    """So many, by the numbers that tests draw them from."""
    return range(number * EFFORT)


def thinned(numbers: range, of: int) -> range:
    """Each `of`-th of them, and with more effort more."""
    return numbers[:: max(1, of // EFFORT)]
