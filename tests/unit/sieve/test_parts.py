"""Filters, tables, runs, stores, jobs, logs, specifications: each by itself."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xxhash import xxh3_64_intdigest

from sieve import open_sieve
from sieve.disk import damage
from sieve.disk.files import Log, LogReader, Place, load, replace
from sieve.errors import DamagedError, FencedError, SpecError, StoreError
from sieve.fingerprint import Fingerprints, fingerprint, fingerprints
from sieve.fleet.holder import store_id
from sieve.kinds.bloom import BloomConfig, BloomFilter, BloomSieve, bits_needed, blocked_error
from sieve.kinds.mercator import MercatorConfig, MercatorSieve
from sieve.queues import ready
from sieve.queues.items import Batch, Fingerprinter, pack_numbered, unpack_numbered
from sieve.queues.waiting import WaitingRoom
from sieve.sets.filter import RecentTable, WordFilter, first_places
from sieve.sets.jobs import Job, Work
from sieve.sets.runs import Run, RunWriter
from sieve.sets.seen import Newest, Seen, SeenConfig
from sieve.sets.store import RunStore
from sieve.spec import Spec
from sieve.types import Entry, Item


def random_keys(count: int, seed: int = 1) -> Fingerprints:
    return np.random.default_rng(seed).integers(0, 2**64 - 1, count, dtype=np.uint64)


def full_disk(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, "no space left")


def test_fingerprints_are_xxh3_and_seeded() -> None:
    assert fingerprint("") == 0x2D06800538D394C2
    assert fingerprint("http://a/") != fingerprint("http://a/", 1)
    assert fingerprints(["http://a/", "\ud800"], 5).tolist() == [fingerprint("http://a/", 5), fingerprint("\ud800", 5)]


@given(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 3) | st.integers(2**63, 2**63 + 3), min_size=1, max_size=60))
def test_first_places(values: list[int]) -> None:
    keys, places = first_places(np.array(values, np.uint64))
    expected = sorted({value: values.index(value) for value in values}.items())
    assert list(zip(keys.tolist(), places.tolist(), strict=True)) == expected


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, 40) | st.integers(0, 2**64 - 1), max_size=30), max_size=8), st.integers(1, 6))
def test_the_recent_table_never_drops_a_new_key(batches: list[list[int]], bits: int) -> None:
    table = RecentTable(bits)
    met: set[int] = set()
    for batch in batches:
        places = table.screen(np.array(batch, np.uint64))
        kept = [batch[place] for place in places.tolist()]
        assert places.tolist() == sorted(places.tolist())
        assert len(kept) == len(set(kept))
        assert set(batch) - met <= set(kept)
        for value in set(batch) - met:
            assert places.tolist()[kept.index(value)] == batch.index(value)
        met |= set(batch)
    table.clear()
    assert table.screen(np.array([0, 7], np.uint64)).tolist() == [0, 1]


def test_the_filter_knows_all_it_was_given_and_little_else() -> None:
    keys, others = random_keys(50_000), random_keys(50_000, 2)
    one, two = WordFilter(50_000), WordFilter(50_000)
    assert one.take(keys).mean() < 0.01
    assert one.take(keys).all()
    two.add_sorted(np.sort(keys[:25_000]))
    two.add_sorted(keys[:0])
    two.add(np.concatenate([keys[25_000:], keys[25_000:]]))
    assert (one._words == two._words).all()
    assert one.take(others[:1000]).mean() < 0.01


@pytest.mark.parametrize("blocked", [True, False])
def test_a_bloom_filter_keeps_its_error(blocked: bool) -> None:
    config = BloomConfig(capacity=20_000, error=1e-3, blocked=blocked)
    bits, hashes = bits_needed(config)
    assert hashes == 10
    made = BloomFilter(bits, hashes, blocked=blocked)
    keys = random_keys(20_000)
    made.add_new(keys)
    assert made.has(keys).all()
    wrong = made.has(random_keys(200_000, 9)).mean()
    assert wrong < 2e-3
    assert made.expected_error() == pytest.approx(wrong, rel=0.5, abs=2e-4)
    assert 0.3 < made.fill() < 0.55
    made.add_new(random_keys(60_000, 3))
    assert made.expected_error() > 0.1
    assert blocked_error(20_000, bits, hashes) < (1.05e-3 if blocked else 1)


@pytest.mark.parametrize("blocked", [True, False])
def test_a_bloom_filter_keeps_a_small_error(blocked: bool) -> None:
    """Two base hashes would give 25 times as many in a block."""
    config = BloomConfig(capacity=20_000, error=1e-5, blocked=blocked)
    made = BloomFilter(*bits_needed(config), blocked=blocked)
    made.add_new(random_keys(20_000))
    wrong = sum(int(made.has(random_keys(200_000, seed)).sum()) for seed in range(10, 15))
    assert wrong < 30


def test_a_bloom_sieve_reports_and_refuses_another_make(tmp_path: Path) -> None:
    spec = f"bloom:{tmp_path}?capacity=8&error=0.01"
    sieve = open_sieve(spec)
    assert isinstance(sieve, BloomSieve)
    for number in range(100):
        sieve.enqueue([f"http://h/{number}"])
    assert sieve.expected_error() > 0.1
    out = len(sieve.drain())
    sieve.close()
    assert out < 100
    with pytest.raises(StoreError, match="was made with"):
        open_sieve(f"bloom:{tmp_path}?capacity=9&error=0.01")
    temporary = open_sieve("bloom:?capacity=100")
    temporary.enqueue(["http://h/"])
    assert temporary.drain() == ["http://h/"]
    temporary.close()


@settings(deadline=None, max_examples=30)
@given(st.sets(st.integers(0, 2**64 - 1), max_size=300), st.sets(st.integers(0, 2**64 - 1), max_size=50))
def test_a_run_contains_its_keys(tmp_path_factory: pytest.TempPathFactory, keys: set[int], others: set[int]) -> None:
    path = tmp_path_factory.mktemp("run") / "x.run"
    writer = RunWriter(path, len(keys))
    ordered = np.array(sorted(keys), np.uint64)
    writer.append(ordered[: len(ordered) // 2])
    writer.append(ordered[len(ordered) // 2 :])
    writer.finish()
    writer.sync()
    for run in (writer.publish(), Run.open(path)):
        asked = np.array(sorted(keys | others), np.uint64)
        assert run.contains(asked).tolist() == [key in keys for key in asked.tolist()]
        assert len(run) == len(keys)


def test_a_run_that_a_full_disk_ends_is_removed(tmp_path: Path) -> None:
    (tmp_path / "x.run.new").symlink_to("/dev/full")
    writer = RunWriter(tmp_path / "x.run", 1)
    with pytest.raises(OSError, match="No space"):
        writer.discard()
    assert not list(tmp_path.iterdir())


def test_a_store_merges_runs_of_like_size_and_sweeps_what_no_manifest_names(tmp_path: Path) -> None:
    store = RunStore(tmp_path, durable=True)
    keys = random_keys(200_000)
    parts = [keys[:120_000], keys[120_000:160_000], keys[150_000:180_000], keys[180_000:]]
    for part in parts:
        Job(store.write(np.unique(part), {"n": len(store.runs)})).finish()
    merged = store.due()
    assert sum(map(len, merged)) == 210_000
    Job(store.merge(merged)).finish()
    assert len(store) == 200_000
    assert sum(path.stat().st_size for path in tmp_path.glob("*.run")) < 200_000 * 8.5
    assert len(store.runs) == 1
    assert (store.runs[0].keys == np.unique(keys)).all()
    store.close()
    (tmp_path / "99999999.run").write_bytes(b"left over")
    (tmp_path / "00000001.run.new").write_bytes(b"left over")
    again = RunStore(tmp_path)
    again.sweep()
    assert again.facts == {"n": 3}
    assert sorted(path.name for path in tmp_path.glob("*.run*")) == [again.runs[0].path.name]
    job = Job(again.write(np.sort(keys[:10]), {}))
    job.pay(1)
    job.cancel()
    assert list(tmp_path.glob("*.new")) == []
    assert again.due() == []


def test_a_first_run_that_was_never_committed_is_swept(tmp_path: Path) -> None:
    """It is no sign of a manifest that was lost."""
    killed = RunStore(tmp_path)

    def written() -> Work:
        yield from killed.written(np.sort(random_keys(20)))

    Job(written()).finish()
    killed.close()
    assert list(tmp_path.glob("*.run"))
    store = RunStore(tmp_path)
    store.sweep()
    assert len(store) == 0
    assert not list(tmp_path.glob("*.run"))
    store.close()


def test_a_store_is_opened_while_another_process_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The id, not yet under its name, was deleted as a part of a run, which ended that process."""
    sync = os.fsync

    def meanwhile(number: int) -> None:
        monkeypatch.setattr(os, "fsync", sync)
        RunStore(tmp_path).sweep()
        sync(number)

    monkeypatch.setattr(os, "fsync", meanwhile)
    assert store_id(tmp_path) == store_id(tmp_path)


def test_a_store_of_another_format_is_refused(tmp_path: Path) -> None:
    replace(tmp_path / "MANIFEST", {"version": 99, "runs": [], "next": 0, "facts": {}}, durable=True)
    with pytest.raises(StoreError, match="99"):
        RunStore(tmp_path)


def test_newest_keys_stay_few_arrays() -> None:
    newest = Newest()
    keys = np.unique(random_keys(5000))
    for start in range(0, 5000, 7):
        newest.add(keys[start : start + 7])
    newest.add(keys[:0])
    assert len(newest.arrays()) < 14
    assert (newest.all() == keys).all()


def test_a_filter_grows_with_the_keys(tmp_path: Path) -> None:
    seen = Seen(RunStore(tmp_path, durable=False), SeenConfig(run_keys=10_000, filter_keys=100))
    keys = random_keys(4000)
    for part in np.split(keys[:3000], 30):
        seen.screen(part)
        seen.admit(part)
        seen.work(10_000)
    assert seen.screen(keys[3000:])[1].mean() < 0.1
    seen.close()


def test_a_larger_filter_has_all_that_came_before_and_while_it_was_made(tmp_path: Path) -> None:
    """Of what it had not it would say that it is certainly new, though it is known or waits."""
    seen = Seen(RunStore(tmp_path, durable=False), SeenConfig(run_keys=1000, filter_keys=100))
    waiting, keys = np.split(random_keys(2050), [50])
    seen.screen(waiting)
    for part in np.split(keys, 40):
        seen.screen(part)
        seen.admit(part)
        seen.work(1000, lambda: [waiting])
        if seen.full:
            seen.freeze({})
    seen.forget_recent()
    for part in (waiting, keys):
        places, maybe = seen.screen(part)
        assert len(places) == len(part)
        assert maybe.all()
    assert seen.screen(random_keys(1000, 2))[1].mean() < 0.1
    seen.close()


def test_a_failed_merge_is_put_off_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    store = RunStore(tmp_path, durable=False)
    seen = Seen(store, SeenConfig(run_keys=10, filter_keys=8))
    keys = random_keys(40)

    def full(*_: object) -> Work:
        raise OSError("no space left")
        yield 1

    monkeypatch.setattr(store, "merge", full)
    for start in range(0, 40, 10):
        part = keys[start : start + 10]
        seen.screen(part)
        seen.admit(part)
        seen.work(100)
        seen.freeze({})
        seen.settle({})
    assert "put off: no space left" in caplog.text
    assert len(store.runs) == 4
    assert len(seen) == 40
    monkeypatch.undo()
    store.commit(store.runs, {})
    seen.freeze({})
    seen.settle({})
    assert not seen.unknown(seen.snapshot(), np.sort(keys)).any()
    seen.close()


def test_a_failed_write_keeps_its_keys_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = RunStore(tmp_path, durable=False)
    seen = Seen(store, SeenConfig(run_keys=10))
    keys = random_keys(20)
    seen.screen(keys)
    seen.admit(keys)
    monkeypatch.setattr(RunWriter, "finish", full_disk)
    with pytest.raises(OSError, match="no space"):
        seen.settle({})
    assert not seen.unknown(seen.snapshot(), np.sort(keys)).any()
    monkeypatch.undo()
    seen.settle({})
    assert len(store) == 20
    seen.close()


def test_keys_whose_manifest_failed_are_counted_once_and_named_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They were in the run and in memory, and with the next manifest in two runs."""
    seen = Seen(RunStore(tmp_path, durable=False), SeenConfig(run_keys=10))
    keys, later = np.split(random_keys(30), [20])
    seen.screen(keys)
    seen.admit(keys)
    done: list[str] = []
    with monkeypatch.context() as patched:
        patched.setattr("sieve.sets.store.replace", full_disk)
        with pytest.raises(OSError, match="no space"):
            seen.settle({"epoch": 1})
    assert len(seen) == 20
    assert not seen.unknown(seen.snapshot(), np.sort(keys)).any()
    assert seen.store.facts == {}, "it does not stand"
    seen.settle({"epoch": 1}, lambda: done.append("what must be done before"))
    assert len(RunStore(tmp_path)) == len(seen) == 20
    assert (RunStore(tmp_path).facts, done) == ({"epoch": 1}, ["what must be done before"])
    seen.settle({"epoch": 2})
    assert RunStore(tmp_path).facts == {"epoch": 1}, "once is enough"
    seen.admit(later)
    seen.settle({"epoch": 2})
    assert len(RunStore(tmp_path)) == len(seen) == 30
    seen.close()


def test_keys_are_counted_once_while_their_run_is_committed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rebuild that ended in that moment told 170,000 known URLs of 100,000."""
    slow: list[Future[None]] = []

    def later(_store: RunStore, _call: Callable[[], None]) -> Future[None]:
        slow.append(Future())
        return slow[-1]

    monkeypatch.setattr(RunStore, "later", later)
    seen = Seen(RunStore(tmp_path), SeenConfig())
    keys = random_keys(20)
    seen.screen(keys)
    seen.admit(keys)
    seen.freeze({})
    for asked in range(1, 4):  # what is to be done before, to sync the run, to replace the manifest
        seen.work(1000)
        assert (len(slow), len(seen)) == (asked, 20)
        assert not seen.unknown(seen.snapshot(), np.sort(keys)).any()
        slow[-1].set_result(None)
    seen.work(1000)
    assert (len(seen), len(seen.store)) == (20, 20)
    seen.close()


def test_runs_that_were_merged_go_when_a_manifest_stands_that_does_not_name_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After one that could not be replaced they stayed until the next opening, with as much again as there is."""
    seen = Seen(RunStore(tmp_path), SeenConfig(run_keys=10))

    def add(seed: int) -> None:
        keys = random_keys(20, seed)
        seen.screen(keys)
        seen.admit(keys)
        seen.settle({})

    add(1)
    add(2)
    with monkeypatch.context() as patched:
        patched.setattr("sieve.sets.store.replace", full_disk)
        while "merge" not in seen._jobs:
            seen.work(1000)
        while "merge" in seen._jobs:
            seen.work(1000)
    assert len(list(tmp_path.glob("*.run"))) == 3, "the manifest names two of them"
    add(3)
    assert sorted(tmp_path.glob("*.run")) == sorted(run.path for run in seen.store.runs)
    seen.close()
    assert len(RunStore(tmp_path)) == 60


@pytest.mark.parametrize("failing", ["sieve.sets.store.sync_folder", "before"])
def test_no_run_is_left_of_each_try_to_write_one(failing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With each call another one, until the sieve was opened anew."""
    seen = Seen(RunStore(tmp_path), SeenConfig(run_keys=10))
    keys = random_keys(20)
    seen.screen(keys)
    seen.admit(keys)
    with monkeypatch.context() as patched:
        if failing != "before":
            patched.setattr(failing, full_disk)
        for _ in range(3):
            with pytest.raises(OSError, match="no space"):
                seen.settle({}, full_disk)
    assert not list(tmp_path.glob("*.run*"))
    seen.settle({})
    seen.close()
    assert len(RunStore(tmp_path)) == 20


def test_a_part_of_what_waits_of_which_nothing_can_be_read_goes_with_the_next_flush(tmp_path: Path) -> None:
    """It was told at each opening."""
    urls = ["http://example.org/1", "http://example.org/2"]
    room = WaitingRoom(tmp_path)
    room.append(np.arange(2, dtype=np.uint64), Fingerprinter().batch(urls))
    room.seal()
    room.append(np.arange(2, 4, dtype=np.uint64), Fingerprinter().batch(urls))
    room.close()
    (tmp_path / "waiting-00000000.log").write_bytes(b"rubbish" * 9)
    room = WaitingRoom(tmp_path)
    assert room.now.count == 2
    room.drop(room.seal())
    room.close()
    assert [path.name for path in tmp_path.iterdir()] == ["waiting-00000002.log"]


def test_jobs_pay_for_steps_and_wait_for_futures() -> None:
    future: Future[None] = Future()
    done: list[int] = []

    def work() -> Work:
        for number in range(4):
            done.append(number)
            yield 10
        yield future
        done.append(99)

    job = Job(work())
    job.pay(1)
    assert done == [0]
    job.pay(1)
    assert done == [0]
    for _ in range(60):
        job.pay(1)
    assert done == [0, 1, 2, 3]
    future.set_result(None)
    job.pay(5)
    assert done[-1] == 99
    assert job.done


@pytest.mark.parametrize("going_on", [Job.finish, lambda job: job.pay(1)])
def test_what_a_job_waits_for_fails_in_the_job(going_on: Callable[[Job], None]) -> None:
    """Once: such a job was never done, and whoever paid for it was told the same for ever."""
    failing: Future[None] = Future()
    told: list[str] = []

    def work() -> Work:
        try:
            yield failing
        finally:
            told.append("the end")

    job = Job(work())
    job.pay(1)
    failing.set_exception(OSError("disk"))
    with pytest.raises(OSError, match="disk"):
        going_on(job)
    assert (job.done, told) == (True, ["the end"])


def test_a_full_disk_that_has_room_again_is_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every call failed for the manifest that had found no room, until the sieve was opened anew."""

    def later(_store: RunStore, call: Callable[[], None]) -> Future[None]:
        done: Future[None] = Future()
        try:
            call()
            done.set_result(None)
        except OSError as error:
            done.set_exception(error)
        return done

    monkeypatch.setattr(RunStore, "later", later)
    seen = Seen(RunStore(tmp_path), SeenConfig(run_keys=10))
    keys = random_keys(20)
    seen.screen(keys)
    seen.admit(keys)
    seen.freeze({})
    with monkeypatch.context() as patched:
        patched.setattr("sieve.sets.store.replace", full_disk)
        with pytest.raises(OSError, match="no space"):
            seen.work(1000)
    for _ in range(3):
        seen.work(1000)
    seen.settle({})
    seen.close()
    again = Seen(RunStore(tmp_path), SeenConfig())
    assert not again.unknown(again.snapshot(), np.sort(keys)).any()
    again.close()


def test_a_log_tells_of_a_full_segment_that_breaks_off(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    log = Log(tmp_path, "x", segment_bytes=100)
    for number in range(8):
        log.append(bytes([number]) * 40)
    log.close()
    first = min(tmp_path.glob("x-*.log"))
    first.write_bytes(first.read_bytes()[:-1])
    again = Log(tmp_path, "x", segment_bytes=100)
    assert [record.body[0] for record in again.records(Place(0, 0))] == [0, 2, 3, 4, 5, 6, 7]
    (said,) = [record.getMessage() for record in caplog.records]
    assert said.startswith(f"{first} is damaged: the record at ")
    again.close()


def logged(folder: Path, bodies: Sequence[bytes]) -> tuple[Path, list[Place]]:
    """The one segment of a log of these, and their places."""
    log = Log(folder, "x")
    places = [log.append(body) for body in bodies]
    log.close()
    return folder / "x-00000000.log", places


def said_of(folder: Path, caplog: pytest.LogCaptureFixture) -> tuple[list[bytes], list[str]]:
    """What is read of a log after it was opened and had one more, and what was told meanwhile."""
    caplog.clear()
    log = Log(folder, "x")
    log.append(b"one more")
    bodies = [record.body for record in log.records(Place(0, 0))]
    log.close()
    return bodies, [record.getMessage() for record in caplog.records]


@pytest.mark.parametrize("damaged", range(4))
def test_a_flipped_bit_in_a_length_costs_no_record(
    damaged: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """What followed in the last segment was cut off as torn by a crash, and nobody told."""
    bodies = [b"record %d " % number * 30 for number in range(4)]
    path, places = logged(tmp_path, bodies)
    stored = path.read_bytes()
    for bit in range(32):
        for file in tmp_path.iterdir():
            file.unlink()
        broken = bytearray(stored)
        broken[places[damaged].offset + bit // 8] ^= 1 << bit % 8
        path.write_bytes(broken)
        for _ in range(2):  # the second opening meets it in the middle
            found, said = said_of(tmp_path, caplog)
            assert (found[:4], said) == (bodies, [])


@pytest.mark.parametrize("last", [False, True])
def test_a_broken_record_is_told_once_and_costs_none_behind_it(
    last: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Where all of it is zeros, each twelve of them were told as one; where its length is one of other bytes, what
    followed in the last segment was cut off."""
    bodies = [b"record %d " % number * 30 for number in range(4)]
    path, places = logged(tmp_path, bodies)
    stored = path.read_bytes()
    begin, end = places[1].offset, places[2].offset
    for junk in (bytes(end - begin), b"\xff" * (end - begin), (b"\x07\0\0\0" * 99)[: end - begin]):
        for file in tmp_path.iterdir():
            file.unlink()
        path.write_bytes(stored[:begin] + junk + stored[end:])
        if not last:
            log = Log(tmp_path, "x")
            log.roll()
            log.close()
        found, said = said_of(tmp_path, caplog)
        assert found == [bodies[0], *bodies[2:], b"one more"]
        assert said == [
            f"{path} is damaged: the checksum of the record at {begin} ({end - begin - 12} bytes) is wrong; "
            "its URLs are passed over"
        ]


@pytest.mark.parametrize("zeros", [1, 11, 12, 13, 5000])
def test_zeros_at_the_end_are_the_trace_of_a_crash(
    zeros: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path, _ = logged(tmp_path, [b"one", b"two"])
    stored = path.read_bytes()
    path.write_bytes(stored + bytes(zeros))
    assert said_of(tmp_path, caplog) == ([b"one", b"two", b"one more"], [])
    assert path.read_bytes()[: len(stored) + 1] == stored + b"\x08"


def test_a_log_cut_anywhere_has_what_is_whole_and_tells_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    bodies = [b"record %d " % number * 3 for number in range(3)]
    path, places = logged(tmp_path, bodies)
    stored = path.read_bytes()
    ends = [place.offset for place in places[1:]] + [len(stored)]
    for size in range(len(stored)):
        path.write_bytes(stored[:size])
        whole = [end for end in ends if end <= size]
        assert said_of(tmp_path, caplog) == ([*bodies[: len(whole)], b"one more"], [])
        assert path.stat().st_size == max([0, *whole]) + 12 + len(b"one more")


def test_a_long_torn_record_is_looked_through_at_once(tmp_path: Path) -> None:
    """For records behind it: its places that look like lengths are few where it has URLs."""
    rng = np.random.default_rng(3)
    path, _ = logged(tmp_path, [b"first", rng.bytes(1 << 20) + b"http://example.org/some/page" * 300_000])
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 1)
    begin = time.process_time()
    log = Log(tmp_path, "x")
    assert time.process_time() - begin < 5
    assert [record.body for record in log.records(Place(0, 0))] == [b"first"]
    log.close()


@pytest.mark.parametrize("unit", [b"\x10\0", b"\x07\0\0\0"])
def test_what_is_tried_for_records_in_old_blocks_of_a_disk_is_bounded(
    unit: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 2 MB of them 11 s were read for records, four times as long of twice as many."""
    path, _ = logged(tmp_path, [b"first"])
    with path.open("ab") as file:
        file.write(unit * ((2 << 20) // len(unit)))
    tried = 0

    def counted(data: memoryview) -> int:
        nonlocal tried
        tried += len(data)
        return xxh3_64_intdigest(data)

    monkeypatch.setattr(damage, "xxh3_64_intdigest", counted)
    log = Log(tmp_path, "x")
    assert 0 < tried < 3 << 30
    log.append(b"behind it")
    assert [record.body for record in log.records(Place(0, 0))] == [b"first", b"behind it"]
    log.close()


def test_a_long_record_is_found_behind_random_bytes(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    bodies = [b"first", rng.bytes((3 << 20) + 99), rng.bytes(2 << 20), b"last"]
    path, places = logged(tmp_path, bodies)
    with path.open("r+b") as file:
        file.seek(places[1].offset)
        file.write(b"\xff" * 20)
    with contextlib.closing(Log(tmp_path, "x")) as log:
        assert [record.body for record in log.records(Place(0, 0))] == [bodies[0], *bodies[2:]]


def test_a_record_that_another_process_goes_on_writing_is_whole(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """`check` beside a sieve told of damage when what followed was being written by then."""
    path, places = logged(tmp_path, [b"one", b"two", b"three"])
    stored = path.read_bytes()[:-1]

    class Written(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            data = super().read(size)
            if size == len(b"two") and self.tell() == places[2].offset:
                return data[:-1]
            return data

    log = LogReader(tmp_path, "x")
    log._reading = (0, Written(stored))
    assert [record.body for record in log.records(Place(0, 0))] == [b"one", b"two"]
    assert not caplog.records
    log.close()


@pytest.mark.parametrize("rolls", [False, True])
def test_part_of_a_record_that_could_not_be_taken_back_at_once_is_so_before_the_next(
    rolls: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It stood before the next one, whose place was then a wrong one."""

    class Full:
        """A file on a full disk, which cannot be shortened either."""

        def __init__(self, file: Any) -> None:
            self._file, self._room = file, 5
            self.truncate = full_disk

        def __getattr__(self, name: str) -> Any:
            return getattr(self._file, name)

        def write(self, data: bytes) -> int:
            if not self._room:
                full_disk()
            written, self._room = self._file.write(data[: self._room]), 0
            return int(written)

    log = Log(tmp_path, "x")
    log.append(b"before")
    for _ in range(2):
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(log, "_file", Full(log._file))
            with pytest.raises(OSError, match="no space"):
                log.append(b"in part")
    assert log.read(Place(0, 0)).body == b"before"  # which reads ahead
    if rolls:
        log.roll()
    place = log.append(b"after")
    assert log.read(place).body == b"after"
    assert [record.body for record in log.records(Place(0, 0))] == [b"before", b"after"]
    assert not caplog.records
    log.close()


def test_a_log_rolls_reads_and_drops(tmp_path: Path) -> None:
    log = Log(tmp_path, "x", segment_bytes=100)
    places = [log.append(bytes([number]) * 30) for number in range(10)]
    assert log.segments() == [0, 1, 2, 3]
    assert [record.body[0] for record in log.records(places[4])] == list(range(4, 10))
    assert log.read(places[7]).body == b"\x07" * 30
    with pytest.raises(DamagedError, match="no record"):
        log.read(log.end)
    log.sync()
    log.drop_before(2)
    assert log.segments() == [2, 3]
    assert next(log.records(Place(0, 0))).body[0] == 6
    log.close()
    again = Log(tmp_path, "x", segment_bytes=100)
    assert again.end == log.end
    again.roll()
    again.append(b"more")
    again.roll()
    again.close()


def synced(monkeypatch: pytest.MonkeyPatch, fails: int = 0) -> list[str]:
    """The names of the files that are made durable from now on; the call of the number `fails` is refused, and the
    names begin anew."""
    names: list[str] = []
    fsync = os.fsync

    def sync(number: int) -> None:
        nonlocal fails
        names.append(Path(f"/proc/self/fd/{number}").readlink().name)
        if len(names) == fails:
            names.clear()
            fails = 0
            raise OSError(errno.EIO, "no disk")
        fsync(number)

    monkeypatch.setattr(os, "fsync", sync)
    return names


def test_a_log_that_could_not_be_synced_is_synced_from_there_on_the_next_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = Log(tmp_path, "x", segment_bytes=100)
    for number in range(10):
        log.append(bytes([number]) * 30)
    names = synced(monkeypatch, fails=2)
    with pytest.raises(OSError, match="no disk"):
        log.sync()
    log.sync()
    assert names == [*(f"x-{number:08d}.log" for number in range(1, 4)), tmp_path.name]
    log.sync()
    assert len(names) == 4, "once is enough"
    log.close()


def test_names_that_could_not_be_synced_are_synced_the_next_time_also_where_the_last_segment_is_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That all was durable was said without them."""
    log = Log(tmp_path, "x")
    log.append(b"one")
    log.roll()
    names = synced(monkeypatch, fails=3)
    with pytest.raises(OSError, match="no disk"):
        log.sync()
    log.sync()
    assert names[-1] == tmp_path.name
    log.close()


def test_of_a_log_only_the_segment_whose_fsync_failed_and_the_last_at_opening_are_written_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After an opening, when none is known to be durable, all were, however long the queue was. The last one may be
    taken for written that was not, as the process died whose fsync had failed: that was said to be durable."""
    log = Log(tmp_path, "x", segment_bytes=100)
    for number in range(10):
        log.append(bytes([number]) * 30)
    log.abandon()
    log = Log(tmp_path, "x", segment_bytes=100)
    anew: list[str] = []
    write = os.pwrite

    def noted(number: int, data: bytes, place: int) -> int:
        anew.append(Path(f"/proc/self/fd/{number}").readlink().name)
        return write(number, data, place)

    monkeypatch.setattr(os, "pwrite", noted)
    for fails, tried_again, once in ((2, [1, 2, 3], [3]), (1, [3], [])):
        names = synced(monkeypatch, fails)
        with pytest.raises(OSError, match="no disk"):
            log.sync()
        assert len(anew) == 1
        log.sync()
        assert anew == [f"x-{one:08d}.log" for one in (tried_again[0], tried_again[0], *once)]
        assert [name for name in names if name != tmp_path.name] == [f"x-{one:08d}.log" for one in tried_again]
        anew.clear()
        log.append(b"more")
    log.close()
    assert not anew


def test_what_is_made_durable_does_not_stay_open(tmp_path: Path) -> None:
    """For weeks, at each flush."""
    log = Log(tmp_path, "x", segment_bytes=100)

    def more() -> int:
        for number in range(10):
            log.append(bytes([number]) * 30)
        log.sync()
        replace(tmp_path / "MANIFEST", {}, durable=True)
        return sum(1 for _ in Path("/proc/self/fd").iterdir())

    before = more()
    assert [more() for _ in range(3)] == [before] * 3
    log.close()


def test_a_file_called_nearly_as_a_segment_is_none(tmp_path: Path) -> None:
    """A copy by hand kept the sieve from opening."""
    log = Log(tmp_path, "x")
    log.append(b"one")
    log.close()
    for name in ("x-old", "x-00000000 (copy)", "x-7", "x-00000007-2", "x-"):
        (tmp_path / f"{name}.log").write_bytes(b"of somebody else")
    log = Log(tmp_path, "x")
    log.append(b"two")
    assert [record.body for record in log.records(Place(0, 0))] == [b"one", b"two"]
    assert log.segments() == [0]
    log.drop_before(log.roll())
    log.close()
    assert len(list(tmp_path.iterdir())) == 6, "nor is any deleted"


def test_a_log_that_could_not_begin_to_be_synced_is_synced_the_next_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none_left(*_: object) -> int:
        raise OSError(errno.EMFILE, "too many open files")

    log = Log(tmp_path, "x", segment_bytes=100)
    for number in range(4):
        log.append(bytes([number]) * 30)
    with monkeypatch.context() as patched:
        patched.setattr(os, "open", none_left)
        with pytest.raises(OSError, match="too many"):
            log.sync()
    names = synced(monkeypatch)
    log.sync()
    assert names == ["x-00000000.log", "x-00000001.log", tmp_path.name]
    log.close()


@pytest.mark.parametrize(("fails", "segment", "begin", "end"), [(1, 0, 42, 126), (2, 1, 0, 84)])
def test_what_an_fsync_could_not_write_is_written_anew(
    fails: int, segment: int, begin: int, end: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel takes it for written, and said of it with the next fsync that all is well."""
    log = Log(tmp_path, "x", segment_bytes=100)
    log.append(bytes(30))
    log.sync()
    for number in range(1, 5):
        log.append(bytes([number]) * 30)
    path = tmp_path / f"x-{segment:08d}.log"
    stored, write = path.read_bytes(), os.pwrite
    anew: dict[int, bytes] = {}

    def noted(number: int, data: bytes, place: int) -> int:
        assert Path(f"/proc/self/fd/{number}").readlink() == path
        anew[place] = data
        return write(number, data, place)

    monkeypatch.setattr(os, "pwrite", noted)
    synced(monkeypatch, fails)
    with pytest.raises(OSError, match="no disk"):
        log.sync()
    assert anew == {begin: stored[begin:end]}
    monkeypatch.setattr(os, "pwrite", write)
    log.append(b"more")
    log.sync()
    log.close()
    assert path.read_bytes()[:end] == stored


def test_what_was_appended_amid_an_fsync_that_fails_is_written_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That fsync tried it, too, as the kernel knows only of whole files."""
    log = Log(tmp_path, "x")
    log.append(b"before")
    fsync, write = os.fsync, os.pwrite
    anew: list[bytes] = []

    def failing(_number: int) -> None:
        monkeypatch.setattr(os, "fsync", fsync)
        log.append(b"meanwhile")
        raise OSError(errno.EIO, "no disk")

    def noted(number: int, data: bytes, place: int) -> int:
        anew.append(data)
        return write(number, data, place)

    monkeypatch.setattr(os, "fsync", failing)
    monkeypatch.setattr(os, "pwrite", noted)
    with pytest.raises(OSError, match="no disk"):
        log.sync()
    log.sync()
    assert b"meanwhile" in anew[-1]
    anew.clear()
    log.append(b"after")
    log.close()
    assert not anew, "all has been well since"


def test_what_could_not_be_written_anew_is_so_before_the_next_fsync(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = Log(tmp_path, "x")
    log.append(b"before")
    fsync, write = os.fsync, os.pwrite
    steps: list[str] = []

    def synced(number: int) -> None:
        steps.append("fsync")
        fsync(number)

    def written(*given: Any) -> int:
        steps.append("write")
        return write(*given)

    def failing(_number: int) -> None:
        monkeypatch.setattr(os, "fsync", synced)
        raise OSError(errno.EIO, "no disk")

    def full(*_: object) -> int:
        monkeypatch.setattr(os, "pwrite", written)
        raise OSError(errno.ENOSPC, "no room")

    monkeypatch.setattr(os, "fsync", failing)
    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(OSError, match="no room"):
        log.sync()
    log.sync()
    assert steps[:2] == ["write", "fsync"]
    log.close()


def test_no_sync_says_that_all_is_well_before_another_has_written_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = Log(tmp_path, "x")
    log.append(b"before")
    fsync, write = os.fsync, os.pwrite
    other = threading.Thread(target=log.sync)

    def failing(_number: int) -> None:
        monkeypatch.setattr(os, "fsync", fsync)
        raise OSError(errno.EIO, "no disk")

    def later(*given: Any) -> int:
        monkeypatch.setattr(os, "pwrite", write)
        other.start()
        other.join(0.2)
        assert other.is_alive()
        return write(*given)

    monkeypatch.setattr(os, "fsync", failing)
    monkeypatch.setattr(os, "pwrite", later)
    with pytest.raises(OSError, match="no disk"):
        log.sync()
    other.join()
    log.close()


def test_a_segment_that_is_full_before_its_sync_fails_is_synced_the_next_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its sync waits in another thread meanwhile."""
    log = Log(tmp_path, "x")
    log.append(b"before")

    def failing(_number: int) -> None:
        log.roll()
        raise OSError(errno.EIO, "no disk")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", failing)
        with pytest.raises(OSError, match="no disk"):
            log.sync()
    names = synced(monkeypatch)
    log.sync()
    assert "x-00000000.log" in names
    log.close()


def test_a_log_is_durable_after_a_sync_also_where_another_has_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What another thread was about to make durable was handed out."""
    log = Log(tmp_path, "x")
    log.append(b"before")
    names: list[str] = []
    fsync = os.fsync

    def begun(_number: int) -> None:
        monkeypatch.setattr(os, "fsync", fsync)
        again = synced(monkeypatch)
        log.sync()
        names.extend(again)

    monkeypatch.setattr(os, "fsync", begun)
    log.sync()
    assert names == ["x-00000000.log", tmp_path.name]
    log.close()


def test_a_log_that_is_opened_again_is_synced_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that was killed may have synced none of its segments, and what stands in them is handed out."""
    log = Log(tmp_path, "x", segment_bytes=100)
    for number in range(4):
        log.append(bytes([number]) * 30)
    log.roll()
    log.abandon()
    log = Log(tmp_path, "x", segment_bytes=100)
    names = synced(monkeypatch)
    log.sync()
    assert names == [*(f"x-{number:08d}.log" for number in range(3)), tmp_path.name]
    log.sync()
    assert len(names) == 4, "once is enough"
    log.close()


def test_what_is_being_appended_while_an_fsync_fails_is_written_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is in the file, and was tried with the rest, before the log says that it ends behind it."""
    log = Log(tmp_path, "x")
    log.append(b"before")
    again: list[tuple[int, int]] = []
    pwrite = os.pwrite

    def noted(number: int, data: bytes, place: int) -> int:
        again.append((place, place + len(data)))
        return pwrite(number, data, place)

    def sync_twice() -> None:
        with pytest.raises(OSError, match="no disk"):
            log.sync()
        log.sync()

    syncing = threading.Thread(target=sync_twice)

    class Slow:
        """A file whose bytes are there some time before the one who wrote them goes on."""

        file = log._file

        def __getattr__(self, name: str) -> Any:
            return getattr(self.file, name)

        def write(self, data: bytes) -> int:
            written = self.file.write(data)
            syncing.start()
            syncing.join(0.2)
            return written

    synced(monkeypatch, fails=1)
    monkeypatch.setattr(os, "pwrite", noted)
    monkeypatch.setattr(log, "_file", Slow())
    log.append(b"late")
    syncing.join()
    log.sync()
    assert (0, log.end.offset) in again
    log.close()


def test_a_log_that_was_synced_amid_an_append_is_synced_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = Log(tmp_path, "x")
    log.append(b"before")

    class Slow:
        """A file that another thread syncs just before bytes are written."""

        file = log._file

        def __getattr__(self, name: str) -> Any:
            return getattr(self.file, name)

        def write(self, data: bytes) -> int:
            log.sync()
            return self.file.write(data)

    monkeypatch.setattr(log, "_file", Slow())
    log.append(b"late")
    names = synced(monkeypatch)
    log.sync()
    assert names == ["x-00000000.log"]
    log.close()


def test_replaced_files_are_whole(tmp_path: Path) -> None:
    path = tmp_path / "m"
    assert load(path) is None
    replace(path, {"a": 1}, durable=True)
    assert load(path) == {"a": 1}
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(DamagedError, match="checksum"):
        load(path)
    path.write_bytes(b"x")
    with pytest.raises(DamagedError):
        load(path)


def test_numbered_batches_lie_in_logs_as_they_always_did() -> None:
    numbers = np.array([3, 9], np.uint64)
    packed = pack_numbered(numbers, Fingerprinter().batch(["http://a/", "http://b/"]))
    stored = (
        "02000000" "0300000000000000" "0900000000000000"
        "93c41036d5070348ffcb2893d818bf75fae6a6" "92a9687474703a2f2f612fa9687474703a2f2f622fc0"
    )  # fmt: skip
    assert packed.hex() == stored
    again, batch = unpack_numbered(b"\1" + bytes.fromhex(stored), 1)
    assert (again.tolist(), batch.items()) == ([3, 9], ["http://a/", "http://b/"])


def test_batches_travel_packed() -> None:
    items: list[Item] = ["http://a/", Entry("http://b/", b"x"), Entry("http://c/")]
    batch = Fingerprinter(7).batch(items)
    again = Batch.unpack(batch.pack())
    assert again.items() == items
    assert (again.keys == batch.keys).all()
    assert batch.at(np.array([2])).items() == items[2:]
    assert batch.at(np.array([0, 2])).items() == [items[0], items[2]]
    assert batch.at(np.arange(3)) is batch
    assert batch.part(1, 3).items() == items[1:]
    plain = Fingerprinter(already_canonical=True).batch(["x", "y"])
    assert Batch.join([plain, batch]).items() == ["x", "y", *items]
    assert Batch.join([plain, plain]).items() == ["x", "y", "x", "y"]
    assert plain.part(0, 1).items() == ["x"]
    assert plain.at(np.array([1])).items() == ["y"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("mercator", "no kind"),
        ("nothing:", "unknown kind"),
        ("mercator:", "no folder"),
        ("mercator:/x?buffer", "without a value"),
        ("mercator:/x?buffer=many", "no number"),
        ("mercator:/x?buffer=0", "at least 1"),
        ("mercator:/x?sync=perhaps", "yes or no"),
        ("mercator:/x?bufer=1", "unknown option 'bufer'"),
        ("memory:?x=1", "unknown option"),
        ("redis://localhost/0", "no crawl"),
    ],
)
def test_specifications_are_checked(text: str, reason: str) -> None:
    with pytest.raises(SpecError, match=reason) as caught:
        open_sieve(text)
    assert caught.value.spec == text


def test_numbers_in_specifications() -> None:
    spec = Spec.parse("x:/a%20b?n=1e7&f=yes")
    assert spec.whole("n", 1) == 10_000_000
    assert spec.flag("f")
    assert spec.folder() == "/a b"
    assert spec.real("absent", 0.5) == 0.5


@pytest.mark.parametrize("kind", ["mercator", "offline", "lsm"])
def test_another_seed_is_refused(tmp_path: Path, kind: str) -> None:
    sieve = open_sieve(f"{kind}:{tmp_path}?seed=5")
    sieve.enqueue(["http://h/"])
    sieve.flush()
    sieve.close()
    with pytest.raises(StoreError, match="seed 5"):
        open_sieve(f"{kind}:{tmp_path}?seed=6")
    open_sieve(f"{kind}:{tmp_path}?seed=5").close()


def test_seeds_are_random_and_kept(tmp_path: Path) -> None:
    stores = [MercatorSieve(tmp_path / name, MercatorConfig()) for name in ("a", "b")]
    seeds = [sieve.store.facts["seed"] for sieve in stores]
    assert seeds[0] != seeds[1]
    for sieve in stores:
        sieve.close()
    again = MercatorSieve(tmp_path / "a", MercatorConfig())
    assert again.store.facts["seed"] == seeds[0]
    assert again.pending() == 0
    again.close()


def test_late_urls_come_out_in_their_place(tmp_path: Path) -> None:
    seen = SeenConfig(run_keys=8, filter_keys=1, filter_bytes=24, recent_bits=4)
    config = MercatorConfig(buffer=1000, seen=seen, seed=1)
    urls = [f"http://h/{number}" for number in range(300)]
    sieve = MercatorSieve(tmp_path, config)
    for start in range(0, 200, 10):
        sieve.enqueue(urls[start : start + 10])
    assert 0 < sieve.pending() < 200
    got = sieve.drain(5)
    sieve.flush()
    sieve.enqueue(urls[200:])
    sieve.close()
    sieve = MercatorSieve(tmp_path, config)
    rest = sieve.drain(50)
    sieve.close()
    sieve = MercatorSieve(tmp_path, config)
    sieve.flush()
    rest += sieve.drain()
    sieve.close()
    assert sorted([*map(str, got), *map(str, rest)]) == sorted(urls)
    firsts = [int(str(url).rpartition("/")[2]) for url in rest if int(str(url).rpartition("/")[2]) < 200]
    assert firsts == sorted(firsts)


def test_what_is_acknowledged_costs_the_same_however_much_is_late(tmp_path: Path) -> None:
    """Each position named all late records that were left, and each call looked at all of them."""
    sizes = []
    for late in (2, 200):
        (tmp_path / str(late)).mkdir()
        queue = ready.ReadyQueue(tmp_path / str(late))
        assert list(queue.recover(Place(0, 0))) == []
        urls = [f"http://h/{number}" for number in range(2 * late)]
        for number in range(0, 2 * late, 2):
            batch = Fingerprinter().batch(urls[number : number + 2])
            queue.append_late(np.array([number, number + 1], np.uint64), batch)
        assert queue.read(3) == urls[:3]
        queue.acknowledge(2 * late)
        sizes.append(queue._positions.end.offset)
        queue.close()
        again = ready.ReadyQueue(tmp_path / str(late))
        assert len(list(again.recover(Place(0, 0)))) == late
        assert again.read(None) == urls[3:]
        again.acknowledge(2 * late)
        again.close()
    assert sizes[1] < sizes[0] + 8


def test_a_queue_of_which_many_segments_are_lost_goes_on_behind_them(tmp_path: Path) -> None:
    """It made each of them anew, and held them open: with 1,000 too many files were."""
    first, second = ["http://h/1", "http://h/2"], ["http://h/3", "http://h/4"]
    queue = ready.ReadyQueue(tmp_path)
    assert list(queue.recover(Place(0, 0))) == []
    queue.append(np.arange(2, dtype=np.uint64), Fingerprinter().batch(first))
    queue.close()
    queue = ready.ReadyQueue(tmp_path)
    assert list(queue.recover(Place(3000, 5))) == []
    queue.append(np.arange(2, 4, dtype=np.uint64), Fingerprinter().batch(second))
    queue.close()
    queue = ready.ReadyQueue(tmp_path)
    assert [len(keys) for keys in queue.recover(Place(3000, 5))] == [2]
    assert queue.read(None) == first + second
    queue.close()
    assert sorted(path.name for path in tmp_path.glob("ready-*")) == ["ready-00000000.log", "ready-00003001.log"]


def test_what_is_taken_leaves_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the queue and of the positions in it whole segments go, as far as they are acknowledged."""
    monkeypatch.setattr(ready, "_POSITIONS_BYTES", 200)
    with contextlib.closing(open_sieve(f"offline:{tmp_path}")) as sieve:
        for number in range(50):
            sieve.enqueue([Entry(f"http://example.org/{number}", bytes(1 << 20))])
        sieve.flush()
        left = []
        for _ in range(9):
            sieve.drain(5)
            left.append([len(list(tmp_path.glob(f"{log}-*.log"))) for log in ("ready", "taken")])
    assert left == [[4, 1]] * 4 + [[3, 1]] * 3 + [[2, 1]] * 2


def test_errors_carry_facts() -> None:
    assert "lost" in str(FencedError("lease lost"))
    error = DamagedError("file", "why")
    assert (error.path, error.reason) == ("file", "why")
