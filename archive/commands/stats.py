"""``archive stats``: captures and bytes by host, language, type, year and status."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from archive.commands.common import at_least, each, files_argument, progress, tell_damages, telling_reader
from archive.terminal import printable
from archive.tools.stats import GROUPS, Stats

HELP = "captures and bytes by host, language, type, year and status"


def arguments(sub: argparse.ArgumentParser) -> None:
    files_argument(sub)
    sub.add_argument("--top", type=at_least(0), default=20, help="rows of each table (default 20; 0: all)")


def run(options: argparse.Namespace) -> int:
    stats = Stats()

    def counted(name: str) -> int:
        with (
            telling_reader(name, options.json) as reader,
            progress(options, None if name == "-" else Path(name)) as tick,
        ):
            for record in reader:
                stats.add(record)
                if tick is not None:
                    tick(record)
            return tell_damages(reader.damages, options.json)

    code = each(options, counted, folders=True)
    if options.json:
        print(json.dumps(stats.as_json()))
    else:
        _show(stats, options.top)
    return code


def _show(stats: Stats, top: int) -> None:
    """On a terminal tables; elsewhere lines of group, value, captures, bytes with tabs between."""
    print(f"{stats.records} records, {stats.payload_bytes} bytes of payload")
    print(printable(", ".join(f"{kind} {count}" for kind, count in stats.kinds.most_common())))
    for group in GROUPS:
        table = Table(*(Column(name, overflow="fold") for name in (group, "captures", "bytes")), title=f"by {group}")
        for value, count in stats.captures[group].most_common(top or None):
            row = (printable(value), str(count), str(stats.bytes[group][value]))
            table.add_row(Text(row[0]), *row[1:])
            if not sys.stdout.isatty():
                print(group, row[0].replace("\t", " "), *row[1:], sep="\t")
        if sys.stdout.isatty():
            Console(markup=False, highlight=False).print(table)
