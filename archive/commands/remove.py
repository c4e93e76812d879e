"""``archive remove``: what was captured of a site, out of the files themselves."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from archive.commands.common import FAULTS, GOOD, UsageFault, each, file_name, progress
from archive.storage.warcfile import OPEN
from archive.terminal import printable, say
from archive.tools.remove import below, remove

HELP = "take a site's captures out of the files (with --force; without, count them)"


def arguments(sub: argparse.ArgumentParser) -> None:
    sub.add_argument(
        "site", metavar="SITE", help="a host (by http and https, with and without www.), or how URLs begin"
    )
    sub.add_argument("files", nargs="+", type=file_name, metavar="FILE", help="WARC files, or folders of WARC files")
    sub.add_argument("--force", action="store_true", help="write over the files: what goes is gone")


def run(options: argparse.Namespace) -> int:
    try:
        unwanted = below(options.site)
    except ValueError as error:
        raise UsageFault(str(error)) from None
    captures = records = bereft = 0

    def lightened(name: str) -> int:
        nonlocal captures, records, bereft
        path = Path(name)
        if name == "-" or (path.exists() and not path.is_file()):
            raise UsageFault(f"{name}: is no file that can be written over")
        if name.endswith(OPEN) or path.resolve().name.endswith(OPEN):
            raise UsageFault(f"{name}: is still being written; stop the crawl first")
        with progress(options, path) as tick:
            found = remove(path, unwanted, write=options.force, tick=tick)
        captures, records, bereft = captures + found.captures, records + found.removed, bereft + found.bereft
        if options.json:
            counts = {"captures": found.captures, "records": found.removed, "kept": found.kept}
            print(json.dumps({"file": name, **counts, "bereft": found.bereft, "written": options.force}))
        elif found.removed:
            done = "taken out" if options.force else "to be taken out"
            print(printable(f"{name}: {found.captures} captures ({found.removed} records) {done}"))
        return GOOD

    code = each(options, lightened, folders=True)
    if bereft:
        say(f"archive: {bereft} captures of other sites say only that their content was stored with what goes")
    if not records:
        say(f"archive: {options.site}: nothing of it is in {'these files' if code == GOOD else 'what was read'}")
        return max(code, FAULTS)
    if not options.force:
        say(f"archive: nothing is written without --force; {captures} captures ({records} records) would go")
    return code
