"""The spider of the Scrapy peers: follows every link within the given hosts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any, Self

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DontCloseSpider
from scrapy.http import Response, TextResponse
from scrapy.linkextractors import LinkExtractor


class Everything(Spider):
    """Arguments: `seeds` and `hosts`, parted by blanks."""

    name = "bench"

    def __init__(self, seeds: str = "", hosts: str = "", **arguments: Any) -> None:
        super().__init__(**arguments)
        self.start_urls = seeds.split()
        self.allowed_domains = hosts.split()
        self.links = LinkExtractor()

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """With the setting STAYS it does not end when its queue is empty, as scrapy-redis' own spiders do not."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        if crawler.settings.getbool("STAYS"):
            crawler.signals.connect(spider.stay, signals.spider_idle)
        return spider

    def stay(self) -> None:
        """Others may put something into the queue."""
        raise DontCloseSpider

    async def start(self) -> AsyncIterator[Request]:
        """The seeds, once each (a crawl that goes on has had them)."""
        for url in self.start_urls:
            yield Request(url)

    def parse(self, response: Response) -> Iterator[Request]:
        """All links that are not marked nofollow."""
        if isinstance(response, TextResponse):
            for link in self.links.extract_links(response):
                if not link.nofollow:
                    yield response.follow(link)
