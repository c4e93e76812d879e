"""``corpus dedup``: what was there before, left out, across files and runs."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from corpus.commands.common import FAULTS, GOOD, expect_form, expect_target, named, named_path, summarise
from corpus.duplicates.deduplication import NEAR, PARAGRAPH_REASONS, UNIT_REASONS, Deduplication, Rules
from corpus.duplicates.kept import Kept
from corpus.duplicates.paragraphs import LONG_CHARACTERS
from corpus.duplicates.state import State, opened
from corpus.errors import UsageFault
from corpus.inputs import ROW_SUFFIXES, expand
from corpus.outputs import naming, open_output
from corpus.report import Report
from corpus.verbatim import OUTPUT_SUFFIXES, encoded, expand_documents, output_form

MOST_COLUMNS = 1000
_OF_ROWS = (".text", ".tsv", ".txt")
HELP = "what was there before, left out: across files and runs, exactly or nearly the same"
EPILOG = """examples:
  python -m corpus dedup 2024-*.jsonl.xz -o zulu.jsonl.xz --near
  python -m corpus dedup june.jsonl.xz -o june.new.jsonl.xz --state zulu.state --dropped june.dropped.jsonl
  python -m corpus dedup july.jsonl.xz -o july.new.jsonl.xz --state zulu.state
  python -m corpus dedup links.tsv.xz -o links.new.tsv.xz --columns 2,3,5,6

The files are JSON lines or vertical text of documents, or rows of columns. The first of equals stays, as it stood. With
--state what the outputs of earlier runs have is left out, too: june and july one after the other give what both at once
would. The same command again makes the same output again. A run that is killed leaves output and state in step.
Exit code: 0 all good, 1 something was damaged (what was good is in the output), 2 wrong usage.
"""


def arguments(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("-o", "--output", required=True, metavar="OUT", help="file (.xz .gz .zst: compressed), or -")
    sub.add_argument("--state", type=named_path, metavar="DIR", help="folder that remembers what each output has")
    sub.add_argument("--near", action="store_true", help="also paragraphs of which most was there before")
    sub.add_argument(
        "--threshold",
        type=float,
        metavar="SHARE",
        help=f"of a paragraph's runs of five words that were there before, to be nearly the same (default {NEAR})",
    )
    sub.add_argument(
        "--min-paragraph",
        type=int,
        metavar="N",
        help=f"letters from which a paragraph is judged by itself (default {LONG_CHARACTERS})",
    )
    sub.add_argument("--columns", metavar="N,N", help="tab-separated rows: equal when these columns are (from 1)")
    sub.add_argument(
        "--dropped", type=named, metavar="FILE", help="also write what was left out, and why, as JSON lines"
    )
    sub.add_argument("--json", action="store_true", help="the summary as one JSON object on standard error")


def run(options: argparse.Namespace) -> int:
    rules = _rules(options)
    files = expand(options.files, ROW_SUFFIXES) if rules.columns else expand_documents(options.files, options.output)
    _check_targets(files, [options.output, *([options.dropped] if options.dropped else [])])
    expect_form(options.output, _OF_ROWS if rules.columns else OUTPUT_SUFFIXES)
    report = Report(quiet=options.quiet)
    with ExitStack() as stack:
        state = None
        if options.state is not None:
            near = rules.near is not None
            state = stack.enter_context(opened(options.state, options.output, near=near))
            if options.dropped and state.has(options.dropped):
                raise UsageFault(f"--dropped {options.dropped}: is an output that is counted in {options.state}")
            if near and state.without_near:
                report.warn(f"made without --near, so only known exactly: {', '.join(state.without_near)}")
        kept = Kept(state.earlier if state else ())
        stack.callback(kept.close)
        ready = (lambda hidden: state.commit(kept.keys(), hidden)) if state else None
        with _listing(options.dropped) as tell:  # takes its name last
            dedup = Deduplication(rules, kept, report, tell)
            with open_output(options.output, ready) as out:
                for piece in dedup.results(files):
                    out.write(piece)
            if state is not None:
                state.done()
    _summary(dedup, options, report, state)
    return FAULTS if dedup.counts.damages else GOOD


def _rules(options: argparse.Namespace) -> Rules:
    if options.threshold is not None and not options.near:
        raise UsageFault("--threshold: only with --near")
    if options.columns is not None and (options.near or options.min_paragraph is not None):
        raise UsageFault("--columns: rows are compared exactly, and have no paragraphs")
    near = NEAR if options.threshold is None else options.threshold
    if not 0 < near <= 1:
        raise UsageFault("--threshold: above 0, at most 1")
    long = LONG_CHARACTERS if options.min_paragraph is None else options.min_paragraph
    if long < 0:
        raise UsageFault("--min-paragraph: not below 0")
    return Rules(long, near if options.near else None, _columns(options.columns), output_form(options.output))


def _columns(given: str | None) -> tuple[int, ...]:
    """Numbers from 1 -> places from 0."""
    if given is None:
        return ()
    numbers = given.split(",")
    if not all(number.isascii() and number.isdigit() and 0 < int(number) <= MOST_COLUMNS for number in numbers):
        raise UsageFault(f"--columns {given}: not numbers from 1 to {MOST_COLUMNS}, with commas between them")
    return tuple(int(number) - 1 for number in numbers)


def _check_targets(files: list[str], targets: list[str]) -> None:
    for target in targets:
        expect_target(target, files)
    if len({os.path.realpath(target) for target in targets}) < len(targets):
        raise UsageFault("--dropped: is the output")


@contextmanager
def _listing(name: str | None) -> Iterator[Callable[[str], None] | None]:
    """Writes what was dropped, a line each, to a file of this name; None where there is none."""
    if not name:
        yield None
        return
    with open_output(name) as file:

        def tell(line: str) -> None:
            with naming(Path(name)):
                file.write(encoded(f"{line}\n"))

        yield tell


def _summary(dedup: Deduplication, options: argparse.Namespace, report: Report, state: State | None) -> None:
    counts = dedup.counts
    earlier = len(state.earlier) if state else 0
    if options.json:
        report.line(json.dumps({"output": options.output, "earlier_outputs": earlier, **counts.as_json()}))
        return
    what = "rows" if options.columns else "documents"
    detail = [f"{count:>9,} {what}: {UNIT_REASONS[reason]}" for reason, count in counts.dropped.most_common()]
    for reason, count in counts.dropped_paragraphs.most_common():
        detail.append(f"{count:>9,} paragraphs: {PARAGRAPH_REASONS[reason]}")
    paragraphs = "" if options.columns else f" ({counts.paragraphs:,} paragraphs)"
    compared = f", compared with {earlier} earlier outputs" if state else ""
    kept = f"{counts.kept:,} of {counts.read:,} {what}{paragraphs} from {counts.files} files{compared}"
    summarise(report, f"{options.output}: {kept}", detail, counts.damages)
