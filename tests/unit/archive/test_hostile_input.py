"""Inputs made to take long: each is read in a fraction of a second, and by a pattern or loop that shares them out among
its parts (or a length that nobody bounds) in minutes, hours or never."""

import gzip
import io
import lzma
import tracemalloc
import zlib
from collections.abc import Callable
from random import Random

import brotli
import pytest
import zstandard

from archive import Damage, Reader
from archive.index.surt import surt
from archive.messages.headers import Headers
from archive.messages.http import MOST_CODINGS, HttpHead, dechunk, decode
from archive.messages.sniff import payload_type
from archive.reading import arc
from archive.reading.segments import joined
from archive.storage.source import Source
from archive.storage.unpack import Unpacked, detect

HEAD = b"HTTP/1.1 200 OK\r\n\r\n"
EMPTY_BLOCKS = b"\x00\x00\x00\xff\xff" * 100_000 + b"\x07"
LF_RECORD = b"WARC/1.0\nContent-Length: 1\n\nx\n\n"
SEGMENTS = b"".join(
    b"WARC/1.1\r\nWARC-Type: %b\r\nWARC-Record-ID: <urn:x:%d>\r\nWARC-Segment-Origin-ID: <urn:x:1>\r\n"
    b"WARC-Segment-Number: %d\r\nContent-Length: 1\r\n\r\nx\r\n\r\n"
    % (b"continuation" if number > 1 else b"response", number, number)
    for number in range(1, 30_000)
)
ARC = b"filedesc://a 1.1.1.1 20200101000000 text/plain 1\nx\n"


def _records(archive: bytes) -> int:
    return sum(1 for _ in Reader(io.BytesIO(archive)))


READ: dict[str, Callable[[], object]] = {
    "comments before no tag": lambda: payload_type(HEAD, b"<!---->" * 73 + b"x"),
    "blanks between comments": lambda: payload_type(HEAD, b"<!-- -->   " * 46 + b"x"),
    "a chunk size that never ends": lambda: dechunk(b"1" * 500_000),
    "a header of many lines": lambda: Headers.parse(b"a: b\n" + b" x\n" * 200_000),
    "thousands of codings": lambda: decode(
        HttpHead(0, b"Content-Encoding: " + b"deflate," * 30_000 + b"\r\n"), EMPTY_BLOCKS
    ),
    "session ids begun": lambda: surt("http://h/?" + "cfid=" * 100_000),
    "session folders": lambda: surt("http://h/" + f"(a({'1' * 24}))/" * 20_000 + ";x"),
    "records whose lines end with LF": lambda: _records(
        lzma.compress(b"WARC/1.0\nContent-Length: 1\n\nx\n\n" * 20_000)
    ),
    "gzip members begun": lambda: _records(b"\x1f\x8b\x08" * 70_000),
    "gzip members of junk": lambda: _records(gzip.compress(b"junk\n") + gzip.compress(b"j") * 60_000),
    "gzip members of a record": lambda: _records(
        gzip.compress(b"WARC/1.0\r\nContent-Length: 60000\r\n\r\n") + gzip.compress(b"x") * 60_000
    ),
    "heads begun": lambda: _records((b"WARC/1.0\r\n" + b"a: b\r\n" * 50) * 10_000),
    "a record of many segments": lambda: sum(1 for _ in joined(Reader(io.BytesIO(SEGMENTS)))),
    "zeros behind a gzip member": lambda: _records(gzip.compress(LF_RECORD) + bytes(64 << 20)),
    "zeros behind an xz stream": lambda: _records(lzma.compress(LF_RECORD) + bytes(64 << 20)),
    "an ARC line without end": lambda: _records(ARC + b"a" * (24 << 20)),
    "an ARC line of places": lambda: arc.parse_line(b"a:" + b" 1.1.1.1 20200101" * 60_000 + b"\t x 1\n"),
    "an ARC line whose date never ends": lambda: arc.parse_line(b"a: - e " + b"1" * 500_000 + b" 1\n"),
    "an ARC line of dates": lambda: arc.NEXT.search(b"\nab:" + b" 12345678" * 100_000 + b"\r\r\n"),
}


@pytest.mark.parametrize("read", READ.values(), ids=READ)
def test_is_read_at_once(read: Callable[[], object]) -> None:
    read()


def test_a_head_without_end_takes_little_memory() -> None:
    data = b"WARC/1.0\r\n" + b"a: b\r\n" * (4 << 20)
    tracemalloc.start()
    try:
        assert _records(data) == 0
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()


def test_long_heads_and_lines_are_read() -> None:
    head = b"WARC/1.0\r\nA: " + b"a" * 100_000 + b"\r\nContent-Length: 1\r\n\r\nx\r\n\r\n"
    assert [record.block() for record in Reader(io.BytesIO(head * 3))] == [b"x"] * 3
    line = b"http://h/" + b"a" * 600_000 + b" 1.1.1.1 20200101000000 text/plain 1\ny\n"
    assert [record.block() for record in Reader(io.BytesIO(ARC + line))] == [b"x", b"y"]


@pytest.mark.parametrize("block", [b"", b"a\r\n\r\nb", b"\r\na"])
@pytest.mark.parametrize("end", [b"\n\n", b"\n\r\n", b"\r\n\n", b"\r\n\r\n"])
def test_a_head_ends_with_its_first_empty_line(end: bytes, block: bytes) -> None:
    record = b"WARC/1.0\r\nContent-Length: %d%b%b\r\n\r\n" % (len(block), end, block)
    reader = Reader(io.BytesIO(record * 2))
    assert [found.block() for found in reader] == [block] * 2
    assert not reader.damages


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_an_arc_file_may_begin_with_any_record_and_have_odd_urls(pack: Callable[[bytes], bytes]) -> None:
    record = b"http://h/a-\rb 1.1.1.1 20200101000000 text/html; charset=x 3\nx\ny\n"
    for count in (1, 3):
        reader = Reader(io.BytesIO(pack(record * count)))
        assert [(one.version, one.url, one.block()) for one in reader] == [("arc", "http://h/a-\rb", b"x\ny")] * count
        assert not reader.damages
    reader = Reader(io.BytesIO(pack(b"see: here 1.1.1.1 20200101 x 3\nabc\nno other\n")))
    assert not list(reader)
    assert reader.damages


def test_names_and_lengths_of_a_head_in_other_spellings() -> None:
    record = b"WARC/1.0\r\nWARC-Type: metadata\r\nContent-Length: \r\n 5\r\nWARC-Target-URI:\r\n\thttp://h/\r\n\r\na\r\nbc\r\n\r\n"
    small = record.lower()
    reader = Reader(io.BytesIO(record + small + record + small))
    found = [(one.version, one.type, one.url, one.block()) for one in reader]
    assert found == [("1.0", "metadata", "http://h/", b"a\r\nbc")] * 4
    assert not reader.damages


@pytest.mark.parametrize("more", [5, 8, 12, 13, 14, 20])
def test_a_length_that_ends_within_the_next_record_loses_only_its_own(more: int) -> None:
    record = b"WARC/1.0\r\nWARC-Type: metadata\r\nContent-Length: %d\r\n\r\nabc\r\n\r\n"
    reader = Reader(io.BytesIO(record % (3 + more) + record % 3 + record % 3))
    assert [(one.block().rstrip(), one.damage is None) for one in reader] == [
        (b"abc", False),
        (b"abc", True),
        (b"abc", True),
    ]
    assert len(reader.damages) == 1


def test_a_line_as_in_arc_files_makes_no_arc_file_of_another() -> None:
    warc = b"WARC/1.0\r\nContent-Length: 1\r\n\r\nx\r\n\r\n"
    line = b"http://h/ 1.1.1.1 20200101000000 text/plain 1\n"
    for before, place in ((b"", 0), (b"a", 1)):
        *_, last = Reader(io.BytesIO(before + (warc if before else b"") + line + warc), offset=place)
        assert (last.version, last.block()) == ("1.0", b"x")
    for end, versions in ((b" 1\n", ["arc"]), (b" one\n", ["1.0"])):  # at a place that was asked for: if it is sound
        reader = Reader(io.BytesIO(warc + line.replace(b" 1\n", end) + warc), offset=len(warc))
        assert [record.version for record in reader] == versions


@pytest.mark.parametrize("length", ["²", "9" * 5000])
def test_a_length_that_is_none_is_told(length: str) -> None:
    line = f"http://h/ 1.1.1.1 20200101000000 text/plain {length}\ny\n".encode()
    reader = Reader(io.BytesIO(ARC + line))
    assert len(list(reader)) == 2
    assert "unsound ARC line" in reader.damages[0].reason


def test_a_comment_is_passed_over_to_its_first_end() -> None:
    assert payload_type(HEAD, b"<!-- a --> \n<!-- b --><html>") == "text/html"
    assert payload_type(HEAD, b"<!-- a <html>") == ""


def test_a_folded_header_is_one_value() -> None:
    lines = b"a: b\r\n \r\n\tc \r\nd:\r\n e\r\n"
    assert Headers.parse(lines).pairs == [("a", "b c"), ("d", "e")]


def test_codings_are_taken_off_up_to_a_number() -> None:
    body = b"text"
    for _ in range(MOST_CODINGS):
        body = zlib.compress(body)
    head = HttpHead(0, b"Content-Encoding: " + b", ".join([b"deflate"] * MOST_CODINGS))
    assert decode(head, body) == b"text"
    assert decode(head, zlib.compress(body)) == zlib.compress(b"text")


def test_a_small_brotli_body_gives_no_more_than_the_limit() -> None:
    body = brotli.compress(b"\0" * (64 << 20), quality=1)
    assert decode(HttpHead(0, b"Content-Encoding: br"), body, limit=1000) == b"\0" * 1000


SMALL = {
    "zstd": zstandard.compress(bytes(64 << 20), 1),
    "br": brotli.compress(bytes(64 << 20), quality=5),
    "gzip": gzip.compress(b"\0") + gzip.compress(bytes(64 << 20), 1),
}


@pytest.mark.parametrize(("coding", "body"), SMALL.items(), ids=SMALL)
def test_a_small_body_takes_little_memory(coding: str, body: bytes) -> None:
    tracemalloc.start()
    assert decode(HttpHead(0, f"Content-Encoding: {coding}".encode()), body, limit=1000) == bytes(1000)
    assert tracemalloc.get_traced_memory()[1] < 24 << 20
    tracemalloc.stop()


@pytest.mark.parametrize("pack", [zstandard.compress, gzip.compress])
def test_a_small_unit_is_unpacked_in_pieces(pack: Callable[[bytes, int], bytes]) -> None:
    source, damages = Source(io.BytesIO(pack(bytes(128 << 20), 1))), list[Damage]()
    sizes = [len(chunk.data) for chunk in Unpacked(source, detect(source), "x", damages)]
    assert sum(sizes) == 128 << 20
    assert max(sizes) <= 24 << 20
    assert not damages


def test_a_brotli_body_is_given_whole_or_as_far_as_it_goes() -> None:
    text = Random(1).randbytes(3 << 20)
    head = HttpHead(0, b"Content-Encoding: br")
    assert decode(head, brotli.compress(text, quality=1)) == text
    cut = decode(head, brotli.compress(text, quality=1)[: 2 << 20])
    assert len(cut) > 1 << 20
    assert text.startswith(cut)


@pytest.mark.parametrize(
    "begin", [b"O \xc5\xa1omile", b"Mu\xe1\xb9\x85we", b"\t\xef\xbb\xbf<!DOCTYPE html>", b"# \n\n<html>"]
)
@pytest.mark.parametrize("size", [3000, 60_000])
def test_a_text_that_is_said_to_be_brotli_is_given_as_it_is(begin: bytes, size: int) -> None:
    """As writers leave it that have taken the coding off, and not its name: these begin as what is stored in brotli."""
    text = begin + b" wa vhashumi vha muhasho" * (size // 24)
    assert decode(HttpHead(0, b"Content-Encoding: br"), text) == text


def test_what_brotli_stores_as_it_is_comes_out() -> None:
    text = Random(1).randbytes(100)
    packed = brotli.compress(text)
    assert text in packed
    assert decode(HttpHead(0, b"Content-Encoding: br"), packed) == text
    assert decode(HttpHead(0, b"Content-Encoding: br"), packed, 50) == text[:50]
