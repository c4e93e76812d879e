"""The command: what it prints, and its exit codes."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from archive import Reader, WarcWriter, WriterConfig
from archive.cdxj import lookup
from archive.cli import FAULTS, GOOD, INTERRUPTED, USAGE, main
from archive.convert import plain_digest
from archive.sink import Sink
from tests.unit.archive.pages import page

COUNT = 12


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
    assert main(["ls", "--json", "--type", "response", str(path)]) == GOOD
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
    assert main(["get", str(path), "17"]) == FAULTS


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
    assert main(["stats", "--top", "1", str(path)]) == GOOD
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


def test_merging_into_one_of_the_indexes_loses_nothing(path: Path) -> None:
    index = path.with_name(path.name + ".cdxj")
    assert main(["index", "--merge", str(index), str(index), str(index.with_name("missing.cdxj"))]) == USAGE
    assert len(index.read_bytes().splitlines()) == COUNT
    assert main(["index", "--merge", str(index), str(index)]) == GOOD
    assert len(index.read_bytes().splitlines()) == COUNT
    assert not list(path.parent.glob("*-new"))


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


def test_get_tells_of_damage_though_nothing_was_found(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    break_pack(path)
    path.with_name(path.name + ".cdxj").unlink()
    assert main(["get", str(path), "http://nowhere.example/"]) == FAULTS
    assert "damage:" in capsys.readouterr().err


def test_empty_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "empty.warc"
    path.touch()
    assert main(["convert", "--to", "gz", str(path)]) == GOOD
    assert main(["repair", str(path)]) == FAULTS
    assert main(["verify", str(path)]) == FAULTS
    assert "no record" in capsys.readouterr().out


def test_interrupted(path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupt(*_arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Sink, "end", interrupt)
    before = sorted(path.parent.iterdir())
    for command in (["convert", "--to", "gz"], ["repair"]):
        assert main([*command, str(path)]) == INTERRUPTED
        assert capsys.readouterr().err == "archive: interrupted\n"
    assert sorted(path.parent.iterdir()) == before


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
