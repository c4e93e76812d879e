"""Files that have nothing: an archive has at least a record, documents may be none."""

import gzip
import lzma
from pathlib import Path

import pytest
import zstandard

from corpus.cli import main
from corpus.commands.common import FAULTS, GOOD, USAGE

NOTHING = {"": b"", ".gz": gzip.compress(b""), ".xz": lzma.compress(b""), ".zst": zstandard.compress(b"")}
READ_DOCUMENTS = {
    "dedup": ["-o", "out.jsonl"],
    "stats": [],
    "card": ["-o", "out.md"],
}
READ_ARCHIVES = {"extract": ["-o", "out.jsonl"], "links": ["-o", "out.tsv"], "stats": [], "card": ["-o", "out.md"]}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("suffix", NOTHING)
@pytest.mark.parametrize("command", READ_ARCHIVES)
def test_an_archive_without_a_record_is_damaged(command: str, suffix: str, capsys: pytest.CaptureFixture[str]) -> None:
    for data in {b"", NOTHING[suffix]}:
        Path(f"a.warc{suffix}").write_bytes(data)
        assert main([command, "-q", *READ_ARCHIVES[command], f"a.warc{suffix}"]) == FAULTS
        assert f"-WARN damage: a.warc{suffix}:0: no record in the file\n" in capsys.readouterr().err


@pytest.mark.parametrize("form", [".jsonl", ".vert"])
@pytest.mark.parametrize("suffix", NOTHING)
@pytest.mark.parametrize("command", READ_DOCUMENTS)
def test_documents_may_be_none_but_no_compressed_file_has_no_byte(
    command: str, suffix: str, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    name = f"a{form}{suffix}"
    words = [word.replace(".jsonl", form) for word in READ_DOCUMENTS[command]]
    Path(name).write_bytes(NOTHING[suffix])
    assert main([command, "-q", *words, name]) == GOOD
    assert not capsys.readouterr().err
    if suffix:
        Path(name).write_bytes(b"")
        assert main([command, "-q", *words, name]) == FAULTS
        assert f"-WARN {name}:1: breaks off: {name}:0: 0 bytes, which no" in capsys.readouterr().err


@pytest.mark.parametrize("suffix", NOTHING)
@pytest.mark.parametrize("command", ["dedup", "select", "manatee"])
def test_an_archive_is_refused_where_documents_are_read(command: str, suffix: str) -> None:
    for data in {b"", NOTHING[suffix]}:
        Path(f"a.warc{suffix}").write_bytes(data)
        assert main([command, "-q", "-o", "out.vert", f"a.warc{suffix}"]) == USAGE
    assert not Path("out.vert").exists()
