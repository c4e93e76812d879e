"""A file packed in a way that is not read is no damaged archive: one line says what it is."""

from __future__ import annotations

import bz2
import io
import lzma
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from archive import Reader, WarcWriter
from archive.cli import main
from archive.commands.common import FAULTS
from archive.storage.foreign import foreign
from corpus.cli import main as corpus_main
from tests.unit.archive.pages import page


def _zipped(plain: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("a.warc", plain)
    return packed.getvalue()


KINDS: dict[str, Callable[[bytes], bytes]] = {
    "bzip2": bz2.compress,
    "zip": _zipped,
    "lzma": lambda plain: lzma.compress(plain, lzma.FORMAT_ALONE),
}
COMMANDS = {
    "ls": ["ls"],
    "verify": ["verify", "--quiet"],
    "stats": ["stats", "--quiet"],
    "convert": ["convert", "--to", "xz"],
    "index": ["index"],
}


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    with WarcWriter(tmp_path_factory.mktemp("warc"), "crawl", "none") as writer:
        for number in range(3):
            writer.write(page(number))
        writer.sync()
    return writer.finished[0].read_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_one_damage_that_says_what_it_is(kind: str, plain: bytes) -> None:
    packed = KINDS[kind](plain)
    with Reader(io.BytesIO(packed)) as reader:
        assert list(reader) == []
    (damage,) = reader.damages
    assert damage.reason.startswith(f"packed with {kind}, which is not read here")


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_tell_it_in_a_line(
    command: str, plain: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.warc.bz2"
    path.write_bytes(bz2.compress(plain))
    code = main([*COMMANDS[command], str(path)])
    told = capsys.readouterr()
    (line,) = (line for line in (told.out + told.err).splitlines() if "packed with bzip2" in line)
    assert f"{path}:0: " in line
    assert "(read are plain files, .gz, .xz, .zst)" in line
    assert code == FAULTS


def test_the_corpus_tells_it_too(plain: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    archive, lines = tmp_path / "a.warc.bz2", tmp_path / "b.jsonl.bz2"
    archive.write_bytes(bz2.compress(plain))
    lines.write_bytes(bz2.compress(b'{"text": "x"}\n'))
    for named, files in ((archive, [archive]), (lines, [lines]), (tmp_path, [archive, lines])):
        assert corpus_main(["stats", str(named), "--json"]) == FAULTS
        told = [line for line in capsys.readouterr().err.splitlines() if "packed with" in line]
        assert len(told) == len(files)
        assert all(str(path) in line for path, line in zip(files, told, strict=True))


@pytest.mark.parametrize("number", [0x184D2A50, 0x184D2A5F])
def test_zstd_may_begin_with_frames_to_be_skipped(number: int, plain: bytes) -> None:
    # As of `pzstd`: how long the next frame is. WARC-zstd has no other there than the dictionary, RFC 8878 any.
    frame = zstandard.compress(plain)
    skipped = number.to_bytes(4, "little") + (4).to_bytes(4, "little") + len(frame).to_bytes(4, "little")
    with Reader(io.BytesIO(skipped * 2 + frame)) as reader:
        places = [(record.type, record.offset, record.inner) for record in reader]
    assert not reader.damages
    assert len([kind for kind, *_ in places if kind == "response"]) == 3
    with Reader(io.BytesIO(skipped * 2 + frame), offset=places[1][1]) as reader:
        assert next(iter(reader)).offset == places[0][1] == 2 * len(skipped)


@pytest.mark.parametrize("before", [0, 1])
def test_a_cut_within_a_frame_to_be_skipped_is_told(before: int, plain: bytes) -> None:
    """What was behind it is lost, and nothing was said of that."""
    stored = zstandard.compress(plain) * before
    with Reader(io.BytesIO(stored + b"\x5e\x2a\x4d\x18\x00\x00\x20\x00" + bytes((2 << 20) - 1))) as reader:
        assert len(list(reader)) == before * (1 + 3 * 3)
    (damage,) = reader.damages
    assert (damage.offset, damage.reason) == (len(stored), "the file ends within a frame to be skipped")


class Pipe(io.BytesIO):
    """Of which nobody knows where it ends."""

    def seekable(self) -> bool:
        return False


@pytest.mark.parametrize("kind", [io.BytesIO, Pipe])
@pytest.mark.parametrize("length", [7, 5000, 1_200_000, 0xFFFFFFFF])
@pytest.mark.parametrize("before", [0, 1])
def test_a_frame_to_be_skipped_of_a_false_length_costs_nothing_else(
    before: int, length: int, kind: type[io.BytesIO], plain: bytes
) -> None:
    """All behind it was passed over: of a pipe, or where it ends amid a later unit, which made a plain file of one that
    began so."""
    stored = zstandard.compress(plain)
    behind = 1_300_000 // len(stored)
    skipped = b"\x50\x2a\x4d\x18" + length.to_bytes(4, "little") + b"what"
    with Reader(kind(stored * before + skipped + stored * behind)) as reader:
        assert sum(1 for _ in reader) == (before + behind) * (1 + 3 * 3)
    (damage,) = reader.damages
    assert (damage.offset, damage.lost_bytes) == (before * len(stored), len(skipped))


def test_lz4_behind_a_frame_to_be_skipped_is_told_as_lz4() -> None:
    with Reader(io.BytesIO(b"\x50\x2a\x4d\x18\1\0\0\0x\x04\x22\x4d\x18....")) as reader:
        assert list(reader) == []
    assert reader.damages[0].reason.startswith("packed with lz4")


@pytest.mark.parametrize("head", [b"WARC/1.1\r\n", b"filedesc:/", b"\xfd7zXZ\0", b"\x1f\x8b\x08", b"BZh", b"{", b""])
def test_others_are_none(head: bytes) -> None:
    assert foreign(head) == ""
