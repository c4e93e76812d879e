"""``archive index``: the index beside each file, and several indexes as one."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from archive.commands.common import (
    FAULTS,
    GOOD,
    UsageFault,
    each,
    expect_file,
    file_name,
    files_argument,
    reader_of,
    tell_damages,
)
from archive.index import cdxj
from archive.index.checking import begins_as_index
from archive.storage.disk import allow_many_files
from archive.terminal import say

HELP = "write FILE.cdxj beside each file, or merge indexes"


def arguments(sub: argparse.ArgumentParser) -> None:
    files_argument(sub, "WARC files (with --merge: .cdxj files); - for standard input, indexed to standard output")
    sub.add_argument(
        "--merge", type=file_name, metavar="OUTPUT", help="merge sorted indexes into one; - for standard output"
    )


def run(options: argparse.Namespace) -> int:
    if options.merge:
        return _merged(options.merge, [Path(name) for name in options.files])

    def indexed(name: str) -> int:
        if name != "-":
            return tell_damages(cdxj.index_file(Path(name)), options.json)
        with reader_of(name) as reader, closing(cdxj.IndexBuilder()) as builder:
            builder.add_file(reader, "-")
            sys.stdout.buffer.writelines(builder.lines())
            return tell_damages(reader.damages, options.json)

    return each(options, indexed)


def _merged(output: str, indexes: Sequence[Path]) -> int:
    faults: list[str] = []

    def tell(fault: str) -> None:
        faults.append(fault)
        say(f"archive: {fault}")

    allow_many_files()  # all are read at the same time
    lines = cdxj.merge(indexes, tell)
    if output == "-":
        sys.stdout.buffer.writelines(lines)
    else:
        _expect_index(Path(output), indexes)
        cdxj.write_lines(Path(output), lines)
    return FAULTS if faults else GOOD


def _expect_index(target: Path, indexes: Sequence[Path]) -> None:
    """UsageFault: what is there by that name, or by the one of what is being written, would be lost. (It may be one of
    those that are merged: it is replaced when all are read.)"""
    expect_file(target)
    original = target.with_name(target.name.removesuffix(cdxj.SUFFIX))
    if original != target and original.is_file():
        raise UsageFault(f"{target}: is the index of {original.name} alone; another name for what is merged")
    if target.exists() and target.stat().st_size and not begins_as_index(target):
        raise UsageFault(f"{target}: is there already, and is no index; another name for what is merged")
    fresh = cdxj.unfinished(target)
    if any(fresh.exists() and index.exists() and fresh.samefile(index) for index in indexes):
        raise UsageFault(f"{fresh}: is written while {target.name} is made; another name for it or for what is merged")
