"""The command ``python -m corpus``: documents, statistics and links to Wikipedia out of web archives.

Exit codes: 0 all good; 1 some records failed or were damaged (what was good has been written); 2 wrong usage, nothing
was written.
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence

from archive.terminal import escape_what_does_not_fit, give_up_stdout, say
from corpus.commands import card, dedup, extract, links, links_tables, manatee, select, stats, tag, train_tagger
from corpus.commands.common import GOOD, INTERRUPTED, USAGE, Command
from corpus.errors import CorpusError
from relevance import RelevanceError

COMMANDS: dict[str, Command] = {
    "extract": extract,
    "dedup": dedup,
    "select": select,
    "stats": stats,
    "card": card,
    "links": links,
    "links-tables": links_tables,
    "tag": tag,
    "train-tagger": train_tagger,
    "manatee": manatee,
}
_INPUTS = "files, folders, patterns, @LIST (a file of names, one a line), - (standard input)"
_EPILOG = """examples:
  python -m corpus extract data/zulu/warc -o zulu.jsonl.xz --language zul
  python -m corpus dedup zulu.jsonl.xz -o zulu.new.jsonl.xz --near --state zulu.state
  python -m corpus select zulu.jsonl.xz -o sample.jsonl.xz --published 2023..2024 --per-host 100
  python -m corpus stats zulu.jsonl.xz
Each command has more: python -m corpus COMMAND --help
"""


def parser() -> argparse.ArgumentParser:
    """The command line."""
    text = "Make documents, statistics and links to Wikipedia out of web archives."
    raw = argparse.RawDescriptionHelpFormatter
    top = argparse.ArgumentParser(prog="python -m corpus", description=text, epilog=_EPILOG, formatter_class=raw)
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        sub = commands.add_parser(
            name,
            help=command.HELP,
            description=command.HELP,
            epilog=command.EPILOG,
            formatter_class=raw,
        )
        command.arguments(sub)
        sub.add_argument("files", nargs="+", metavar="FILE", help=_INPUTS)
        sub.add_argument("--quiet", "-q", action="store_true", help="warnings and errors only")
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    try:
        options = parser().parse_args(arguments)
    except SystemExit as stop:
        return int(stop.code or 0)
    # What the reader says of damage is in the report, once.
    logging.getLogger("archive").addHandler(logging.NullHandler())
    logging.getLogger("archive").propagate = False
    escape_what_does_not_fit()
    try:
        code = COMMANDS[options.command].run(options)
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        say("corpus: interrupted; no file was written")
        return INTERRUPTED
    except MemoryError:  # else it would end with 1, as if there were an output
        say("corpus: out of memory; no file was written")
        return USAGE
    except OSError as error:
        if error.filename is None:
            give_up_stdout()
            if isinstance(error, BrokenPipeError):  # whoever read it has seen enough
                return GOOD
        say(f"corpus: {error.filename or 'standard output'}: {error.strerror or error}")
        return USAGE
    except (CorpusError, RelevanceError) as error:
        say(f"corpus: {error}")
        return USAGE
