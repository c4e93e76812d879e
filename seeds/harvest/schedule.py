"""When to poll a feed next: learnt from its own history, pure arithmetic.

Three quantities decide. *Rate*: items appear every so often; polling at `EAGERNESS` of that spacing finds half of them
within a quarter of it, and hardly any later than half of it, while the rate holds. It is the largest of a long and two
short estimates, so that more items than usual are answered soon and a silence after a while; the short ones weigh
less, since a burst alone says little of what comes next. When enough is known it is weighted by the hour of the day.
*Window*: no poll may come later than `SAFETY` of the time an item stays visible, whatever the rate, or items are lost;
that time is the age of what the window shows, and no more than what was seen of items that vanished. While nothing
proves that items stay, polls are frequent. *Hints* of the publisher (`ttl`, `sy:updatePeriod`, `Cache-Control`, skip
hours and days) make polls rarer, never so rare that items would be lost.

The result is bounded by the configuration, and spread by a jitter that depends on nothing but the feed and the poll, so
a simulation repeats exactly. Model: the poll interval of RSS readers as studied by Sia, Cho and Cho, "Efficient
monitoring algorithm for fast news alerts" (IEEE TKDE 2007): rates that vary by the hour, and delay weighed against
polls.
"""

from __future__ import annotations

from dataclasses import dataclass

import xxhash

from seeds.harvest.history import MAX_SENTINELS, MAX_TIMES, FeedHistory, Sentinel

__all__ = ["Polling", "first_poll_in_ms", "next_interval_s", "note_items", "note_life", "note_window", "retry_in_s"]

EAGERNESS = 0.5
SAFETY = 0.4
UNPROVEN_S = 240
LIFE_DOUBLES_S = 86400  # how fast a short life once seen is forgotten, when items live longer again
HOUR_S = 3600
DAY_S = 86400
_MOST_DOUBLINGS = 30  # a second becomes 34 years
_HOURLY_AFTER = 48  # items before the hours of the day are believed
_HALVE_AT = 2000
_FEW_TIMES = 4
_SHORT = ((3, 0.2), (8, 0.5))  # the rate of the last so many items, and what it counts
_SENTINELS_A_LIFE = 6
_PINNED = 5  # of so many items shown one may be pinned or re-dated


@dataclass(frozen=True, slots=True)
class Polling:
    """Bounds of the schedule, in seconds. `obey_hints` False leaves the publishers' hints out of account.

    Hints are believed up to a bound each: a `ttl` up to `max_ttl_s`, an update period and a cache lifetime up to
    `max_period_s` (both are defaults of software more often than statements of a person).
    """

    min_s: float = 45.0
    max_s: float = float(DAY_S)
    jitter: float = 0.1
    obey_hints: bool = True
    max_ttl_s: float = 6.0 * HOUR_S
    max_period_s: float = float(HOUR_S)
    give_up_after_s: float = 30.0 * DAY_S
    dead_every_s: float = 7.0 * DAY_S
    gone_again_s: float = 28.0 * DAY_S
    max_pages_back: int = 20


def first_poll_in_ms(url: str, spread_s: float) -> int:
    """How long a new feed waits for its first poll, so that many added at once do not come due together."""
    return int(_fraction(url, 0) * spread_s * 1000)


def next_interval_s(history: FeedHistory, url: str, now_s: int, polling: Polling) -> float:
    """Seconds until the next poll of a feed that has just answered."""
    wanted = _until_items(history, now_s, EAGERNESS)
    if polling.obey_hints:
        wanted = max(wanted, _hinted_s(history, polling))
    deadline = _deadline_s(history, polling)
    wanted = min(wanted, deadline, polling.max_s)
    wanted *= 1 + polling.jitter * (2 * _fraction(url, history.polls) - 1)
    most_s = max(polling.max_s, polling.min_s)
    wanted = min(max(wanted, polling.min_s), most_s)
    if polling.obey_hints:
        wanted = _past_skipped(history, now_s, wanted, min(max(deadline, polling.min_s), most_s))
    return wanted


def retry_in_s(history: FeedHistory, url: str, now_s: int, polling: Polling) -> float:
    """Seconds until a feed that failed is tried again: doubled with each failure in a row, at most a day; a feed that
    has failed for `give_up_after_s` is looked at once in `dead_every_s` only."""
    if history.failing_since_s and now_s - history.failing_since_s > polling.give_up_after_s:
        base = polling.dead_every_s
    else:
        start = max(min(history.interval_s, float(HOUR_S)), polling.min_s)
        base = min(start * 2.0 ** min(history.errors - 1, 20), max(float(DAY_S), start))
    return base * (1 + polling.jitter * _fraction(url, history.polls))


def note_items(history: FeedHistory, appeared: list[int], now_s: int) -> None:
    """Take note of when new items appeared (0: somewhere since the last poll)."""
    undated = sum(1 for when in appeared if not 0 < when <= now_s)
    start = history.last_s or now_s
    step = (now_s - start) / (undated + 1)
    spread = [int(start + step * (number + 1)) for number in range(undated)]
    known = [when for when in appeared if 0 < when <= now_s]
    for when in known:
        history.hours[when % DAY_S // HOUR_S] += 1
    if history.last_s:
        for when in spread:
            history.hours[when % DAY_S // HOUR_S] += 1
    else:
        spread = []  # what the first poll finds undated may be of any age
    if sum(history.hours) > _HALVE_AT:
        history.hours = [count // 2 for count in history.hours]
    history.times = sorted(history.times + known + spread)[-MAX_TIMES:]
    if known:
        history.dated_s = min([when for when in (history.dated_s, min(known)) if when])


def note_window(history: FeedHistory, ages_s: list[int], count: int, new: int, now_s: int) -> None:
    """Take note of the window shown: ages of its dated items, and how many items it has, `new` of them new.

    Where new items have pushed out others the age of the window is how long items live at this rate.
    """
    pushed = history.window > 0 and new > 0 and history.window + new > count
    history.window = count
    history.widest = max(history.widest, count)
    if ages_s:
        ages_s = sorted(ages_s)
        history.window_age_s = ages_s[-1 - len(ages_s) // _PINNED]
        if pushed and len(ages_s) > _FEW_TIMES:
            _note_lived(history, max(1, history.window_age_s), now_s)


def note_life(history: FeedHistory, shown: set[int], newest: int | None, now_s: int) -> None:
    """Follow the sentinels: which are still shown, how long those lived that are not; watch `newest` from now on."""
    kept = [mark for mark in history.sentinels if mark.item in shown]
    oldest_kept_s = min((mark.first_s for mark in kept), default=now_s)
    for mark in history.sentinels:
        gone = mark.item not in shown and mark.first_s <= oldest_kept_s  # else deleted: older ones are still there
        if gone and not _is_outlived(history, mark.item, shown):
            _note_lived(history, max(1, (mark.last_s + now_s) // 2 - mark.first_s), now_s)
    longest = max((now_s - mark.first_s for mark in kept if mark.first_s >= history.life_at_s), default=0)
    if history.life_s and longest > history.life_s:
        grown = history.life_s * 2.0 ** min((now_s - history.last_s) / LIFE_DOUBLES_S, _MOST_DOUBLINGS)
        history.life_s = min(longest, int(grown) + 1)
    for mark in kept:
        mark.last_s = now_s
    apart_s = max(history.window_age_s, now_s - oldest_kept_s) // _SENTINELS_A_LIFE
    youngest_s = max((mark.first_s for mark in kept), default=0)
    if newest is not None and now_s - youngest_s >= apart_s:
        kept.append(Sentinel(newest, now_s, now_s))
    history.sentinels = kept[-MAX_SENTINELS:]


def _is_outlived(history: FeedHistory, item: int, shown: set[int]) -> bool:
    """Whether much of what is shown is older than an item that is not: then its time was not over. It was deleted, or
    the list goes by something else than age, or another server of the site answers that has not got the item yet."""
    if item not in history.seen:
        return False
    older = sum(mark in shown for mark in history.seen[history.seen.index(item) + 1 :])
    return older > len(shown) // _PINNED


def _note_lived(history: FeedHistory, lived_s: int, now_s: int) -> None:
    history.life_s = min(history.life_s, lived_s) if history.life_s else lived_s
    history.life_at_s = now_s


def rate(history: FeedHistory, now_s: int) -> float:
    """Items a second, as it looks now; 0 when nothing is known."""
    times = history.times
    if not times:
        return 1 / max(now_s - history.first_s, 1) if history.first_s else 0.0
    estimates = [len(times) / max(now_s - times[0], 1)]
    if len(times) < _FEW_TIMES:  # one more could come at any moment
        estimates.append((len(times) + 1) / max(now_s - times[0], 1))
    for last, weight in _SHORT:
        if len(times) > last:
            estimates.append(weight * last / max(now_s - times[-last], 1))
    return max(estimates)


def rate_at_last_poll(history: FeedHistory) -> float:
    """Items a second, as it looked at the last poll; 0 while of no item is known when it appeared."""
    return rate(history, history.last_s) if history.times else 0.0


def _until_items(history: FeedHistory, now_s: int, items: float) -> float:
    """Seconds until that many items are to be expected."""
    a_second = rate(history, now_s)
    if a_second <= 0:
        return float("inf")
    if sum(history.hours) < _HOURLY_AFTER or now_s - (history.dated_s or history.first_s) < 3 * DAY_S:
        return items / a_second
    factors = _hour_factors(history)
    passed = 0.0
    while passed < 7 * DAY_S:
        here = now_s + int(passed)
        left = HOUR_S - here % HOUR_S
        expected = a_second * factors[here % DAY_S // HOUR_S] * left
        if expected >= items:
            return passed + left * items / expected
        items -= expected
        passed += left
    return passed


def _hour_factors(history: FeedHistory) -> list[float]:
    mean = sum(history.hours) / 24
    doubt = max(2.0, mean / 2)
    return [(count + doubt) / (mean + doubt) for count in history.hours]


def _deadline_s(history: FeedHistory, polling: Polling) -> float:
    """How long items are sure to stay, with a margin."""
    if history.life_s:
        return SAFETY * min(history.life_s, history.window_age_s or history.life_s)
    watched = max((mark.last_s - mark.first_s for mark in history.sentinels), default=0)
    proven = max(history.window_age_s, watched)
    unproven = UNPROVEN_S * 1.02 ** min(history.polls, 400)
    return max(SAFETY * proven, min(unproven, polling.max_s) if not proven else UNPROVEN_S / 2)


def _hinted_s(history: FeedHistory, polling: Polling) -> float:
    return max(
        min(float(history.ttl_s), polling.max_ttl_s),
        min(float(history.period_s), polling.max_period_s),
        min(float(history.max_age_s), polling.max_period_s),
    )


def _past_skipped(history: FeedHistory, now_s: int, wanted: float, deadline: float) -> float:
    """The first instant after `wanted` outside the hours and days (GMT) the publisher asks to be left out."""
    if not history.skip_hours and not history.skip_days:
        return wanted
    later = wanted
    for _ in range(24 * 8):
        when = now_s + int(later)
        hour, day = when % DAY_S // HOUR_S, (when // DAY_S + 3) % 7
        if not (history.skip_hours >> hour & 1 or history.skip_days >> day & 1):
            return later
        later += HOUR_S - when % HOUR_S
        if later > deadline:
            return wanted
    return wanted


def _fraction(url: str, poll: int) -> float:
    return xxhash.xxh3_64_intdigest(f"{poll} {url}".encode()) / 2.0**64
