"""Where a log goes on behind a record that is damaged, be it in its length.

The next whole record is sought by the checksums, at each place that may hold a length. Of these a piece of a disk's old
blocks has up to all its bytes, each with a long stretch to be read: of a megabyte only the shorter ones are tried, so
that the time goes with the size of what is damaged. Random bytes have records of up to 3 MB found among them.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

import numpy as np
from xxhash import xxh3_64_intdigest

RECORD = struct.Struct("<IQ")
"""What stands before a record's body: its length and the XXH3 of it."""
_PIECE_BYTES = 1 << 20
_TRIED_BYTES = 1 << 30  # for each piece


def before_next(rest: bytes, length: int) -> int:
    """How many bytes there are before the next whole record, or the end: `length`, if that holds."""
    view = memoryview(rest)
    if length == len(rest) or _is_whole(view, length):
        return length
    return next((place for place in _likely(rest) if _is_whole(view, place)), len(rest))


def _likely(rest: bytes) -> Iterator[int]:
    """Places of what may be lengths, ascending."""
    last = len(rest) - RECORD.size
    for begin in range(0, last, _PIECE_BYTES):
        room = np.arange(last - begin, max(0, last - begin - _PIECE_BYTES), -1)
        lengths = np.ndarray(len(room), "<u4", rest, begin, (1,))
        places = np.flatnonzero((lengths > 0) & (lengths <= room))
        ascending = np.argsort(lengths[places], kind="stable")
        tried = np.cumsum(lengths[places[ascending]], dtype=np.int64) <= _TRIED_BYTES
        yield from (begin + np.sort(places[ascending[tried]])).tolist()


def _is_whole(data: memoryview, place: int) -> bool:
    """Whether a record begins there, and ends."""
    if place + RECORD.size > len(data):
        return False
    length, check = RECORD.unpack_from(data, place)
    body = data[place + RECORD.size : place + RECORD.size + length]
    return 0 < length == len(body) and bool(xxh3_64_intdigest(body) == check)
