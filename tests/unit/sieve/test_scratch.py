"""Folders of killed processes are cleared away by the next, and no others."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from sieve.disk.scratch import Scratch

MAKE = (
    "from sieve.disk.scratch import Scratch; s = Scratch(); (s.folder / 'run').touch();"
    "print(s.folder, flush=True); input()"
)


def test_what_the_killed_leave_is_removed_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "sieve-of-others").mkdir()
    (tmp_path / "ulwembu-sieve-file").touch()
    (tmp_path / "ulwembu-sieve-link").symlink_to(tmp_path / "sieve-of-others")
    others = {path.name for path in tmp_path.iterdir()}
    mine = Scratch()
    command = [sys.executable, "-c", MAKE]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={"TMPDIR": str(tmp_path)}
    ) as process:
        assert process.stdout is not None
        theirs = Path(process.stdout.readline().strip())
        Scratch().remove()
        assert (theirs / "run").exists()
        assert mine.folder.exists()
        process.kill()
        process.wait()
    Scratch().remove()
    assert {path.name for path in tmp_path.iterdir()} == others | {mine.folder.name}
    mine.remove()
    mine.remove()
    assert {path.name for path in tmp_path.iterdir()} == others
