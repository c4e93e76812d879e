"""What a descent relies on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest


def learnt_by(monkeypatch: pytest.MonkeyPatch, module: Any) -> list[Any]:
    """The objectives that a module would have minimised, each with where it begins."""
    met: list[Any] = []

    def descend(objective: Any, at: Any, _steps: int) -> Any:
        met.append((objective, at))
        return at

    monkeypatch.setattr(module, "descend", descend)
    return met


def assert_slope_is_that_of_the_value(objective: Any, size: int) -> None:
    """At some places of a point drawn at random, the first ones among them."""
    rng = np.random.default_rng(7)
    point = rng.normal(size=size)
    slope = objective(point)[1]
    for place in [*range(0, min(size, 120), 5), *rng.integers(size, size=20)]:
        step = np.zeros(size)
        step[place] = 1e-4
        up, down = objective(point + step)[0], objective(point - step)[0]
        assert slope[place] == pytest.approx((up - down) / 2e-4, abs=1e-8)
