"""What a worker's stores are when they have been opened on a real Redis and a real folder, and what they leave."""

from __future__ import annotations

import contextlib
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import redis
from scrapy import Spider
from scrapy.settings import Settings

from archive import Reader
from crawler.addon import Ulwembu
from crawler.fetch.connection import Answer
from crawler.fetch.handler import Capture
from crawler.pages.findings import Finding, Finished
from crawler.state.embedded_redis import EmbeddedRedis
from crawler.state.run_record import workers
from crawler.state.state_format import StateGoneError
from crawler.work.committer import entry_of
from crawler.work.stores import Stores, _recover
from crawler.work.teller import Reported
from frontier.errors import FrontierUnavailable
from frontier.types import Candidate, Kind, Lease, Outcome, RobotsRecord
from relevance.errors import PolicyError
from relevance.steering.policy import Verdict
from seeds.crawl import parse_crawl
from tests.unit.archive.pages import page

HEAD = '[crawl]\nname = "x"\nlanguage = "zul"\n[relevance]\npolicy = "all"\n'
SITE = '[[site]]\nurl = "http://a.example/"\n'
PAGE = Candidate("http://a.example/1")


def spider(tables: str = "") -> Spider:
    """Of the crawl x; without a seed file where nothing is said."""
    return Spider("x", spec=parse_crawl(HEAD + tables, "/seeds/x.toml") if tables else None)


def given(url: str, **values: Any) -> Settings:
    settings = Settings({"REDIS_URL": url, "CONTACT": "me@a.test", "WARC_COMPRESSION": "none", **values})
    Ulwembu().update_settings(settings)
    return settings


@pytest.fixture
def stores(url: str, server: redis.Redis, tmp_path: Path) -> Iterator[Stores]:
    with Stores.open(given(url), spider(), tmp_path) as opened:
        yield opened


def test_a_fleet_is_quiet_while_nothing_is_undecided_ready_or_leased(stores: Stores) -> None:
    begun = stores.quiet(budget_spent=False)
    assert begun is not None
    assert stores.quiet(budget_spent=False) == begun
    stores.sieve.enqueue([entry_of(PAGE)])
    assert stores.quiet(budget_spent=False) is None, "decided or not, it is not taken in"
    assert stores.quiet(budget_spent=True) == (), "which matters no more"
    stores.sieve.flush()
    assert stores.quiet(budget_spent=False) is None
    assert stores.frontier.take_ready() == 1
    taken_in = stores.quiet(budget_spent=False)
    assert taken_in not in (None, begun), "another worker has come further"
    (lease,) = stores.frontier.lease(1).leases
    for spent in (False, True):
        assert stores.quiet(budget_spent=spent) is None
    assert stores.frontier.release([lease.token]) == 1
    assert stores.quiet(budget_spent=False) not in (None, begun, taken_in)
    stores.start_urls.waits = True
    assert stores.quiet(budget_spent=False) is None, "nobody could look for what was pushed"


def test_a_redis_that_was_emptied_is_found_out_before_a_crawl_is_called_over(
    stores: Stores, server: redis.Redis
) -> None:
    server.flushdb()
    with pytest.raises(StateGoneError):
        stores.quiet(budget_spent=False)
    with pytest.raises(StateGoneError):
        stores.check(0.0)


def test_a_worker_says_that_it_is_there_and_that_it_has_left(url: str, server: redis.Redis, tmp_path: Path) -> None:
    for seeded, seeds in ((spider(SITE), "/seeds/x.toml"), (spider(), "")):
        with Stores.open(given(url, FRONTIER_DELAY_S=9), seeded, tmp_path):
            (record,), now_ms = workers(url, "x")
            assert (record.runs(now_ms), record.folder, record.seeds) == (True, str(tmp_path), seeds)
            assert record.settings["FRONTIER_DELAY_S"] == 9
        (record,), _ = workers(url, "x")
        assert record.ended


def test_what_is_enqueued_is_decided_without_being_asked_for(stores: Stores) -> None:
    for number in range(2):  # the second finds the thread that decides at rest, as a rule
        stores.sieve.enqueue([entry_of(Candidate(f"http://a.example/{number}"))])
        deadline = time.monotonic() + 60
        while not stores.frontier.take_ready():
            assert time.monotonic() < deadline
            time.sleep(0.02)


def test_what_has_ended_leaves_the_deciding_to_the_next_at_once(url: str, server: redis.Redis, tmp_path: Path) -> None:
    """Else the next would wait for the lease of one that is gone to run out."""
    for number in range(2):
        with Stores.open(given(url), spider(), tmp_path) as stores:
            stores.sieve.enqueue([entry_of(Candidate(f"http://a.example/{number}"))])
            stores.sieve.flush()
            assert stores.sieve.holds
            assert stores.frontier.take_ready() == 1
        assert "sieve-decider" not in {thread.name for thread in threading.enumerate()}


def test_what_seeds_are_and_when_they_are_asked_for(url: str, server: redis.Redis, tmp_path: Path) -> None:
    feeds = "".join(f'[[feed]]\nurl = "http://a.example/feed{number}"\n' for number in range(3))
    tables = SITE + feeds + '[[sitemap]]\nurl = "http://b.example/sitemap.xml"\n'
    with Stores.open(given(url, HARVEST_SPREAD_S=3600), spider(tables), tmp_path) as stores:
        found = {seed.url: seed for seed in stores.seeds()}
        assert {url: seed.kind for url, seed in found.items()} == {
            "http://a.example/": Kind.PAGE,
            **{f"http://a.example/feed{number}": Kind.FEED for number in range(3)},
            "http://b.example/sitemap.xml": Kind.SITEMAP,
        }
        assert {(seed.source, seed.score) for seed in found.values()} == {("seed", 1.0)}
        polled = [seed.not_before_ms for seed in found.values() if seed.kind is not Kind.PAGE]
        now_ms = stores.frontier.now_ms()
        assert found["http://a.example/"].not_before_ms == 0
        assert all(0 < instant < now_ms + 3_600_000 for instant in polled)
        assert len(set(polled)) == 4, "not all at once"
        assert stores.seed_hosts == {"http://a.example", "http://b.example"}
    with Stores.open(given(url), spider(), tmp_path) as stores:
        assert (stores.seeds(), stores.seed_hosts) == ([], frozenset())


def test_what_the_seed_file_names_later_to_be_polled_goes_past_the_sieve(
    url: str, server: redis.Redis, tmp_path: Path
) -> None:
    """Which may have met it as a page."""
    feed = '[[feed]]\nurl = "http://a.example/feed"\n'
    for tables, polled in (
        (SITE, []),
        (SITE + feed, ["http://a.example/feed"]),
        (SITE + "sitemaps = true\n" + feed, ["http://a.example/feed", "http://a.example/sitemap.xml"]),
    ):
        with Stores.open(given(url), spider(tables), tmp_path) as stores:
            assert [seed.url for seed in stores.seeds()] == ["http://a.example/"]
            assert sorted(one.url for one in stores.frontier.peek("http://a.example")) == polled


@pytest.mark.parametrize("before", ["nothing", "archive", "crawl"])
def test_only_of_an_archive_whose_crawl_redis_has_forgotten_it_is_said(
    before: str, url: str, server: redis.Redis, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    if before != "nothing":
        with Stores.open(given(url), spider(), tmp_path) as stores:
            stores.frontier.take_in([PAGE])
            written(stores)
    if before == "archive":
        server.flushdb()
    caplog.clear()
    with Stores.open(given(url), spider(), tmp_path):
        pass
    said = f"Redis knows nothing of crawl 'x', whose archive is in {tmp_path}: it begins anew at its seeds"
    assert (said in caplog.text) is (before == "archive")


def written(stores: Stores, token: str = "t") -> None:
    """Put a page into the archive that fills a pack, as which alone a file is closed."""
    stores.archive.write(page(1, payload=random.Random(token).randbytes(1 << 21)), token)
    stores.archive.sync()
    stores.archive.settle([token])
    wait(set(stores.archive._running))


def test_the_archive_is_as_the_settings_say(url: str, server: redis.Redis, tmp_path: Path) -> None:
    told = given(url, WARC_PREFIX="corpus-{crawl}", WARC_COMPRESSION="gz", WARC_VERSION="1.0", WARC_MAX_BYTES=1)
    with Stores.open(told, spider(SITE), tmp_path) as stores:
        for token in "ab":
            written(stores, token)
    files = sorted((tmp_path / "warc").glob("*.warc*"))
    assert [path.name[:9] for path in files if path.name.endswith(".warc.gz")] == ["corpus-x-"] * 2
    assert not list((tmp_path / "warc").glob("*.open")), "nothing is left open"
    with Reader(next(path for path in files if path.name.endswith(".gz"))) as reader:
        first = next(iter(reader))
        assert (first.type, first.version) == ("warcinfo", "1.0")


KILLED = """
import os, sys
from pathlib import Path
from archive import WarcWriter, WriterConfig
from tests.unit.archive.pages import page
writer = WarcWriter(Path(sys.argv[1]), "x", "none")
for number, token in enumerate(sys.argv[2:]):
    writer.write(page(number), token)
writer.sync()
os._exit(9)
"""


def killed(folder: Path, *tokens: str) -> None:
    """A worker of this machine that dies with these pages in its journal."""
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", KILLED, str(folder / "warc"), *tokens], cwd=root, check=False)
    assert done.returncode == 9


def test_files_of_the_dead_are_closed_with_what_the_frontier_has_accepted_now_and_at_the_end(
    url: str, server: redis.Redis, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def urls() -> list[str]:
        paths = sorted((tmp_path / "warc").glob("*.warc"))
        return [record.url for path in paths for record in Reader(path, types=["response"])]

    with Stores.open(given(url), spider(), tmp_path) as stores:
        stores.frontier.take_in([PAGE, Candidate("http://b.example/1")])
        ours, late = stores.frontier.lease(2).leases
        assert stores.frontier.report([Outcome(ours.token, "ok")]) == [True]
        killed(tmp_path, ours.token, late.token)
        assert urls() == []
    assert urls() == [page(0).url], "what was not reported is fetched again"
    killed(tmp_path, ours.token)
    away = Mock(**{"accepted.side_effect": FrontierUnavailable("x", "away")})
    _recover(tmp_path, away, None)
    assert "WARC files of dead workers stay open until the next start: " in caplog.text
    assert urls() == [page(0).url], "nobody could say what was accepted"
    caplog.set_level("INFO")
    with Stores.open(given(url), spider(), tmp_path):
        assert urls() == [page(0).url] * 2
    assert caplog.text.count(" of a worker that had died") == 1
    assert not list((tmp_path / "warc").glob("*.open"))


def test_of_a_journal_of_the_dead_that_is_damaged_that_is_said(
    url: str, server: redis.Redis, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    killed(tmp_path, "a", "b")
    (journal,) = (tmp_path / "warc").glob("*.journal")
    whole = journal.read_bytes()
    middle = len(whole) // 2
    journal.write_bytes(whole[:middle] + bytes(20) + whole[middle + 20 :])
    with Stores.open(given(url), spider(), tmp_path):
        pass
    assert "Damage in the journal of a worker that had died: " in caplog.text


@pytest.mark.parametrize(("keep", "archived"), [("fetched", 2), ("kept", 1)])
def test_what_a_worker_archives_is_what_was_asked_for(
    keep: str, archived: int, url: str, server: redis.Redis, tmp_path: Path
) -> None:
    head = b"HTTP/1.1 200 OK\r\n\r\n"
    with (
        Stores.open(given(url, WARC_KEEP=keep), spider(), tmp_path) as stores,
        ThreadPoolExecutor(1) as beside,
    ):
        stores.frontier.take_in([PAGE, Candidate("http://b.example/1")])
        for lease in stores.frontier.lease(2).leases:
            stores.frontier.report([Outcome(lease.token, "ok", robots=RobotsRecord("allow"))])
        batch = [
            Finished(
                lease,
                Finding("ok", Verdict(number == 0, "", "zul"), links=[Candidate("http://a.example/2")]),
                Capture(lease.url, "192.0.2.1", datetime.now(UTC), b"", Answer(200, head=head)),
            )
            for number, lease in enumerate(stores.frontier.lease(2, ahead_ms=60_000).leases)
        ]
        assert stores.committer(lambda: False, beside).commit(batch) == [True, True]
        stores.sieve.flush()
        assert stores.frontier.take_ready() == 1
    (path,) = (tmp_path / "warc").glob("*.warc")
    with Reader(path, types=["response"]) as reader:
        assert len(list(reader)) == archived


def test_what_is_told_of_a_page_is_added_up_for_the_fleet(stores: Stores) -> None:
    lease = Lease("1-0", PAGE.url, Kind.PAGE, "http://a.example", "", 0, 1)
    done = Reported(lease, Finding("ok", Verdict(True, "", "zul", words=5)), 100)
    for _ in range(2):
        stores.teller(lambda: False).tell([done], {"h:a.example": (1, 2)})
    assert stores.frontier.get_counts("hosts") == {"http://a.example": (2, 2, 200, 10)}
    assert stores.frontier.get_counts("yield") == {"h:a.example": (2, 4)}


def test_a_private_redis_ends_with_the_last_of_its_crawl_and_neighbours_are_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "inanda"
    with EmbeddedRedis(tmp_path / "umlazi" / "state" / "redis"), Stores.open(given(""), spider(), folder) as stores:
        assert stores.home.server is not None
        assert stores.home.server.server_pid()
        assert (folder / "state" / "sieve").is_dir(), "what was seen is on the disk beside it"
    assert not stores.home.server.server_pid()
    assert f"Crawls beside this one run on a private Redis of their own: {tmp_path / 'umlazi'}." in caplog.text
    caplog.clear()
    with Stores.open(given(""), spider(), folder):
        pass
    assert "Crawls beside this one" not in caplog.text


def test_a_redis_that_has_gone_since_it_was_asked_may_come_back(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("crawler.state.redis_link.ping", lambda _: None)
    with pytest.raises(FrontierUnavailable), contextlib.ExitStack() as opened:
        opened.enter_context(Stores.open(given(f"unix://{tmp_path}/none.sock"), spider(), tmp_path))


def test_what_this_crawl_or_an_earlier_one_has_is_not_stored_again(
    url: str, server: redis.Redis, tmp_path: Path
) -> None:
    def kinds(name: str, earlier: str = "") -> list[str]:
        """Of what another worker of the crawl in that folder stores, and those before it."""
        with Stores.open(given(url, WARC_EARLIER=earlier), spider(), tmp_path / name) as stores:
            written(stores)
        paths = (tmp_path / name / "warc").glob("*.warc")
        return sorted(record.type for path in paths for record in Reader(path, types=["response", "revisit"]))

    assert kinds("first") == ["response"]
    assert kinds("first") == ["response", "revisit"]
    server.flushdb()
    assert kinds("second", str(tmp_path / "first" / "warc")) == ["revisit"]
    server.flushdb()
    assert kinds("third") == ["response"]


def test_a_crawl_that_cannot_be_opened_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(PolicyError), Stores.open(given("", RELEVANCE_POLICY="evil"), spider(SITE), tmp_path):
        pass
    assert not EmbeddedRedis(tmp_path / "state" / "redis").server_pid()
    assert "sieve-decider" not in {thread.name for thread in threading.enumerate()}
    assert not list((tmp_path / "warc").glob("*.open"))


def test_many_indexes_of_earlier_crawls_are_to_be_made_one(
    url: str, server: redis.Redis, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "earlier"
    folder.mkdir()
    for number in range(65):
        (folder / f"{number}.cdxj").write_text("")
    for _ in range(2):
        with Stores.open(given(url, WARC_EARLIER=str(folder)), spider(), tmp_path / "x"):
            pass
        (folder / "0.cdxj").unlink(missing_ok=True)
    assert caplog.text.count("WARC_EARLIER: each of 65 indexes is asked for every page") == 1
    assert "64 indexes" not in caplog.text


@pytest.mark.parametrize(
    ("factor", "idle_close_s", "ends"), [(0.001, 60, True), (0.0005, 60, False), (1, 86400, False)]
)
def test_of_a_crawl_that_an_unreachable_robots_txt_keeps_from_its_end_that_is_said(
    url: str,
    server: redis.Redis,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    factor: float,
    idle_close_s: float,
    ends: bool,
) -> None:
    settings = given(url, FRONTIER_RETRY_FACTOR=factor, FRONTIER_IDLE_CLOSE_S=idle_close_s)
    with Stores.open(settings, spider(SITE), tmp_path):
        assert ("nothing but a budget ends the crawl" in caplog.text) is not ends
