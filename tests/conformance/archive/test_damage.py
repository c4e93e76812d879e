"""Bit flips, cuts and rubbish in every kind of file: no crash, no hang, no sound pack lost, and all of it told."""

from __future__ import annotations

import functools
import gzip
import io
import logging
import lzma
import random
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from archive import Reader, Record
from archive.cli import main
from archive.errors import ConvertError
from archive.index.access import record_at
from archive.index.cdxj import index_file, parse
from archive.messages.digests import digest
from archive.storage.codecs import make_codec
from archive.tools.convert import convert, repair
from archive.tools.verify import verify
from archive.writing.records import Style, build
from tests.unit.archive.pages import page

KINDS = ("xz", "gz", "zst", "none")
PACKS = 6


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


def groups() -> list[list[bytes]]:
    """The records of a few pages, a page a pack."""
    pages = [page(number) for number in range(PACKS)]
    return [list(build(one, digest("sha1", one.payload), None, Style()).records) for one in pages]


def stored(kind: str, packs: list[list[bytes]]) -> list[bytes]:
    codec = make_codec(kind)
    return [codec.encode(pack).blob for pack in packs]


@functools.cache
def sample(kind: str) -> bytes:
    """The same bytes at every call: ids are random."""
    return b"".join(stored(kind, groups()[:3]))


def read(data: bytes) -> tuple[list[Record], Reader]:
    reader = Reader(io.BytesIO(data))
    return list(reader), reader


def sound(records: list[Record]) -> set[bytes]:
    return {record.raw_head + record.block() for record in records if record.damage is None}


@pytest.mark.parametrize("kind", KINDS)
def test_cut_at_every_byte(kind: str) -> None:
    packs = groups()[:2]
    blobs = stored(kind, packs)
    data = b"".join(blobs)
    whole = {record.removesuffix(b"\r\n\r\n") for pack in packs for record in pack}
    for size in range(len(data)):
        records, reader = read(data[:size])
        assert sound(records) <= whole
        if size >= len(blobs[0]):
            assert {record.removesuffix(b"\r\n\r\n") for record in packs[0]} <= sound(records)
        full = len(sound(records)) == len(whole) or size in (0, len(blobs[0]))
        assert reader.damages or full or is_boundary(kind, packs, blobs, size)


def is_boundary(kind: str, packs: list[list[bytes]], blobs: list[bytes], size: int) -> bool:
    """A file cut between two members, or (plain) between or right behind records, is a whole shorter file."""
    if kind == "xz":
        return False
    codec = make_codec(kind)
    ends = {0}
    total = 0
    for pack in packs:
        for record in pack:
            total += len(codec.encode([record]).blob)
            ends |= {total} if kind != "none" else set(range(total - 4, total + 1))
    return size in ends


@pytest.mark.parametrize("kind", KINDS)
def test_bit_flips_lose_their_own_pack_only(kind: str) -> None:
    packs = groups()
    blobs = stored(kind, packs)
    rng = random.Random(7)
    for _ in range(400):
        number = rng.randrange(PACKS)
        broken = bytearray(blobs[number])
        for _ in range(rng.choice((1, 1, 2, 8))):
            broken[rng.randrange(len(broken))] ^= 1 << rng.randrange(8)
        if broken == blobs[number]:
            continue
        data = b"".join([*blobs[:number], bytes(broken), *blobs[number + 1 :]])
        records, reader = read(data)
        others = {record for pack in packs[:number] + packs[number + 1 :] for record in pack}
        others = {record.removesuffix(b"\r\n\r\n") for record in others}
        kept = sound(records)
        if kind == "none":
            lost = others - kept
            assert len(lost) <= 1
        elif number == 0 and broken[:4] != blobs[0][:4]:
            continue  # the first bytes say what kind of file it is
        else:
            assert others <= kept
            everything = {record.removesuffix(b"\r\n\r\n") for record in packs[number]}
            assert reader.damages or everything <= kept or kind == "gz"


def test_flips_in_xz_are_always_told() -> None:
    blobs = stored("xz", groups()[:3])
    for at in range(0, len(blobs[1]), 3):
        broken = bytearray(blobs[1])
        broken[at] ^= 0x10
        records, reader = read(blobs[0] + bytes(broken) + blobs[2])
        assert len(sound(records)) >= 6
        assert reader.damages
        assert reader.damages[0].offset == len(blobs[0])


@pytest.mark.parametrize(
    "pack", [lzma.compress, gzip.compress, lambda data: zstandard.ZstdCompressor(write_checksum=True).compress(data)]
)
def test_a_unit_whose_end_alone_is_broken_loses_no_record(pack: Callable[[bytes], bytes]) -> None:
    unit = pack(b"".join(record for group in groups() for record in group))
    for at in range(1, 5):
        records, reader = read(unit[:-at] + bytes((unit[-at] ^ 1,)) + unit[len(unit) - at + 1 :])
        assert len(sound(records)) == 3 * PACKS
        assert reader.damages


def digested(block: bytes) -> bytes:
    return plain_record(block, more=f"\r\nWARC-Block-Digest: {digest('sha1', block)}".encode())


@pytest.mark.parametrize("kind", ["gz", "zst"])
def test_a_head_that_is_broken_is_not_sound_where_its_block_holds(kind: str) -> None:
    """Of a record alone in its unit: a flip may change a letter of its URL, and of the block nothing."""
    codec = make_codec(kind)
    one, two = (digested(random.Random(number).randbytes(10_000)) for number in (5, 6))
    blob, whole = codec.encode([one]).blob, {record.removesuffix(b"\r\n\r\n") for record in (one, two)}
    other_heads = 0
    for at in range(200):
        broken = bytearray(blob)
        broken[at] ^= 1
        if broken[:4] == blob[:4]:
            records, _ = read(bytes(broken) + codec.encode([two]).blob)
            assert sound(records) <= whole
            other_heads += any(record.block_holds() and record.damage is not None for record in records)
    assert other_heads


@pytest.mark.parametrize("kind", KINDS)
def test_a_large_record_in_a_broken_unit_is_not_sound(kind: str, tmp_path: Path) -> None:
    """Its block is given before the checksum behind it is met; a plain file has none, but its digest."""
    codec = make_codec(kind)
    # What cannot be compressed is stored as it is, so a wrong bit of it shows by the checksum alone; it takes long.
    large = codec.encode([digested(bytes(8 << 20) + random.Random(1).randbytes(1 << 20) + bytes(8 << 20))]).blob
    broken = bytearray(large)
    broken[len(large) // 2] ^= 1
    small = codec.encode([plain_record(b"small")]).blob
    path = tmp_path / "x.warc"
    for stored, kept in ((large, 2), (bytes(broken), 1)):
        path.write_bytes(stored + small)
        report = repair(path, path.with_name("mended.warc"))
        assert (report.kept, report.dropped, len(report.damages)) == (kept, 2 - kept, 2 - kept)
    reader = Reader(path)
    assert [record.whole() for record in reader] == [kind == "none", True]
    assert [damage.offset for damage in reader.damages] == [0] * (kind != "none")


def test_of_a_large_member_that_is_broken_no_record_is_sound_whose_digest_does_not_hold(tmp_path: Path) -> None:
    """Its records are given before its checksum is met."""
    rng = random.Random(2)
    records = [digested(rng.randbytes(1 << 20)) for _ in range(10)]
    for kind in ("gz", "xz"):
        stored = bytearray(
            make_codec(kind).encode(records).blob if kind == "xz" else gzip.compress(b"".join(records), 1)
        )
        stored[len(stored) * 9 // 20] ^= 1
        path = tmp_path / f"x.warc.{kind}"
        path.write_bytes(stored)
        report = repair(path, tmp_path / "mended.warc")
        assert report.kept >= 5
        assert report.dropped
        found, _ = read((tmp_path / "mended.warc").read_bytes())
        assert all(record.block_holds() for record in found)


@pytest.mark.parametrize("kind", ["gz", "xz", "zst"])
def test_of_a_unit_that_is_no_longer_held_all_is_given_that_came_out_and_the_next_one_is_found(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of one beyond 64 MiB."""
    monkeypatch.setattr("archive.storage.source._HOLD_LIMIT", 1_000_000)
    rng = random.Random(2)
    codec = make_codec(kind)
    packer = codec.packer()
    large = packer.compress(b"".join(digested(rng.randbytes(2000)) for _ in range(1000))) + packer.flush()
    small = [codec.encode([digested(b"%d" % number)]).blob for number in range(20)]
    at = len(large) - 20_000
    broken = large[:at] + bytes(byte ^ 255 for byte in large[at : at + 40]) + large[at + 40 :]
    records, reader = read(b"".join([broken, *small]))
    kept = [record for record in records if record.block_holds()]
    assert len(kept) > 850 + len(small)
    assert [record.block() for record in kept[-len(small) :]] == [b"%d" % number for number in range(20)]
    assert [damage.lost_bytes for damage in reader.damages if damage.inner < 0] == [len(large)]


def test_stdlib_stops_quietly_where_we_do_not(tmp_path: Path) -> None:
    blobs = stored("xz", groups())
    broken = bytearray(blobs[1])
    broken[len(broken) // 2] ^= 1
    broken[:6] = b"\xfd7zXZ\x01"
    path = tmp_path / "x.warc.xz"
    path.write_bytes(b"".join([blobs[0], bytes(broken), *blobs[2:]]))
    with lzma.open(path) as file:
        quietly = file.read()
    assert len(quietly) == sum(map(len, groups()[0]))
    records = list(Reader(path))
    assert len([record for record in records if record.damage is None]) == 3 * (PACKS - 1)
    assert [problem.code for problem in verify(path) if problem.level == "error"] == ["damage"]
    with pytest.raises(ConvertError):
        convert(path, tmp_path / "y.warc.gz")
    assert not list(tmp_path.glob("y.*"))
    report = repair(path, tmp_path / "y.warc.gz")
    assert (report.kept, len(report.damages)) == (3 * (PACKS - 1), 1)
    assert [problem for problem in verify(tmp_path / "y.warc.gz") if problem.level == "error"] == []


def test_rubbish_between_packs_is_passed_over() -> None:
    rng = random.Random(3)
    for kind in ("xz", "gz", "zst"):
        blobs = stored(kind, groups())
        data = blobs[0] + rng.randbytes(5000) + blobs[1] + b"\x1f\x8b\x08 not a member" + blobs[2]
        records, reader = read(data)
        assert len(sound(records)) == 9
        assert reader.damages[0].offset == len(blobs[0])
        assert sum(damage.lost_bytes for damage in reader.damages) >= 5000


def test_layouts_of_others() -> None:
    plain = b"".join(record for pack in groups() for record in pack)
    cut = [plain[start : start + 777] for start in range(0, len(plain), 777)]
    layouts = {
        "one xz stream": lzma.compress(plain),
        "xz streams anywhere": b"".join(map(lzma.compress, cut)),
        "xz stream padding": b"\0\0\0\0".join(map(lzma.compress, cut)) + b"\0" * 8,
        "one gz member": zlib.compress(plain, 6, 31),
        "gz members anywhere": b"".join(zlib.compress(part, 6, 31) for part in cut),
        "line feeds": b"".join(line_feeds(record) for pack in groups() for record in pack),
    }
    for name, data in layouts.items():
        records, reader = read(data)
        assert len(records) == 3 * PACKS, name
        assert reader.damages == [], name
        places = [(record.offset, record.inner) for record in records]
        assert len(set(places)) == len(places)


def line_feeds(record: bytes) -> bytes:
    """The record with LF alone in its own header and behind its block."""
    head, _, block = record.partition(b"\r\n\r\n")
    return head.replace(b"\r\n", b"\n") + b"\n\n" + block.removesuffix(b"\r\n\r\n") + b"\n\n"


def test_wrong_lengths_in_plain_files() -> None:
    packs = groups()
    plain = b"".join(record for pack in packs for record in pack)
    length = len(packs[1][0].split(b"\r\n\r\n", 1)[1]) - 4
    for wrong in (length - 7, length + 9, length * 50, 10**17):
        start = sum(map(len, packs[0]))
        head, mark, rest = plain[start:].partition(b"Content-Length: %d\r\n\r\n" % length)
        broken = plain[:start] + head + b"Content-Length: %d\r\n\r\n" % wrong + rest
        assert mark
        records, reader = read(broken)
        assert reader.damages
        assert len(sound(records)) >= (3 * PACKS - 2 if wrong < length * 50 else 3)


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=400), st.sampled_from(["", "WARC/1.0\r\n", "filedesc://x 0 20140301000000 text/plain 5\n"]))
def test_any_bytes_are_read_without_an_exception(data: bytes, start: str) -> None:
    for record in Reader(io.BytesIO(start.encode() + data)):
        record.body()
        assert isinstance(record.url, str)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_mangled_files_are_read_without_an_exception(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(KINDS))
    blob = bytearray(sample(kind))
    for _ in range(data.draw(st.integers(1, 5))):
        at = data.draw(st.integers(0, len(blob)))
        junk = data.draw(st.binary(max_size=30))
        blob[at : at + data.draw(st.integers(0, 40))] = junk
    for record in Reader(io.BytesIO(bytes(blob))):
        assert len(record.block()) == record.length
        record.body()


@pytest.mark.parametrize("digits", [b"9999", b"9999999"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_length_beyond_the_file_takes_no_other_record_in(kind: str, digits: bytes) -> None:
    """A lie, also one of more than 16 MiB, for which the block is streamed."""
    packs = [[record] for pack in groups()[:3] for record in pack]
    lie = packs[0][0].replace(b"\r\nContent-Length: ", b"\r\nContent-Length: " + digits, 1)
    records, reader = read(b"".join(stored(kind, [[lie], *packs[1:]])))
    assert [record.raw_head for record in records[1:]] == [
        pack[0].partition(b"\r\n\r\n")[0] + b"\r\n\r\n" for pack in packs[1:]
    ]
    assert not any(record.damage for record in records[1:])
    assert records[0].damage is not None
    assert "ends early" in reader.damages[0].reason


@pytest.mark.parametrize("within", [1, 4, 9, 13])
def test_a_length_beyond_the_file_takes_no_other_record_in_wherever_the_file_is_parted(within: int) -> None:
    lie = b"WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: 99999999\r\n\r\n"
    block = b"x" * ((256 << 10) - within - len(lie) - 4) + b"\r\n"
    reader = Reader(io.BytesIO(lie + block + b"\r\n" + plain_record(b"next") + lie + block))
    assert [record.block() for record in reader] == [block, b"next", block]
    assert [damage.reason for damage in reader.damages] == [
        f"the record ends early: {len(block)} of 99999999 bytes"
    ] * 2


def large(coding: bytes, payload: bytes) -> bytes:
    """A record whose block is streamed."""
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n" + coding + b"\r\n" + payload
    head = (
        b"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example/\r\nContent-Type: application/http\r\n"
    )
    return head + b"Content-Length: %d\r\n\r\n" % len(block) + block + b"\r\n\r\n"


def test_of_a_large_block_no_more_is_read_than_is_wanted() -> None:
    payload = b"0123456789" * (2 << 20)
    file = io.BytesIO(large(b"", payload))
    for record in Reader(file):
        assert not record.in_memory
        assert record.body(1000) == payload[:1000]
        assert file.tell() < 4 << 20
        assert record.whole()
    chunked = b"1\r\nx\r\n" * (3 << 20) + b"0\r\n\r\n"
    for record in Reader(io.BytesIO(large(b"Transfer-Encoding: chunked\r\n", chunked))):
        assert record.body(1 << 20) == b"x" * (1 << 20)
    for record in Reader(io.BytesIO(large(b"", payload)[:-100])):
        assert record.body(10) == payload[:10]
        assert not record.whole()


def test_a_large_answer_whose_coding_breaks_off_says_so() -> None:
    """As far as it has been read."""
    data = large(b"Transfer-Encoding: chunked\r\n", b"fffffff\r\n" + bytes(17 << 20))
    for limit, whole in ((32 << 20, False), (10, True)):
        assert [record.unpacked(limit)[1] for record in Reader(io.BytesIO(data))] == [whole]


def test_large_payloads_are_given_whole(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    payload = b"0123456789" * (2 << 20)
    (tmp_path / "x.warc").write_bytes(large(b"", payload))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("archive.commands.get.MAX_BODY_BYTES", 1000)
        assert main(["get", str(tmp_path / "x.warc"), "http://a.example/"]) == 0
        assert capsysbinary.readouterr().out == payload
        (tmp_path / "x.warc").write_bytes(large(b"Content-Encoding: gzip\r\n", zlib.compress(payload, 1, 31)))
        assert main(["get", str(tmp_path / "x.warc"), "http://a.example/"]) == 1
        out = capsysbinary.readouterr()
        assert out.out == payload[:1000]
        assert b"cut: longer than 1000 bytes" in out.err


def test_line_ends_without_end_are_damage_and_take_no_memory() -> None:
    one, two, *_ = stored("gz", groups())
    records, reader = read(one + zlib.compress(b"\r\n" * (6 << 20), 9, 31) + two)
    assert len(sound(records)) == len(records) == 6
    assert [(damage.reason, damage.lost_bytes) for damage in reader.damages] == [
        ("nothing but line ends before this", (12 << 20) + 4)
    ]
    file = io.BytesIO(one + zlib.compress(b"\r\n" * 1000, 9, 31) + two)
    reader = Reader(file)
    gaps = [reader.gap for _ in reader]
    assert gaps[3] == b"\r\n" * 1002
    assert not reader.damages


def test_a_file_full_of_lies_is_read_once() -> None:
    record = groups()[0][0].replace(b"\r\nContent-Length: ", b"\r\nContent-Length: 9999999", 1)
    count = (2 << 20) // len(record)
    file = Counting(record * count)
    assert sum(1 for _ in Reader(file)) == count
    assert file.given < 4 << 20


class Counting(io.BytesIO):
    """``given``: bytes that were read."""

    given = 0

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(size)
        self.given += len(data)
        return data


def plain_record(block: bytes, version: bytes = b"WARC/1.0", more: bytes = b"") -> bytes:
    head = b"WARC-Type: resource\r\nWARC-Target-URI: http://h/%d\r\nContent-Length: %d" % (len(block), len(block))
    head += more
    return version + b"\r\n" + head + b"\r\n\r\n" + block + b"\r\n\r\n"


def arc_record(block: bytes, url: bytes = b"http://h/") -> bytes:
    return b"%b 1.1.1.1 20200101000000 text/plain %d\n%b\n" % (url, len(block), block)


@pytest.mark.parametrize("junk", [[b"# junk"], [b"\0" * 7, b"\xff"], [b"\0" * 99], [b"\0" * 99, b"\n" + b"\0" * 99]])
@pytest.mark.parametrize("pack", [gzip.compress, functools.partial(lzma.compress, preset=0), zstandard.compress])
def test_a_unit_behind_small_ones_of_junk_is_read_from_its_beginning(
    junk: list[bytes], pack: Callable[[bytes], bytes]
) -> None:
    blocks = [b"one", b"a\r\n\r\n" + plain_record(b"within"), b"three"]
    for first, record in ((b"", plain_record), (arc_record(b"1", b"filedesc://x"), arc_record)):
        parts = [first] * bool(first) + [record(blocks[0]), *junk, record(blocks[1]), record(blocks[2])]
        reader = Reader(io.BytesIO(b"".join(map(pack, parts))))
        assert [found.block() for found in reader][-3:] == blocks
        assert len(reader.damages) == 1


@pytest.mark.parametrize("pack", [gzip.compress, functools.partial(lzma.compress, preset=0), zstandard.compress])
def test_every_place_in_an_index_has_its_record(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    path = tmp_path / "x.arc"
    junk = b"no record\nWARC/1.0\nnor here\n\n"
    units = [arc_record(b"1", b"filedesc://x") + arc_record(b"a"), junk + arc_record(b"b") + arc_record(b"\n\nc")]
    path.write_bytes(b"".join(map(pack, units)))
    assert len(index_file(path)) == 1
    found = []
    for line in path.with_name("x.arc.cdxj").read_bytes().splitlines():
        row = parse(line)
        reader, record = record_at(path, int(row["offset"]), int(row["inner_offset"]))
        with reader:
            found.append(record.block())
    assert sorted(found) == [b"\n\nc", b"a", b"b"]


@pytest.mark.parametrize("pack", [bytes, gzip.compress, functools.partial(lzma.compress, preset=0), zstandard.compress])
def test_reading_may_begin_with_any_unit_of_an_arc_file(pack: Callable[[bytes], bytes]) -> None:
    units = [
        pack(arc_record(b"1", b"filedesc://x")),
        *(pack(b"\n" * ends + arc_record(b"%d" % ends)) for ends in range(3)),
    ]
    for first in range(1, 4):
        reader = Reader(io.BytesIO(b"".join(units)), offset=sum(map(len, units[:first])))
        assert [record.block() for record in reader] == [b"0", b"1", b"2"][first - 1 :]
        assert reader.damages == []


class _Trickle(io.BytesIO):
    """Gives a few bytes at a time, as sockets may."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(5 if size is None or size < 0 else min(size, 5))


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_an_arc_file_whose_first_line_comes_in_pieces_is_one(pack: Callable[[bytes], bytes]) -> None:
    units = pack(arc_record(b"1", b"filedesc://" + b"x" * 99)), pack(arc_record(b"a", b"http://h/" + b"x" * 99))
    for whole_bytes in (0, 64):
        reader = Reader(_Trickle(b"".join(units)), whole_bytes=whole_bytes)
        assert [record.block() for record in reader] == [b"1", b"a"]
        assert not reader.damages


@pytest.mark.parametrize("within", range(60, 100, 7))
def test_an_arc_record_is_sound_wherever_the_file_is_parted(within: int) -> None:
    first = arc_record(b"1", b"filedesc://x")
    block = b"a" * ((256 << 10) - len(first + arc_record(b"")) - 5 - within)  # a file is read by so much
    last = arc_record(b"b", b"http://h/" + b"x" * 99)
    reader = Reader(io.BytesIO(first + arc_record(block) + last))
    assert [(record.length, record.damage) for record in reader][1:] == [(len(block), None), (1, None)]


@pytest.mark.parametrize("size", [50, 300])
def test_a_record_of_an_unknown_version_is_one_wherever_the_file_is_parted(size: int) -> None:
    text = plain_record(b"x" * ((256 << 10) - size)) + plain_record(b"y" * size, b"WARC/2\r\nA: " + b"a" * 200)
    reader = Reader(io.BytesIO(text + plain_record(b"z")))
    assert [found.length for found in reader][1:] == [size, 1]
    assert not reader.damages


@pytest.mark.parametrize("pack", [gzip.compress, functools.partial(lzma.compress, preset=0), zstandard.compress])
def test_a_place_beyond_its_unit_is_looked_for_no_further(pack: Callable[[bytes], bytes]) -> None:
    unit = pack(plain_record(b"x"))
    reader = Reader(io.BytesIO(unit * 2))
    reader.skip(10**17)
    assert [record.offset for record in reader] == [len(unit)]


def test_an_archive_that_begins_with_an_empty_line_is_converted_with_it(tmp_path: Path) -> None:
    for name, text in (("x.arc", arc_record(b"1", b"filedesc://x")), ("x.warc", plain_record(b"1"))):
        path = tmp_path / name
        path.write_bytes(b"\r\n" + text)
        assert lzma.decompress(convert(path, tmp_path / f"{name}.xz").read_bytes()) == path.read_bytes()


def test_a_record_of_an_unknown_version_is_one_however_it_is_stored() -> None:
    text = plain_record(b"x") + b"\r\n" + plain_record(b"y" * 100, b"WARC/2")
    for stored in (text, gzip.compress(text)):
        reader = Reader(io.BytesIO(stored))
        assert [found.block() for found in reader] == [b"x", b"y" * 100]
        assert not reader.damages


def test_a_large_record_that_breaks_off_is_not_in_the_index(tmp_path: Path) -> None:
    path = tmp_path / "x.warc.gz"
    large, small = gzip.compress(plain_record(bytes(17 << 20)), 1), gzip.compress(plain_record(b"small"))
    for stored, lines in ((large, 2), (large[:30_000] + bytes(20) + large[30_020:], 1)):
        path.write_bytes(stored + small)
        index_file(path)
        rows = [parse(line) for line in path.with_name("x.warc.gz.cdxj").read_bytes().splitlines()]
        assert [row["url"] for row in rows][-1] == "http://h/5"
        assert len(rows) == lines
        assert all(int(row["length"]) for row in rows)


@pytest.mark.parametrize("zeros", [1, 1000, (256 << 10) - 700, (256 << 10) - 20, 1 << 20])
def test_a_record_behind_zeros_is_read(zeros: int) -> None:
    """As a file system leaves them where power failed, and as they stand before a file in a tar."""
    (first, *_), (second, *_), *_ = groups()
    records, reader = read(first + bytes(zeros) + second + first)
    assert [record.raw_head + record.block() + b"\r\n\r\n" for record in records] == [first, second, first]
    assert sum(damage.lost_bytes for damage in reader.damages) == zeros


def test_a_head_that_ends_in_zeros_takes_no_other_record_in() -> None:
    (first, *_), (second, *_), (third, *_), *_ = groups()
    plain = first + second + third
    head = second.index(b"\r\n\r\n")
    for begin in range(len(first) + 10, len(first) + head - 8):
        for end in (begin + 8, len(first) + head + 40, len(first + second) - 40, len(first + second) + 40):
            records, reader = read(plain[:begin] + bytes(end - begin) + plain[end:])
            assert reader.damages
            rest = {third.removesuffix(b"\r\n\r\n")} if end < len(first + second) else set()
            assert sound(records) == {first.removesuffix(b"\r\n\r\n")} | rest


@pytest.mark.parametrize("ends", [b"\r\n", b"\n"])
def test_a_head_that_is_cut_between_two_lines_takes_no_other_record_in(ends: bytes) -> None:
    """As where a file that was cut short has others behind it, put together by cat."""
    (first, *_), (second, *_), *_ = groups()
    first, second = (
        record.replace(b"\r\n", ends, record.partition(b"\r\n\r\n")[0].count(b"\r\n") + 2) for record in (first, second)
    )
    lines = first.partition(ends * 2)[0].split(ends)
    for count in range(1, len(lines)):
        records, reader = read(second + ends.join((*lines[:count], b"")) + second)
        assert [record.raw_head + record.block() for record in records] == [second.removesuffix(b"\r\n\r\n")] * 2
        assert reader.damages


def test_a_head_that_is_cut_within_a_line_takes_no_other_record_in() -> None:
    (first, *_), (second, *_), *_ = groups()
    for size in range(first.index(b"\r\n", 10) + 2, first.index(b"\r\n\r\n")):
        records, reader = read(first[:size] + second + second)
        assert sound(records) == {second.removesuffix(b"\r\n\r\n")}
        assert reader.damages


def test_an_address_may_end_as_a_record_begins() -> None:
    record = (
        b"WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: http://h/WARC/1.0\r\nContent-Length: 1\r\n\r\nx\r\n\r\n"
    )
    records, reader = read(record * 2)
    assert [one.url for one in records] == ["http://h/WARC/1.0"] * 2
    assert not reader.damages


@pytest.mark.parametrize("kind", ["xz", "gz", "zst"])
def test_a_record_behind_one_that_ends_early_has_its_own_place(kind: str) -> None:
    """By which it is looked up."""
    (first, *_), (second, *_), *_ = groups()
    units = stored(kind, [[first.replace(b"Content-Length: ", b"Content-Length: 9", 1)], [second]])
    records, _ = read(b"".join(units))
    assert [record.damage is None for record in records] == [False, True]
    assert [(record.offset, record.inner) for record in records] == [(0, 0), (len(units[0]), 0)]


def test_what_is_sound_behind_junk_in_a_broken_unit_is_given() -> None:
    (first, *_), (second, *_), *_ = groups()
    unit = gzip.compress(b"junk\r\n" + first + second)
    records, reader = read(unit[:-8] + bytes(8) + gzip.compress(second))
    assert [record.raw_head + record.block() + b"\r\n\r\n" for record in records] == [first, second, second]
    assert sound(records) == {first.removesuffix(b"\r\n\r\n"), second.removesuffix(b"\r\n\r\n")}
    assert len(reader.damages) == 2


def test_a_record_without_content_is_sound() -> None:
    records, reader = read(plain_record(b"") + plain_record(b"x"))
    assert [(record.block(), record.damage) for record in records] == [(b"", None), (b"x", None)]
    assert not reader.damages


def test_damage_says_in_which_file_it_is_also_where_that_was_open(tmp_path: Path) -> None:
    path = tmp_path / "x.warc"
    path.write_bytes(b"no archive")
    with path.open("rb") as file:
        for source, name in ((file, str(path)), (path, str(path)), (io.BytesIO(b"no archive"), "<stream>")):
            reader = Reader(source)
            assert list(reader) == []
            assert {damage.path for damage in reader.damages} == {name}


def test_a_large_record_that_was_passed_over_is_damaged_where_its_unit_is() -> None:
    """Also where all of it came out, and only the checksum behind it is wrong."""
    unit = gzip.compress(plain_record(bytes(17 << 20)), 1)
    records, reader = read(unit[:-8] + bytes(4) + unit[-4:] + gzip.compress(plain_record(b"x")))
    assert [record.damage for record in records] == [*reader.damages, None]
