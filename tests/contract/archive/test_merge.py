"""``archive index --merge``: what it takes, tells, and writes over."""

from __future__ import annotations

import resource
import shutil
from codecs import BOM_UTF8
from pathlib import Path

import pytest

from archive import WarcWriter, WriterConfig
from archive.cli import main
from archive.commands.common import FAULTS, GOOD, USAGE
from tests.unit.archive.pages import page

COUNT = 12
LINE = b'%02d)/ 20240101000000 {"url": "http://%02d/", "offset": "0", "filename": "a.warc"}\n'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with WarcWriter(tmp_path, "crawl", "xz", config=WriterConfig(pack_bytes=6000, reserve_bytes=0)) as writer:
        for number in range(COUNT):
            writer.write(page(number))
    return writer.finished[0]


def test_merging_into_one_of_the_indexes_loses_nothing(path: Path) -> None:
    index = Path(shutil.copy(path.with_name(path.name + ".cdxj"), path.with_name("all.index")))
    assert main(["index", "--merge", str(index), str(index), str(index.with_name("missing.cdxj"))]) == USAGE
    assert len(index.read_bytes().splitlines()) == COUNT
    assert main(["index", "--merge", str(index), str(index)]) == GOOD
    assert len(index.read_bytes().splitlines()) == COUNT
    assert not list(path.parent.glob("*-new"))


def test_a_merged_index_takes_the_place_of_nothing_else(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As of a command line without the output: the first of the files would be it."""
    index = path.with_name(path.name + ".cdxj")
    unfinished = Path(shutil.copy(index, path.with_name("all.index-new")))
    before = {file: file.read_bytes() for file in path.parent.iterdir()}
    for target, said in (
        (path, "is there already, and is no index"),
        (index, f"is the index of {path.name} alone"),
        (path.with_name("all.index"), "is written while all.index is made"),
    ):
        assert main(["index", "--merge", str(target), str(index), str(unfinished)]) == USAGE
        err = capsys.readouterr().err
        assert said in err
        assert err.count("\n") == 1
    assert {file: file.read_bytes() for file in path.parent.iterdir()} == before
    path.with_name("all.index").touch()  # mktemp's
    assert main(["index", "--merge", str(path.with_name("all.index")), str(index)]) == GOOD


def test_more_indexes_than_files_may_be_open_are_merged(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    for number in range(40):
        (tmp_path / f"{number}.cdxj").write_bytes(LINE % (number, number))
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (len(list(Path("/proc/self/fd").iterdir())) + 20, hard))
        assert main(["index", "--merge", str(tmp_path / "all"), *map(str, tmp_path.glob("*.cdxj"))]) == GOOD
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert len((tmp_path / "all").read_bytes().splitlines()) == 40


def test_indexes_that_are_none_are_not_merged(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    index = path.with_name(path.name + ".cdxj")
    lines = index.read_bytes().splitlines(keepends=True)
    one, two, merged = tmp_path / "one.cdxj", tmp_path / "two.cdxj", tmp_path / "all.cdxj"
    one.write_bytes(b"".join(lines[::2]).rstrip(b"\n"))
    two.write_bytes(b"".join(lines[1::2]))
    assert main(["index", "--merge", str(merged), str(one), str(two)]) == GOOD
    assert merged.read_bytes() == index.read_bytes()
    two.write_bytes(b"".join(reversed(lines)))
    assert main(["index", "--merge", str(merged), str(one), str(two)]) == FAULTS
    assert f"{two}:2: not sorted" in capsys.readouterr().err
    assert merged.read_bytes() == index.read_bytes()
    assert not list(tmp_path.glob("*-new"))


def test_lines_that_are_none_are_told_and_the_rest_is_merged(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, two, merged = tmp_path / "one.cdxj", tmp_path / "two.cdxj", tmp_path / "all"
    one.write_bytes(BOM_UTF8 + LINE % (1, 1) + b"zz not one\n" + LINE % (3, 3))
    two.write_bytes(b"!meta 0 {}\n" + LINE % (2, 2) + b'example)/ 20240101000000 {"url": "cut sho')
    assert main(["index", "--merge", str(merged), str(one), str(two), str(path)]) == FAULTS
    assert merged.read_bytes() == b"".join(LINE % (number, number) for number in (1, 2, 3))
    told = capsys.readouterr().err.splitlines()
    assert f"archive: {one}:2: no line of an index: 'zz not one'" in told
    assert f"archive: {two}:1: no line of an index: '!meta 0 {{}}'" in told
    assert sum(line.startswith(f"archive: {two}:3: no line of an index: 'example)/ ") for line in told) == 1
    archive = [line for line in told if line.startswith(f"archive: {path}:")]
    assert len(archive) == 11
    assert archive[-1].endswith(" more lines that are none of an index")
    assert len(told) == 3 + 11
    for count in (10, 11):
        one.write_bytes(b"none\n" * count)
        assert main(["index", "--merge", str(merged), str(one)]) == FAULTS
        told = capsys.readouterr().err.splitlines()
        assert sum("no line of an index" in line for line in told) == 10
        assert told[10:] == [f"archive: {one}: and 1 more lines that are none of an index"] * (count - 10)


def test_lines_that_are_there_twice_are_in_order(tmp_path: Path) -> None:
    """As of captures of one second."""
    one, merged = tmp_path / "one.cdxj", tmp_path / "all"
    one.write_bytes(LINE % (1, 1) * 2 + LINE % (2, 2))
    assert main(["index", "--merge", str(merged), str(one), str(one)]) == GOOD
    assert merged.read_bytes() == LINE % (1, 1) * 4 + LINE % (2, 2) * 2
