"""What ``scrapy why`` finds in an archive whose indexes and files somebody has damaged: all that is still there."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from archive import WarcWriter
from crawler.records.captures import captures, url_of_source
from frontier.payload import source_tag
from tests.unit.archive.pages import page

COUNT = 6
Damaged = Callable[[list[bytes]], bytes]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with WarcWriter(tmp_path / "warc", "a", compression="gz") as writer:
        for number in range(COUNT):
            writer.write(page(number), token=str(number))
        writer.settle([str(number) for number in range(COUNT)])
        writer.sync()
    return tmp_path / "warc"


def index_of(folder: Path) -> Path:
    (index,) = folder.glob("*.cdxj")
    return index


def found(folder: Path, number: int) -> tuple[int, list[str]]:
    """How many captures of a page are found, and what is told."""
    told: list[str] = []
    return len(captures(folder, page(number).url, told.append)), told


def test_a_sound_index_tells_nothing(folder: Path) -> None:
    assert [found(folder, number) for number in range(COUNT)] == [(1, [])] * COUNT
    assert captures(folder, page(0).url, print)[0].told


LINE = b'%s {"url": "u", "filename": "f", "offset": "0", "length": "1"}\n'


@pytest.mark.parametrize(
    "rest",
    [
        b"",
        b" ",
        b" 20260102030405",
        b" 20260102030405 {",
        b" 20260102030405 []",
        b" 20260102030405 {}",
        b" 20260102030405 " + b'{"a":' * 100_000,
        b' 20260102030405 {"url": "http://a/", "filename": "f"}',
        b' 20260102030405 {"url": "http://a/", "offset": "0"}',
        b' 20260102030405 {"url": "http://a/", "filename": "f", "offset": "-1"}',
        b' 20260102030405 {"url": "http://a/", "filename": "f", "offset": "' + b"9" * 5000 + b'"}',
        b' 20260102030405 {"url": "http://a/", "filename": "f", "offset": []}',
        b' 20260102030405 {"url": ["http://a/"], "filename": "f", "offset": "0"}',
        b' 20260102030405 {"url": "http://a/", "filename": 7.5e400, "offset": "0", "inner_offset": "x"}',
        b' 20260102030405 {"url": "http://a/", "filename": "a\\u0000", "offset": "0"}',
        b' yesterday {"url": "http://a/", "filename": "f", "offset": "0"}',
        b" \xff\xfe\x00",
    ],
)
def test_a_line_that_is_none_is_told_and_hides_no_other(folder: Path, rest: bytes) -> None:
    index = index_of(folder)
    lines = index.read_bytes().splitlines(keepends=True)
    key = lines[2].split(b" ")[0]
    index.write_bytes(b"".join(sorted([*lines, key + rest + b"\n"])))
    for number in range(COUNT):
        count, told = found(folder, number)
        assert count == 1
        assert all(f"{index} has a line that is none of an index: '" in line for line in told)
    assert sum(len(found(folder, number)[1]) for number in range(COUNT)) == bool(rest)


@pytest.mark.parametrize(
    ("damaged", "told"),
    [
        (lambda lines: b"".join(lines).replace(b"\n", b"\r\n"), ""),
        (lambda lines: b"\xef\xbb\xbf" + b"".join(lines), ""),
        (lambda lines: b"".join(lines).rstrip(b"\n"), ""),
        (lambda lines: b"".join(lines[::-1]), "is not sorted by bytes"),
        (lambda lines: b"".join(lines).replace(b'"length": "', b'"length": "x'), ""),
        (lambda lines: b"".join(lines).replace(b'"status": "200"', b'"status": 200'), ""),
        (lambda lines: b"".join(lines).replace(b'"offset": "', b'"offset": "9999999999999'), "has something else, or"),
        (lambda lines: b"".join(lines).replace(b'"filename": "', b'"filename": ".", "was": "'), "no regular file"),
        (lambda lines: b"".join(lines).replace(b'"filename": "', b'"filename": "\\ud800'), ""),
        (lambda lines: b"".join(lines).replace(b'"filename": "', b'"filename": "\xff'), ""),
    ],
)
def test_all_captures_are_found_in_an_odd_index(folder: Path, damaged: Damaged, told: str) -> None:
    index = index_of(folder)
    index.write_bytes(damaged(index.read_bytes().splitlines(keepends=True)))
    for number in range(COUNT):
        count, lines = found(folder, number)
        assert count == 1
        assert bool(lines) <= bool(told)
    assert not told or told in " ".join(found(folder, 0)[1] + found(folder, COUNT - 1)[1])


def test_what_cannot_be_read_as_an_index_hides_none_that_can(folder: Path) -> None:
    (folder / "a.cdxj").mkdir()
    os.mkfifo(folder / "b.cdxj")
    (folder / "c.cdxj").symlink_to("nowhere")
    (folder / "d.cdxj").write_bytes(os.urandom(10_000))
    count, told = found(folder, 0)
    assert count == 1
    assert told == [f"{folder / name}.cdxj: cannot be read: no regular file" for name in "abc"]


def test_a_file_without_an_index_is_told(folder: Path) -> None:
    index = index_of(folder)
    path = str(index).removesuffix(".cdxj")
    said = f"{path} has no index, so what is in it is not found; python -m archive index makes it"
    index.write_bytes(b"")
    assert found(folder, 0) == (0, [said])
    index.unlink()
    assert found(folder, 0) == (0, [said])


def test_the_url_of_a_source_is_found_behind_damage(folder: Path) -> None:
    index = index_of(folder)
    index.write_bytes(b'a {"url"\n' + index.read_bytes() + b"zz\n")
    told: list[str] = []
    url = page(4).url
    assert url_of_source(folder, source_tag(url), told.append) == url
    assert told == [
        f"{index} has a line that is none of an index: 'a {{\"url\"'; python -m archive index makes it anew"
    ]
