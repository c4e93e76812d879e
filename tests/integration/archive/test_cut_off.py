"""Commands that write archive files are killed at each step: no file has the index of another, a later run mends it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_a_killed_command_is_run_again() -> None:
    words = [sys.executable, "-m", "tests.integration.archive.cut_off"]
    ran = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    faults = [line for line in ran.stdout.splitlines() if ", killed before step " in line]
    assert not faults
    trials = re.search(r"^(\d+) trials$", ran.stdout, re.MULTILINE)
    assert trials
    assert int(trials[1]) >= 4 * 5
