"""Whole crawls: real processes, real Redis, real sockets on loopback, judged by the web's own log."""

from __future__ import annotations

import json
import shutil
import signal
import socket
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
import redis

from archive import Reader
from archive.messages.fields import pairs_of
from crawler.records.provenance import program_commit
from crawler.state.embedded_redis import EmbeddedRedis
from tests.integration.crawler.harness import FORGETFUL, Crawl, wait_for
from tests.web.paths import SITEMAPS
from tests.web.server import serve
from tests.web.spec import NO_ODDITIES, WebSpec, calm
from tests.web.web import CRAWL_FILE

SMALL = calm(WebSpec(hosts=4, pages=60, min_links=6, max_links=12, page_bytes=4000))
Begin = Callable[..., Crawl]


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Begin]:
    """Serve a web and prepare a crawl of it."""
    with ExitStack() as opened:

        def make(spec: WebSpec = SMALL, **settings: str) -> Crawl:
            running = opened.enter_context(serve(spec, tmp_path / "web"))
            crawl = Crawl(running, tmp_path / "crawl", settings)
            opened.callback(crawl.kill)
            return crawl

        yield make


def test_one_worker_fetches_everything_once(begin: Begin) -> None:
    crawl = begin()
    crawl.start()
    assert crawl.wait() == [0]
    findings = crawl.judge()
    assert findings.ok, findings.faults
    assert not list((crawl.folder / "warc").glob("*.open"))
    assert not list((crawl.folder / "warc").glob("*.journal"))
    assert list((crawl.folder / "reports").glob(f"*-{socket.gethostname()}-{crawl.workers[0].pid}.json"))
    assert "] ERROR: " not in crawl.logs()
    # The last one out has stopped the private Redis.
    assert EmbeddedRedis(crawl.folder / "state" / "redis").server_pid() == 0


def test_a_second_run_has_nothing_left_to_do(begin: Begin) -> None:
    crawl = begin()
    crawl.start()
    assert crawl.wait() == [0]
    before = len(crawl.requests())
    crawl.start()
    assert crawl.wait() == [0, 0]
    assert len(crawl.requests()) == before


def test_the_archive_says_where_everything_comes_from(begin: Begin) -> None:
    crawl = begin(SMALL.replace(rates=replace(NO_ODDITIES, redirect=0.3)))
    for _ in range(2):
        crawl.start()
    assert crawl.wait() == [0, 0]
    assert 302 in {request.status for request in crawl.requests()}
    infos, pages, sources, depths = [], set(), {}, set()
    for path in (crawl.folder / "warc").glob("*.warc.xz"):
        with Reader(path) as reader:
            for record in reader:
                told = pairs_of(record.block()) if record.type in ("warcinfo", "metadata") else {}
                if record.type == "warcinfo":
                    infos.append(told)
                elif told.get("kind") == "page":
                    sources[record.url] = told["source"]  # redirects, too
                    depths.add(int(told["depth"]))
                elif record.type in ("response", "revisit"):
                    pages.add(record.url)
    assert infos
    assert all(info["commit"] == (program_commit() or "unknown") for info in infos)
    assert all(json.loads(info["relevance"]) == {"language": "zul", "policy": "yield"} for info in infos)
    found = {source for source in sources.values() if source != "seed"}
    assert "seed" in sources.values()
    assert len(found) > 10
    assert depths >= {0, 1, 2}
    assert found <= pages, "a source is not the URL of a page in the archive, or known by its tag only"


def test_a_killed_worker_costs_nothing(begin: Begin) -> None:
    crawl = begin(**FORGETFUL)
    crawl.running.hold(after=25)
    doomed = crawl.start()
    crawl.start()
    crawl.await_requests(25)
    doomed.kill()
    crawl.running.let_go()
    assert crawl.wait() == [-signal.SIGKILL, 0]
    findings = crawl.judge(refetches=10)
    assert findings.ok, findings.faults
    assert not list((crawl.folder / "warc").glob("*.open")), "the dead worker's file was not closed"


def test_interrupted_and_started_again(begin: Begin) -> None:
    crawl = begin()
    crawl.running.hold(after=20)
    first = crawl.start(patience_s=60)
    crawl.await_requests(20)
    first.send_signal(signal.SIGINT)
    crawl.running.let_go()
    assert first.wait(120) == 0
    seen = len(crawl.requests())
    crawl.start()
    assert crawl.wait() == [0, 0]
    assert len(crawl.requests()) > seen
    findings = crawl.judge()
    assert findings.ok, findings.faults


def test_a_stopping_worker_does_not_wait_for_a_hanging_server(begin: Begin) -> None:
    spec = SMALL.replace(rates=SMALL.rates.__class__(**{**_none(), "bad": 3.0}), bad_kinds=("hang",))
    crawl = begin(spec, DOWNLOAD_TIMEOUT="600", FRONTIER_LEASE_S="700")
    worker = crawl.start()
    crawl.await_requests(15)
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(120) == 0


def test_a_killed_redis_is_started_again(begin: Begin) -> None:
    crawl = begin()
    crawl.running.hold(after=15)
    crawl.start()
    crawl.await_requests(15)
    server = EmbeddedRedis(crawl.folder / "state" / "redis")
    pid = server.server_pid()
    assert pid
    import os

    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: server.server_pid() not in (0, pid))
    crawl.running.let_go()
    assert crawl.wait() == [0]
    findings = crawl.judge(refetches=4)
    assert findings.ok, findings.faults


@pytest.mark.slow
def test_a_wild_web_breaks_nothing(begin: Begin) -> None:
    from tests.web.spec import wild

    spec = wild(WebSpec(hosts=5, pages=40, min_links=6, max_links=12, page_bytes=4000))
    crawl = begin(
        spec,
        DOWNLOAD_MAXSIZE="2000000",
        FRONTIER_MAX_HOST_URLS="25",
        FRONTIER_MAX_EQUAL_PAGES="10",
        DOWNLOAD_TIMEOUT="2",
    )
    crawl.start()
    crawl.start()
    assert crawl.wait() == [0, 0]
    findings = crawl.judge()
    findings.missing.clear()  # what failed waits for minutes before it is tried again
    assert findings.ok, findings.faults
    assert "Traceback" not in crawl.logs()


def _none() -> dict[str, float]:
    import dataclasses

    from tests.web.spec import NO_ODDITIES

    return dataclasses.asdict(NO_ODDITIES)


def test_a_fault_of_ours_ends_the_crawl_and_says_so(begin: Begin) -> None:
    crawl = begin()
    crawl.running.hold(after=5)
    worker = crawl.start()
    crawl.await_requests(5)
    with EmbeddedRedis(crawl.folder / "state" / "redis") as server, redis.Redis.from_url(server.url) as client:
        client.rpush("{zulu}:ready", b"what no sieve ever writes")
        crawl.running.let_go()
        assert worker.wait(120) == 1
    assert "A fault of this program ends the crawl" in crawl.logs()


def test_a_redis_that_was_emptied_ends_the_crawl_and_is_no_crawl_that_is_done(begin: Begin) -> None:
    crawl = begin()
    crawl.running.hold(after=15)
    worker = crawl.start()
    crawl.await_requests(15)
    with EmbeddedRedis(crawl.folder / "state" / "redis") as server, redis.Redis.from_url(server.url) as client:
        client.flushall()
        crawl.running.let_go()
        assert worker.wait(120) == 1
        assert "the state of crawl 'zulu' is gone from Redis" in crawl.logs()
        client.flushall()
        # Seen URLs on disk go with what was in that Redis; without them it begins at its seeds.
        shutil.rmtree(crawl.folder / "state" / "sieve")
        assert crawl.start().wait(120) == 0
    assert crawl.logs().count("Redis knows nothing of crawl 'zulu', whose archive is in") == 1
    assert not crawl.judge(refetches=60).missing
    assert "Traceback" not in crawl.logs()


def test_a_folder_that_goes_away_ends_the_crawl_and_loses_nothing(begin: Begin) -> None:
    crawl = begin(**FORGETFUL)
    crawl.running.hold(after=15)
    worker = crawl.start()
    crawl.await_requests(15)
    folder = crawl.folder / "warc"
    aside = folder.rename(crawl.folder / "aside")
    crawl.running.let_go()
    assert worker.wait(120) == 1
    assert f"The crawl ends: [Errno 2] No such file or directory: '{folder}" in crawl.logs()
    aside.rename(folder)
    crawl.start()
    assert crawl.wait() == [1, 0]
    findings = crawl.judge(refetches=30)
    assert findings.ok, findings.faults


def test_seen_urls_that_are_kept_elsewhere_end_the_crawl(begin: Begin) -> None:
    """Nothing would be admitted any more: new pages, and items of feeds, would wait for ever."""
    crawl = begin()
    crawl.start()
    assert crawl.wait() == [0]
    before = len(crawl.requests())
    crawl.settings["SIEVE_STORE"] = "redis"
    crawl.start()
    assert crawl.wait() == [0, 1]
    assert "The crawl ends: the seen URLs of 'zulu' are in the disk store" in crawl.logs()
    assert len(crawl.requests()) == before


def test_a_redis_that_refuses_writes_is_waited_for(begin: Begin) -> None:
    """As with a full disk or a lost replica: it answers, but keeps nothing."""
    crawl = begin()
    crawl.running.hold(after=15)
    crawl.start()
    crawl.await_requests(15)
    with EmbeddedRedis(crawl.folder / "state" / "redis") as server, redis.Redis.from_url(server.url) as client:
        client.config_set("min-replicas-to-write", 1)
        crawl.running.let_go()
        wait_for(lambda: "NOREPLICAS" in crawl.logs())
        before = len(crawl.requests())
        client.config_set("min-replicas-to-write", 0)
    assert crawl.wait() == [0]
    assert len(crawl.requests()) > before
    findings = crawl.judge(refetches=30)
    assert findings.ok, findings.faults


def test_documents_are_read_judged_and_followed(begin: Begin) -> None:
    """Every page below which none lies is a PDF document; to some pages only documents lead."""
    crawl = begin(SMALL.replace(rates=replace(NO_ODDITIES, pdf=1.0), hosts=6, pages=120))
    crawl.start()
    assert crawl.wait() == [0]
    findings = crawl.judge()
    assert findings.ok, findings.faults
    web = crawl.running.web
    demanded = [page for page in web.truth.pages if web.graph.traits(web.sites[page.site], page.n).pdf]
    assert len(demanded) > 60
    verdicts = Counter[tuple[str, bool]]()
    for path in (crawl.folder / "warc").glob("*.warc.xz"):
        with Reader(path) as reader:
            for record in reader:
                told = pairs_of(record.block()) if record.type == "metadata" else {}
                if told.get("charset-source") == "pdf":
                    page = web.read_url(record.url)
                    assert page is not None
                    verdicts[told["verdict"], web.truth.pages[page].language == "zul"] += 1
    assert set(verdicts) == {("keep", True), ("leave", False)}
    assert verdicts.total() == len(demanded)


def test_a_site_is_crawled_by_its_sitemaps(begin: Begin) -> None:
    """No link is followed; index, plain text and gzip name every page."""
    crawl = begin(SMALL.replace(hosts=2, pages=60))
    web = crawl.running.web
    site = web.sites[0]
    (crawl.running.folder / CRAWL_FILE).write_text(
        '[crawl]\nname = "zulu"\nlanguage = "und"\ncontact = "https://example.org/crawler"\n'
        f'[relevance]\npolicy = "all"\n[[site]]\nurl = "{site.authority}/"\nmax_depth = 1\nsitemaps = true\n'
    )
    crawl.start()
    assert crawl.wait() == [0]
    asked = [web.read_url(f"http://{row.host}{row.path}") for row in crawl.requests()]
    pages = Counter(page for page in asked if page and page.kind == "page")
    assert {page.site for page in pages} == {site.index}
    assert set(pages.values()) == {1}
    left = {web.paths.page(site, i) for i in range(site.pages)} - set(map(web.paths.path, pages))
    assert left == {"/private/"}, "which robots.txt forbids"
    assert sum(page is not None and page.kind == "sitemap" for page in asked) == len(SITEMAPS)
