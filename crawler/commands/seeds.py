"""``scrapy seeds``: look at a crawl's seed file, and at sites that might go into one."""

from __future__ import annotations

import argparse
from typing import Any, ClassVar

from scrapy.utils.misc import load_object

from crawler.console.given_settings import GivenSettings

_TABLES = ("feed", "index", "sitemap", "site")


class Command(GivenSettings):
    """See crawler/actions/seeds.py."""

    requires_project = True
    requires_crawler_process = False
    default_settings: ClassVar[dict[str, Any]] = {"LOG_ENABLED": False}

    def syntax(self) -> str:
        return "check CRAWL… | discover URL… | pages URL… | add CRAWL URL… | import FILE…"

    def short_desc(self) -> str:
        return "Check seed files, find feeds of sites, add them, import lists"

    def long_desc(self) -> str:
        return (
            "check CRAWL…: syntax, duplicates, policy and language model, then each seed on the web: alive, moved, "
            "blocked (robots.txt, opt-out), dead or wrong, and feeds that a site names but the file does not; "
            "--offline: without the web. "
            "discover URL…: feeds that answer, sitemaps (those that robots.txt names, else one that answers), language "
            "of the page as the crawl CRAWL names it (--crawl CRAWL), else by RELEVANCE_MODEL or the shipped model. "
            "pages URL…: each page that the sitemaps of the site name, as it is found, with its date; sitemaps go by "
            "on stderr. "
            "add CRAWL URL…: discover, and put site and first feed into the seed file. "
            "import FILE…: [[feed]] tables of OPML files or plain lists (a URL a line, # comments), printed or, with "
            "--into CRAWL, appended. CRAWL is the name of a crawl or a path ending in .toml; a URL "
            "may lack its scheme (https, else http). "
            "Exit: 0 good, 1 something is wrong, 2 usage. Examples: "
            "scrapy seeds check zulu -s CONTACT=you@example.org; scrapy seeds discover https://isolezwe.co.za/ "
            "--crawl zulu; "
            "scrapy seeds pages https://isolezwe.co.za/ > pages.tsv; "
            "scrapy seeds add zulu https://isolezwe.co.za/ --scope domain; "
            "scrapy seeds import rss_sources/*.txt --into czech"
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        from sieve.urls import SCOPES

        super().add_options(parser)
        parser.add_argument("--json", action="store_true", help="check, discover, pages: one JSON value a line")
        parser.add_argument("--offline", action="store_true", help="check: without looking at the web")
        parser.add_argument("--scope", default="host", choices=SCOPES, help="add: scope")
        parser.add_argument("--crawl", default="", help="discover: for which crawl (its language model and contact)")
        parser.add_argument("--into", default="", metavar="CRAWL", help="import: append to this seed file")
        parser.add_argument("--table", default="feed", choices=_TABLES, help="import: what the list names (feed)")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None
        seeds = load_object("crawler.actions.seeds.Seeds")
        self.exitcode = seeds(self.settings, self.syntax()).perform(args, opts)
