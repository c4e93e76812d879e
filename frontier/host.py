"""One authority's state as MemoryFrontier keeps it, and the arithmetic of politeness on it.

``lua/_visits.lua`` has the same record, much of it under the same names, ``lua/_places.lua`` and ``lua/_queues.lua``
the same functions.
"""

from __future__ import annotations

import bisect
import itertools
from collections import deque
from dataclasses import dataclass, field

from frontier.config import FrontierConfig
from frontier.outcomes import DAY, MINUTE, SECOND, Row, backoff_ms, forgiven
from frontier.payload import band, has_failed, is_requisite, put_behind, section
from frontier.types import BANDS, HostPolicy, RobotsRecord

# The Lua scripts have these from here, too (frontier/scripts.py).
UNPARKED_AT_ONCE = 16
PARKED_AT_ONCE = 1000
EXPIRED_AT_ONCE = 64
OPTED_OUT_AT_ONCE = 100
EQUAL_PAGES = "trap_equal_pages"
QUOTAS = ("quota", "quota_bytes")
MOST_SECTIONS = 8
MOST_HOPS = 5
REFRESH_SHARE = 4
MOST_CREDIT = 16  # turns that those worth least may save up
MORE_MS = 10 * SECOND  # until one is looked at again of which more is due than comes at a time
PUT_BACK_MS = MINUTE  # a wait that is longer by so much is of a clock that was put back


def _bands() -> list[deque[bytes]]:
    return [deque() for _ in range(BANDS)]


@dataclass(slots=True)
class Host:
    """Visit state of one authority."""

    authority: str
    bands: list[deque[bytes]] = field(default_factory=_bands)
    hops: deque[bytes] = field(default_factory=deque)  # redirected robots.txt, exempt from robots
    parked: list[tuple[int, bytes, str]] = field(default_factory=list)  # (until, reason NUL element, reason)
    token: str = ""  # the lease that holds it
    served: int = 0  # number of its last lease: the smaller, the longer it has waited
    rank: tuple[int, int, bytes] | None = None  # its place in line since it became due
    waits: bool = False  # for its address: nobody looks at it before that is free
    look_ms: int = 0  # when it gets another place in line
    looked_ms: int = 0  # its first_parked_ms() when it got this one
    next_ms: int = 0  # politeness
    rest_ms: int = 0  # nothing at all before
    rest_reason: str = ""
    gate_ms: int = 0  # nothing but redirected robots.txt before
    gate_reason: str = ""
    robots: RobotsRecord | None = None
    robots_ms: int = 0
    robots_expires_ms: int = 0
    robots_retry_ms: int = 0  # robots.txt not asked for again before
    robots_failures: int = 0
    crawl_delay_ms: int = 0
    address: str = ""
    address_until_ms: int = 0
    failures: int = 0
    forgiven_from_ms: int = 0
    last_fetch_ms: int = 0
    pages: int = 0
    fetched_bytes: int = 0
    words: int = 0
    admitted: int = 0
    query_urls: int = 0
    traps: int = 0
    sketch: dict[int, int] = field(default_factory=dict)
    marks: deque[bytes] = field(default_factory=deque)
    mark_balance: int = 0
    equal_ms: int = 0  # URLs of the last band wait until then, those of these sections of the site, or all (None)
    equal_sections: list[bytes] | None = None
    paused: bool = False
    policy: HostPolicy = field(default_factory=HostPolicy)

    def queued(self) -> int:
        """URLs that wait, without the parked ones."""
        return sum(map(len, self.bands))

    def best_band(self) -> int:
        """Best band with a URL; the worst when there is none."""
        return next((number for number, queue in enumerate(self.bands) if queue), BANDS - 1)

    def next_queue(self) -> deque[bytes] | None:
        """The band that its next URL comes from: the best, but of a host that has failed the best whose first URL is no
        page that has (not the last: its share is bounded), if there is one."""
        best = next((queue for queue in self.bands if queue), None)
        if not self.failures:
            return best
        return next((queue for queue in self.bands[:-1] if queue and not has_failed(queue[0])), best)

    def requisites(self) -> deque[bytes] | None:
        """The best band when a page embeds what is first there, else None. Up to :data:`OPTED_OUT_AT_ONCE` others go to
        the end of the second band before, lest they be met again and again while what pages embed alone is fetched."""
        best = self.bands[0]
        for _ in range(OPTED_OUT_AT_ONCE):
            if not best or is_requisite(best[0]):
                return best or None
            self.push(put_behind(best.popleft()))
        return None

    def requisites_ms(self, obey_robots: bool) -> int | None:
        """As :meth:`ready_ms`, for what pages embed alone."""
        ready_ms = self.ready_ms(obey_robots)
        if ready_ms is None or self.hops or self.bands[0]:
            return ready_ms
        first = self.first_requisite_ms()
        return None if first is None else max(ready_ms, first)

    def first_requisite_ms(self) -> int | None:
        """When the first of what pages embed comes back, of the first :data:`PARKED_AT_ONCE` that are parked."""
        parked = itertools.islice(self.parked, PARKED_AT_ONCE)
        return next((until for until, member, _ in parked if is_requisite(member.partition(b"\0")[2])), None)

    def first_parked_ms(self) -> int:
        """When the first of what is parked comes back; 0 when nothing is."""
        return self.parked[0][0] if self.parked else 0

    def ready_ms(self, obey_robots: bool) -> int | None:
        """Earliest instant of its next lease as things stand; None when it has nothing to fetch."""
        start = max(self.next_ms, self.rest_ms)
        if self.hops:
            return start
        if self.queued():
            start = max(start, self.gate_ms)
        elif self.parked:
            start = max(start, self.gate_ms, self.parked[0][0])
        else:
            return None
        if obey_robots and self.robots_expires_ms <= start:
            start = max(start, self.robots_retry_ms)
        return start

    def wants_robots(self, due_ms: int, config: FrontierConfig) -> bool:
        """Whether a lease due at `due_ms` must be (no valid record) or should be (refresh) its robots.txt."""
        if not config.obey_robots:
            return False
        left_ms = self.robots_expires_ms - due_ms
        if left_ms <= 0:
            return True
        window_ms = min(config.robots_refresh_ms, (self.robots_expires_ms - self.robots_ms) // REFRESH_SHARE)
        return left_ms < window_ms and self.robots_retry_ms <= due_ms

    def spent_quota(self) -> str:
        """Reason why the host's rules allow no more of it; "" when they do. That of pages last: it may leave what they
        embed."""
        if self.policy.max_bytes and self.fetched_bytes >= self.policy.max_bytes:
            return "quota_bytes"
        return "quota" if self.policy.max_pages and self.pages >= self.policy.max_pages else ""

    def delay_ms(self, config: FrontierConfig) -> int:
        """Politeness delay of the authority after its last answer."""
        configured = config.delay_ms if self.policy.delay_ms is None else self.policy.delay_ms
        return max(configured, self.crawl_delay_ms, self._adaptive_ms(config))

    def address_delay_ms(self, config: FrontierConfig) -> int:
        """Politeness delay of its address after its last answer."""
        own = self.policy.address_delay_ms
        return max(config.address_delay_ms if own is None else own, self._adaptive_ms(config))

    def _adaptive_ms(self, config: FrontierConfig) -> int:
        return min(config.adaptive_cap_ms, int(config.delay_factor * self.last_fetch_ms))

    def push(self, element: bytes, *, front: bool = False) -> None:
        """Queue an element in its band."""
        queue = self.bands[band(element)]
        if front:
            queue.appendleft(element)
        else:
            queue.append(element)

    def park(self, element: bytes, reason: str, until_ms: int) -> bool:
        """Park an element; False when it was parked for that reason already (then only its time changes)."""
        member = reason.encode() + b"\0" + element
        old = [entry for entry in self.parked if entry[1] == member]
        for entry in old:
            self.parked.remove(entry)
        bisect.insort(self.parked, (until_ms, member, reason))
        return not old

    def unpark(self, until_ms: int, most: int = 0) -> list[str]:
        """Queue up to `most` (0: :data:`UNPARKED_AT_ONCE`) parked elements whose time has come, in front; their
        reasons. Pages that have failed go behind what waits: in front, some that are broken for good would fail again
        and again before any other is asked for, and their host rest for days. So does what waited for equal pages, lest
        a trap have each day's first turns; while that section waits for those again, it waits on with it. Without
        `most` it is for a lease due at `until_ms`, perhaps ahead of time: before, the host gives nothing."""
        reasons: list[str] = []
        due = itertools.takewhile(lambda entry: entry[0] <= until_ms, self.parked)
        for entry in list(itertools.islice(due, most or PARKED_AT_ONCE)):
            _, member, reason = entry
            if reason == EQUAL_PAGES and self.is_trapped(member.partition(b"\0")[2], until_ms):
                self.parked.remove(entry)
                bisect.insort(self.parked, (self.equal_ms, member, reason))
            elif len(reasons) < (most or UNPARKED_AT_ONCE):
                self.parked.remove(entry)
                waiting = member.partition(b"\0")[2]
                self.push(waiting, front=reason != EQUAL_PAGES and not has_failed(waiting))
                reasons.append(reason)
        if reasons and not most:
            self.next_ms = max(self.next_ms, until_ms)
        return reasons

    def is_trapped(self, element: bytes, now_ms: int) -> bool:
        """Whether what an element leads to looks like a trap's: it is worth least, and its section has given equal
        pages."""
        if self.equal_ms <= now_ms or not element or band(element) < BANDS - 1:
            return False
        return self.equal_sections is None or section(element) in self.equal_sections

    def trap(self, element: bytes, now_ms: int, *, equal: bool) -> bool:
        """Whether what `element` led to looks like a trap's, with `equal`, an equal page, for the first time. Then what
        waits of its section among the first :data:`PARKED_AT_ONCE` of the last band is parked for a day, as what comes
        to it will be. In this time each further section is added; after :data:`MOST_SECTIONS` it is the whole band."""
        if not self.is_trapped(element, now_ms):
            if not equal or not element or band(element) < BANDS - 1:
                return False
            if self.equal_ms <= now_ms:
                self.equal_ms, self.equal_sections = now_ms + DAY, []
            sections = self.equal_sections or []
            self.equal_sections = [*sections, section(element)] if len(sections) < MOST_SECTIONS else None
        worst, others = self.bands[-1], []
        for waiting in [worst.popleft() for _ in range(min(PARKED_AT_ONCE, len(worst)))]:
            if self.is_trapped(waiting, now_ms):
                self.park(waiting, EQUAL_PAGES, self.equal_ms)
            else:
                others.append(waiting)
        worst.extendleft(reversed(others))
        return True

    def forget_urls(self) -> int:
        """Forget all that waits or is parked; the number of URLs."""
        number = self.queued() + len(self.parked)
        for queue in (*self.bands, self.hops):
            queue.clear()
        self.parked.clear()
        return number

    def rest(self, until_ms: int, reason: str) -> None:
        """Let it rest, if that is longer than it rests already."""
        if until_ms > self.rest_ms:
            self.rest_ms, self.rest_reason = until_ms, reason

    def fail(self, row: Row, now_ms: int, jitter: float) -> int:
        """Count a failure of the host; the rest in ms that the row demands without a Retry-After."""
        self.failures = forgiven(self.failures, self.forgiven_from_ms, now_ms) + 1
        return backoff_ms(row.rest_base_ms, row.rest_cap_ms, self.failures - 1, jitter)

    def heal(self, now_ms: int) -> None:
        """Forgive one failure."""
        if self.failures:
            self.failures = max(0, forgiven(self.failures, self.forgiven_from_ms, now_ms) - 1)
            self.forgiven_from_ms = now_ms

    def mark(self, page_mark: bytes, kept: int) -> int:
        """Note a page's mark; the balance of pages that look like one of the last `kept` different ones."""
        if page_mark in self.marks:
            self.mark_balance += 1
        else:
            self.marks.append(page_mark)
            if len(self.marks) > kept:
                self.marks.popleft()
            self.mark_balance = max(0, self.mark_balance - 1)
        return self.mark_balance
