"""What a picture of statistics says in figures."""

import pytest

from corpus.chart import _short


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.25, "0.25"),
        (999, "999"),
        (1_000, "1k"),
        (1_234_567, "1.23M"),
        (999_499, "999k"),
        (999_500, "1M"),
        (999_999, "1M"),
        (999_999_999, "1G"),
        (12_340_000_000_000, "12.3T"),
    ],
)
def test_a_figure_is_shown_with_three_digits_and_a_unit(value: float, text: str) -> None:
    assert _short(value) == text
