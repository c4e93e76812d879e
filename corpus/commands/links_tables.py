"""``corpus links-tables``: Wikipedia's dumps to the tables that ``corpus links`` looks titles up in."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from corpus.commands.common import GOOD, expect_target
from corpus.errors import UsageFault
from corpus.inputs import expand
from corpus.outputs import COMPRESSED, STDOUT, open_output
from corpus.report import Report
from corpus.sources import sound_lines
from corpus.wikilinks.dumps import rows, table_of
from corpus.wikilinks.tables import FILES, Row, Titles

HELP = "Wikipedia's dumps (page, redirect, page_props) to tables for links"
EPILOG = """example:
  python -m corpus links-tables zuwiki-20240101-{page,redirect,page_props}.sql.gz -o tables/zu
  python -m corpus links data/zulu/warc -o links.tsv --tables zu=tables/zu

Dumps are at https://dumps.wikimedia.org/ by edition and date; those of one edition make one folder. The page dump is
needed; redirect gives redirects.tsv, page_props disambiguations.tsv. Which is which is seen in the files.
Exit code: 0 all good, 2 wrong usage, or a dump that is damaged (the folder is as it was).
"""
_SUFFIXES = tuple(f".sql{stored}" for stored in ("", *COMPRESSED))
_ARTICLE = "0"
_HERE = frozenset(("", "NULL"))
Write = Callable[[str], object]


def arguments(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("-o", "--output", required=True, metavar="FOLDER", help="is made where it is not there")


def run(options: argparse.Namespace) -> int:
    dumps = _dumps(expand(options.files, _SUFFIXES))
    folder = Path(options.output)
    if options.output == STDOUT or (folder.exists() and not folder.is_dir()):
        raise UsageFault(f"-o {options.output}: is to be a folder")
    folder.mkdir(parents=True, exist_ok=True)
    names = ["titles", "pages"]
    names += ["redirects"] if "redirect" in dumps else []
    names += ["disambiguations"] if "page_props" in dumps else []
    targets = {name: str(folder / FILES[name]) for name in names}
    for target in targets.values():
        expect_target(target, [path for path, _ in dumps.values()])
    counts = dict.fromkeys(names, 0)
    with ExitStack() as stack:
        files = {name: stack.enter_context(open_output(target)) for name, target in targets.items()}

        def writer(name: str) -> Write:
            def write(row: str) -> None:
                files[name].write(f"{row}\n".encode())
                counts[name] += 1

            return write

        pages = Titles(_pages(*dumps["page"], writer("titles"), writer("pages")))
        if not pages:
            raise UsageFault(f"{dumps['page'][0]}: no article is in it")
        if "redirect" in dumps:
            _redirects(*dumps["redirect"], pages, writer("redirects"))
        if "page_props" in dumps:
            _disambiguations(*dumps["page_props"], pages, writer("disambiguations"))
    report = Report(quiet=options.quiet)
    report.ok(f"{folder}: " + ", ".join(f"{count:,} {name}" for name, count in counts.items()))
    for name in FILES.keys() - counts.keys():
        if (folder / FILES[name]).exists():  # another run's, which may be meant
            report.warn(f"{folder / FILES[name]}: not of these dumps; remove it, or links --tables goes by it, too")
    return GOOD


def _dumps(files: Sequence[str]) -> dict[str, tuple[str, Iterator[bytes]]]:
    """The files and their lines, by their tables. Each is opened once, so that it may be a pipe."""
    found: dict[str, tuple[str, Iterator[bytes]]] = {}
    for file in files:
        # A table that lacks titles would be worse than none.
        table, dump = table_of(line for _, line in sound_lines(file))
        if table not in ("page", "redirect", "page_props"):
            raise UsageFault(f"{file}: no dump of page, redirect or page_props")
        if table in found:
            raise UsageFault(f"{file}: a second dump of {table}; each folder is of one edition")
        found[table] = file, dump
    if "page" not in found:
        raise UsageFault("a dump of the table page is needed (…-page.sql.gz)")
    return found


def _pages(path: str, dump: Iterator[bytes], titles: Write, pages: Write) -> Iterator[Row]:
    """The articles and redirects, written and given."""
    for number, namespace, title in rows(dump, "page", ("page_id", "page_namespace", "page_title"), path):
        if namespace == _ARTICLE:
            key, name = _number(number, path), _plain(title)
            titles(name)
            pages(f"{key}\t{name}")
            yield key, name


def _redirects(path: str, dump: Iterator[bytes], pages: Titles, write: Write) -> None:
    columns = ("rd_from", "rd_namespace", "rd_title", "rd_interwiki")
    for number, namespace, title, wiki in rows(dump, "redirect", columns, path):
        name = pages.get(_number(number, path))
        if name is not None and namespace == _ARTICLE and wiki in _HERE:
            write(f"{_plain(title)}\t{name}")


def _disambiguations(path: str, dump: Iterator[bytes], pages: Titles, write: Write) -> None:
    for number, kind in rows(dump, "page_props", ("pp_page", "pp_propname"), path):
        if kind == "disambiguation" and (name := pages.get(_number(number, path))) is not None:
            write(name)


def _number(written: str, path: str) -> int:
    if not (written.isascii() and written.isdigit() and len(written) < 19):
        raise UsageFault(f"{path}: {written[:40]!r} is no number of a page")
    return int(written)


def _plain(title: str) -> str:
    return " ".join(title.replace("_", " ").split())
