"""``archive index``: the index beside each file, and several indexes as one."""

from __future__ import annotations

import argparse
import sys
from contextlib import closing
from pathlib import Path

from archive.commands.common import GOOD, each, expect_file, file_name, files_argument, reader_of, tell_damages
from archive.index import cdxj
from archive.storage.disk import allow_many_files

HELP = "write FILE.cdxj beside each file, or merge indexes"


def arguments(sub: argparse.ArgumentParser) -> None:
    files_argument(sub, "WARC files (with --merge: .cdxj files); - for standard input, indexed to standard output")
    sub.add_argument(
        "--merge", type=file_name, metavar="OUTPUT", help="merge sorted indexes into one; - for standard output"
    )


def run(options: argparse.Namespace) -> int:
    if options.merge:
        allow_many_files()  # all are read at the same time
        lines = cdxj.merge(Path(name) for name in options.files)
        if options.merge == "-":
            sys.stdout.buffer.writelines(lines)
        else:
            expect_file(Path(options.merge))
            cdxj.write_lines(Path(options.merge), lines)
        return GOOD

    def indexed(name: str) -> int:
        if name != "-":
            return tell_damages(cdxj.index_file(Path(name)), options.json)
        with reader_of(name) as reader, closing(cdxj.IndexBuilder()) as builder:
            builder.add_file(reader, "-")
            sys.stdout.buffer.writelines(builder.lines())
            return tell_damages(reader.damages, options.json)

    return each(options, indexed)
