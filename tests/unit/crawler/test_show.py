"""What the commands show is what there is."""

from __future__ import annotations

import io
import re

import pytest
from rich.table import Table

from crawler.console.crawl_state import Action


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(table: Table | str, columns: int, monkeypatch: pytest.MonkeyPatch) -> str:
    """On a terminal of so many columns, but for its colours; 0: elsewhere."""
    out = Terminal() if columns else io.StringIO()
    monkeypatch.setattr("sys.stdout", out)
    monkeypatch.setenv("COLUMNS", str(columns))
    Action.show(table)
    return re.sub("\x1b\\[[\\d;]*m", "", out.getvalue())


@pytest.mark.parametrize("columns", [0, 80])
def test_brackets_and_words_in_urls_are_no_markup(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table("URL")
    urls = ["http://a.example/[/b]", "http://a.example/?x[red]=1", "http://a.example/[bold]", "a.example/urn:book:1"]
    for url in urls:
        table.add_row(url)
    assert all(url in shown(table, columns, monkeypatch) for url in urls)
    assert all(shown(url, columns, monkeypatch) == f"{url}\n" for url in urls)


def test_a_line_that_is_no_table_is_never_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is longer than a line of the terminal can be copied, as the path of a WARC file."""
    text = f"fetch  200  /data/{'x' * 100}.warc.xz  at 0"
    for columns in (0, 20, 80):
        assert shown(text, columns, monkeypatch) == f"{text}\n"


def narrow_table() -> Table:
    table = Table("reason", title="Parked")
    table.add_column("tries", justify="right")
    table.add_column("URL", overflow="fold")
    table.add_row("robots_unreachable", "3", "http://a.example/" + "x" * 2000)
    table.add_row("dns", "12", "http://語.example/")
    return table


def test_lines_are_whole_elsewhere_than_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(narrow_table(), 0, monkeypatch).splitlines() == [
        "Parked",
        "reason              tries  URL",
        "robots_unreachable      3  http://a.example/" + "x" * 2000,
        "dns                    12  http://語.example/",
    ]


def test_a_terminal_that_is_too_narrow_for_its_columns_has_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Words of columns were cut, and the last columns were not shown at all."""
    lines = shown(narrow_table(), 0, monkeypatch)
    assert shown(narrow_table(), 30, monkeypatch) == lines
    framed = shown(narrow_table(), 60, monkeypatch)
    assert framed != lines
    assert framed.count("x") == lines.count("x")
