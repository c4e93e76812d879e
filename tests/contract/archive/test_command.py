"""The command: what it prints, and its exit codes."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from archive import Reader, WarcWriter, WriterConfig
from archive.cli import FAULTS, GOOD, USAGE, main
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


def test_standard_input(path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for command, lines in (("ls", 37), ("verify", 1), ("index", 0)):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
        assert main([command, "-"]) == GOOD
        assert len(capsys.readouterr().out.splitlines()) >= lines


def test_wrong_usage(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == USAGE
    assert main(["convert", str(path)]) == USAGE
    assert main(["convert", "--to", "xz", str(path)]) == USAGE
    assert main(["ls", str(path) + ".not"]) == USAGE
    assert main(["--help"]) == GOOD
    assert "examples:" in capsys.readouterr().out
