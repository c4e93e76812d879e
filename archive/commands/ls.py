"""``archive ls``: the records of files, a line each."""

from __future__ import annotations

import argparse
import json

from archive.commands.common import each, facts_of, files_argument, tell_damages, telling_reader
from archive.terminal import printable

HELP = "list the records of files"


def arguments(sub: argparse.ArgumentParser) -> None:
    files_argument(sub)
    sub.add_argument("--type", action="append", metavar="TYPE", help="only these record types (may be repeated)")


def run(options: argparse.Namespace) -> int:
    types = {kind.lower() for kind in options.type or ()}

    def listed(name: str) -> int:
        with telling_reader(name, options.json) as reader:
            for record in reader:
                facts = facts_of(record)
                if types and facts["type"] not in types:
                    continue
                if options.json:
                    print(json.dumps(facts))
                else:
                    place = f"{record.offset}+{record.inner}"
                    mark = "  DAMAGED" if record.damage else ""
                    row = f"{place:>16}  {facts['date']:<27}  {facts['type']:<9} {facts['status'] or '-':>3}"
                    print(printable(f"{row} {record.length:>9}  {facts['url']}{mark}"))
            return tell_damages(reader.damages, options.json)

    return each(options, listed, folders=True)
