"""``scrapy sieve``: look into a crawl's table of seen URLs, check it, repair it, or make it again."""

from __future__ import annotations

from crawler.console.crawl_command import CrawlCommand


class Command(CrawlCommand):
    """See crawler/actions/sieve.py."""

    action = "crawler.actions.sieve.SieveTools"

    def syntax(self) -> str:
        return "stats|check|repair | contains URL | rebuild FILE...  [--crawl NAME]"

    def short_desc(self) -> str:
        return "Look into, check, repair or rebuild the seen URLs of a crawl"

    def long_desc(self) -> str:
        return (
            "stats: counts and sizes, each with its unit and what is normal; check: verify every byte of a store on "
            "this disk; repair: keep what is sound of it (stop the crawl first); contains URL: whether a URL is known "
            "(a running worker keeps this to itself); rebuild FILE...: after the sieve's state was lost, or its store "
            "on this disk was, or is an older or newer copy than Redis' data, take the URLs of WARC files, .cdxj files "
            "or lists of URLs, one a line, and all that the frontier has, for known (stop the crawl first); it ends "
            "with 1 where some were refused or a file is damaged, and says which; called again, it adds to what is "
            "known. "
            "Example: scrapy sieve rebuild data/zulu/warc/*.warc.xz --crawl zulu"
        )
