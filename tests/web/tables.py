"""The crawl's figures as the demo shows them."""

from __future__ import annotations

from pathlib import Path

from rich.table import Table

from crawler.watch.figures import Figures


def language_table(figures: Figures) -> Table:
    """Pages kept and left by language."""
    table = Table("language", title="Pages by language", title_justify="left")
    for column in ("judged", "kept"):
        table.add_column(column, justify="right")
    names = sorted({*figures.kept, *figures.left}, key=lambda name: (-figures.kept.get(name, 0), name))
    for name in names:
        kept = figures.kept.get(name, 0)
        table.add_row(name, str(kept + figures.left.get(name, 0)), str(kept))
    return table


def host_table(figures: Figures, most: int = 15) -> Table:
    """The hosts with most kept pages."""
    table = Table("host", title=f"Hosts (the first {min(most, len(figures.hosts))} of {len(figures.hosts)})")
    table.title_justify = "left"
    for column in ("answers", "kept", "KiB", "words"):
        table.add_column(column, justify="right")
    for row in figures.hosts[:most]:
        table.add_row(
            row.authority, str(row.fetched), str(row.kept), f"{row.fetched_bytes / 1024:,.0f}", f"{row.words:,}"
        )
    return table


def warc_table(folder: Path) -> Table:
    """The WARC files of a crawl and their sizes."""
    table = Table("WARC file", title="Archive", title_justify="left")
    table.add_column("bytes", justify="right")
    for path in sorted(folder.glob("*.warc*")):
        if ".cdxj" not in path.suffixes and path.suffix != ".journal":
            table.add_row(path.name, f"{path.stat().st_size:,}")
    return table
