"""The web itself: deterministic, locally computed, reachable, and served as promised."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import tracemalloc
from pathlib import Path

import lxml.html
import pytest
from protego import Protego

from relevance.pages.page import read_page
from seeds.crawl import load_crawl, parse_crawl
from tests.unit.web.polite import Polite
from tests.web import FeedSpec, Rates, SpecError, Web, WebSpec, calm, load_web, read_log, robots, serve, wild
from tests.web.answer import Asked
from tests.web.cli import crawl_command, main
from tests.web.paths import Resource, normal, section_of
from tests.web.sites import BRANCHING
from tests.web.spec import ROBOTS_KINDS, SPELLINGS
from tests.web.verify import Expectations, verify

SPEC = WebSpec(seed=5, hosts=14, pages=900, port=8200)


@pytest.mark.parametrize("option", ["--delay-s=nan", "--tolerance-ms=inf", "--ip-delay-s=-1"])
def test_a_number_that_is_none_judges_nothing(option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["verify", str(tmp_path), option])
    assert "is no number from 0 on" in capsys.readouterr().err


def test_same_seed_same_bytes_other_seed_other_bytes() -> None:
    one, two, other = Web(SPEC), Web(SPEC), Web(SPEC.replace(seed=6))
    for i in (0, 3, 20):
        assert one.pages.html(one.sites[0], i) == two.pages.html(two.sites[0], i)
    assert one.pages.html(one.sites[0], 3) != other.pages.html(other.sites[0], 3)


def test_the_text_of_a_page_that_a_script_draws_is_the_page_s() -> None:
    web, shown = Web(SPEC.replace(rates=Rates(drawn=0.2))), Web(SPEC)
    pages = [(site, i) for site in web.sites for i in range(min(site.pages, 40))]
    drawn = [(site, i) for site, i in pages if web.graph.traits(site, i).drawn]
    assert 0.1 < len(drawn) / len(pages) < 0.3
    for site, i in drawn:
        page = read_page(web.pages.html(site, i), web.paths.url(Resource(site.index, "page", i)))
        paragraphs = [re.sub(r"<[^>]*>", "", paragraph.decode()) for paragraph in web.pages._text(site, i)[0]]
        found = [block.text for block in page.blocks if block.kind == "main" and not block.apart]
        assert found == [" ".join(paragraph.split()) for paragraph in paragraphs]
        plain = read_page(shown.pages.html(site, i), page.url)
        assert [link.href for link in page.links] == [link.href for link in plain.links]


def test_specification_survives_json() -> None:
    spec = wild(SPEC.replace(feeds=(FeedSpec(3, "atom"),)))
    assert WebSpec.from_json(json.loads(json.dumps(spec.to_json()))) == spec


def test_its_seed_file_names_feeds_and_index_pages_as_what_they_are() -> None:
    web = Web(SPEC.replace(feeds=(FeedSpec(2, "atom"), FeedSpec(1, "index"))))
    crawl = parse_crawl(web.crawl_file("x", with_feeds=True))
    assert (len(crawl.feeds), len(crawl.indexes)) == (2, 1)
    assert not parse_crawl(web.crawl_file("x")).feeds


def test_who_reads_the_truth_may_leave_before_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Web(SPEC).write(tmp_path, started_epoch_s=0.0)
    read_end, write_end = os.pipe()
    os.close(read_end)
    with open(write_end, "w") as out, monkeypatch.context() as patched:  # noqa: PTH123 - an open file's number
        patched.setattr(sys, "stdout", out)
        assert main(["truth", str(tmp_path)]) == 0


@pytest.mark.parametrize("named", [False, True])
def test_pages_carry_the_links_of_the_graph(named: bool) -> None:
    web = Web(wild(SPEC).replace(named=named))
    for site in web.sites[:6]:
        for i in (0, 1, 14, site.pages - 1):
            page = lxml.html.document_fromstring(web.pages.html(site, i).decode())
            found = page.xpath("//a/@href")
            assert isinstance(found, list)
            stands = [site.authority + str(h) if str(h).startswith("/") else str(h) for h in found]
            assert stands == [web.pages.href(link) for link in web.graph.links(site, i)]


def test_every_url_reads_back_in_every_spelling() -> None:
    web = Web(SPEC.replace(named=True))
    for site in web.sites:
        for i in {0, 1, 9, 12, 13, site.pages - 1} & set(range(site.pages)):
            resource = Resource(site.index, "page", i)
            assert web.read_url(web.paths.url(resource)) == resource
            for n, spelling in enumerate(SPELLINGS):
                url = web.paths.spelled(resource, spelling, i + n)
                assert web.read_url(url) == resource, url


def test_normal_form_is_stable() -> None:
    for target in ("/", "/a/../b?y=2&x=1&utm_source=z", "/%7Ea/%e2", "/.//?"):
        assert normal(normal(target)) == normal(target)


def test_sizes_links_and_languages_are_realistic() -> None:
    web = Web(WebSpec(seed=2, hosts=20, pages=4000, port=8200))
    sizes, counts = [], []
    for site in web.sites[:8]:
        for i in range(0, site.pages, 9):
            sizes.append(len(web.pages.html(site, i)))
            counts.append(len(web.graph.links(site, i)))
    assert min(sizes) > 6_000
    assert max(sizes) < 45_000
    assert 12_000 < sum(sizes) / len(sizes) < 22_000
    assert min(counts) >= 20
    assert max(counts) <= 66
    languages = web.truth.languages()
    assert languages["zul"] > 0.3 * sum(languages.values())
    assert len(languages) >= 4


def test_links_cluster_by_language() -> None:
    web = Web(calm(WebSpec(seed=2, hosts=24, pages=4000, port=8200, structure="clustered")))
    same = {True: 0, False: 0}
    for site in web.sites:
        for link in web.graph.block(site.index, 3, 0) + web.graph.block(site.index, 4, 1):
            assert link.resource is not None
            if link.resource.site != site.index:
                other = web.sites[link.resource.site]
                same[(site.language == "zul") == (other.language == "zul")] += 1
    assert same[True] > 2 * same[False]


def test_calm_web_is_reachable_to_the_last_page() -> None:
    web = Web(calm(WebSpec(seed=4, hosts=30, pages=3000, port=8200)))
    open_pages = {
        Resource(site.index, "page", i) for site in web.sites for i in range(site.pages) if section_of(i) != BRANCHING
    }
    assert set(web.truth.pages) == open_pages  # the last section of each host is the forbidden one
    assert set(web.truth.denied.values()) == {"disallowed"}


def test_big_web_needs_little_memory() -> None:
    tracemalloc.start()
    try:
        web = Web(WebSpec(seed=1, hosts=500, pages=1_000_000, port=8200))
        web.pages.html(web.sites[499], web.sites[499].pages - 1)
        assert tracemalloc.get_traced_memory()[1] < 40 * 2**20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("kind", [k for k in ROBOTS_KINDS if robots.verdict(k) == "rules" and k not in ("bom", "huge")])
def test_robots_reader_agrees_with_protego(kind: str) -> None:
    web = Web(SPEC.replace(hosts=2, pages=400, robots=(kind,)))
    site = web.sites[1]
    text = robots.body(web.spec, site)
    theirs = Protego.parse(text.decode())
    ours = robots.parse(text, "ulwembu")
    for i in range(site.pages):
        path = web.paths.page(site, i)
        assert ours.allowed(path) == theirs.can_fetch(site.authority + path, "ulwembu"), path
    assert (ours.delay_s or 0) == float(theirs.crawl_delay("ulwembu") or 0)


def test_robots_forbid_what_they_are_made_to_forbid() -> None:
    web = Web(SPEC.replace(hosts=2, pages=900, robots=("shapes",)))
    rules = robots.rules_of(web.spec, web.sites[1], "ulwembu")
    for target, allowed in {
        "/private": False, "/privateer": False, "/x/print": False, "/x/print2": True, "/closed/a": False,
        "/closed/open-a": True, "/uhlu/a": True, "/Uhlu/a": False, "/caf%C3%A9/a": False, "/": True, "/a.exe": False,
    }.items():  # fmt: skip
        assert rules.allowed(target) is allowed, target


def test_feeds_publish_at_their_instants() -> None:
    spec = WebSpec(port=8200, feeds=(FeedSpec(2, "rss", 10, 5, burst=3), FeedSpec(1, "atom", 60, 4, keep_s=100)))
    web = Web(spec)
    for feed in web.feeds.all:
        instants = [web.feeds.instant_s(feed, k) for k in range(40)]
        assert instants == sorted(instants)
        assert instants[0] < 0
        for now_s in (0.0, 33.3, 120.0):
            out = [k for k, at in enumerate(instants) if at <= now_s]
            assert web.feeds.newest(feed, now_s) == out[-1]
            shown = web.feeds.window(feed, now_s)
            assert shown == [
                k for k in out[: -feed.spec.window - 1 : -1] if _kept(instants[k], now_s, feed.spec.keep_s)
            ]
    published = list(web.feeds.published(web.feeds.all[0], 600))
    assert 55 <= len(published) <= 65


def _kept(instant_s: float, now_s: float, keep_s: float) -> bool:
    return not keep_s or now_s - instant_s <= keep_s


@pytest.mark.parametrize("kind", ["rss", "atom", "json", "index"])
def test_feed_answers(kind: str) -> None:
    web = Web(SPEC.replace(feeds=(FeedSpec(1, kind, 10, 5),)))
    feed = web.feeds.all[0]
    resource = Resource(feed.site.index, "feed", 0)
    answer = web.answers.answer(feed.site, resource, Asked(now_s=100, epoch_s=1_800_000_000))
    for k in web.feeds.window(feed, 100):
        assert web.feeds.item_url(feed, k).encode() in answer.body
    again = web.answers.answer(feed.site, resource, Asked(now_s=100, etag=dict(answer.headers)["ETag"]))
    assert again.status == 304
    newer = web.feeds.newest(feed, 100) + 1
    item = Resource(feed.site.index, "item", newer, "0")
    assert web.answers.answer(feed.site, item, Asked(now_s=100)).status == 404
    assert web.answers.answer(feed.site, item, Asked(now_s=130)).status == 200


@pytest.mark.parametrize(
    "changes",
    [{"hosts": 0}, {"pages": 3}, {"structure": "x"}, {"robots": ("x",)}, {"min_links": 90}, {"addresses": 99}],
)
def test_impossible_specifications_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises(SpecError, match=next(iter(changes)) if "links" not in str(changes) else "links"):
        WebSpec().replace(**changes)


def get(address: str, port: int, host: str, target: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(address, port, timeout=60)
    try:
        connection.request("GET", target, headers={"Host": host})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def test_hosts_by_name_share_addresses(tmp_path: Path) -> None:
    spec = calm(WebSpec(hosts=6, pages=60, addresses=2, named=True))
    with serve(spec, tmp_path) as running:
        for site in running.web.sites:
            status, body = get(site.address, site.port, site.host.upper(), "/")
            assert (status, body) == (200, running.web.pages.html(site, 0))
        assert get(site.address, site.port, "nosuch.test", "/")[0] == 421
        lines = (tmp_path / "hosts").read_text().splitlines()
        assert [line.split()[1] for line in lines] == [site.name for site in running.web.sites]
    entries = list(read_log(tmp_path / "requests.jsonl"))
    assert [e.status for e in entries] == [200] * 6 + [421]
    assert verify(entries, load_web(tmp_path), Expectations(coverage="none")).foreign == [
        f"GET nosuch.test/ on {site.address}:{site.port}"
    ]


@pytest.mark.parametrize(
    ("how", "status"),
    [("cut", None), ("short", None), ("reset", None), ("silence", None), ("badgzip", 200), ("garbage", None)],
)
def test_bad_answers_are_bad(tmp_path: Path, how: str, status: int | None) -> None:
    with serve(SPEC.replace(port=0), tmp_path) as running:
        site = running.web.sites[0]
        if status is None:
            with pytest.raises((http.client.HTTPException, ConnectionError)):
                get(site.address, site.port, site.host, f"/bad/{how}/5")
        else:
            assert get(site.address, site.port, site.host, f"/bad/{how}/5")[0] == status
        assert get(site.address, site.port, site.host, "/")[0] == 200
    assert [e.whole for e in read_log(tmp_path / "requests.jsonl")] == [status is not None, True]


@pytest.mark.slow
def test_a_polite_crawler_satisfies_the_verifier(tmp_path: Path) -> None:
    kinds = ("normal", "shapes", "missing", "bom", "redirect", "agents", "flaky503", "down503", "cut", "deny", "crlf")
    rates = Rates(dead=0.05, redirect=0.1, flaky=0.02)
    spec = WebSpec(seed=9, hosts=12, pages=400, robots=kinds, rates=rates, slow_s=0.05, crawl_delay_s=0.1)
    with serve(spec, tmp_path) as running:
        crawler = Polite(running.web.seeds, delay_s=0.005, timeout_s=60.0)
        crawler.run()
    findings = verify(read_log(running.log), load_web(tmp_path), Expectations(delay_s=0.005))
    assert findings.ok, findings.faults
    assert findings.fetched >= findings.demanded > 250


def run_cli(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.web", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=240)


def test_a_web_of_names_is_crawled_with_its_hosts_file(tmp_path: Path) -> None:
    assert crawl_command(WebSpec(named=True), tmp_path).endswith(f" -s FETCH_HOSTS_FILE={tmp_path / 'hosts'}")
    assert "FETCH_HOSTS_FILE" not in crawl_command(WebSpec(), tmp_path)


def test_command_serves_logs_and_ends_at_sigterm(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.web", "serve", "--mood", "calm", "--hosts", "2", "--pages", "20"]
    command += ["--language", "xho", "--others", "zul", "--dir"]
    with subprocess.Popen([*command, str(tmp_path)], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        assert server.stdout.readline().startswith("ready: 2 hosts, 20 pages on port ")
        told = server.stdout.readline()
        assert told.startswith(f"scrapy crawl xho -a seeds={tmp_path / 'crawl.toml'} -s FETCH_ALLOWED_NETWORKS=")
        crawl = load_crawl(tmp_path / "crawl.toml")
        assert (crawl.name, crawl.language) == ("xho", "xho")
        web = load_web(tmp_path)
        site = web.sites[0]
        assert get(site.address, site.port, site.host, "/robots.txt")[0] == 200
        taken = run_cli("serve", "--port", str(web.spec.port), "--dir", str(tmp_path / "other"))
        assert (taken.returncode, taken.stdout) == (1, "")
        assert taken.stderr == f"tests.web: cannot listen on {site.address}:{site.port}: Address already in use\n"
        os.kill(server.pid, signal.SIGTERM)
        assert server.wait(120) == 0
    assert [e.path for e in read_log(tmp_path / "requests.jsonl")] == ["/robots.txt"]
    judged = run_cli("verify", str(tmp_path), "--json")
    assert judged.returncode == 1
    assert json.loads(judged.stdout)["counts"]["missing"] == len(web.truth.pages)
    assert run_cli("verify", str(tmp_path), "--coverage", "none").returncode == 0
