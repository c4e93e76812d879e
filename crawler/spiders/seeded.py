"""The spider that every seed file becomes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any, ClassVar

from scrapy import Spider
from scrapy.http import Response
from scrapy.settings import BaseSettings

from seeds.crawl import Crawl


class SeededSpider(Spider):
    """Crawls what its seed file says; gives one item a kept page (``-o pages.jsonl`` works as usual)."""

    spec: ClassVar[Crawl]
    own_arguments: ClassVar[bool] = True
    """Whether ``-a NAME=VALUE`` may be anything, as of every spider written in Python; a seed file's has none."""
    stays: ClassVar[bool] = False
    """Whether the crawl goes on when nothing is due for a while: a harvest polls its feeds for months."""

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        super().update_settings(settings)
        if cls.spec.contact:
            settings.set("CONTACT", cls.spec.contact, priority="spider")
        # Of a crawl that begins; who only looks for its seed file needs no models of languages.
        from relevance.steering.languagetags import TAGS

        tag = TAGS.get(cls.spec.language, cls.spec.language)
        languages = tag if tag == "en" else f"{tag}, en;q=0.3"
        settings.set("HTTPERROR_ALLOW_ALL", True, priority="spider")  # `parse` goes by the finding
        headers = {**settings.getdict("DEFAULT_REQUEST_HEADERS"), "Accept-Language": languages}
        settings.set("DEFAULT_REQUEST_HEADERS", headers, priority="spider")

    async def start(self) -> AsyncIterator[Any]:
        """Nothing: the worker puts the crawl's seeds into the sieve, where a resumed crawl finds them known."""
        return
        yield

    def parse(self, response: Response, **_: Any) -> Iterator[dict[str, Any]]:
        """One item a kept page."""
        finding = response.meta.get("finding")
        if finding is not None and finding.verdict is not None and finding.verdict.keep:
            yield {
                "url": response.url,
                "title": finding.title,
                "language": finding.verdict.language,
                "words": finding.verdict.words,
                "reason": finding.verdict.reason,
            }


def spider_of(spec: Crawl, *, stays: bool = False) -> type[SeededSpider]:
    """The spider class of one crawl."""
    title = spec.name.title().replace("-", "").replace("_", "")
    made = {"name": spec.name, "spec": spec, "own_arguments": False, "stays": stays}
    return type(f"{title}Spider", (SeededSpider,), made)
