"""``corpus stats``: what a corpus has, counted."""

from __future__ import annotations

import argparse
import json
import sys

from rich.console import Console
from rich.table import Column, Table

from archive.terminal import printable
from corpus.commands.common import FAULTS, GOOD, expect_form, expect_target, model_argument, named_path
from corpus.errors import UsageFault
from corpus.inputs import ARCHIVE_SUFFIXES, DOCUMENT_SUFFIXES, expand
from corpus.outputs import COMPRESSED, expect_stdout
from corpus.report import Report
from corpus.sources import documents
from corpus.statistics import GROUPS, Row, Statistics, shortened
from corpus.tally import Tally
from relevance.language.identification import Identifier
from relevance.language.model import load

HELP = "documents, words and bytes by language, host and month"
EPILOG = """examples:
  python -m corpus stats zulu.jsonl.xz
  python -m corpus stats data/zulu/warc --json > zulu.json
  python -m corpus stats data/*/warc --plot languages.png --top 10

Of archives all documents count, in every language (as --model names them) and with duplicates; of JSON lines and
vertical files what stands there. On a terminal tables; elsewhere lines of group, value, documents, words, bytes, with
tabs between.
"""


def arguments(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--json", action="store_true", help="one JSON object")
    sub.add_argument("--top", type=int, default=20, metavar="N", help="rows of each table (default 20; 0: all)")
    sub.add_argument("--plot", type=named_path, metavar="PNG", help="also draw a picture")
    model_argument(sub)
    sub.add_argument("--jsonl", action="store_true", help="standard input has JSON lines, whatever it begins with")


def run(options: argparse.Namespace) -> int:
    files = expand(options.files, (*ARCHIVE_SUFFIXES, *DOCUMENT_SUFFIXES))
    expect_stdout()
    if options.top < 0:
        raise UsageFault("--top: not below 0")
    if options.plot is not None:
        expect_target(str(options.plot), files)
        expect_form(str(options.plot), (".png",))
        if options.plot.suffix in COMPRESSED:
            raise UsageFault(f"{options.plot}: a picture is packed already")
    identifier = Identifier(load(options.model)) if options.model else None
    tally, statistics = Tally(), Statistics()
    for document in documents(files, Report(quiet=options.quiet), tally, jsonl=options.jsonl, identifier=identifier):
        statistics.add(document)
    try:
        if options.plot is not None:
            from corpus.chart import draw  # matplotlib takes a while to load

            draw(statistics, options.plot)
    finally:  # what was counted is told, too, where the picture has no room
        if options.json:
            print(json.dumps(statistics.as_json(), ensure_ascii=True))
        else:
            _tables(statistics, options.top)
    return FAULTS if tally.faults else GOOD


def _tables(statistics: Statistics, top: int) -> None:
    """Tables on a terminal; elsewhere lines of group, value, documents, words, bytes with tabs between."""
    if not sys.stdout.isatty():
        for group in GROUPS:
            for name, row in shortened(statistics.ranked(group), top):
                print(group, _cell(name), row.documents, row.words, row.bytes, sep="\t")
        total = statistics.total
        print("all", "all", total.documents, total.words, total.bytes, sep="\t")
        return
    console = Console(markup=False, highlight=False)
    for group in GROUPS:
        table = Table(Column(group, overflow="fold"))  # on a narrow terminal nothing is cut
        for column in ("documents", "words", "share", "bytes"):
            table.add_column(column, justify="right", overflow="fold")
        for name, row in shortened(statistics.ranked(group), top):
            table.add_row(_cell(name), *_cells(row, statistics.total))
        table.add_section()
        table.add_row("all", *_cells(statistics.total, statistics.total))
        console.print(table)


def _cell(name: str) -> str:
    return printable(name).replace("\t", " ")


def _cells(row: Row, total: Row) -> list[str]:
    share = f"{row.words / total.words:.1%}" if total.words else "-"
    return [f"{row.documents:,}", f"{row.words:,}", share, f"{row.bytes:,}"]
