"""The commands that an installation has, started as their entry points in pyproject.toml start them."""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

REPO = Path(__file__).parents[3]
SCRIPTS: dict[str, str] = tomllib.loads((REPO / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]


def started(script: str, *arguments: object) -> subprocess.Popen[str]:
    module, _, function = SCRIPTS[script].partition(":")
    code = f"import sys; from {module} import {function}; sys.exit({function}())"
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, cwd=REPO, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("place", SCRIPTS.values(), ids=SCRIPTS)
def test_each_is_there(place: str) -> None:
    module, _, function = place.partition(":")
    assert callable(getattr(importlib.import_module(module), function))


@pytest.mark.parametrize(("script", "command"), [("ulwembu-archive", ["ls"]), ("ulwembu-corpus", ["stats"])])
def test_a_sigterm_is_an_interruption(tmp_path: Path, script: str, command: list[str]) -> None:
    """As of ``python -m``: what is half written is removed."""
    source = tmp_path / "source.warc"
    os.mkfifo(source)
    with started(script, *command, source) as process:
        with source.open("wb"):  # which waits until the command reads from it
            process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=120)
    assert process.returncode == 130
    assert ": interrupted" in said
