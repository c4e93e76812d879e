"""Rules and pace of hosts where there is no frontier: for commands that fetch by themselves, in one process.

Guarantees: a host is asked one thing at a time, with at least FRONTIER_DELAY_S (or its Crawl-delay, or the seed file's)
between the end of an answer and the next request, an address likewise with FRONTIER_IP_DELAY_S, where that is shorter,
or the seed file's. robots.txt (RFC 9309) is read before anything else is asked of a host, and anew each
ROBOTS_MAX_AGE_S; its redirects are followed, whatever the other host's rules say, but none that is to be waited for and
to nothing that has opted out; 4xx allows, what cannot be had forbids, as long as it asked to wait, else as long as
rules hold. A host whose Crawl-delay is above FRONTIER_MAX_CRAWL_DELAY_S is not asked but for robots.txt. One that
answers 429 or 503 is left alone as long as it says, else as by a crawl (frontier/outcomes.py; without its spread),
longer with each, and as by a crawl after another refusal with a Retry-After.
Who fetches, and how, is the caller's: :meth:`Politeness.allow` before a page, :meth:`Politeness.turn` around each
request, :meth:`Politeness.answered` within it. A crawl running at the same time knows nothing of it.
"""

from __future__ import annotations

import asyncio
import math
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field

from scrapy.http import Response
from scrapy.settings import BaseSettings

from crawler.console.opted_out import OptedOut
from crawler.console.terminal import clock
from crawler.fetch.connection import BUSY
from crawler.fetch.errors import FetchError, OptedOutError
from crawler.pages import answers
from frontier.clock_line import uptime_s
from frontier.outcomes import DAY, backoff_ms, forgiven, row
from frontier.robots import Rules
from frontier.types import HostPolicy
from sieve.urls import authority

MOST_HOPS = 5
"""Redirects that are followed one after another, of robots.txt (RFC 9309 2.3.1.2) as of pages."""
_LONGEST_WAIT_S = 120.0
_SILENT_WAIT_S = 10.0
"""Waits up to here are as those between any two requests; of longer ones people want to know."""
Waiting = Callable[[str], AbstractContextManager[None]]
"""Says what is waited for, as long as its block runs."""
Ask = Callable[[str], Awaitable[Response]]
"""Asks once for an address of a robots.txt, in a turn, and follows nothing. FetchError without an answer."""


class RefusedError(FetchError):
    """Nothing was sent, for what is known of the host: `outcome` is resting, crawl_delay_too_long, robots_unreachable,
    robots_denied or what befell the request for its robots.txt."""

    def __init__(self, outcome: str, why: str) -> None:
        super().__init__(why)
        self.outcome = outcome


def next_hop(response: Response) -> str:
    """Where a redirect leads that may be followed at once; "" for any other answer."""
    if answers.result_of(response) != "redirect" or answers.redirect_wait_ms(response):
        return ""
    return answers.location_of(response)


async def _wait_for(name: str, left_s: float, waiting: Waiting) -> None:
    until = clock(answers.system_ms() + round(1000 * left_s))
    with waiting(f"waits until {until} to ask {name}") if left_s > _SILENT_WAIT_S else nullcontext():
        await asyncio.sleep(left_s)


@dataclass(slots=True)
class Place:
    """An authority or an address: who may ask it, and from when on (:func:`uptime_s`)."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    due: float = 0.0


@dataclass(slots=True)
class _Host(Place):
    """`ended`: when its last answer did; `told`: until when that asked to wait, be it with its redirect only; `status`
    of its last refusal; `refusals`: how often it was busy, as far as that is not forgiven. `crawl_delays`: by the name
    under which its robots.txt was read; `own_s`: the delay of a seed file; `address_s`: its address' there."""

    ended: float = -math.inf
    told: float = 0.0
    status: int = 0
    refusals: int = 0
    crawl_delays: dict[str, float] = field(default_factory=dict)
    own_s: float = 0.0
    address_s: float = 0.0

    @property
    def crawl_delay_s(self) -> float:
        return max(self.crawl_delays.values(), default=0.0)


@dataclass(slots=True)
class RobotsTxt:
    """A robots.txt as it was read under one name, to be asked for again from `again` on. `answer`: the last one, None
    without; `unread`: the outcome, and why there are no rules in it, so that nothing may be asked for. Neither the
    request nor the error itself is kept, which hold all that was at work when they came about."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    again: float = -math.inf
    answer: Response | None = None
    rules: Rules | None = None
    unread: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of hosts, addresses and (by authority and agent) robots.txt, for all who are to spare them
    together, one after another or in one event loop."""

    hosts: defaultdict[str, _Host] = field(default_factory=lambda: defaultdict(_Host))
    addresses: defaultdict[str, Place] = field(default_factory=lambda: defaultdict(Place))
    robots: defaultdict[tuple[str, str], RobotsTxt] = field(default_factory=lambda: defaultdict(RobotsTxt))


class Turn:
    """The grant of one request: waits for the address once it is known, and holds it until the answer is there."""

    def __init__(self, places: defaultdict[str, Place], opted_out: OptedOut, waiting: Waiting) -> None:
        self._places, self._opted_out, self._waiting = places, opted_out, waiting
        self._place: Place | None = None
        self.address = ""
        self.start_by = math.inf

    async def opted_out_by(self, url: str) -> str:
        """By what `url` has opted out: it may have been long in the queue of its address."""
        return self._opted_out.against(url)

    async def bind(self, address: str) -> bool:
        """Claim `address`; returns when it may be asked."""
        place = self._places[address]
        await place.lock.acquire()
        self._place = place
        while (left_s := place.due - uptime_s()) > 0:
            await _wait_for(address, left_s, self._waiting)
        return True

    def end(self, delay_s: float) -> None:
        """The answer has ended, or will never come."""
        if self._place is not None:
            self._place.due = max(self._place.due, uptime_s() + delay_s)  # who gave up may not have waited to its end
            self._place.lock.release()


class Politeness:
    """See the module. `settings` must have our defaults (`crawler.addon.Ulwembu`).

    `delay_s`: the pause between two requests to a host; None: as the settings say. `asks_again=False`: who refuses is
    left alone for good. `paced=False`: for who asks without turns, a person: no Crawl-delay is too long, and what could
    not be had of a robots.txt is asked for with the next request.
    """

    def __init__(
        self,
        settings: BaseSettings,
        known: Known,
        *,
        delay_s: float | None = None,
        asks_again: bool = True,
        paced: bool = True,
    ) -> None:
        self._known = known
        self.waiting: Waiting = lambda _: nullcontext()
        self._asks_again, self._paced = asks_again, paced
        self._agent = str(settings["ROBOTS_USER_AGENT"])
        self._delay_s = settings.getfloat("FRONTIER_DELAY_S") if delay_s is None else delay_s
        self._address_delay_s = min(settings.getfloat("FRONTIER_IP_DELAY_S"), self._delay_s)
        self._robots_age_s = settings.getfloat("ROBOTS_MAX_AGE_S")
        self._most_crawl_delay_s = settings.getfloat("FRONTIER_MAX_CRAWL_DELAY_S")
        self._retry_factor = settings.getfloat("FRONTIER_RETRY_FACTOR")

    def keep_to(self, policies: Mapping[str, HostPolicy]) -> None:
        """The delays that hosts and their addresses have by a seed file, where they are longer."""
        for home, policy in policies.items():
            host = self._known.hosts[home]
            host.own_s = max(host.own_s, (policy.delay_ms or 0) / 1000)
            host.address_s = max(host.address_s, (policy.address_delay_ms or 0) / 1000)

    async def allow(self, url: str, ask: Ask) -> None:
        """Returns when rules that were read allow `url`; else FetchError, and whatever else `ask` raises."""
        robots, host = await self.robots(url, ask), self._known.hosts[str(authority(url))]
        # For which its robots.txt may not have been asked, either: it is looked at first.
        if self._paced and host.crawl_delay_s > (most := self._most_crawl_delay_s):
            why = f"Crawl-delay {host.crawl_delay_s:g} s is above FRONTIER_MAX_CRAWL_DELAY_S={most:g}"
            raise RefusedError("crawl_delay_too_long", why)
        if robots.unread is not None:
            raise RefusedError(*robots.unread)
        if robots.rules is None or not robots.rules.allowed(url):
            raise RefusedError("robots_denied", "robots.txt forbids it")

    async def robots(self, url: str, ask: Ask) -> RobotsTxt:
        """The robots.txt of the host of `url`, read by who comes first. Raises what `ask` does, but no FetchError."""
        home = str(authority(url))
        robots = self._known.robots[home, self._agent]
        async with robots.lock:
            if uptime_s() >= robots.again:
                await self._read(home, robots, ask)
        return robots

    async def _read(self, home: str, robots: RobotsTxt, ask: Ask) -> None:
        robots.answer = robots.unread = None
        url = asked = f"{home}/robots.txt"
        try:
            for _ in range(1 + MOST_HOPS):
                answer = await ask(asked := url)
                if not (url := next_hop(answer)):
                    break
            robots.answer = answer.replace(request=None)
            record = answers.record_of(answer, DAY)
            if record is None or record.kind == "disallow":
                why = f"{home}/robots.txt cannot be had or read (status {answer.status})"
                raise RefusedError("robots_unreachable", why)
        except FetchError as error:  # what cannot be had takes back no delay
            robots.unread = error.outcome, str(error) or type(error).__name__
        else:
            robots.rules = Rules.of(record, self._agent)
            for name in {home, authority(asked)} if asked == f"{authority(asked)}/robots.txt" else {home}:
                self._known.hosts[name].crawl_delays[self._agent] = robots.rules.crawl_delay() or 0.0
        now, told = uptime_s(), self._known.hosts[authority(asked)].told
        robots.again = told if robots.unread and told > now else now + self._robots_age_s
        if robots.unread and not self._paced:
            robots.again = now

    @asynccontextmanager
    async def turn(self, url: str, opted_out: OptedOut) -> AsyncIterator[Turn]:
        """The grant of one request for `url`, whose answer ends with the block; begins when the host may be asked.
        RefusedError where that is not soon, OptedOutError; ValueError for what is neither http nor https."""
        home = str(authority(url))
        host = self._known.hosts[home]
        async with host.lock:
            # Rules that are read meanwhile, at another host or by another spider, may put it off, also for long.
            while (left_s := max(host.due, host.ended + self._pause_s(host)) - uptime_s()) > 0:
                crawl_delay_s = min(host.crawl_delay_s, self._most_crawl_delay_s)
                if left_s > max(_LONGEST_WAIT_S, self._delay_s, crawl_delay_s, host.own_s):
                    for_good = f"has answered {host.status} and is not asked again"
                    why = for_good if left_s == math.inf else f"rests for another {left_s:.0f} s"
                    raise RefusedError("resting", f"the host {why}")
                await _wait_for(home, left_s, self.waiting)
            if prefix := opted_out.against(url):  # by now; or a robots.txt has moved there
                raise OptedOutError(f"{prefix} has opted out, and with it {url}")
            turn = Turn(self._known.addresses, opted_out, self.waiting)
            try:
                yield turn
            finally:
                turn.end(max(self._address_delay_s, host.address_s))
                host.ended = uptime_s()
                host.due = max(host.due, host.ended + self._pause_s(host))

    def _pause_s(self, host: _Host) -> float:
        return max(self._delay_s, host.crawl_delay_s, host.own_s)

    def answered(self, url: str, response: Response) -> None:
        """What an answer for `url` does to its host, within its turn; one that is not busy forgives."""
        host, now = self._known.hosts[str(authority(url))], uptime_s()
        busy, rest_ms = response.status in BUSY, answers.retry_after_ms(response)
        refusals = forgiven(host.refusals, round(1000 * host.due), round(1000 * now)) if busy else host.refusals
        host.refusals = refusals + 1 if busy else max(0, refusals - 1)
        host.told = now + answers.redirect_wait_ms(response) / 1000
        if busy and rest_ms is None:
            rule = row(f"http_{response.status}", self._retry_factor)
            rest_ms = backoff_ms(rule.rest_base_ms, rule.rest_cap_ms, refusals, jitter=1)
        if rest_ms is not None:
            host.due = host.told = now + (rest_ms / 1000 if self._asks_again else math.inf)
            host.status = response.status
