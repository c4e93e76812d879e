"""The verifier's findings as a table that a person reads."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from tests.web.verify import Findings

_MEANING = {
    "missing": "reachable pages not fetched",
    "repeats": "pages fetched more than once",
    "too_fast": "pauses shorter than allowed on a host",
    "too_fast_address": "pauses shorter than allowed on an address",
    "overlaps": "requests at the same time on a host or address",
    "retry_after": "requests before a host's Retry-After",
    "robots_denied": "requests that robots.txt forbids",
    "robots_unasked": "requests before robots.txt was asked for",
    "robots_unreachable": "requests while robots.txt could not be read",
    "foreign": "requests to hosts that are not there",
    "archive": "differences between archive and web",
}
_SHOWN = 5


def show(findings: Findings, console: Console | None = None) -> None:
    """Print the table, and up to five examples of each failure."""
    console = console or Console()
    table = Table(title="What the synthetic web saw", show_edge=False, pad_edge=False)
    table.add_column("check")
    table.add_column("found", justify="right")
    table.add_column("")
    console_rows = [
        ("requests", f"{findings.requests:,}", ", ".join(f"{s}: {n:,}" for s, n in findings.statuses.most_common(6))),
        ("pages fetched", f"{findings.fetched:,}", f"{findings.demanded:,} demanded"),
    ]
    for language, (found, demanded) in findings.languages.items():
        console_rows.append((f"  of {language}", f"{found:,}", f"{demanded:,} demanded"))
    for row in console_rows:
        table.add_row(*row)
    for name, meaning in _MEANING.items():
        count = len(getattr(findings, name))
        table.add_row(meaning, f"{count:,}", "[green]ok[/]" if not count else "[bold red]FAILED[/]")
    if findings.refetched:
        table.add_row("pages fetched again after a kill", f"{len(findings.refetched):,}", "excused")
    if findings.unknown:
        table.add_row("requests for what no page links to", f"{len(findings.unknown):,}", "")
    console.print(table)
    for name in _MEANING:
        found = getattr(findings, name)
        for line in found[:_SHOWN]:
            console.print(f"{name}: {line}", markup=False, highlight=False, soft_wrap=True)
        if len(found) > _SHOWN:
            console.print(f"{name}: … and {len(found) - _SHOWN:,} more", markup=False)
    console.print("[bold green]all holds[/]" if findings.ok else "[bold red]something does not hold[/]")
