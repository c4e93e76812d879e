"""One request goes out on a lease, that which was made for it: whatever else a project's code sends with its `meta`, by
whatever way and whenever, is refused, and costs the page nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.crawler.own_projects import crawl, write_project
from tests.integration.crawler.serving import Host, HostHandler, hosts

HERE = "127.71.11.1"
SPIDERS = """
import asyncio
from scrapy import Request, Spider

WEB = "http://127.71.11.1:PORT"

class Sends:
    def __init__(self, crawler):
        self.crawler, self.sends, self.kept = crawler, False, []

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    def forms(self, request):
        without = lambda name: {key: value for key, value in request.meta.items() if key != name}
        yield from tuple(self.kept)
        yield request.copy()
        yield request.replace(meta=without("grant"))
        yield request.replace(meta=without("lease"))
        yield request.replace(meta=without("capture"))
        yield request.replace(url=WEB + "/besides")
        yield request.replace(meta={**request.meta, "grant": object()})
        yield request

    async def sent(self, request):
        return [await self.sending(other) for other in self.forms(request)]

    async def sending(self, request):
        try:
            return (await self.crawler.engine.download_async(request)).status
        except Exception as error:
            return type(error).__name__

    async def attack(self, request):
        if not self.sends:  # what is sent comes here, too
            self.sends = True
            request.meta["told"] = request.meta.get("told", []) + await self.sent(request)
            self.kept.append(request.copy())
            self.sends = False

class SendsBefore(Sends):
    async def process_request(self, request):
        await self.attack(request)

class SendsAfter(Sends):
    async def process_response(self, request, response):
        await self.attack(request)
        return response

class SendsWhenItFails(Sends):
    async def process_exception(self, request, exception):
        if type(exception).__name__ == "CutError":
            await self.attack(request)

class SendsMeanwhile(Sends):
    told = set()

    def process_request(self, request):
        if "X-Signed" in request.headers:
            self.sends = False
        elif not self.sends:
            self.sending_on = asyncio.ensure_future(self.send_on(request))
            return request.replace(headers={"X-Signed": "1"})

    async def send_on(self, request):
        self.sends = True
        while self.sends:
            self.told.update(await self.sent(request))
            await asyncio.sleep(0)

class OfOneRemade(Spider):
    name, start_urls = "of-one-remade", [WEB + "/1", WEB + "/2"]
    custom_settings = {"DOWNLOADER_MIDDLEWARES": {SendsMeanwhile: ORDER}}

    def parse(self, response):
        yield {"page": response.url, "told": sorted(SendsMeanwhile.told)}

class OfAMiddleware(Spider):
    name, start_urls = "of-a-middleware", [WEB + "/1", WEB + "/2"]
    custom_settings = {"DOWNLOADER_MIDDLEWARES": {SendsBefore: ORDER, SendsAfter: ORDER}}

    def parse(self, response):
        yield {"page": response.url, "told": sorted(set(response.meta["told"]))}

class OfAFailure(Spider):
    name, custom_settings = "of-a-failure", {"DOWNLOADER_MIDDLEWARES": {SendsWhenItFails: ORDER}}

    async def start(self):
        yield Request(WEB + "/cut", errback=self.failed)

    def failed(self, failure):
        yield {"failed": type(failure.value).__name__, "told": sorted(set(failure.request.meta["told"]))}

class OfACallback(Spider):
    name, start_urls = "of-a-callback", [WEB + "/1", WEB + "/2"]
    kept = []

    async def parse(self, response):
        sends = Sends(self.crawler)
        sends.kept = self.kept
        yield {"page": response.url, "told": sorted(set(await sends.sent(response.request)))}
        self.kept.append(response.request)

class OfAnother:
    kept = None

    def process_request(self, request):
        return self.gives(request) if request.url == WEB + "/2" else None

    def process_response(self, request, response):
        if request.url == WEB + "/1":
            self.kept = response
        return response

class MetaOfAnother(OfAnother):
    def gives(self, request):
        request.meta.update(self.kept.request.meta)

class NoMeta(OfAnother):
    def gives(self, request):
        request.meta.clear()

class AnswerOfAnother(OfAnother):
    def gives(self, request):
        return self.kept

class HasAnothers(Spider):
    async def start(self):
        yield Request(WEB + "/1")

    def parse(self, response):
        yield {"page": response.url, "of": response.request.url}
        yield Request(WEB + "/2", self.last, errback=self.failed)

    def last(self, response):
        yield {"page": response.url, "of": response.request.url}

    def failed(self, failure):
        yield {"page": failure.request.url, "failed": type(failure.value).__name__}

class HasAnothersMeta(HasAnothers):
    name, custom_settings = "has-anothers-meta", {"DOWNLOADER_MIDDLEWARES": {MetaOfAnother: ORDER}}

class HasNoMeta(HasAnothers):
    name, custom_settings = "has-no-meta", {"DOWNLOADER_MIDDLEWARES": {NoMeta: ORDER}}

class HasAnothersAnswer(HasAnothers):
    name, custom_settings = "has-anothers-answer", {"DOWNLOADER_MIDDLEWARES": {AnswerOfAnother: ORDER}}

class AsksAgain:
    asked = 0

    def process_exception(self, request, exception):
        AsksAgain.asked += 1
        return request.copy()

class IsDenied(Spider):
    name, custom_settings = "is-denied", {"DOWNLOADER_MIDDLEWARES": {AsksAgain: ORDER}}

    async def start(self):
        yield Request(WEB + "/denied", errback=self.failed)

    def failed(self, failure):
        yield {"cause": type(failure.value.__cause__).__name__, "asked": AsksAgain.asked}

class Clears(Spider):
    name = "clears"

    async def start(self):
        for path in "/1", "/cut", "/missing":
            yield Request(WEB + path, self.page, errback=self.failed)

    def page(self, response):
        response.meta.clear()
        yield {"page": response.url}
        yield Request(WEB + "/2", self.page)

    def failed(self, failure):
        failure.request.meta.clear()
        yield {"failed": failure.request.url}
        yield Request(WEB + "/3", self.page)

class FromCache(OfAMiddleware):
    name = "from-cache"
    custom_settings = {**OfAMiddleware.custom_settings, "HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": "cache"}
"""


class Handler(HostHandler):
    """Pages, and one that is cut off."""

    def asked(self) -> None:
        if self.path == "/robots.txt":
            self.answer(200, b"User-agent: *\nDisallow: /denied", Content_Type="text/plain")
        elif self.path == "/missing":
            self.answer(404, b"")
        elif self.path == "/cut":
            self.close_connection = True
        else:
            self.answer(200, f"<html><p>{self.path}</p></html>".encode(), Content_Type="text/html")


@pytest.fixture
def web() -> Iterator[Host]:
    with hosts(Handler, (HERE,)) as first:
        yield first


@pytest.fixture(params=[10, 540], ids=["before robots.txt is looked at", "after"])
def project(request: pytest.FixtureRequest, web: Host, tmp_path: Path) -> Path:
    return write_project(tmp_path, SPIDERS.replace("ORDER", str(request.param)), web.port)


@pytest.mark.parametrize("spider", ["of-a-middleware", "of-a-callback", "of-one-remade"])
def test_nothing_is_sent_beside_a_page_on_its_lease(spider: str, web: Host, project: Path) -> None:
    items, log = crawl(project, spider)
    pages = [f"http://{HERE}:{web.port}/{n}" for n in (1, 2)]
    assert items == [{"page": page, "told": ["OutsideFrontierError"]} for page in pages]
    assert sorted(path for _, path in web.asked) == ["/1", "/2", "/robots.txt"]
    assert "had run out" not in log


def test_nor_when_it_gets_no_answer(web: Host, project: Path) -> None:
    items, _ = crawl(project, "of-a-failure")
    assert items == [{"failed": "CutError", "told": ["OutsideFrontierError"]}]
    assert [path for _, path in web.asked] == ["/robots.txt"] + ["/cut"] * 3, "as often as what is cut off"


def test_nor_when_it_comes_from_scrapys_cache(web: Host, project: Path) -> None:
    """Then nothing goes out on its lease."""
    crawl(project, "from-cache")
    items, _ = crawl(project, "from-cache", DATA_DIR="anew")
    assert [item["told"] for item in items] == [["OutsideFrontierError"]] * 2
    asked = [path for _, path in web.asked]
    assert asked.count("/robots.txt") == 2
    assert sorted(path for path in asked if path != "/robots.txt") == ["/1", "/2"]


@pytest.mark.parametrize("spider", ["has-anothers-meta", "has-no-meta"])
def test_a_page_that_has_lost_its_lease_is_not_sent_and_ends_it(spider: str, web: Host, project: Path) -> None:
    """It was fetched on the lease of another page, or on none, without a delay, and again whenever its own ran out."""
    items, log = crawl(project, spider)
    page = f"http://{HERE}:{web.port}/"
    assert items == [{"page": f"{page}1", "of": f"{page}1"}, {"page": f"{page}2", "failed": "OutsideFrontierError"}]
    assert [path for _, path in web.asked] == ["/robots.txt", "/1"]
    assert f"Not fetched: {page}2: a middleware" in log


def test_an_answer_that_a_middleware_has_kept_ends_the_page_that_it_is_given_for(web: Host, project: Path) -> None:
    """It ended that from which it was kept: the crawl never did, and the item came again and again."""
    items, log = crawl(project, "has-anothers-answer")
    page = f"http://{HERE}:{web.port}/"
    assert items == [{"page": f"{page}1", "of": f"{page}{number}"} for number in (1, 2)]
    assert [path for _, path in web.asked] == ["/robots.txt", "/1"]
    assert "had run out" not in log


def test_a_page_that_is_denied_is_not_tried_again_whatever_a_middleware_asks_for(web: Host, project: Path) -> None:
    """It was asked for ten times at once, and that at three tries, as one that nothing had been said of."""
    items, _ = crawl(project, "is-denied")
    assert items == [{"cause": "RobotsDeniedError", "asked": 1}]
    assert [path for _, path in web.asked] == ["/robots.txt"]


def test_a_page_is_done_with_whatever_a_callback_makes_of_its_meta(web: Host, project: Path) -> None:
    """It was fetched again whenever its lease ran out, and the crawl never ended."""
    items, log = crawl(project, "clears")
    page = f"http://{HERE}:{web.port}/"
    failed = [{"failed": f"{page}{path}"} for path in ("cut", "missing")]
    assert items == [*failed, *({"page": f"{page}{number}"} for number in (1, 2, 3))]
    asked = [path for _, path in web.asked]
    assert sorted(asked) == ["/1", "/2", "/3", "/cut", "/cut", "/cut", "/missing", "/robots.txt"]
    assert "had run out" not in log
