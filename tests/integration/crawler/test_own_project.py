"""A Scrapy project with spiders of its own and the add-on: its requests, callbacks and failures come as in Scrapy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.crawler.own_projects import crawl, write_project
from tests.integration.crawler.serving import Host, HostHandler, hosts

HERE, THERE = "127.71.4.1", "127.71.4.2"
SPIDERS = """
from scrapy import Request, FormRequest, Spider
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule, SitemapSpider

WEB = "http://127.71.4.1:PORT"

class Plain(Spider):
    name, allowed_domains, start_urls, handle_httpstatus_list = "plain", ["127.71.4.1"], [WEB + "/"], [404]

    def parse(self, response):
        yield {"parse": response.url}
        if response.url != WEB + "/":
            return
        yield response.follow("/item/1", self.item, cb_kwargs={"n": 1}, meta={"a": [1]}, headers={"X-Own": "1"})
        yield response.follow("/item/1", self.item, cb_kwargs={"n": 2}, dont_filter=True)
        yield response.follow("/moved", self.item, cb_kwargs={"n": 3})
        yield response.follow("/away", self.item, errback=self.failed, cb_kwargs={"n": 4})
        for path in "/missing", "/gone", "/busy", "/private/x":
            yield response.follow(path, self.missing, errback=self.failed)
        yield response.follow("/bad", lambda response: None)
        yield response.follow("//127.71.4.1:6667/", errback=self.failed)
        yield FormRequest(WEB + "/post", formdata={"a": "b"}, callback=self.item)
        yield Request(WEB.replace("4.1", "4.2") + "/off", self.item)
        yield response.request.replace(dont_filter=True)

    async def item(self, response, n):
        yield {"item": response.url, "n": n, "a": response.meta.get("a"), "sent": "X-Own" in response.request.headers}
        yield response.follow("", self.item, cb_kwargs={"n": n}, meta=response.meta)

    def missing(self, response):
        yield {"missing": response.url, "status": response.status}

    def failed(self, failure):
        yield {"failed": failure.request.url, "why": failure.type.__name__}

class Direct(Spider):
    name, start_urls = "direct", [WEB + "/"]
    custom_settings = {"ITEM_PIPELINES": {"scrapy.pipelines.files.FilesPipeline": 1}, "FILES_STORE": "files"}

    async def parse(self, response):
        yield {"file_urls": [WEB + "/direct"]}
        try:
            await self.crawler.engine.download_async(Request(WEB + "/direct"))
        except Exception as error:
            yield {"why": type(error).__name__}

class Rules(CrawlSpider):
    name, allowed_domains, start_urls = "rules", ["127.71.4.1"], [WEB + "/"]
    rules = Rule(LinkExtractor("/list|off|not")), Rule(LinkExtractor("/item"), "item", cb_kwargs={"k": 1})

    def item(self, response, k):
        yield {"item": response.url, "k": k}

class Maps(SitemapSpider):
    name, sitemap_urls, sitemap_rules = "maps", [WEB + "/sitemap.xml"], [("/item/", "item")]

    def item(self, response):
        yield {"item": response.url}
"""
LINKS = '<a href="/list">x</a><a href="/not-asked-for">x</a><a href="http://127.71.4.2:%d/off">x</a>'


class Handler(HostHandler):
    """A shop."""

    def asked(self) -> None:
        path, html = self.path, {"Content_Type": "text/html"}
        if path == "/robots.txt":
            self.answer(200, b"User-agent: *\nDisallow: /private\n", Content_Type="text/plain")
        elif path == "/sitemap.xml":
            loc = f"<url><loc>http://{HERE}:{self.server.port}/item/9</loc></url>"
            xmlns = "http://www.sitemaps.org/schemas/sitemap/0.9"
            self.answer(200, f'<urlset xmlns="{xmlns}">{loc}</urlset>'.encode(), Content_Type="application/xml")
        elif path in ("/missing", "/gone", "/busy"):
            self.answer({"/missing": 404, "/gone": 410, "/busy": 500}[path], b"no", **html)
        elif path == "/moved":
            self.answer(302, b"", Location="/item/3")
        elif path == "/away":
            self.answer(302, b"", Location=f"http://{THERE}:{self.server.port}/item/4")
        else:
            links = LINKS % self.server.port if path == "/" else '<a href="/item/7">x</a>' if path == "/list" else ""
            self.answer(200, f"<html><p>{path}</p>{links}</html>".encode(), **html)


@pytest.fixture
def web() -> Iterator[Host]:
    with hosts(Handler, (HERE, THERE)) as first:
        yield first


@pytest.fixture
def project(web: Host, tmp_path: Path) -> Path:
    return write_project(tmp_path, SPIDERS, web.port)


def test_own_requests_come_to_their_callbacks(web: Host, project: Path) -> None:
    items, log = crawl(project, "plain")
    here = f"http://{HERE}:{web.port}"
    assert items == [
        {"failed": f"{here}/away", "why": "HttpError"},
        {"failed": f"{here}/busy", "why": "HttpError"},
        {"failed": f"{here}/gone", "why": "HttpError"},
        {"failed": f"{here}/private/x", "why": "RobotsDeniedError"},
        {"item": f"{here}/item/1", "n": 1, "a": [1], "sent": True},
        {"item": f"{here}/item/3", "n": 3, "a": None, "sent": False},
        {"missing": f"{here}/missing", "status": 404},
        {"parse": f"{here}/"},
    ]
    asked = [path for host, path in web.asked if host == HERE]
    assert asked.count("/busy") == 1 + 2, "tried again by the frontier, and told of once"
    assert asked.count("/item/1") == asked.count("/") == 1, "a URL is fetched once"
    assert not {"/not-asked-for", "/list", "/post", "/bad", "/private/x"} & set(asked), "only what the spider asks for"
    assert not [path for host, path in web.asked if host == THERE], "allowed_domains"
    for said in (
        "POST",
        "/bad: its callback",
        ":6667/: port 6667 is none of a web server",
        f"Not fetched again: {here}/",
        "CONCURRENT_REQUESTS_PER_DOMAIN=1",
    ):
        assert said in log
    assert f"Not fetched again: {here}/item/" not in log, "a page may link to itself"
    assert "Traceback" not in log


def test_crawl_spiders_and_sitemap_spiders(web: Host, project: Path) -> None:
    here = f"http://{HERE}:{web.port}"
    assert crawl(project, "rules")[0] == [{"item": f"{here}/item/7", "k": 1}]
    assert ("127.71.4.2", "/off") not in web.asked
    assert crawl(project, "maps")[0] == [{"item": f"{here}/item/9"}]


def test_nothing_is_fetched_around_the_frontier(web: Host, project: Path) -> None:
    direct = f"http://{HERE}:{web.port}/direct"
    items, log = crawl(project, "direct")
    assert items == [{"file_urls": [direct], "files": []}, {"why": "OutsideFrontierError", "files": []}]
    assert log.count(f"Not fetched: {direct}: ") == 2
    assert (HERE, "/direct") not in web.asked
