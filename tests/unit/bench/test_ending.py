"""Whoever reads a benchmark's output may have seen enough."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import bench
from bench.ending import end_with

ROOT = Path(bench.__file__).parents[1]
COMMANDS = [path for path in Path(bench.__file__).parent.rglob("*.py") if '"__main__"' in path.read_text()]


@pytest.mark.parametrize("status", [None, 0, 1])
def test_the_status_is_that_of_the_benchmark(status: int | None) -> None:
    with pytest.raises(SystemExit) as ended:
        end_with(lambda: status)
    assert ended.value.code == status


@pytest.mark.parametrize("size", [1, 100_000])  # of the second more than fits into a buffer
def test_a_reader_that_leaves_is_no_fault(size: int) -> None:
    program = f"from bench.ending import end_with; end_with(lambda: print('x' * {size}))"
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run(
            [sys.executable, "-c", program], cwd=ROOT, stdout=write, stderr=subprocess.PIPE, text=True
        )
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("path", COMMANDS, ids=lambda path: str(path.relative_to(ROOT)))
def test_all_benchmarks_end_so(path: Path) -> None:
    assert "    end_with(main)" in path.read_text() or path.name == "plot.py", "which prints nothing"
