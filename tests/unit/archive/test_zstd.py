"""Frames in bounded steps give what libzstd gives at once."""

from random import Random

import pytest
import zstandard

from archive.messages.http import HttpHead, decode
from archive.storage.zstd import Frame

BLOCK = 128 << 10
RANDOM = Random(1)
TEXTS = [
    b"",
    b"x",
    RANDOM.randbytes(3000),
    bytes(3 * BLOCK),
    b"abc 12 " * 60_000,
    RANDOM.randbytes(BLOCK) + bytes(BLOCK),
]


def _packed(text: bytes, *, flushed: bool, said: bool) -> bytes:
    state = zstandard.ZstdCompressor(write_checksum=said, write_content_size=said)
    if not flushed:
        return state.compress(text)
    blocks = state.compressobj()
    parts = [blocks.compress(text[at : at + 40_000]) + blocks.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK) for at in
             range(0, len(text), 40_000)]  # fmt: skip
    return b"".join(parts) + blocks.flush()


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
@pytest.mark.parametrize("flushed", [False, True])
@pytest.mark.parametrize("said", [False, True])
@pytest.mark.parametrize("step", [18, 19, 16 << 10, 1 << 20])
def test_a_frame_comes_out_whole_and_in_small_parts(text: bytes, flushed: bool, said: bool, step: int) -> None:
    packed = _packed(text, flushed=flushed, said=said)
    stored = packed * 2
    for most in (1, 2 * BLOCK):
        frame = Frame(zstandard.ZstdDecompressor(), most)
        parts: list[bytes] = []
        at = 0
        while not frame.eof:
            piece = b"" if frame.pending else stored[at : at + step]
            assert piece or frame.pending
            at += len(piece)
            parts.append(frame.feed(piece))
        assert b"".join(parts) == text
        assert at - frame.unused == len(packed)
        assert max(map(len, parts)) <= max(most, BLOCK) + BLOCK


def test_blocks_before_a_broken_one_are_given() -> None:
    packed = bytearray(_packed(bytes(4 * BLOCK), flushed=False, said=True))
    packed[-4] ^= 1  # of the checksum
    assert decode(HttpHead(0, b"Content-Encoding: zstd"), bytes(packed)) == bytes(3 * BLOCK)
