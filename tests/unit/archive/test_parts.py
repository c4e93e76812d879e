"""Small parts: bins, journal, headers, HTTP, ARC lines, sources, digests."""

import errno
import fcntl
import gc
import gzip
import io
import os
import random
import struct
import time
import tracemalloc
import weakref
import zlib
from collections.abc import Callable
from concurrent.futures import wait
from dataclasses import replace
from pathlib import Path
from typing import Any

import brotli
import pytest
import zstandard

from archive.errors import ArchiveFull, JournalBusy, JournalUnreadable
from archive.index.cdxj import IndexBuilder, file_lines, memory_record, parse
from archive.messages.digests import digest_holds, split_digest
from archive.messages.headers import Headers
from archive.messages.http import HttpHead, dechunk, decode, parse_head, unpacked
from archive.reading.arc import parse_line
from archive.reading.reader import Reader
from archive.storage.codecs import make_codec
from archive.storage.disk import write_all
from archive.storage.source import Source
from archive.storage.warcfile import OpenFile
from archive.tools.sink import Sink
from archive.tools.stats import Stats
from archive.writing.bins import Bins
from archive.writing.config import WriterConfig
from archive.writing.exchange import RevisitTarget
from archive.writing.journal import MAGIC, Group, Journal, load
from archive.writing.recovery import recover
from archive.writing.seen import SeenPayloads
from archive.writing.writer import WarcWriter
from tests.unit.archive.pages import page


def group(ident: int, host: str, size: int) -> Group:
    return Group(ident, f"t{ident}", host, b"x" * 10, size)


def test_bins_give_everything_once_and_group_hosts() -> None:
    rng = random.Random(1)
    bins = Bins(1000, 4000)
    out: list[list[Group]] = []
    for ident in range(500):
        due = bins.add(group(ident, f"h{rng.randrange(20)}", rng.randrange(10, 400)))
        assert bins.waiting_bytes <= 4000
        if due:
            out.append(due)
    out += bins.flush()
    assert sorted(one.ident for pack in out for one in pack) == list(range(500))
    assert bins.waiting_bytes == 0
    hosts = [len({one.host for one in pack}) for pack in out]
    assert sum(hosts) / len(hosts) < 5


def test_bins_give_what_is_due_and_nothing_before() -> None:
    bins = Bins(100, 250)

    def add(ident: int, host: str, size: int) -> list[int]:
        return [one.ident for one in bins.add(group(ident, host, size))]

    assert add(1, "a", 99) == []
    assert add(2, "a", 1) == [1, 2], "a pack's worth"
    assert [add(3, "b", 90), add(4, "c", 60), add(5, "d", 30), add(6, "e", 70)] == [[]] * 4
    assert bins.waiting_bytes == 250
    assert add(7, "f", 10) == [3, 7], "the largest, and what fills it just up"
    assert [[one.ident for one in pack] for pack in bins.flush()] == [[4, 5], [6]]
    assert [add(8, "a", 60), add(9, "b", 30), add(10, "c", 30)] == [[]] * 3
    assert [[one.ident for one in pack] for pack in bins.flush()] == [[8, 9], [10]]


def test_a_journal_begins_anew_when_most_of_it_is_in_packs(tmp_path: Path) -> None:
    """And not with each sync while that much waits to be packed."""
    steps: list[str] = []
    config = WriterConfig(pack_bytes=20_000, open_packs=3, reserve_bytes=0, journal_bytes=10_000, step=steps.append)
    with WarcWriter(tmp_path, "crawl", "none", config=config) as writer:
        for number in range(60):
            writer.write(page(number, payload=os.urandom(3000)), f"t{number}")
            writer.sync()
            writer.settle([f"t{number}"])
        # what waits: three packs at most, and those under way
        assert writer._journal.size < 10_000 + 3 * (3 + config.threads + 3) * 20_000
        assert 1 <= steps.count("journal-rewrite") <= 60 * 3000 // 10_000
        wait(set(writer._running))  # else what waits becomes less meanwhile
        large = steps.count("journal-rewrite")
        for number in range(60, 90):
            writer.write(page(number, payload=os.urandom(3000)), f"t{number}")
            writer.sync()
        assert steps.count("journal-rewrite") <= large + 1, "all of it waits for its answer"
        writer.settle([f"t{number}" for number in range(60, 90)])
    assert len([r for path in writer.finished for r in Reader(path, types=["response"])]) == 90


def test_a_file_is_closed_when_it_has_its_size_and_not_before(tmp_path: Path) -> None:
    config = WriterConfig(pack_bytes=1, reserve_bytes=0, threads=1)

    def closed(name: str, most: int) -> tuple[int, list[int]]:
        """How many before the writer was, and the pages in each."""
        with WarcWriter(tmp_path / name, "crawl", "none", most, config) as writer:
            for number in range(3):
                writer.write(page(number, payload=bytes([number]) * 3000))
            wait(set(writer._running))
            before = len(writer.finished)
        return before, [len(list(Reader(path, types=["response"]))) for path in writer.finished]

    assert closed("all", 0) == (0, [3])
    (whole,) = (tmp_path / "all").glob("*.warc")
    size = whole.stat().st_size
    assert closed("larger", size + 1) == (0, [3])
    assert closed("as it is", size) == (1, [3])
    assert closed("smaller", size // 2) == (1, [2, 1])


def test_pages_do_not_pile_up_before_a_slow_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = WriterConfig(pack_bytes=1, reserve_bytes=0, threads=1)
    piled: list[int] = []
    real = WarcWriter._run

    def slow(writer: WarcWriter, job: Any) -> None:
        time.sleep(0.01)
        real(writer, job)

    monkeypatch.setattr(WarcWriter, "_run", slow)
    with WarcWriter(tmp_path, "crawl", "none", config=config) as writer:
        for number in range(30):
            writer.write(page(number), f"t{number}")
            writer.sync()
            writer.settle([f"t{number}"])
            piled.append(len(writer._running))
    assert max(piled) <= config.threads + 2


def test_so_many_payloads_are_remembered() -> None:
    seen = SeenPayloads(2)
    targets = {name: RevisitTarget(f"http://a.test/{name}", "2026-01-01T00:00:00Z") for name in "abc"}
    for name, target in targets.items():
        seen.add({name: target})
    assert seen.find("abc") == {name: targets[name] for name in "bc"}


def frames(path: Path) -> Journal:
    journal = Journal.create(path, {"prefix": "x"})
    for ident in (1, 2, 3):
        journal.add(*group(ident, "h", 5).frame())
    journal.add(b"F", ("name", 0))
    journal.add(b"P", ("name", 77, [1]))
    journal.add(b"S", ([2], [3]))
    return journal


def test_a_journal_of_another_version_is_left_as_it_is(tmp_path: Path) -> None:
    """Though its frames may look like ours: read so, what they do not say in our way would be gone."""
    path = tmp_path / "x.journal"
    journal = frames(path)
    journal.commit()
    journal.close(remove=False)
    other = path.read_bytes().replace(MAGIC, MAGIC.replace(b"2", b"3"), 1)
    path.write_bytes(other)
    (damage,) = recover(tmp_path, lambda tokens: tokens).damage
    assert "left as it is: written by another version" in damage.reason
    assert [path] == list(tmp_path.iterdir())
    assert path.read_bytes() == other


def test_a_journal_is_done_with_where_the_folder_has_no_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All is in finished files by then: the crawl ended with 1, and said that it was not."""
    path = tmp_path / "x.journal"
    journal = frames(path)
    journal.commit()

    def full(descriptor: int) -> None:
        raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        journal.close(remove=True)
    assert list(tmp_path.iterdir()) == []


def test_a_journal_that_another_recovers_before_anything_is_in_it_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two workers that begin at once: what the one wrote was in a file that the other had deleted."""
    lock = fcntl.flock

    def after_another(descriptor: int, operation: int) -> None:
        monkeypatch.setattr(fcntl, "flock", lock)
        recover(tmp_path, lambda tokens: tokens)
        lock(descriptor, operation)

    path = tmp_path / "x.journal"
    monkeypatch.setattr(fcntl, "flock", after_another)
    journal = frames(path)
    journal.commit()
    assert _groups_of(journal, path) == {2}


def test_a_journal_that_nfs_has_only_renamed_as_it_was_open_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, path = fcntl.flock, tmp_path / "x.journal"

    def after_another(descriptor: int, operation: int) -> None:
        monkeypatch.setattr(fcntl, "flock", lock)
        path.rename(tmp_path / ".nfs0001")
        lock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", after_another)
    journal = frames(path)
    journal.commit()
    assert _groups_of(journal, path) == {2}


@pytest.mark.parametrize("full", [False, True])
def test_what_another_has_made_under_the_name_of_a_journal_stays(
    full: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, path = fcntl.flock, tmp_path / "x.journal"

    def after_others(_descriptor: int, _operation: int) -> None:
        monkeypatch.setattr(fcntl, "flock", lock)
        path.unlink()
        path.write_bytes(b"another's")
        if full:
            raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(fcntl, "flock", after_others)
    with pytest.raises(OSError, match="full" if full else "File exists"):
        frames(path)
    assert path.read_bytes() == b"another's"


def test_journal_tells_what_is_left(tmp_path: Path) -> None:
    path = tmp_path / "x.journal"
    journal = frames(path)
    journal.commit()
    with pytest.raises(JournalBusy):
        Journal.take_over(path)
    journal.close(remove=False)
    again, state = Journal.take_over(path)
    assert (set(state.groups), state.accepted, state.open_name, state.good_bytes) == ({2}, {2}, "name", 77)
    assert (state.next_ident, state.config, state.damage) == (4, {"prefix": "x"}, [])
    again.add(b"C", ("name",))
    again.commit()
    again.close(remove=False)
    path.with_suffix(".journal-new").write_bytes(b"of one that was killed while it was rewritten")
    again, state = Journal.take_over(path)
    assert (set(state.groups), state.open_name, state.good_bytes) == ({2}, "", 0)
    assert list(tmp_path.iterdir()) == [path]
    again.rewrite(state.config, [state.groups[2].frame()])
    again.close(remove=False)
    third, state = Journal.take_over(path)
    assert (set(state.groups), state.open_name) == ({2}, "")
    third.close(remove=True)
    assert list(tmp_path.iterdir()) == []


def test_what_an_fsync_found_no_room_for_is_written_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a file system that finds out only then, by a quota of its server say. What was synced before stays."""
    path, sync = tmp_path / "x.journal", os.fsync
    journal = frames(path)
    journal.commit()
    before = path.read_bytes()

    def full(descriptor: int) -> None:
        with path.open("rb+") as file:  # the kernel has forgotten it
            file.write(before + b"\0" * (path.stat().st_size - len(before)))
        monkeypatch.setattr(os, "fsync", sync)
        raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))

    journal.add(*group(4, "h", 5).frame())
    journal.commit(durable=False)
    journal.add(*group(5, "h", 5).frame())
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ArchiveFull):
        journal.commit()
    assert path.read_bytes().rstrip(b"\0") == before.rstrip(b"\0")
    journal.commit()
    assert _groups_of(journal, path) == {2, 4, 5}
    assert path.stat().st_size == journal.size


def test_a_file_is_finished_without_what_was_written_in_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between a pack and the end of the file that it fills another thread may try in vain to append: its records were
    twice in the archive, without an index."""

    def no_room(*_: object) -> None:
        raise OSError(errno.ENOSPC, "full")

    file = OpenFile.create(tmp_path, "x.warc")
    file.append(b"a pack")
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", no_room)
        patch.setattr(os, "ftruncate", no_room)
        with pytest.raises(ArchiveFull):
            file.append(b"another")
        with pytest.raises(ArchiveFull):
            file.rename()
    assert file.rename().read_bytes() == b"a pack"
    file.close()


def test_what_came_through_of_a_write_without_room_is_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a frame that is torn lies before all that follows."""
    path, write = tmp_path / "x.journal", os.writev
    journal = frames(path)

    def full(descriptor: int, parts: list[bytes]) -> int:
        monkeypatch.setattr(os, "writev", no_room)
        return write(descriptor, [b"".join(parts)[:50]])

    def no_room(_descriptor: int, _parts: list[bytes]) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    before = path.read_bytes()
    with monkeypatch.context() as monkeypatch:
        monkeypatch.setattr(os, "writev", full)
        with pytest.raises(ArchiveFull):
            journal.commit()
    assert path.read_bytes() == before
    journal.commit()
    assert _groups_of(journal, path) == {2}


def _groups_of(journal: Journal, path: Path) -> set[int]:
    """What a journal has when it is read again, all of it sound."""
    journal.close(remove=False)
    state, good = load(path)
    assert (state.damage, good) == ([], journal.size)
    return set(state.groups)


def test_journal_cut_anywhere_is_a_prefix(tmp_path: Path) -> None:
    path = tmp_path / "x.journal"
    journal = frames(path)
    journal.commit()
    journal.close(remove=False)
    data = path.read_bytes()
    before = -1
    for size in range(len(data) + 1):
        path.write_bytes(data[:size])
        state, good = load(path)
        assert good <= size
        assert good >= before
        assert not state.damage
        before = good
    assert before == len(data)


@pytest.mark.parametrize("frame", range(4))
def test_a_marker_that_is_damaged_costs_no_frame(frame: int, tmp_path: Path) -> None:
    """That of the first frame is what all others are known by."""
    path = tmp_path / "x.journal"
    journal = frames(path)
    journal.commit()
    whole = set(_groups_of(journal, path))
    stored = bytearray(path.read_bytes())
    mark, place = bytes(stored[len(MAGIC) :][:8]), 0
    for _ in range(frame + 1):
        place = stored.index(mark, place + 1)
    stored[place] ^= 1
    path.write_bytes(stored)
    state, good = load(path)
    assert (set(state.groups), good, state.damage) == (whole, len(stored), [])


def test_frames_are_found_behind_one_that_is_broken_after_a_marker_that_is_damaged(tmp_path: Path) -> None:
    """No later one has that marker: all behind were cut off as a torn tail."""
    path = tmp_path / "x.journal"
    journal = frames(path)
    for number in (7, 8, 9):
        journal.add(*group(number, "h", 5).frame())
    journal.commit()
    whole = _groups_of(journal, path)
    stored = bytearray(path.read_bytes())
    mark = bytes(stored[len(MAGIC) :][:8])
    stored[stored.rindex(mark, 0, stored.index(b"t7"))] ^= 1
    stored[stored.index(b"t8")] ^= 1
    path.write_bytes(stored)
    state, good = load(path)
    assert (set(state.groups), good, len(state.damage)) == (whole - {8}, len(stored), 1)


@pytest.mark.parametrize("number", [7, 8, 9])
def test_a_flipped_bit_in_the_length_of_a_frame_is_told_and_costs_none(number: int, tmp_path: Path) -> None:
    """That of the last one was taken for torn by a crash."""
    path = tmp_path / "x.journal"
    journal = frames(path)
    for one in (7, 8, 9):
        journal.add(*group(one, "h", 5).frame())
    journal.commit()
    whole = _groups_of(journal, path)
    stored = path.read_bytes()
    mark = stored[len(MAGIC) :][:8]
    begin = stored.rindex(mark, 0, stored.index(b"t%d" % number))
    for bit in range(32):
        broken = bytearray(stored)
        broken[begin + 9 + bit // 8] ^= 1 << bit % 8
        path.write_bytes(broken)
        state, good = load(path)
        assert (set(state.groups), good) == (whole, len(stored))
        assert [(one.offset, one.lost_bytes) for one in state.damage] == [(begin, 0)]


def test_frames_are_found_behind_a_broken_one_where_the_first_marker_is_damaged(tmp_path: Path) -> None:
    """The broken one's own marker is that of all behind it."""
    path = tmp_path / "x.journal"
    journal = frames(path)
    journal.commit()
    whole = _groups_of(journal, path)
    stored = bytearray(path.read_bytes())
    second = stored.index(bytes(stored[len(MAGIC) :][:8]), len(MAGIC) + 1)
    stored[len(MAGIC)] ^= 1
    stored[second + 20] ^= 1
    path.write_bytes(stored)
    state, good = load(path)
    assert (set(state.groups), good) == (whole, len(stored))
    assert [one.offset for one in state.damage] == [second]


def test_a_broken_frame_at_the_end_is_told_and_one_that_is_torn_is_not(tmp_path: Path) -> None:
    """A process that dies amid a write leaves a frame that ends behind the file."""
    path = tmp_path / "x.journal"
    journal = frames(path)
    journal.commit()
    before = journal.size
    journal.add(*group(9, "h", 5).frame())
    journal.commit()
    assert 9 in _groups_of(journal, path)
    stored = path.read_bytes().replace(b"t9", b"t8")
    path.write_bytes(stored)
    state, good = load(path)
    assert (9 in state.groups, good) == (False, before)
    assert [(one.offset, one.lost_bytes) for one in state.damage] == [(before, len(stored) - before)]
    path.write_bytes(stored[:-1])
    state, good = load(path)
    assert (state.damage, good) == ([], before)


@pytest.mark.parametrize("few", [b"\0", b"\xff", b"\x10\0", b"\x01\x10\0\0", b"\x01\0\0\0\0\0\0\0"])
@pytest.mark.parametrize("begin", [b"", MAGIC])
def test_a_journal_of_a_few_bytes_over_and_over_is_given_up_at_once(
    begin: bytes, few: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each was looked at for a frame: 12 s for 8 MB of zeros."""
    path, looked = tmp_path / "x.journal", 0

    class Counted:
        """The header of a frame."""

        size = 17

        def unpack_from(self, data: bytes, place: int) -> tuple[Any, ...]:
            nonlocal looked
            looked += 1
            return struct.unpack_from("<8scII", data, place)

    monkeypatch.setattr("archive.writing.journal._FRAME", Counted())
    path.write_bytes(begin + few * 10_000)
    with pytest.raises(JournalUnreadable):
        load(path)
    assert 0 < looked < 10


def test_of_what_is_no_frame_by_its_kind_nothing_is_summed_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of one entry of an old block over and over as much each time as it seemed to say, a length in its place."""

    def never(*_: object) -> int:
        raise AssertionError

    monkeypatch.setattr("archive.writing.journal.zlib_ng.crc32", never)
    path = tmp_path / "x.journal"
    path.write_bytes(MAGIC + b"\x01\x02\x10\0\0\x03\x04\x05" * 1000)
    with pytest.raises(JournalUnreadable):
        load(path)


def test_no_frames_are_read_in_a_page_that_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever writes a page like a journal put his own into the archive, and took others' away; and for each frame
    all that it claimed to have was summed up, in time that grew with the square of the page."""
    forged = frames(tmp_path / "forged.journal")
    forged.add(*group(9, "h", 5).frame())
    forged.commit()
    forged.close(remove=False)
    path = tmp_path / "x.journal"
    journal = frames(path)
    journal.commit()
    whole = journal.size
    journal.add(*Group(4, "t4", "h", forged.path.read_bytes() * 50, 9).frame())
    journal.commit()
    journal.close(remove=False)
    stored = path.read_bytes()[:-1]
    copied = 0

    class Counted(bytes):
        def __getitem__(self, place: Any) -> Any:
            nonlocal copied
            part = super().__getitem__(place)
            copied += len(part)
            return part

    monkeypatch.setattr(Path, "read_bytes", lambda _path: Counted(stored))
    state, good = load(path)
    assert (good, set(state.groups), state.damage) == (whole, {2}, [])
    assert 0 < copied < whole


def test_journal_with_a_broken_frame_tells_and_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "x.journal"
    journal = frames(path)
    journal.commit()
    journal.close(remove=False)
    data = bytearray(path.read_bytes())
    data[data.index(b"t2")] ^= 1
    path.write_bytes(data)
    state, good = load(path)
    assert good == len(data)
    assert len(state.damage) == 1
    assert 2 not in state.groups


@pytest.mark.parametrize(
    ("kind", "values"), [(b"G", (1, 2)), (b"G", 7), (b"S", ()), (b"?", (1,)), (b"P", {}), (b"I", {(1,): 2})]
)
def test_journal_frames_of_another_shape_are_damage(tmp_path: Path, kind: bytes, values: Any) -> None:
    path = tmp_path / "x.journal"
    journal = frames(path)
    journal.add(kind, values)
    journal.add(*group(9, "h", 5).frame())
    journal.commit()
    journal.close(remove=False)
    state, good = load(path)
    assert (len(state.damage), good) == (1, path.stat().st_size)
    assert set(state.groups) == {2, 9}


def test_headers() -> None:
    headers = Headers.parse(b"A: 1\r\nb:2\r\n  more\r\nno colon\r\na: 3\r\nC: \xff\r\n")
    assert headers.pairs == [("A", "1"), ("b", "2 more"), ("a", "3"), ("C", "\udcff")]
    assert (headers.get("a"), headers.get("x"), headers.get_all("A")) == ("1", "", ["1", "3"])
    assert "B" in headers
    assert "x" not in headers
    assert len(list(headers)) == len(headers) == 4


def test_http_heads() -> None:
    head = parse_head(b"HTTP/1.1 301 Moved on\r\nLocation: /x\r\n\r\nbody")
    assert head is not None
    assert (head.status, head.reason, head.size, head.headers.get("location")) == (301, "Moved on", 39, "/x")
    head = parse_head(b"GET /a HTTP/1.1\nHost: x\n\n")
    assert head is not None
    assert (head.method, head.target, head.status, head.headers.get("host")) == ("GET", "/a", 0, "x")
    for end in (b"\n\n", b"\n\r\n", b"\r\n\n", b"\r\n\r\n"):
        block = b"HTTP/1.1 200 OK\r\nA: b" + end + b"<p>a\r\n\r\nb\n\nc\n\r\nd"
        head = parse_head(block)
        assert head is not None
        assert block[head.size :].startswith(b"<p>")
    assert parse_head(b"\x00\x01") is None
    assert parse_head(b"") is None


@pytest.mark.parametrize(
    "line",
    [
        "HTTP/1.x 200 OK",
        "HTTP/01.1 200 OK",
        "HTTP/1.01 200",
        "http/1.1 200 OK",
        "HTTP/ 200 OK",
        "HTTP 200 OK",
        "HTTP/2\t200",
    ],
)
def test_status_lines_of_any_version_are_read(line: str) -> None:
    for before in ("", "\r\n", "\r\n\r\n"):
        block = f"{before}{line}\r\nContent-Type: text/html\r\n\r\n<p>".encode()
        head = parse_head(block)
        assert head is not None
        assert (head.status, head.headers.get("content-type"), block[head.size :]) == (200, "text/html", b"<p>")


def test_interim_answers_are_passed_over() -> None:
    interim = b"HTTP/1.1 100 Continue\r\n\r\n" + b"HTTP/1.1 103 Early Hints\nLink: </a.css>\n\n"
    head = parse_head(interim + b"HTTP/1.1 200 OK\r\nA: b\r\n\r\nHTTP/1.1 404 text")
    assert head is not None
    assert (head.status, head.headers.pairs, head.size) == (200, [("A", "b")], len(interim) + 25)
    assert head.interim == 25
    for alone in (b"100 Continue\r\n\r\n", b"100 Continue\r\n\r\nsome text", b"101 S\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"):
        head = parse_head(b"HTTP/1.1 " + alone)
        assert head is not None
        assert head.status == int(alone[:3])
    head = parse_head(b"HTTP/1.1 100 a\n\n" * 100_000)
    assert head is not None


@pytest.mark.parametrize("coding", ["gzip", "deflate", "raw", "br", "zstd", "identity", "gzip, br"])
def test_bodies_are_decoded(coding: str) -> None:
    plain = b"umuntu ngumuntu ngabantu " * 500
    packed = {
        "gzip": gzip.compress(plain),
        "deflate": zlib.compress(plain),
        "raw": zlib.compress(plain)[2:-4],
        "br": brotli.compress(plain),
        "zstd": zstandard.compress(plain),
        "identity": plain,
        "gzip, br": brotli.compress(gzip.compress(plain)),
    }[coding]
    name = "deflate" if coding == "raw" else coding
    head = parse_head(f"HTTP/1.1 200 OK\r\nContent-Encoding: {name}\r\n\r\n".encode())
    assert head is not None
    assert decode(head, packed) == plain
    assert decode(head, packed, 100) == plain[:100]
    assert decode(head, packed + b"and more") == plain + (b"and more" if coding == "identity" else b"")
    for whole in (packed, packed + b"and more"):
        assert unpacked(head, whole)[1]
        assert unpacked(head, whole, 100) == (plain[:100], True)
    for size in {len(packed) // 2, len(packed) - 1} if coding != "identity" else ():
        out, ended = unpacked(head, packed[:size])
        assert not ended or out == packed[:size]  # of which nothing came out
    cut = decode(head, packed[: len(packed) // 2])
    assert coding == "gzip, br" or plain.startswith(cut) or cut == packed[: len(packed) // 2]


def test_a_gzip_body_may_be_several_files() -> None:
    head = HttpHead(0, b"Content-Encoding: gzip")
    one, other = gzip.compress(b"one, " * 50), gzip.compress(b"other")
    assert decode(head, one + other + b"\0\0" + other) == b"one, " * 50 + b"other" * 2
    assert decode(head, one + other, 252) == b"one, " * 50 + b"ot"
    assert decode(head, one + other[:-9]).startswith(b"one, " * 50)
    assert decode(head, one + other + b"and more") == b"one, " * 50 + b"other"
    assert unpacked(head, one + other) == (b"one, " * 50 + b"other", True)
    assert not unpacked(head, one + other[:-9])[1]
    assert decode(head, gzip.compress(b"") * 100_000 + other) == b"other"


def test_a_zstd_body_may_be_several_frames() -> None:
    head = HttpHead(0, b"Content-Encoding: zstd")
    one, other = zstandard.compress(b"one, " * 50), zstandard.compress(b"other")
    skipped = b"\x5f\x2a\x4d\x18\x03\0\0\0abc"
    assert decode(head, one + other + skipped * 2 + other) == b"one, " * 50 + b"other" * 2
    assert decode(head, skipped + other) == b"other"
    assert decode(head, one + other, 252) == b"one, " * 50 + b"ot"
    assert decode(head, one + other[:-3]).startswith(b"one, " * 50)
    assert decode(head, one + skipped[:9] + b"and more") == b"one, " * 50
    assert unpacked(head, one + other + skipped) == (b"one, " * 50 + b"other", True)
    assert unpacked(head, one + other[:-3]) == (b"one, " * 50 + b"ot", False)
    assert decode(head, zstandard.compress(b"") * 10_000 + other) == b"other"


@pytest.mark.parametrize(
    "lines",
    [
        b"Transfer-Encoding: gzip, chunked",
        b"Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\nContent-Encoding:\tgzip\t",
        b"Content-Encoding: identity,\tgzip\r\nTransfer-Encoding:\r\n Chunked",
    ],
)
def test_codings_of_the_transfer_are_taken_off(lines: bytes) -> None:
    packed = gzip.compress(b"umuntu " * 50)
    assert decode(HttpHead(0, lines), b"%x\r\n%b\r\n0\r\n\r\n" % (len(packed), packed)) == b"umuntu " * 50


@pytest.mark.parametrize("size", [20, 20_000])
def test_a_packed_body_with_a_false_checksum_is_given_to_its_end(size: int) -> None:
    plain, head = random.Random(1).randbytes(size).hex().encode(), HttpHead(0, b"Content-Encoding: gzip\r\n")
    packed = gzip.compress(plain)
    assert unpacked(head, packed[:-8] + bytes(8)) == (plain, False)
    assert decode(head, packed[:-9] + b"\xff" + bytes(7))[:30] == plain[:30]
    assert decode(head, packed[:-8] + bytes(8), 10) == plain[:10]


@pytest.mark.parametrize(
    "text",
    [
        b"Disallow: /\nAllow: /a\n",
        b"0 results\r\n",
        b"Abantu bonke\n",
        b"5 x\r\nhello\r\n0\r\n",
        b"1\r\n2\t3\r\n",
        b"Dada\r\n",
    ],
)
def test_a_text_whose_chunks_were_taken_off_already_stays(text: bytes) -> None:
    assert dechunk(text) == text


def test_chunks() -> None:
    body = b"4\r\nWiki\r\n6;x=y\r\npedia \r\nE\r\nin \r\n\r\nchunks.\r\n0\r\n\r\n"
    assert dechunk(body) == b"Wikipedia in \r\n\r\nchunks."
    assert dechunk(b"<html>") == b"<html>"
    assert dechunk(body[:20]) == b"Wikipedi"
    assert dechunk(b"004 \r\nWiki\r\n3 odd\r\nped\r\n0") == b"Wikiped"
    assert dechunk(b"f" * 20 + b"\r\nWiki") == b"Wiki"
    assert dechunk(b"4\r\nWiki\r\n\r\n5\r\npedia\r\n0\r\n") == b"Wiki\r\n5\r\npedia\r\n0\r\n"
    assert dechunk(b"4\r\nWiki\r\n5;na") == b"Wiki"
    head, body = HttpHead(0, b"Transfer-Encoding: chunked"), b"4\r\nWiki\r\n0\r\nExpires: soon\r\n\r\n"
    assert unpacked(head, body) == (b"Wiki", True)
    assert unpacked(head, body[:9]) == (b"Wiki", False)


def test_arc_lines() -> None:
    headers, length, sound = parse_line(b"http://e.example/a b 1.2.3.4 20140301000000 text/html 12\n")
    assert (headers.get("WARC-Target-URI"), length, sound) == ("http://e.example/a b", 12, True)
    assert headers.get("WARC-Date") == "2014-03-01T00:00:00Z"
    assert parse_line(b"http://e.example/ 1.2.3.4 20140301000000 text/html abc\n")[1:] == (0, False)
    for date in (b"20140301", b"2014030100000099", b"20140301000000jpg"):
        headers, length, sound = parse_line(b"http://e.example/  " + date + b" text/html 12\n")
        assert (headers.get("WARC-Target-URI"), headers.get("WARC-IP-Address")) == ("http://e.example/", "")
        assert (headers.get("WARC-Date"), length, sound) == ("2014-03-01T00:00:00Z", 12, True)


@pytest.mark.parametrize("rest", [b"text/html 12", b"text/html 200 - - 4096 x.arc.gz 12"])
@pytest.mark.parametrize("url", ["http://e.example/", "http://e.example/a b c d e f g h", "dns:e.example"])
def test_arc_lines_of_either_version(url: str, rest: bytes) -> None:
    headers, length, sound = parse_line(url.encode() + b" 1.2.3.4 20140301000000 " + rest + b"\n")
    assert (headers.get("WARC-Target-URI"), headers.get("WARC-IP-Address")) == (url, "1.2.3.4")
    assert (headers.get("WARC-Date"), length, sound) == ("2014-03-01T00:00:00Z", 12, True)
    media = "application/http;msgtype=response" if url.startswith("http") else "text/html"
    assert headers.get("Content-Type") == media


def test_odd_dates_and_addresses_in_arc_lines() -> None:
    headers, length, sound = parse_line(b"http://e.example/ 20140301000000 1.2.3.4 text/html 12\n")
    assert (headers.get("WARC-IP-Address"), headers.get("WARC-Date")) == ("1.2.3.4", "2014-03-01T00:00:00Z")
    assert (length, sound) == (12, True)
    headers, length, sound = parse_line(b"http://e.example/ 1.2.3.4 33e0a3b2 text/html 12\n")
    assert (headers.get("WARC-Target-URI"), headers.get("WARC-Date")) == ("http://e.example/", "")
    assert (length, sound) == (12, True)
    assert not parse_line(b"http://e.example/ some day text/html 12\n")[2]


@pytest.mark.parametrize(
    "media", ["text/html", "text/html; charset=x", "text/html; charset=koi8-r; charset=x", "a b c", ""]
)
@pytest.mark.parametrize(
    "url",
    ["http://e.example/", "dns:e.example/a b", "dns:e.example/ab 20130101 c", "http://e.example/a b 20200101-c d e f"],
)
def test_media_types_in_arc_lines_may_have_spaces(url: str, media: str) -> None:
    headers, length, sound = parse_line(f"{url} 1.2.3.4 20140301000000 {media} 12\n".encode())
    assert (headers.get("WARC-Target-URI"), headers.get("WARC-IP-Address"), length, sound) == (url, "1.2.3.4", 12, True)
    assert headers.get("WARC-Date") == "2014-03-01T00:00:00Z"
    assert url.startswith("http") or headers.get("Content-Type") == media
    assert parse_line(b"http://e.example/\n")[1:] == (0, False)


def test_source_rewinds_and_finds() -> None:
    data = bytes(random.Random(1).randbytes(700_000))
    source = Source(io.BytesIO(data))
    assert source.take(300_000) == data[:300_000]
    source.hold()
    source.take(100_000)
    source.rewind()
    assert source.peek(50) == data[300_000:300_050]
    needle = data[650_000:650_008]
    assert source.find(needle)
    assert source.position == 650_000
    assert not source.find(b"not to be found")
    assert source.take_some() == b""


@pytest.mark.parametrize(
    ("kind", "size", "waits"),
    [("none", 9000, 20_000), ("gz", 9000, 20_000), ("xz", 9000, 20_000), ("zst", 90_000, 8 << 20)],
)
def test_what_is_stored_anew_is_written_by_packs(tmp_path: Path, kind: str, size: int, waits: int) -> None:
    """However many records there are; of zst the first of them make a dictionary."""
    rng = random.Random(1)
    sink = Sink(tmp_path / "x", kind, pack_bytes=20_000)
    for _ in range(100):
        sink.begin()
        sink.write(b"WARC/1.1\r\nContent-Length: %d\r\n\r\n%b\r\n\r\n" % (size, rng.randbytes(size)))
        sink.end()
    (fresh,) = tmp_path.iterdir()
    assert fresh.stat().st_size > 98 * size - waits
    sink.finish()
    with Reader(tmp_path / "x") as reader:
        assert len([one for one in reader if one.damage is None]) == 100
        assert bool(reader.dictionary) is (kind == "zst")


def test_nothing_of_a_large_record_that_is_dropped_is_left(tmp_path: Path) -> None:
    sink = Sink(tmp_path / "x", "none")
    record = b"WARC/1.1\r\nContent-Length: 1\r\n\r\nx\r\n\r\n"
    for data, kept in ((record, True), (bytes(9 << 20), False), (record, True)):
        sink.begin()
        sink.write(data)
        if kept:
            sink.end()
        else:
            sink.drop()
    sink.finish()
    assert (tmp_path / "x").read_bytes() == 2 * record


def test_any_number_of_parts_is_written(tmp_path: Path) -> None:
    """The system takes 1,024 at a time."""
    parts = [b"", *(b"%d" % number for number in range(5000)), b""]
    descriptor = os.open(tmp_path / "x", os.O_WRONLY | os.O_CREAT)
    assert write_all(descriptor, parts) == sum(map(len, parts))
    os.close(descriptor)
    assert (tmp_path / "x").read_bytes() == b"".join(parts)


def test_what_a_source_holds_is_not_copied_at_each_reading() -> None:
    """Copies would be twice the memory while they are made, and take the square of the time."""
    size = 20 << 20
    data = random.Random(2).randbytes(size)
    source = Source(io.BytesIO(data))
    source.take(10)
    source.hold()
    tracemalloc.start()
    while source.take(16 << 10):
        pass
    assert tracemalloc.get_traced_memory()[1] < 1.5 * size
    tracemalloc.stop()
    source.rewind()
    assert source.take(size) == data[10:]
    assert source.position == size


def test_a_source_holds_no_more_than_64_mib() -> None:
    limit = 64 << 20
    for more, held in ((0, 0), (1, limit + 1)):
        source = Source(io.BytesIO(bytes(limit + more) + b"x"))
        source.take(limit + more)
        source.peek(1)
        assert source.held == held
        source.rewind()
        assert source.peek(1) == (b"x" if more else b"\0")


@pytest.mark.parametrize("zeros", [0, 1, 3, 4, 5, 8, (256 << 10) - 1, (256 << 10) + 2, (512 << 10) + 4])
def test_zeros_are_passed_over(zeros: int) -> None:
    for unit in (1, 4):
        for behind in (b"", b"x"):
            source = Source(io.BytesIO(b"ab" + bytes(zeros) + behind))
            source.take(2)
            source.skip_zeros(unit)
            assert source.position == 2 + zeros // unit * unit
            assert source.take(1 << 20) == bytes(zeros % unit) + behind


def test_a_host_is_counted_without_what_follows_it() -> None:
    stats = Stats()
    for url in ("http://A.example", "http://a.example/b@c", "http://a.example?b=1", "http://x@a.example#c", "urn:a"):
        head = f"WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: {url}\r\n\r\n"
        stats.add(memory_record(f"{head}x\r\n\r\n".encode()))
    assert stats.captures["host"] == {"a.example": 4, "": 1}


@pytest.mark.parametrize("behind", ["", "/", "/a?b#c", "?b=1", "?b=/", "#c", "/?://"])
def test_the_host_of_an_exchange_ends_where_the_host_does(behind: str) -> None:
    assert replace(page(1), url=f"http://a.example:8080{behind}").host == "a.example:8080"


def test_digests() -> None:
    assert digest_holds("sha1:VBUGW4EO7CCU7BMN7WVYOTSKWMSO2VHT", b"?") is False
    assert digest_holds("md5:d41d8cd98f00b204e9800998ecf8427e", b"") is True
    assert digest_holds("sha-1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", b"") is True
    assert split_digest("crc32:1234") is None
    assert split_digest("sha1:!!") == ("sha1", b"")
    assert digest_holds("sha1:2jmj7l5rSw0yVb_vlWAYkK_YBwk=", b"") is True
    assert digest_holds("sha1:1112H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", b"") is False


def test_a_pack_is_full_with_its_bytes_and_a_large_record_has_one_of_its_own() -> None:
    sizes = (10, 100, 10, 89, 1, 50, 99, 10)
    packed = make_codec("xz", pack_bytes=100).encode([b"x" * size for size in sizes])
    packs = list(dict.fromkeys(place.offset for place in packed.places))
    assert [packs.index(place.offset) for place in packed.places] == [0, 1, 2, 2, 2, 3, 3, 4]
    assert [place.inner for place in packed.places] == [0, 0, 0, 10, 99, 0, 50, 0]


def test_settings_are_checked(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="99 is no level of xz: 0 to 9"):
        WarcWriter(tmp_path, "x", config=WriterConfig(level=99))
    assert list(tmp_path.iterdir()) == []
    for wrong in ({"version": "2"}, {"digest": "md5"}, {"pack_bytes": 0}):
        with pytest.raises(ValueError, match=r".+"):
            WriterConfig(**wrong)
    with pytest.raises(ValueError, match="unknown compression"):
        make_codec("zip")


def test_a_reader_that_is_let_go_is_gone_at_once(tmp_path: Path) -> None:
    """With its buffers and its unpacker: who opens one a page would have hundreds until cycles are looked for."""
    with WarcWriter(tmp_path, "crawl", config=WriterConfig(reserve_bytes=0)) as writer:
        writer.write(page(1))
    gc.disable()
    try:
        reader = Reader(writer.finished[0])
        next(iter(reader))
        reader.close()
        watched = weakref.ref(reader._plain)
        del reader
        assert watched() is None
    finally:
        gc.enable()


def test_where_no_run_can_be_written_one_is_tried_for_each_so_many_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []

    def full() -> None:
        tried.append(len(added))
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr("tempfile.TemporaryFile", full)
    added, builder = list[bytes](), IndexBuilder(spill_lines=10)
    for number in range(35, 0, -1):
        added.append(b"%02d\n" % number)
        builder.add(added[-1])
    assert tried == [10, 20, 30]
    assert list(builder.lines()) == sorted(added)


def test_the_index_of_many_records_in_one_member_takes_little_memory_and_keeps_their_order() -> None:
    """Their lines wait for its end, as they say how long it is; what a metadata record says is of the one before."""

    def record(number: int) -> bytes:
        kind = b"metadata" if number % 3 == 0 else b"resource"
        block = b'quality: ["list"]' if number % 3 == 0 else b"x"
        fields = (kind, number, number, number - 1, len(block), block)
        return (
            b"WARC/1.1\r\nWARC-Type: %b\r\nWARC-Record-ID: <urn:x:%d>\r\nWARC-Target-URI: http://a.example/%d\r\n"
            b"WARC-Date: 2024\r\nWARC-Concurrent-To: <urn:x:%d>\r\nContent-Length: %d\r\n\r\n%b\r\n\r\n" % fields
        )

    records = [*map(record, range(1, 12_001))]
    member = gzip.compress(b"".join(records), 1)

    def peak(count: Callable[[], int], wanted: int) -> int:
        tracemalloc.start()
        assert count() == wanted
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    def reader() -> Reader:
        return Reader(io.BytesIO(member))

    indexing = peak(lambda: sum(parse(row)["length"] == str(len(member)) for row in file_lines(reader(), "x")), 8000)
    assert indexing < peak(lambda: sum(1 for _ in reader()), 12_000) + (3 << 20)
    rows = file_lines(reader(), "x")
    urls = [(row["url"], row.get("quality")) for row in map(parse, rows)]
    wanted = [(f"http://a.example/{n}", "list" if n % 3 == 2 else None) for n in range(1, 12_001) if n % 3]
    assert urls == wanted
