"""What the demo does to a folder, and that it leaves no worker behind."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
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
