"""``python -m tests.integration.sieve.lsm_lives FOLDER``: the kind on a RocksDB, killed at steps and at instants."""

from __future__ import annotations

import random
import sys
from pathlib import Path

from sieve.kinds.lsm import LsmConfig, LsmSieve
from tests.integration.sieve.lives import Lives, Plan

STEPS = ["ready", "stored", "acknowledged", "drained"]


def lives_of(folder: Path, name: str, plan: Plan) -> Lives:
    """Lives of one sieve in `folder`."""
    return Lives(lambda step: LsmSieve(folder / name, LsmConfig(durable=False), step), plan, folder / f"{name}.journal")


def main(folder: Path) -> None:
    """Assertions fail when the contract is not kept."""
    chance = random.Random(6)
    for number, name in enumerate(STEPS):
        lives = lives_of(folder, f"n{number}", Plan.random(number))
        for time_of in (1, 2, 3, 1):
            lives.live(die_at=(name, time_of))
        lives.live()
        lives.check()
        assert lives.killed_at() == {name}
    for trial in range(4):
        lives = lives_of(folder, f"s{trial}", Plan.random(50 + trial))
        while lives.kills < 8 and not lives.live(die_at_step=chance.randrange(1, 60)):
            pass
        lives.live()
        lives.check()
    for trial in range(3):
        lives = lives_of(folder, f"r{trial}", Plan.random(100 + trial, batches=60, names=900))
        for after_s in (0.0, *(chance.uniform(0.002, 0.1) for _ in range(7))):
            lives.live(kill_after_s=after_s)
        lives.live()
        lives.check()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
