"""``corpus extract``: WARC files to documents."""

from __future__ import annotations

import argparse
import json

from corpus.commands.common import (
    FAULTS,
    GOOD,
    expect_form_or_format,
    expect_target,
    language_arguments,
    languages_of,
    processes_argument,
    processes_of,
    summarise,
)
from corpus.duplicates.paragraphs import DEFAULT_BYTES
from corpus.errors import UsageFault
from corpus.extraction import Choice, Extraction
from corpus.forms import FORMS, SUFFIXES, WITH_HEADINGS, Form, form_of
from corpus.inputs import ARCHIVE_SUFFIXES, STDIN, expand
from corpus.outputs import open_output
from corpus.report import Report
from corpus.sources import kinds_of
from corpus.tally import NOTES, PARAGRAPH_REASONS, RECORD_REASONS

HELP = "WARC files to documents: main text, language by paragraph, without duplicates"
EPILOG = """examples:
  python -m corpus extract data/zulu/warc -o zulu.jsonl.xz --language zul --min-words 20
  python -m corpus extract 'crawls/*/warc/*.warc.xz' -o zulu.vert.xz --language zul
  python -m corpus extract zulu-2026-05/warc --earlier zulu-2026-04/warc -o zulu-2026-05.jsonl.xz
  zcat crawl.warc.gz | python -m corpus extract - -o - --format text

Of each document JSON lines and vertical text (<doc ...>) also have what its page says of its publication: published
(ISO 8601; published_from, too, where only a feed or the printed page says it), author, site, licence; docs/corpus.md
says where from.

Paragraphs and documents that were there before are dropped (the first stays), as are paragraphs in other languages when
--language is given. Why something was left out is counted and told at the end, with --json as one JSON object.
Exit code: 0 all good, 1 some records failed, were damaged, or have their content in no file of --earlier (the good
ones are in the output), 2 wrong usage.
"""


def arguments(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("-o", "--output", required=True, metavar="OUT", help="file (.xz .gz .zst: compressed), or -")
    sub.add_argument(
        "--format", choices=list(FORMS), help="default: by the name of OUT (.jsonl .txt .vert .prevert), else jsonl"
    )
    language_arguments(sub)
    sub.add_argument(
        "--whole-pages",
        action="store_true",
        help="also short paragraphs apart from a page's main part: captions, comments, sidebars",
    )
    sub.add_argument("--headings", action="store_true", help='mark headings in vertical text: <p heading="1">')
    sub.add_argument("--min-words", type=int, default=1, metavar="N", help="drop documents of fewer words (default 1)")
    sub.add_argument(
        "--dedup-mib",
        type=int,
        default=DEFAULT_BYTES >> 20,
        metavar="MIB",
        help="memory for duplicates (default %(default)s; 0: keep duplicates)",
    )
    processes_argument(sub)
    sub.add_argument(
        "--earlier",
        metavar="FILE",
        action="append",
        default=[],
        help="files or a folder of an earlier crawl, with the content of revisits in FILE: what was captured again as "
        "it was makes documents, too; to be repeated for each of the crawls before",
    )
    sub.add_argument("--json", action="store_true", help="the summary as one JSON object on standard error")


def run(options: argparse.Namespace) -> int:
    choice = _choice(options)
    files = expand(options.files)
    earlier = expand(options.earlier)
    if STDIN in earlier:
        raise UsageFault("--earlier -: standard input is read first, and once")
    for name, kind in kinds_of([name for name in files + earlier if not name.endswith(ARCHIVE_SUFFIXES)]):
        if kind != "archive":
            raise UsageFault(f"{name}: documents already; extract reads archives")
    expect_target(options.output, files + earlier)
    expect_form_or_format(options, SUFFIXES)
    form = _form(options)
    extraction = Extraction(choice, Report(quiet=options.quiet), processes=processes_of(options))
    with open_output(options.output) as out:
        for document in extraction.documents(files, earlier):
            out.write(form(document).encode("utf-8", "replace"))
    _summary(extraction, options)
    return FAULTS if extraction.tally.faults else GOOD


def _form(options: argparse.Namespace) -> Form:
    name = options.format or form_of(options.output)
    if options.headings and name not in WITH_HEADINGS:
        raise UsageFault("--headings: of vertical text only; JSON lines tell the kind of every paragraph")
    return (WITH_HEADINGS if options.headings else FORMS)[name]


def _choice(options: argparse.Namespace) -> Choice:
    languages, identifier = languages_of(options)
    if options.min_words < 0 or options.dedup_mib < 0:
        raise UsageFault("--min-words and --dedup-mib: not below 0")
    links = (options.format or form_of(options.output)) == "vertical"
    return Choice(languages, options.min_words, options.dedup_mib << 20, links, identifier, options.whole_pages)


def _summary(extraction: Extraction, options: argparse.Namespace) -> None:
    tally = extraction.tally
    if options.json:
        extraction.report.line(json.dumps({"output": options.output, **tally.as_json()}))
        return
    detail = [f"{count:>9,} records: {RECORD_REASONS[reason]}" for reason, count in (+tally.dropped).most_common()]
    for reason, count in tally.dropped_paragraphs.most_common():
        if count:
            detail.append(f"{count:>9,} paragraphs: {PARAGRAPH_REASONS[reason]}")
    detail += [f"{count:>9,} pages: {NOTES[note]}" for note, count in tally.notes.most_common()]
    text = (
        f"{options.output}: {tally.documents:,} documents, {tally.paragraphs:,} paragraphs, {tally.words:,} words "
        f"from {tally.records:,} records of {tally.files} files"
    )
    summarise(extraction.report, text, detail, tally.damages, tally.failed)
