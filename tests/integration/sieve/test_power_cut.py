"""The local kinds after a power cut: only what was made durable is left of their folders."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from sieve import open_sieve
from sieve.fleet.holder import name_store, store_id
from sieve.queues import ready
from tests.effort import trials
from tests.power import Disk

KINDS = {
    "mercator": "mercator:{}?buffer=7&run=16&filter=8",
    "mercator-blind": "mercator:{}?buffer=7&run=16&filter=8&filter_bytes=8",
    "bloom": "bloom:{}?capacity=200&error=1e-9",
    "offline": "offline:{}?buffer=7",
}


@pytest.mark.parametrize("names_last", [False, True])
@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("seed", trials(2))
def test_what_was_flushed_is_not_lost_and_what_was_not_may_be_put_in_again(
    kind: str, names_last: bool, seed: int, disk: Disk, tmp_path: Path
) -> None:
    chance = random.Random(seed)
    folder = tmp_path / "sieve"
    put: set[str] = set()
    handed_out: list[str] = []

    def left_after_a_cut(name: str, more: Sequence[str]) -> set[str]:
        """What comes out of a sieve that is opened after a cut now, when `more` is put in."""
        left = disk.cut(folder, tmp_path / name, names_last=names_last)
        with contextlib.closing(open_sieve(KINDS[kind].format(left) + "&sync=no")) as again:
            again.enqueue(more)
            again.flush()
            return set(map(str, again.drain()))

    with contextlib.closing(open_sieve(KINDS[kind].format(folder))) as sieve:
        for number in range(12):
            for _ in range(chance.randrange(1, 9)):  # runs are made of them meanwhile
                batch = [f"http://example.org/{chance.randrange(400)}" for _ in range(chance.randrange(1, 25))]
                sieve.enqueue(batch)
                put.update(batch)
            assert put == {*handed_out, *left_after_a_cut(f"{number} put", sorted(put))}
            acknowledged = handed_out.copy()
            handed_out += map(str, sieve.drain(chance.choice([0, 10, 40, None])))
            sieve.flush()
            later = left_after_a_cut(f"{number} flushed", [])
            assert put == {*handed_out, *later}
            assert not later & set(acknowledged)


@pytest.mark.parametrize("kind", list(KINDS))
def test_what_has_been_handed_out_is_not_lost(kind: str, disk: Disk, tmp_path: Path) -> None:
    """Though nothing was flushed: nobody put it in again."""
    folder = tmp_path / "sieve"
    with contextlib.closing(open_sieve(KINDS[kind].format(folder))) as sieve:
        sieve.enqueue([f"http://example.org/{number}" for number in range(20)])
        handed_out = sieve.drain(5)
        left = disk.cut(folder, tmp_path / "after", names_last=False)
    with contextlib.closing(open_sieve(KINDS[kind].format(left))) as again:
        assert again.drain(5) == handed_out


@pytest.mark.parametrize("names_last", [False, True])
def test_the_store_that_redis_names_is_still_that_one(names_last: bool, disk: Disk, tmp_path: Path) -> None:
    folder = tmp_path / "sieve"
    made = store_id(folder)
    assert store_id(disk.cut(folder, tmp_path / "made", names_last=names_last)) == made
    name_store(folder, "0123456789abcdef")
    assert store_id(disk.cut(folder, tmp_path / "named", names_last=names_last)) == "0123456789abcdef"


@pytest.mark.parametrize("names_last", [False, True])
def test_what_was_acknowledged_before_a_flush_stays_so_whatever_is_acknowledged_since(
    names_last: bool, disk: Disk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log of positions begins a new segment, and the one that had been made durable goes."""
    monkeypatch.setattr(ready, "_POSITIONS_BYTES", 256)
    folder = tmp_path / "sieve"
    with contextlib.closing(open_sieve(KINDS["offline"].format(folder))) as sieve:
        sieve.enqueue([f"http://example.org/{number}" for number in range(20)])
        acknowledged = sieve.drain(10)
        sieve.drain(1)
        sieve.flush()
        for _ in range(8):
            sieve.drain(1)
        left = disk.cut(folder, tmp_path / "after", names_last=names_last)
    with contextlib.closing(open_sieve(KINDS["offline"].format(left))) as again:
        assert not set(again.drain()) & set(acknowledged)
