"""What a harvest achieves with real processes and sockets: ``python -m bench.harvest_crawl``.

100 feeds on a clock that runs `--scale` times as fast as ours: from one item a minute to one a week, evenly spread by
ratio, a quarter in bursts of three, RSS, Atom, JSON and index pages, and one feed whose items vanish after ten minutes.
Two workers harvest them for so long; with ``--kill`` one is killed (SIGKILL) half-way and another started. An item
that was out one spacing of its feed before the end, and at least some seconds, must have been fetched; delays run from
publication to the fetch of the item's page, in item spacings of its feed, of items that had these seconds. Polls are
compared with polling every feed once in the fastest feed's spacing, the interval that this feed needs for a median
delay of half its spacing.

The schedule's constants are seconds of ours; only the shortest poll interval is set down to one.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from statistics import median

from bench.ending import end_with
from tests.integration.crawler.harvesting import SEEDS, Harvest, rest, seed_file
from tests.web.harvest import FeedFigures, judge_feeds
from tests.web.server import serve
from tests.web.spec import FeedSpec, WebSpec, calm

FEEDS = 100
MINUTE_S, WEEK_S = 60.0, 7 * 86400.0
KINDS = ("rss", "atom", "json", "rss", "index")
WINDOW = 12
LAST_S = 6.0


def feeds() -> tuple[FeedSpec, ...]:
    """All feeds, the fastest first, the forgetful one last."""
    found = []
    for number in range(FEEDS - 1):
        spacing_s = MINUTE_S * (WEEK_S / MINUTE_S) ** (number / (FEEDS - 2))
        found.append(FeedSpec(1, KINDS[number % 5], spacing_s, WINDOW, burst=3 if number % 4 == 3 else 1))
    return (*found, FeedSpec(1, "rss", 2 * MINUTE_S, WINDOW, keep_s=600, archive=False))


def run(folder: Path, seconds: float, scale: float, seed: int, *, kill: bool) -> dict[str, object]:
    """Serve, harvest, judge."""
    spec = calm(WebSpec(hosts=50, pages=100, feeds=feeds(), time_scale=scale, seed=seed))
    with serve(spec, folder / "web") as running:
        (running.folder / SEEDS).write_text(seed_file(running.web, 1.0))
        crawl = Harvest(running, folder / "crawl", {"FRONTIER_LEASE_S": "5", "DOWNLOAD_TIMEOUT": "3"})
        started = time.monotonic()
        try:
            doomed = crawl.start()
            crawl.start()
            if kill:
                rest(started + seconds / 2)
                doomed.kill()
                crawl.start()
            rest(started + seconds)
            ended = time.time()
            crawl.stop()
        finally:
            crawl.kill()
        times = crawl.most_fetches()
        report = summary(crawl.figures(ended - LAST_S), time.monotonic() - started, MINUTE_S / scale)
        report |= missed(crawl, ended)
        return {**report, "fetched_twice": sum(count - 1 for count in times.values()), "killed": int(kill)}


def summary(figures: list[FeedFigures], lasted_s: float, fastest_s: float) -> dict[str, object]:
    """The figures of the whole."""
    shares = [
        feed.median_delay_s / feed.interval_s
        for feed in figures
        if feed.median_delay_s is not None and feed.published >= 4
    ]
    polls = sum(feed.polls for feed in figures)
    published = sum(feed.published for feed in figures)
    return {
        "feeds": len(figures),
        "seconds": round(lasted_s, 1),
        "items_published": published,
        "feeds_with_4_items": len(shares),
        "median_delay_in_spacings": round(median(shares), 3),
        "feeds_above_half": [
            {"spacing_s": round(feed.interval_s, 1), "items": feed.published, "delay_s": round(feed.median_delay_s, 2)}
            for feed in figures
            if feed.published >= 4 and feed.median_delay_s is not None and feed.median_delay_s >= feed.interval_s / 2
        ],
        "worst_median_delay_in_spacings": round(max(shares), 3),
        "polls": polls,
        "not_modified": sum(feed.not_modified for feed in figures),
        "polls_at_fastest_interval": round(len(figures) * lasted_s / fastest_s),
        "share_of_polls": round(polls / (len(figures) * lasted_s / fastest_s), 3),
    }


def missed(crawl: Harvest, ended: float) -> dict[str, object]:
    """Items that no poll can be excused for, all and those of the forgetful feed."""
    server, log = crawl.running.server, crawl.requests()
    lost: list[str] = []
    due = 0
    for number, feed in enumerate(server.web.feeds.all):
        until = ended - max(LAST_S, feed.spec.interval_s * feed.spec.burst / server.web.spec.time_scale)
        if until > server.started_epoch_s:
            figures = judge_feeds(log, server.web, server.started_epoch_s, until)[number]
            due += figures.published
            lost += figures.missed
    return {"items_due": due, "items_missed": len(lost), "missed": lost[:10]}


def main() -> int:
    """Print the figures as JSON; exit status 1 when an item was missed."""
    parser = argparse.ArgumentParser(prog="python -m bench.harvest_crawl", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=100.0)
    parser.add_argument("--scale", type=float, default=20.0)
    parser.add_argument("--seed", type=int, default=1, help="of the synthetic web: when items appear")
    parser.add_argument("--kill", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        found = run(Path(name), options.seconds, options.scale, options.seed, kill=options.kill)
    print(json.dumps(found, indent=1))
    return 1 if found["items_missed"] else 0


if __name__ == "__main__":
    end_with(main)
