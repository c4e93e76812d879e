"""The command: what it prints, and its exit codes."""

from __future__ import annotations

import errno
import gzip
import hashlib
import io
import json
import lzma
import os
import re
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import zstandard

from archive import Reader, WarcWriter, WriterConfig
from archive.cli import COMMANDS, main
from archive.commands.common import FAULTS, GOOD, INTERRUPTED, USAGE
from archive.errors import ConvertError
from archive.index.cdxj import IndexBuilder, lookup, write_lines
from archive.reading.segments import joined
from archive.terminal import stop_on_term
from archive.tools.convert import convert, plain_digest
from archive.tools.sink import Sink
from archive.tools.stats import GROUPS
from tests.power import Disk
from tests.unit.archive.pages import page

COUNT = 12
REPO = Path(__file__).parents[3]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    config = WriterConfig(pack_bytes=6000, reserve_bytes=0, warcinfo={"software": "test"})
    with WarcWriter(tmp_path, "crawl", "xz", config=config) as writer:
        for number in range(COUNT):
            writer.write(page(number))
        writer.sync()
    return writer.finished[0]


def break_pack(path: Path) -> None:
    """Damage the second-last pack."""
    data = bytearray(path.read_bytes())
    starts = [at for at in range(len(data)) if data[at : at + 6] == b"\xfd7zXZ\x00"]
    data[starts[-2] + 40] ^= 0xFF
    path.write_bytes(data)


def test_ls(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ls", str(path)]) == GOOD
    assert len(capsys.readouterr().out.splitlines()) == 1 + 3 * COUNT
    assert main(["ls", "--json", "--type", "Response", str(path)]) == GOOD
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["status"] for row in rows] == [200] * COUNT


def test_get_by_url_and_place(path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    for target in (str(path), str(path.parent)):
        assert main(["get", target, page(5).url]) == GOOD
        assert capsysbinary.readouterr().out == page(5).payload
    (record,) = [one for one in Reader(path, types=["response"]) if one.url == page(5).url]
    place = f"{record.offset}+{record.inner}"
    assert main(["get", "--record", str(path), place]) == GOOD
    assert capsysbinary.readouterr().out == record.raw_head + record.block() + b"\r\n\r\n"
    assert main(["get", "--http", str(path), place]) == GOOD
    assert capsysbinary.readouterr().out == record.block()
    assert main(["get", "--payload", str(path), place]) == GOOD
    assert capsysbinary.readouterr().out == page(5).payload
    assert main(["get", "--json", str(path), place]) == GOOD
    assert json.loads(capsysbinary.readouterr().out)["url"] == page(5).url
    path.with_name(path.name + ".cdxj").unlink()
    assert main(["get", str(path), page(5).url]) == GOOD
    assert capsysbinary.readouterr().out == page(5).payload
    assert main(["get", str(path), "http://nowhere.example/"]) == FAULTS
    for nowhere in ("17", "17+3", "9" * 30, "²", "0+" + "9" * 30):
        assert main(["get", str(path), nowhere]) == FAULTS


def test_a_file_of_a_folder_that_cannot_be_read_does_not_keep_get_from_the_others(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    closed = path.with_name("a.warc")
    closed.write_bytes(b"WARC/1.0")
    opened = Path.open

    def failing(file: Path, *arguments: Any, **more: Any) -> Any:
        if file == closed:
            raise PermissionError(errno.EACCES, "Permission denied", str(file))
        return opened(file, *arguments, **more)

    monkeypatch.setattr(Path, "open", failing)
    assert main(["get", str(path.parent), page(5).url]) == FAULTS
    said = capsysbinary.readouterr()
    assert said.out == page(5).payload
    assert said.err.decode() == f"damage: {closed}:0: cannot be read: Permission denied\n"
    assert main(["get", str(closed), page(5).url]) == USAGE


def test_verify_and_repair(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(path)]) == GOOD
    assert "37 records, 0 errors, 0 warnings" in capsys.readouterr().out
    break_pack(path)
    assert main(["verify", "--json", str(path)]) == FAULTS
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {line.get("code") for line in lines[:-1]} == {"damage", "index"}
    assert main(["convert", "--to", "gz", str(path)]) == FAULTS
    assert main(["repair", str(path)]) == FAULTS
    mended = path.with_name(path.name.replace(".warc", ".repaired.warc"))
    capsys.readouterr()
    assert main(["verify", str(mended)]) == GOOD
    assert main(["repair", str(mended), "-o", str(path.with_name("again.warc.gz"))]) == GOOD


PAYLOAD = b"the beginning, the midst and the end"


def segment(number: int, block: bytes, total: int = 0, origin: int = 1) -> bytes:
    fields = [
        "WARC/1.1",
        f"WARC-Record-ID: <urn:x:{number}>",
        "WARC-Date: 2024-01-01",
        f"WARC-Segment-Number: {number}",
    ]
    fields += ["WARC-Target-URI: http://a.example/", "Content-Type: application/http", f"Content-Length: {len(block)}"]
    if number > 1:
        fields += ["WARC-Type: continuation", f"WARC-Segment-Origin-ID: <urn:x:{origin}>"]
    else:
        fields += ["WARC-Type: response", f"WARC-Payload-Digest: sha1:{hashlib.sha1(PAYLOAD).hexdigest()}"]
    fields += [f"WARC-Segment-Total-Length: {total}"] if total else []
    return "\r\n".join(fields).encode() + b"\r\n\r\n" + block + b"\r\n\r\n"


@pytest.mark.parametrize("order", ["123", "12", "13", "132", "1x23", "1", "12y", "12z", "12d"])
def test_segments_are_put_together_or_the_first_is_not_given_for_the_whole(
    order: str, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    block = b"HTTP/1.1 200 OK\r\nContent-Length: 36\r\n\r\n" + PAYLOAD
    total = len(block)
    records = {
        "1": segment(1, block[:-23]),
        "2": segment(2, block[-23:-12]),
        "3": segment(3, block[-12:], total),
        "x": b"WARC/1.1\r\nWARC-Type: request\r\nContent-Length: 0\r\n\r\n\r\n\r\n",
        "y": segment(3, block[-12:], total, origin=7),
        "z": segment(3, block[-12:], total + 1),
        "d": segment(3, block[-12:], total)[:-9],
    }
    path = tmp_path / "x.warc"
    path.write_bytes(b"".join(records[name] for name in order))
    if order == "123":
        assert main(["verify", "--json", str(path)]) == GOOD  # the payload digest is of all segments
    else:
        assert main(["verify", str(path)]) == (FAULTS if order in ("1x23", "12d") else GOOD)
    capsysbinary.readouterr()
    whole = order == "123"
    assert main(["get", str(path), "http://a.example/"]) == (GOOD if whole else FAULTS)
    said = capsysbinary.readouterr()
    assert said.out == (PAYLOAD if whole else b"the beginning")
    assert (b"only its first segment" in said.err) is not whole
    assert main(["get", "--record", str(path), "0"]) == GOOD
    assert main(["index", str(path)]) == (FAULTS if order == "12d" else GOOD)
    assert [row.get("truncated") for row in lookup(tmp_path / "x.warc.cdxj", "http://a.example/")] == ["segment"]
    with Reader(path) as reader:  # every record is there once, whatever is put together
        assert [record.id for record in joined(reader)] == [record.id for record in Reader(path)]


def test_segments_are_put_together_up_to_a_size(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = [b"HTTP/1.1 200 OK\r\n\r\n", b"ab", b"", b"c"]
    whole = b"".join(parts)
    archive = b"".join(segment(number, part, len(whole) * (number == 4)) for number, part in enumerate(parts, 1))
    for limit in (len(whole), len(whole) - 1):
        monkeypatch.setattr("archive.reading.segments._MOST_BYTES", limit)
        blocks = [record.block() for record in joined(Reader(io.BytesIO(archive * 2)))]
        assert blocks == [whole if limit == len(whole) else parts[0], *parts[1:]] * 2


@pytest.mark.parametrize("broken", [0, 1])
def test_segments_of_which_one_is_in_doubt_are_not_put_together(broken: int) -> None:
    parts = [b"HTTP/1.1 200 OK\r\n\r\na", b"b"]
    units = [gzip.compress(segment(number, part, 21 * (number == 2))) for number, part in enumerate(parts, 1)]
    for wrong in (False, True):
        if wrong:
            units[broken] = units[broken][:-8] + bytes(4) + units[broken][-4:]  # its checksum
        records = list(joined(Reader(io.BytesIO(b"".join(units)))))
        assert [record.block() for record in records] == [parts[0] if wrong else b"".join(parts), parts[1]]


def test_a_segment_that_is_all_is_whole(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    block = b"HTTP/1.1 200 OK\r\n\r\n" + PAYLOAD
    (tmp_path / "x.warc").write_bytes(segment(1, block, len(block)))
    assert main(["get", str(tmp_path / "x.warc"), "0"]) == GOOD
    assert capsysbinary.readouterr().out == PAYLOAD


def test_convert_and_index(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", "--to", "gz", str(path), "-o", str(tmp_path / "x.warc.gz")]) == GOOD
    assert main(["convert", "--to", "none", "--json", str(tmp_path / "x.warc.gz")]) == GOOD
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["output"] == str(tmp_path / "x.warc")
    assert main(["verify", str(tmp_path / "x.warc.gz"), str(tmp_path / "x.warc")]) == GOOD
    index = tmp_path / "x.warc.gz.cdxj"
    before = index.read_bytes()
    index.unlink()
    assert main(["index", str(tmp_path / "x.warc.gz")]) == GOOD
    assert index.read_bytes() == before
    merged = tmp_path / "all.cdxj"
    assert main(["index", "--merge", str(merged), str(index), str(tmp_path / "x.warc.cdxj")]) == GOOD
    lines = merged.read_bytes().splitlines()
    assert lines == sorted(lines)
    assert len(lines) == 2 * COUNT


def test_stats(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stats", "--json", str(path)]) == GOOD
    stats = json.loads(capsys.readouterr().out)
    assert stats["captures"]["host"] == {f"host{n}.example": 4 for n in range(3)}
    assert stats["captures"]["language"] == {"zul": COUNT}
    assert stats["captures"]["year"] == {"2026": COUNT}
    assert stats["captures"]["type"] == {"text/html": COUNT}
    assert main(["stats", "--top", "1", str(path)]) == GOOD
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith(" bytes of payload")
    rows = [line.split("\t") for line in lines[2:]]
    assert [(row[0], row[2]) for row in rows] == [("host", "4"), *((it, str(COUNT)) for it in GROUPS[1:])]
    assert all(len(row) == 4 for row in rows), "no boxes where the output is no terminal"


_DAMAGED = b"junk\n" + b"WARC/1.0\r\nContent-Length: 1\r\n\r\nx\r\n\r\n"


class _Breaking(io.BytesIO):
    """A file on a disk that fails behind these bytes."""

    name = "broken"

    def read(self, size: int | None = -1, /) -> bytes:
        if data := super().read(size):
            return data
        raise OSError(errno.EIO, "Input/output error")


@pytest.mark.parametrize("words", [["ls"], ["stats"], ["ls", "--json"]], ids=" ".join)
def test_damage_before_a_place_that_cannot_be_read_is_told(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=_Breaking(_DAMAGED)))
    assert main([*words, "-"]) == USAGE
    damage, error = capsys.readouterr().err.splitlines()
    assert "no record begins with b'junk" in damage
    assert error == "archive: broken: Input/output error"


def test_stats_on_a_terminal_are_tables(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert main(["stats", str(path)]) == GOOD
    assert "by host" in capsys.readouterr().out


@pytest.fixture
def piped(path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Each call: the file is standard input."""
    return lambda: monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))


def test_standard_input(piped: Callable[[], None], capsys: pytest.CaptureFixture[str]) -> None:
    for command, lines in (("ls", 37), ("verify", 1), ("index", 0)):
        piped()
        assert main([command, "-"]) == GOOD
        assert len(capsys.readouterr().out.splitlines()) >= lines


def test_standard_input_is_got_from_converted_and_mended(
    path: Path, piped: Callable[[], None], capsys: pytest.CaptureFixture[str]
) -> None:
    piped()
    assert main(["get", "-", page(5).url]) == GOOD
    assert capsys.readouterr().out.encode() == page(5).payload
    for command in (["convert", "--to", "gz"], ["repair"]):
        target = path.with_name(f"{command[0]}.warc.gz")
        piped()
        assert main([*command, "-", "-o", str(target)]) == GOOD
        assert plain_digest(target) == plain_digest(path)
        piped()
        assert main([*command, "-"]) == USAGE
    break_pack(path)
    piped()
    assert main(["verify", "-"]) == FAULTS
    assert capsys.readouterr().out.splitlines()[-2].startswith("-:")


def test_nothing_is_written_over_unasked(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = path.with_name("other.warc.gz")
    other.write_bytes(b"of worth")
    for command in (["convert", "--to", "gz"], ["repair"]):
        assert main([*command, str(path), "-o", str(other)]) == USAGE
        assert other.read_bytes() == b"of worth"
        assert "--force" in capsys.readouterr().err
    assert main(["convert", "--to", "gz", "--force", str(path), "-o", str(other)]) == GOOD
    before = path.read_bytes()
    assert main(["repair", "--force", str(path), "-o", str(path)]) == USAGE
    assert path.read_bytes() == before


@pytest.mark.parametrize("rest", ["", '{"url": "x"}', '{"offset": "x"}', "{broken", "[]"])
def test_a_broken_index_is_told_and_done_without(
    path: Path, rest: str, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    index = path.with_name(path.name + ".cdxj")
    (row,) = lookup(index, page(5).url)
    index.write_text(f"{row['urlkey']} {rest}\n" if not rest else f"{row['urlkey']} {row['timestamp']} {rest}\n")
    assert main(["get", str(path), page(5).url]) == FAULTS
    out, err = capsysbinary.readouterr()
    assert out == page(5).payload
    assert b"no index" in err


def test_get_where_the_index_names_two_captures_of_one_second(
    path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Another file's, as in an index that was merged."""
    index = path.with_name(path.name + ".cdxj")
    (row,) = lookup(index, page(5).url)
    (line,) = (line for line in index.read_bytes().splitlines(keepends=True) if b"page/5 " in line)
    place = f'"offset": "{row["offset"]}", "filename"'.encode()
    index.write_bytes(index.read_bytes().replace(line, line.replace(place, b'"offset": "1", "filename"') + line))
    assert main(["get", str(path), page(5).url]) == FAULTS
    out, err = capsysbinary.readouterr()
    assert out == page(5).payload
    assert b"no index of the file as it is" in err


@pytest.mark.parametrize("offset", [10**6, 10**18 - 1])
def test_get_behind_the_end_of_a_file(path: Path, offset: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["get", str(path), str(offset)]) == FAULTS
    assert capsys.readouterr().err == f"archive: {path}: no record at {offset}+0\n"


def test_get_tells_of_damage_though_nothing_was_found(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    break_pack(path)
    path.with_name(path.name + ".cdxj").unlink()
    assert main(["get", str(path), "http://nowhere.example/"]) == FAULTS
    assert "damage:" in capsys.readouterr().err


@pytest.mark.parametrize(
    "data",
    [b"", gzip.compress(b"", mtime=0), lzma.compress(b""), zstandard.compress(b""), b"\r\n\r\n"],
    ids=["no byte", "gz", "xz", "zst", "line ends"],
)
def test_a_file_without_a_record_is_damaged(tmp_path: Path, data: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    """As a copy that was cut short is."""
    path = tmp_path / "empty.warc"
    path.write_bytes(data)
    for command in ("ls", "stats", "repair", "index"):
        assert main([command, str(path)]) == FAULTS
        assert capsys.readouterr().err == f"damage: {path}:0: no record in the file\n"
    assert main(["verify", "--no-index", str(path)]) == FAULTS
    assert f"{path}:0: error: no record in the file [empty]\n{path}: 0 records, 1 errors" in capsys.readouterr().out
    for words in (["convert", "--to", "gz"], ["remove", "a.example"]):
        assert main([*words, str(path)]) == FAULTS
        assert f"{path} cannot be converted: {path}:0: no record in the file" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_just_begun_has_no_record_yet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "begun.warc.xz.open"
    path.touch()
    for command in ("ls", "stats", "verify", "index"):
        assert main([command, str(path)]) == GOOD
    out = capsys.readouterr()
    assert "unfinished" in out.out
    assert not out.err


def test_ls_of_a_type_that_no_record_has_is_no_fault(path: Path) -> None:
    assert main(["ls", "--type", "conversion", str(path)]) == GOOD


@pytest.mark.parametrize("data", [b"", b"no archive at all", b"BZh91AY&SY packed otherwise"])
def test_repair_leaves_no_file_without_records(tmp_path: Path, data: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.warc"
    path.write_bytes(data)
    assert main(["repair", str(path)]) == FAULTS
    assert "a.repaired.warc is not written: 0 records kept" in capsys.readouterr().out
    assert main(["repair", "--json", str(path)]) == FAULTS
    assert json.loads(capsys.readouterr().out) == {"file": str(path), "output": None, "kept": 0, "dropped": 0}
    assert [*tmp_path.iterdir()] == [path]


def test_repair_that_keeps_nothing_leaves_an_older_file_as_it_is(tmp_path: Path) -> None:
    path, older, index = (tmp_path / name for name in ("a.warc", "b.warc", "b.warc.cdxj"))
    for file in (path, older, index):
        file.write_bytes(b"no archive at all")
    assert main(["repair", "--force", "-o", str(older), str(path)]) == FAULTS
    assert sorted(tmp_path.iterdir()) == [path, older, index]
    assert older.read_bytes() == index.read_bytes() == b"no archive at all"


def test_interrupted(path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupt(*_arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Sink, "end", interrupt)
    before = sorted(path.parent.iterdir())
    for command in (["convert", "--to", "gz"], ["repair"]):
        assert main([*command, str(path)]) == INTERRUPTED
        assert capsys.readouterr().err == "archive: interrupted\n"
    assert sorted(path.parent.iterdir()) == before


def test_a_copy_that_finds_no_room_is_told_by_its_name(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not as standard output, of which nobody complained."""

    def full(*_arguments: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("shutil.copyfileobj", full)
    with path.open("rb") as file:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(file))
        assert main(["verify", "-", str(path)]) == USAGE
    said = capsys.readouterr()
    assert "/stdin: No space left on device" in said.err
    assert f"{path}: {1 + 3 * COUNT} records" in said.out


@pytest.mark.parametrize("command", ["convert --to gz", "repair", "index"])
@pytest.mark.parametrize("is_lost", [stat.S_ISREG, stat.S_ISDIR])
def test_a_disk_that_fails_is_told_by_the_name_of_what_it_lost(
    path: Path,
    command: str,
    is_lost: Callable[[int], bool],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """An fsync does not say of which file it is; that was told of standard output, too."""

    def fails(number: int) -> None:
        if is_lost(os.fstat(number).st_mode):
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", fails)
    code = main([*command.split(), str(path)])
    said = capsys.readouterr().err
    if command == "index" and is_lost is stat.S_ISDIR:  # of which it syncs none
        assert (code, said) == (GOOD, "")
    else:
        assert code == USAGE
        assert re.fullmatch(rf"archive: {path.parent}\S*: Input/output error\n", said)


def test_a_sigterm_is_an_interruption() -> None:
    before = signal.getsignal(signal.SIGTERM)
    try:
        stop_on_term()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)


class _Gone(io.StringIO):
    """Standard error whose reader has gone."""

    def write(self, _text: str) -> int:
        raise BrokenPipeError


@pytest.mark.parametrize("stderr", [None, _Gone()], ids=["closed", "broken"])
def test_where_nobody_can_be_told_the_work_is_done(
    path: Path, stderr: io.StringIO | None, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what was to be told does not get into the results."""
    monkeypatch.setattr("sys.stderr", stderr)
    assert main(["verify", str(path)]) == GOOD
    break_pack(path)
    capsysbinary.readouterr()
    assert main(["get", str(path), "http://nowhere.example/"]) == FAULTS
    path.with_name(path.name + ".cdxj").unlink()
    assert main(["get", str(path), page(0).url]) == FAULTS
    assert main(["ls", str(path.parent / "none.warc")]) == USAGE
    assert capsysbinary.readouterr().out == page(0).payload


def test_a_file_that_is_gone_costs_no_output(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = str(tmp_path / "gone.warc.gz")
    for words in (["get", gone, "0"], ["repair", gone]):
        assert main(words) == USAGE
        print("more")
        assert capfd.readouterr().out == "more\n"
        with monkeypatch.context() as patch:
            patch.setattr("sys.stdout", io.StringIO())
            assert main(words) == USAGE
    assert not list(tmp_path.iterdir())


def test_wrong_usage(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == USAGE
    assert main(["convert", str(path)]) == USAGE
    assert main(["convert", "--to", "xz", str(path)]) == USAGE
    assert main(["ls", str(path) + ".not"]) == USAGE
    for kind, level in (("gz", 10), ("xz", -1), ("zst", 23)):
        assert main(["convert", "--to", kind, "--level", str(level), str(path), "-o", f"{path}.x.{kind}"]) == USAGE
    assert main(["convert", "--to", "gz", "--pack-bytes", "0", str(path)]) == USAGE
    assert main(["stats", "--top", "-1", str(path)]) == USAGE
    assert len(list(path.parent.iterdir())) == 2
    assert main(["--help"]) == GOOD
    assert "examples:" in capsys.readouterr().out


def test_what_a_killed_run_left_is_not_lost(path: Path, tmp_path: Path) -> None:
    """The unnamed copy of a run that was killed may be all there is."""
    left = tmp_path / "copy.warc.xz-new"
    left.write_bytes(path.read_bytes())
    assert main(["repair", str(left), "-o", str(tmp_path / "copy.warc.xz")]) == GOOD
    assert left.read_bytes() == path.read_bytes()
    assert plain_digest(tmp_path / "copy.warc.xz") == plain_digest(path)


def test_two_writers_of_one_file_keep_apart(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "copy.warc.gz"
    slow = Sink(target, "gz")
    slow.begin()
    slow.write(b"half a rec")
    monkeypatch.setattr("os.getpid", lambda: -1)
    assert main(["convert", "--to", "gz", str(path), "-o", str(target)]) == GOOD
    whole = target.read_bytes()
    slow.abort()
    assert target.read_bytes() == whole
    assert not list(tmp_path.glob("copy*-new"))


def test_what_a_killed_indexer_left_is_taken_over_and_a_live_one_waited_for(tmp_path: Path) -> None:
    target, left = tmp_path / "x.warc.cdxj", tmp_path / "x.warc.cdxj-new"
    left.write_bytes(b"half a li")
    begun, go_on = threading.Event(), threading.Event()

    def slow_lines() -> Iterator[bytes]:
        yield b"a\n"
        begun.set()
        assert go_on.wait(240)
        yield b"b\n"

    with ThreadPoolExecutor(2) as pool:
        slow = pool.submit(write_lines, target, slow_lines())
        assert begun.wait(240)
        other = pool.submit(write_lines, target, [b"c\n"])
        go_on.set()
        slow.result()
        other.result()
    assert target.read_bytes() == b"c\n"
    assert not left.exists()
    with pytest.raises(ZeroDivisionError):
        write_lines(target, (b"%d" % (1 // n) for n in (1, 0)))
    assert (target.read_bytes(), left.exists()) == (b"c\n", False)
    left.write_bytes(b"half a li")
    write_lines(target, [b"d\n"])
    assert target.read_bytes() == b"d\n"


def test_an_index_that_has_its_name_is_whole_after_a_power_cut(disk: Disk, tmp_path: Path) -> None:
    folder = tmp_path / "warc"
    folder.mkdir()
    write_lines(folder / "x.warc.cdxj", [b"a\n", b"b\n"])
    left = disk.cut(folder, tmp_path / "left", names_last=True)
    assert (left / "x.warc.cdxj").read_bytes() == b"a\nb\n"


@pytest.mark.parametrize("words", [["convert", "--to", "gz", "-o"], ["repair", "-o"], ["index", "--merge"]])
def test_a_folder_that_is_missing_is_named(
    words: list[str], path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, str(tmp_path / "no" / "a.warc.gz"), str(path)]) == USAGE
    assert capsys.readouterr().err == f"archive: {tmp_path / 'no'}: no such folder\n"


@pytest.mark.parametrize(
    "words",
    [
        *(["ls", ""], ["verify", ""], ["stats", ""], ["index", ""], ["get", "", "http://host0.example/page/0"]),
        *(["remove", "--force", "host0.example", ""], ["convert", "--to", "gz", ""], ["repair", ""]),
        *(["convert", "--to", "gz", "-o", "", "FILE"], ["repair", "-o", "", "FILE"], ["index", "--merge", "", "FILE"]),
        ["verify", "--earlier", "", "FILE"],
    ],
)
def test_an_empty_name_is_not_the_folder_one_is_in(
    words: list[str], path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As of a variable that is not set."""
    monkeypatch.chdir(path.parent)
    before = {file: file.read_bytes() for file in path.parent.iterdir()}
    assert main([str(path) if word == "FILE" else word for word in words]) == USAGE
    assert "an empty name" in capsys.readouterr().err
    assert {file: file.read_bytes() for file in path.parent.iterdir()} == before


def test_what_has_no_record_gets_no_index(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As of a pattern that takes the indexes in, too: each would have got one of its own, an empty one."""
    before = sorted(path.parent.iterdir())
    path.with_name("empty").touch()
    assert main(["index", *map(str, sorted(path.parent.iterdir()))]) == FAULTS
    err = capsys.readouterr().err
    assert f"damage: {path}.cdxj:0: no record begins with" in err
    assert f"damage: {path.with_name('empty')}:0: no record in the file" in err
    assert sorted(path.parent.iterdir()) == [*before, path.with_name("empty")]


@pytest.mark.parametrize("command", ["ls", "verify", "stats"])
def test_a_link_that_leads_nowhere_is_told(command: str, path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    link = path.with_name("b.warc.gz")
    link.symlink_to("nowhere")
    assert main([command, str(path.parent)]) == USAGE
    out, err = capsys.readouterr()
    assert err == f"archive: {link}: No such file or directory\n"
    assert out


def test_names_that_would_steer_a_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a\nb\x1b[2J", os.fsdecode(b"\xff")):
        assert main(["ls", str(tmp_path / name)]) == USAGE
        assert capsys.readouterr().err.removeprefix(f"archive: {tmp_path}/") in (
            "a\ufffdb\ufffd[2J: No such file or directory\n",
            "\ufffd: No such file or directory\n",
        )


def test_one_file_does_not_keep_the_others_from_it(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gone, bad, good = tmp_path / "gone.warc.xz", tmp_path / "bad.warc.xz", str(path)
    bad.write_bytes(path.read_bytes())
    break_pack(bad)
    empty = tmp_path / "empty"
    empty.mkdir()
    for command in ("ls", "verify", "stats", "index"):
        assert main([command, str(gone), str(empty), good]) == USAGE
        out = capsys.readouterr()
        fault = "Is a directory" if command == "index" else "no WARC files in this folder"
        assert f"archive: {gone}: No such file or directory\narchive: {empty}: {fault}\n" == out.err
        assert out.out or command == "index"
    assert main(["convert", "--to", "gz", str(bad), good, str(gone)]) == USAGE
    assert path.with_suffix(".gz").exists()
    assert not bad.with_suffix(".gz").exists()
    assert main(["convert", "--to", "gz", good, str(bad)]) == USAGE  # is there already
    assert "bad.warc.xz cannot be converted" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["ls", "verify", "stats"])
def test_a_folder_stands_for_its_archives(
    command: str, path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "c.journal").touch()
    assert main([command, str(folder)]) == USAGE
    assert "but a .journal: the crawl writes what that has when it is stopped" in capsys.readouterr().err
    (folder / "c.warc.xz.open").touch()
    assert main([command, str(folder)]) == USAGE
    assert "one that is still being written: name it, or stop the crawl" in capsys.readouterr().err
    for name in ("b.warc.xz", "a.warc.xz", "c.warc.xz.open", "d.warc.xz.cdxj", "notes.txt"):
        (folder / name).write_bytes(path.read_bytes())
    both = [str(folder / "a.warc.xz"), str(folder / "b.warc.xz")]
    assert main([command, *both]) == GOOD
    expected = capsys.readouterr()
    assert main([command, str(folder)]) == GOOD
    assert capsys.readouterr() == expected


def test_get_reads_the_archives_of_a_folder_alone(path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """Sums of files lie beside them; one that is being written is read where it is named."""
    (path.parent / f"{path.name}.md5").write_text("d41d8cd98f00b204e9800998ecf8427e\n")
    (path.parent / "other.warc.xz.open").write_bytes(path.read_bytes()[:-60])
    assert main(["get", str(path.parent), page(5).url]) == GOOD
    assert capsysbinary.readouterr() == (page(5).payload, b"")
    (path.parent / "other.warc.xz.open").write_bytes(path.read_bytes())
    assert main(["get", str(path.parent / "other.warc.xz.open"), page(5).url]) == GOOD
    assert capsysbinary.readouterr().out == page(5).payload


def test_get_says_what_it_cuts(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("archive.commands.get.MAX_BODY_BYTES", 10)
    with WarcWriter(tmp_path, "crawl", config=WriterConfig(reserve_bytes=0)) as writer:
        for size in (10, 11):
            url, head = f"http://h.example/{size}", b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"
            writer.write(page(size, url=url, response_head=head, payload=gzip.compress(b"a" * size)))
        writer.sync()
    for size, code in ((10, GOOD), (11, FAULTS)):
        assert main(["get", str(writer.finished[0]), f"http://h.example/{size}"]) == code
        out, err = capsysbinary.readouterr()
        assert (out, b"cut: longer than 10 bytes without its coding" in err) == (b"a" * 10, code == FAULTS)


def test_a_copy_that_reads_back_differently_does_not_become_the_file(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put = Sink._put
    monkeypatch.setattr(Sink, "_put", lambda sink, data: put(sink, data.replace(b"WARC-Date: 2", b"WARC-Date: 3")))
    before = sorted(tmp_path.iterdir())
    with pytest.raises(ConvertError, match="the copy reads back differently"):
        convert(path, tmp_path / "copy.warc")
    assert sorted(tmp_path.iterdir()) == before


def test_what_servers_say_is_shown_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    block = b"HTTP/1.1 200 OK\r\nContent-Type: [/b]\r\n\r\n"
    head = b"WARC/1.0\r\nWARC-Type: response\r\nContent-Type: application/http\r\nWARC-Target-URI: http://a/\x1b]0;\x9b\r\n"
    path = tmp_path / "x.warc"
    path.write_bytes(head + b"Content-Length: %d\r\n\r\n" % len(block) + block + b"\r\n\r\n")
    assert main(["stats", str(path)]) == GOOD
    assert "[/b]" in capsys.readouterr().out
    assert main(["ls", str(path)]) == GOOD
    assert "\x1b" not in capsys.readouterr().out


def test_pipes_are_read_and_never_replaced(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cp", str(path), str(pipe)]):
        assert main(["convert", "--to", "none", str(pipe), "-o", str(tmp_path / "copy.warc")]) == GOOD
    assert plain_digest(tmp_path / "copy.warc") == plain_digest(path)
    for words in (["repair", "--force", str(path), "-o"], ["index", str(path) + ".cdxj", "--merge"]):
        assert main([*words, str(pipe)]) == USAGE
        assert capsys.readouterr().err == f"archive: {pipe}: is no regular file\n"
    assert pipe.is_fifo()


def test_streams_that_are_closed_or_full_are_told(path: Path, tmp_path: Path) -> None:
    full = f"> {tmp_path / 'out'}"  # no file may grow
    for words, said in (
        ("ls - <&-", "standard input is closed"),
        (f"ls {path} >&-", "standard output is closed"),
        (f"get {path} http://nowhere.example/ {full}", "no capture"),
        (f"stats {path} {full}", "standard output: File too large"),
    ):
        script = f"ulimit -f 0; {sys.executable} -m archive {words}"
        done = subprocess.run(["sh", "-c", script], cwd=REPO, capture_output=True, check=False, timeout=240)
        assert done.returncode in (FAULTS, USAGE), words
        assert said in done.stderr.decode()
        assert "Traceback" not in done.stderr.decode()
        assert "Exception ignored" not in done.stderr.decode()


@pytest.mark.parametrize(
    ("length", "told"), [("3", 0), ("003", 0), ("4", 1), ("9" * 5000, 1), ("0" * 5000 + "3", 0), ("²", 0), ("٣", 0)]
)
def test_any_content_length_is_verified(
    tmp_path: Path, length: str, told: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also one of more digits than an int is made of, and signs that are digits elsewhere."""
    block = f"HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\nabc".encode()
    head = "WARC/1.0\r\nWARC-Type: response\r\nContent-Type: application/http\r\nContent-Length: "
    (tmp_path / "a.warc").write_bytes(f"{head}{len(block)}\r\n\r\n".encode() + block + b"\r\n\r\n")
    main(["verify", str(tmp_path / "a.warc")])
    assert capsys.readouterr().out.count("[http-length]") == told


def test_an_index_that_says_less_is_no_fault(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of an earlier version, or of another tool."""
    index = path.with_name(path.name + ".cdxj")
    text = index.read_text()
    index.write_text(text.replace('"status": "200", ', "", 3))
    assert main(["verify", str(path)]) == GOOD
    assert "says less or more than ours would" in capsys.readouterr().out
    for wrong in (
        text.replace('"offset": "', '"offset": "1', 1),
        text.replace('"offset"', '"x"', 1),
        text[:-1] + "x\n",
        text + text,
    ):
        index.write_text(wrong)
        assert main(["verify", str(path)]) == FAULTS


@pytest.mark.parametrize("command", [["convert", "--to", "gz"], ["repair"]])
def test_no_file_has_the_index_of_another(path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]) -> None:
    target = path.with_name("copy.warc.gz")
    words = [*command, "--force", str(path), "-o", str(target)]
    assert main(words) == GOOD
    index = target.with_name(target.name + ".cdxj")
    assert index.exists()

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    before = {file: file.read_bytes() for file in target.parent.iterdir()}
    with monkeypatch.context() as patch:
        patch.setattr("archive.tools.convert.index_file", killed)
        assert main(words) == INTERRUPTED
        assert {file: file.read_bytes() for file in target.parent.iterdir()} == before
    monkeypatch.setattr("archive.tools.sink.fsync_folder", killed)  # the new file has its name, the new index not yet
    assert main(words) == INTERRUPTED
    assert main(["verify", str(target)]) == GOOD
    assert index.read_bytes() == before[index]


def test_an_index_that_could_not_be_renamed_is_told_and_made_by_the_next_run(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    target = path.with_name("copy.warc.gz")
    words = ["convert", "--to", "gz", str(path), "-o", str(target)]
    assert main(words) == GOOD
    index = target.with_name(target.name + ".cdxj")
    before = index.read_bytes()
    replace = Path.replace

    def failing(file: Path, place: Path) -> Path:
        if place == index:
            raise OSError(errno.EIO, "Input/output error", str(place))
        return replace(file, place)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", failing)
        assert main([*words, "--force"]) == USAGE
    assert not index.exists()
    assert main(["verify", str(target)]) == GOOD
    assert main(["verify", "--no-index", "--strict", str(target)]) == GOOD
    assert main(["verify", "--strict", str(target)]) == FAULTS
    assert capsys.readouterr().out.count("python -m archive index makes it [no-index]") == 2
    assert main(words) == USAGE
    assert "and has its index again" in capsys.readouterr().err
    assert index.read_bytes() == before


@pytest.mark.parametrize(
    "wrong",
    [
        r"",
        r'"offset": [\1]',
        r'"x": "\1"',
        r'"offset": "1\1"',
        r'"offset": "-1"',
        f'"offset": "{"9" * 30}"',
        r'"offset": "0"',
        '"x": ' + "[" * 9999,
    ],
)
def test_a_broken_index_hides_nothing(path: Path, wrong: str, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    index = path.with_name(path.name + ".cdxj")
    index.write_text(re.sub(r'"offset": "(\d+)"', wrong, index.read_text()) if wrong else "")
    assert main(["get", str(path), page(5).url]) == (FAULTS if wrong else GOOD)
    assert capsysbinary.readouterr().out == page(5).payload


def test_an_index_of_another_state_of_the_file_hides_nothing(
    path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    index = path.with_name(path.name + ".cdxj")
    text = index.read_text()
    one, other = (next(line for line in text.splitlines() if page(n).url in line) for n in (5, 6))
    index.write_text(text.replace(one.partition('"length"')[2], other.partition('"length"')[2]))
    assert main(["get", str(path), page(5).url]) == FAULTS
    out = capsysbinary.readouterr()
    assert out.out == page(5).payload
    assert f"{index}:0: no index of the file as it is: the file itself is read".encode() in out.err


def test_an_index_of_standard_input_is_sorted_in_bounded_memory(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    runs: list[None] = []
    spill = IndexBuilder._spill
    monkeypatch.setattr(IndexBuilder.__init__, "__defaults__", (3,))
    monkeypatch.setattr(IndexBuilder, "_spill", lambda builder: runs.append(spill(builder)))
    with path.open("rb") as file:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(file))
        assert main(["index", "-"]) == GOOD
    assert runs
    index = path.with_name(path.name + ".cdxj").read_bytes()
    assert capsysbinary.readouterr().out == index.replace(path.name.encode(), b"-")


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_each_command_has_its_own_examples(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--help"]) == GOOD
    _, _, examples = capsys.readouterr().out.partition("examples:\n")
    assert examples.strip()
    assert all(f"python -m archive {command} " in line for line in examples.splitlines())
