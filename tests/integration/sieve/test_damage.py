"""Damaged and full disks: detected, named, repaired from what is sound."""

from __future__ import annotations

import contextlib
import errno
import os
import resource
import shutil
from pathlib import Path

import pytest

from sieve import open_sieve
from sieve.errors import DamagedError, StoreError
from sieve.kinds.mercator import MercatorConfig, MercatorSieve
from sieve.sets.runs import BLOCK_KEYS, HEAD_BYTES, Run
from sieve.sets.seen import SeenConfig
from sieve.tools import check, folder_stats, rebuild, repair

URLS = [f"http://example.org/{number}" for number in range(20_000)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "s"
    sieve = open_sieve(f"mercator:{made}")
    sieve.enqueue(URLS)
    sieve.flush()  # what the Bloom filter is unsure of leaves at a flush only
    out = sieve.drain()
    sieve.close()
    assert len(out) == len(URLS)
    return made


def run_of(folder: Path) -> Path:
    (path,) = folder.glob("*.run")
    return path


def flip(path: Path, offset: int) -> None:
    data = bytearray(path.read_bytes())
    data[offset] ^= 4
    path.write_bytes(data)


def outcome(folder: Path) -> int:
    """How many URLs come out again."""
    sieve = open_sieve(f"mercator:{folder}")
    sieve.enqueue(URLS)
    sieve.flush()
    out = sieve.drain()
    sieve.close()
    assert len(out) == len(set(out))
    return len(out)


def test_a_sound_store_has_no_findings(folder: Path) -> None:
    assert list(check(folder)) == []
    assert repair(folder) == []
    assert outcome(folder) == 0


def test_runs_that_are_merged_during_a_check_are_not_called_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `scrapy sieve check` of a running crawl did, which reads the manifest first and then run after run."""
    folder, opened = tmp_path / "s", Run.open
    with contextlib.closing(open_sieve(f"offline:{folder}")) as sieve:
        sieve.enqueue(URLS[:1000])
        sieve.drain()

        def merged_before(path: Path) -> Run:
            monkeypatch.setattr(Run, "open", opened)
            sieve.enqueue(URLS[1000:2000])
            sieve.drain()
            assert not path.exists()
            return opened(path)

        monkeypatch.setattr(Run, "open", merged_before)
        assert list(check(folder)) == []
        assert list(check(folder)) == []


def test_figures_are_told_of_a_store_whose_runs_are_merged_meanwhile(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`scrapy sieve stats` of a running crawl ended with a traceback."""
    run, is_file = run_of(folder), Path.is_file

    def merged_then(path: Path) -> bool:
        there = is_file(path)
        if path == run:
            run.unlink()
        return there

    monkeypatch.setattr(Path, "is_file", merged_then)
    found = folder_stats(folder)
    assert found["stored"] == len(URLS)
    assert 0 < found["bytes"] < 8 * len(URLS)


def test_a_flipped_bit_is_named_and_costs_one_block(folder: Path) -> None:
    flip(run_of(folder), HEAD_BYTES + 8 * (BLOCK_KEYS + 5))
    with pytest.raises(DamagedError, match="block 1"):
        open_sieve(f"mercator:{folder}")
    (finding,) = check(folder)
    assert finding.path == str(run_of(folder))
    (done,) = repair(folder)
    assert done.lost_keys == BLOCK_KEYS
    assert list(check(folder)) == []
    assert outcome(folder) == BLOCK_KEYS


@pytest.mark.parametrize(
    ("cut", "reason"), [(100, "100 bytes where|bytes where"), (10, "less than a header"), (0, "less than a header")]
)
def test_a_truncated_run_is_named_and_keeps_its_beginning(folder: Path, cut: int, reason: str) -> None:
    path = run_of(folder)
    size = HEAD_BYTES + 8 * 5000 if cut == 100 else cut
    os.truncate(path, size)
    with pytest.raises(DamagedError, match=reason):
        open_sieve(f"mercator:{folder}")
    repair(folder)
    assert outcome(folder) == len(URLS) - (5000 if cut == 100 else 0)


@pytest.mark.parametrize("offset", [3, 20, -3])
def test_a_damaged_header_or_tail_is_named(folder: Path, offset: int) -> None:
    path = run_of(folder)
    flip(path, offset % path.stat().st_size)
    with pytest.raises(DamagedError, match="checksum"):
        Run.open(path)
    repair(folder)
    # Without its checksums the row of ascending keys is kept, but for what of the tail happens to ascend.
    assert outcome(folder) <= 1


def test_a_missing_run_is_named(folder: Path) -> None:
    run_of(folder).unlink()
    with pytest.raises(DamagedError, match="missing"):
        open_sieve(f"mercator:{folder}")
    assert "missing" in next(check(folder)).what
    repair(folder)
    assert outcome(folder) == len(URLS)


def test_a_run_of_another_length_is_named(folder: Path, tmp_path: Path) -> None:
    sieve = open_sieve(f"mercator:{tmp_path / 'other'}")
    sieve.enqueue(URLS[:10])
    sieve.close()
    run_of(folder).write_bytes(run_of(tmp_path / "other").read_bytes())
    with pytest.raises(DamagedError, match="manifest says"):
        open_sieve(f"mercator:{folder}")
    assert "has 10 keys" in next(check(folder)).what


def test_a_damaged_manifest_is_made_again_from_the_runs(folder: Path) -> None:
    flip(folder / "MANIFEST", 30)
    with pytest.raises(DamagedError, match="MANIFEST"):
        open_sieve(f"mercator:{folder}")
    findings = repair(folder)
    assert findings[0].path.endswith("MANIFEST")
    assert outcome(folder) == 0


@pytest.mark.parametrize("kind", ["mercator", "offline"])
def test_a_store_without_its_manifest_is_refused_and_stays(tmp_path: Path, kind: str) -> None:
    """It is no new store: its runs, which are the record of what was seen, were deleted as named by no manifest."""
    folder = tmp_path / "s"
    for again in (False, True):
        sieve = open_sieve(f"{kind}:{folder}")
        sieve.enqueue(URLS[:100])
        sieve.flush()
        assert len(sieve.drain()) == (0 if again else 100)
        sieve.close()
        if not again:
            (folder / "MANIFEST").unlink()
            with pytest.raises(StoreError, match=f"{folder} has runs .* but no MANIFEST.*`scrapy sieve rebuild"):
                open_sieve(f"{kind}:{folder}")
            assert [(finding.path, finding.what) for finding in check(folder)] == [
                (str(folder / "MANIFEST"), "it is missing")
            ]
            (done,) = repair(folder)
            assert "made again" in done.what


def test_a_manifest_that_names_other_runs_costs_none_of_those_there_are(tmp_path: Path) -> None:
    """As one put back from an older copy does: what it does not name was deleted before the missing run was told."""
    folder = tmp_path / "s"

    def put(number: int) -> int:
        with contextlib.closing(open_sieve(f"offline:{folder}")) as sieve:
            sieve.enqueue(URLS[:number])
            return len(sieve.drain())

    assert put(100) == 100
    older = (folder / "MANIFEST").read_bytes()
    assert put(1000) == 900
    (there,) = folder.glob("*.run")
    newer = (folder / "MANIFEST").read_bytes()
    (folder / "MANIFEST").write_bytes(older)
    for again in (False, True):
        with pytest.raises(DamagedError, match="the run of 100 keys is missing"):
            put(1000)
        assert there.exists()
        (folder / "MANIFEST").write_bytes(newer)
        assert put(1000) == 0
        (folder / "MANIFEST").write_bytes(older)
        if again:
            repair(folder)
            assert list(check(folder)) == []
            assert put(1001) == 1


@pytest.mark.parametrize(("others", "said"), [(90, "keys where the manifest says"), (100, "its seed is not the one")])
def test_the_manifest_of_another_store_is_told_and_made_again(tmp_path: Path, others: int, said: str) -> None:
    """By its seed no fingerprint in the runs was known: all came out once more, after a repair, too."""
    folder, other = tmp_path / "s", tmp_path / "other"
    for made, number in ((folder, 100), (other, others)):
        with contextlib.closing(open_sieve(f"mercator:{made}")) as sieve:
            sieve.enqueue(URLS[:number])
            sieve.flush()
            assert len(sieve.drain()) == number
    (folder / "MANIFEST").write_bytes((other / "MANIFEST").read_bytes())
    with pytest.raises(DamagedError, match=said):
        open_sieve(f"mercator:{folder}")
    assert len(list(check(folder))) == 1
    repair(folder)
    assert list(check(folder)) == []
    assert outcome(folder) == len(URLS) - 100


def test_a_seed_that_cannot_be_read_is_told_when_it_is_needed(folder: Path) -> None:
    (folder / "SEED").write_text("")
    assert outcome(folder) == 0
    (folder / "MANIFEST").unlink()
    repair(folder)
    with pytest.raises(DamagedError, match="SEED is damaged: it is no number"):
        open_sieve(f"mercator:{folder}")


def test_a_repair_that_fails_half_way_has_cost_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flip(run_of(folder), HEAD_BYTES + 8 * (BLOCK_KEYS + 5))

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "full")

    for call in ("RunWriter.append", "RunWriter.sync", "replace"):
        with monkeypatch.context() as patched:
            patched.setattr(f"sieve.sets.store.{call}", full)
            with pytest.raises(OSError, match="full"):
                repair(folder)
    (done,) = repair(folder)
    assert done.lost_keys == BLOCK_KEYS
    assert outcome(folder) == BLOCK_KEYS
    assert not list(folder.glob("*.new"))


def test_a_damaged_record_of_a_log_is_skipped_and_named(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    sieve = open_sieve(f"mercator:{folder}")
    for start in range(0, 300, 100):
        sieve.enqueue(URLS[start : start + 100])
    sieve.close()
    flip(folder / "ready-00000000.log", 200)
    (finding,) = check(folder)
    assert "checksum of the record at 0" in finding.what
    assert repair(folder) == [finding]
    sieve = open_sieve(f"mercator:{folder}")
    assert sieve.drain() == URLS[100:300]
    sieve.close()


@pytest.mark.parametrize("spec", ["mercator:{}", "offline:{}", "lsm:{}", "bloom:{}?capacity=10000"])
@pytest.mark.parametrize("left", [0, 50])
def test_what_is_put_in_after_the_queue_was_cut_short_comes_out(spec: str, left: int, tmp_path: Path) -> None:
    """It was written before the place that had been reached, and nobody looked for it there."""
    alive, folder = tmp_path / "alive", tmp_path / "s"
    with contextlib.closing(open_sieve(spec.format(alive))) as sieve:
        for start in range(0, 300, 100):
            sieve.enqueue(URLS[start : start + 100])
        sieve.flush()
        assert len([*sieve.drain(150), *sieve.drain(100)]) == 250
        sieve.drain(1)
        shutil.copytree(alive, folder)
    os.truncate(folder / "ready-00000000.log", left)
    with contextlib.closing(open_sieve(spec.format(folder))) as sieve:
        sieve.enqueue(URLS[300:305])
        sieve.flush()
        assert sieve.drain() == URLS[300:305]


@pytest.mark.parametrize("spec", ["mercator:{}", "offline:{}", "lsm:{}", "bloom:{}?capacity=10000"])
def test_a_flipped_bit_in_a_length_costs_no_url(spec: str, tmp_path: Path) -> None:
    """All that had been put in since was forgotten, and nobody told."""
    alive, folder = tmp_path / "alive", tmp_path / "s"
    with contextlib.closing(open_sieve(spec.format(alive))) as sieve:
        for start in range(0, 300, 100):
            sieve.enqueue(URLS[start : start + 100])
        shutil.copytree(alive, folder)
    for log in folder.glob("*.log"):
        if log.stat().st_size:
            flip(log, 3)
    with contextlib.closing(open_sieve(spec.format(folder))) as sieve:
        sieve.enqueue(URLS[:310])
        sieve.flush()
        assert sorted(map(str, sieve.drain())) == sorted(URLS[:310])


def test_a_torn_record_is_cut(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    sieve = MercatorSieve(folder, MercatorConfig())
    sieve.enqueue(URLS[:5])
    sieve.close()
    log = folder / "ready-00000000.log"
    with log.open("ab") as file:
        file.write(b"\x40\x00\x00\x00garbage")
    size = log.stat().st_size
    assert list(check(folder)) == []
    assert log.stat().st_size == size  # it may be a record that is being written
    again = open_sieve(f"mercator:{folder}")
    assert again.drain() == URLS[:5]
    again.enqueue(URLS[5:10])
    again.close()
    again = open_sieve(f"mercator:{folder}")
    assert again.drain() == URLS[5:10]
    again.close()


@pytest.mark.parametrize("spec", ["mercator:{}", "offline:{}", "lsm:{}", "bloom:{}?capacity=1000"])
def test_a_sieve_that_cannot_be_closed_on_a_full_disk_is_let_go_all_the_same(
    spec: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also by this very process: when there is room again it goes on where it was."""

    def full(_number: int) -> None:
        raise OSError(errno.ENOSPC, "full")

    sieve = open_sieve(spec.format(tmp_path / "s"))
    sieve.enqueue(URLS[:5])
    assert sieve.drain(1) == URLS[:1]
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="full"):
            sieve.close()
    again = open_sieve(spec.format(tmp_path / "s"))
    assert again.drain() == URLS[1:5]
    again.close()


def test_what_waits_is_not_lost_where_no_file_can_be_made(tmp_path: Path) -> None:
    """Of what a flush began with when there was no room for another file, nothing came out, and then it was deleted."""
    config = MercatorConfig(seen=SeenConfig(filter_bytes=8))
    with contextlib.closing(MercatorSieve(tmp_path / "s", config)) as sieve:
        sieve.enqueue(URLS[:60])
        sieve.enqueue(URLS[60:100])
        assert sieve.pending() > 20
        usual = resource.getrlimit(resource.RLIMIT_NOFILE)
        os.close(free := os.open(tmp_path, os.O_RDONLY))
        resource.setrlimit(resource.RLIMIT_NOFILE, (free, usual[1]))
        try:
            with pytest.raises(OSError, match="Too many open files"):
                sieve.flush()
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, usual)
        sieve.enqueue(URLS[50:200])
        sieve.flush()
        assert sieve.drain() == URLS[:200]


def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    child = os.fork()
    if child == 0:
        os._exit(_fill(tmp_path / "s"))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def _fill(folder: Path) -> int:
    """In a child: enqueue under a limit on file sizes, which fails like a full disk; lift it and go on."""
    config = MercatorConfig(buffer=50, seen=SeenConfig(run_keys=256, filter_keys=1, filter_bytes=8, recent_bits=4))
    sieve = MercatorSieve(folder, config)
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    failures = 0
    got: list[object] = []
    for start in range(0, 3000, 100):
        resource.setrlimit(resource.RLIMIT_FSIZE, (1500 + start, hard))
        while True:
            try:
                sieve.enqueue(URLS[start : start + 100])
                break
            except OSError:
                failures += 1
                resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    sieve.flush()
    got += sieve.drain()
    sieve.close()
    return 0 if failures and sorted(map(str, got)) == sorted(URLS[:3000]) else 1


def test_tools(tmp_path: Path) -> None:
    spec = f"mercator:{tmp_path / 's'}"
    with contextlib.closing(open_sieve(spec)) as sieve:
        result = rebuild(sieve, [*URLS[:100], "mailto:nobody@example.org"], URLS[100:103])
        with pytest.raises(StoreError, match="empty"):
            rebuild(sieve, URLS[:1])
    assert (result.read, result.known, len(result.refused)) == (104, 100, 1)
    found = folder_stats(tmp_path / "s")
    assert found["stored"] == 103
    assert found["runs"] == 1
    with contextlib.closing(open_sieve(spec)) as sieve:
        assert isinstance(sieve, MercatorSieve)
        assert sieve.contains(URLS[3].replace("http", "HTTP"))
        assert not sieve.contains("http://example.org/never")
        sieve.enqueue(URLS[:110])
        sieve.flush()
        assert sieve.drain() == URLS[100:110]
    with contextlib.closing(open_sieve("memory:")) as sieve:
        assert rebuild(sieve, URLS[:2]).known == 2


def test_a_full_disk_closes_what_cannot_go_on(tmp_path: Path) -> None:
    child = os.fork()
    if child == 0:
        os._exit(_close_on_full(f"offline:{tmp_path / 's'}?buffer=50"))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def _close_on_full(spec: str) -> int:
    sieve = open_sieve(spec)
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    failures = 0
    got: list[object] = []
    for start in range(0, 2000, 100):
        resource.setrlimit(resource.RLIMIT_FSIZE, (3000 + 4 * start, hard))
        while True:
            try:
                sieve.enqueue(URLS[start : start + 100])
                got += sieve.drain(20)
                break
            except OSError:
                failures += 1
                resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
                with contextlib.suppress(OSError):
                    sieve.close()
                sieve = open_sieve(spec)
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    sieve.flush()
    got += sieve.drain()
    sieve.close()
    # What was drained last before an error was not acknowledged.
    return 0 if failures and set(map(str, got)) == set(URLS[:2000]) and len(got) <= 2000 + 20 * failures else 1
