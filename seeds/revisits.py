"""When to fetch an article again: soon after it appeared, then ever more rarely, and no more once it has settled.

A pure function on a memo of at most 40 bytes that travels with the article's entry in the frontier, as a feed's does. A
change starts the series over (a correction is often followed by another), an unchanged article moves on in it.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

__all__ = ["AGES_S", "Revisit", "revisit"]

HOUR_S = 3600
AGES_S = (HOUR_S, 6 * HOUR_S, 24 * HOUR_S, 4 * 24 * HOUR_S, 16 * 24 * HOUR_S)
MOST_CHANGES = 8
_FORM = struct.Struct("<BB16s")


@dataclass(frozen=True, slots=True)
class Revisit:
    """`changed`: differs from the last fetch (False for the first); `again_in_ms` None: settled."""

    memo: bytes
    again_in_ms: int | None
    changed: bool


def revisit(memo: bytes, digest: bytes | None, ages_s: tuple[int, ...] = AGES_S) -> Revisit:
    """Judge a fetch of an article: `digest` (up to 16 bytes) of its text, None when it answered "not modified"."""
    first = len(memo) != _FORM.size
    step, changes, known = (0, 0, b"") if first else _FORM.unpack(memo)
    mark = known if digest is None else digest[:16].ljust(16, b"\0")
    changed = not first and mark != known
    if changed:
        step, changes = 0, min(changes + 1, 255)
    elif not first:
        step += 1
    again = None if step >= len(ages_s) or changes > MOST_CHANGES else ages_s[step] * 1000
    return Revisit(_FORM.pack(min(step, 255), changes, mark.ljust(16, b"\0")), again, changed)
