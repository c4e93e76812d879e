"""``corpus manatee``: vertical text to what Manatee compiles."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from corpus.commands.common import FAULTS, GOOD, expect_form, expect_target, expect_vertical, named_path
from corpus.errors import UsageFault
from corpus.inputs import VERTICAL_SUFFIXES, expand
from corpus.outputs import STDOUT, open_output
from corpus.report import Report
from corpus.sources import vertical_rows
from corpus.tagging.tagger import DEFAULT_COLUMNS, columns_named
from corpus.tally import Tally
from corpus.vertical.manatee import ManateeWriter, registry

HELP = "vertical text for Manatee (NoSketch Engine), and its configuration"
EPILOG = """examples:
  python -m corpus manatee zulu-tagged.vert.xz -o zulu.manatee.vert.xz --registry registry/zulu --language Zulu
  MANATEE_REGISTRY=$PWD/registry compilecorp zulu          (of Manatee: compiles it)

A link becomes <a href="URL"> around its tokens, <h1> to <h5> become <p heading="1">; all else stays as it is.
Exit code: 0 all good, 1 some of the input was damaged or no vertical text (the rest is in the output), 2 wrong usage.
"""


def arguments(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("-o", "--output", required=True, metavar="OUT", help="file (.xz .gz .zst: compressed), or -")
    sub.add_argument(
        "--registry", type=named_path, metavar="FILE", help="also write the configuration of this corpus there"
    )
    sub.add_argument(
        "--columns",
        default=DEFAULT_COLUMNS,
        metavar="NAMES",
        help="what stands after the word in tagged text, as given to tag (default %(default)s)",
    )
    sub.add_argument("--language", default="", metavar="NAME", help="a language as Manatee calls it: Zulu, Czech, ...")


def run(options: argparse.Namespace) -> int:
    columns = columns_named(options.columns)
    files = expand(options.files, VERTICAL_SUFFIXES)
    expect_vertical(files)
    expect_target(options.output, files)
    expect_form(options.output, (".vert",))
    report, tally = Report(quiet=options.quiet), Tally()
    writer = ManateeWriter(columns)
    if options.registry is not None:
        options.registry.parent.mkdir(parents=True, exist_ok=True)
        expect_target(str(options.registry), files)
        _registry(options, writer)  # what it cannot say is found before the work
    with open_output(options.output) as out:
        for rows in vertical_rows(files, report, tally, writer.check):
            out.write("".join(f"{row}\n" for row in writer(rows)).encode("utf-8", "surrogateescape"))
    if options.registry is not None:
        with open_output(str(options.registry)) as out:
            out.write(_registry(options, writer).encode("utf-8", "surrogateescape"))
    report.ok(f"{options.output}: {tally.documents:,} documents")
    return FAULTS if tally.faults else GOOD


def _registry(options: argparse.Namespace, writer: ManateeWriter) -> str:
    own = Path(os.path.realpath(options.registry))
    vertical = None if options.output == STDOUT else Path(options.output).absolute()
    if vertical is not None and os.path.realpath(vertical) == str(own):
        raise UsageFault(f"{own}: is the vertical file")
    return registry(writer, vertical, own.with_name(f"{own.name}.data"), options.language)
