"""What ``scrapy harvest status`` shows of what feeds gave."""

from __future__ import annotations

import json

import pytest
from scrapy.exceptions import UsageError

from frontier.outcomes import DAY
from frontier.redis_frontier import RedisFrontier
from seeds.harvest.stats import as_counts, counter_name
from seeds.harvest.types import PollStats
from tests.unit.crawler.looking import Begun, Looking

FEEDS = [f"http://a.example/feed{number}" for number in (1, 2)]


NOW_MS = 1_790_000_000_000


@pytest.fixture(autouse=True)
def today(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RedisFrontier, "date_ms", lambda _: NOW_MS)


@pytest.fixture
def days(begun: Begun) -> list[str]:
    """Two days on which feeds were polled, the one before yesterday by the first alone."""
    names = [counter_name(NOW_MS - back * DAY) for back in (2, 0)]
    begun.frontier.add_counts(
        {
            names[0]: as_counts(FEEDS[0], PollStats(polls=3, new_items=5, dated=2, delay_s=20)),
            names[1]: {
                **as_counts(FEEDS[0], PollStats(polls=1, fetched=4, fetch_delay_s=240)),
                **as_counts(FEEDS[1], PollStats(polls=2, new_items=7)),
            },
        }
    )
    return [name.partition(":")[2] for name in names]


def test_each_day_of_a_feed_is_told_the_oldest_first(days: list[str], look: Looking) -> None:
    answer = look("harvest", "status", "--json")
    rows = [json.loads(line) for line in answer.out.splitlines()]
    told = [(row["day"], row["feed"], row["polls"], row["mean_delay_s"], row["mean_fetch_delay_s"]) for row in rows]
    assert (answer.status, told) == (
        0,
        [
            (days[0], FEEDS[0], 3, 10.0, None),
            (days[1], FEEDS[1], 2, None, None),
            (days[1], FEEDS[0], 1, None, 60.0),
        ],
    )


@pytest.mark.parametrize(("count", "seen"), [(1, 1), (2, 1), (3, 2)])
def test_as_many_days_are_shown_as_were_asked_for_today_among_them(
    count: int, seen: int, days: list[str], look: Looking
) -> None:
    lines = look("harvest", "status", "--json", "--days", str(count)).out.splitlines()
    assert sorted({json.loads(line)["day"] for line in lines}) == days[-seen:]


def test_feeds_are_shown_together_and_day_by_day(days: list[str], look: Looking) -> None:
    title, _, *rows = look("harvest", "status").out.splitlines()
    assert title == f"Harvest of x, {days[0]} to {days[1]}"
    assert [row.split("\t")[:4] for row in rows] == [
        [FEEDS[1], "2", "0", "7"],
        [FEEDS[0], "4", "0", "5"],
        ["all feeds", "6", "0", "12"],
    ]
    shown = look("harvest", "status", "--by-day").out.splitlines()
    assert [line for line in shown if line.startswith("Harvest")] == [f"Harvest of x, {day}" for day in days]
    assert len(shown) == 2 * 2 + 3
    today = look("harvest", "status", "--days", "1").out.splitlines()
    assert today[0] == f"Harvest of x, {days[1]}"


def test_of_one_feed_there_is_no_sum(begun: Begun, look: Looking) -> None:
    assert look("harvest", "status") == (0, "No feed of x was polled in these days\n", "")
    begun.frontier.add_counts({counter_name(NOW_MS): as_counts(FEEDS[0], PollStats(polls=1))})
    assert len(look("harvest", "status").out.splitlines()) == 3


def test_a_plot_is_drawn_where_it_is_asked_for(days: list[str], begun: Begun, look: Looking) -> None:
    path = begun.seeds.parent / "reports" / "harvest.png"
    look("harvest", "status")
    assert not path.exists()
    assert look("harvest", "status", "--plot").err.endswith(f"{path}\n")
    assert path.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("words", [("status", "--days", "0"), ("status", "--days", "36501"), ("stauts",), ()])
def test_words_that_cannot_be_answered_are_refused(words: tuple[str, ...], look: Looking) -> None:
    with pytest.raises(UsageError):
        look("harvest", *words)
