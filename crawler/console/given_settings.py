"""What the command line gives and Scrapy would have a traceback for: with ``-s NAME=VALUE`` a setting that is a
dictionary (JSON; of others it says that NAME=VALUE is wanted), and files that it writes, one of them when all is done.
Also options that there are not, which Scrapy hands on as arguments, and Ctrl-C.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from pathlib import Path

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from scrapy.settings import BaseSettings


class GivenSettings(ScrapyCommand):
    """What stands before Scrapy's own class of a command."""

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Scrapy's; UsageError names an option that there is not, or the setting that is no dictionary. Ends with a
        line for a file that cannot be written. From here on Ctrl-C ends the process without a word, until a command
        that holds something asks to hear of it."""
        # Modules are imported now: a KeyboardInterrupt would be a traceback, and of one that comes amid an exec(), as
        # each import of dataclasses has many, Python ends as if nobody had caught it.
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
        assert self.settings is not None
        if unknown := [word for word in args if word.startswith("-")]:
            raise UsageError(f"no such option: {' '.join(unknown)}")
        for given in opts.set:
            name, _, value = given.partition("=")
            if fault := dictionary_fault(self.settings, name, value):
                raise UsageError(fault, print_help=False)
        try:
            super().process_options(args, opts)  # --pidfile
            if opts.profile:
                Path(opts.profile).open("ab").close()
        except OSError as error:
            sys.exit(f"{error.filename}: {error.strerror}")


def dictionary_fault(settings: BaseSettings, name: str, value: str) -> str:
    """Why the setting cannot be set to that; "" where it can, or is none that is a dictionary."""
    if not value or not isinstance(settings[name], BaseSettings):
        return ""
    try:
        what = "" if isinstance(json.loads(value), dict) else "no dictionary"
    except ValueError as error:
        what = f"no JSON: {error}"
    return what and f'-s {name}={value}: {what}; {{"NAME": VALUE}} is wanted'
