"""What goes through a sieve, and the contract that every kind keeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NewType, Protocol

Fingerprint = NewType("Fingerprint", int)
"""64-bit hash of a canonical URL."""

Authority = NewType("Authority", str)
"""``scheme://host[:port]``: lower-case, IDNA, default port left out."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A URL as it was found, with an opaque payload that travels along and comes out again."""

    url: str
    payload: bytes = b""


Item = str | Entry
"""What is put in; what comes out is equal to what was put in first."""


class Sieve(Protocol):
    """Every URL out exactly once, only if put in, eventually.

    Two URLs are the same when their canonical forms are; what comes out is the first one as it was found. Nothing of
    ``memory:``, and of a ``bloom:`` without a folder, outlives its process or :meth:`close`.
    """

    def enqueue(self, urls: Sequence[Item]) -> None:
        """Put URLs in, each any number of times.

        :class:`ValueError` names a URL that has no canonical form; nothing of the batch is then put in. When the call
        returns, the URLs survive the death of the process.
        """

    def flush(self) -> None:
        """After it, everything enqueued before is decided."""

    def drain(self, limit: int | None = None) -> list[Item]:
        """What was admitted, oldest arrival first, `limit` at most (``None``: all).

        The next `drain` or `close` acknowledges; what a dead process drained last and did not acknowledge comes again.
        """

    def close(self) -> None:
        """Acknowledge, make durable and let go; opening the same specification again continues exactly there."""
