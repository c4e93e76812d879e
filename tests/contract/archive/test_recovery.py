"""Recovery meets journals and files that no crash of ours leaves behind: nothing is lost, nothing broken made."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import wait
from pathlib import Path

import pytest

from archive import Reader, Recovery, RevisitTarget, WarcWriter, WriterConfig, recover
from archive.tools.verify import verify
from archive.writing.journal import MAGIC, encode
from archive.writing.packing import freeze
from tests.unit.archive.pages import page

PAGES = 12


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What a writer that died leaves: its ``.open`` file with some of its pages, and its journal."""
    alive = tmp_path / "alive"
    with WarcWriter(alive, "crawl", config=WriterConfig(pack_bytes=6000, open_packs=1, reserve_bytes=0)) as writer:
        for number in range(PAGES):
            writer.write(page(number), f"t{number}")
        writer.sync()
        writer.settle([f"t{number}" for number in range(PAGES - 1)])
        wait(set(writer._running))
        writer.sync()
        shutil.copytree(alive, tmp_path / "dead")
    return tmp_path / "dead"


def the(folder: Path, pattern: str) -> Path:
    (path,) = folder.glob(pattern)
    return path


def recovered(folder: Path) -> Recovery:
    return recover(folder, lambda tokens: tokens)


def urls(folder: Path) -> list[str]:
    files = sorted(folder.glob("*.warc.xz"))
    assert [problem for path in files for problem in verify(path)] == []
    return sorted(record.url for path in files for record in Reader(path, types=["response"]))


def test_a_whole_one_is_finished(folder: Path) -> None:
    result = recovered(folder)
    assert (result.damage, len(result.finished)) == ([], 1)
    assert urls(folder) == sorted(page(number).url for number in range(PAGES))


def test_one_that_only_lacks_its_name_gets_it(tmp_path: Path) -> None:
    alive, dead = tmp_path / "alive", tmp_path / "dead"
    with WarcWriter(alive, "crawl", config=WriterConfig(pack_bytes=1, reserve_bytes=0)) as writer:
        writer.write(page(1))
        wait(set(writer._running))
        writer.sync()
        shutil.copytree(alive, dead)
    assert recovered(dead).damage == []
    assert urls(dead) == [page(1).url]


def test_one_that_has_its_name_already_is_not_missed(folder: Path) -> None:
    """Killed before the journal said so."""
    path = the(folder, "*.open")
    path.rename(path.with_suffix(""))
    assert recovered(folder).damage == []
    assert len(urls(folder)) == PAGES


@pytest.mark.parametrize("left", [0, 100])
def test_a_file_cut_short_is_told_and_never_filled_up(folder: Path, left: int) -> None:
    path = the(folder, "*.open")
    whole = path.stat().st_size
    cut = path.read_bytes()[:left]
    path.write_bytes(cut)
    result = recovered(folder)
    assert [(one.path, one.offset, one.lost_bytes) for one in result.damage] == [(str(path), left, whole - left)]
    assert path.read_bytes() == cut
    found = urls(folder)
    assert len(found) == result.kept > 0
    assert set(found) < {page(number).url for number in range(PAGES)}


@pytest.mark.parametrize(
    "text",
    [MAGIC.replace(b"2", b"1") + b"whatever stands in it", b"no journal at all\n" * 9, MAGIC.replace(b"2", b"20")],
)
def test_a_journal_that_cannot_be_read_is_left_alone(folder: Path, text: bytes) -> None:
    path = the(folder, "*.journal")
    path.write_bytes(text)
    before = {one.name: one.read_bytes() for one in folder.iterdir()}
    for _ in range(2):  # nor is it kept locked
        result = recovered(folder)
        assert ([one.path for one in result.damage], result.busy) == ([str(path)], [])
        assert {one.name: one.read_bytes() for one in folder.iterdir()} == before


def test_a_journal_whose_first_frame_is_overwritten_is_told_and_left_alone(folder: Path) -> None:
    """By that frame's marker all others are known: the journal was taken for one of a writer that died at once."""
    path = the(folder, "*.journal")
    stored = bytearray(path.read_bytes())
    stored[len(MAGIC) : len(MAGIC) + 20] = b"twenty bytes of text"
    path.write_bytes(stored)
    assert [one.path for one in recovered(folder).damage] == [str(path)]
    assert path.read_bytes() == stored


def test_one_that_cannot_be_opened_does_not_keep_others_from_being_finished(folder: Path) -> None:
    (folder / "a.journal").mkdir()
    result = recovered(folder)
    assert [one.path for one in result.damage] == [str(folder / "a.journal")]
    assert len(urls(folder)) == PAGES


def test_a_writer_that_lives_does_not_keep_others_from_being_finished(folder: Path) -> None:
    with WarcWriter(folder, "a", config=WriterConfig(reserve_bytes=0)):
        result = recovered(folder)
    assert [path.name[0] for path in result.busy] == ["a"]
    assert len(urls(folder)) == PAGES


NOT_OURS = [
    (b"G", ("x", "", "h", b"", 1)),
    (b"G", (900, 7, "h", b"", 1)),
    (b"G", (900, "", "h")),
    (b"G", (900, "", "h", b"no exchange", 1)),
    (b"G", (900, "", "h", freeze(page(0)).replace(page(0).url.encode(), b"\xff" * len(page(0).url)), 1)),
    (b"S", ([[1]], [])),
    (b"P", ("x", -1, [])),
    (b"F", (1, 1)),
    (b"I", ("x",)),
    (b"Z", ()),
]


@pytest.mark.parametrize("frame", NOT_OURS, ids=[f"{kind.decode()}{n}" for n, (kind, _) in enumerate(NOT_OURS)])
def test_a_frame_with_a_right_checksum_that_says_nothing_is_told_and_the_rest_kept(
    folder: Path, frame: tuple[bytes, tuple[object, ...]]
) -> None:
    path = the(folder, "*.journal")
    stored = path.read_bytes()
    mark = stored[len(MAGIC) :][:8]
    path.write_bytes(stored + b"".join([*encode(mark, *frame), *encode(mark, b"S", ([], []))]))
    result = recovered(folder)
    assert [one.path for one in result.damage] == [str(path)]
    assert urls(folder) == sorted(page(number).url for number in range(PAGES))


@pytest.mark.parametrize("settings", [{"pack_bytes": "many"}, {"compression": "rar"}])
def test_a_journal_whose_settings_mean_nothing_does_not_keep_others_from_being_finished(
    folder: Path, settings: dict[str, object]
) -> None:
    path = folder / "a.journal"
    mark, group = b"drawn...", (1, "", "h", freeze(page(0)), 1)
    path.write_bytes(MAGIC + b"".join([*encode(mark, b"I", (settings,)), *encode(mark, b"G", group)]))
    before = path.read_bytes()
    result = recovered(folder)
    assert [one.path for one in result.damage] == [str(path)]
    assert path.read_bytes().startswith(before)
    assert len(urls(folder)) == PAGES
    again = recovered(folder)
    assert ([one.path for one in again.damage], again.kept) == ([str(path)], 0)


def test_what_the_one_who_is_asked_raises_is_no_damage(folder: Path) -> None:
    def fails(_tokens: Sequence[str]) -> Collection[str]:
        raise ValueError("not now")

    with pytest.raises(ValueError, match="not now"):
        recover(folder, fails)
    assert recovered(folder).damage == []
    assert len(urls(folder)) == PAGES


def test_the_trace_of_a_writer_that_died_at_once_goes(tmp_path: Path) -> None:
    for size in (0, 7, len(MAGIC), len(MAGIC) + 20):
        (tmp_path / f"{size}.journal").write_bytes((MAGIC + b"drawn...I" + b"x" * 40)[:size])
    assert recovered(tmp_path).damage == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["xz", "gz", "zst", "none"])
def test_a_file_goes_on_as_it_began_where_the_settings_are_lost(kind: str, tmp_path: Path) -> None:
    """What was left was put as xz behind what was of another kind, where nothing reads it."""
    alive, dead = tmp_path / "alive", tmp_path / "dead"
    config = WriterConfig(pack_bytes=6000, open_packs=1, reserve_bytes=0)
    with WarcWriter(alive, "crawl", kind, config=config) as writer:
        for number in range(PAGES):
            writer.write(page(number))
        wait(set(writer._running))
        writer.sync()
        shutil.copytree(alive, dead)
        assert writer._accepted
    journal = the(dead, "*.journal")
    stored = bytearray(journal.read_bytes())
    stored[stored.index(b"pack_bytes")] ^= 1
    journal.write_bytes(stored)
    result = recovered(dead)
    assert [one.path for one in result.damage] == [str(journal)]
    assert [problem for path in result.finished for problem in verify(path)] == []
    found = [record.url for path in result.finished for record in Reader(path, types=["response"])]
    assert sorted(found) == sorted(page(number).url for number in range(PAGES))


def test_others_are_told_of_no_record_that_a_kill_takes_away(tmp_path: Path) -> None:
    """Recovery wrote it anew, with another id than that to which others' repeats already referred."""
    alive, told = tmp_path / "alive", set[str]()

    def killed(targets: Mapping[str, RevisitTarget]) -> None:
        told.update(target.record_id for target in targets.values())
        shutil.copytree(alive, tmp_path / f"dead{len(told)}")

    config = WriterConfig(pack_bytes=1, reserve_bytes=0, remember=killed)
    with WarcWriter(alive, "crawl", config=config) as writer:
        for number in range(3):
            writer.write(page(number))
            writer.sync()
            wait(set(writer._running))
    assert len(told) == 3
    for dead in tmp_path.glob("dead*"):
        recovered(dead)
        ids = {record.id for path in dead.glob("*.warc.xz") for record in Reader(path)}
        assert len(ids & told) == int(dead.name.removeprefix("dead"))


def test_a_file_is_finished_with_the_dictionary_with_which_it_began(tmp_path: Path) -> None:
    """Learnt from the writer's first pack, or given."""
    learnt = b""
    for name in ("learnt", "given"):
        config = WriterConfig(pack_bytes=20_000, open_packs=1, reserve_bytes=0, dictionary=learnt)
        with WarcWriter(tmp_path / "alive" / name, "crawl", "zst", config=config) as writer:
            for number in range(60):
                writer.write(page(number))
            wait(set(writer._running))
            writer.sync()
            shutil.copytree(writer.folder, tmp_path / name)
            kept = {group.ident for group in writer._accepted.values()}
        assert 0 < len(kept) < 60, "some of it is in the file, and some in the journal"
        (path,) = recovered(tmp_path / name).finished
        with Reader(path, types=["response"]) as reader:
            assert len(list(reader)) == 60
            assert (reader.damages, reader.dictionary) == ([], learnt or reader.dictionary)
            learnt = reader.dictionary
            assert learnt
