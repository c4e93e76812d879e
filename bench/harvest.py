"""What polling costs: many feeds on a virtual clock, no network.

`python -m bench.harvest [feeds] [hours]` prints the CPU of the schedule alone and of whole polls, the memory of all
histories, and how early items are found with how many polls. `python -m bench.harvest parse` prints feedparser's share.
"""

from __future__ import annotations

import argparse
import random
import resource
import time
from collections.abc import Callable
from statistics import median

from bench.ending import end_with
from seeds import feeds
from seeds.harvest import Answer, Polling, poll
from seeds.harvest.history import FeedHistory
from seeds.harvest.schedule import DAY_S, next_interval_s, note_items, note_life, note_window
from tests.unit.seeds.simulation import START_S, harvest, middle_delay, steady

MIB = 1 << 20


def memory_mib() -> float:
    """The most this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def schedule_alone(count: int) -> None:
    """Unpack, learn from one new item, decide, pack: what a poll costs besides reading the document."""
    rng = random.Random(1)
    memos = []
    for number in range(count):
        history = FeedHistory(polls=50, first_s=START_S - 30 * DAY_S, last_s=START_S - 600, widest=50, window=50)
        history.etag, history.modified = '"33a64df551425fcc55e4d42a148795d9f25f89d4"', "Sat, 21 Nov 2026 00:00:00 GMT"
        history.digest = b"12345678"
        history.seen = [rng.getrandbits(32) for _ in range(200)]
        history.times = sorted(START_S - rng.randrange(DAY_S) for _ in range(24))
        history.hours = [rng.randrange(90) for _ in range(24)]
        history.window_age_s = number % 90_000 + 600
        memos.append(history.pack())
    started = time.process_time()
    for number, memo in enumerate(memos):
        history = FeedHistory.unpack(memo)
        note_items(history, [START_S - 60], START_S)
        note_window(history, list(range(60, 3060, 60)), 50, 1, START_S)
        note_life(history, set(history.seen), history.seen[0], START_S)
        history.remember([number])
        history.interval_s = int(next_interval_s(history, f"https://feed{number}.example/feed/", START_S, Polling()))
        memos[number] = history.pack()
    spent = time.process_time() - started
    sizes = sorted(map(len, memos))
    print(f"schedule alone   {count} feeds: {spent / count * 1e6:.0f} us CPU a poll")
    print(f"histories        {sum(sizes) / MIB:.1f} MiB for all, median {sizes[count // 2]} bytes, largest {sizes[-1]}")


def whole_polls(count: int, hours: float) -> None:
    """Polls with their documents (JSON Feeds of 20 items), rates from a minute to a week."""
    rng = random.Random(2)
    found = [steady(f"f{n}", 60 * 10_080 ** (n / count), hours / 24, rng, pages=True) for n in range(count)]
    started = time.process_time()
    outcome = harvest(found, hours / 24, Polling())
    spent = time.process_time() - started
    missed = sum(len(feed.missed(START_S + hours * 3600)) for feed in found)
    each_ms = spent / outcome.polls * 1e3
    print(f"whole polls      {count} feeds, {hours:g} h: {outcome.polls} polls, {each_ms:.2f} ms CPU each")
    print(f"                 {sum(len(feed.delays()) for feed in found)} items found, {missed} missed")
    shares = [middle_delay(feed) for feed in found if len(feed.delays()) > 3]
    print(f"                 median delay {median(shares):.2f} of a feed's item spacing")
    print(f"memory           {memory_mib():.0f} MiB with the simulated feeds")


def parsing() -> None:
    """A real shape of feed, read whole, unchanged, and refused."""
    item = (
        "<item><title>Indaba {0}</title><link>https://a.example/{0}/</link><guid>https://a.example/?p={0}</guid>"
        "<pubDate>Sat, 21 Nov 2026 01:00:00 GMT</pubDate><description>"
        + "umuntu ngabantu " * 100
        + "</description></item>"
    )
    body = ('<rss version="2.0"><channel>' + "".join(item.format(n) for n in range(20)) + "</channel></rss>").encode()
    runs: dict[str, Callable[[], object]] = {
        "feed of 20 items, read": lambda: feeds.parse(body, "https://a.example/feed/"),
        "the same, polled unchanged": _unchanged(body),
    }
    for name, run in runs.items():
        started, times = time.process_time(), 0
        while time.process_time() - started < 1:
            run()
            times += 1
        print(f"{name:28} {len(body) / 1024:.0f} KiB {1e3 / times:.2f} ms CPU")


def _unchanged(body: bytes) -> Callable[[], object]:
    answer = Answer("https://a.example/feed/", 200, START_S * 1000, body=body)
    memo = poll(answer.asked, b"", answer).memo
    return lambda: poll(answer.asked, memo, answer)


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m bench.harvest", description=__doc__)
    parser.add_argument("feeds", nargs="?", default="10000")
    parser.add_argument("hours", nargs="?", type=float, default=2.0)
    options = parser.parse_args()
    if options.feeds == "parse":
        parsing()
        return
    schedule_alone(int(options.feeds))
    print(f"memory           {memory_mib():.0f} MiB before the simulation")
    whole_polls(int(options.feeds), options.hours)


if __name__ == "__main__":
    end_with(main)
