"""The command ``python -m corpus``: documents and statistics out of web archives.

Exit codes: 0 all good; 1 some records failed or were damaged (what was good has been written); 2 wrong usage, nothing
was written.
"""

from __future__ import annotations

import argparse
import json
import logging
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Column, Table

from archive.terminal import escape_what_does_not_fit, give_up_stdout, printable
from corpus.dedup import DEFAULT_BYTES
from corpus.errors import CorpusError, UsageFault
from corpus.extraction import Choice, Extraction
from corpus.forms import FORMS, form_of
from corpus.inputs import ARCHIVE_SUFFIXES, DOCUMENT_SUFFIXES, STDIN, expand
from corpus.outputs import STDOUT, check_target, expect_stdout, open_output
from corpus.report import Report
from corpus.sources import documents
from corpus.statistics import GROUPS, Row, Statistics, shortened
from corpus.tally import PARAGRAPH_REASONS, RECORD_REASONS, Tally
from relevance import RelevanceError
from relevance.identification import Identifier
from relevance.model import load, shipped
from relevance.types import UNDETERMINED

GOOD, FAULTS, USAGE, INTERRUPTED = 0, 1, 2, 130
_INPUTS = "files, folders, patterns, @LIST (a file of names, one a line), - (standard input)"
_EXTRACT_EPILOG = """examples:
  python -m corpus extract data/zulu/warc -o zulu.jsonl.xz --language zul --min-words 20
  python -m corpus extract 'crawls/*/warc/*.warc.xz' -o zulu.vert.xz --language zul
  zcat crawl.warc.gz | python -m corpus extract - -o - --format text

Paragraphs and documents that were there before are dropped (the first stays), as are paragraphs in other languages when
--language is given. Why something was left out is counted and told at the end, with --json as one JSON object.
Exit code: 0 all good, 1 some records failed or were damaged (the good ones are in the output), 2 wrong usage.
"""
_STATS_EPILOG = """examples:
  python -m corpus stats zulu.jsonl.xz
  python -m corpus stats data/zulu/warc --json > zulu.json
  python -m corpus stats data/*/warc --plot languages.png --top 10

Of archives all documents count, in every language and with duplicates; of JSON lines and vertical files what stands
there.
"""


def parser() -> argparse.ArgumentParser:
    """The command line."""
    text = "Make documents and statistics out of web archives."
    top = argparse.ArgumentParser(prog="python -m corpus", description=text)
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    raw = argparse.RawDescriptionHelpFormatter
    text = "WARC files to documents: main text, language by paragraph, without duplicates"
    extract = commands.add_parser("extract", help=text, description=text, epilog=_EXTRACT_EPILOG, formatter_class=raw)
    _extract_arguments(extract)
    text = "documents, words and bytes by language, host and month"
    stats = commands.add_parser("stats", help=text, description=text, epilog=_STATS_EPILOG, formatter_class=raw)
    _stats_arguments(stats)
    for sub in (extract, stats):
        sub.add_argument("files", nargs="+", metavar="FILE", help=_INPUTS)
        sub.add_argument("--quiet", "-q", action="store_true", help="warnings and errors only")
    return top


def _extract_arguments(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("-o", "--output", required=True, metavar="OUT", help="file (.xz .gz .zst: compressed), or -")
    sub.add_argument(
        "--format", choices=list(FORMS), help="default: by the name of OUT (.jsonl .txt .vert), else jsonl"
    )
    sub.add_argument(
        "--language",
        action="append",
        default=[],
        metavar="CODE",
        help="only this language (ISO 639-3; may be repeated)",
    )
    sub.add_argument("--model", type=Path, metavar="FILE", help="language model (default: the shipped one)")
    sub.add_argument(
        "--whole-pages",
        action="store_true",
        help="also short paragraphs apart from a page's main part: captions, comments, sidebars",
    )
    sub.add_argument("--min-words", type=int, default=1, metavar="N", help="drop documents of fewer words (default 1)")
    sub.add_argument(
        "--dedup-mib",
        type=int,
        default=DEFAULT_BYTES >> 20,
        metavar="MIB",
        help="memory for duplicates (default %(default)s; 0: keep duplicates)",
    )
    sub.add_argument("--json", action="store_true", help="the summary as one JSON object on standard error")


def _stats_arguments(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--json", action="store_true", help="one JSON object")
    sub.add_argument("--top", type=int, default=20, metavar="N", help="rows of each table (default 20; 0: all)")
    sub.add_argument("--plot", type=Path, metavar="PNG", help="also draw a picture")
    sub.add_argument("--jsonl", action="store_true", help="standard input has JSON lines, whatever it begins with")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    try:
        options = parser().parse_args(arguments)
    except SystemExit as stop:
        return int(stop.code or 0)
    # What the reader says of damage is in the report, once.
    logging.getLogger("archive").addHandler(logging.NullHandler())
    logging.getLogger("archive").propagate = False
    escape_what_does_not_fit()
    try:
        code = {"extract": _extract, "stats": _stats}[options.command](options)
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        print("corpus: interrupted; no file was written", file=sys.stderr)
        return INTERRUPTED
    except OSError as error:
        if error.filename is None:
            give_up_stdout()
            if isinstance(error, BrokenPipeError):  # whoever read it has seen enough
                return GOOD
        print(f"corpus: {error.filename or 'standard output'}: {error.strerror or error}", file=sys.stderr)
        return USAGE
    except (CorpusError, RelevanceError) as error:
        print(f"corpus: {error}", file=sys.stderr)
        return USAGE


def _extract(options: argparse.Namespace) -> int:
    choice = _choice(options)
    files = expand(options.files)
    check_target(options.output)
    if options.output != STDOUT:
        _expect_other(files, options.output)
    form = FORMS[options.format or form_of(options.output)]
    run = Extraction(choice, Report(quiet=options.quiet))
    with open_output(options.output) as out:
        for document in run.documents(files):
            out.write(form(document).encode("utf-8", "replace"))
    _summary(run, options)
    return FAULTS if run.tally.faults else GOOD


def _choice(options: argparse.Namespace) -> Choice:
    model = load(options.model) if options.model else shipped()
    known = sorted({label for label in model.labels if label != UNDETERMINED})
    languages = frozenset(code for part in options.language for code in part.split(",") if code)
    for code in sorted(languages - set(known)):
        hint = "" if options.model else "; of a model of your own: --model FILE"
        raise UsageFault(f"--language {code}: not one of {' '.join(known)}{hint}")
    if options.min_words < 0 or options.dedup_mib < 0:
        raise UsageFault("--min-words and --dedup-mib: not below 0")
    links = (options.format or form_of(options.output)) == "vertical"
    # A single language is what the corpus is wanted for: text that is likely enough in it is called so.
    identifier = Identifier(model, wanted=next(iter(languages)) if len(languages) == 1 else None)
    return Choice(languages, options.min_words, options.dedup_mib << 20, links, identifier, options.whole_pages)


def _expect_other(files: Sequence[str], target: str) -> None:
    """UsageFault when what is to be written would take the place of a file to read."""
    if Path(target).exists() and any(name != STDIN and Path(name).samefile(target) for name in files):
        raise UsageFault(f"{target}: is one of the files to read")


def _summary(run: Extraction, options: argparse.Namespace) -> None:
    tally = run.tally
    if options.json:
        run.report.line(json.dumps({"output": options.output, **tally.as_json()}))
        return
    detail = [f"{count:>9,} records: {RECORD_REASONS[reason]}" for reason, count in tally.dropped.most_common()]
    for reason, count in tally.dropped_paragraphs.most_common():
        if count:
            detail.append(f"{count:>9,} paragraphs: {PARAGRAPH_REASONS[reason]}")
    detail += [f"{count:>9,} pages: {name}" for name, count in _notes(tally)]
    run.report.ok(
        f"{options.output}: {tally.documents:,} documents, {tally.paragraphs:,} paragraphs, {tally.words:,} words "
        f"from {tally.records:,} records of {tally.files} files; left out:",
        detail or ["nothing"],
    )
    if tally.faults:
        run.report.warn(f"{tally.damages} damaged places, {tally.faults - tally.damages} records that failed")


def _notes(tally: Tally) -> list[tuple[str, int]]:
    words = {"cut": "longer than 8 MiB, only the beginning was read", "links": "their links could not be placed"}
    return [(words[note], count) for note, count in tally.notes.most_common()]


def _stats(options: argparse.Namespace) -> int:
    files = expand(options.files, (*ARCHIVE_SUFFIXES, *DOCUMENT_SUFFIXES))
    expect_stdout()
    if options.top < 0:
        raise UsageFault("--top: not below 0")
    if options.plot is not None:
        check_target(str(options.plot))
        _expect_other(files, str(options.plot))
    tally, statistics = Tally(), Statistics()
    for document in documents(files, Report(quiet=options.quiet), tally, jsonl=options.jsonl):
        statistics.add(document)
    if options.plot is not None:
        from corpus.chart import draw  # matplotlib takes a while to load

        draw(statistics, options.plot)
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


def stop_on_term() -> None:
    """A SIGTERM ends the run as Ctrl-C does: the half-written output is removed."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
