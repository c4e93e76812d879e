"""The schedule on a virtual clock: nothing missed, found early, few polls, whatever the rate."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise

import msgpack
import pytest

from seeds.harvest import Polling
from seeds.harvest.history import CatchUp, FeedHistory, HistoryError, Sentinel
from seeds.harvest.schedule import DAY_S, HOUR_S, first_poll_in_ms, next_interval_s, note_life, rate, retry_in_s
from tests.unit.seeds.simulation import START_S, SimFeed, bursty, daily, harvest, middle_delay, regular, steady

DAYS = 0.7
FASTEST_S = 60.0
KINDS: tuple[Callable[[str, float, float, random.Random], SimFeed], ...] = (steady, regular, bursty, daily)


def fifty_feeds(rng: random.Random) -> list[SimFeed]:
    """49 feeds with spacings from a minute to a week, one in five undated, and one whose items last ten minutes."""
    feeds = []
    for number in range(49):
        spacing_s = FASTEST_S * 10_080 ** (number / 48)
        kind = KINDS[number % 5] if number % 5 < 4 else steady
        feed = kind(f"f{number}", spacing_s, DAYS, rng)
        feed.dated = number % 5 < 4
        feed.pages = True
        feeds.append(feed)
    return [*feeds, steady("short-lived", 400, DAYS, rng, lifetime_s=600.0, window=100)]


@pytest.mark.slow
def test_fifty_feeds_at_all_rates() -> None:
    feeds = fifty_feeds(random.Random(7))
    outcome = harvest(feeds, DAYS, Polling(min_s=20))
    end_s = START_S + DAYS * DAY_S
    assert {feed.name: feed.missed(end_s) for feed in feeds if feed.missed(end_s)} == {}
    slow = {
        feed.name: round(middle_delay(feed), 2)
        for feed in feeds
        if len(feed.delays()) > 40 and middle_delay(feed) >= 0.5
    }
    assert len(slow) <= 1, slow  # a burst that falls between two polls of a slow feed may
    assert sorted(map(middle_delay, feeds))[len(feeds) // 2] < 0.35
    at_the_fastest = len(feeds) * DAYS * DAY_S / FASTEST_S
    assert outcome.polls <= at_the_fastest / 3
    assert outcome.largest_memo <= 2048


def test_lost_results_lose_no_items() -> None:
    rng = random.Random(3)
    feeds = [steady(f"f{n}", 900 * (n + 1), 1, rng, pages=True) for n in range(10)]
    dice = random.Random(5)
    harvest(feeds, 1, Polling(), lose=lambda feed, now_s: dice.random() < 0.1)
    assert {feed.name: feed.missed(START_S + DAY_S) for feed in feeds if feed.missed(START_S + DAY_S)} == {}


def test_a_gap_is_told_and_paged_back() -> None:
    times = [START_S - 3600.0 * n for n in range(40, 0, -1)] + [START_S + 7200 + n for n in range(90)]
    feed = SimFeed("flood", 3600, times, pages=True)
    outcome = harvest([feed], 1, Polling())
    assert feed.missed(START_S + DAY_S) == []
    assert [reason for _, reason, _ in outcome.warnings] == ["gap", "gap_closed"]
    assert sum(stats.recovered for stats in outcome.stats) == 70
    assert sum(stats.missed for stats in outcome.stats) == 0
    alone = SimFeed("flood", 3600, times)
    outcome = harvest([alone], 1, Polling())
    assert [reason for _, reason, _ in outcome.warnings] == ["gap", "gap_open"]
    assert sum(stats.missed for stats in outcome.stats) > 0
    assert len(alone.missed(START_S + DAY_S)) == 70


def test_hours_of_the_day_are_learnt() -> None:
    feed = daily("daily", 1800, 12, random.Random(2))
    by_hour = [0] * 24

    def count(polled: SimFeed, now_s: float) -> bool:
        if now_s > START_S + 6 * DAY_S:
            by_hour[int(now_s % DAY_S // HOUR_S)] += 1
        return False

    harvest([feed], 12, Polling(), lose=count)
    assert sum(by_hour[7:17]) > 2 * sum(by_hour[19:24] + by_hour[0:5])
    assert feed.missed(START_S + 12 * DAY_S) == []


def history(**values: object) -> FeedHistory:
    """A feed that brings an item an hour, all of them visible for days."""
    found = FeedHistory(polls=9, first_s=START_S - DAY_S, last_s=START_S, window=20, widest=20, window_age_s=3 * DAY_S)
    found.times = [START_S - 3600 * n for n in range(20, 0, -1)]
    for name, value in values.items():
        setattr(found, name, value)
    return found


EXACT = Polling(jitter=0.0)


def test_the_rate_decides_within_bounds() -> None:
    assert rate(history(), START_S) == pytest.approx(1 / 3600, rel=0.05)
    assert next_interval_s(history(), "u", START_S, EXACT) == pytest.approx(0.5 * 3600, rel=0.05)
    assert next_interval_s(history(), "u", START_S, Polling(min_s=5000, jitter=0)) == 5000
    assert next_interval_s(history(), "u", START_S, Polling(max_s=500, jitter=0)) == 500
    quiet = history(window_age_s=100 * DAY_S)
    assert next_interval_s(quiet, "u", START_S + 50 * DAY_S, EXACT) == EXACT.max_s


def test_items_that_live_briefly_are_polled_often() -> None:
    assert next_interval_s(history(life_s=600), "u", START_S, EXACT) == pytest.approx(240)
    assert next_interval_s(history(window_age_s=1000), "u", START_S, EXACT) == pytest.approx(400)


@pytest.mark.parametrize(
    ("hint", "expected_s"),
    [
        ({"ttl_s": 4 * HOUR_S}, 4 * HOUR_S),
        ({"ttl_s": 20 * HOUR_S}, 6 * HOUR_S),
        ({"period_s": 20 * HOUR_S}, HOUR_S),
        ({"max_age_s": 3000}, 3000),
        ({"max_age_s": 30_000_000}, HOUR_S),
        ({"ttl_s": 4 * HOUR_S, "life_s": 1000}, 400),
    ],
)
def test_hints_make_polls_rarer_but_lose_nothing(hint: dict[str, int], expected_s: float) -> None:
    assert next_interval_s(history(**hint), "u", START_S, EXACT) == pytest.approx(expected_s, rel=0.05)
    obeyed = Polling(jitter=0.0, obey_hints=False)
    assert next_interval_s(history(**hint), "u", START_S, obeyed) <= 0.5 * 3600 * 1.05


def test_hours_and_days_to_skip_are_left_out() -> None:
    midnight = START_S - START_S % DAY_S
    asked = history(last_s=midnight, times=[midnight - 3600 * n for n in range(20, 0, -1)])
    asked.skip_hours = 0b111111  # midnight to six
    when = midnight + next_interval_s(asked, "u", midnight, EXACT)
    assert when % DAY_S // HOUR_S == 6
    asked.skip_hours, asked.skip_days = 0, 1 << (midnight // DAY_S + 3) % 7
    when = midnight + next_interval_s(asked, "u", midnight, EXACT)
    assert when == midnight + DAY_S
    often = Polling(max_s=2.0 * HOUR_S, jitter=0.0)
    assert next_interval_s(asked, "u", midnight, often) <= 2 * HOUR_S, "our own bound comes first"
    asked.skip_days = 0b1111111
    assert next_interval_s(asked, "u", midnight, EXACT) <= DAY_S
    asked.life_s = HOUR_S
    assert next_interval_s(asked, "u", midnight, EXACT) <= HOUR_S


def test_failures_back_off_to_a_day_then_to_a_week() -> None:
    waits = [
        retry_in_s(history(errors=n, failing_since_s=START_S, interval_s=600), "u", START_S, EXACT)
        for n in range(1, 12)
    ]
    assert waits[:3] == [600, 1200, 2400]
    assert waits[-1] == DAY_S
    assert waits == sorted(waits)
    dead = history(errors=40, failing_since_s=START_S - 31 * DAY_S)
    assert retry_in_s(dead, "u", START_S, EXACT) == EXACT.dead_every_s


def test_a_feed_that_fails_is_asked_no_oftener_than_one_that_answers() -> None:
    rarely = Polling(min_s=6.0 * HOUR_S, jitter=0.0)
    failed = [history(errors=n, failing_since_s=START_S, interval_s=6 * HOUR_S) for n in (1, 2, 3, 9)]
    waits_s = [retry_in_s(one, "u", START_S, rarely) for one in failed]
    assert waits_s == [6 * HOUR_S, 12 * HOUR_S, DAY_S, DAY_S]


def test_first_polls_are_spread() -> None:
    firsts = sorted(first_poll_in_ms(f"https://example.org/{n}", 600) for n in range(1000))
    assert 0 <= firsts[0] < 10_000
    assert 590_000 < firsts[-1] < 600_000
    assert max(later - sooner for sooner, later in pairwise(firsts)) < 10_000


def test_history_survives_its_bytes() -> None:
    full = history(etag='"x"', modified="Sat, 21 Nov 2026 00:00:00 GMT", digest=b"12345678", skip_days=3)
    full.seen = list(range(380))
    full.groups = bytes(256)
    full.names = bytes(8 * 120)
    full.hours = list(range(24))
    full.sentinels = [Sentinel(n, n, n + 1) for n in range(8)]
    full.places = {5: 2}
    full.catch_up = CatchUp(
        "https://example.org/feed?paged=2", "paged", 2, START_S, [1, 2], ["sitemap https://e.org/s"]
    )
    memo = full.pack()
    assert len(memo) <= 3072 + 100
    assert FeedHistory.unpack(memo) == full
    assert FeedHistory.unpack(b"") == FeedHistory()


@pytest.mark.parametrize(
    ("shown", "lives"),
    [
        ({4, 3, 2, 1}, False),  # taken back, or another server answers that has not got it yet
        ({9, 8, 7, 6, 4, 3}, False),
        ({9, 8, 7, 6}, True),
        ({9, 8, 7, 6, 1}, True),  # one is pinned
        (set(), True),
    ],
)
def test_of_an_item_that_older_ones_outlive_the_time_was_not_over(shown: set[int], lives: bool) -> None:
    """Where two servers answered in turn, one of them late, a feed was polled every 45 seconds for ever."""
    found = history(last_s=START_S - 60, seen=[5, 4, 3, 2, 1], sentinels=[Sentinel(5, START_S - 120, START_S - 60)])
    note_life(found, shown, None, START_S)
    assert bool(found.life_s) == lives


def test_a_memo_without_what_was_added_later_is_read() -> None:
    version, values, *rest = msgpack.unpackb(history(etag='"x"', stored_us=7, spelled="https://e.org/").pack())
    memo = msgpack.packb([version, values[:-9], *rest])
    assert FeedHistory.unpack(memo) == history(etag='"x"')


def _with(place: int, value: object) -> bytes:
    parts = msgpack.unpackb(history(etag='"x"').pack())
    parts[place] = value
    return bytes(msgpack.packb(parts))


@pytest.mark.parametrize(
    "memo",
    [
        *(_with(1, [value]) for value in ([1], "1", 1e300, float("nan"), 1 << 60)),
        *(_with(1, [0] * 8 + [value]) for value in (7, [1], b"x")),
        *(_with(5, [mark]) for mark in ([1, [2], 3], [1, 2], ["a", 1, 2], 5)),
        *(_with(6, [row]) for row in ([[1], 2], [1, "2"], [1], 5)),
        *(_with(7, up) for up in ([7], ["u", "s", "2", 0, [], []], ["u", "s", 2, 0, ["a"], []], [0] * 20)),
    ],
)
def test_memos_with_values_of_other_types_are_told(memo: bytes) -> None:
    with pytest.raises(HistoryError):
        FeedHistory.unpack(memo)


def test_a_feed_that_was_not_polled_for_years_is_scheduled() -> None:
    found = history(life_s=60, last_s=1, sentinels=[Sentinel(1, 1, 1)])
    note_life(found, {1}, None, START_S)
    assert found.life_s > 60


@pytest.mark.parametrize(
    "memo", [b"x", b"\x93\x01\x02\x03", b"\xc1", FeedHistory().pack()[:-5], b"\xff" * 40, _with(0, 1)]
)
def test_damaged_memos_are_told(memo: bytes) -> None:
    with pytest.raises(HistoryError):
        FeedHistory.unpack(memo)


@pytest.mark.parametrize("groups", [b"abc", b"abcd", bytes(260)])
def test_a_history_with_damaged_groups_is_unreadable(groups: bytes) -> None:
    """It was found out by the poll only, which it ended."""
    with pytest.raises(HistoryError, match=f"{len(groups)} bytes of groups"):
        FeedHistory.unpack(FeedHistory(groups=groups).pack())
    with pytest.raises(HistoryError, match="of names"):
        FeedHistory.unpack(FeedHistory(names=groups[:7]).pack())
