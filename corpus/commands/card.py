"""``corpus card``: what is to be said of a corpus that is published."""

from __future__ import annotations

import argparse
from pathlib import Path

from archive import Damage
from corpus.commands.common import FAULTS, GOOD, expect_form, expect_target, is_archive
from corpus.datasheet import Datasheet, crawls_of, written
from corpus.errors import UsageFault
from corpus.inputs import ARCHIVE_SUFFIXES, DOCUMENT_SUFFIXES, STDIN, expand
from corpus.outputs import open_output
from corpus.report import Report
from corpus.sources import documents
from corpus.tally import Tally

HELP = "a card for a corpus: amounts, languages, hosts, licences, dates, how it was made"
EPILOG = """examples:
  python -m corpus card zulu.jsonl.xz -o README.md --title "isiZulu of the web" --warc data/zulu/warc
  python -m corpus card news.vert.xz -o -

Markdown as the Hugging Face Hub and other places for data sets show it, with the head that they read. --warc: the
archives that the documents were extracted from; what their first records say of the crawl is told.
"""


def arguments(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("-o", "--output", required=True, metavar="OUT", help="file (.md), or -")
    sub.add_argument("--title", default="", help="its heading (default: the name of the first file)")
    sub.add_argument(
        "--warc", metavar="FILE", action="append", default=[], help="archives of the crawl; may be repeated"
    )
    sub.add_argument("--jsonl", action="store_true", help="standard input has JSON lines, whatever it begins with")


def run(options: argparse.Namespace) -> int:
    files = expand(options.files, (*ARCHIVE_SUFFIXES, *DOCUMENT_SUFFIXES))
    archives = expand(options.warc)
    if STDIN in archives:
        raise UsageFault("--warc -: only files")
    if others := [name for name in archives if not is_archive(name)]:
        raise UsageFault(f"--warc {others[0]}: no archive")
    expect_target(options.output, files + archives)
    expect_form(options.output, (".md", ".txt"))
    report, tally, sheet = Report(quiet=options.quiet), Tally(), Datasheet()

    def tell(damage: Damage) -> None:
        tally.damages += 1
        report.warn(f"damage: {damage}")

    crawls = crawls_of(archives, tell)
    for document in documents(files, report, tally, jsonl=options.jsonl):
        sheet.add(document)
    names = [Path(name).name if name != STDIN else "standard input" for name in files]
    title = options.title or ("" if files[0] == STDIN else names[0].partition(".")[0])
    with open_output(options.output) as out:
        out.write(written(sheet, title, names, crawls).encode("utf-8", "replace"))
    return FAULTS if tally.faults else GOOD
