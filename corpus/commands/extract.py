"""``corpus extract``: WARC files to documents."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

from corpus.commands.common import FAULTS, GOOD, expect_other
from corpus.dedup import DEFAULT_BYTES
from corpus.errors import UsageFault
from corpus.extraction import Choice, Extraction
from corpus.forms import FORMS, form_of
from corpus.inputs import expand
from corpus.outputs import STDOUT, check_target, open_output
from corpus.report import Report
from corpus.tally import PARAGRAPH_REASONS, RECORD_REASONS, Tally
from relevance.identification import Identifier
from relevance.model import load, shipped
from relevance.types import UNDETERMINED

HELP = "WARC files to documents: main text, language by paragraph, without duplicates"
EPILOG = """examples:
  python -m corpus extract data/zulu/warc -o zulu.jsonl.xz --language zul --min-words 20
  python -m corpus extract 'crawls/*/warc/*.warc.xz' -o zulu.vert.xz --language zul
  zcat crawl.warc.gz | python -m corpus extract - -o - --format text

Paragraphs and documents that were there before are dropped (the first stays), as are paragraphs in other languages when
--language is given. Why something was left out is counted and told at the end, with --json as one JSON object.
Exit code: 0 all good, 1 some records failed or were damaged (the good ones are in the output), 2 wrong usage.
"""


def arguments(sub: argparse.ArgumentParser) -> None:
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
    sub.add_argument(
        "--processes",
        type=int,
        default=1,
        metavar="N",
        help="how many read pages at a time (default 1; 0: one a processor); the result is the same",
    )
    sub.add_argument("--json", action="store_true", help="the summary as one JSON object on standard error")


def run(options: argparse.Namespace) -> int:
    choice = _choice(options)
    files = expand(options.files)
    check_target(options.output)
    if options.output != STDOUT:
        expect_other(files, options.output)
    form = FORMS[options.format or form_of(options.output)]
    processes = options.processes or len(os.sched_getaffinity(0))
    extraction = Extraction(choice, Report(quiet=options.quiet), processes=processes)
    with open_output(options.output) as out:
        for document in extraction.documents(files):
            out.write(form(document).encode("utf-8", "replace"))
    _summary(extraction, options)
    return FAULTS if extraction.tally.faults else GOOD


def _choice(options: argparse.Namespace) -> Choice:
    model = load(options.model) if options.model else shipped()
    known = sorted({label for label in model.labels if label != UNDETERMINED})
    languages = frozenset(code for part in options.language for code in part.split(",") if code)
    for code in sorted(languages - set(known)):
        hint = "" if options.model else "; of a model of your own: --model FILE"
        raise UsageFault(f"--language {code}: not one of {' '.join(known)}{hint}")
    if min(options.min_words, options.dedup_mib, options.processes) < 0:
        raise UsageFault("--min-words, --dedup-mib and --processes: not below 0")
    links = (options.format or form_of(options.output)) == "vertical"
    # A single language is what the corpus is wanted for: text that is likely enough in it is called so.
    identifier = Identifier(model, wanted=next(iter(languages)) if len(languages) == 1 else None)
    return Choice(languages, options.min_words, options.dedup_mib << 20, links, identifier, options.whole_pages)


def _summary(extraction: Extraction, options: argparse.Namespace) -> None:
    tally = extraction.tally
    if options.json:
        extraction.report.line(json.dumps({"output": options.output, **tally.as_json()}))
        return
    detail = [f"{count:>9,} records: {RECORD_REASONS[reason]}" for reason, count in tally.dropped.most_common()]
    for reason, count in tally.dropped_paragraphs.most_common():
        if count:
            detail.append(f"{count:>9,} paragraphs: {PARAGRAPH_REASONS[reason]}")
    detail += [f"{count:>9,} pages: {name}" for name, count in _notes(tally)]
    extraction.report.ok(
        f"{options.output}: {tally.documents:,} documents, {tally.paragraphs:,} paragraphs, {tally.words:,} words "
        f"from {tally.records:,} records of {tally.files} files; left out:",
        detail or ["nothing"],
    )
    if tally.faults:
        extraction.report.warn(f"{tally.damages} damaged places, {tally.faults - tally.damages} records that failed")


def _notes(tally: Tally) -> list[tuple[str, int]]:
    words = {"cut": "longer than 8 MiB, only the beginning was read", "links": "their links could not be placed"}
    return [(words[note], count) for note, count in tally.notes.most_common()]
