"""What every kind of file promises: what is written is read back, whatever way the writer is used."""

from __future__ import annotations

import contextlib
import errno
import io
import itertools
import lzma
import os
import re
import resource
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future, wait
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from fastwarc.warc import ArchiveIterator as FastIterator
from warcio.archiveiterator import ArchiveIterator

from archive import (
    ArchiveFull,
    Exchange,
    Reader,
    RevisitTarget,
    WarcWriter,
    WriterClosed,
    WriterConfig,
    record_at,
    recover,
)
from archive.index.cdxj import SUFFIX, IndexBuilder, index_file, lookup, parse
from archive.index.surt import surt
from archive.storage.warcfile import OpenFile, finished_in
from archive.tools.convert import convert, plain_digest
from archive.tools.verify import verify
from archive.writing.packing import Job
from archive.writing.seen import SeenPayloads
from tests.unit.archive.pages import page

KINDS = ("xz", "gz", "zst", "none")
SMALL = WriterConfig(pack_bytes=20_000, open_packs=3, reserve_bytes=0)
NAME = re.compile(r"crawl-\d{17}-\d{5}-[A-Za-z0-9._]+-\d+\.warc(\.(gz|xz|zst))?")

pytestmark = pytest.mark.parametrize("kind", KINDS)


def plain(path: Path) -> bytes:
    with Reader(path) as reader:
        parts: list[bytes] = []
        for record in reader:
            parts += [reader.gap, record.raw_head, record.block()]
        assert reader.damages == []
        return b"".join([*parts, reader.gap])


def settle_all(writer: WarcWriter, pages: Sequence[Exchange], batch: int = 10) -> None:
    for start in range(0, len(pages), batch):
        tokens = [f"t{start + n}" for n in range(len(pages[start : start + batch]))]
        for token, exchange in zip(tokens, pages[start : start + batch], strict=True):
            writer.write(exchange, token)
        writer.sync()
        writer.settle(tokens)


def test_what_is_written_is_read(tmp_path: Path, kind: str) -> None:
    pages = [page(number) for number in range(60)]
    info = {"software": "test", "robots": "obey"}
    with WarcWriter(tmp_path, "crawl", kind, config=replace(SMALL, warcinfo=info)) as writer:
        settle_all(writer, pages)
    (path,) = writer.finished
    size = path.stat().st_size
    assert 0.9 * size < writer.written_bytes <= size  # what stands in front of the records is not counted
    assert NAME.fullmatch(path.name)
    assert sorted(tmp_path.iterdir()) == [path, path.with_name(path.name + ".cdxj")]
    assert verify(path) == []
    records = list(Reader(path))
    assert records[0].type == "warcinfo"
    assert records[0].field("WARC-Filename") == path.name
    assert records[0].block() == b"software: test\r\nrobots: obey\r\n"
    bodies = {record.url: record.body() for record in records if record.type == "response"}
    assert bodies == {exchange.url: exchange.payload for exchange in pages}
    data = plain(path)
    assert len(list(ArchiveIterator(io.BytesIO(data), check_digests="raise"))) == len(records) == 181
    assert sum(1 for _ in FastIterator(io.BytesIO(data), verify_digests=True)) == 181
    if kind == "xz":
        assert lzma.decompress(path.read_bytes()) == data


def test_index_finds_every_capture(tmp_path: Path, kind: str) -> None:
    pages = [page(number) for number in range(45)]
    with WarcWriter(tmp_path, "crawl", kind, config=SMALL) as writer:
        settle_all(writer, pages)
    (path,) = writer.finished
    index = path.with_name(path.name + ".cdxj")
    lines = index.read_bytes().splitlines(keepends=True)
    assert lines == sorted(lines)
    assert len(lines) == 45
    for exchange in pages:
        (row,) = lookup(index, exchange.url)
        assert row["url"] == exchange.url
        assert row["urlkey"] == surt(exchange.url)
        assert row["languages"] == "zul,eng"
        assert (row["status"], row["mime"], row["filename"]) == ("200", "text/html", path.name)
        reader, record = record_at(path, int(row["offset"]), int(row.get("inner_offset", 0)))
        with reader:
            assert record.payload() == exchange.payload
            size = len(record.raw_head) + record.length + 4
            assert kind == "zst" or int(row.get("inner_length", size)) == size
    assert lookup(index, "http://host9.example/") == []
    assert parse(lines[0])["url"].startswith("http://host0")


def test_index_has_the_flags_of_quality(tmp_path: Path, kind: str) -> None:
    """Whichever unit the metadata record lies in, in the index of the writer and in one made of the file."""
    said = [["machine", "list"], [], ["religious"], "high", [1], 5, ["near_duplicate"]]
    large = os.urandom(SMALL.pack_bytes * 2)
    pages = [page(n, metadata={"quality": flags}, payload=large[n:]) for n, flags in enumerate(said)]
    pages += [page(n + 10, metadata={"quality": flags}) for n, flags in enumerate(said)]
    with WarcWriter(tmp_path, "crawl", kind, config=SMALL) as writer:
        settle_all(writer, [*pages, page(30, request_bytes=b"", metadata={"quality": ["list"]}), page(31)])
    (path,) = writer.finished
    index = path.with_name(path.name + ".cdxj")
    found = [[row.get("quality") for row in lookup(index, exchange.url)] for exchange in pages]
    assert found == [["list,machine"], [None], ["religious"], [None], [None], [None], ["near_duplicate"]] * 2
    assert [row.get("quality") for n in (30, 31) for row in lookup(index, page(n).url)] == ["list", None]
    assert verify(path) == []
    assert index_file(path, tmp_path / "again") == []
    assert (tmp_path / "again").read_bytes() == index.read_bytes()


def test_warcio_reads_gz_members_by_the_index(tmp_path: Path, kind: str) -> None:
    if kind not in ("gz", "none"):
        pytest.skip("replay tools read gz and plain files")
    with WarcWriter(tmp_path, "crawl", kind, config=SMALL) as writer:
        settle_all(writer, [page(number) for number in range(9)])
    (path,) = writer.finished
    for line in path.with_name(path.name + ".cdxj").read_bytes().splitlines():
        row = parse(line)
        with path.open("rb") as file:
            file.seek(int(row["offset"]))
            part = file.read(int(row["length"]))
        records = list(ArchiveIterator(io.BytesIO(part)))
        assert [record.rec_headers.get_header("WARC-Target-URI") for record in records] == [row["url"]]


class Clock:
    """Stands still until it is set."""

    now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


def test_rotation_by_size_and_age(tmp_path: Path, kind: str) -> None:
    clock = Clock()
    pages = [page(number, payload=os.urandom(3000)) for number in range(60)]
    with WarcWriter(tmp_path / "size", "crawl", kind, 40_000, SMALL) as writer:
        settle_all(writer, pages)
    assert len(writer.finished) > 3
    assert sum(record.type == "response" for path in writer.finished for record in Reader(path)) == 60
    with WarcWriter(tmp_path / "age", "crawl", kind, config=replace(SMALL, max_age_s=60, clock=clock)) as writer:
        for start in range(0, 60, 20):
            settle_all(writer, pages[start : start + 20])
            clock.now += timedelta(seconds=61)
    assert len(writer.finished) > 1


def test_what_is_old_is_in_a_closed_file_however_little_comes(tmp_path: Path, kind: str) -> None:
    clock = Clock()
    config = WriterConfig(reserve_bytes=0, max_age_s=60, clock=clock)
    closed: list[list[str]] = []
    with WarcWriter(tmp_path, "crawl", kind, config=config) as writer:
        for number in range(5):
            writer.write(page(number), f"t{number}")
            writer.sync()
            writer.settle([f"t{number}"])
            closed.append([r.url for path in writer.finished for r in Reader(path, types=["response"])])
            clock.now += timedelta(seconds=40)
    urls = [page(number).url for number in range(5)]
    assert closed == [[], [], urls[:2], urls[:2], urls[:4]]
    assert sorted(r.url for path in writer.finished for r in Reader(path, types=["response"])) == sorted(urls)


def test_a_file_whose_rename_fails_keeps_its_index(tmp_path: Path, kind: str) -> None:
    failures = [OSError(5, "once")]

    def step(name: str) -> None:
        if name == "finish-rename" and failures:
            raise failures.pop()

    seconds = itertools.count()

    def clock() -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=next(seconds))

    config = WriterConfig(reserve_bytes=0, max_age_s=1, clock=clock, step=step)
    with WarcWriter(tmp_path, "crawl", kind, config=config) as writer:
        writer.write(page(1), "t1")
        writer.settle(["t1"])
        with pytest.raises(OSError, match="once"):
            writer.sync()
        writer.sync()
    (path,) = writer.finished
    assert page(1).url in path.with_name(path.name + SUFFIX).read_text()


def test_rejected_and_unsettled_pages(tmp_path: Path, kind: str) -> None:
    writer = WarcWriter(tmp_path, "crawl", kind, config=SMALL)
    for number in range(6):
        writer.write(page(number), f"t{number}")
    writer.write(page(6))
    writer.sync()
    writer.settle(["t0", "t1", "unknown"], ["t2", "t9"])
    writer.close()
    assert len(list(tmp_path.glob("*.journal"))) == 1
    asked: list[str] = []

    def accepted(tokens: Sequence[str]) -> Collection[str]:
        asked.extend(tokens)
        return ["t4"]

    result = recover(tmp_path, accepted)
    assert sorted(asked) == ["t3", "t4", "t5"]
    assert (result.kept, result.dropped, result.busy, result.damage) == (1, 2, [], [])
    urls = {
        r.url for path in tmp_path.glob("*.warc*") if path.suffix != ".cdxj" for r in Reader(path, types=["response"])
    }
    assert urls == {page(number).url for number in (0, 1, 4, 6)}
    assert not list(tmp_path.glob("*.journal"))
    with pytest.raises(WriterClosed):
        writer.write(page(1))
    with pytest.raises(WriterClosed):
        writer.sync()
    with pytest.raises(WriterClosed):
        writer.settle(["t3"])


def test_pages_wait_for_others_of_their_host(tmp_path: Path, kind: str) -> None:
    """As many as fill the packs that may be open; these are 9 KB each in packs of 20."""
    with WarcWriter(tmp_path, "crawl", kind, config=SMALL) as writer:
        for number in range(6):
            writer.write(page(number, url=f"http://host{number}.example/", payload=os.urandom(7500)))
            wait(set(writer._running))
        assert not list(tmp_path.glob("*.open"))
        writer.write(page(7, payload=os.urandom(7500)))
        wait(set(writer._running))
        assert list(tmp_path.glob("*.open"))


def test_a_live_writer_is_left_alone(tmp_path: Path, kind: str) -> None:
    with WarcWriter(tmp_path, "crawl", kind, config=SMALL) as writer:
        settle_all(writer, [page(number) for number in range(30)])
        result = recover(tmp_path, lambda tokens: tokens)
        assert len(result.busy) == 1
        assert result.finished == []
    assert verify(writer.finished[0]) == []


def test_repeats_become_revisits_of_archived_records(tmp_path: Path, kind: str) -> None:
    told: dict[str, RevisitTarget] = {}
    config = replace(SMALL, remember=told.update, seen_capacity=2)
    same = b"<html>" + b"the same page " * 100
    with WarcWriter(tmp_path, "crawl", kind, config=config) as writer:
        settle_all(
            writer,
            [page(1, payload=same), page(4, payload=same), page(7, payload=b"short"), page(10, payload=b"short")],
        )
    kinds = [record.type for record in Reader(writer.finished[0]) if record.type in ("response", "revisit")]
    assert sorted(kinds) == ["response", "response", "response", "revisit"]
    assert [target.url for target in told.values()] == [page(1).url]
    fleet = replace(SMALL, seen=lambda asked: {one: told[one] for one in asked if one in told})
    with WarcWriter(tmp_path, "crawl", kind, config=fleet) as writer:
        settle_all(writer, [page(2, payload=same)])
    (revisit,) = Reader(writer.finished[0], types=["revisit"])
    assert revisit.field("WARC-Refers-To-Target-URI") == page(1).url
    assert verify(writer.finished[0]) == []


def test_the_fleet_is_asked_and_told_once_a_pack(tmp_path: Path, kind: str) -> None:
    """A round trip a page would make a slow network to Redis the pace of the crawl, and of its end."""
    asked: list[int] = []
    told: list[int] = []

    def seen(checksums: Collection[str]) -> dict[str, RevisitTarget]:
        asked.append(len(checksums))
        return {}

    config = replace(SMALL, pack_bytes=1 << 20, seen=seen, remember=lambda targets: told.append(len(targets)))
    with WarcWriter(tmp_path, "crawl", kind, config=config) as writer:
        settle_all(writer, [page(number, payload=b"%d" % number * 300) for number in range(40)])
    assert (asked, told) == ([40], [40])


def test_convert_there_and_back(tmp_path: Path, kind: str) -> None:
    with WarcWriter(tmp_path, "crawl", kind, config=SMALL) as writer:
        settle_all(writer, [page(number) for number in range(40)])
    (path,) = writer.finished
    data = plain(path)
    digest = plain_digest(path)
    for other in KINDS:
        copy = convert(path, tmp_path / f"copy.warc{'' if other == 'none' else '.' + other}", pack_bytes=15_000)
        assert plain_digest(copy) == digest
        assert verify(copy) == []
        back = convert(copy, tmp_path / f"back.warc{'' if kind == 'none' else '.' + kind}")
        assert plain(back) == data
        if kind in ("gz", "none"):
            assert back.read_bytes() == path.read_bytes()


def test_large_records_stream(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is lowered: the same code runs for records of gigabytes."""
    monkeypatch.setattr("archive.reading.reader._IN_MEMORY", 50_000)
    monkeypatch.setattr("archive.tools.sink._LEARN_BYTES", 60_000)
    monkeypatch.setattr("archive.storage.unpack._WHOLE", 30_000)
    large = os.urandom(400_000)
    chunks = page(3, payload=b"%x\r\n%b\r\n0\r\n\r\n" % (len(large) - 1, large[1:]), dechunked=False)
    with WarcWriter(tmp_path, "crawl", kind, config=SMALL) as writer:
        settle_all(writer, [page(0), page(1, payload=large), page(2), chunks])
    (path,) = writer.finished
    assert verify(path) == []
    sizes = []
    for record in Reader(path, types=["response"]):
        sizes.append(sum(len(piece) for piece in record.pieces()))
        assert record.in_memory == (record.length < 50_000)
        assert record.damage is None
    assert len(sizes) == 4
    copy = convert(path, tmp_path / "copy.warc.xz", pack_bytes=20_000)
    assert plain_digest(copy) == plain_digest(path)
    assert [r.body() for r in Reader(copy, types=["response"]) if r.url == page(1).url] == [large]


class Device:
    """A folder that has room for so many bytes; writes come through in part before they fail."""

    def __init__(self, folder: Path, room: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.room = room
        self._folder = folder
        self._writev = os.writev
        self._lock = threading.Lock()
        monkeypatch.setattr(os, "writev", self.write)

    def write(self, descriptor: int, parts: Any) -> int:
        with self._lock:
            data = b"".join(parts)
            free = self.room - sum(self._sizes())
            if free <= 0:
                raise OSError(28, "No space left on device")
            part = data[: min(free, 1 + len(data) // 2 if len(data) > 4000 else len(data))]
            return self._writev(descriptor, [part])

    def _sizes(self) -> Iterator[int]:
        for entry in os.scandir(self._folder):
            with contextlib.suppress(FileNotFoundError):
                yield entry.stat().st_size if not entry.name.endswith(".cdxj") else 0


@pytest.mark.parametrize("journal_bytes", [1, 1 << 30])
@pytest.mark.parametrize("room", [3_000, 20_000, 60_000, 100_000])
def test_disk_full(tmp_path: Path, kind: str, room: int, journal_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    device = Device(tmp_path, room, monkeypatch)
    opened = len(list(Path("/proc/self/fd").iterdir()))
    pages = [page(number, payload=os.urandom(2500)) for number in range(40)]
    writer = WarcWriter(tmp_path, "crawl", kind, 30_000, replace(SMALL, journal_bytes=journal_bytes))
    full = 0
    for number, exchange in enumerate(pages):
        writer.write(exchange, f"t{number}")
        full += sync_until_room(writer, device)
        writer.settle([f"t{number}"])
    full += sync_until_room(writer, device)
    device.room = 1 << 30
    writer.close()
    assert full
    found = [r.body() for path in writer.finished for r in Reader(path, types=["response"])]
    assert len(found) == len(pages)
    assert set(found) == {exchange.payload for exchange in pages}
    assert [problem for path in writer.finished for problem in verify(path)] == []
    names = [path.name for path in writer.finished]
    assert {path.name for path in tmp_path.iterdir()} == {*names, *(name + SUFFIX for name in names)}
    assert len(list(Path("/proc/self/fd").iterdir())) <= opened


def sync_until_room(writer: WarcWriter, device: Device) -> int:
    for attempt in range(100):
        try:
            writer.sync()
            return attempt
        except ArchiveFull as error:
            assert "archive is full" in str(error)  # noqa: PT017
            device.room += 10_000
    raise AssertionError("sync never got through")


def test_disk_full_at_close_is_finished_later(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        device = Device(tmp_path, 1 << 30, patch)
        writer = WarcWriter(tmp_path, "crawl", kind, config=SMALL)
        settle_all(writer, [page(number) for number in range(30)])
        writer.sync()
        device.room = 0
        with pytest.raises(ArchiveFull):
            writer.close()
    result = recover(tmp_path, lambda tokens: tokens)
    assert len([r for path in result.finished for r in Reader(path, types=["response"])]) == 30
    assert [problem for path in result.finished for problem in verify(path)] == []


@pytest.mark.parametrize("what", ["*.open", "*.journal"])
def test_what_was_written_in_part_and_could_not_be_taken_back_is_so_later(
    tmp_path: Path, kind: str, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pack behind it was noted at a wrong place, and its end was cut off by the recovery, with the records there."""
    pages = [page(number, payload=os.urandom(20_000)) for number in range(4)]
    writer = WarcWriter(tmp_path, "crawl", kind, config=replace(SMALL, pack_bytes=1))
    settle_all(writer, pages[:1])
    wait(set(writer._running))
    (path,) = tmp_path.glob(what)
    write, room = os.writev, 1

    def full(descriptor: int, parts: Sequence[bytes]) -> int:
        nonlocal room
        if not os.path.samestat(os.fstat(descriptor), path.stat()):
            return write(descriptor, parts)
        if not room:
            raise OSError(errno.ENOSPC, "full")
        room = 0
        return write(descriptor, [bytes(parts[0])[:10]])

    def no_room(*_: object) -> None:
        raise OSError(errno.ENOSPC, "full")

    with monkeypatch.context() as patch:
        patch.setattr(os, "writev", full)
        patch.setattr(os, "ftruncate", no_room)  # some file systems need room to give room back
        writer.write(pages[1], "t1")
        with contextlib.suppress(ArchiveFull):
            writer.sync()
        writer.settle(["t1"])
        wait(set(writer._running))
        with pytest.raises(ArchiveFull):
            writer.sync()
    assert not room
    writer.sync()
    settle_all(writer, pages[2:])
    wait(set(writer._running))
    writer.sync()
    shutil.copytree(tmp_path, tmp_path / "killed")
    writer.close()
    assert recover(tmp_path / "killed", lambda tokens: tokens).damage == []
    for folder in (tmp_path, tmp_path / "killed"):
        found = [r.body() for path in finished_in(folder) for r in Reader(path, types=["response"])]
        assert sorted(found) == sorted(exchange.payload for exchange in pages)
        assert [problem for path in finished_in(folder) for problem in verify(path)] == []


def test_a_full_device_hides_no_fault(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fault would be forgotten when there is room, and the journal taken away with the pages of that pack."""
    pages = [page(number, payload=os.urandom(20_000)) for number in range(2)]
    faults = [ValueError("once")]

    def build(job: Job, config: WriterConfig, seen: SeenPayloads) -> None:
        if faults:
            raise faults.pop()
        built(job, config, seen)

    built = Job.build
    writer = WarcWriter(tmp_path, "crawl", kind, config=replace(SMALL, reserve_bytes=0))
    with monkeypatch.context() as patch:
        patch.setattr(Job, "build", build)
        patch.setattr(OpenFile, "append", failing(lambda _: True, OpenFile.append, ArchiveFull("x", 0, 0, "full")))
        for number, exchange in enumerate(pages):
            writer.write(exchange, f"t{number}")
        writer.sync()
        writer.settle(["t0", "t1"])
        wait(set(writer._running))
    with pytest.raises(ValueError, match="once"):
        writer.sync()
    with pytest.raises(ValueError, match="once"):
        writer.close()
    recover(tmp_path, lambda tokens: tokens)
    found = [r.body() for path in finished_in(tmp_path) for r in Reader(path, types=["response"])]
    assert sorted(found) == sorted(exchange.payload for exchange in pages)


def test_a_fault_while_a_pack_is_tried_again_loses_no_other(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def remember(_told: object) -> None:
        raise LookupError("the fleet is away")

    pages = [page(number, payload=os.urandom(20_000)) for number in range(2)]
    writer = WarcWriter(tmp_path, "crawl", kind, config=replace(SMALL, remember=remember))
    for number, exchange in enumerate(pages):
        writer.write(exchange, f"t{number}")
    writer.sync()
    with monkeypatch.context() as patch:
        patch.setattr(OpenFile, "append", failing(lambda _: True, OpenFile.append, ArchiveFull("x", 0, 0, "full")))
        writer.settle(["t0", "t1"])
        wait(set(writer._running))
    for action in (writer.sync, writer.close):
        with pytest.raises(LookupError):
            action()
    recover(tmp_path, lambda tokens: tokens)
    found = [r.body() for path in finished_in(tmp_path) for r in Reader(path, types=["response"])]
    assert sorted(found) == sorted(exchange.payload for exchange in pages)


@pytest.mark.parametrize("unsettled", [0, 1])
def test_where_no_thread_can_be_started_the_journal_stays(
    tmp_path: Path, kind: str, unsettled: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = {f"t{number}": page(number, payload=os.urandom(20_000)) for number in range(4)}
    writer = WarcWriter(tmp_path, "crawl", kind, config=SMALL)
    for token, exchange in pages.items():
        writer.write(exchange, token)
    writer.sync()
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", failing(lambda _: True, threading.Thread.start, RuntimeError("none")))
        with pytest.raises(RuntimeError, match="none"):
            writer.settle(list(pages)[unsettled:])
    writer.close()
    recover(tmp_path, lambda tokens: tokens)
    found = [r.url for path in finished_in(tmp_path) for r in Reader(path, types=["response"])]
    assert sorted(found) == sorted(one.url for one in pages.values())


@pytest.mark.parametrize("name", [".journal-new", ".open", ".cdxj-new", "rename"])
def test_no_room_for_a_name(tmp_path: Path, kind: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder may need room for one more; or no inode is left."""
    pages = [page(number, payload=os.urandom(2500)) for number in range(30)]
    writer = WarcWriter(tmp_path, "crawl", kind, 30_000, replace(SMALL, journal_bytes=1))
    full = OSError(28, "No space left on device")
    with monkeypatch.context() as patch:
        if name == "rename":
            patch.setattr(Path, "rename", failing(lambda *_: True, Path.rename, full))
        elif name == ".cdxj-new":
            patch.setattr(Path, "open", failing(lambda path: path.name.endswith(name), Path.open, full))
        else:
            patch.setattr(os, "open", failing(lambda path: str(path).endswith(name), os.open, full))
        for number, exchange in enumerate(pages):
            writer.write(exchange, f"t{number}")
        with pytest.raises(ArchiveFull):  # noqa: PT012
            writer.sync()
            writer.settle([f"t{number}" for number in range(29)])
            writer.close()
    with contextlib.suppress(WriterClosed):
        writer.sync()
        writer.settle([f"t{number}" for number in range(30)])
    writer.close()
    recover(tmp_path, lambda tokens: tokens)
    files = finished_in(tmp_path)
    found = [r.body() for path in files for r in Reader(path, types=["response"])]
    assert sorted(found) == sorted(exchange.payload for exchange in pages)
    assert [problem for path in files for problem in verify(path)] == []


def failing(when: Callable[..., bool], action: Callable[..., Any], error: Exception) -> Callable[..., Any]:
    def act(path: Any, *arguments: Any, **named: Any) -> Any:
        if when(path):
            raise error
        return action(path, *arguments, **named)

    return act


def test_no_room_for_temporary_files_ends_no_writer(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What an index has too much for memory goes there; without them it stays."""
    monkeypatch.setattr(IndexBuilder.__init__, "__defaults__", (3,))
    monkeypatch.setattr("tempfile.TemporaryFile", lambda: Path("/dev/full").open("w+b"))  # noqa: SIM115
    writer = WarcWriter(tmp_path, "crawl", kind, config=SMALL)
    settle_all(writer, [page(number) for number in range(30)])
    writer.close()
    assert [problem for path in writer.finished for problem in verify(path)] == []
    assert len([r for path in writer.finished for r in Reader(path, types=["response"])]) == 30


def test_an_index_is_whole_whenever_there_is_room_for_temporary_files(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [b"%s %02d\n" % (kind.encode(), number) for number in range(30)]
    builder = IndexBuilder(4)
    for number, line in enumerate(reversed(lines)):
        with monkeypatch.context() as patch:
            if number < 10:
                patch.setattr("tempfile.TemporaryFile", lambda: Path("/dev/full").open("w+b"))  # noqa: SIM115
            builder.add(line)
        assert bool(builder._runs) == (number >= 11)
    assert list(builder.lines()) == lines
    builder.close()


def test_real_size_limit(tmp_path: Path, kind: str) -> None:
    """The kernel's own refusal (RLIMIT_FSIZE) is ArchiveFull, too."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    writer = WarcWriter(tmp_path, "crawl", kind, config=SMALL)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8_000, hard))
    try:
        with pytest.raises(ArchiveFull):
            settle_all(writer, [page(number, payload=os.urandom(3000)) for number in range(10)], batch=2)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    writer.sync()
    writer.close()
    assert all(verify(path) == [] for path in writer.finished)


def test_reserve_pauses_before_the_disk_is_full(tmp_path: Path, kind: str) -> None:
    writer = WarcWriter(tmp_path, "crawl", kind, config=replace(SMALL, reserve_bytes=1 << 60))
    writer.write(page(1))
    with pytest.raises(ArchiveFull, match="reserve"):
        writer.sync()
    writer.close()
    assert len(list(Reader(writer.finished[0]))) == 4


def test_a_fault_of_ours_is_not_swallowed(tmp_path: Path, kind: str) -> None:
    def seen(_checksums: Collection[str]) -> dict[str, RevisitTarget]:
        raise LookupError("the fleet is away")

    writer = WarcWriter(tmp_path, "crawl", kind, config=replace(SMALL, seen=seen))
    writer.write(page(1, payload=b"x" * 30_000))
    wait(set(writer._running))
    with pytest.raises(LookupError):
        writer.write(page(2))
    with pytest.raises(LookupError):
        writer.close()
    with pytest.raises(WriterClosed):
        writer.write(page(2))
    assert recover(tmp_path, lambda tokens: tokens).kept == 1


def test_a_fault_is_not_swallowed_either_when_its_thread_is_slow_to_tell(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the file is finished without the pack, and the journal that has its pages is taken away."""
    told, real = threading.Event(), WarcWriter._done

    def late(writer: WarcWriter, future: Future[None]) -> None:
        if threading.current_thread() is not threading.main_thread():
            told.wait(5)
        real(writer, future)

    def seen(_checksums: Collection[str]) -> dict[str, RevisitTarget]:
        raise LookupError("the fleet is away")

    monkeypatch.setattr(WarcWriter, "_done", late)
    writer = WarcWriter(tmp_path, "crawl", kind, config=replace(SMALL, seen=seen))
    writer.write(page(1, payload=b"x" * 30_000))
    threading.Timer(0.2, told.set).start()
    with pytest.raises(LookupError):
        writer.close()
    assert recover(tmp_path, lambda tokens: tokens).kept == 1


def test_command_reads_a_pipe(tmp_path: Path, kind: str) -> None:
    with WarcWriter(tmp_path, "crawl", kind, config=SMALL) as writer:
        settle_all(writer, [page(number) for number in range(3)])
    with writer.finished[0].open("rb") as file:
        done = subprocess.run(
            [sys.executable, "-m", "archive", "ls", "--json", "-"], stdin=file, stdout=subprocess.PIPE, check=True
        )
    assert len(done.stdout.splitlines()) == 10
