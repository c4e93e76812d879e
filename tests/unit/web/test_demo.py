"""What the demo does to a folder, and that it leaves no worker behind."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest

from tests.web import demo


@contextlib.contextmanager
def nothing(*_: object) -> Iterator[MagicMock]:
    yield MagicMock()


@pytest.mark.parametrize("own", [False, True])
def test_only_the_folder_of_a_demo_is_made_anew(own: bool, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("thesis.txt", *(["web.log"] if own else []))]
    for file in files:
        file.touch()
    with contextlib.nullcontext() if own else pytest.raises(demo.DemoError, match="other files than a demo's"):
        demo.Demo(tmp_path)._make_folder()
    assert [file.exists() for file in files] == [not own for _ in files]


def test_no_worker_is_left_where_its_redis_cannot_be_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    worker = MagicMock(**{"poll.return_value": None})
    monkeypatch.setattr(demo, "EmbeddedRedis", nothing)
    monkeypatch.setattr(demo, "RedisFrontier", MagicMock(side_effect=KeyboardInterrupt))
    monkeypatch.setattr(demo.Demo, "_web", nothing)
    monkeypatch.setattr(demo.Demo, "_worker", lambda *_: worker)
    with pytest.raises(KeyboardInterrupt):
        demo.Demo(tmp_path).run()
    assert worker.terminate.call_count == 2


@pytest.mark.parametrize("gaps", [0, 7])
def test_politeness_has_two_witnesses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gaps: int) -> None:
    proofs = {"audit": {"gaps": gaps, "too_short": 0}, "archive": {"gaps": 7, "too_short": 0}}
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: MagicMock(returncode=0, stdout=json.dumps(proofs)))
    assert demo.Demo(tmp_path)._verify_politeness() == bool(gaps)


def test_a_worker_that_is_killed_has_a_successor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which closes its archive file; else pages would be missing there."""
    killed, next_one = MagicMock(**{"poll.return_value": None}), MagicMock(**{"poll.return_value": 0})
    killed.send_signal.side_effect = lambda _: killed.configure_mock(**{"poll.return_value": -signal.SIGKILL})
    monkeypatch.setattr(demo, "gather", MagicMock())
    monkeypatch.setattr(demo, "_LOOK_S", 0.001)
    monkeypatch.setattr(demo.Demo, "_worker", lambda *_: next_one)
    workers: list[Any] = [killed]
    demo.Demo(tmp_path, kill_after_s=0.01)._watch(workers, MagicMock())
    assert workers == [killed, next_one]
