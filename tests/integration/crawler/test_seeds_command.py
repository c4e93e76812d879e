"""``scrapy seeds`` against a synthetic web: polite, guarded, and with exit statuses that scripts can rely on."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

import pytest

from crawler.state.embedded_redis import EmbeddedRedis
from crawler.state.redis_link import client
from frontier.redis_opt_outs import RedisOptOuts
from seeds.crawl import load_crawl
from tests.integration.crawler.harness import ROOT, run_here, scrapy
from tests.integration.crawler.serving import HostHandler, hosts, serving
from tests.small_model import CZECH, write_small_model
from tests.web.requestlog import read_log
from tests.web.server import Running, serve
from tests.web.spec import FeedSpec, WebSpec, calm
from tests.web.verify import Expectations, verify

SPEC = calm(WebSpec(hosts=3, pages=12, feeds=(FeedSpec(3, "rss", 3600, 8),))).replace(robots=("normal", "deny"))


@pytest.fixture
def web(tmp_path: Path) -> Iterator[Running]:
    with serve(SPEC, tmp_path / "web") as running:
        yield running


def seeds(*words: str, **more: str) -> subprocess.CompletedProcess[str]:
    settings = {"CONTACT": "me@a.test", "FETCH_ALLOWED_NETWORKS": "127.70.0.0/16"}
    return run_here("seeds", *words, **settings, FRONTIER_DELAY_S="0.1", FRONTIER_IP_DELAY_S="0", **more)


def crawl_file(web: Running, more: str = "") -> Path:
    path = web.folder / "own.toml"
    home = web.web.seeds[0]
    path.write_text(f'[crawl]\nname = "own"\nlanguage = "zul"\n[[site]]\nurl = "{home}"\n{more}')
    return path


def test_check_tells_good_from_wrong(web: Running) -> None:
    good = crawl_file(web)
    done = seeds("check", str(good))
    assert done.returncode == 0
    assert done.stderr.startswith("scrapy seeds: no Redis was asked what has opted out")
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout.startswith("alive\tpage\t")
    assert "feeds not listed" in done.stdout

    denied = next(site.authority for site in web.web.sites if not site.opens)
    private = "http://127.99.0.1/feed/"
    bad = crawl_file(web, f'[[feed]]\nurl = ["{denied}/some/page", "{private}", "{web.web.seeds[0]}feed/99"]\n')
    time.sleep(0.1)  # without a Redis one command knows nothing of the delays of the last
    done = seeds("check", str(bad), "--json")
    assert done.returncode == 1
    states = {row["url"]: (row["state"], row["detail"]) for row in map(json.loads, done.stdout.splitlines())}
    assert states[f"{denied}/some/page"] == ("blocked", "robots_denied")
    assert states[private] == ("dead", "refused_address")
    assert states[f"{web.web.seeds[0]}feed/99"] == ("dead", "status 404")

    findings = verify(read_log(web.log), web.web, Expectations(0.1, 0.0))
    assert not [*findings.too_fast, *findings.robots_denied, *findings.robots_unasked, *findings.overlaps]


def test_discover_and_add(web: Running) -> None:
    home = web.web.sites[1].authority + "/"
    done = seeds("discover", home, "--json")
    assert done.returncode == 0
    found = json.loads(done.stdout)
    assert found["feeds"] == [[f"{home}feed/1", 8]]
    assert found["sitemaps"]
    path = crawl_file(web)
    assert seeds("add", str(path), home, "--scope", "prefix").returncode == 0
    assert f'url = "{home}feed/1"' in path.read_text()
    other = web.web.seeds[0]
    path.write_text(path.read_text().replace(other, "http://a.example/"))
    again = seeds("add", str(path), home, other)
    assert again.returncode == 1
    assert "listed already" in again.stderr
    assert f'url = "{other}"' in path.read_text(), "the others are added"


def test_pages_are_those_of_the_sitemaps(web: Running) -> None:
    home = web.web.sites[0].authority + "/"
    done = seeds("pages", home, "--json")
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(rows) > 5
    assert len({row["url"] for row in rows}) == len(rows)
    assert all(row["url"].startswith(home) for row in rows)
    assert any(row["date"].endswith("Z") for row in rows)
    assert "sitemap" in done.stderr
    plain = seeds("pages", home).stdout.splitlines()
    assert [line.split("\t")[0] for line in plain] == [row["url"] for row in rows]

    none = seeds("pages", "http://127.70.0.99:9/")
    assert none.returncode == 1
    assert "http://127.70.0.99:9/: no sitemap" in none.stderr


def test_an_address_may_lack_its_scheme(web: Running) -> None:
    """The host speaks no https."""
    home = web.web.sites[1].authority + "/"
    bare = home.removeprefix("http://")
    found = json.loads(seeds("discover", bare, "--json").stdout)
    assert (found["url"], found["feeds"]) == (home, [[f"{home}feed/1", 8]])
    assert seeds("discover", bare.rstrip("/")).stdout.startswith(f"alive\t{home}")
    assert seeds("pages", bare).stdout == seeds("pages", home).stdout != ""
    path = crawl_file(web)
    assert seeds("add", str(path), bare).returncode == 0
    assert f'url = "{home}"' in path.read_text()


@pytest.mark.parametrize("url", ["example", "ftp://example.org/", ""])
def test_of_what_is_no_address_no_page_is_looked_for(url: str) -> None:
    found = seeds("pages", url)
    assert (found.returncode, found.stdout) == (1, "")
    assert found.stderr.splitlines()[1:] == [f"{url}: not_http", f"{url}: no sitemap"]


def test_discover_names_languages_by_the_model_of_the_crawl(tmp_path: Path) -> None:
    page = f"<!DOCTYPE html><title>x</title><body><p>{CZECH}.</p></body>"

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = page.encode() if self.path == "/" else b""
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nothing to standard error."""

    def spoken(*words: str, **more: str) -> str:
        done = seeds("discover", home, "--json", *words, **more)
        assert done.returncode == 0, done.stderr
        language: str = json.loads(done.stdout)["language"]
        return language

    model = str(write_small_model(tmp_path / "own.model"))
    own = tmp_path / "own.toml"
    site = '[[site]]\nurl = "https://a.example/"\n'
    own.write_text(f'[crawl]\nname = "own"\nlanguage = "ces"\n[relevance]\nmodel = "own.model"\n{site}')
    with ThreadingHTTPServer(("127.70.3.9", 0), Handler) as server, serving(server):
        home = f"http://127.70.3.9:{server.server_address[1]}/"
        assert spoken() != "ces", "the shipped model does not know it"
        assert spoken("--crawl", str(own)) == "ces"
        assert spoken(RELEVANCE_MODEL=model) == "ces"
        assert spoken("--crawl", "zulu", RELEVANCE_MODEL=model) == "ces", "the setting comes first"
    none = tmp_path / "none.model"
    none.write_bytes(b"none")
    own.write_text(own.read_text().replace("own.model", none.name))
    broken = seeds("discover", home, "--crawl", str(own))
    assert (broken.returncode, str(none) in broken.stderr, "Traceback" in broken.stderr) == (1, True, False)


@pytest.mark.parametrize(
    ("language", "relevance", "said"),
    [
        ("ces", "", "does not know 'ces'"),
        ("zul", 'policy = "yeild"', "yeild"),
        ("zul", 'policy = "yield"\nwrods = 3', "wrods"),
        ("zul", 'model = "none.model"', "none.model"),
        ("ces", 'policy = "all"', ""),
    ],
)
def test_check_refuses_what_the_crawl_would(tmp_path: Path, language: str, relevance: str, said: str) -> None:
    path = tmp_path / "own.toml"
    site = '[[site]]\nurl = "https://a.example/"\n'
    path.write_text(f'[crawl]\nname = "own"\nlanguage = "{language}"\n[relevance]\n{relevance}\n{site}')
    done = seeds("check", str(path), "--offline")
    assert done.returncode == (1 if said else 0)
    assert said in done.stderr
    assert ("syntax good" in done.stdout) is not bool(said)


def test_a_reader_that_has_seen_enough_is_no_error_and_a_disk_that_is_full_is_one(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text('[crawl]\nname = "own"\nlanguage = "zul"\n[[site]]\nurl = "https://a.example/"\n')
    reading, writing = os.pipe()
    os.close(reading)
    command = scrapy("seeds", "check", str(path), "--offline")
    with os.fdopen(writing, "wb") as gone:
        done = subprocess.run(command, stdout=gone, stderr=subprocess.PIPE, cwd=ROOT, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, cwd=ROOT, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (1, b"standard output: No space left on device\n")


def test_settings_that_a_crawl_refuses_are_refused() -> None:
    done = seeds("discover", "http://127.70.0.1:9/", FETCH_CONNECT_TIMEOUT_S="0")
    assert (done.returncode, done.stdout) == (1, "")
    assert "FETCH_CONNECT_TIMEOUT_S='0'" in done.stderr


def test_import_and_usage(web: Running) -> None:
    listing = web.folder / "blogs.txt"
    listing.write_text("# ours\nhttps://a.example/feed/\nhttps://b.example/feed/\n")
    path = crawl_file(web)
    assert 'tags = ["blogs"]' in seeds("import", str(listing)).stdout
    assert "2 added, 0 there" in seeds("import", str(listing), "--into", str(path)).stdout
    assert "0 added, 2 there" in seeds("import", str(listing), "--into", str(path)).stdout
    listing.write_text("https://a.example/ and more\nhttps://c.example/feed/\n")
    done = seeds("import", str(listing), "--into", str(path))
    assert (done.returncode, done.stdout) == (1, f"{path}: 1 added, 0 there already\n")
    assert done.stderr == f"{listing}:1: not an address: 'https://a.example/ and more'\n"
    assert seeds("check", "no-such-crawl").returncode == 1
    wrong = seeds("nonsense")
    assert wrong.returncode == 2
    assert "one of these is wanted: check CRAWL…" in wrong.stderr
    assert seeds("check").returncode == 2
    checked = seeds("check", str(path), "--offline", "--json")
    assert json.loads(checked.stdout) == {"crawl": load_crawl(path).name, "seeds": len([*load_crawl(path).seeds()])}
    before = path.read_text()
    unknown = seeds("add", str(path), web.web.seeds[1], "--scoop", "domain")
    assert (unknown.returncode, path.read_text()) == (2, before)
    assert "no such option: --scoop" in unknown.stderr


class Steering(HostHandler):
    """Has signs in its addresses that would colour a terminal."""

    def asked(self) -> None:
        bodies = {"/robots.txt": b"Sitemap: /s\x1b[31m\n", "/s%1B%5B31m": b"http://a.example/\x1b[31m\n"}
        self.answer(200 if self.path in bodies else 404, bodies.get(self.path, b""))


def test_what_strangers_pages_say_steers_no_terminal() -> None:
    with hosts(Steering, ["127.70.3.8"]) as web:
        home = f"http://127.70.3.8:{web.port}/"
        done = seeds("pages", home)
    assert done.stdout == "http://a.example/\ufffd[31m\n"
    assert f"{home}s\ufffd[31m\n" in done.stderr


class Overloaded(HostHandler):
    def asked(self) -> None:
        self.answer(404 if self.path == "/robots.txt" else 503, b"", Retry_After="3600")


def test_a_host_of_two_crawls_is_spared_as_that_of_one(tmp_path: Path) -> None:
    """The second crawl was checked as if nobody had been asked yet: at once, and whatever the host had asked for."""
    with hosts(Overloaded, ["127.70.3.7"]) as web:
        site = f'[[site]]\nurl = "http://127.70.3.7:{web.port}/"\n'
        for name in ("inanda", "umlazi"):
            (tmp_path / f"{name}.toml").write_text(f'[crawl]\nname = "{name}"\nlanguage = "zul"\n{site}')
        done = seeds("check", *(str(tmp_path / f"{name}.toml") for name in ("inanda", "umlazi")))
        assert [line.split("\t")[-1] for line in done.stdout.splitlines()] == ["status 503", "resting"]
        assert [path for _, path in web.asked] == ["/robots.txt", "/"]


class Small(HostHandler):
    """A site with one feed, a page that leads nowhere, and a sitemap that is missing a part."""

    agents: ClassVar[set[str]] = set()

    def asked(self) -> None:
        self.agents.add(self.headers["User-Agent"])
        here = f"http://{self.server.host}:{self.server.port}"
        part = f"<sitemap><loc>{here}/gone.xml</loc></sitemap><sitemap><loc>{here}/part.xml</loc></sitemap>"
        bodies = {
            "/": '<html><head><link rel="alternate" type="application/rss+xml" href="/rss"></head><p>Sawubona</p>',
            "/rss": f'<rss version="2.0"><channel><item><link>{here}/1</link></item></channel></rss>',
            "/robots.txt": f"Sitemap: {here}/map.xml\n",
            "/map.xml": f"<sitemapindex>{part}</sitemapindex>",
            "/part.xml": f"<urlset><url><loc>{here}/1</loc></url></urlset>",
        }
        body = bodies.get(self.path, "")
        self.answer(200 if body else 404, body.encode(), Content_Type="text/html" if self.path == "/" else "text/xml")


@pytest.fixture(scope="module")
def small() -> Iterator[str]:
    with hosts(Small, ["127.70.3.9"]) as web:
        yield f"http://127.70.3.9:{web.port}/"


def small_crawl(folder: Path, *tables: str, relevance: str = "") -> Path:
    path = folder / "own.toml"
    path.write_text("\n".join(['[crawl]\nname = "own"\nlanguage = "zul"', relevance, *tables]) + "\n")
    return path


def test_a_site_that_does_not_answer_is_told_and_the_next_is_looked_at(small: str) -> None:
    for words in (("discover",), ("discover", "--json")):
        done = seeds(*words, f"{small}gone", small)
        assert done.returncode == 1
        gone, alive = done.stdout.splitlines()[:2]
        assert ("dead" in gone, "status 404" in gone, "alive" in alive) == (True, True, True)
        assert seeds(*words, small).returncode == 0
    plain = seeds("discover", small).stdout.splitlines()
    assert [line.split("\t")[:2] for line in plain] == [
        ["alive", small],
        ["feed", f"{small}rss"],
        ["sitemap", f"{small}map.xml"],
    ]


def test_pages_of_a_site_with_a_part_missing_are_not_all(small: str) -> None:
    done = seeds("pages", small)
    assert (done.returncode, done.stdout) == (1, f"{small}1\n")
    assert f"{small}gone.xml: status 404\n" in done.stderr
    assert "no sitemap" not in done.stderr


def test_what_is_added_answers_and_is_not_there_yet(small: str, tmp_path: Path) -> None:
    path = small_crawl(tmp_path, f'[[feed]]\nurl = "{small}rss"')
    done = seeds("add", str(path), f"{small}gone", small)
    assert (done.returncode, f"{small}gone: status 404, not added" in done.stderr) == (1, True)
    assert done.stdout == f'{path}:\n[[site]]\nurl = "{small}"\nscope = "host"\n', "its feed is there already"
    assert [seed.url for seed in load_crawl(path).seeds()].count(f"{small}rss") == 1
    before = path.read_text()
    assert seeds("add", str(path)).returncode == 2
    assert path.read_text() == before


def test_site_owners_are_told_whom_the_seed_file_names(small: str, tmp_path: Path) -> None:
    path = small_crawl(tmp_path, f'[[site]]\nurl = "{small}"')
    path.write_text(path.read_text().replace("[crawl]", '[crawl]\ncontact = "own@a.test"'))
    for contact, told in (({}, "own@a.test"), ({"CONTACT": "me@a.test"}, "me@a.test")):
        for words in (("check", str(path)), ("discover", small, "--crawl", str(path)), ("add", str(path), small)):
            Small.agents.clear()
            done = run_here("seeds", *words, **contact, FETCH_ALLOWED_NETWORKS="127.70.0.0/16", FRONTIER_DELAY_S="0")
            assert (done.returncode, "no contact" in done.stderr) == (int(words[0] == "add"), False)
            assert [f"(+{told}; " in agent for agent in Small.agents] == [True]


def test_one_seed_file_that_is_wrong_does_not_hide_another(small: str, tmp_path: Path) -> None:
    good, bad = small_crawl(tmp_path, f'[[site]]\nurl = "{small}"'), tmp_path / "bad.toml"
    bad.write_text("[crawl\n")
    done = seeds("check", str(bad), str(good))
    assert (done.returncode, f"{bad}:1: " in done.stderr) == (1, True)
    assert done.stdout == f"alive\tpage\t{small}\tfeeds not listed: {small}rss\n"
    assert seeds("check", str(bad), str(good), "--offline").stdout == f"{good}: 1 seeds, syntax good\n"
    assert seeds("check", str(good), "--offline").returncode == 0
    for words in ((), ("--offline",)):
        faulty = small_crawl(tmp_path, f'[[site]]\nurl = "{small}"', relevance='[relevance]\npolicy = "evil"')
        done = seeds("check", str(faulty), *words)
        assert (done.returncode, f"{faulty}: relevance policy: " in done.stderr) == (1, True)
        assert "syntax good" not in done.stdout
        assert ("alive" in done.stdout) is not bool(words), "its seeds are looked at all the same"


def test_who_has_opted_out_of_the_crawl_that_is_named_is_not_asked(small: str, tmp_path: Path) -> None:
    """In the private Redis that is kept in its folder."""
    path = small_crawl(tmp_path, f'[[site]]\nurl = "{small}"')
    data = {"DATA_DIR": str(tmp_path / "data" / "{crawl}")}
    private = EmbeddedRedis(tmp_path / "data" / "own" / "state" / "redis")
    with private, contextlib.closing(client(private.url)) as server:
        assert RedisOptOuts(server, "own", of_all=False).add([small])
    for words, status in (
        (("discover", small, "--crawl", str(path)), f"blocked\t{small}\t\topted_out\n"),
        (("check", str(path)), f"blocked\tpage\t{small}\topted_out\n"),
        (("add", str(path), small), ""),
    ):
        done = seeds(*words, **data)
        assert (done.returncode, done.stdout) == (1, status)
    assert done.stderr == f"{small}: opted_out, not added\n"


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    done = seeds("import", str(tmp_path / "none.txt"))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"{tmp_path / 'none.txt'}: No such file or directory\n"
    assert "(there are: " in seeds("check", "no-such-crawl").stderr


class Timed(HostHandler):
    """Notes when it is asked."""

    instants: ClassVar[list[float]] = []

    def asked(self) -> None:
        self.instants.append(time.monotonic())
        self.answer(404 if self.path == "/robots.txt" else 200, b"")


@pytest.mark.parametrize("command", ["check", "discover", "add"])
def test_a_site_is_asked_no_sooner_than_its_crawl_says(command: str, tmp_path: Path) -> None:
    with hosts(Timed, ["127.70.3.6"]) as web:
        home = f"http://127.70.3.6:{web.port}/"
        own = tmp_path / "own.toml"
        own.write_text(f'[crawl]\nname = "own"\nlanguage = "zul"\n[[site]]\nurl = "{home}"\ndelay_s = 0.7\n')
        words = {"check": [str(own)], "discover": [home, "--crawl", str(own)], "add": [str(own), home]}[command]
        Timed.instants.clear()
        seeds(command, *words)
        assert len(Timed.instants) >= 2
        assert min(later - earlier for earlier, later in pairwise(Timed.instants)) >= 0.7


def test_an_address_is_asked_no_sooner_than_its_crawl_says(tmp_path: Path) -> None:
    with hosts(Timed, ["127.70.3.7"]) as web:
        names = tmp_path / "hosts"
        names.write_text("127.70.3.7 one.test two.test\n")
        sites = "".join(
            f'[[site]]\nurl = "http://{name}.test:{web.port}/"\nip_delay_s = 0.7\n' for name in ("one", "two")
        )
        own = tmp_path / "own.toml"
        own.write_text(f'[crawl]\nname = "own"\nlanguage = "zul"\n{sites}')
        Timed.instants.clear()
        seeds("check", str(own), FETCH_HOSTS_FILE=str(names))
        assert len(Timed.instants) == 4
        assert min(later - earlier for earlier, later in pairwise(Timed.instants)) >= 0.7
