"""Everything "random" of the synthetic web: numbers derived from a key by SHAKE-128, the same on every machine and run.

One call gives as many 32-bit numbers as a page needs (about 2 us for 100), so a page is drawn without any state.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from functools import lru_cache
from typing import TypeVar

T = TypeVar("T")
_FULL = float(1 << 32)


@lru_cache(maxsize=256)
def _format(count: int) -> struct.Struct:
    return struct.Struct(f"<{count}I")


def draws(count: int, *key: object) -> tuple[int, ...]:
    """`count` numbers in 0 … 2**32-1 that depend on nothing but `key`."""
    text = "\x1f".join(map(str, key)).encode()
    return _format(count).unpack(hashlib.shake_128(text).digest(4 * count))


def draw(*key: object) -> int:
    """One number in 0 … 2**32-1."""
    return draws(1, *key)[0]


def share(number: int) -> float:
    """A drawn number as a fraction in [0, 1)."""
    return number / _FULL


def pick(items: Sequence[T], number: int) -> T:
    """The item that a drawn number points to."""
    return items[number % len(items)]
