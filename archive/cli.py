"""The command ``python -m archive``: look into WARC files, check them, mend them, store them another way.

Exit codes: 0 all good; 1 damage, problems, nothing found (get, remove) or no record in a file; 2 wrong usage
or a file that cannot be opened.
"""

from __future__ import annotations

import argparse
import logging
import sys

from archive.commands import convert, get, index, ls, remove, repair, stats, verify
from archive.commands.common import GOOD, INTERRUPTED, Command, UsageFault, report_error
from archive.errors import ArchiveError
from archive.terminal import escape_what_does_not_fit, give_up_stdout, say

COMMANDS: dict[str, Command] = {
    "ls": ls,
    "get": get,
    "verify": verify,
    "repair": repair,
    "remove": remove,
    "index": index,
    "convert": convert,
    "stats": stats,
}
_EPILOG = """examples:
  python -m archive ls crawl.warc.xz
  python -m archive ls --type response --json data/zulu/warc/*.warc.xz
  zcat crawl.warc.gz | python -m archive ls -
  zcat crawl.warc.gz | python -m archive convert --to xz -o crawl.warc.xz -
  python -m archive get crawl.warc.xz https://example.org/ > page.html
  python -m archive get --record crawl.warc.xz 81245+3071
  python -m archive verify data/zulu/warc/*.warc.xz
  python -m archive verify data/zulu-2026-05/warc --earlier data/zulu-2026-04/warc
  python -m archive repair broken.warc.gz -o mended.warc.gz
  python -m archive remove example.org data/zulu/warc
  python -m archive index crawl.warc.gz
  python -m archive index --merge all.cdxj data/zulu/warc/*.cdxj
  python -m archive convert --to gz crawl.warc.xz
  python -m archive stats --top 10 data/zulu/warc/*.warc.xz
"""


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(
        prog="python -m archive",
        description="Look into WARC files, check them, mend them, store them another way.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        sub = commands.add_parser(
            name,
            help=command.HELP,
            description=command.HELP,
            epilog="\n".join(["examples:", *(line for line in _EPILOG.splitlines() if f"archive {name} " in line)]),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.arguments(sub)
        sub.add_argument("--json", action="store_true", help="one JSON object a line")
        sub.add_argument("--quiet", "-q", action="store_true", help="no progress")
    return top


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    try:
        options = parser().parse_args(arguments)
    except SystemExit as stop:
        return int(stop.code or 0)
    logging.getLogger("archive").addHandler(logging.NullHandler())
    logging.getLogger("archive").propagate = False
    if sys.stdout is None:
        return report_error(UsageFault("standard output is closed"))
    escape_what_does_not_fit()
    try:
        code = COMMANDS[options.command].run(options)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        give_up_stdout()
        return GOOD
    except KeyboardInterrupt:
        say("archive: interrupted")
        return INTERRUPTED
    except OSError as error:
        if error.filename is None:
            give_up_stdout()
        return report_error(error)
    except (UsageFault, ArchiveError) as error:
        return report_error(error)
