"""``archive convert``: the same records stored another way."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from archive.commands.common import (
    GOOD,
    UsageFault,
    at_least,
    each,
    file_name,
    files_argument,
    force_argument,
    fresh,
    output_of,
    progress,
    spooled,
)
from archive.storage.codecs import SUFFIXES, check_level, compression_of
from archive.terminal import printable
from archive.tools.convert import convert, renamed

HELP = "store files another way (xz, gz, zst, none), byte for byte the same inside"


def arguments(sub: argparse.ArgumentParser) -> None:
    files_argument(sub, "WARC files; - for standard input (with --output)")
    sub.add_argument("--to", required=True, choices=list(SUFFIXES), help="kind of file")
    sub.add_argument(
        "-o",
        "--output",
        type=file_name,
        metavar="FILE",
        help="default: beside the original, with the suffix of its kind",
    )
    sub.add_argument("--level", type=int, help="of the compressor (defaults: xz 1, gz 6, zst 3)")
    force_argument(sub)
    sub.add_argument(
        "--pack-bytes", type=at_least(1), default=1 << 20, help="unpacked bytes of an xz pack (default 1 MiB)"
    )


def run(options: argparse.Namespace) -> int:
    if options.output and len(options.files) > 1:
        raise UsageFault("--output is for one file")
    try:
        check_level(options.to, options.level)
    except ValueError as error:
        raise UsageFault(f"--level: {error}") from None

    def converted(name: str) -> int:
        target = output_of(options, name, lambda path: renamed(path, options.to))
        if compression_of(target) != options.to:
            raise UsageFault(f"{target}: not a name for a {options.to} copy of {name}")
        fresh(Path(name), target, options)
        with spooled(Path(name)) as path, progress(options, path) as tick:
            convert(path, target, level=options.level, pack_bytes=options.pack_bytes, tick=tick)
            sizes = {"bytes": path.stat().st_size, "output_bytes": target.stat().st_size}
        if options.json:
            print(json.dumps({"file": name, "output": str(target), **sizes}))
        else:
            share = sizes["output_bytes"] / max(sizes["bytes"], 1)
            print(printable(f"{target}: {sizes['output_bytes']} bytes ({share:.0%} of {name})"))
        return GOOD

    return each(options, converted)
