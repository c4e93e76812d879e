"""What ``-s NAME=VALUE`` gives to a setting that is a dictionary: JSON. Of any other Scrapy says that NAME=VALUE is
wanted, or has a traceback."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from scrapy.settings import BaseSettings


class GivenSettings(ScrapyCommand):
    """What stands before Scrapy's own class of a command."""

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Scrapy's; UsageError names the setting that is no dictionary."""
        assert self.settings is not None
        _refuse(self.settings, opts.set)
        super().process_options(args, opts)


def _refuse(settings: BaseSettings, given: Iterable[str]) -> None:
    for name, _, value in (one.partition("=") for one in given):
        if not value or not isinstance(settings[name], BaseSettings):
            continue
        try:
            what = "" if isinstance(json.loads(value), dict) else "no dictionary"
        except ValueError as error:
            what = f"no JSON: {error}"
        if what:
            raise UsageError(f'-s {name}={value}: {what}; {{"NAME": VALUE}} is wanted', print_help=False)
