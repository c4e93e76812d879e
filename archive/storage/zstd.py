"""zstd frames unpacked in bounded steps.

A state of libzstd gives all that is in what it is fed, and four bytes may stand for 128 KiB: so it is fed by blocks,
which say how long they are. Source: RFC 8878, 3.1.1.2.
"""

from __future__ import annotations

import zstandard

_BLOCK_BYTES = 128 << 10
_HEADER = 3
_RUN = 1  # the type of a block that repeats one byte
_LAST = 1 << 62  # no block begins behind the last


def skippable(head: bytes) -> int:
    """The length of the frame to be skipped that begins with these 8 bytes; 0: none does."""
    if len(head) < 8 or not 0x184D2A50 <= int.from_bytes(head[:4], "little") <= 0x184D2A5F:
        return 0
    return 8 + int.from_bytes(head[4:8], "little")


class Frame:
    """One frame. ``eof``: it has ended, with ``unused`` of the bytes fed behind it; ``pending``: the next step needs
    no more bytes."""

    def __init__(self, context: zstandard.ZstdDecompressor, most: int) -> None:
        self._state = context.decompressobj()
        self._blocks = max(1, most // _BLOCK_BYTES)
        self._rest = b""
        self._next = -1
        self.eof = self.pending = False
        self.unused = 0

    def feed(self, piece: bytes) -> bytes:
        """What is in the piece and what was left before it, up to about ``most`` bytes. ZstdError.

        The first piece has the whole head of the frame.
        """
        state, rest = self._state, self._rest + piece if self._rest else piece
        at = self._next if self._next >= 0 else zstandard.frame_header_size(rest)
        for _ in range(self._blocks):
            if at + _HEADER > len(rest):
                break
            head = int.from_bytes(rest[at : at + _HEADER], "little")
            at += _LAST if head & 1 else _HEADER + (1 if head >> 1 & 3 == _RUN else head >> 3)
        data = state.decompress(rest[:at])
        self._rest = rest[at:]
        if state.eof:
            self.eof, self.pending, self.unused = True, False, len(state.unused_data) + len(self._rest)
        else:
            self._next = max(0, at - len(rest))
            self.pending = len(self._rest) - self._next >= _HEADER
        return data
