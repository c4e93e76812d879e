"""The rim of the commands that look into a crawl: their words and options. Light, since Scrapy imports every command of
a project before it runs one; what a command does is in ``crawler/actions``, and imported when it is to be done."""

from __future__ import annotations

import argparse
from typing import Any, ClassVar

from scrapy.commands import ScrapyHelpFormatter
from scrapy.exceptions import UsageError
from scrapy.utils.misc import load_object

from crawler.console.given_settings import GivenSettings


class CrawlCommand(GivenSettings):
    """Base of commands on one crawl's shared state; works beside running workers."""

    requires_project = True
    requires_crawler_process = False
    default_settings: ClassVar[dict[str, Any]] = {"LOG_ENABLED": False}
    action: ClassVar[str]
    """What the command does: the name of an :class:`crawler.console.crawl_state.Action`."""

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--crawl", default="", help="name of the crawl (default: the only one there is)")
        parser.add_argument("--seeds", default="", help="its seed file (default: the one it was started with)")
        parser.add_argument("--json", action="store_true", help="plain JSON, one value a line")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None
        name = type(self).__module__.rpartition(".")[2]
        try:
            self.exitcode = load_object(self.action)(self.settings, name).perform(args, opts)
        except UsageError as error:
            if str(error):
                raise
            said = f", not {' '.join(args)!r}" if args else ""
            raise UsageError(f"what stands above is wanted{said}; scrapy {name} --help explains it") from None


class KeepsLines(ScrapyHelpFormatter):
    """Leaves a text that has lines of its own as it is; any other is filled, as ever."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if "\n" not in text:
            return super()._fill_text(text, width, indent)
        return "\n".join(indent + line for line in text.splitlines())
