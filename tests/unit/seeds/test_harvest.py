"""One poll at a time: validators, failures, moves, gaps, index pages, sitemaps."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from email.utils import formatdate

import pytest

from seeds.feeds.types import FeedEntry
from seeds.harvest import Answer, Polling, PollRequest, PollResult, PollStats, poll, request
from seeds.harvest import stored_us as stored
from seeds.harvest.history import CatchUp, FeedHistory, fingerprint
from seeds.harvest.items import items_of, note_names
from seeds.harvest.revisits import AGES_S, Look, conditions, revisit, stored_us
from seeds.harvest.stats import as_counts, counter_name, rows, stale_names, table, together

URL = "https://news.example/feed/"
NOW_MS = 1_790_000_000_000
HOUR_MS = 3_600_000
TITLE = "<title>Indaba {n}</title>"


def rss(numbers: Sequence[int], now_ms: int = NOW_MS, head: str = "", dated: bool = True) -> bytes:
    """A feed of these items; item n appeared n hours after the first poll."""
    items = "".join(
        f"<item><link>https://news.example/{n}/</link><title>Indaba {n}</title>"
        + (f"<pubDate>{formatdate(NOW_MS / 1000 + n * 3600)}</pubDate>" if dated else "")
        + "</item>"
        for n in numbers
    )
    return f'<rss version="2.0"><channel><title>Izindaba</title>{head}{items}</channel></rss>'.encode()


def ask(memo: bytes, now_ms: int, body: bytes = b"", status: int = 200, **more: object) -> PollResult:
    return poll(URL, memo, Answer(URL, status, now_ms, body=body, **more))  # type: ignore[arg-type]


def links(result: PollResult) -> list[str]:
    return [item.url.removeprefix("https://news.example/").rstrip("/") for item in result.new_items]


def reasons(result: PollResult) -> list[str]:
    return [warning.reason for warning in result.warnings]


def test_new_items_once() -> None:
    first = ask(b"", NOW_MS, rss(range(-1, -11, -1)))
    assert links(first) == [str(n) for n in range(-1, -11, -1)]
    again = ask(first.memo, NOW_MS + HOUR_MS, rss(range(-1, -11, -1)))
    assert links(again) == []
    assert again.stats.unchanged == 1
    later = ask(again.memo, NOW_MS + 3 * HOUR_MS, rss([2, 1, *range(-1, -9, -1)]))
    assert links(later) == ["2", "1"]
    assert later.stats.dated == 2
    assert later.stats.delay_s == 3 * 3600
    assert later.again_in_ms is not None
    assert HOUR_MS / 4 < later.again_in_ms < HOUR_MS


def test_conditional_requests_and_a_full_look_now_and_then() -> None:
    headers = {"etag": '"a"', "last-modified": "Sat, 21 Nov 2026 00:00:00 GMT"}
    memo = ask(b"", NOW_MS, rss([-1]), headers=headers).memo
    asked = request(URL, memo, NOW_MS)
    assert asked.headers == {"If-None-Match": '"a"', "If-Modified-Since": headers["last-modified"]}
    conditions = []
    for poll_number in range(60):
        conditions.append(bool(request(URL, memo, NOW_MS).headers))
        result = ask(memo, NOW_MS + poll_number * HOUR_MS, status=304)
        assert result.stats.unchanged == 1
        memo = result.memo
    assert conditions.count(False) == 2


@pytest.mark.parametrize(("come", "believed"), [(1, True), (2, False)])
@pytest.mark.parametrize("dated", [True, False])
def test_of_a_server_that_says_not_modified_of_what_has_changed_no_more_is_asked_on_condition(
    come: int, believed: bool, dated: bool
) -> None:
    """A third of the items of such a feed were missed, and all others came late."""

    def whole(memo: bytes, hours: int, numbers: Sequence[int]) -> bytes:
        body = rss([*numbers, *range(-1, -11, -1)], dated=dated)
        return ask(memo, NOW_MS + hours * HOUR_MS, body, headers={"etag": '"a"'}).memo

    memo = whole(b"", 0, [])
    for begun in (0, 25):
        for hour in range(begun + 1, begun + 25):
            assert request(URL, memo, NOW_MS).headers
            memo = ask(memo, NOW_MS + hour * HOUR_MS, status=304).memo
        assert not request(URL, memo, NOW_MS).headers
        memo = whole(memo, begun + 25, range(begun + 5, begun + 5 - come, -1))
    assert bool(request(URL, memo, NOW_MS).headers) == believed


def test_a_server_that_answers_a_condition_with_what_is_new_is_believed() -> None:
    """Items written days before they are shown may come at the one poll in 25 that is without conditions, by chance: of
    feeds that show 20 at once each day two in three were never asked on condition any more after two months."""
    memo, shown, hour = ask(b"", NOW_MS, rss(range(-1, -11, -1)), headers={"etag": '"a"'}).memo, -20, 0
    believed = []
    for unchanged in (24, 10, 24, 24):
        for _ in range(unchanged):
            hour += 1
            memo = ask(memo, NOW_MS + hour * HOUR_MS, status=304).memo
        hour, shown = hour + 1, shown - 2
        body = rss([shown + 2, shown + 1, *range(-1, -9, -1)])
        memo = ask(memo, NOW_MS + hour * HOUR_MS, body, headers={"etag": '"b"'}).memo
        believed.append(bool(request(URL, memo, NOW_MS).headers))
    assert believed == [True, True, True, False], "no more when it happens twice running"


@pytest.mark.parametrize("honest", [True, False])
def test_a_server_that_was_not_believed_is_tried_again(honest: bool) -> None:
    """One in 25 polls is on condition: an honest server that was taken for another was never believed again."""
    headers = {"etag": '"a"'}
    history = FeedHistory.unpack(ask(b"", NOW_MS, rss(range(-1, -11, -1)), headers=headers).memo)
    history.untrue = True
    memo, asked = history.pack(), []
    for hour in range(1, 101):
        asked.append(bool(request(URL, memo, NOW_MS).headers))
        body = rss(range(hour, hour - 10, -1))
        answer = (b"", 304) if asked[-1] and not honest else (body, 200)
        memo = ask(memo, NOW_MS + hour * HOUR_MS, *answer, headers=headers).memo
    assert asked.count(True) == (76 if honest else 4)


def test_validators_go_back_as_they_came_or_not_at_all() -> None:
    for etag in ('W/"1"', '"a b"', '"a"b"', '"\xe9 \xc4\x81"', "none"):
        memo = ask(b"", NOW_MS, rss([-1]), headers={"etag": etag}).memo
        assert request(URL, memo, NOW_MS).headers == {"If-None-Match": etag}
    for bad in ("x" * 201, '"\0"', '"\x0b"', "\x7f"):
        memo = ask(b"", NOW_MS, rss([-1]), headers={"etag": bad, "last-modified": bad}).memo
        assert not request(URL, memo, NOW_MS).headers


def test_after_a_failure_one_asks_without_conditions() -> None:
    memo = ask(b"", NOW_MS, rss([-1]), headers={"etag": '"a"'}).memo
    failed = ask(memo, NOW_MS, status=400)
    assert not request(URL, failed.memo, NOW_MS).headers
    assert request(URL, ask(failed.memo, NOW_MS, rss([-1])).memo, NOW_MS).headers == {}
    assert request(URL, ask(failed.memo, NOW_MS, rss([-1]), headers={"etag": '"b"'}).memo, NOW_MS).headers


def test_not_modified_when_nothing_is_known_is_a_failure() -> None:
    result = ask(b"", NOW_MS, status=304)
    assert (result.stats.errors, result.stats.unchanged) == (1, 0)
    assert (ask(result.memo, NOW_MS, status=304).again_in_ms or 0) > (result.again_in_ms or 0)


def test_what_not_modified_speaks_of_is_the_last_document_that_differed() -> None:
    first = ask(b"", NOW_MS, rss([-1]), fetched_us=1)
    same = ask(first.memo, NOW_MS, rss([-1]), fetched_us=2)
    other = ask(same.memo, NOW_MS, rss([1, -1]), fetched_us=5)
    unchanged = Answer(URL, 304, NOW_MS)
    for result, when in ((first, 1), (same, 1), (ask(same.memo, NOW_MS, status=304, fetched_us=3), 1), (other, 5)):
        assert stored(URL, result.memo, unchanged) == when
    refused = ask(other.memo, NOW_MS, b"<html>no feed</html>", fetched_us=6)
    assert stored(URL, refused.memo, unchanged) == 5
    assert stored(URL, refused.memo, Answer(URL, 200, NOW_MS)) == 0


def test_a_quiet_feed_is_polled_ever_more_rarely() -> None:
    result = ask(b"", NOW_MS, rss(range(-1, -9, -1)))
    now_ms, waits = NOW_MS, []
    for _ in range(12):
        assert result.again_in_ms is not None
        waits.append(result.again_in_ms)
        now_ms += result.again_in_ms
        result = ask(result.memo, now_ms, status=304)
    assert waits[0] < 2 * HOUR_MS
    assert waits[-1] > 2 * waits[0]


def test_failures_back_off_and_recovery_forgets_them() -> None:
    result = ask(b"", NOW_MS, rss([-1, -2]))
    waits = []
    for _ in range(6):
        result = ask(result.memo, NOW_MS + HOUR_MS, status=503, retry_after_ms=10_000)
        waits.append(result.again_in_ms or 0)
        assert result.stats == PollStats(polls=1, errors=1)
    assert waits[-1] > 8 * waits[0]
    assert reasons(result) == []
    assert ask(b"", NOW_MS, problem="timeout", retry_after_ms=9 * HOUR_MS).again_in_ms == 9 * HOUR_MS
    healed = ask(result.memo, NOW_MS + 2 * HOUR_MS, rss([1, -1, -2]))
    assert FeedHistory.unpack(healed.memo).errors == 0
    assert links(healed) == ["1"]


def test_gone_and_moved() -> None:
    gone = ask(b"", NOW_MS, status=410)
    assert (gone.again_in_ms, reasons(gone)) == (28 * 24 * HOUR_MS, ["gone"]), "it may be a mistake"
    again = ask(gone.memo, NOW_MS + 28 * 24 * HOUR_MS, status=410)
    assert (again.again_in_ms, reasons(again)) == (None, ["gone"])
    back = ask(gone.memo, NOW_MS + 28 * 24 * HOUR_MS, rss([1]))
    assert ask(back.memo, NOW_MS + 29 * 24 * HOUR_MS, status=410).again_in_ms == 28 * 24 * HOUR_MS
    there = "https://other.example/feed/"
    for status in (301, 308):
        moved = ask(b"", NOW_MS, status=status, location=there)
        assert (moved.again_in_ms, reasons(moved)) == (86_400_000, ["moved"]), "it may come back"
        assert [(follow.kind, follow.url) for follow in moved.follow_ups] == [("feed", there)]
    for status in (302, 307):
        moved, waits = ask(b"", NOW_MS, status=status, location=there), []
        for _ in range(14):
            assert [(follow.kind, follow.url) for follow in moved.follow_ups] == [("feed", there)]
            assert reasons(moved) == []
            waits.append(moved.again_in_ms or 0)
            moved = ask(moved.memo, NOW_MS, status=status, location=there)
        assert waits[0] < HOUR_MS / 30, "for a while, it says"
        assert waits[-1] == 86_400_000
    stays = ask(b"", NOW_MS, status=301, location="ftp://other.example/")
    assert (stays.stats.errors, stays.follow_ups) == (1, ())
    assert stays.again_in_ms


def test_a_sitemap_that_moved_is_still_one() -> None:
    moved = ask(b"", NOW_MS, status=301, location="https://other.example/sitemap_index.xml", kind="sitemap")
    assert [follow.kind for follow in moved.follow_ups] == ["sitemap"]


def test_another_spelling_of_its_address_is_asked_for_in_its_place() -> None:
    other = f"{URL}?utm_source=feed"
    first = ask(ask(b"", NOW_MS, rss([-1]), headers={"etag": '"a"'}).memo, NOW_MS, status=301, location=other)
    assert (first.follow_ups, first.again_in_ms, first.stats.errors) == ((), 1000, 0)
    assert request(URL, first.memo, NOW_MS) == PollRequest(other)
    found = poll(URL, first.memo, Answer(other, 200, NOW_MS, body=rss([1, -1]), headers={"etag": '"b"'}, fetched_us=9))
    assert links(found) == ["1"]
    assert request(URL, found.memo, NOW_MS) == PollRequest(other, {"If-None-Match": '"b"'})
    unchanged = Answer(other, 304, NOW_MS)
    assert stored(URL, found.memo, unchanged) == 9
    # What fails there is asked for by its own address next, and ever more rarely.
    lost = poll(URL, found.memo, Answer(other, 404, NOW_MS))
    assert request(URL, lost.memo, NOW_MS) == PollRequest(URL)
    again = ask(lost.memo, NOW_MS, status=301, location=other)
    assert (again.again_in_ms or 0) > 1000
    assert request(URL, again.memo, NOW_MS).url == other


def test_spellings_that_lead_to_each_other_are_asked_for_ever_more_rarely() -> None:
    spellings = [f"{URL}?utm_source=a", f"{URL}?utm_source=b"]
    result, waits = ask(b"", NOW_MS, status=302, location=spellings[0]), []
    for turn in range(16):
        asked = request(URL, result.memo, NOW_MS).url
        assert asked == spellings[turn % 2]
        result = poll(URL, result.memo, Answer(asked, 302, NOW_MS, location=spellings[(turn + 1) % 2]))
        waits.append(result.again_in_ms or 0)
    assert waits[-1] >= 86_400_000
    itself = poll(URL, b"", Answer(URL, 301, NOW_MS, location=URL))
    assert (itself.stats.errors, request(URL, itself.memo, NOW_MS).url) == (1, URL)


@pytest.mark.parametrize(
    "body",
    [
        b"<html><body>404</body></html>",
        b"not a feed",
        b"{}",
        b"\x00" * 100,
        b'<!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><rss><channel><title>&b;</title></channel></rss>',
        b"<rss><channel>" + b"<a>" * 200_000,
        b"<rss><channel>" + b"<item/>" * 200_000,
        b"<rss>" + b" " * (9 << 20),
    ],
    ids=["page", "text", "json", "nul", "laughs", "deep", "many", "large"],
)
def test_hostile_and_wrong_bodies_are_refused_and_polling_goes_on(body: bytes) -> None:
    before = ask(b"", NOW_MS, rss([-1, -2]))
    result = ask(before.memo, NOW_MS + HOUR_MS, body)
    assert reasons(result) == ["refused"]
    assert result.again_in_ms
    assert links(ask(result.memo, NOW_MS + 2 * HOUR_MS, rss([1, -1, -2]))) == ["1"]


def test_a_damaged_memo_starts_anew() -> None:
    result = ask(b"\xffgarbage", NOW_MS, rss([-1]))
    assert reasons(result) == ["memo_lost"]
    assert links(result) == ["-1"]
    assert request(URL, b"\xffgarbage", NOW_MS).url == URL


def test_hints_are_kept() -> None:
    head = (
        "<ttl>240</ttl><skipHours><hour>1</hour><hour>24</hour></skipHours><skipDays><day>Sunday</day></skipDays>"
        '<sy:updatePeriod xmlns:sy="http://purl.org/rss/1.0/modules/syndication/">daily</sy:updatePeriod>'
        '<sy:updateFrequency xmlns:sy="http://purl.org/rss/1.0/modules/syndication/">4</sy:updateFrequency>'
    )
    headers = {"cache-control": "public, must-revalidate, max-age=600", "age": "100"}
    result = ask(b"", NOW_MS, rss([-1, -2, -40], head=head), headers=headers)
    kept = FeedHistory.unpack(result.memo)
    assert (kept.ttl_s, kept.period_s, kept.max_age_s) == (14_400, 21_600, 500)
    assert (kept.skip_hours, kept.skip_days) == (0b11, 1 << 6)


def test_what_is_to_expire_is_as_old_as_it_says() -> None:
    headers = {"date": "Fri, 31 May 2024 10:00:00 GMT", "expires": "Fri, 31 May 2024 10:10:00 GMT"}
    kept = [
        FeedHistory.unpack(ask(b"", NOW_MS, rss([-1]), headers={**headers, "age": age}).memo) for age in ("", "100")
    ]
    assert [history.max_age_s for history in kept] == [600, 500]


@pytest.mark.parametrize("age", ["-9007199254740993", "-" + "9" * 20, "-" + "9" * 5000])
def test_an_age_below_zero_costs_a_feed_neither_poll_nor_memory(age: str) -> None:
    headers = {"cache-control": "max-age=600", "age": age, "etag": '"a"'}
    memo = ask(b"", NOW_MS, rss([-1, -2]), headers=headers).memo
    assert FeedHistory.unpack(memo).etag == '"a"'


def test_wordpress_is_paged_back_until_the_known_turns_up() -> None:
    head = "<generator>https://wordpress.org/?v=6.6</generator>"
    memo = ask(b"", NOW_MS, rss(range(-1, -11, -1), head=head)).memo
    now_ms = NOW_MS + 40 * HOUR_MS
    flood = ask(memo, now_ms, rss(range(40, 30, -1), head=head))
    assert reasons(flood) == ["gap"]
    assert flood.stats.gaps == 1
    assert flood.again_in_ms == 1000
    memo, found = flood.memo, links(flood)
    pages = {2: range(30, 20, -1), 3: range(20, 10, -1), 4: range(10, 0, -1), 5: [-1, -2, -3]}
    for page, numbers in pages.items():
        asked = request(URL, memo, now_ms).url
        assert asked == f"{URL}?paged={page}"
        result = poll(URL, memo, Answer(asked, 200, now_ms, body=rss(numbers)))
        memo, found = result.memo, found + links(result)
        assert (result.stats.pages_back, result.stats.recovered) == (1, len(links(result)))
    assert reasons(result) == ["gap_closed"]
    assert result.again_in_ms == FeedHistory.unpack(memo).due_s * 1000 - now_ms
    assert result.again_in_ms > HOUR_MS / 4
    assert sorted(map(int, found)) == list(range(1, 41))
    assert request(URL, memo, now_ms).url == URL


def test_a_gap_that_opens_while_another_is_paged_back_to_is_closed_with_it() -> None:
    head = "<generator>https://wordpress.org/?v=6.6</generator>"
    memo = ask(b"", NOW_MS, rss(range(-1, -11, -1), head=head)).memo
    now_ms = NOW_MS + 40 * HOUR_MS
    flood = ask(memo, now_ms, rss(range(40, 30, -1), head=head))
    page = poll(URL, flood.memo, Answer(f"{URL}?paged=2", 200, now_ms, body=rss(range(30, 20, -1))))
    now_ms = NOW_MS + 80 * HOUR_MS  # nobody polled, and all pages are of other items now
    again = ask(page.memo, now_ms, rss(range(80, 70, -1), head=head))
    assert reasons(again) == ["gap"]
    assert again.stats.missed == 0
    memo, found = again.memo, links(flood) + links(page) + links(again)
    for number in range(2, 10):
        asked = request(URL, memo, now_ms).url
        assert asked == f"{URL}?paged={number}"
        first = 90 - 10 * number
        result = poll(URL, memo, Answer(asked, 200, now_ms, body=rss(range(first, first - 10, -1))))
        memo, found = result.memo, found + links(result)
    assert reasons(result) == ["gap_closed"]
    assert set(range(1, 81)) <= set(map(int, found))
    assert request(URL, memo, now_ms).url == URL


def test_a_gap_with_nowhere_to_look_does_not_end_a_search_that_is_under_way() -> None:
    home = "https://news.example/rss"
    older = '<link xmlns="http://www.w3.org/2005/Atom" rel="prev-archive" href="https://news.example/rss?p=2"/>'
    nowhere = ("https://elsewhere.example/map.xml",)
    memo = poll(home, b"", Answer(home, 200, NOW_MS, body=rss(range(-1, -11, -1)))).memo
    now_ms = NOW_MS + 40 * HOUR_MS
    memo = poll(home, memo, Answer(home, 200, now_ms, body=rss(range(40, 30, -1), head=older))).memo
    now_ms = NOW_MS + 80 * HOUR_MS
    again = poll(home, memo, Answer(home, 200, now_ms, body=rss(range(80, 70, -1)), sitemaps=nowhere))
    assert reasons(again) == ["gap"]
    assert again.stats.missed > 0
    assert request(home, again.memo, now_ms).url == "https://news.example/rss?p=2"


def test_an_older_page_that_shows_by_now_what_the_feed_showed_leads_on() -> None:
    def older(page: int) -> str:
        return f'<link xmlns="http://www.w3.org/2005/Atom" rel="prev-archive" href="{URL}?p={page}"/>'

    memo = ask(b"", NOW_MS, rss(range(-1, -11, -1))).memo
    now_ms = NOW_MS + 30 * HOUR_MS
    memo = ask(memo, now_ms, rss(range(30, 20, -1), head=older(2))).memo
    for page in (2, 3, 4):  # ten more came before they were asked for
        asked = request(URL, memo, now_ms).url
        assert asked == f"{URL}?p={page}"
        body = rss(range(50 - 10 * page, 40 - 10 * page, -1), head=older(page + 1))
        result = poll(URL, memo, Answer(asked, 200, now_ms, body=body))
        memo = result.memo
    assert links(result) == [str(n) for n in range(10, 0, -1)]


def test_where_no_items_time_is_known_none_are_thought_to_be_missed_by_the_second() -> None:
    """Of an undated feed that was polled once and is polled again a day later a hundred thousand were."""
    for shown, gap in ((1, False), (10, True)):
        first = ask(b"", NOW_MS, rss(range(shown), dated=False))
        again = ask(first.memo, NOW_MS + 28 * HOUR_MS, rss(range(100, 100 + shown), dated=False))
        assert len(again.new_items) == shown
        assert (again.stats.gaps, "about 1 missed" in str(again.warnings)) == (gap, gap)


def test_of_a_gap_that_stays_open_what_was_not_recovered_is_missed() -> None:
    older = '<link xmlns="http://www.w3.org/2005/Atom" rel="prev-archive" href="https://news.example/feed/?p=2"/>'
    memo = ask(b"", NOW_MS, rss(range(-1, -11, -1))).memo
    now_ms = NOW_MS + 40 * HOUR_MS
    flood = ask(memo, now_ms, rss(range(40, 30, -1), head=older))
    result = poll(URL, flood.memo, Answer(f"{URL}?p=2", 200, now_ms, body=rss(range(30, 20, -1))))
    while (asked := request(URL, result.memo, now_ms).url) != URL:
        result = poll(URL, result.memo, Answer(asked, 404, now_ms))
    assert reasons(result) == ["gap_open"]
    assert "about 32 missed" in flood.warnings[0].detail
    assert (flood.stats.missed, result.stats.missed) == (0, 32 - 10)


def test_an_older_page_that_cannot_be_had_just_now_is_asked_for_again() -> None:
    """What was missed was given up for one busy moment."""
    head = "<generator>https://wordpress.org/?v=6.6</generator>"
    memo = ask(b"", NOW_MS, rss(range(-1, -11, -1), head=head)).memo
    now_ms = NOW_MS + 25 * HOUR_MS
    memo = ask(memo, now_ms, rss(range(25, 15, -1), head=head)).memo
    answers: dict[int, list[int | Sequence[int]]] = {2: [range(15, 5, -1)], 3: [503, 0, [5, 4, 3, 2, 1, -1]]}
    asked, found = [], list[str]()
    for _ in range(9):
        url = request(URL, memo, now_ms).url
        asked.append(url.removeprefix(URL))
        page = int(url[-1]) if "paged" in url else 0
        came = answers[page].pop(0) if page else 404
        status = came if isinstance(came, int) else 200
        body = b"" if isinstance(came, int) else rss(came)
        problem = "" if status else "timeout"
        result = poll(URL, memo, Answer(url, status, now_ms, body=body, problem=problem))
        memo, found = result.memo, found + links(result)
        if result.warnings:
            break
        due_in_ms = FeedHistory.unpack(memo).due_s * 1000 - now_ms
        assert due_in_ms > 600_000
        assert result.again_in_ms == (600_000 if status in (503, 0) else 1000), (
            "with each failure its host rests longer"
        )
    assert reasons(result) == ["gap_closed"]
    assert asked[:2] == ["?paged=2", "?paged=3"]
    assert asked.count("?paged=3") == 3
    assert sorted(map(int, found)) == list(range(1, 16))


def test_a_search_ends_after_so_many_pages() -> None:
    """And tells of how many, also of those that could not be had."""
    head = "<generator>https://wordpress.org/?v=6.6</generator>"
    memo = ask(b"", NOW_MS, rss(range(-1, -11, -1))).memo
    now_ms = NOW_MS + 90 * HOUR_MS
    memo = ask(memo, now_ms, rss(range(90, 80, -1), head=head)).memo
    for number, said in ((80, []), (70, []), (60, ["gap_open"])):
        answer = Answer(request(URL, memo, now_ms).url, 200, now_ms, body=rss(range(number, number - 10, -1)))
        result = poll(URL, memo, answer, Polling(max_pages_back=3))
        memo = result.memo
        assert reasons(result) == said
    assert result.warnings[0].detail == "30 items recovered from 3 older pages"
    memo = ask(memo, now_ms + 90 * HOUR_MS, rss(range(180, 170, -1))).memo
    for status, pages in ((404, 4), (503, 7)):  # WordPress' and three sitemaps; and as long as there is room, again
        missing = memo
        while not reasons(
            result := poll(
                URL, missing, Answer(request(URL, missing, now_ms).url, status, now_ms), Polling(max_pages_back=7)
            )
        ):
            missing = result.memo
        assert result.warnings[0].detail == f"0 items recovered from {pages} older pages"


def test_a_feed_that_was_empty_has_missed_nothing() -> None:
    memo = ask(b"", NOW_MS, rss([])).memo
    filled = ask(memo, NOW_MS + HOUR_MS, rss([1, -1, -2]))
    assert (links(filled), reasons(filled), filled.stats.gaps) == (["1", "-1", "-2"], [], 0)


def test_items_dated_in_times_to_come_are_not_many_that_were_missed() -> None:
    memo = ask(b"", NOW_MS, rss(range(-1, -11, -1))).memo
    flood = ask(memo, NOW_MS + 40 * HOUR_MS, rss(range(10**6 + 10, 10**6, -1)))
    (gap,) = flood.warnings
    assert gap.detail.startswith("the newest items of the last poll are gone, about 41 missed")


def test_the_sitemap_is_the_last_resort() -> None:
    memo = ask(b"", NOW_MS, rss(range(-1, -11, -1))).memo
    now_ms = NOW_MS + 40 * HOUR_MS
    named = ["https://news.example/sitemap.xml", "https://elsewhere.example/news.xml"]
    flood = ask(memo, now_ms, rss(range(40, 30, -1)), sitemaps=named)
    asked = request(URL, flood.memo, now_ms).url
    assert asked == f"{URL}?paged=2"
    ignored = poll(URL, flood.memo, Answer(asked, 200, now_ms, body=rss(range(40, 30, -1))))
    asked = request(URL, ignored.memo, now_ms).url
    assert asked == "https://news.example/sitemap.xml"
    index = (
        b"<sitemapindex><sitemap><loc>/old.xml</loc><lastmod>2020-01-01</lastmod></sitemap>"
        b"<sitemap><loc>/posts.xml</loc></sitemap></sitemapindex>"
    )
    stepped = poll(URL, ignored.memo, Answer(asked, 200, now_ms, body=index))
    asked = request(URL, stepped.memo, now_ms).url
    assert asked == "https://news.example/posts.xml"
    dates = {20: "2026-09-22T12:00:00Z", -20: "2026-09-01", 9: ""}
    body = "".join(
        f"<url><loc>https://news.example/{n}/</loc><lastmod>{when}</lastmod></url>" for n, when in dates.items()
    )
    closed = poll(URL, stepped.memo, Answer(asked, 200, now_ms, body=f"<urlset>{body}</urlset>".encode()))
    assert links(closed) == ["20"]
    assert reasons(closed) == ["gap_closed"]


@pytest.mark.parametrize("named", ["http://[news.example/map.xml", f"https://news.example/{'x' * 9000}.xml"])
def test_addresses_that_nobody_can_ask_for_are_no_step_of_a_search(named: str) -> None:
    """robots.txt may have anything behind "Sitemap:", and a feed in its links; else it is never read again."""
    memo = ask(b"", NOW_MS, rss(range(-1, -11, -1))).memo
    now_ms = NOW_MS + 40 * HOUR_MS
    older = f'<link xmlns="http://www.w3.org/2005/Atom" rel="next" href="{named}"/>'
    flood = ask(memo, now_ms, rss(range(40, 30, -1), head=older), sitemaps=[named])
    assert links(flood) == [str(n) for n in range(40, 30, -1)]
    asked = request(URL, flood.memo, now_ms).url
    assert asked == f"{URL}?paged=2"
    assert request(URL, poll(URL, flood.memo, Answer(asked, 404, now_ms)).memo, now_ms).url == URL


def test_ordinary_polls_and_older_pages_take_turns() -> None:
    memo = ask(b"", NOW_MS, rss(range(-1, -11, -1))).memo
    now_ms = NOW_MS + 40 * HOUR_MS
    flood = ask(memo, now_ms, rss(range(40, 30, -1)))
    late_ms = now_ms + 24 * HOUR_MS  # the feed is due again, and was at every turn
    older = request(URL, flood.memo, late_ms).url
    assert older != URL
    page = poll(URL, flood.memo, Answer(older, 200, late_ms, body=rss(range(30, 20, -1))))
    assert request(URL, page.memo, late_ms).url == URL


def test_index_pages_become_feeds() -> None:
    def page(numbers: Sequence[int]) -> bytes:
        teasers = "".join(
            f'<div class="teaser teaser-{n}"><h2><a href="/2026/indaba-{n}">Isihloko sendaba enkulu {n}</a></h2></div>'
            for n in numbers
        )
        nav = '<nav><a href="/x">Imidlalo yonke namuhla</a></nav>'
        return f"<html><body>{nav}<main>{teasers}</main></body></html>".encode()

    front = "https://news.example/"
    first = poll(front, b"", Answer(front, 200, NOW_MS, body=page(range(9, 0, -1)), kind="index"))
    assert len(first.new_items) == 9
    second = poll(front, first.memo, Answer(front, 200, NOW_MS + HOUR_MS, body=page(range(11, 2, -1)), kind="index"))
    assert [item.url for item in second.new_items] == [
        "https://news.example/2026/indaba-11",
        "https://news.example/2026/indaba-10",
    ]
    alone = page([12])
    third = poll(front, second.memo, Answer(front, 200, NOW_MS + 2 * HOUR_MS, body=alone, kind="index"))
    assert [item.title for item in third.new_items] == ["Isihloko sendaba enkulu 12"]
    empty = poll(front, third.memo, Answer(front, 200, NOW_MS, body=b"<html><body></body></html>", kind="index"))
    assert reasons(empty) == ["refused"]


def test_links_of_an_index_page_that_are_not_to_be_followed_are_none() -> None:
    links = "".join(
        f'<h2><a rel="{rel}" href="/2026/indaba-{n}">Isihloko sendaba enkulu {n}</a></h2>'
        for n, rel in enumerate(("", "bookmark", "external NoFollow", "", "nofollow"))
    )
    front = "https://news.example/"
    found = poll(front, b"", Answer(front, 200, NOW_MS, body=links.encode(), kind="index")).new_items
    assert [item.url[-1] for item in found] == ["0", "1", "3"]


def test_an_index_page_may_list_documents() -> None:
    """As newspapers do that appear as PDF; pictures and scripts are none."""
    issues = "".join(
        f'<li><a href="/izinhlelo/2026-0{n}.pdf">Uhlelo lwenyanga ka-{n} 2026</a></li>' for n in range(1, 6)
    )
    body = f'<html><body><main><ul>{issues}<li><a href="/x.JPG">Isithombe senyanga</a></li></ul></main></body></html>'
    front = "https://news.example/izinhlelo/"
    found = poll(front, b"", Answer(front, 200, NOW_MS, body=body.encode(), kind="index")).new_items
    assert [item.url for item in found] == [f"https://news.example/izinhlelo/2026-0{n}.pdf" for n in range(1, 6)]


def test_articles_of_an_index_page_may_be_told_by_their_query_alone() -> None:
    """As where WordPress has plain permalinks; the front page itself is none."""
    links = "".join(f'<li><a href="/{page}">Isihloko sendaba enkulu</a></li>' for page in ("?p=3", "?p=2", "", "?p=1"))
    front = "https://news.example/izindaba"
    found = poll(front, b"", Answer(front, 200, NOW_MS, body=links.encode(), kind="index")).new_items
    assert [item.url for item in found] == [f"https://news.example/?p={n}" for n in (3, 2, 1)]


def test_sitemaps_are_polled_too() -> None:
    url = "https://news.example/sitemap.xml"
    index = b"<sitemapindex><sitemap><loc>/a.xml</loc></sitemap></sitemapindex>"
    result = poll(url, b"", Answer(url, 200, NOW_MS, body=index, kind="sitemap"))
    assert [(follow.kind, follow.url) for follow in result.follow_ups] == [("sitemap", "https://news.example/a.xml")]
    pages = b"".join(b"<url><loc>/%d</loc><lastmod>2026-09-01</lastmod></url>" % n for n in range(1000))
    first = poll(url, b"", Answer(url, 200, NOW_MS, body=b"<urlset>" + pages + b"</urlset>", kind="sitemap"))
    assert len(first.new_items) == 1000
    assert len(first.memo) < 2048 + 200
    more = pages + b"<url><loc>/new</loc><lastmod>2026-09-21</lastmod></url>"
    second = poll(
        url, first.memo, Answer(url, 200, NOW_MS + HOUR_MS, body=b"<urlset>" + more + b"</urlset>", kind="sitemap")
    )
    assert "https://news.example/new" in [item.url for item in second.new_items]
    assert len(second.new_items) < 200, "not all of it again"


def test_of_a_large_sitemap_without_dates_the_page_that_is_new_counts_alone() -> None:
    """The others of its group were taken for news, too, and the sitemap was polled as often as it may be."""

    def ask_map(memo: bytes, day: int, count: int) -> PollResult:
        body = b"".join(b"<url><loc>/%d</loc></url>" % n for n in range(count))
        return ask(memo, NOW_MS + day * 24 * HOUR_MS, b"<urlset>" + body + b"</urlset>", kind="sitemap")

    result = ask_map(b"", 0, 2000)
    for day in range(1, 5):
        result = ask_map(result.memo, day, 2000 + day)
        assert str(1999 + day) in links(result)
        assert result.stats.new_items == 1
    assert result.again_in_ms is not None
    assert result.again_in_ms > 5 * HOUR_MS


def test_what_a_sitemap_names_beyond_the_limit_is_told_when_that_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seeds.sitemaps.parsing.MAX_ENTRIES", 3)
    monkeypatch.setattr("seeds.harvest.answers.MAX_ENTRIES", 3)
    monkeypatch.setattr("seeds.harvest.polls.MAX_ENTRIES", 3)
    versions = "".join(f'<link rel="alternate" hreflang="zu" href="/{part}/N"/>' for part in "ab")

    def ask_map(memo: bytes, count: int, inside: str = "") -> PollResult:
        body = "".join(f"<url><loc>/{n}</loc>{inside.replace('N', str(n))}</url>" for n in range(count))
        root = f"<urlset>{body}</urlset>".encode()
        return ask(memo, NOW_MS, root, kind="sitemap", languages=frozenset({"zu"}))

    first = ask_map(b"", 3)
    assert (len(first.new_items), first.warnings, first.stats.left_out) == (3, (), 0)
    over = ask_map(first.memo, 5)
    assert [(told.reason, told.detail) for told in over.warnings] == [
        ("over_limit", "2 addresses left out, all beyond the first 3")
    ]
    assert over.stats.left_out == 2
    again = ask_map(over.memo, 6)
    assert (again.warnings, again.stats.left_out) == ((), 0)
    within = ask_map(again.memo, 2)
    assert reasons(ask_map(within.memo, 4)) == ["over_limit"]
    assert ask_map(b"", 2, versions).stats.left_out == 1


def linked(numbers: Sequence[int], link: str, inside: str = "<title>Indaba {n}</title>{date}") -> bytes:
    """A feed whose links and parts have `{n}` for the item's number and `{date}` for when it appeared."""
    items = ""
    for n in numbers:
        date = f"<pubDate>{formatdate(NOW_MS / 1000 + n * 3600)}</pubDate>"
        items += f"<item><link>{link.format(n=n)}</link>{inside.format(n=n, date=date)}</item>"
    return f'<rss version="2.0"><channel>{items}</channel></rss>'.encode()


@pytest.mark.parametrize("link", ["?PHPSESSID={}", "?utm_source={}", ";jsessionid={}", "?s=" + "{:032x}"])
def test_what_names_a_visit_in_its_link_makes_no_item_new(link: str) -> None:
    memo, found = b"", list[int]()
    for turn in range(4):
        body = linked(range(-1, -11, -1), "https://news.example/a{n}" + link.format(turn + 7), "<title>x</title>")
        result = ask(memo, NOW_MS + turn * HOUR_MS, body)
        memo, found = result.memo, [*found, len(result.new_items)]
    assert found == [10, 0, 0, 0]


@pytest.mark.parametrize(
    "inside",
    [
        "<title>Indaba {n}</title>{date}",
        "<title>Indaba {n}</title><guid isPermaLink='false'>{n}</guid>",
        "<guid isPermaLink='false'>tag:{n}</guid>{date}",
        "<description>Indaba {n}</description>{date}",
    ],
    ids=["title and date", "title and id", "id and date", "text and date"],
)
def test_items_whose_links_change_with_each_poll_are_found_once(inside: str) -> None:
    """All were new each time, and looked as if others had been missed between."""
    memo, found, waits = b"", list[int](), list[int]()
    for hour in range(0, 90, 6):  # an item in six hours
        body = linked(range(hour, hour - 120, -6), f"https://news.example/a?n={{n}}&amp;t={hour}", inside)
        result = ask(memo, NOW_MS + hour * HOUR_MS, body)
        memo, found = result.memo, [*found, len(result.new_items)]
        waits.append(result.again_in_ms or 0)
        assert reasons(result) == []
    assert found == [*[20] * 6, *[1] * 9], "five documents running have other links"
    assert waits[-1] > HOUR_MS
    assert len(memo) < 2048


def harvested(body: Callable[[int], bytes], days: int) -> tuple[list[str], int]:
    """The links found of a feed that is polled whenever it is due, and how often it was."""
    memo, now_ms, found, polls = b"", NOW_MS, list[str](), 0
    while now_ms < NOW_MS + days * 24 * HOUR_MS:
        result = ask(memo, now_ms, body((now_ms - NOW_MS) // 1000))
        found += [item.url for item in result.new_items]
        memo, now_ms, polls = result.memo, now_ms + (result.again_in_ms or 0), polls + 1
    return found, polls


@pytest.mark.parametrize("every_h", [1, 6, 24])
@pytest.mark.parametrize(
    ("titles", "inside"),
    [
        (5, "<title>Izindaba {n}</title>"),
        (5, "<title>Izindaba {n}</title><guid isPermaLink='false'>{n}</guid>"),
        (1, "<title>Isimo sezulu</title><guid isPermaLink='false'>{n}</guid>"),
    ],
)
def test_what_comes_under_the_titles_of_the_last_items_is_not_missed(titles: int, inside: str, every_h: int) -> None:
    """As the news of each hour, or the day's programmes. They were polled ever more rarely, up to once a day, and where
    they had ids nothing was ever new again."""

    def shown(at_s: int) -> bytes:
        return linked(range(titles), f"https://news.example/{at_s // 3600 // every_h}/{{n}}", inside)

    found, polls = harvested(shown, 4)
    wanted = {f"https://news.example/{turn}/{n}" for turn in range(72 // every_h) for n in range(titles)}
    assert wanted <= set(found)
    assert polls < 4 * 300


def test_a_list_of_what_was_published_long_ago_whose_links_are_of_the_day_is_taken_each_day() -> None:
    """As of a page for each programme, which leads to what was sent last."""
    daily = [linked(range(-999, -994), f"https://news.example/{day}/{{n}}") for day in range(20)]
    found, _ = harvested(lambda at_s: daily[at_s // 86400], 20)
    assert len(set(found)) >= 5 * 18


def test_a_link_that_is_corrected_is_taken_in_both_forms() -> None:
    """The first may have led nowhere."""
    memo = ask(b"", NOW_MS, linked(range(-1, -11, -1), "https://news.example/{n}/")).memo
    body = linked(range(-1, -11, -1), "https://news.example/{n}/").replace(b"/-1/", b"/indaba/")
    result = ask(memo, NOW_MS + HOUR_MS, body)
    assert links(result) == ["indaba"]
    assert len(FeedHistory.unpack(result.memo).names) == 8 * 5, "of the newest alone, where links stay"


def test_a_title_that_comes_again_hides_no_gap() -> None:
    """As that of a column, where all else that was shown is gone."""

    def shown(newest: int) -> bytes:
        body = linked(range(newest, newest - 10, -1), "https://news.example/{n}/", TITLE)
        return body.replace(f"Indaba {newest}<".encode(), b"Isimo sezulu<")

    memo = b""
    for hour in range(8):
        memo = ask(memo, NOW_MS + hour * HOUR_MS, shown(hour)).memo
    assert reasons(ask(memo, NOW_MS + 90 * HOUR_MS, shown(90)))[:1] == ["gap"]


def test_links_that_change_every_few_minutes_make_no_feed_polled_without_end() -> None:
    """A server keeps for ten minutes what it has made for one reader."""

    def shown(at_s: int) -> bytes:
        return linked(range(10), f"https://news.example/a?n={{n}}&amp;t={at_s // 600}", "<title>Indaba {n}</title>")

    _, polls = harvested(shown, 4)
    assert polls < 4 * 30


@pytest.mark.parametrize(
    ("numbers", "inside", "taken"),
    [
        ([5, 5, 4, 3, 2, 1], "<title>Indaba {n}</title>{date}", 2),
        ([1, 2, 3, 4, 5], "<title>Indaba {n}</title><guid>https://id.example/{n}</guid>", 5),
    ],
    ids=["two items have the same", "an id that is a link"],
)
def test_where_links_change_what_tells_no_item_apart_makes_none_known(
    numbers: list[int], inside: str, taken: int
) -> None:
    memo, found = b"", 0
    for hour in range(8):
        link = f"https://news.example/{{n}}?t={hour}&amp;"
        body = linked(numbers, link, inside).replace(b"&amp;", b"", 1)  # the first has another link
        result = ask(memo, NOW_MS + (9 + hour) * HOUR_MS, body)
        memo, found = result.memo, len(result.new_items)
    assert found == taken


def test_an_older_page_under_the_titles_of_the_feed_is_taken() -> None:
    history = FeedHistory.unpack(ask(b"", NOW_MS, linked(range(5), "https://news.example/2/{n}", TITLE)).memo)
    history.relinked = 5
    history.catch_up = CatchUp(f"{URL}?paged=2", "paged", 2, history.last_s, [], [])
    older = Answer(f"{URL}?paged=2", 200, NOW_MS, body=linked(range(5), "https://news.example/1/{n}", TITLE))
    result = poll(URL, history.pack(), older)
    assert links(result) == [f"1/{n}" for n in range(5)]


def test_items_that_have_only_titles_and_change_their_links_are_taken_again_ever_more_rarely() -> None:
    """They may be others, as those of a list of programmes."""
    memo, waits, now_ms = b"", list[int](), NOW_MS
    for turn in range(30):
        body = linked(range(-1, -11, -1), f"https://news.example/a?n={{n}}&amp;t={turn}", "<title>Indaba {n}</title>")
        result = ask(memo, now_ms, body)
        assert len(result.new_items) == 10
        assert reasons(result) == []
        memo, now_ms = result.memo, now_ms + (result.again_in_ms or 0)
        waits.append(result.again_in_ms or 0)
    assert waits[-1] > 6 * HOUR_MS


@pytest.mark.parametrize(
    ("inside", "shown"),
    [
        ("<title>Isimo sezulu</title>", "all have one title"),
        ("<title>Isimo sezulu</title>{date}", "titles come again, dates do not"),
        ("<title>Isimo sezulu</title><guid isPermaLink='false'>{n}</guid>", "titles come again, ids do not"),
        ("<title>Indaba {n}</title>", "other titles"),
    ],
)
def test_items_of_a_window_that_is_renewed_whole_are_new(inside: str, shown: str) -> None:
    memo = ask(b"", NOW_MS, linked(range(-1, -4, -1), "https://news.example/{n}/", inside)).memo
    result = ask(memo, NOW_MS + 4 * HOUR_MS, linked(range(3, 0, -1), "https://news.example/{n}/", inside))
    assert links(result) == ["3", "2", "1"], shown


def test_an_item_that_is_no_more_remembered_has_its_link_still() -> None:
    """As one that stands above all others for long: no link of the feed has changed."""
    history = FeedHistory()
    entries = [FeedEntry(f"{URL}{n}", title=f"Indaba {n}", url=f"{URL}{n}", id=f"{n}") for n in range(5)]
    items = items_of(entries, history)
    note_names(items, history, NOW_MS // 1000)
    history.seen = [item.mark for item in items[1:]]
    assert items_of(entries, history) == items


def test_ids_that_are_places_in_the_list_make_no_item_known() -> None:
    def placed(newest: int) -> bytes:
        items = "".join(
            f"<item><link>https://news.example/{newest - place}/</link><title>Indaba {newest - place}</title>"
            f"<guid isPermaLink='false'>{place}</guid></item>"
            for place in range(5)
        )
        return f'<rss version="2.0"><channel>{items}</channel></rss>'.encode()

    memo = ask(b"", NOW_MS, placed(-1)).memo
    assert links(ask(memo, NOW_MS + 9 * HOUR_MS, placed(9))) == ["9", "8", "7", "6", "5"]


def test_one_slot_whose_link_changes_under_its_title_is_new_each_time() -> None:
    """As the weather on a front page."""

    def front(day: int) -> bytes:
        teasers = "".join(f'<h2><a href="/indaba-{n}">Isihloko sendaba enkulu {n}</a></h2>' for n in range(6))
        slot = f'<h2><a href="/isimo-sezulu/{day}">Isimo sezulu sanamuhla</a></h2>'
        return f"<html><body><main>{slot}{teasers}</main></body></html>".encode()

    memo = b""
    for day in range(4):
        result = ask(memo, NOW_MS + 24 * day * HOUR_MS, front(day), kind="index")
        assert f"https://news.example/isimo-sezulu/{day}" in [item.url for item in result.new_items]
        assert len(result.new_items) == (1 if day else 7)
        memo = result.memo


@pytest.mark.parametrize("links_too", [True, False])
def test_a_feed_that_moves_to_https_shows_no_item_as_new_that_was_known(links_too: bool) -> None:
    old, new = "http://news.example/feed/", "https://www.news.example/feed/"
    body = rss(range(-1, -11, -1)).replace(b"https:", b"http:")
    memo = poll(old, b"", Answer(old, 200, NOW_MS, body=body)).memo
    (follow,) = poll(old, memo, Answer(old, 301, NOW_MS + HOUR_MS, location=new)).follow_ups
    there = rss(range(1, -9, -1))
    there = there if links_too else there.replace(b"https:", b"http:")
    first = poll(new, follow.memo, Answer(new, 200, NOW_MS + HOUR_MS, body=there))
    assert [item.url.rpartition("/")[0][-2:] for item in first.new_items] == ["/1", "/0"]
    assert (first.stats.dated, first.stats.gaps, reasons(first)) == (0, 0, [])
    second = poll(new, first.memo, Answer(new, 200, NOW_MS + 2 * HOUR_MS, body=rss(range(2, -8, -1))))
    assert (links(second), second.stats.dated) == (["2"], 1)
    assert not poll(old, b"", Answer(old, 301, NOW_MS, location=new)).follow_ups[0].memo


def test_of_two_pages_that_are_remembered_by_the_same_number_both_are_told() -> None:
    """Of 40 sitemaps with 50,000 pages each that are eight pairs."""
    pages = ["https://a.example/27411", "https://a.example/50378"]
    assert fingerprint(pages[0]) == fingerprint(pages[1])
    body = "".join(f"<url><loc>{page}</loc></url>" for page in (*pages, pages[0]))
    assert links(ask(b"", NOW_MS, f"<urlset>{body}</urlset>".encode(), kind="sitemap")) == pages


def test_an_archive_that_is_put_into_a_large_sitemap_is_found_whatever_its_dates() -> None:
    def pages(numbers: Sequence[int], date: str) -> bytes:
        return b"".join(b"<url><loc>/%d</loc><lastmod>%s</lastmod></url>" % (n, date.encode()) for n in numbers)

    def ask_map(memo: bytes, now_ms: int, body: bytes) -> PollResult:
        return ask(memo, now_ms, b"<urlset>" + body + b"</urlset>", kind="sitemap")

    known = pages(range(999), "2026-08-31") + pages([999], "2026-09-01")
    first = ask_map(b"", NOW_MS, known)
    second = ask_map(first.memo, NOW_MS + HOUR_MS, known + pages(range(1000, 1300), "2016-05-31"))
    assert {*map(str, range(1000, 1300))} <= set(links(second))
    assert second.stats.new_items == 0, "it is not news, and no reason to poll more often"
    third = ask_map(second.memo, NOW_MS + 2 * HOUR_MS, known + b" " + pages(range(1000, 1300), "2016-05-31"))
    assert links(third) == []


def test_a_clock_that_is_put_back_does_not_put_off_the_feed_while_it_catches_up() -> None:
    memo = ask(b"", NOW_MS, rss(range(-1, -11, -1))).memo
    flood = ask(memo, NOW_MS + 40 * HOUR_MS, rss(range(40, 30, -1)))
    interval_s = FeedHistory.unpack(flood.memo).interval_s
    asked = request(URL, flood.memo, NOW_MS).url
    found = poll(URL, flood.memo, Answer(asked, 200, 1000, body=rss([*range(30, 0, -1), -1])))
    assert reasons(found) == ["gap_closed"]
    assert found.again_in_ms == interval_s * 1000


@pytest.mark.parametrize("dated", [True, False])
def test_a_clock_that_is_put_back_makes_no_feed_polled_more_often(dated: bool) -> None:
    """All that had come until then lay in times to come: each feed was polled every 45 s until the clock was there."""
    memo, now_ms = b"", NOW_MS
    for hours in range(0, 200, 5):
        now_ms = NOW_MS + hours * HOUR_MS
        memo = ask(memo, now_ms, rss(range(hours, hours - 40, -10), dated=dated)).memo
    before = FeedHistory.unpack(memo).interval_s
    again = ask(memo, now_ms - 30 * 24 * HOUR_MS, rss(range(195, 155, -10), dated=dated))
    assert again.warnings == ()
    assert before / 2 < FeedHistory.unpack(again.memo).interval_s < before * 2


def test_json_feed_and_items_without_a_page() -> None:
    items = [{"id": "1", "url": "/1?utm_source=rss&x=1"}, {"id": "2"}, {"id": "3", "url": "ftp://x/"}]
    body = json.dumps({"version": "https://jsonfeed.org/version/1.1", "items": items}).encode()
    assert [item.url for item in ask(b"", NOW_MS, body).new_items] == ["https://news.example/1?x=1"]


def test_counters_add_up_to_a_table() -> None:
    first = ask(b"", NOW_MS, rss([-1, -2]))
    second = ask(first.memo, NOW_MS + 2 * HOUR_MS, rss([1, -1, -2]))
    days = [as_counts(URL, first.stats), as_counts(URL, second.stats), {}]
    (row,) = rows(days)
    assert (row.stats.polls, row.stats.new_items, row.delay_s) == (2, 3, 3600)
    assert table([row])[1][-2:] == ("1.0 h", "")
    page = as_counts(URL, PollStats(fetched=1, fetch_delay_s=90))
    (row,) = rows([together([as_counts(URL, first.stats), page]), {URL: (1, 2, 3)}])  # counters of an older version
    assert (row.stats.polls, row.stats.unchanged, row.stats.new_items, row.fetch_delay_s) == (2, 2, 5, 90)
    assert counter_name(NOW_MS) == "harvest:2026-09-21"
    stale = stale_names(NOW_MS)
    assert stale[0] == "harvest:2026-07-21"
    assert stale[-1] < "harvest:2025-08"


def test_articles_are_revisited_ever_more_rarely() -> None:
    visit = revisit(b"", Look(b"a"))
    waits = [visit.again_in_ms]
    while visit.again_in_ms is not None:
        visit = revisit(visit.memo, None)
        waits.append(visit.again_in_ms)
    assert waits == [*(age * 1000 for age in AGES_S), None]
    changed = revisit(revisit(visit.memo, Look(b"a")).memo, Look(b"b"))
    assert changed.again_in_ms == AGES_S[0] * 1000
    for number in range(20):
        changed = revisit(changed.memo, Look(str(number).encode()))
    assert changed.again_in_ms is None


def test_a_revisit_asks_with_what_the_last_answer_said() -> None:
    first = revisit(b"", Look(b"text", b"body", 1_000, '"e1"', "Sat, 21 Nov 2026 00:00:00 GMT"))
    assert conditions(first.memo) == {"If-None-Match": '"e1"', "If-Modified-Since": "Sat, 21 Nov 2026 00:00:00 GMT"}
    same = revisit(first.memo, None)
    assert conditions(same.memo) == conditions(first.memo)
    assert stored_us(same.memo) == 1_000
    equal = revisit(same.memo, Look(b"text", b"body", 2_000))
    assert (equal.again_in_ms, conditions(equal.memo), stored_us(equal.memo)) == (AGES_S[2] * 1000, {}, 1_000)
    redone = revisit(equal.memo, Look(b"text", b"else", 3_000, '"e2"'))
    assert (redone.again_in_ms, stored_us(redone.memo)) == (AGES_S[3] * 1000, 3_000)
    assert conditions(redone.memo) == {"If-None-Match": '"e2"'}


@pytest.mark.parametrize("bad", ["x" * 201, "a\nb", "a\r\nHost: b", "\0"])
def test_a_validator_that_could_not_be_sent_is_not_kept(bad: str) -> None:
    assert conditions(revisit(b"", Look(b"text", etag=bad, modified=bad)).memo) == {}


@pytest.mark.parametrize("memo", [b"", b"\0", b"\0421010aB-_"])
def test_a_first_fetch_has_no_conditions(memo: bytes) -> None:
    assert conditions(memo) == {}
    assert stored_us(memo) == 0


def test_polling_bounds_are_obeyed() -> None:
    polling = Polling(min_s=7200, jitter=0)
    result = poll(URL, b"", Answer(URL, 200, NOW_MS, body=rss(range(-1, -11, -1))), polling)
    assert result.again_in_ms == 2 * HOUR_MS


def test_a_seed_that_fails_at_once_is_told_at_once() -> None:
    first = ask(b"", NOW_MS, status=404)
    (warning,) = first.warnings
    assert (warning.reason, warning.detail) == ("failing", "at its first poll: status 404")
    assert FeedHistory.unpack(first.memo).problem == "status 404"
    assert not ask(first.memo, NOW_MS + HOUR_MS, status=404).warnings  # the second time it is known
    page = ask(b"", NOW_MS, b"<!doctype html><html><body><p>x</p></body></html>")
    assert reasons(page) == ["refused"]  # once is enough
    good = ask(first.memo, NOW_MS + HOUR_MS, rss([-1]))
    assert not FeedHistory.unpack(good.memo).problem
