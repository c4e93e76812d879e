"""Where the outside cases are; tests are skipped where they are not."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

FEEDS = Path(__file__).parents[3].parent / "shared" / "data" / "feeds"


def cases(name: str) -> list[Any]:
    """The cases of one file; a single skipped parameter when the data is absent."""
    path = FEEDS / name
    if not path.exists():
        return [pytest.param({}, marks=pytest.mark.skip(reason=f"no outside cases at {path}"))]
    return [
        pytest.param(case, id=str(case.get("id") or case.get("file"))) for case in json.loads(path.read_text("utf-8"))
    ]


def body_of(case: dict[str, Any]) -> bytes:
    """The document of a case, given as text or as base64."""
    body = case.get("body")
    return base64.b64decode(case["body_b64"]) if body is None else body.encode()
