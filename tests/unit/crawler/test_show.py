"""What the commands show is what there is."""

from __future__ import annotations

import pytest
from rich.table import Table

from crawler.console.crawl_state import Action


def test_brackets_in_urls_are_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table("URL")
    urls = ["http://a.example/[/b]", "http://a.example/?x[red]=1", "http://a.example/[bold]"]
    for url in urls:
        table.add_row(url)
    Action.show(table)
    shown = capsys.readouterr().out
    assert all(url in shown for url in urls)
