"""Archives after a power cut: only what was made durable is left of their folder."""

from __future__ import annotations

import errno
import itertools
import os
import random
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from archive import ArchiveFull, Reader, WarcWriter, WriterConfig, recover
from archive.storage.warcfile import finished_in
from archive.tools.verify import verify
from archive.writing.exchange import RevisitTarget
from tests.power import Disk
from tests.unit.archive.pages import page

BATCHES, BATCH = 12, 5
CONFIG = WriterConfig(pack_bytes=3000, open_packs=2, journal_bytes=1000, reserve_bytes=0)


@pytest.mark.parametrize("names_last", [False, True])
@pytest.mark.parametrize("compression", ["xz", "gz", "zst", "none"])
def test_what_was_synced_is_there_once(compression: str, names_last: bool, disk: Disk, tmp_path: Path) -> None:
    folder = tmp_path / "warc"
    reported: set[str] = set()

    def check(number: int) -> None:
        left = disk.cut(folder, tmp_path / str(number), names_last=names_last)
        result = recover(left, lambda tokens: reported & set(tokens), CONFIG)
        files = finished_in(left)
        assert [*result.damage, *(problem for path in files for problem in verify(path))] == []
        found = Counter(record.url for path in files for record in Reader(path, types=["response"]))
        assert found == Counter(page(int(token)).url for token in reported)

    with WarcWriter(folder, "a", compression, 12_000, CONFIG) as writer:
        for batch in range(BATCHES):
            tokens = [str(batch * BATCH + number) for number in range(BATCH)]
            for token in tokens:
                writer.write(page(int(token)), token)
            writer.sync()
            reported.update(tokens[1:])
            check(2 * batch)
            writer.settle(tokens[1:], tokens[:1])
            writer.sync()
            check(2 * batch + 1)
    check(2 * BATCHES)
    assert len(writer.finished) > 2


@pytest.mark.parametrize("room", [True, False])
@pytest.mark.parametrize("names_last", [False, True])
def test_an_id_that_others_were_told_of_is_there(
    names_last: bool, room: bool, disk: Disk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a pack whose note was not durable recovery made records anew, with other ids. `room`: or now and then none."""
    folder, sync, chance, told = tmp_path / "warc", os.fsync, random.Random(1), [0]

    def sometimes_full(number: int) -> None:
        if not room and Path(f"/proc/self/fd/{number}").readlink().is_relative_to(folder) and chance.random() < 0.2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sync(number)

    def remember(targets: Mapping[str, RevisitTarget]) -> None:
        told[0] += 1
        left = disk.cut(folder, tmp_path / str(told[0]), names_last=names_last)
        assert recover(left, lambda tokens: tokens, CONFIG).damage == []
        ids = {record.id for path in finished_in(left) for record in Reader(path)}
        assert {target.record_id for target in targets.values()} <= ids

    with WarcWriter(folder, "a", "xz", 12_000, replace(CONFIG, remember=remember)) as writer:
        monkeypatch.setattr(os, "fsync", sometimes_full)
        for number in range(40):
            writer.write(page(number), str(number))
            _until_there_is_room(writer.sync)
            writer.settle([str(number)])
        room = True
    assert told[0] > 5


def _until_there_is_room(action: Callable[[], object]) -> None:
    while True:
        with suppress(ArchiveFull):
            action()
            return


@pytest.mark.parametrize("journal_bytes", [1000, 1 << 20])
@pytest.mark.parametrize("which", range(6))
def test_a_folder_without_room_for_a_name_is_waited_for(
    which: int, journal_bytes: int, disk: Disk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its fsync ended the writer, whose caller would have waited for room; and the next one said that all is well."""
    folder, sync, folders = tmp_path / "warc", os.fsync, [0]

    def one_fails(number: int) -> None:
        if Path(f"/proc/self/fd/{number}").readlink() == folder:
            folders[0] += 1
            if folders[0] == which + 2:  # the first is for the journal, before there is a writer
                raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))
        sync(number)

    monkeypatch.setattr(os, "fsync", one_fails)
    synced: list[str] = []
    cuts = itertools.count()

    def check(step: str = "file-create") -> None:
        if step != "file-create" or not synced:
            return
        wanted = Counter(synced)
        left = disk.cut(folder, tmp_path / str(next(cuts)), names_last=False)
        assert recover(left, lambda _: (), CONFIG).damage == []
        found = Counter(record.url for path in finished_in(left) for record in Reader(path, types=["response"]))
        assert wanted <= found
        assert set(found.values()) == {1}

    config = replace(CONFIG, step=check, journal_bytes=journal_bytes)
    with WarcWriter(folder, "a", "xz", 12_000, config) as writer:
        for number in range(40):
            writer.write(page(number))
            _until_there_is_room(writer.sync)
            synced.append(page(number).url)
            check()
    assert folders[0] > which + 2
