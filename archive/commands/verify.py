"""``archive verify``: every fault of files, with its place."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, replace
from pathlib import Path

from archive.commands.common import (
    FAULTS,
    GOOD,
    UsageFault,
    each,
    earlier_argument,
    files_argument,
    progress,
    report_error,
    spooled,
    tell_damages,
)
from archive.errors import ArchiveError
from archive.index.cdxj import SUFFIX
from archive.reading.record import Record
from archive.storage.warcfile import finished_in
from archive.terminal import printable
from archive.tools.revisits import Revisits
from archive.tools.verify import Problem, Verifier

HELP = "check structure, lengths, digests, dates, packs and index"


def arguments(sub: argparse.ArgumentParser) -> None:
    files_argument(sub, "WARC files, or folders of them")
    sub.add_argument("--no-index", action="store_true", help="do not compare with FILE.cdxj")
    sub.add_argument("--strict", action="store_true", help="warnings count as faults")
    sub.add_argument(
        "--revisits", action="store_true", help="also find the content of every repeat (revisit record), by the indexes"
    )
    earlier_argument(sub, "find it there, too: an earlier crawl's files, or indexes of them by any name")


def run(options: argparse.Namespace) -> int:
    revisits = Revisits() if options.revisits or options.earlier else None
    names: list[str] = []

    def verified(name: str) -> int:
        if revisits is not None and not Path(name).is_file():
            raise UsageFault(f"{name}: is no file that can be read twice, as --revisits does")

        with spooled(Path(name)) as file, progress(options, file) as tick:

            def seen(record: Record) -> None:
                if tick is not None:
                    tick(record)
                if revisits is not None:
                    revisits.add(record, name)

            verifier = Verifier(file, lambda problem: _say(replace(problem, path=name), options))
            summary = verifier.run(index=not options.no_index, tick=seen)
        names.append(name)
        if options.json:
            print(json.dumps({"file": name, **asdict(summary)}))
        else:
            counts = f"{summary.records} records, {summary.errors} errors, {summary.warnings} warnings"
            print(printable(f"{name}: {counts}"))
        return FAULTS if summary.errors or (options.strict and summary.warnings) else GOOD

    code = each(options, verified, folders=True)
    return code if revisits is None else max(code, _resolved(revisits, names, options))


def _with_content(name: str) -> list[str]:
    """What is looked into for an earlier crawl: of a folder that has indexes and no WARC file, these."""
    folder = Path(name)
    alone = sorted(folder.glob(f"*{SUFFIX}")) if folder.is_dir() and not finished_in(folder) else []
    return [str(index) for index in alone] or [name]


def _say(problem: Problem, options: argparse.Namespace) -> None:
    print(json.dumps(asdict(problem)) if options.json else printable(str(problem)))


def _resolved(revisits: Revisits, names: list[str], options: argparse.Namespace) -> int:
    """Whether the content of all revisits is in the files that were verified, or in the earlier ones."""

    def looked_into(name: str) -> int:
        try:
            damages = revisits.look_into(Path(name))
        except ArchiveError as error:
            return report_error(error)
        return GOOD if name in names else tell_damages(damages, options.json)  # those of the others have been told

    earlier = [file for name in options.earlier for file in _with_content(name)]
    code = each(argparse.Namespace(files=[*names, *earlier]), looked_into, folders=True)
    lost = 0
    for lost, problem in enumerate(revisits.unresolved(), 1):  # noqa: B007
        _say(problem, options)
    if options.json:
        print(json.dumps({"revisits": revisits.count, "unresolved": lost}))
    else:
        print(f"{revisits.count} repeats, the content of {lost} was not found")
    return max(code, FAULTS if lost else GOOD)
