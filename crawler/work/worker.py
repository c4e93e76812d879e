"""This process' part in the crawl: leases in, finished work out, without ever blocking the reactor.

Four loops beside Scrapy's engine, each with a thread for its calls to Redis and disk: one keeps a small buffer of
leases that are due now, one commits what is finished (committer), one tells of it afterwards (teller), one moves to the
frontier what the sieve lets out (intake). The scheduler, the download handler and the middlewares meet here; what they
ask the frontier waits for none of these loops, nor for one another. All find it with ``crawler.get_extension``.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import heapq
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self, TypeVar

from scrapy import Spider
from scrapy.crawler import Crawler

from archive import ArchiveError, ArchiveFull
from crawler.errors import PreflightError
from crawler.fetch.handler import Capture
from crawler.pages.findings import Finding, Finished
from crawler.pages.requisites import is_requisite
from crawler.preflight import settings_faults
from crawler.signals import stopping
from crawler.state.folder import data_folder
from crawler.work.endings import FAULT, foreseen, why_over
from crawler.work.held import HeldLease
from crawler.work.intake import Intake
from crawler.work.loops import in_thread, pause
from crawler.work.redis_watch import RedisWatch
from crawler.work.shutdown import Shutdown
from crawler.work.stores import Stores, open_patiently
from crawler.work.teller import Reported
from frontier.clock_line import uptime_s
from frontier.errors import FrontierFull, FrontierUnavailable
from frontier.outcomes import DAY, SECOND, of_requisite
from frontier.redis_frontier import RedisFrontier
from frontier.types import Bound, Candidate, Grant, Lease, RobotsRecord
from sieve.errors import LinkError

logger = logging.getLogger(__name__)
T = TypeVar("T")

_COMMIT_EVERY_S = 0.03
_LONGEST_WAIT_S = 0.2
_SHORTEST_WAIT_S = 0.005
_AWAY_PAUSE_S = 1.0
_IDLE_LOOK_S = 0.5
_GRACE_S = 3.0  # for answers under way when the crawl is stopped, before they are given back
_MOST_A_COMMIT = 500
_MOST_ENQUEUED = 10_000
_ASKED_AT_ONCE = 8
_MOST_AHEAD_MS = 1000  # as for FRONTIER_AHEAD_MS (crawler/options.py)


class Worker:
    """See the module; created by Scrapy, opened and closed by the scheduler."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        settings = crawler.settings
        self._most_held = settings.getint("FRONTIER_BUFFER")
        self._least_ahead_ms = settings.getint("FRONTIER_AHEAD_MS")
        self._idle_close_s = settings.getfloat("FRONTIER_IDLE_CLOSE_S")
        self._fetch_timeout_s = settings.getfloat("DOWNLOAD_TIMEOUT")
        self._ask_threads = ThreadPoolExecutor(_ASKED_AT_ONCE, thread_name_prefix="ask")
        self._lease_thread = ThreadPoolExecutor(1, thread_name_prefix="lease")
        self._commit_thread = ThreadPoolExecutor(1, thread_name_prefix="commit")
        self._buffer: list[HeldLease] = []  # heap: leases that nothing was sent on yet, the first that is due in front
        self._held: set[str] = set()  # tokens of all leases of this process
        self._ended: set[str] = set()  # of those held: finished, and not reported yet
        self._returned: list[str] = []  # tokens to be given back with the next round of leasing
        self._finished: list[Finished] = []  # to be committed
        self._enqueued: list[Candidate] = []  # to be committed with them: a spider's own requests
        self._loops: list[asyncio.Task[None]] = []
        self._telling: asyncio.Task[None]
        self._closing_task: asyncio.Future[None] | None = None
        self._claims: set[asyncio.Future[Bound]] = set()  # of addresses, under way
        self._to_commit, self._to_lease = asyncio.Event(), asyncio.Event()  # wake the loops that do
        self._committing = self._closing = self._stays = False
        self._redis_watch = RedisWatch()
        self._quiet: tuple[int, ...] | None = None  # how far the fleet had come at the last look that found it so
        self._moved_before = 0  # by the intake, at that look
        self._lease_pause_s = _SHORTEST_WAIT_S
        self._round_s = 0.0  # what the last round of leasing took
        self.exhausted = self.unfinished = False
        self._opened = contextlib.ExitStack()
        self.before_close: list[Callable[[Worker], Awaitable[None]]] = []
        self._shutdown = Shutdown(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """PreflightError: so that a project that only has the add-on refuses, too, to crawl without a contact."""
        if faults := settings_faults(crawler.settings, crawler.spidercls):
            raise PreflightError("\n".join(faults))
        return cls(crawler)

    @property
    def is_open(self) -> bool:
        """Whether :meth:`open` has come to its end."""
        return bool(self._loops)

    @property
    def stores(self) -> Stores:
        """The crawl's stores; open between :meth:`open` and :meth:`close`."""
        return self._stores

    @property
    def leases_held(self) -> int:
        """Leases out to this process: waiting for their instant, under way, or not reported yet."""
        return len(self._held)

    @property
    def lags(self) -> bool:
        """Whether so many requests wait to be kept that a spider should not make more of itself."""
        return len(self._enqueued) >= _MOST_ENQUEUED

    @property
    def intake_refused(self) -> bool:
        """Whether Redis is at its memory limit, as the last intake found or finished pages do that wait for it."""
        return self._intake.full or self._committer.patiently.full or self._teller.patiently.full

    @property
    def blocked_by(self) -> str:
        """See :class:`Patience`: what finished pages wait for, to be stored, reported, and told of."""
        return self._committer.patiently.blocked_by or self._teller.patiently.blocked_by

    # Lifetime

    async def open(self, spider: Spider) -> None:
        """Open the crawl's stores, put its seeds in, start the loops."""
        self._shutdown.begin()
        settings = self._crawler.settings
        self._stays = bool(getattr(spider, "stays", False))
        opening = functools.partial(open_patiently, self._opened, settings, spider, data_folder(settings, spider.name))
        self._stores = stores = await in_thread(self._lease_thread, opening)
        self._committer = stores.committer(lambda: self._closing or self._shutdown.asked_early, self._ask_threads)
        self._teller = stores.teller(lambda: self._closing)
        self._intake = Intake(stores, self._to_lease.set)
        try:
            await in_thread(self._commit_thread, lambda: self._committer.begin(stores.seeds))
        except (FrontierUnavailable, FrontierFull, LinkError) as error:
            logger.error("Stopped before the seeds were put in; the next start does it: %s", error)
        intake = self._intake.run(resting=lambda: not self._crawler.crawling, closing=lambda: self._closing)
        loops = (self._lease_loop(), self._commit_loop(), intake)
        self._loops = [asyncio.ensure_future(self._guarded(loop)) for loop in loops]
        self._telling = asyncio.ensure_future(self._guarded(self._teller.run()))

    async def close(self) -> None:
        """Store and report what is finished, give everything else back, let go of the stores."""
        self._closing = True
        if self._loops:
            for wake in (self._to_commit, self._to_lease, self._intake.to_look):
                wake.set()
            await asyncio.gather(*self._loops)
            self._teller.end()
            await self._telling
        # One that came after its lease was given back would keep other crawls from the host for as long as a lease.
        await asyncio.gather(*self._claims, return_exceptions=True)
        try:
            if unused := [*(held.lease.token for held in self._buffer), *self._returned]:
                await self.ask(lambda frontier: frontier.release(unused))
        except Exception as error:  # noqa: BLE001 - the rim: whatever it is, the rest is let go of
            logger.warning("Leases are not given back, they run out: %s", error)
        try:
            for call in self.before_close:
                await call(self)
        finally:
            await self._let_go()
            for threads in (self._ask_threads, self._lease_thread, self._commit_thread):
                threads.shutdown()

    async def _let_go(self) -> None:
        try:
            await in_thread(self._commit_thread, self._opened.close)
        except LinkError as error:
            logger.warning("The flush lease is not given back, it runs out: %s", error)
        except (ArchiveError, OSError) as error:
            self.unfinished = True
            logger.critical("What this worker has written is left to the next start, which finishes it: %s", error)

    # What the scheduler asks

    def next_due(self) -> HeldLease | None:
        """A lease whose instant has come, None when there is none yet."""
        if self._buffer and self._buffer[0].due <= uptime_s():
            return heapq.heappop(self._buffer)
        return None

    def enqueue(self, candidate: Candidate) -> None:
        """A URL that no page of ours led to (a spider's own request); however late it comes, there is work again."""
        self._enqueued.append(candidate)
        self.exhausted, self._quiet = False, None
        self._to_commit.set()

    # What the fetch and the middlewares say

    async def bind(self, lease: Lease, address: str) -> bool:
        """Claim an address for a lease, after DNS; waits when it is granted for a little later."""
        claim = asyncio.ensure_future(self.ask(lambda frontier: frontier.bind(lease.token, address)))
        self._claims.add(claim)
        claim.add_done_callback(self._claims.discard)
        bound = await asyncio.shield(claim)
        if not bound.granted:
            self._drop(lease)
            return False
        if (wait_s := (bound.due_ms - lease.due_ms) / 1000) > 0:
            await asyncio.sleep(wait_s)
        return True

    async def robots(self, authority: str) -> RobotsRecord | None:
        """The fleet's robots record of an authority."""
        return await self.ask(lambda frontier: frontier.get_robots(authority))

    async def rest_while_closed(self, authority: str) -> bool:
        """Let a host that has given pages rest until its robots.txt is asked for again; False when it gave none."""

        def rest(frontier: RedisFrontier) -> bool:
            if (host := frontier.host(authority)) is None or not host.pages:
                return False
            left_ms = host.robots_expires_ms - frontier.now_ms()
            return frontier.park(authority, "robots_denied", min(max(left_ms, SECOND), DAY))

        return await self.ask(rest)

    async def opted_out_by(self, url: str) -> str:
        """The prefix by which a URL has opted out; "" when there is none."""
        return await self.ask(lambda frontier: frontier.opted_out_by(url))

    async def ask(self, question: Callable[[RedisFrontier], T]) -> T:
        """The answer of a question to the frontier, off the reactor."""
        return await in_thread(self._ask_threads, lambda: question(self._stores.frontier))

    def finish(self, lease: Lease, finding: Finding, capture: Capture | None) -> None:
        """A lease is done with; from here on it is stored and reported."""
        if lease.token not in self._held or lease.token in self._ended:
            return
        self._ended.add(lease.token)
        if is_requisite(lease) and finding.verdict is None:
            finding.result = of_requisite(finding.result)
        self._finished.append(Finished(lease, finding, capture))
        self._to_commit.set()

    def give_back(self, lease: Lease) -> None:
        """A lease on which nothing was sent; the frontier gets it back with the next round of leasing, or as soon as it
        can be reached."""
        self._returned.append(lease.token)
        self._drop(lease)

    def _drop(self, lease: Lease) -> None:
        self._held.discard(lease.token)
        self._to_lease.set()

    # The loops

    async def _guarded(self, loop: Coroutine[Any, Any, None]) -> None:
        """A loop whose unforeseen end is the end of the crawl, said aloud, not a crawl that stands still."""
        try:
            await loop
            return
        except Exception as error:  # the rim: whatever it is, the crawl must not go on without this loop
            if cause := foreseen(error):
                logger.critical("The crawl ends: %s", cause)
            else:
                logger.exception("A fault of this program ends the crawl; what was not reported will be fetched again")
        assert self._crawler.engine is not None
        # Not awaited: the close waits for this very loop.
        self._closing_task = asyncio.ensure_future(self._crawler.engine.close_spider_async(reason=FAULT))

    async def _lease_loop(self) -> None:
        grace_until = 0.0
        while not self._closing:
            if not self._crawler.crawling:
                grace_until = grace_until or time.monotonic() + _GRACE_S
                if time.monotonic() > grace_until:
                    self._crawler.signals.send_catch_log(stopping)
                await pause(self._to_lease, _LONGEST_WAIT_S)
                continue
            wait_s = await self._lease_some()
            # Not at once again, whatever happens: a fleet would ask for the same few leases all the time.
            await asyncio.sleep(min(wait_s, self._lease_pause_s))
            if wait_s > self._lease_pause_s:
                await pause(self._to_lease, wait_s - self._lease_pause_s)

    async def _lease_some(self) -> float:
        """One round of leasing; the seconds to wait before the next."""
        room = self._most_held - len(self._held)
        full = self._committer.patiently.lacks_room or (self._teller.is_behind and self._teller.patiently.lacks_room)
        if room <= 0 or full:
            return _LONGEST_WAIT_S
        try:
            grant, asked = await in_thread(self._lease_thread, lambda: self._lease_round(room))
        except FrontierUnavailable as error:
            self._redis_watch.is_away(error)
            self._stores.sieve.forget_sent()
            return _AWAY_PAUSE_S
        self._redis_watch.answered(grant)
        self._accept(grant, asked)
        self._round_s = uptime_s() - asked
        # Where others are quicker, ask less often; within the time that leases are handed out ahead it costs nothing.
        slower_s = min(2 * self._lease_pause_s, self._least_ahead_ms / 2000)
        self._lease_pause_s = _SHORTEST_WAIT_S if grant.leases else max(_SHORTEST_WAIT_S, slower_s)
        if not (grant.leases or self._held or self._finished or self._enqueued or self._committing):
            return await self._look_for_end(grant)
        self.exhausted, self._quiet = False, None
        return _LONGEST_WAIT_S if len(grant.leases) == room else self._wait_s(grant)

    def _lease_round(self, room: int) -> tuple[Grant, float]:
        if returned := list(self._returned):
            self._stores.frontier.release(returned)
            del self._returned[: len(returned)]
        asked = uptime_s()
        return self._stores.frontier.lease(room, self._ahead_ms()), asked

    def _ahead_ms(self) -> int:
        """How long before its instant a lease is asked for: longer where Redis is far, so that it has come by then."""
        return min(_MOST_AHEAD_MS, self._least_ahead_ms + round(1000 * self._round_s))

    def _accept(self, grant: Grant, asked: float) -> None:
        arrived = uptime_s()
        for lease in grant.leases:
            held = HeldLease(lease, grant.now_ms, (asked, arrived), self._fetch_timeout_s, self)
            self._held.add(lease.token)
            heapq.heappush(self._buffer, held)
            asyncio.get_running_loop().call_later(max(0.0, held.due - arrived), self._wake_engine)

    def _wait_s(self, grant: Grant) -> float:
        if grant.next_due_ms is None:
            return _LONGEST_WAIT_S
        return min(_LONGEST_WAIT_S, max(_SHORTEST_WAIT_S, (grant.next_due_ms - grant.now_ms - self._ahead_ms()) / 1000))

    async def _look_for_end(self, grant: Grant) -> float:
        """Whether the crawl is over: twice in a row nothing waits, is leased or soon due, anywhere in the fleet, and
        since the first time nobody has moved anything, nor has the intake anything in its hands."""
        due_s = None if grant.next_due_ms is None else (grant.next_due_ms - grant.now_ms) / 1000
        if not grant.closed and due_s is not None and due_s <= self._idle_close_s:
            self.exhausted, self._quiet = False, None
            return self._wait_s(grant)
        try:
            quiet = await in_thread(self._lease_thread, lambda: self._stores.quiet(bool(grant.closed)))
        except (FrontierUnavailable, LinkError):
            return _AWAY_PAUSE_S
        if quiet is None or quiet != self._quiet:
            self._quiet, self._moved_before = quiet, self._intake.moved
            return _IDLE_LOOK_S
        async with self._intake.between_looks:
            # Or a spider's own request has come.
            if self._quiet is None or not (grant.closed or self._intake.moved == self._moved_before):
                self._quiet = None
            elif grant.closed or grant.narrowed or not self._stays:
                if not self.exhausted:  # a pipeline, or the spider, may keep the crawl open
                    logger.info("%s", why_over(grant, self._crawler.stats))
                self.exhausted = True
                self._wake_engine()
                await pause(self._to_lease, _IDLE_LOOK_S)  # what would be moved now would wait for the next start
                return 0.0
        return _IDLE_LOOK_S

    async def _commit_loop(self) -> None:
        while True:
            await pause(self._to_commit, _LONGEST_WAIT_S)
            while self._finished or self._enqueued:
                while self._teller.is_behind and not self._closing:
                    await asyncio.sleep(_COMMIT_EVERY_S)
                batch, self._finished = self._finished[:_MOST_A_COMMIT], self._finished[_MOST_A_COMMIT:]
                requests, self._enqueued = self._enqueued, []
                self._committing = True
                await self._commit(batch, requests)
                self._committing = False
            if self._closing:
                return
            await asyncio.sleep(_COMMIT_EVERY_S)

    async def _commit(self, batch: list[Finished], requests: list[Candidate]) -> None:
        try:
            accepted = await in_thread(self._commit_thread, lambda: self._committer.commit(batch, requests))
        except (FrontierUnavailable, FrontierFull, LinkError, ArchiveFull) as error:
            # Only when the worker is told to stop while it waits for them (see Committer).
            logger.error("Stopped with %d pages not reported; they will be fetched again: %s", len(batch), error)
            accepted = []
        self._teller.note(Reported.of(done) for done, is_ours in zip(batch, accepted, strict=False) if is_ours)
        tokens = {done.lease.token for done in batch}
        self._held -= tokens
        self._ended -= tokens
        if late := accepted.count(False):
            logger.warning("%d leases had run out before their pages were stored; those pages go to others", late)
        self._to_lease.set()

    def _wake_engine(self) -> None:
        # Scrapy has no public way to say "the scheduler has something now"; without this it looks every 5 s.
        engine: Any = self._crawler.engine
        if engine is not None and engine._slot is not None:
            engine._slot.nextcall.schedule()
