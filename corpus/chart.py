"""The statistics as one picture (PNG): words by language and host, words by month."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from corpus.outputs import replaced
from corpus.statistics import Row, Statistics, shortened

_ROWS = 15
_BAR = "#2a6f97"
_UNITS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def draw(statistics: Statistics, path: Path) -> None:
    """Write the picture, whole or not at all."""
    figure = Figure(figsize=(12, 8), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.add_gridspec(2, 2)
    total = statistics.total
    figure.suptitle(f"{total.documents:,} documents, {total.words:,} words, {_short(total.bytes)}B of text")
    _bars(figure.add_subplot(grid[0, 0]), "language", list(shortened(statistics.ranked("language"), _ROWS)))
    _bars(figure.add_subplot(grid[0, 1]), "host", list(shortened(statistics.ranked("host"), _ROWS)))
    _months(figure.add_subplot(grid[1, :]), statistics.ranked("month"))
    with replaced(path) as file:
        figure.savefig(file, format="png", dpi=110, metadata={"Software": None})


def _bars(axes: Any, group: str, rows: list[tuple[str, Row]]) -> None:
    names = [_plain(name) for name, _ in rows]
    values = [row.words for _, row in rows]
    bars = axes.barh(range(len(rows)), values, color=_BAR)
    axes.set_yticks(range(len(rows)), names)
    axes.invert_yaxis()
    axes.bar_label(bars, [_short(value) for value in values], padding=3, fontsize=8)
    axes.margins(x=0.15)
    _finish(axes, f"words by {group}", axes.xaxis)


def _months(axes: Any, rows: list[tuple[str, Row]]) -> None:
    axes.bar(range(len(rows)), [row.words for _, row in rows], color=_BAR)
    step = max(1, len(rows) // 24)
    axes.set_xticks(range(0, len(rows), step), [name for name, _ in rows[::step]], rotation=45, ha="right")
    _finish(axes, "words by month of capture", axes.yaxis)


def _finish(axes: Any, title: str, value_axis: Any) -> None:
    axes.set_title(title, loc="left")
    axes.spines[["top", "right"]].set_visible(False)
    value_axis.set_major_formatter(lambda value, _: _short(value))


def _plain(name: str) -> str:
    """A dollar sign would begin a formula; letters that the font lacks would be warned of."""
    return name.encode("ascii", "replace").decode("ascii").replace("$", r"\$")[:40]


def _short(value: float) -> str:
    """1,234,567 -> 1.23M"""
    value = float(f"{value:.3g}")  # before the unit is chosen: 999,999 is 1M
    for size, letter in _UNITS:
        if value >= size:
            return f"{value / size:g}{letter}"
    return f"{value:g}"
