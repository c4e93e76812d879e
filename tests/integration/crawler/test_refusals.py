"""What cannot start says so in one line, and exits with 1."""

from __future__ import annotations

import contextlib
import os
import subprocess
from argparse import Namespace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from redis import Redis
from scrapy import Spider
from scrapy.http import Request, Response
from scrapy.settings import Settings
from scrapy.spiderloader import get_spider_loader
from scrapy.statscollectors import MemoryStatsCollector

from crawler.actions.crawl import prepare
from crawler.addon import Ulwembu
from crawler.commands.fetch import Command as Fetch
from crawler.errors import PreflightError
from crawler.fetch.errors import DnsError
from crawler.fetch.handler import FetchHandler
from crawler.preflight import check, metrics_socket, take_folder
from crawler.scheduler import FrontierScheduler
from crawler.scrapy_settings import class_faults, value_faults
from crawler.spiderloader import find_spider, loader_of
from crawler.state.embedded_redis import EmbeddedRedis
from crawler.state.redis_link import RedisUnreachableError, memory_facts, ping, refuse_eviction
from crawler.work.held import HeldLease
from crawler.work.worker import Worker
from frontier.config import FrontierConfig
from frontier.outcomes import OUTCOMES
from frontier.redis_frontier import RedisFrontier
from frontier.types import Kind, Lease
from sieve import open_sieve
from sieve.errors import LinkError, SpecError
from tests.integration.crawler.harness import ROOT, environment, run, run_here, scrapy
from tests.redis_server import redis_server

GOOD = '[crawl]\nname = "ndwedwe"\nlanguage = "zul"\ncontact = "me@a.test"\n[[site]]\nurl = "http://127.0.0.1:2/"\n'


@pytest.fixture
def seeds(tmp_path: Path) -> Path:
    """A seed file that is right."""
    path = tmp_path / "ndwedwe.toml"
    path.write_text(GOOD)
    return path


def refused(*words: str, **settings: str) -> str:
    """The one line that ``scrapy crawl …`` ends with."""
    done = run("crawl", *words, **settings)
    assert done.returncode == 1, done.stderr
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    return lines[0]


def test_no_such_crawl() -> None:
    assert "no crawl named 'nosuch'" in refused("nosuch")


def test_a_broken_toml(tmp_path: Path) -> None:
    broken = tmp_path / "broken.toml"
    broken.write_text('[crawl]\nname = "x\n')
    assert f"{broken}:2" in refused("x", "-a", f"seeds={broken}")


def test_two_crawls_of_one_name(seeds: Path) -> None:
    (seeds.parent / "other.toml").write_text(GOOD)
    assert "the crawl 'ndwedwe' is already defined" in refused("ndwedwe", SEEDS_DIR=str(seeds.parent))
    looked = run_here("why", "http://a.test/", "--crawl", "ndwedwe", SEEDS_DIR=str(seeds.parent))
    assert looked.stderr.splitlines() == [
        f"scrapy why: {seeds.parent / 'other.toml'}: the crawl 'ndwedwe' is already defined in {seeds}"
    ]


def test_an_unknown_setting_of_ours(seeds: Path, tmp_path: Path) -> None:
    line = refused("x", "-a", f"seeds={seeds}", DATA_DIR=str(tmp_path / "d"), FRONTIER_DELAI_S="3")
    assert "FRONTIER_DELAI_S" in line
    assert "FRONTIER_DELAY_S" in line


def test_no_contact(tmp_path: Path, seeds: Path) -> None:
    seeds.write_text(GOOD.replace('contact = "me@a.test"\n', ""))
    assert "set CONTACT" in refused("x", "-a", f"seeds={seeds}", DATA_DIR=str(tmp_path / "d"))
    assert not (tmp_path / "d").exists()


@pytest.mark.parametrize(
    ("told", "words"), [({}, "set CONTACT"), ({"CONTACT": "me@a.test", "FRONTIER_DELAY_S": "soon"}, "FRONTIER_DELAY_S")]
)
def test_a_project_that_only_has_the_add_on_is_refused_too(told: dict[str, str], words: str) -> None:
    settings = Settings(told)
    Ulwembu().update_settings(settings)
    with pytest.raises(PreflightError, match=words):
        Worker.from_crawler(Mock(settings=settings, spidercls=Spider))


def test_a_folder_that_cannot_be_written(tmp_path: Path, seeds: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "cannot write" in refused("x", "-a", f"seeds={seeds}", DATA_DIR=str(tmp_path / "file"))


def test_a_folder_of_another_crawl(tmp_path: Path, seeds: Path) -> None:
    folder = tmp_path / "d"
    settings = Settings({"DATA_DIR": str(folder)})
    Ulwembu().update_settings(settings)
    spider = find_spider(get_spider_loader(settings), "x", {"seeds": str(seeds)})
    for _ in range(2):
        take_folder(settings, spider)
        (folder / "state" / "crawl").write_text("")  # as of one that was killed meanwhile
    take_folder(settings, spider)
    seeds.write_text(GOOD.replace("ndwedwe", "inanda"))
    line = refused("x", "-a", f"seeds={seeds}", DATA_DIR=str(folder))
    assert f"DATA_DIR {folder} is the folder of the crawl 'ndwedwe'" in line
    assert f"DATA_DIR={tmp_path}/{{crawl}}" in line


def test_a_redis_that_cannot_be_reached(tmp_path: Path, seeds: Path) -> None:
    line = refused(
        "x", "-a", f"seeds={seeds}", DATA_DIR=str(tmp_path / "d"), REDIS_URL="redis://me:secret@127.0.0.1:9/0"
    )
    assert "127.0.0.1:9" in line
    assert "secret" not in line
    assert not (tmp_path / "d").exists()


def test_a_redis_that_throws_keys_away(tmp_path: Path, seeds: Path) -> None:
    with EmbeddedRedis(tmp_path / "redis") as server, Redis.from_url(server.url) as client:
        client.config_set("maxmemory-policy", "allkeys-lru")
        refuse_eviction(server.url, memory_facts(server.url))  # without a limit it never does
        client.config_set("maxmemory", "1gb")
        line = refused("x", "-a", f"seeds={seeds}", DATA_DIR=str(tmp_path / "d"), REDIS_URL=server.url)
        assert not client.keys()
    assert "maxmemory-policy allkeys-lru" in line
    assert not (tmp_path / "d").exists()


@pytest.mark.parametrize("level", ["LOUD", "info", "20", ""])
def test_a_level_of_the_log_that_there_is_not(level: str, tmp_path: Path, seeds: Path) -> None:
    line = refused("x", "-a", f"seeds={seeds}", DATA_DIR=str(tmp_path / "d"), LOG_LEVEL=level)
    assert f"scrapy crawl x: LOG_LEVEL={level!r} is none of 'CRITICAL', " in line
    assert not (tmp_path / "d").exists()


@pytest.mark.parametrize("level", ["WARNING", 15])
def test_a_level_of_the_log_that_there_is(level: str | int, tmp_path: Path, seeds: Path) -> None:
    settings = Settings({"DATA_DIR": str(tmp_path / "d"), "LOG_LEVEL": level})
    Ulwembu().update_settings(settings)
    check(settings, find_spider(get_spider_loader(settings), "x", {"seeds": str(seeds)}))


def test_a_start_that_scrapy_refuses_leaves_no_redis_behind(tmp_path: Path, seeds: Path) -> None:
    settings = {"DATA_DIR": str(tmp_path / "d"), "LOG_VERSIONS": "there-is-no-such-package"}
    done = run("crawl", "x", "-a", f"seeds={seeds}", **settings)
    assert done.returncode == 1
    assert EmbeddedRedis(tmp_path / "d" / "state" / "redis").server_pid() == 0


@pytest.mark.parametrize("option", ["--pidfile", "--profile"])
def test_a_pid_or_profile_that_cannot_be_written(tmp_path: Path, seeds: Path, option: str) -> None:
    nowhere = tmp_path / "nowhere" / "pid"
    line = refused("x", "-a", f"seeds={seeds}", option, str(nowhere), DATA_DIR=str(tmp_path / "d"))
    assert line == f"{nowhere}: No such file or directory"


def test_a_log_that_cannot_be_opened(tmp_path: Path, seeds: Path) -> None:
    nowhere = tmp_path / "nowhere" / "log"
    line = refused("x", "-a", f"seeds={seeds}", DATA_DIR=str(tmp_path / "d"), LOG_FILE=str(nowhere))
    assert line == f"scrapy crawl x: LOG_FILE {nowhere}: No such file or directory"
    assert not (tmp_path / "d").exists()


@pytest.mark.parametrize(
    ("place", "encoding", "told"),
    [
        ("", "utf-8", "LOG_FILE {}: Is a directory"),
        ("d/logs/log", "utf-8", "LOG_FILE {}: No such file or directory"),
        ("/dev/full", "utf-8", "LOG_FILE {}: No space left on device"),
        ("log", "utf-9", "LOG_ENCODING='utf-9': unknown encoding: utf-9"),
        ("log", "hex", "LOG_ENCODING='hex': 'hex' is not a text encoding"),
    ],
)
@pytest.mark.parametrize("seeded", [True, False])
def test_a_log_that_cannot_be_written(
    place: str, encoding: str, told: str, seeded: bool, tmp_path: Path, seeds: Path
) -> None:
    log = tmp_path / place
    with pytest.raises(PreflightError) as refusal:
        take_logged(tmp_path / "d", log, seeds if seeded else None, encoding)
    assert str(refusal.value).startswith(told.format(log))
    assert not (tmp_path / "d").exists()


def test_a_log_on_a_disk_that_is_full(tmp_path: Path, seeds: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.fstatvfs", lambda _: Mock(f_blocks=9, f_bavail=0))
    with pytest.raises(PreflightError, match=r"LOG_FILE .*: No space left on device"):
        take_logged(tmp_path / "d", tmp_path / "log", seeds)
    monkeypatch.setattr("os.fstatvfs", lambda _: Mock(f_blocks=0, f_bavail=0))
    take_logged(tmp_path / "d", tmp_path / "log", seeds)


@pytest.mark.parametrize("place", ["log", "d/log", "d/warc/log", "data/log"])
def test_a_log_that_can_be_written(place: str, tmp_path: Path, seeds: Path) -> None:
    """Also in a folder that is made with the crawl's own; what another run has logged stays."""
    folder = tmp_path / ("data/d" if place.startswith("data") else "d")
    for _ in range(2):
        take_logged(folder, tmp_path / place, seeds)
        with (tmp_path / place).open("a") as log:
            log.write("one run\n")
    assert (tmp_path / place).read_text() == "one run\none run\n"


def take_logged(folder: Path, log: Path, seeds: Path | None, encoding: str = "utf-8") -> None:
    """The folder of a crawl that has such a log."""
    settings = Settings({"DATA_DIR": str(folder), "LOG_FILE": str(log), "LOG_ENCODING": encoding})
    Ulwembu().update_settings(settings)
    spider = find_spider(get_spider_loader(settings), "x", {"seeds": str(seeds)}) if seeds else Spider
    take_folder(settings, spider)


def test_settings_of_the_spider_itself_are_looked_at_before_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Own(Spider):
        name = "own"
        custom_settings: dict[str, Any] = {}  # noqa: RUF012 - as Scrapy has it

    monkeypatch.setattr("crawler.actions.crawl.find_spider", lambda *_: Own)
    settings = Settings({"CONTACT": "me@a.test", "DATA_DIR": str(tmp_path / "project")})
    Own.custom_settings = {"DATA_DIR": str(tmp_path / "spider"), "FRONTIER_DELAI_S": 3}
    with contextlib.ExitStack() as held, pytest.raises(PreflightError, match="did you mean FRONTIER_DELAY_S"):
        prepare(settings, "own", {}, held)
    assert not list(tmp_path.iterdir())
    del Own.custom_settings["FRONTIER_DELAI_S"]
    with contextlib.ExitStack() as held:
        assert prepare(settings, "own", {}, held) is Own
        assert [found.name for found in tmp_path.iterdir()] == ["spider"], "one Redis: that of the worker"


def test_a_folder_that_no_address_can_have(tmp_path: Path, seeds: Path) -> None:
    with pytest.raises(PreflightError, match=r"DATA_DIR .*: its name is no UTF-8"):
        take_logged(tmp_path / "\udcff", tmp_path / "log", seeds)


def test_list_names_the_crawls_to_a_reader_that_may_leave() -> None:
    done = run("list")
    assert done.returncode == 0
    assert {"zulu", "xhosa"} <= set(done.stdout.split())
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as left:
        done = subprocess.run(
            scrapy("list"), cwd=ROOT, env=environment(), stdout=left, stderr=subprocess.PIPE, text=True, timeout=240
        )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_private_address_is_never_asked(tmp_path: Path, seeds: Path) -> None:
    done = run("crawl", "x", "-a", f"seeds={seeds}", DATA_DIR=str(tmp_path / "d"), FRONTIER_IDLE_CLOSE_S="1")
    assert done.returncode == 0, done.stderr
    assert "RefusedAddressError" in done.stderr


def test_an_option_that_there_is_not() -> None:
    done = run("crawl", "zulu", "--cotact=me@a.test")
    assert done.returncode == 2
    assert done.stderr.endswith("error: no such option: --cotact=me@a.test\n")
    for words in (["list"], ["frontier", "status"], ["check"], ["fetch", "http://a.test/"]):
        done = run_here(*words, "--limt=5")
        assert done.returncode == 2
        assert done.stderr.endswith("error: no such option: --limt=5\n")
    done = run("crawl", "zulu", "CONTACT=me@a.test")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].endswith(
        "error: one crawl is wanted, not 'zulu CONTACT=me@a.test'; a setting is given with -s NAME=VALUE"
    )
    assert "started" not in done.stderr
    done = run("crawl", "-a", "seeds=my.toml")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 4)
    assert done.stderr.endswith("error: one crawl is wanted; scrapy list names those there are\n")


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("DATA_DIR", "", "DATA_DIR is empty"),
        ("FETCH_CA_FILE", "/nowhere.pem", "FETCH_CA_FILE /nowhere.pem: No such file"),
        ("FETCH_CA_FILE", __file__, "no PEM certificate in it"),
        ("FRONTIER_OPT_OUT_FILE", "/nowhere.txt", "FRONTIER_OPT_OUT_FILE /nowhere.txt: No such file"),
        ("FRONTIER_DELAY_S", "1e20", "FRONTIER_DELAY_S='1e20'"),
        ("FRONTIER_RETRY_FACTOR", "1000001", "FRONTIER_RETRY_FACTOR='1000001'"),
        ("ROBOTS_MAX_AGE_S", "90000", "ROBOTS_MAX_AGE_S=90000 must be above 0 and at most 86400"),
        ("ROBOTS_MAX_AGE_S", "0", "ROBOTS_MAX_AGE_S=0 must be above 0"),
        ("ROBOTS_USER_AGENT", "", "ROBOTS_USER_AGENT='' is no product token"),
        ("ROBOTS_USER_AGENT", "My bot/1.0", "ROBOTS_USER_AGENT='My bot/1.0' is no product token"),
        ("USER_AGENT", "Bot\r\nCookie: a", "USER_AGENT='Bot\\r\\nCookie: a' must be one line"),
        ("WARC_PREFIX", "a/x", "WARC_PREFIX='a/x' must be"),
        ("WARC_PREFIX", ".x", "WARC_PREFIX='.x' must be"),
        ("WARC_PREFIX", "é" * 50 + "x", "must be no longer than 100 bytes"),
        ("FETCH_CONNECT_TIMEOUT_S", "0", "FETCH_CONNECT_TIMEOUT_S='0' must be a number above 0"),
        ("FRONTIER_AHEAD_MS", "60000", "FRONTIER_AHEAD_MS='60000' must be a whole number from 0 to 1000"),
        ("SIEVE_FLUSH_MS", "3600000", "SIEVE_FLUSH_MS='3600000' must be a whole number from 0 to 60000"),
        ("HARVEST_MAX_POLL_S", "10", "HARVEST_MIN_POLL_S=45.0 is above HARVEST_MAX_POLL_S=10"),
        ("HARVEST_SITEMAP_MIN_POLL_S", "1e6", "HARVEST_SITEMAP_MIN_POLL_S=1e6 is above HARVEST_SITEMAP_MAX_POLL_S"),
        ("LOGSTATS_INTERVAL", "soon", "LOGSTATS_INTERVAL='soon' must be seconds"),
        ("LOGSTATS_INTERVAL", "-1", "LOGSTATS_INTERVAL='-1' must be seconds"),
        ("LOGSTATS_INTERVAL", "nan", "LOGSTATS_INTERVAL='nan' must be seconds"),
        ("RELEVANCE_OPTIONS", "wrods=3", "(with RELEVANCE_OPTIONS): policy yield has no option 'wrods'"),
        ("RELEVANCE_MODEL", "/nowhere.model", "(with RELEVANCE_MODEL): /nowhere.model"),
        ("DOWNLOAD_TIMEOUT", "soon", "DOWNLOAD_TIMEOUT='soon'"),
        ("DOWNLOAD_MAXSIZE", "0", "DOWNLOAD_MAXSIZE='0'"),
        ("FRONTIER_BUFFER", "0", "FRONTIER_BUFFER='0'"),
        ("FRONTIER_MAX_RETRIES", "0", "FRONTIER_MAX_RETRIES='0'"),
        ("CONTACT", "me@a.test\r\nX-More: 1", "CONTACT: 'me@a.test\\r\\nX-More: 1'"),
        ("WARC_MAX_BYTES", "1e6", "WARC_MAX_BYTES='1e6'"),
        ("WARC_VERSION", 1.1, "WARC_VERSION=1.1 is none of '1.1', '1.0'"),  # a number, as in a project's settings
        ("FRONTIER_LEASE_S", "60", "FRONTIER_LEASE_S=60 must be over a second longer than DOWNLOAD_TIMEOUT=60"),
        ("FRONTIER_LEASE_S", "61", "FRONTIER_LEASE_S=61 must be over a second longer than DOWNLOAD_TIMEOUT=60"),
        ("LOG_FORMAT", "%(nosuch)s", "LOG_FORMAT='%(nosuch)s': Formatting field not found in record: 'nosuch'"),
        ("LOG_FORMAT", "%(asctime", "LOG_FORMAT='%(asctime': Invalid format"),
        ("LOG_FORMAT", "%(asctime)d", "LOG_FORMAT='%(asctime)d': "),
        ("LOG_ENABLED", "maybe", "LOG_ENABLED='maybe' is neither True nor False"),
        ("COOKIES_ENABLED", "maybe", "COOKIES_ENABLED='maybe' is neither True nor False"),
        ("TELNETCONSOLE_ENABLED", "maybe", "TELNETCONSOLE_ENABLED='maybe' is neither True nor False"),
        ("DOWNLOAD_VERIFY_CERTIFICATES", "", "DOWNLOAD_VERIFY_CERTIFICATES='' is neither True nor False"),
        ("CONCURRENT_REQUESTS", "x", "CONCURRENT_REQUESTS='x' is no whole number"),
        ("CLOSESPIDER_PAGECOUNT", "1.5", "CLOSESPIDER_PAGECOUNT='1.5' is no whole number"),
        ("CLOSESPIDER_TIMEOUT", "soon", "CLOSESPIDER_TIMEOUT='soon' is no number"),
        ("CLOSESPIDER_TIMEOUT", "inf", "CLOSESPIDER_TIMEOUT='inf' is no number"),
        ("CLOSESPIDER_TIMEOUT", "-1", "CLOSESPIDER_TIMEOUT='-1' must not be below 0"),
        ("REACTOR_THREADPOOL_MAXSIZE", "-1", "REACTOR_THREADPOOL_MAXSIZE='-1' must not be below 0"),
        ("DOWNLOAD_DELAY", "soon", "DOWNLOAD_DELAY='soon' is no number"),
        ("MEMUSAGE_LIMIT_MB", "x", "MEMUSAGE_LIMIT_MB='x' is no whole number"),
        ("MEMUSAGE_CHECK_INTERVAL_SECONDS", "0", "MEMUSAGE_CHECK_INTERVAL_SECONDS='0' must be above 0"),
        ("TWISTED_REACTOR_ENABLED", "0", "TWISTED_REACTOR_ENABLED must be on"),
        ("TWISTED_REACTOR", "", "TWISTED_REACTOR='' must be twisted.internet.asyncioreactor"),
        ("SCHEDULER", "scrapy.core.scheduler.Scheduler", "SCHEDULER='scrapy.core.scheduler.Scheduler' must be"),
        ("SCHEDULER", "no.such", "SCHEDULER='no.such' must be"),
        ("DOWNLOADER", "scrapy.core.downloader.Downloader", "DOWNLOADER='scrapy.core.downloader.Downloader' must be"),
        ("DEFAULT_REQUEST_HEADERS", '{"user-agent": "Mozilla"}', "user-agent is the setting USER_AGENT"),
        ("DEFAULT_REQUEST_HEADERS", {b"User-Agent": "Mozilla"}, "User-Agent is the setting USER_AGENT"),
        ("DEFAULT_REQUEST_HEADERS", '{"A b": "c"}', "DEFAULT_REQUEST_HEADERS: 'A b' is no name of a header"),
        (
            "DOWNLOAD_HANDLERS",
            '{"http": "scrapy.core.downloader.handlers.http11.HTTP11DownloadHandler"}',
            "HTTP11DownloadHandler for http would fetch around the address guard",
        ),
        ("DOWNLOADER_MIDDLEWARES", '{"crawler.robots.RobotsMiddleware": null}', "robots.txt is always obeyed"),
        ("SPIDER_MIDDLEWARES", '{"crawler.focus.FocusMiddleware": null}', "FocusMiddleware cannot be left out"),
        ("EXTENSIONS", '{"crawler.work.worker.Worker": null}', "Worker cannot be left out"),
        ("EXTENSIONS", '{"crawler.watch.progress.Nosuch": 5}', "EXTENSIONS: there is no class 'crawler.watch.pr"),
        ("EXTENSIONS", '{"scrapy.Spider": "x"}', "EXTENSIONS: Invalid value x for component scrapy.Spider"),
        ("ITEM_PIPELINES", '{"no.such": 5}', "ITEM_PIPELINES: there is no class 'no.such'"),
        ("DOWNLOADER_MIDDLEWARES_BASE", '{"such": 5}', "DOWNLOADER_MIDDLEWARES_BASE: there is no class 'such'"),
        ("DOWNLOAD_HANDLERS", '{"ftp": "crawler.no.Such"}', "DOWNLOAD_HANDLERS: there is no class 'crawler.no.Such'"),
        ("ADDONS", '{"": 5}', "ADDONS: there is no class ''"),
        ("STATS_CLASS", "no.such", "STATS_CLASS='no.such': there is no such class"),
        ("LOG_FORMATTER", None, "LOG_FORMATTER=None: there is no such class"),
        ("ASYNCIO_EVENT_LOOP", "os.path", "ASYNCIO_EVENT_LOOP='os.path': there is no such class"),
        ("LOG_VERSIONS", "lxml,nosuch", "LOG_VERSIONS=lxml,nosuch: No package"),
        ("LOG_VERSIONS", "lxml,", "LOG_VERSIONS=lxml,: A distribution name is required"),
        ("TELNETCONSOLE_PORT", "x", "TELNETCONSOLE_PORT='x': neither a port nor"),
        ("TELNETCONSOLE_PORT", "6023,65536", "TELNETCONSOLE_PORT='6023,65536': neither a port nor"),
        ("TELNETCONSOLE_PORT", [6073, 6023], "TELNETCONSOLE_PORT=[6073, 6023]: neither a port nor"),
        ("FEEDS", {"a.jsonl": "jsonl"}, "FEEDS: a.jsonl: 'jsonl' is no table of options"),
        ("FEEDS", {"a.txt": {}}, "FEEDS: a.txt: format 'txt' is none of json, "),
        ("FEEDS", {"nosuch://a.test/a.jsonl": {}}, "scheme 'nosuch' is none of file, "),
        ("FEEDS", {"a.jsonl": {"uri_params": "no.such"}}, "FEEDS: a.jsonl: there is no 'no.such'"),
        ("FEEDS", {"/dev/null/a.jsonl": {}}, "FEEDS: /dev/null/a.jsonl cannot be written: /dev/null is no folder"),
        ("FEEDS", {"/proc/a.jsonl": {}}, "FEEDS: /proc/a.jsonl cannot be written: /proc may not be written"),
        ("FEEDS", {"/proc/version": {"format": "csv"}}, "/proc/version cannot be written: /proc/version may not be"),
        ("FEEDS", {"file:///tmp": {"format": "csv"}}, "FEEDS: file:///tmp cannot be written: /tmp is a folder"),
        ("FEED_URI_PARAMS", "no.such", "FEED_URI_PARAMS='no.such': there is no such function"),
        ("HTTPAUTH_USER", "me", "HTTPAUTH_USER and HTTPAUTH_PASS need HTTPAUTH_DOMAIN"),
    ],
)
def test_a_setting_that_would_hurt_later(seeds: Path, tmp_path: Path, name: str, value: object, told: str) -> None:
    spider = find_spider(get_spider_loader(Settings()), "x", {"seeds": str(seeds)})
    settings = Settings({"DATA_DIR": str(tmp_path / "d"), name: value})
    Ulwembu().update_settings(settings)
    with pytest.raises(PreflightError) as refusal:
        check(settings, spider)
    assert told in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("LOGSTATS_INTERVAL", "0"),
        ("HARVEST_MAX_POLL_S", "45"),
        ("WARC_PREFIX", "é" * 50),
        ("FRONTIER_RETRY_FACTOR", "1e6"),
        ("DOWNLOAD_DELAY", "0.5"),
        ("TELNETCONSOLE_ENABLED", "True"),
        ("FEED_EXPORT_INDENT", None),
        ("RETRY_PRIORITY_ADJUST", "-2"),
        ("LOG_FORMAT", ""),
        ("DOWNLOAD_HANDLERS", {"https": None}),
        ("DOWNLOAD_HANDLERS", {"http": "tests.integration.crawler.test_refusals.OwnHandler"}),
        ("SCHEDULER", "tests.integration.crawler.test_refusals.OwnScheduler"),
        ("DEFAULT_REQUEST_HEADERS", {"DNT": "1"}),
        ("SPIDER_MIDDLEWARES", {"no.such": None}),
        ("STATS_CLASS", MemoryStatsCollector),
        ("DUPEFILTER_CLASS", ""),
        ("REFERRER_POLICY", "no-referrer"),
        ("LOG_VERSIONS", "Python,lxml"),
        ("LOG_VERSIONS", ""),
        ("TELNETCONSOLE_PORT", "0"),
        ("TELNETCONSOLE_PORT", None),
        ("TELNETCONSOLE_HOST", "unasked..test"),
        ("FEEDS", {"%(name)s.jsonl": {}, Path("out.csv"): {"item_filter": None}, "stdout:": {"format": "json"}}),
        ("FEEDS", {"not/yet/there/%(name)s.jsonl": {}, "file:///tmp/a.csv": {}, "/dev/null": {"format": "csv"}}),
        ("FEED_URI_PARAMS", "json.dumps"),
        ("HTTPAUTH_DOMAIN", "a.test"),
    ],
)
def test_a_setting_that_does_no_harm(seeds: Path, tmp_path: Path, name: str, value: object) -> None:
    spider = find_spider(get_spider_loader(Settings()), "x", {"seeds": str(seeds)})
    settings = Settings({"DATA_DIR": str(tmp_path / "d"), name: value})
    Ulwembu().update_settings(settings)
    check(settings, spider)


@pytest.mark.parametrize("host", ["\udcff", "a..test", "nosuch.invalid"])
def test_a_console_at_an_address_that_none_can_have(host: str) -> None:
    settings = Settings({"TELNETCONSOLE_ENABLED": True, "TELNETCONSOLE_HOST": host})
    assert [fault.partition(" cannot be listened at: ")[0] for fault in value_faults(settings)] == [
        f"TELNETCONSOLE_HOST={host!r}"
    ]
    settings.set("TELNETCONSOLE_HOST", "127.0.0.1")
    assert list(value_faults(settings)) == []


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("SPIDER_LOADER_CLASS", "no.such", "SPIDER_LOADER_CLASS='no.such': there is no"),
        ("SPIDER_LOADER_WARN_ONLY", "maybe", "SPIDER_LOADER_WARN_ONLY neither True nor False"),
        ("SPIDER_MODULES", "crawler.nosuch", "SPIDER_MODULES: there is no module 'crawler.nosuch'"),
        ("SPIDER_MODULES", [".own"], "SPIDER_MODULES: there is no module '.own'"),
        ("SPIDER_MODULES", 5, "SPIDER_MODULES is no list of names"),
    ],
)
def test_spiders_that_cannot_be_looked_for(name: str, value: object, told: str) -> None:
    with contextlib.ExitStack() as held, pytest.raises(PreflightError, match=rf"^[^\n]*{told}[^\n]*$"):
        prepare(Settings({name: value}), "x", {}, held)


def test_a_project_may_only_be_warned_of_spiders_that_cannot_be_loaded() -> None:
    settings = Settings({"SPIDER_MODULES": ["nosuch"], "SPIDER_LOADER_WARN_ONLY": True})
    with pytest.warns(RuntimeWarning, match="nosuch"):
        assert loader_of(settings).list() == []


@pytest.mark.parametrize("words", [["list"], ["frontier", "status", "--crawl", "x"], ["fetch", "http://127.0.0.1:2/"]])
def test_every_command_tells_of_spiders_that_cannot_be_looked_for(words: list[str], seeds: Path) -> None:
    """Among them two seed files of one name: who copies one may forget to give it another."""
    settings = {"CONTACT": "me@a.test", "DATA_DIR": str(seeds.parent / "d")}
    (seeds.parent / "copied.toml").write_text(GOOD)
    for name, value, told in (
        ("SPIDER_MODULES", "nosuch", "SPIDER_MODULES: there is no module 'nosuch'"),
        ("SEEDS_DIR", str(seeds.parent), f"{seeds}: the crawl 'ndwedwe' is already defined in "),
    ):
        done = run_here(*words, **settings, **{name: value})
        assert (done.returncode, done.stdout) == (1, "")
        (line,) = done.stderr.splitlines()
        assert told in line


@pytest.mark.parametrize("value", ["{", "[1]", "3", '{"a": 5'])
@pytest.mark.parametrize("words", [["list"], ["crawl", "x"], ["why", "http://a.test/"], ["fetch", "http://a.test/"]])
def test_a_dictionary_that_the_command_line_has_wrong_is_named(words: list[str], value: str) -> None:
    done = run_here(*words, EXTENSIONS=value)
    assert done.returncode == 2
    assert f"error: -s EXTENSIONS={value}: no " in done.stderr.splitlines()[-1]


def test_what_a_module_of_a_project_misses_is_no_fault_of_the_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "theirs_of_refusals.py").write_text("import nosuch_module\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="nosuch_module"):
        list(class_faults(Settings({"ITEM_PIPELINES": {"theirs_of_refusals.Pipeline": 5}})))


class OwnHandler(FetchHandler):
    """Of a project."""


class OwnScheduler(FrontierScheduler):
    """Of a project."""


@pytest.mark.parametrize("host", ["\udcff", "a..test", "a" * 64])
def test_an_address_for_figures_that_none_can_have(host: str) -> None:
    with pytest.raises(PreflightError, match=r"METRICS_HOST=.* is no name of a host"):
        metrics_socket(Settings({"METRICS_PORT": 9999, "METRICS_HOST": host}))


@pytest.mark.parametrize("line", ["http://[::1/x", "ftp://a.test/", "*.a.test"])
def test_an_opt_out_that_would_be_ignored(seeds: Path, tmp_path: Path, line: str) -> None:
    (tmp_path / "out").write_text(f"# asked by mail\n\na.test # whole\n{line}\n")
    spider = find_spider(get_spider_loader(Settings()), "x", {"seeds": str(seeds)})
    settings = Settings({"DATA_DIR": str(tmp_path / "d"), "FRONTIER_OPT_OUT_FILE": str(tmp_path / "out")})
    Ulwembu().update_settings(settings)
    with pytest.raises(PreflightError, match=r"FRONTIER_OPT_OUT_FILE .*out:4: "):
        check(settings, spider)


@pytest.mark.parametrize("option", ["tls=yes", "decode_responses=True"])
def test_a_redis_url_with_an_option_that_cannot_be_used(option: str) -> None:
    with pytest.raises(RedisUnreachableError, match=rf"REDIS_URL redis://.*{option}: .*{option.partition('=')[0]}"):
        ping(f"redis://127.0.0.1:9/0?{option}")


@pytest.mark.parametrize("path", ["x", "zulu", "0/x", "1/2", "-1", "0 "])
def test_a_redis_url_whose_database_is_no_number(path: str) -> None:
    """The client would go to database 0, where another crawl may be."""
    url = f"redis://me:secret@127.0.0.1:9/{path}"
    with pytest.raises(
        RedisUnreachableError, match=rf"REDIS_URL redis://me:\*\*\*@.*'{path}' is no number of a database"
    ):
        ping(url)
    with pytest.raises(ValueError, match="is no number"):
        RedisFrontier(url, "zulu")
    with pytest.raises(SpecError, match="no number of a database") as refusal:
        open_sieve(f"{url}?crawl=zulu")
    assert "secret" not in str(refusal.value)


@pytest.mark.parametrize("path", ["", "/", "/0", "/12/", "/3?socket_timeout=1"])
def test_a_redis_url_whose_database_is_one(path: str) -> None:
    with pytest.raises(RedisUnreachableError, match="no Redis at"):
        ping(f"redis://127.0.0.1:9{path}")
    with pytest.raises(LinkError):
        open_sieve(f"redis://127.0.0.1:9{path}{'&' if '?' in path else '?'}crawl=zulu")


@pytest.mark.parametrize(
    "url",
    [
        "redis://:secret@[::1",
        "redis://me:a/secret@127.0.0.1:9/0",
        "redis://:a@secret/secret#secret@127.0.0.1:9/0",
        "redis://me:secret?@127.0.0.1:9",
        "me:secret@127.0.0.1:9",
        "redis://127.0.0.1:9/0?password=secret",
        "rediss://me:secret:secret@127.0.0.1:9/0?password=secret&tls=1",
    ],
)
def test_a_redis_url_that_is_none_or_nobodys_tells_no_password(url: str) -> None:
    with pytest.raises(RedisUnreachableError) as refusal:
        ping(url)
    assert "secret" not in str(refusal.value)
    assert "REDIS_URL " in str(refusal.value)


def test_a_redis_that_wants_a_password_is_told_as_such(tmp_path: Path) -> None:
    with redis_server(tmp_path, "--requirepass", "secret") as path:
        with pytest.raises(RedisUnreachableError, match="it wants a password"):
            ping(f"unix://{path}")
        with pytest.raises(RedisUnreachableError, match="invalid username-password pair"):
            ping(f"unix://default:wrong@{path}")


@pytest.mark.parametrize("url", ["http://127.0.0.1:99999/", "http://[::1/"])
def test_a_site_that_no_url_can_name(seeds: Path, url: str) -> None:
    seeds.write_text(GOOD.replace("http://127.0.0.1:2/", url))
    with pytest.raises(PreflightError, match="not a URL"):
        find_spider(get_spider_loader(Settings()), "x", {"seeds": str(seeds)})


def test_a_seed_that_nobody_may_ask_is_named(seeds: Path, tmp_path: Path) -> None:
    done = run("crawl", "x", "-a", f"seeds={seeds}", DATA_DIR=str(tmp_path / "d"))
    assert done.returncode == 0
    assert "Nothing of http://127.0.0.1:2 is fetched for now: 127.0.0.1" in done.stderr


def test_a_spiders_request_that_cannot_be_fetched_is_dropped() -> None:
    worker = Mock()
    assert not FrontierScheduler(worker).enqueue_request(Request("file:///etc/passwd"))
    worker.enqueue.assert_not_called()
    assert FrontierScheduler(worker).enqueue_request(Request("http://a.test/"))
    worker.enqueue.assert_called_once()


def test_a_url_that_cannot_be_asked_for_ends_its_own_lease_only() -> None:
    def held(url: str) -> HeldLease:
        return HeldLease(Lease(url, url, Kind.PAGE, "http://a.test", "", 0, 0), 0, (0.0, 0.0), 1.0, Mock())

    worker = Mock()
    worker.next_due.side_effect = [held("http://[::1/"), held("http://a.test/\ud800"), held("http:///a.test/y"), None]
    scheduler = FrontierScheduler(worker)
    urls = [request.url for request in iter(scheduler.next_request, None)]
    assert urls == ["http://a.test/%EF%BF%BD", "http://a.test/y"], "as whoever keeps their delays reads them"
    (ended,) = worker.finish.call_args_list
    assert (ended.args[0].url, ended.args[1].result) == ("http://[::1/", "bad_url")
    assert "bad_url" in OUTCOMES


def test_a_feed_that_nobody_answers_is_asked_again_by_its_own_schedule() -> None:
    lease = Lease("t", "http://a.test/feed", Kind.FEED, "http://a.test", "", 0, 0)
    worker = Mock()
    worker.stores.frontier.config = FrontierConfig()
    polls = worker.stores.polls
    worker.next_due.side_effect = [HeldLease(lease, 0, (0.0, 0.0), 1.0, Mock()), None]
    polls.request.side_effect = ValueError("no URL")
    scheduler = FrontierScheduler(worker)
    assert scheduler.next_request() is None
    request = Request("http://b.test/feed", meta={"lease": lease})
    scheduler._failed(Mock(value=DnsError("no such host"), request=request))
    asked = [call.args for call in polls.fail.call_args_list]
    assert asked == [(lease, lease.url, "bad_url"), (lease, "http://b.test/feed", "dns")]
    assert [call.args for call in worker.finish.call_args_list] == [(lease, polls.fail.return_value, None)] * 2


def test_fetching_by_hand_is_guarded_too(tmp_path: Path) -> None:
    done = run("fetch", "http://127.0.0.1:2/", CONTACT="me@a.test", METRICS_PORT="21000")
    assert "Prometheus" not in done.stderr
    assert "WARNING: Not fetched, 127.0.0.1 is not a public address" in done.stderr
    assert "Traceback" not in done.stderr
    assert (done.stdout, done.returncode) == ("", 1)
    nobody = run("fetch", "http://127.0.0.1:2/")
    assert nobody.returncode == 1
    assert nobody.stderr.startswith("no contact")
    assert len(nobody.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("LOG_FILE", "/nowhere/log", "LOG_FILE /nowhere/log: No such file or directory"),
        ("LOG_LEVEL", "loud", "LOG_LEVEL='loud' is none of"),
        ("DOWNLOAD_TIMEOUT", "x", "DOWNLOAD_TIMEOUT='x' must be a number above 0"),
        ("TWISTED_REACTOR_ENABLED", "0", "TWISTED_REACTOR_ENABLED must be on"),
    ],
)
@pytest.mark.parametrize("command", ["fetch", "shell"])
def test_fetching_by_hand_is_refused_in_a_line_too(command: str, name: str, value: str, told: str) -> None:
    done = run_here(command, "http://127.0.0.1:2/", CONTACT="me@a.test", **{name: value})
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith(told)


@pytest.mark.parametrize("command", ["fetch", "shell"])
def test_fetching_by_hand_for_a_spider_that_there_is_not(command: str) -> None:
    done = run_here(command, "http://127.0.0.1:2/", "--spider", "nosuch", CONTACT="me@a.test")
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("no crawl named 'nosuch'")


@pytest.mark.parametrize(
    ("place", "answered", "said"),
    [("/dev/full", False, "standard output: No space left on device\n"), ("", True, ""), ("page", True, "")],
)
def test_an_answer_that_cannot_be_written_is_none(
    place: str, answered: bool, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """But whoever reads no more has seen enough."""
    reading, writing = os.pipe()
    os.close(reading)
    command = Fetch()
    command._answered = False
    with (
        os.fdopen(writing, "w") as left,
        (tmp_path / place).open("w") if place else left as out,
        contextlib.redirect_stdout(out),
    ):
        command._print_response(Response("http://a.test/", body=b"sawubona"), Namespace(headers=False))
    assert (command._answered, capsys.readouterr().err) == (answered, said)
