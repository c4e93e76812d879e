"""``archive verify``: every fault of files, with its place."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, replace
from pathlib import Path

from archive.commands.common import FAULTS, GOOD, each, files_argument, progress, spooled
from archive.terminal import printable
from archive.tools.verify import Problem, Verifier

HELP = "check structure, lengths, digests, dates, packs and index"


def arguments(sub: argparse.ArgumentParser) -> None:
    files_argument(sub, "WARC files, or folders of them")
    sub.add_argument("--no-index", action="store_true", help="do not compare with FILE.cdxj")
    sub.add_argument("--strict", action="store_true", help="warnings count as faults")


def run(options: argparse.Namespace) -> int:
    def verified(name: str) -> int:
        def say(problem: Problem) -> None:
            problem = replace(problem, path=name)
            print(json.dumps(asdict(problem)) if options.json else printable(str(problem)))

        with spooled(Path(name)) as file, progress(options, file) as tick:
            summary = Verifier(file, say).run(index=not options.no_index, tick=tick)
        if options.json:
            print(json.dumps({"file": name, **asdict(summary)}))
        else:
            counts = f"{summary.records} records, {summary.errors} errors, {summary.warnings} warnings"
            print(printable(f"{name}: {counts}"))
        return FAULTS if summary.errors or (options.strict and summary.warnings) else GOOD

    return each(options, verified, folders=True)
