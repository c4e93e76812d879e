"""Results for people: one table, whole on any terminal and in a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

WIDTH = 160
"""Where the output is no terminal."""
Row = Mapping[str, Any]
Columns = Mapping[str, str | Callable[[Row], str]]
"""Heading -> the key of a row, or what a row has there."""


def show(title: str, columns: Columns, rows: Sequence[Row]) -> None:
    """Print rows; the first column says what a row is, the others are figures."""
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for number, heading in enumerate(columns):
        table.add_column(heading, justify="right" if number else "left", overflow="fold")
    for row in rows:
        table.add_row(*(what(row) if callable(what) else figure(row.get(what)) for what in columns.values()))
    console = Console(markup=False, highlight=False)
    console.width = console.width if console.is_terminal else WIDTH
    console.print(table)


def figure(value: Any) -> str:
    """Three digits that count of a fraction, whole numbers with their thousands, blank for none."""
    if value is None or value == "":
        return ""
    if isinstance(value, float):
        value = round(value) if abs(value) >= 100 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def times(value: float, other: float) -> str:
    """A ratio of two figures of one run; blank where one of them was not measured."""
    return f"{figure(value / other)} x" if value and other else ""
