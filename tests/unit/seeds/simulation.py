"""Feeds that publish and expire items on a virtual clock, and a harvester that polls them as a crawl would."""

from __future__ import annotations

import heapq
import json
import random
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from statistics import median
from urllib.parse import parse_qs, urlsplit

from seeds.harvest import Answer, Polling, PollStats, poll, request
from seeds.harvest.schedule import first_poll_in_ms

START_S = 1_790_000_000
DAY_S = 86400


@dataclass(slots=True)
class SimFeed:
    """One publisher: `times` are its items' instants, ascending, some of them before the harvest starts."""

    name: str
    spacing_s: float
    times: list[float]
    window: int = 20
    lifetime_s: float = 0.0
    dated: bool = True
    pages: bool = False
    found: dict[int, float] = field(default_factory=dict)
    requests: int = 0
    written: dict[int, str] = field(default_factory=dict)

    @property
    def url(self) -> str:
        """Its address."""
        return f"https://{self.name}.example/feed.json"

    def body(self, url: str, now_s: float) -> bytes:
        """The feed as it stands, or one of its older pages."""
        self.requests += 1
        page = int(parse_qs(urlsplit(url).query).get("page", ["1"])[0])
        last = bisect_right(self.times, now_s) - self.window * (page - 1)
        shown = range(last - 1, max(-1, last - 1 - self.window), -1)
        items = [self._item(number) for number in shown if not self._gone(number, now_s)]
        more = f', "next_url": "{self.url}?page={page + 1}"' if self.pages and last > self.window else ""
        head = f'{{"version": "https://jsonfeed.org/version/1.1", "title": "{self.name}"{more}, "items": ['
        return (head + ", ".join(items) + "]}").encode()

    def take(self, url: str, now_s: float) -> None:
        """An item was found."""
        self.found.setdefault(int(url.rpartition("/")[2]), now_s)

    def missed(self, until_s: float) -> list[int]:
        """Items published during the harvest, at least one spacing before its end, and never found."""
        until_s -= max(self.spacing_s, 2 * DAY_S / 24)
        return [n for n, when in enumerate(self.times) if START_S <= when < until_s and n not in self.found]

    def delays(self) -> list[float]:
        """Publication to discovery of the items published during the harvest."""
        return [found - self.times[n] for n, found in self.found.items() if self.times[n] > START_S]

    def _gone(self, number: int, now_s: float) -> bool:
        return bool(self.lifetime_s) and now_s - self.times[number] > self.lifetime_s

    def _item(self, number: int) -> str:
        item = self.written.get(number)
        if item is None:
            fields = {
                "id": str(number),
                "url": f"https://{self.name}.example/news/{number}",
                "title": f"Indaba {number}",
            }
            if self.dated:
                fields["date_published"] = datetime.fromtimestamp(int(self.times[number]), UTC).isoformat()
            item = self.written[number] = json.dumps(fields)
        return item


@dataclass(slots=True)
class Outcome:
    """What a harvest came to."""

    polls: int
    pages_back: int
    warnings: list[tuple[str, str, str]]
    largest_memo: int
    stats: list[PollStats]


def harvest(
    feeds: list[SimFeed],
    days: float,
    polling: Polling,
    lose: Callable[[SimFeed, float], bool] = lambda feed, now_s: False,
) -> Outcome:
    """Poll for so many virtual days. `lose` says that a result is lost with its process: the entry's lease expires and
    is handed out again ten minutes later with the memo it had before."""
    end_ms = int((START_S + days * DAY_S) * 1000)
    queue = [(START_S * 1000 + first_poll_in_ms(feed.url, 60), n, b"") for n, feed in enumerate(feeds)]
    heapq.heapify(queue)
    outcome = Outcome(0, 0, [], 0, [])
    while queue and queue[0][0] < end_ms:
        now_ms, n, memo = heapq.heappop(queue)
        feed = feeds[n]
        asked = request(feed.url, memo, now_ms).url
        answer = Answer(asked, 200, now_ms, body=feed.body(asked, now_ms / 1000))
        result = poll(feed.url, memo, answer, polling)
        if lose(feed, now_ms / 1000):
            heapq.heappush(queue, (now_ms + 600_000, n, memo))
            continue
        for item in result.new_items:
            feed.take(item.url, now_ms / 1000)
        outcome.polls += result.stats.polls
        outcome.pages_back += result.stats.pages_back
        outcome.largest_memo = max(outcome.largest_memo, len(result.memo))
        outcome.warnings += [(feed.name, warning.reason, warning.detail) for warning in result.warnings]
        outcome.stats.append(result.stats)
        if result.again_in_ms is not None:
            heapq.heappush(queue, (now_ms + max(1000, result.again_in_ms), n, result.memo))
    return outcome


def steady(name: str, spacing_s: float, days: float, rng: random.Random, **more: object) -> SimFeed:
    """Items at random instants, on average so far apart; a backlog of one window is there already."""
    return SimFeed(name, spacing_s, _arrivals(spacing_s, days, rng), **more)  # type: ignore[arg-type]


def regular(name: str, spacing_s: float, days: float, rng: random.Random) -> SimFeed:
    """Items exactly so far apart."""
    first = START_S - 20 * spacing_s + rng.random() * spacing_s
    count = int((20 * spacing_s + days * DAY_S) / spacing_s)
    return SimFeed(name, spacing_s, [first + n * spacing_s for n in range(count)])


def bursty(name: str, spacing_s: float, days: float, rng: random.Random, burst: int = 8) -> SimFeed:
    """Items come `burst` at a time within a hundredth of their spacing."""
    times = []
    for when in _arrivals(spacing_s * burst, days, rng):
        times += [when + rng.random() * spacing_s / 100 for _ in range(burst)]
    return SimFeed(name, spacing_s, sorted(times))


def daily(name: str, spacing_s: float, days: float, rng: random.Random) -> SimFeed:
    """Items from 6 to 18 hours only."""
    kept = [when for when in _arrivals(spacing_s / 2, days, rng) if 6 <= when % DAY_S / 3600 < 18]
    return SimFeed(name, spacing_s, kept)


def middle_delay(feed: SimFeed) -> float:
    """Median delay as a share of the feed's item spacing; 0 when it published nothing."""
    delays = feed.delays()
    return median(delays) / feed.spacing_s if delays else 0.0


def _arrivals(spacing_s: float, days: float, rng: random.Random) -> list[float]:
    when, times = START_S - 25 * spacing_s, []
    while when < START_S + days * DAY_S:
        when += rng.expovariate(1 / spacing_s)
        times.append(when)
    return times
