"""One poll of a feed as a pure function: from what is remembered and answered to what is new and when to ask again.

A poll is a recurring entry of the frontier. Whoever holds its lease asks `request` what to send, sends it, gives the
answer to `poll`, puts `new_items` and `follow_ups` into the sieve, and reports the lease with `memo` and `again_in_ms`.
So polls are polite, shared between processes and safe from crashes for the same reasons as any fetch: no poll happens
twice at a time, and a poll whose process died happens again with the memory of the one before.

A gap (nothing that was newest last time is still shown, and the window may have overflowed) makes the same entry come
back at once for older pages (`seeds.harvest.catch_up`) until the gap is closed, taking turns with ordinary polls
that fall due meanwhile; a gap that one of these finds is a part of the same search.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import xxhash

from seeds.errors import SeedsError
from seeds.feeds.types import FeedEntry, FeedHints
from seeds.harvest import catch_up, schedule
from seeds.harvest.answers import Answer, Document, cache_lifetime_s, read
from seeds.harvest.history import MAX_SEEN, CatchUp, FeedHistory, recalled
from seeds.harvest.items import Item, items_of, note_names, note_unchanged
from seeds.harvest.schedule import Polling
from seeds.harvest.types import FollowUp, PollRequest, PollResult, PollStats, PollWarning
from seeds.sitemaps.parsing import MAX_ENTRIES
from sieve.urls import canonicalize_many

_ANCHORS = 5
_FEW = 3
_PAGE_AGAIN_MS = 1000
_BUSY_AGAIN_MS = 600_000  # as of other pages (frontier/outcomes.py): with each 5xx at once the whole host rests longer
_LONGEST_SPELLING = 200
_LONGEST_PROBLEM = 100
_ASK_ANEW_EVERY = 25  # unchanged answers before one poll without conditions
_UNTRUE = 2  # items that were there before


def request(url: str, memo: bytes, now_ms: int) -> PollRequest:
    """What to ask for: the feed, on condition that it changed, or an older page while catching up. After a failure
    without conditions: they may be what the server chokes on."""
    history = recalled(memo)[0]
    if history.catch_up and (history.catch_up.owed or now_ms // 1000 < history.due_s):
        return PollRequest(history.catch_up.url)
    headers: dict[str, str] = {}
    if _on_condition(history):
        if history.etag:
            headers["If-None-Match"] = history.etag
        if history.modified:
            headers["If-Modified-Since"] = history.modified
    return PollRequest(history.spelled or url, headers)


def poll(url: str, memo: bytes, answer: Answer, polling: Polling = Polling()) -> PollResult:  # noqa: B008
    """Judge an answer to `request(url, memo, …)`; `url` is the feed's own address."""
    history, lost = recalled(memo)
    warnings = [PollWarning("memo_lost", lost)] if lost else []
    visit = _Visit(url, history, answer, polling, warnings)
    if history.catch_up and answer.asked == history.catch_up.url and answer.asked != url:
        return visit.older_page(history.catch_up)
    return visit.feed()


class _Visit:
    """One answer, one history: the steps of `poll`."""

    def __init__(
        self, url: str, history: FeedHistory, answer: Answer, polling: Polling, warnings: list[PollWarning]
    ) -> None:
        self._url = url
        self._history = history
        self._answer = answer
        self._polling = polling
        self._warnings = warnings
        self._now_s = answer.now_ms // 1000
        self._conditional = False

    def feed(self) -> PollResult:
        """The feed itself answered, or did not."""
        history, answer = self._history, self._answer
        self._conditional = _on_condition(history)
        history.polls += 1
        history.put_back(self._now_s)
        history.first_s = history.first_s or self._now_s
        if answer.location and 300 <= answer.status < 400 and answer.status != 304:
            return self._moved()
        reason, before = answer.problem or f"status {answer.status}", history.problem
        if answer.status == 410:  # sites say so by mistake, too: it is asked once more after weeks
            self._warn("gone", "the publisher says that the feed has ended (410)")
            failed, weeks_ms = self._failed(reason), int(self._polling.gone_again_s * 1000)
            return replace(failed, again_in_ms=None if before == reason else max(failed.again_in_ms or 0, weeks_ms))
        if answer.problem or not (answer.status == 304 or 200 <= answer.status < 300):
            return self._failed(reason)
        if answer.status == 304:
            return self._unchanged() if history.digest else self._failed("status 304 without a condition")
        digest = xxhash.xxh3_64_digest(answer.body)
        if digest == history.digest:
            history.keep_validators(answer.header("etag"), answer.header("last-modified"))
            return self._unchanged()
        try:
            document = read(answer, self._url, history)
        except SeedsError as error:
            self._warn("refused", str(error))
            return self._failed(str(error))
        history.digest, history.stored_us = digest, answer.fetched_us
        history.keep_validators(answer.header("etag"), answer.header("last-modified"))
        return self._fresh(document)

    def older_page(self, up: CatchUp) -> PollResult:
        """A page asked for while catching up answered, or did not."""
        history, answer = self._history, self._answer
        up.owed = False
        stats = PollStats(pages_back=1)
        new: tuple[FeedEntry, ...] = ()
        state, wait_ms = "open", _PAGE_AGAIN_MS
        try:
            if answer.problem or answer.status != 200:
                raise SeedsError(answer.problem or f"status {answer.status}")
            document = read(answer, up.url, history, since_s=up.since_s if up.step == catch_up.SITEMAP else 0)
        except SeedsError:
            left = catch_up.skip(up, again=answer.may_pass) and up.pages < self._polling.max_pages_back
            state = "on" if left else "open"
            wait_ms = _BUSY_AGAIN_MS if answer.may_pass else wait_ms
        else:
            catch_up.add_sitemaps(up, document.sitemaps)
            unknown = self._unknown(items_of(document.feed.entries, history))
            new = tuple(item.entry for item in unknown)
            history.seen = list(dict.fromkeys([*history.seen, *(item.mark for item in unknown)]))[: history.room]
            state = catch_up.advance(history, up, document.feed, len(new), self._polling.max_pages_back)
            stats = PollStats(pages_back=1, new_items=len(new), recovered=len(new))
        # No later than after a whole interval: this clock may be far behind the one by which the feed was polled.
        due_in_ms = min(max(0, history.due_s * 1000 - answer.now_ms), history.interval_s * 1000)
        if state == "on":
            return self._result(max(_PAGE_AGAIN_MS, min(wait_ms, due_in_ms)), stats, new)
        history.catch_up = None
        missed = 0 if state == "closed" else max(1, up.lost - up.recovered)
        self._warn(f"gap_{state}", f"{up.recovered} items recovered from {up.pages} older pages")
        return self._result(due_in_ms, replace(stats, missed=missed), new)

    def _fresh(self, document: Document) -> PollResult:
        history, now_s = self._history, self._now_s
        first = not history.last_s
        items = items_of(document.feed.entries, history)
        fresh, old = self._of_many(items)
        new = [item.entry for item in fresh]
        self._doubt(new)
        gap = not first and document.ordered and self._is_gap(items, new)
        lost, searched = self._begin_catch_up(document) if gap else (0, True)
        self._learn(document, items, fresh)
        dated = [entry.published_ms for entry in new if entry.published_ms and not first]
        delays = [max(0, now_s - published // 1000) for published in dated]
        wants, most = self._answer.wants_sitemap, self._answer.most_sitemaps
        named = [address for address in document.sitemaps if wants is None or wants(address)]
        follow_ups = tuple(FollowUp(address, "sitemap", "index") for address in named[:most])
        stats = PollStats(
            polls=1,
            unchanged=int(not new and bool(document.feed.entries)),
            new_items=len(new),
            gaps=int(gap),
            missed=0 if searched else lost,
            dated=len(delays),
            delay_s=sum(delays),
            left_out=self._tell_left_out(document.left_out, len(named) - len(follow_ups)),
        )
        return self._scheduled(stats, (*new, *old), follow_ups)

    def _doubt(self, new: Sequence[FeedEntry]) -> None:
        """Whether to believe a 304: items that were there before may have been written long before they were shown, but
        then some are met on condition, too. A server that answers a condition with what is new is believed again."""
        history = self._history
        if self._conditional:
            history.doubted &= not new
            history.untrue &= not new
        elif not (history.same + 1) % _ASK_ANEW_EVERY and _there_before(new, history.last_s) >= _UNTRUE:
            history.untrue |= history.doubted
            history.doubted = True

    def _unchanged(self) -> PollResult:
        history, now_s = self._history, self._now_s
        history.same += 1
        note_unchanged(history, now_s)
        if history.window and history.last_s:
            history.window_age_s += now_s - history.last_s
            schedule.note_life(history, {mark.item for mark in history.sentinels}, None, now_s)
        return self._scheduled(PollStats(polls=1, unchanged=1))

    def _scheduled(
        self, stats: PollStats, new: tuple[FeedEntry, ...] = (), follow_ups: tuple[FollowUp, ...] = ()
    ) -> PollResult:
        history, now_s = self._history, self._now_s
        history.errors = history.failing_since_s = 0
        history.problem = ""
        history.last_s = now_s
        history.max_age_s = cache_lifetime_s(self._answer)
        interval_s = schedule.next_interval_s(history, self._url, now_s, self._polling)
        history.interval_s = int(interval_s)
        history.due_s = now_s + int(interval_s)
        if history.catch_up:
            history.catch_up.owed = True
        return self._result(_PAGE_AGAIN_MS if history.catch_up else int(interval_s * 1000), stats, new, follow_ups)

    def _failed(self, reason: str) -> PollResult:
        history, now_s = self._history, self._now_s
        history.errors += 1
        history.failing_since_s = history.failing_since_s or now_s
        history.problem = reason[:_LONGEST_PROBLEM]
        if history.spelled:
            history.respell("")
        wait_s = schedule.retry_in_s(history, self._url, now_s, self._polling)
        wait_s = max(wait_s, (self._answer.retry_after_ms or 0) / 1000)
        history.due_s = now_s + int(wait_s)
        if history.errors in (5, 50):
            self._warn("failing", f"{history.errors} times in a row, now {reason}")
        elif history.polls == 1 and not self._warnings:  # the seed may be wrong, so a person wants to know at once
            self._warn("failing", f"at its first poll: {reason}")
        return self._result(int(wait_s * 1000), PollStats(polls=1, errors=1))

    def _moved(self) -> PollResult:
        """Follow by a new entry, whose host has its own robots.txt and politeness. The old one is asked ever more
        rarely, and the least often when it moved for good: servers say so of all their pages while they are mended, and
        feeds come back."""
        history, target = self._history, self._answer.location
        here, there = canonicalize_many([self._url, target])
        if there is None:
            return self._failed("redirect to nowhere")
        if here == there:
            return self._respelled(target)
        kind = "sitemap" if self._answer.kind == "sitemap" else "feed"
        moved = FollowUp(target, kind, "moved", history.handed_on())
        wait_s = self._polling.max_s
        if self._answer.status in (301, 308):
            self._warn("moved", f"for good, to {target}")
        else:
            history.errors += 1
            wait_s = min(wait_s, schedule.retry_in_s(history, self._url, self._now_s, self._polling))
        return self._result(int(wait_s * 1000), PollStats(polls=1), follow_ups=(moved,))

    def _respelled(self, target: str) -> PollResult:
        """The server wants the very same URL spelled another way (without a tracking parameter, in another order),
        which the sieve would never let out: the entry asks so from now on, and at once when all was well before."""
        first = not self._history.errors
        failed = self._failed("redirect to another spelling of itself")
        if target == self._answer.asked or len(target) > _LONGEST_SPELLING:
            return failed
        self._history.respell(target)
        again_in_ms = _PAGE_AGAIN_MS if first else failed.again_in_ms
        return self._result(again_in_ms, PollStats(polls=1, errors=int(not first)))

    def _unknown(self, items: Sequence[Item]) -> list[Item]:
        """Those not seen before, or not for certain, in their order; each address once."""
        known = set(self._history.seen)
        new: dict[str, Item] = {}  # not by mark: of 50,000 pages in a sitemap two may have one
        for item in items:
            if (item.mark not in known or item.again) and item.entry.url.startswith(("http://", "https://")):
                new.setdefault(item.entry.url, item)
        return list(new.values())

    def _of_many(self, items: Sequence[Item]) -> tuple[list[Item], list[FeedEntry]]:
        """The items not seen before; where more are shown than are remembered, those that may have been put in since
        the last poll. Apart what says nothing of the pace: those that are old, by their dates or most likely, and those
        that were most likely shown under another link."""
        history = self._history
        fresh = history.regroup({item.mark for item in items})
        unknown = self._unknown(items)
        again = [item.entry for item in unknown if item.again]
        unknown = [item for item in unknown if not item.again]
        if len(history.seen) < MAX_SEEN or not history.groups:
            return unknown, again
        newest_ms, news, old = history.newest_s * 1000, list[Item](), list[FeedEntry]()
        for item in unknown:
            if item.mark in fresh:
                is_news = fresh[item.mark] and (item.entry.published_ms or newest_ms) >= newest_ms
                if is_news:
                    news.append(item)
                else:
                    old.append(item.entry)
        return news, old + again

    def _is_gap(self, items: Sequence[Item], new: Sequence[FeedEntry]) -> bool:
        history = self._history
        if not new or not history.seen or any(item.relinked for item in items):
            return False
        marks = {item.mark for item in items}
        if marks.intersection(history.seen[:_ANCHORS]):
            return False
        elapsed = self._now_s - history.last_s
        few = history.widest <= _FEW
        if few and schedule.rate_at_last_poll(history) * elapsed < history.widest:
            return False  # such a window is often renewed whole
        return not (elapsed < history.life_s and (few or len(marks) < history.widest))

    def _begin_catch_up(self, document: Document) -> tuple[int, bool]:
        """Start the search, or anew one that is under way, which began below what is missing now. About how many items
        were lost, and whether there is somewhere to look for them."""
        history, now_s = self._history, self._now_s
        dates = [min(now_s, entry.published_ms // 1000) for entry in document.feed.entries if entry.published_ms]
        unseen_s = max(0, (min(dates) if dates else now_s) - (history.newest_s or history.last_s))
        lost = max(1, round(schedule.rate_at_last_poll(history) * unseen_s))
        up = catch_up.begin(history, document.feed, self._url, self._answer.sitemaps, lost)
        history.catch_up = up or history.catch_up
        where = "paging back" if up else "nowhere to page back to"
        self._warn("gap", f"the newest items of the last poll are gone, about {lost} missed; {where}")
        return lost, up is not None

    def _tell_left_out(self, entries: int, sitemaps: int) -> int:
        """Tell of what is beyond the limit when that begins, not with each poll; how many were told of."""
        before, self._history.left_out = self._history.left_out, entries + sitemaps
        if before or not self._history.left_out:
            return 0
        if sitemaps:
            self._warn("over_limit", f"{sitemaps} sitemaps left out, all but the newest {self._answer.most_sitemaps}")
        else:
            self._warn("over_limit", f"{entries} addresses left out, all beyond the first {MAX_ENTRIES}")
        return self._history.left_out

    def _learn(self, document: Document, items: Sequence[Item], fresh: Sequence[Item]) -> None:
        """Take note of what is shown and of what is new of it: for the schedule, and to know it next time."""
        history, known = self._history, self._history.last_s > 0
        new = [item.entry for item in fresh]
        dated = [_published_s(item.entry) for item in items]
        in_order = _newest_first(items)
        marks, new_marks = [item.mark for item in in_order], {item.mark for item in fresh}
        fresh_marks = [mark for mark in marks if mark in new_marks]
        self._note_pace(dated, new)
        note_names(in_order, history, self._now_s)
        schedule.note_life(history, set(marks), next(iter(fresh_marks), None), self._now_s)
        history.remember(fresh_marks if known else marks)
        history.newest_s = max([history.newest_s, *(when for when in dated if when <= self._now_s)], default=0)
        history.same = 0 if new else history.same + 1
        for place in (document.places.get(entry.url) for entry in new if known):
            if place is not None:
                history.places[place] = history.places.get(place, 0) + 1
        self._heed(document.feed.hints)

    def _note_pace(self, dated: Sequence[int], new: Sequence[FeedEntry]) -> None:
        """When the items appeared that are shown (`dated`) and that are `new`, as far as their dates tell."""
        history, now_s, last_s = self._history, self._now_s, self._history.last_s
        # A date before the last poll is when it was written, not when it appeared; the first poll has nothing better.
        appeared = [_published_s(entry) for entry in new]
        schedule.note_items(history, [when if not last_s or when > last_s else 0 for when in appeared], now_s)
        ages = [now_s - when for when in dated if 0 < when <= now_s]
        schedule.note_window(history, ages, len(dated), len(new), now_s)

    def _heed(self, hints: FeedHints) -> None:
        history = self._history
        history.ttl_s, history.period_s = hints.ttl_s or 0, hints.update_period_s or 0
        history.skip_hours = sum(1 << hour for hour in hints.skip_hours)
        history.skip_days = sum(1 << day for day in hints.skip_days)

    def _warn(self, reason: str, detail: str) -> None:
        self._warnings.append(PollWarning(reason, detail))

    def _result(
        self,
        again_in_ms: int | None,
        stats: PollStats,
        new: tuple[FeedEntry, ...] = (),
        follow_ups: tuple[FollowUp, ...] = (),
    ) -> PollResult:
        return PollResult(self._history.pack(), again_in_ms, new, follow_ups, tuple(self._warnings), stats)


def stored_us(url: str, memo: bytes, answer: Answer) -> int:
    """When the document was fetched, from the same address, that an answer "not modified" says is still valid; epoch
    microseconds, 0 = not known, or another answer."""
    history = recalled(memo)[0]
    return history.stored_us if answer.status == 304 and answer.asked == (history.spelled or url) else 0


def _on_condition(history: FeedHistory) -> bool:
    """Whether to ask for the feed on condition that it changed: but for one poll in 25, and for one in 25 alone of a
    server that was found to say that nothing has."""
    if history.errors or not (history.etag or history.modified):
        return False
    if history.untrue:
        return history.polls % _ASK_ANEW_EVERY == 0
    return (history.same + 1) % _ASK_ANEW_EVERY != 0


def _there_before(new: Sequence[FeedEntry], last_s: int) -> int:
    """How many items were, by their dates, or may have been, having none."""
    return sum(_published_s(entry) <= last_s for entry in new)


def _newest_first(items: Sequence[Item]) -> list[Item]:
    """By their dates where all have one, else as they stand."""
    if all(_published_s(item.entry) for item in items):
        return sorted(items, key=lambda item: -(item.entry.published_ms or 0))
    return list(items)


def _published_s(entry: FeedEntry) -> int:
    """0 without a date."""
    return entry.published_ms // 1000 if entry.published_ms else 0
