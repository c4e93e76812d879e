"""``corpus select``: a part of documents, as they stand."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from archive.tools.remove import below
from corpus.commands.common import FAULTS, GOOD, expect_form, expect_target, named, summarise
from corpus.errors import UsageFault
from corpus.inputs import STDIN
from corpus.outputs import open_output
from corpus.report import Report
from corpus.subcorpus import REASONS, Counts, Subcorpus, Wanted, period
from corpus.verbatim import OUTPUT_SUFFIXES, expand_documents, output_form

HELP = "a part of documents: by site, date, id, or drawn at random, so many of each host"
EPILOG = """examples:
  python -m corpus select zulu.jsonl.xz -o zulu-2024.jsonl.xz --published 2024
  python -m corpus select zulu.vert.xz -o sample.vert.xz --per-host 100 --sample 5000
  python -m corpus select zulu.jsonl.xz -o press.jsonl.xz --site news.example --site paper.example/isizulu/
  python -m corpus select zulu.vert.xz -o chosen.vert.xz --ids chosen.txt

The files are JSON lines or vertical text of documents, which are written as they stand. What is drawn depends on the
documents' ids and on --seed alone: the same documents of the JSON lines and of the vertical text that extract has made
of one archive, and --sample 10% has all that --sample 5% has. --per-host and --sample N read the files twice.
Exit code: 0 all good, 1 something was damaged, or nothing fits (what was good is in the output), 2 wrong usage.
"""
_SHARE = re.compile(r"(\d+(?:\.\d+)?)%\Z", re.ASCII)
_NUMBER = re.compile(r"0\Z|[1-9]\d{0,17}\Z", re.ASCII)
Made = TypeVar("Made")


def arguments(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("-o", "--output", required=True, metavar="OUT", help="file (.xz .gz .zst: compressed), or -")
    for name, text in (("--site", "only of this site"), ("--without", "nothing of this site")):
        sub.add_argument(
            name,
            action="append",
            default=[],
            metavar="SITE",
            help=f"{text}: a host (with and without www.), or how URLs begin; may be repeated",
        )
    when = "in this time: 2024, 2024-05, 2024-05-31, 2023-06..2024 (both included), 2023.., ..2024"
    sub.add_argument("--captured", metavar="WHEN", help=f"fetched {when}")
    sub.add_argument(
        "--published", metavar="WHEN", help="published so, as the page or a feed says; others are left out"
    )
    sub.add_argument("--ids", type=named, metavar="FILE", help="only documents with these ids, one a line")
    sub.add_argument("--per-host", metavar="N", help="at most so many of each host, drawn at random")
    sub.add_argument("--sample", metavar="N|N%", help="so many of these, or such a share, drawn at random")
    sub.add_argument("--seed", default="0", metavar="N", help="of what is drawn (default 0): another one, another draw")
    sub.add_argument("--json", action="store_true", help="the summary as one JSON object on standard error")


def run(options: argparse.Namespace) -> int:
    wanted = _wanted(options)
    files = expand_documents(options.files, options.output)
    expect_target(options.output, [*files, *([options.ids] if options.ids else [])])
    expect_form(options.output, OUTPUT_SUFFIXES)
    if wanted.twice:
        _expect_files(files)
    report = Report(quiet=options.quiet)
    subcorpus = Subcorpus(wanted, report, output_form(options.output))
    with open_output(options.output) as out:
        for document in subcorpus.results(files):
            out.write(document)
    _summary(subcorpus.counts, options, report)
    return GOOD if subcorpus.counts.kept and not subcorpus.counts.damages else FAULTS


def _wanted(options: argparse.Namespace) -> Wanted:
    share, number = _drawn(options.sample)
    return Wanted(
        sites=_any_of("--site", options.site),
        without=_any_of("--without", options.without),
        captured=_given("--captured", options.captured, period),
        published=_given("--published", options.published, period),
        ids=_ids(options.ids),
        per_host=_given("--per-host", options.per_host, _number_above_0),
        share=share,
        number=number,
        seed=_given("--seed", options.seed, _number) or 0,
    )


def _given(option: str, text: str | None, made: Callable[[str], Made]) -> Made | None:
    """What an option says; UsageFault where that cannot be."""
    if text is None:
        return None
    try:
        return made(text)
    except ValueError as error:
        raise UsageFault(f"{option} {text}: {error}") from None


def _number(text: str) -> int:
    if not _NUMBER.match(text):
        raise ValueError("no number from 0 on")
    return int(text)


def _number_above_0(text: str) -> int:
    if not _NUMBER.match(text) or text == "0":
        raise ValueError("no number from 1 on")
    return int(text)


def _drawn(text: str | None) -> tuple[float | None, int | None]:
    """A share, or a number."""
    found = _SHARE.match(text or "")
    if not found:
        return None, _given("--sample", text, _number_above_0)
    share = float(found[1]) / 100
    if not 0 < share <= 1:
        raise UsageFault(f"--sample {text}: above 0%, at most 100%")
    return share, None


def _any_of(option: str, sites: Sequence[str]) -> Callable[[str], bool] | None:
    """Is a URL of one of these sites? None when there are none."""
    tests = [test for site in sites if (test := _given(option, site, below)) is not None]
    return (lambda url: any(test(url) for test in tests)) if tests else None


def _ids(name: str | None) -> frozenset[str] | None:
    if name is None:
        return None
    try:
        text = Path(name).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageFault(f"--ids {name}: cannot be read: {error}") from None
    found = frozenset(line.strip() for line in text.splitlines() if line.strip())
    if not found:
        raise UsageFault(f"--ids {name}: has no id")
    return found


def _expect_files(files: Sequence[str]) -> None:
    for name in files:
        if name == STDIN or not Path(name).is_file():
            raise UsageFault(f"{name}: cannot be read twice, as --per-host and --sample N do; --sample N% reads once")


def _summary(counts: Counts, options: argparse.Namespace, report: Report) -> None:
    if options.json:
        report.line(json.dumps({"output": options.output, **counts.as_json()}))
        return
    detail = [f"{count:>9,} documents: {REASONS[reason]}" for reason, count in counts.dropped.most_common()]
    text = f"{options.output}: {counts.kept:,} of {counts.read:,} documents from {counts.files} files"
    summarise(report, text, detail, counts.damages)
    if not counts.kept:
        report.warn(f"{options.output}: no document fits")
