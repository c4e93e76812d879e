"""Judges a harvest by the request log: feed items published, fetched, how soon, at how many polls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from tests.web.requestlog import LogEntry
from tests.web.web import Web


@dataclass(frozen=True, slots=True)
class FeedFigures:
    """One feed. Times are real seconds. `median_delay_s`: from publication to fetch (None: no item)."""

    url: str
    interval_s: float
    published: int
    missed: tuple[str, ...]
    median_delay_s: float | None
    polls: int
    not_modified: int


def judge_feeds(log: Iterable[LogEntry], web: Web, started_epoch_s: float, until_epoch_s: float) -> list[FeedFigures]:
    """Figures of every feed; an item counts when it was published between the server's start and `until_epoch_s`.

    `until_epoch_s` should leave the crawler time to fetch the last ones. Items that were out before the start are free.
    """
    fetched: dict[tuple[int, int], int] = {}
    polls, unchanged = Counter[int](), Counter[int]()
    for entry in log:
        site = web.site(entry.host)
        if site is None:
            continue
        resource = web.paths.read(site, entry.path)
        if resource.kind == "feed" and not resource.how:
            polls[resource.n] += 1
            unchanged[resource.n] += entry.status == 304
        elif resource.kind == "item" and entry.status == 200 and entry.whole:
            key = int(resource.how), resource.n
            fetched[key] = min(fetched.get(key, entry.epoch_us), entry.epoch_us)
    scale = web.spec.time_scale
    figures = []
    for feed in web.feeds.all:
        items = list(web.feeds.published(feed, (until_epoch_s - started_epoch_s) * scale))
        missed = tuple(web.feeds.item_url(feed, k) for k, _ in items if (feed.number, k) not in fetched)
        delays = [
            fetched[feed.number, k] / 1e6 - started_epoch_s - instant / scale
            for k, instant in items
            if (feed.number, k) in fetched
        ]
        figures.append(
            FeedFigures(
                feed.site.authority + feed.path,
                feed.spec.interval_s / scale,
                len(items),
                missed,
                median(delays) if delays else None,
                polls[feed.number],
                unchanged[feed.number],
            )
        )
    return figures
