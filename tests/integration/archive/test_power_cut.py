"""Archives after a power cut: only what was made durable is left of their folder."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from archive import Reader, WarcWriter, WriterConfig, recover
from archive.storage.warcfile import finished_in
from archive.tools.verify import verify
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
