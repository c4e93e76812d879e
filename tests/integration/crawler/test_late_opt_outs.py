"""What opts out between the grant of its lease and the request is not asked for."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from scrapy.crawler import Crawler
from scrapy.http import Request

from crawler.work.worker import Worker
from tests.integration.crawler.harness import QUICK, run, run_here
from tests.integration.crawler.serving import SomePages, hosts

HERE, GONE = "127.71.8.1", "127.71.8.2"


class Late:
    """Downloader middleware: has its opt-out said of a page, or of a host whose robots.txt is next, and waits."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        worker = crawler.get_extension(Worker)
        assert worker is not None
        return cls(worker)

    async def process_request(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.path == "/1":
            await self._worker.ask(lambda frontier: frontier.opt_out([request.url]))
        elif parts.hostname == GONE:
            await self._worker.ask(lambda frontier: frontier.opt_out([f"http://{parts.netloc}"]))
        else:
            return
        await asyncio.sleep(0.3)


def test_it_is_not_asked_for(tmp_path: Path) -> None:
    seeds = tmp_path / "x.toml"
    with hosts(SomePages, (HERE, GONE)) as web:
        sites = "".join(f'[[site]]\nurl = "http://{host}:{web.port}/"\n' for host in (HERE, GONE))
        seeds.write_text(f'[crawl]\nname = "x"\nlanguage = "zul"\ncontact = "me@a.test"\n{sites}')
        late = json.dumps({f"{Late.__module__}.{Late.__name__}": 950})
        settings = QUICK | {"DATA_DIR": str(tmp_path / "d"), "DOWNLOADER_MIDDLEWARES": late}
        done = run("crawl", "x", "-a", f"seeds={seeds}", **settings)
    assert done.returncode == 0, done.stderr
    assert sorted(web.asked) == [(HERE, path) for path in ("/", "/0", "/2", "/robots.txt")]
    told = run_here("frontier", "status", "--crawl", "x", "--json", DATA_DIR=str(tmp_path / "d"))
    status = json.loads(told.stdout)
    assert (status["results"]["opted_out"], status["queued"], status["parked"]) == (2, 0, 0)
