"""Figures as a picture has them."""

import pytest

from corpus.chart import _short


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        *((0, "0"), (999, "999"), (1000, "1k"), (1_234_567, "1.23M"), (2.5e9, "2.5G")),
        *((999_499, "999k"), (999_500, "1M"), (999_999, "1M"), (999_499_999, "999M"), (999_500_000, "1G")),
    ],
)
def test_a_figure_is_short_up_to_the_next_unit(value: float, shown: str) -> None:
    assert _short(value) == shown
