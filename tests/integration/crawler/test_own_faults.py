"""Spiders of a project's own that fail, ask again, ask late or carry secrets: none of it stops or fools the crawl."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.crawler.harness import FORGETFUL, QUICK, environment
from tests.integration.crawler.own_projects import crawl, write_project
from tests.integration.crawler.serving import Host, HostHandler, hosts

HERE, THERE = "127.71.5.1", "127.71.5.2"
MORE_SETTINGS = """
DOWNLOADER_MIDDLEWARES = {"own.Again": 540}
FRONTIER_LEASE_S, DOWNLOAD_TIMEOUT = 90, 5
"""
SPIDERS = """
import asyncio
import contextlib
import os
import shutil
from pathlib import Path
from scrapy import Request, Spider, signals
from scrapy.exceptions import DontCloseSpider, IgnoreRequest
from crawler.state.embedded_redis import EmbeddedRedis

WEB = "http://127.71.5.1:PORT"

class Again:
    def process_response(self, request, response):
        if response.status == 418:
            return request.replace(url=WEB + "/other", dont_filter=True)
        if b"captcha" in response.body or response.status == 503:
            return request.replace(dont_filter=True)
        if b"kettle" in response.body:
            return Request(WEB + "/other")
        return response

class Rewrites:
    def process_request(self, request):
        if request.url.endswith("/old"):
            return request.replace(url=WEB + "/new")
        if request.url.endswith("/signed") and "X-Signed" not in request.headers:
            return request.replace(headers={"X-Signed": "1"}, dont_filter=True)

class Rewritten(Spider):
    name, custom_settings = "rewritten", {"DOWNLOADER_MIDDLEWARES": {Rewrites: 540}}

    async def start(self):
        for path in "/old", "/signed":
            yield Request(WEB + path, self.page, cb_kwargs={"asked": path})

    def page(self, response, asked):
        yield {"asked": asked, "page": response.url, "signed": "X-Signed" in response.request.headers}

class AsksTwice:
    def __init__(self, crawler):
        self.crawler, self.kept = crawler, {}

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    async def process_request(self, request):
        if "beside" in request.meta:
            return
        self.kept[request.url] = request.copy()
        with contextlib.suppress(IgnoreRequest):
            await self.crawler.engine.download_async(request.replace(meta={**request.meta, "beside": True}))
        if request.url in (WEB + "/long1", WEB + "/long2"):
            self.crawler.engine.crawl(request.replace(url=request.url + "/besides"))
            self.crawler.engine.crawl(request.copy())

    def process_response(self, request, response):
        return self.kept[request.url] if b"captcha" in response.body else response

class Twofold(Spider):
    name, custom_settings = "twofold", {"DOWNLOADER_MIDDLEWARES": {AsksTwice: 540}}
    start_urls = [WEB + "/captcha", WEB + "/long1", WEB + "/long2"]

    def parse(self, response):
        yield {"page": response.url}

class Anew(Spider):
    name, start_urls = "anew", [WEB + "/kettle"]

    def parse(self, response):
        yield {"page": response.url}

class LeadsAway:
    def process_request(self, request):
        return Request("http://127.71.5.2:PORT/") if request.url.endswith("/before") else None

    def process_response(self, request, response):
        return Request("http://127.71.5.2:PORT/") if b"after" in response.body else response

class LedAway(Spider):
    name, allowed_domains = "led-away", ["127.71.5.1"]
    start_urls, custom_settings = [WEB + "/before", WEB + "/after"], {"DOWNLOADER_MIDDLEWARES": {LeadsAway: 540}}

class Faults(Spider):
    name, start_urls = "faults", [WEB + "/"]

    def parse(self, response):
        yield response.request.replace(url=WEB + "/next", callback=self.page)
        yield Request(WEB + "/lease", self.page, meta={"lease": {"months": 12}, "depth": "deep"})
        yield Request(WEB + "/raises", self.raises)
        yield Request(WEB + "/slow-page", self.slow)
        yield Request(WEB + "/copied", self.copied, meta={"own": 1})
        for path in "/cut1", "/cut2", "/cut3", "/cut4", "/nowhere":
            yield Request(WEB + path, self.page, errback=getattr(self, "on_" + path[1:]))
        yield Request(WEB + "/teapot", self.page)
        yield Request(WEB + "/captcha", self.page)
        yield Request(WEB + "/busy", self.page)
        secret = {"Authorization": "Basic x", "Cookie": "sid=1", "X-Own": "1"}
        yield Request(WEB + "/away", self.page, headers=secret)
        yield Request(WEB + "/moved", self.page, headers=secret)
        yield Request(WEB + "/split", self.page, headers={"X-Own": "1\\r\\nX-Two: 2\\r\\n\\r\\nGET /smuggled HTTP/1.1"})

    def page(self, response):
        names = "Authorization", "Cookie", "X-Own"
        yield {"page": response.url, "sent": [name for name in names if name in response.request.headers]}

    def raises(self, response):
        yield {"raises": response.url}
        raise RuntimeError("a fault of the spider")

    async def slow(self, response):
        await asyncio.sleep(0.1)
        yield {"slow": response.url}

    async def copied(self, response):
        try:
            await self.crawler.engine.download_async(Request(WEB + "/direct", meta=response.meta))
        except Exception as error:
            yield {"copied": type(error).__name__}

    def on_cut1(self, failure):
        raise RuntimeError("a fault of the errback")

    def on_cut2(self, failure):
        yield {"cut": failure.request.url}
        yield failure.request.replace(url=WEB + "/after-cut2", callback=self.page, errback=None)

    async def on_cut3(self, failure):
        await asyncio.sleep(0.1)
        return [{"cut": failure.request.url}, Request(WEB + "/after-cut3", self.page)]

    async def on_cut4(self, failure):
        yield {"cut": failure.request.url}
        await asyncio.sleep(0.1)
        yield Request(WEB + "/after-cut4", self.page)

    def on_nowhere(self, failure):
        return {"nowhere": failure.value.response.status}

class Raises:
    def process_spider_output(self, response, result):
        for output in result:
            yield output
            raise RuntimeError("a fault of a middleware")

    async def process_spider_output_async(self, response, result):
        async for output in result:
            yield output
            raise RuntimeError("a fault of a middleware")

class Misled(Spider):
    name, start_urls, custom_settings = "misled", [WEB + "/1"], {"SPIDER_MIDDLEWARES": {Raises: 1}}

    def parse(self, response):
        yield Request(WEB + "/after", self.parse)

class Killed(Spider):
    name = "killed"

    async def start(self):
        yield Request(WEB + "/cut", errback=self.failed)

    async def failed(self, failure):
        await asyncio.sleep(1)
        if not os.path.exists("killed"):
            open("killed", "w").close()
            os.kill(os.getpid(), 9)
        yield Request(WEB + "/after")

    def parse(self, response):
        yield {"after": response.url}

class Deadly:
    async def process_item(self, item):
        await asyncio.sleep(1)
        if not os.path.exists("killed"):
            open("killed", "w").close()
            os.kill(os.getpid(), 9)
        return item

class KilledBehindAnItem(Spider):
    name, custom_settings, path = "killed-behind-an-item", {"ITEM_PIPELINES": {Deadly: 1}}, "/1"

    async def start(self):
        yield Request(WEB + self.path, self.first, errback=self.first)

    def first(self, _):
        yield {"first": 1}
        yield Request(WEB + "/after")

    def parse(self, response):
        yield {"after": response.url}

class KilledBehindAnErrbacksItem(KilledBehindAnItem):
    name, path = "killed-behind-an-errbacks-item", "/cut"

class Forgotten(Spider):
    name, path = "forgotten", "/1"

    async def start(self):
        yield Request(WEB + self.path, self.first, errback=self.first)

    async def first(self, _):
        logs = [*Path("data", self.name, "state", "redis").rglob("*.aof")]
        for log in logs:
            shutil.copy(log, f"{log}.before")
        yield Request(WEB + "/after")
        await asyncio.sleep(0.3)
        for log in logs:
            os.replace(f"{log}.before", log)
        os.kill(EmbeddedRedis(Path("data", self.name, "state", "redis")).server_pid(), 9)
        await asyncio.sleep(1.5)

    def parse(self, response):
        yield {"after": response.url}

class ForgottenOfAnErrback(Forgotten):
    name, path = "forgotten-of-an-errback", "/cut"

class Late(Spider):
    name, late = "late", 0

    @classmethod
    def from_crawler(cls, crawler):
        spider = super().from_crawler(crawler)
        crawler.signals.connect(spider.idle, signals.spider_idle)
        return spider

    async def start(self):
        yield Request(WEB + "/1")
        await asyncio.sleep(4)
        for n in range(2, 5):
            yield Request(f"{WEB}/{n}")

    def idle(self):
        if not self.late:
            self.late = 1
            for n in range(5, 8):
                self.crawler.engine.crawl(Request(f"{WEB}/{n}"))

    def parse(self, response):
        yield {"late": response.url}
"""


class Handler(HostHandler):
    """Answers, moves, and hangs up."""

    def asked(self) -> None:
        path, html = self.path, {"Content_Type": "text/html"}
        if path == "/robots.txt":
            self.answer(404, b"")
        elif path.startswith("/cut"):
            self.close_connection = True
        elif path == "/nowhere":
            self.answer(302, b"", Location="mailto:a@b.test")
        elif path == "/moved":
            self.answer(302, b"", Location="/arrived")
        elif path == "/away":
            self.answer(302, b"", Location=f"http://{THERE}:{self.server.port}/arrived")
        elif path == "/busy":
            self.answer(503, b"", Retry_After="1" if self.server.asked.count((HERE, path)) == 1 else "0")
        elif path.startswith("/long"):
            time.sleep(0.2)
            self.server.asked.append((HERE, f"end of {path}"))
            self.answer(200, b"<html><p>long</p></html>", **html)
        elif path == "/teapot":
            self.answer(418, b"", **html)
        else:
            self.answer(200, f"<html><p>{path}</p></html>".encode(), **html)


@pytest.fixture
def web() -> Iterator[Host]:
    with hosts(Handler, (HERE, THERE)) as first:
        yield first


@pytest.fixture
def project(web: Host, tmp_path: Path) -> Path:
    return write_project(tmp_path, SPIDERS, web.port, MORE_SETTINGS)


def test_faults_of_a_spider_cost_no_more_than_themselves(web: Host, project: Path) -> None:
    items, log = crawl(project, "faults")
    here, there = f"http://{HERE}:{web.port}", f"http://{THERE}:{web.port}"
    told = [item for item in items if "page" not in item]
    assert told == [
        {"copied": "OutsideFrontierError"},
        {"cut": f"{here}/cut2"},
        {"cut": f"{here}/cut3"},
        {"cut": f"{here}/cut4"},
        {"nowhere": 302},
        {"raises": f"{here}/raises"},
        {"slow": f"{here}/slow-page"},
    ]
    pages = {item["page"]: item["sent"] for item in items if "page" in item}
    assert pages == {
        **{f"{here}{path}": [] for path in ("/next", "/lease", "/other", "/after-cut2", "/after-cut3", "/after-cut4")},
        f"{here}/arrived": ["Authorization", "Cookie", "X-Own"],
        f"{there}/arrived": ["X-Own"],
        f"{here}/split": ["X-Own"],
    }
    asked = [path for _, path in web.asked]
    assert "/direct" not in asked
    assert asked.count("/captcha") == 3, "as often as what gets no answer"
    assert asked.count("/busy") == 1 + 2, "a host that is busy rests, whoever asks again"
    assert asked.count("/teapot") == asked.count("/raises") == 1
    assert "had run out" not in log


def test_a_page_that_a_middleware_answers_with_a_request_made_anew_is_done_with(web: Host, project: Path) -> None:
    """Its lease ran out and it was asked for again, and the crawl never ended."""
    items, log = crawl(project, "anew")
    assert items == [{"page": f"http://{HERE}:{web.port}/other"}]
    assert [path for _, path in web.asked] == ["/robots.txt", "/kettle", "/other"]
    assert "had run out" not in log


def test_a_page_that_a_middleware_answers_with_a_request_that_is_refused_is_done_with(web: Host, project: Path) -> None:
    """By `allowed_domains`: its lease ran out and it was asked for again, and the crawl never ended."""
    crawl(project, "led-away")
    assert [path for _, path in web.asked] == ["/robots.txt", "/after"]


def test_what_a_middleware_asks_for_before_anything_is_sent_is_fetched_in_its_place(web: Host, project: Path) -> None:
    """For another URL under a lease of its own, for the same on that of the page."""
    items, log = crawl(project, "rewritten")
    here = f"http://{HERE}:{web.port}"
    assert items == [
        {"asked": "/old", "page": f"{here}/new", "signed": False},
        {"asked": "/signed", "page": f"{here}/signed", "signed": True},
    ]
    assert sorted(path for _, path in web.asked) == ["/new", "/robots.txt", "/signed"]
    assert "Not fetched" not in log
    assert "gave_up" not in log


def test_a_copy_from_before_a_page_was_sent_is_not_sent_on_its_lease_as_well(web: Host, project: Path) -> None:
    """Neither in place of the answer nor besides: its host would be asked twice without a delay."""
    items, log = crawl(project, "twofold")
    here = f"http://{HERE}:{web.port}"
    pages = ("/long1", "/long2")
    assert [item["page"] for item in items] == [f"{here}{page}{more}" for page in pages for more in ("", "/besides")]
    asked = [path for _, path in web.asked]
    assert asked.count("/captcha") == 3, "as often as what gets no answer"
    long = [path for path in asked if "/long" in path]
    assert long[1::2] == [f"end of {path}" for path in long[::2]], "one after another"
    assert len(long) == 8
    assert "had run out" not in log


def test_a_fault_of_a_middleware_costs_no_page(web: Host, project: Path) -> None:
    """However near to the engine it stands."""
    _, log = crawl(project, "misled", **FORGETFUL)
    assert [path for _, path in web.asked] == ["/robots.txt", "/1", "/after"]
    assert log.count("RuntimeError: a fault of a middleware") == 2


def test_a_spider_that_asks_late_is_not_closed_before_its_pages(web: Host, project: Path) -> None:
    items, _ = crawl(project, "late")
    assert [item["late"] for item in items] == [f"http://{HERE}:{web.port}/{n}" for n in range(1, 8)]


@pytest.mark.parametrize("spider", ["killed", "killed-behind-an-item", "killed-behind-an-errbacks-item"])
def test_killed_before_they_are_kept_the_requests_of_a_page_are_not_lost(spider: str, web: Host, project: Path) -> None:
    forgetful = [word for name, value in {**QUICK, **FORGETFUL}.items() for word in ("-s", f"{name}={value}")]
    killed = subprocess.run(
        [sys.executable, "-m", "scrapy", "crawl", spider, *forgetful],
        cwd=project,
        env=environment(),
        capture_output=True,
        timeout=120,
    )
    assert killed.returncode == -9
    crawl(project, spider, **FORGETFUL)
    assert web.asked.count((HERE, "/after")) == 1


@pytest.mark.parametrize("spider", ["forgotten", "forgotten-of-an-errback"])
def test_of_a_redis_that_forgot_them_the_requests_of_a_page_are_not_lost(spider: str, web: Host, project: Path) -> None:
    """It is back without its last seconds, in which they had come, before their page is reported."""
    crawl(project, spider)
    assert web.asked.count((HERE, "/after")) == 1
