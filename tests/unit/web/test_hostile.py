"""Hostile answers are as hostile as they claim, traps have no end, and harvests are judged by the item."""

from __future__ import annotations

import socket
import time
import zlib
from pathlib import Path

import pytest

from tests.integration.crawler.harness import wait_for
from tests.web import FeedSpec, LogEntry, Web, WebSpec, calm, mischief, read_log, serve
from tests.web.answer import Asked
from tests.web.harvest import judge_feeds
from tests.web.paths import Resource
from tests.web.spec import TRAP_KINDS

SPEC = WebSpec(seed=5, hosts=3, pages=60)


def test_bomb_is_small_and_opens_to_a_gibibyte() -> None:
    bomb = mischief.bomb()
    assert len(bomb) < 4 * 2**20
    opened, opener, rest = 0, zlib.decompressobj(31), bomb
    while opened < 64 * 2**20:
        opened += len(opener.decompress(rest, 2**20))
        rest = opener.unconsumed_tail
        assert rest
    assert opened / (len(bomb) - len(rest)) > 200


def ask(web: Web, target: str) -> socket.socket:
    site = web.sites[0]
    connection = socket.create_connection((site.address, site.port), timeout=60)
    connection.sendall(f"GET {target} HTTP/1.1\r\nHost: {site.host}\r\n\r\n".encode())
    return connection


@pytest.mark.parametrize(
    ("how", "least"), [("hang", 0), ("endless", 30_000_000), ("headers", 1_000_000), ("large", 12_000_000)]
)
def test_long_answers_until_the_client_leaves(tmp_path: Path, how: str, least: int) -> None:
    with serve(SPEC, tmp_path) as running:
        with ask(running.web, f"/bad/{how}/1") as connection:
            got = 0
            while got < least and (piece := connection.recv(1 << 20)):
                got += len(piece)
            wait_for(lambda: running.server.requests == 1)
            heard_us = time.monotonic_ns() // 1000
            wait_for(lambda: running.server.looked_us > heard_us)
            if how in ("headers", "large"):  # the rest is sent whole, however slowly
                wait_for(lambda: bool(running.logged()))
        with ask(running.web, "/") as other:
            assert other.recv(12) == b"HTTP/1.1 200"
    entries = {e.path: e for e in read_log(tmp_path / "requests.jsonl")}
    entry = entries[f"/bad/{how}/1"]
    assert entry.whole is (how in ("headers", "large"))
    assert entry.sent_bytes >= least
    assert how in ("headers", "large") or entry.end_us > heard_us
    assert entry.status == (0 if how == "hang" else 200)


@pytest.mark.parametrize("how", TRAP_KINDS)
def test_traps_lead_deeper_for_ever(how: str) -> None:
    web = Web(SPEC.replace(port=8300))
    site = web.sites[0]
    target, seen = web.paths.path(Resource(0, "trap", 5, how)), set()
    for step in range(25):
        resource = web.paths.read(site, target)
        assert (resource.kind, resource.how.partition(":")[0]) == ("trap", how)
        body = web.answers.answer(site, resource, Asked()).body.decode()
        hrefs = [h.replace("&amp;", "&") for h in body.split('href="')[2:]]
        links = [h.partition('"')[0] for h in hrefs]
        new = [link for link in links if link not in seen]
        seen.update(links)
        if not new:
            assert how == "shop"  # finite, but with thousands of spellings of one page
            assert step > 5
            return
        target = new[0]
    assert len(seen) > 60


def test_harvest_is_judged_by_the_item() -> None:
    web = Web(calm(SPEC).replace(port=8300, feeds=(FeedSpec(1, "rss", 10, 5),), time_scale=2.0))
    feed, began = web.feeds.all[0], 1_800_000_000.0
    items = list(web.feeds.published(feed, 200.0))
    log = [_get(web, feed.site.authority + feed.path, began + n, 304 if n else 200) for n in range(3)]
    log += [_get(web, web.feeds.item_url(feed, k), began + at / 2 + 3) for k, at in items[1:]]
    (figures,) = judge_feeds(log, web, began, began + 100)
    assert figures.published == len(items) > 15
    assert figures.missed == (web.feeds.item_url(feed, items[0][0]),)
    assert figures.median_delay_s == pytest.approx(3, abs=0.001)
    assert (figures.polls, figures.not_modified, figures.interval_s) == (3, 2, 5)


def _get(web: Web, url: str, epoch_s: float, status: int = 200) -> LogEntry:
    host, slash, path = url.removeprefix("http://").partition("/")
    us = int(epoch_s * 1_000_000)
    return LogEntry(us, us + 1000, us, host, "127.70.0.1", 1, slash + path, status)
