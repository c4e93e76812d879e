"""``archive repair``: what is sound of a damaged file, as a file of its own."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from archive.commands.common import (
    FAULTS,
    GOOD,
    file_name,
    force_argument,
    fresh,
    output_of,
    progress,
    spooled,
    tell_damages,
)
from archive.storage.warcfile import OPEN
from archive.terminal import printable
from archive.tools.convert import repair

HELP = "copy what is sound of a damaged file"


def arguments(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("file", type=file_name, metavar="FILE", help="a WARC file; - for standard input (with --output)")
    sub.add_argument("-o", "--output", type=file_name, metavar="FILE", help="default: FILE with .repaired before .warc")
    force_argument(sub)


def run(options: argparse.Namespace) -> int:
    target = fresh(Path(options.file), output_of(options, options.file, _repaired), options)
    with spooled(Path(options.file)) as path, progress(options, path) as tick:
        report = repair(path, target, tick=tick)
    tell_damages(report.damages, options.json)
    if options.json:
        output = str(target) if report.kept else None
        print(json.dumps({"file": options.file, "output": output, "kept": report.kept, "dropped": report.dropped}))
    else:
        counts = f"{report.kept} records kept, {report.dropped} dropped, {len(report.damages)} damages"
        name = str(target) if report.kept else f"{target} is not written"
        print(printable(f"{name}: {counts}"))
    return FAULTS if report.damages or not report.kept else GOOD


def _repaired(path: Path) -> Path:
    stem, warc, rest = path.name.removesuffix(OPEN).partition(".warc")
    return path.with_name(f"{stem}.repaired{warc}{rest}")
