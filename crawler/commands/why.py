"""``scrapy why URL``: what a crawl did with a URL, or which rule kept it from doing anything."""

from __future__ import annotations

from crawler.console.crawl_command import CrawlCommand


class Command(CrawlCommand):
    """See crawler/actions/why.py."""

    action = "crawler.actions.why.Why"

    def syntax(self) -> str:
        return "URL  [--crawl NAME] [--json]"

    def short_desc(self) -> str:
        return "Why a crawl fetched a URL, has not yet, or never will"

    def long_desc(self) -> str:
        return (
            "Shows where the URL was found, its canonical form and fingerprint, its place in the frontier, its score "
            "with the terms that would make it now, the state of its host, the line of robots.txt that decides, and "
            "each fetch with WARC file and offset "
            "(of closed files); or the rule that refuses it. "
            "Example: scrapy why https://isolezwe.co.za/izindaba"
        )
