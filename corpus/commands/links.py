"""``corpus links``: links to Wikipedia with the words around them."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Mapping
from pathlib import Path

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
from corpus.errors import UsageFault
from corpus.inputs import expand
from corpus.languages import html_tag
from corpus.outputs import open_output
from corpus.report import Report
from corpus.sources import counting
from corpus.tally import NOTES, RECORD_REASONS, Tally
from corpus.wikilinks.choice import REASONS, LinkChoice
from corpus.wikilinks.mentions import WORDS
from corpus.wikilinks.pages import TEXTS
from corpus.wikilinks.rows import FORMS, HEADER, SUFFIXES, form_of
from corpus.wikilinks.search import DOCUMENT_REASONS, Scope, Search
from corpus.wikilinks.tables import FILES, load

HELP = "links to Wikipedia's articles with the words around them, out of WARC and vertical files"
EPILOG = """examples:
  python -m corpus links data/zulu/warc -o links.tsv.xz --language zul
  python -m corpus links data/zulu/warc -o links.jsonl --wikipedia zu,en --without-wikimedia
  python -m corpus links zulu.vert.xz -o links.tsv --tables zu=tables/zu --similar

A line is a link: its address, the article's address, anchor, the anchor's markup, words before, words after, encoding,
byte of the address, byte of the anchor, file and place of the record, document. What is left out is counted by reason.
Exit code: 0 all good, 1 some records failed or were damaged, or lines of --titles can be no titles (what is good
is in the output), 2 wrong usage.
"""
_EDITION = re.compile(r"[a-z]{2,6}(?:-[a-z]{1,10}){0,2}")
_MOST_WORDS = 10_000
_TABLES = {
    "titles": ("--titles", "links to other titles are left out"),
    "redirects": ("--redirects", "links are followed"),
    "disambiguations": ("--disambiguations", "links to these are left out"),
    "pages": ("--page-table", "of numbers and titles, for links by number (curid)"),
}


def arguments(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("-o", "--output", required=True, metavar="OUT", help="file (.xz .gz .zst: compressed), or -")
    sub.add_argument("--format", choices=list(FORMS), help="default: by the name of OUT (.tsv .jsonl), else tsv")
    sub.add_argument("--header", action="store_true", help="begin with a line of the columns' names (tsv)")
    sub.add_argument("--words", type=int, default=WORDS, metavar="N", help="words on each side (default %(default)s)")
    sub.add_argument(
        "--text",
        choices=list(TEXTS),
        default="all",
        help="which text of pages: all of it (default), or what extract takes: main, or whole (--whole-pages)",
    )
    language_arguments(sub)
    sub.add_argument(
        "--wikipedia", action="append", default=[], metavar="EDITION", help="only links to it (zu; may be repeated)"
    )
    sub.add_argument("--without-wikimedia", action="store_true", help="no documents on Wikipedia and its sisters")
    sub.add_argument("--without-fragments", action="store_true", help="no links to a part of an article (#…)")
    sub.add_argument("--similar", action="store_true", help="only anchors that are like the article's title")
    sub.add_argument(
        "--tables", action="append", default=[], metavar="EDITION=FOLDER", help="those that links-tables has made"
    )
    for name, (option, use) in _TABLES.items():
        sub.add_argument(option, dest=name, action="append", default=[], metavar="EDITION=FILE", help=use)
    processes_argument(sub)
    sub.add_argument("--json", action="store_true", help="the summary as one JSON object on standard error")


def run(options: argparse.Namespace) -> int:
    if not 0 <= options.words <= _MOST_WORDS:
        raise UsageFault(f"--words: from 0 to {_MOST_WORDS}")
    form = options.format or form_of(options.output)
    if options.header and form != "tsv":
        raise UsageFault("--header: only of tsv")
    files = expand(options.files)
    tables = _tables(options)
    expect_target(options.output, [*files, *(path for paths in tables.values() for path in paths.values())])
    expect_form_or_format(options, SUFFIXES)
    search = _search(options, tables)
    with open_output(options.output) as out:
        if options.header:
            out.write(HEADER.encode())
        for mention in search.mentions(files):
            out.write(FORMS[form](mention).encode("utf-8", "replace"))
    _summary(search, options)
    return FAULTS if search.tally.faults else GOOD


def _search(options: argparse.Namespace, files: Mapping[str, Mapping[str, str]]) -> Search:
    languages, identifier = languages_of(options)
    editions = frozenset(_edition(code, "--wikipedia") for part in options.wikipedia for code in part.split(","))
    processes = processes_of(options)
    scope = Scope(options.text, options.words, languages, identifier, not options.without_wikimedia, processes)
    report, tally = Report(quiet=options.quiet), Tally()
    fault = counting(report, tally)
    tables = {edition: load(paths, fault) for edition, paths in files.items()}
    choice = LinkChoice(editions, tables, options.similar, not options.without_fragments)
    return Search(scope, choice, report, tally)


def _edition(code: str, option: str) -> str:
    if not _EDITION.fullmatch(code):
        raise UsageFault(f"{option}: {code!r} is no edition of Wikipedia, as zu is")
    if (tag := html_tag(code)) != code:
        raise UsageFault(f"{option}: {code!r} is no edition of Wikipedia; {tag} is the one in this language")
    return code


def _tables(options: argparse.Namespace) -> dict[str, dict[str, str]]:
    """The files of each edition's tables, by what they are."""
    found: dict[str, dict[str, str]] = {}
    for given in options.tables:
        edition, folder = _assigned(given, "--tables")
        inside = {name: str(Path(folder, file)) for name, file in FILES.items() if Path(folder, file).is_file()}
        if not inside:
            raise UsageFault(f"--tables: {folder} has none of {', '.join(FILES.values())}")
        found.setdefault(edition, {}).update(inside)
    for name, (option, _) in _TABLES.items():
        for given in getattr(options, name):
            edition, file = _assigned(given, option)
            if not Path(file).exists():
                raise UsageFault(f"{file}: no such file")
            found.setdefault(edition, {})[name] = file
    return found


def _assigned(given: str, option: str) -> tuple[str, str]:
    edition, sign, path = given.partition("=")
    if not sign or not path:
        raise UsageFault(f"{option} {given}: an edition and a name are needed, as in zu={path or given.strip('=')}")
    return _edition(edition, option), path


def _summary(search: Search, options: argparse.Namespace) -> None:
    tally, dropped = search.tally, search.choice.dropped
    if options.json:
        counts = {
            "output": options.output,
            "links": search.found,
            "dropped_links": dict(sorted(dropped.items())),
            "files": tally.files,
            "records": tally.records,
            "documents": tally.documents,
            "damages": tally.damages,
            "dropped": dict(sorted(tally.dropped.items())),
            "notes": dict(sorted(tally.notes.items())),
        }
        search.report.line(json.dumps(counts))
        return
    detail = [f"{count:>9,} links: {REASONS[reason]}" for reason, count in dropped.most_common()]
    for reason, count in tally.dropped.most_common():
        what = "records" if reason in RECORD_REASONS else "documents"
        detail.append(f"{count:>9,} {what}: {DOCUMENT_REASONS[reason]}")
    detail += [f"{count:>9,} pages: {NOTES[note]}" for note, count in tally.notes.most_common()]
    text = (
        f"{options.output}: {search.found:,} links in {tally.documents:,} documents with links, from {tally.records:,} "
        f"records of {tally.files} files"
    )
    summarise(search.report, text, detail, tally.damages, tally.faults - tally.damages)
