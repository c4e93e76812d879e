"""Writers killed with SIGKILL, at every named step and at random instants: every reported page is archived once."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
STEPS = {
    "file-create",
    "file-note",
    "finish-commit",
    "finish-index",
    "finish-note",
    "finish-rename",
    "journal-commit",
    "journal-remove",
    "journal-rewrite",
    "pack-append",
    "pack-note",
    "report",
    "reported",
    "settle-commit",
}


def run(mode: str, seed: int, trials: int) -> dict[str, Any]:
    script = Path(__file__).with_name("crasher.py")
    trials = int(os.environ.get("ARCHIVE_CRASH_TRIALS", trials))
    done = subprocess.run(
        [sys.executable, str(script), mode, str(seed), str(trials)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        check=True,
        timeout=500 if "ARCHIVE_CRASH_TRIALS" not in os.environ else None,
    )
    result: dict[str, Any] = json.loads(done.stdout)
    assert result["faults"] == []
    assert result["passed"] == trials
    return result


@pytest.mark.slow
def test_killed_at_every_step() -> None:
    assert set(run("steps", 1, 64)["steps"]) == STEPS


@pytest.mark.slow
def test_killed_at_random_instants() -> None:
    run("random", 2, 40)
