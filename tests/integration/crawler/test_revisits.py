"""Articles of feeds are looked at again when asked: on their schedule, on condition, and as revisits in the archive."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from archive import Reader
from tests.integration.crawler.harness import wait_for
from tests.integration.crawler.harvesting import SEEDS, Harvest, seed_file
from tests.web.requestlog import LogEntry
from tests.web.server import Running, serve
from tests.web.spec import FeedSpec, WebSpec, calm

AFTER_S = (2.0, 4.0)
ROUNDING_S = 0.01  # of the three clocks: the server's, Redis' and ours
SCALE = 30.0
TAGGED, PLAIN, CORRECTED = range(3)
FEEDS = (
    FeedSpec(1, "rss", 1e6, 3, language="zul", validators=True),
    FeedSpec(1, "atom", 1e6, 3, language="zul"),
    FeedSpec(1, "json", 120.0, 3, language="zul", correct_s=5 * SCALE, validators=True),
)


def fetches(crawl: Harvest, feed: int) -> dict[str, list[LogEntry]]:
    """The requests for each item of a feed, in order."""
    found: dict[str, list[LogEntry]] = defaultdict(list)
    web = crawl.running.server.web
    for entry in crawl.requests():
        site = web.site(entry.host)
        resource = web.paths.read(site, entry.path) if site else None
        if resource is not None and resource.kind == "item" and int(resource.how) == feed:
            found[web.paths.url(resource)].append(entry)
    return found


@dataclass(frozen=True, slots=True)
class Record:
    """A capture in the archive."""

    type: str
    date: str
    profile: str
    refers_to_url: str
    refers_to_date: str


def archived(folder: Path) -> dict[str, list[Record]]:
    """Responses and revisits by URL, in order of their dates."""
    found: dict[str, list[Record]] = defaultdict(list)
    for path in folder.glob("*.warc.xz"):
        with Reader(path) as reader:
            for one in reader:
                if one.type in ("response", "revisit"):
                    names = ("WARC-Date", "WARC-Profile", "WARC-Refers-To-Target-URI", "WARC-Refers-To-Date")
                    found[one.url].append(Record(one.type, *(one.field(name) for name in names)))
    return {url: sorted(records, key=lambda record: record.date) for url, records in found.items()}


def begin(running: Running, folder: Path) -> Harvest:
    (running.folder / SEEDS).write_text(seed_file(running.web, 1.0))
    ages = ",".join(str(age) for age in AFTER_S)
    settings = {"HARVEST_REVISIT": "1", "HARVEST_REVISIT_AFTER_S": ages, "FRONTIER_AHEAD_MS": "0"}
    crawl = Harvest(running, folder, settings)
    crawl.start()
    return crawl


def settled(crawl: Harvest, feed: int, statuses: list[int]) -> list[str]:
    """The items of a feed that were answered so."""
    return [url for url, asked in fetches(crawl, feed).items() if [entry.status for entry in asked] == statuses]


def changed_twice_seen(crawl: Harvest) -> list[str]:
    """Items that were fetched before and after their correction, and twice more."""
    return [
        url
        for url, asked in fetches(crawl, CORRECTED).items()
        if len(asked) >= 4 and [entry.status for entry in asked].count(200) == 2 and asked[-1].status == 304
        if [entry.status for entry in asked[-2:]] == [304, 304]
    ]


@pytest.mark.slow
def test_articles_come_again_and_only_changes_are_stored_whole(tmp_path: Path) -> None:
    with serve(calm(WebSpec(hosts=4, pages=8, feeds=FEEDS, time_scale=SCALE)), tmp_path / "web") as running:
        crawl = begin(running, tmp_path / "crawl")
        try:
            wait_for(
                lambda: (
                    len(settled(crawl, TAGGED, [200, 304, 304])) == 3
                    and len(settled(crawl, PLAIN, [200, 200, 200])) == 3
                    and bool(changed_twice_seen(crawl))
                )
            )
            corrected = changed_twice_seen(crawl)
            crawl.stop()
        finally:
            crawl.kill()
        for feed in (TAGGED, PLAIN, CORRECTED):
            for asked in fetches(crawl, feed).values():
                waits_s = [(later.start_us - earlier.end_us) / 1e6 for earlier, later in pairwise(asked)]
                assert all(wait_s > AFTER_S[0] - ROUNDING_S for wait_s in waits_s)
                assert feed == CORRECTED or (len(asked) == 3 and waits_s[1] > AFTER_S[1] - ROUNDING_S)
        assert "Traceback" not in crawl.logs()
        records = archived(crawl.folder / "warc")
        for feed, profile in ((TAGGED, "server-not-modified"), (PLAIN, "identical-payload-digest")):
            for url in fetches(crawl, feed):
                first, *later = records[url]
                assert [one.type for one in (first, *later)] == ["response", "revisit", "revisit"]
                assert all(one.profile.endswith(profile) for one in later)
                assert {(one.refers_to_url, one.refers_to_date) for one in later} == {(url, first.date)}
        for url in corrected:
            whole = [one for one in records[url] if one.type == "response"]
            assert len(whole) == 2, "the article as it was, and as it was corrected"
            assert records[url][-1].refers_to_date == whole[1].date
