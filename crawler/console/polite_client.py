"""Fetches single addresses for commands, outside any crawl but under the same manners.

Guarantees, for one process: only addresses that the guard allows are connected to; nothing is fetched that robots.txt
(RFC 9309, read before the first request to a host, and anew each ROBOTS_MAX_AGE_S) denies or that has opted out
(crawler/console/opted_out.py); a host is asked one thing at a time, with at least FRONTIER_DELAY_S (or its Crawl-delay,
or the seed file's) between the end of an answer and the next request, an address likewise with FRONTIER_IP_DELAY_S,
where that is shorter, or the seed file's; a host that answers 429 or 503 is left alone as long as it says, else as by a
crawl (frontier/outcomes.py; without its spread), longer with each, and as by a crawl after another refusal with a
Retry-After; if its robots.txt did so, that is asked for again after it. Redirects are followed hop by hop under the
same rules, none that is to be waited for. A crawl running at the same time knows nothing of it: do not aim both at one
host.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import urlsplit

from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Request, Response
from scrapy.settings import Settings
from scrapy.statscollectors import DummyStatsCollector

from crawler.console.opted_out import OptedOut
from crawler.console.terminal import clock, waiting
from crawler.fetch.connection import BUSY
from crawler.fetch.errors import FetchError
from crawler.fetch.handler import Capture, FetchHandler
from crawler.fetch.unpacking import Unpacking
from crawler.pages import answers
from frontier.clock_line import uptime_s
from frontier.outcomes import backoff_ms, forgiven, row
from frontier.robots import Rules
from frontier.types import HostPolicy
from seeds.survey.probe import Fetched
from sieve.urls import as_parsed, authority

MOST_HOPS = 5
"""Redirects that are followed one after another, of robots.txt (RFC 9309 2.3.1.2) as of pages."""
_LONGEST_WAIT_S = 120.0
_SILENT_WAIT_S = 10.0
"""Waits up to here are as those between any two requests; of longer ones people want to know."""
Waiting = Callable[[str], AbstractContextManager[None]]
"""Says what is waited for, as long as its block runs."""


async def _wait_for(name: str, left_s: float, waiting: Waiting) -> None:
    until = clock(answers.system_ms() + round(1000 * left_s))
    with waiting(f"waits until {until} to ask {name}") if left_s > _SILENT_WAIT_S else nullcontext():
        await asyncio.sleep(left_s)


@dataclass(frozen=True, slots=True)
class Visit:
    """What came of one address: the answer as seeds' tools take it, and every exchange on the way to it."""

    fetched: Fetched
    captures: tuple[Capture, ...] = ()


@dataclass(slots=True)
class Place:
    """An authority or an address: who may ask it, and from when on (:func:`uptime_s`)."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    due: float = 0.0

    async def wait(self, name: str, waiting: Waiting) -> None:
        """Until it is due."""
        while (left_s := self.due - uptime_s()) > 0:
            await _wait_for(name, left_s, waiting)


@dataclass(slots=True)
class _Host(Place):
    """An authority with its rules; `robots` is the answer for its robots.txt, to be asked for again from `again` on;
    `unread`: why there are no rules in it, so that nothing may be asked for, or "". `delay_s` is its Crawl-delay,
    `own_s` that of a seed file, `address_s` its address' there. `told`: until when its last answer asked to wait, be it
    with its redirect only; `refusals`: how often it was busy, as far as that is not forgiven."""

    rules: asyncio.Task[Rules] | None = None
    robots: Fetched | None = None
    unread: str = ""
    delay_s: float = 0.0
    own_s: float = 0.0
    address_s: float = 0.0
    told: float = 0.0
    refusals: int = 0
    again: float = 0.0


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
        await place.wait(address, self._waiting)
        return True

    def end(self, delay_s: float) -> None:
        """The answer has ended, or will never come."""
        if self._place is not None:
            self._place.due = max(self._place.due, uptime_s() + delay_s)  # who gave up may not have waited to its end
            self._place.lock.release()


class PoliteClient:
    """See the module. For use in one event loop; `settings` must have our defaults (`crawler.addon.Ulwembu`).

    `opted_out` is the caller's; `wait_s` bounds each request, `delay_s` is the pause between two requests to a host;
    None: as the settings say.
    """

    def __init__(
        self,
        settings: Settings,
        opted_out: OptedOut,
        wait_s: float | None = None,
        delay_s: float | None = None,
        at_once: int = 1000,
    ) -> None:
        """`at_once`: most requests under way."""
        self._opted_out = opted_out
        settings = settings.copy()
        self._at_once = asyncio.Semaphore(at_once)
        if wait_s is not None:
            settings.set("DOWNLOAD_TIMEOUT", wait_s, priority="cmdline")
            settings.set("FETCH_CONNECT_TIMEOUT_S", wait_s, priority="cmdline")
        crawler = Crawler(Spider, settings)
        crawler.stats = DummyStatsCollector(crawler)
        self._handler = FetchHandler(crawler)
        self._unpack = Unpacking(crawler=crawler)  # also where COMPRESSION_ENABLED is off
        self._agent = str(settings["USER_AGENT"])
        self._token = str(settings["ROBOTS_USER_AGENT"])
        self._delay_s = settings.getfloat("FRONTIER_DELAY_S") if delay_s is None else delay_s
        self._address_delay_s = min(settings.getfloat("FRONTIER_IP_DELAY_S"), self._delay_s)
        self._robots_age_s = settings.getfloat("ROBOTS_MAX_AGE_S")
        self._most_crawl_delay_s = settings.getfloat("FRONTIER_MAX_CRAWL_DELAY_S")
        self._hosts: defaultdict[str, _Host] = defaultdict(_Host)
        self._addresses: defaultdict[str, Place] = defaultdict(Place)
        self._retry_factor = settings.getfloat("FRONTIER_RETRY_FACTOR")
        self.waiting: Waiting = lambda _: nullcontext()

    def go_on_from(self, other: PoliteClient) -> None:
        """Take over what `other`, which asks no more, knows of hosts and addresses: rules, delays and rests."""
        self._hosts, self._addresses = other._hosts, other._addresses

    def keep_to(self, policies: Mapping[str, HostPolicy]) -> None:
        """The delays that hosts and their addresses have by a seed file, where they are longer."""
        for home, policy in policies.items():
            host = self._hosts[home]
            host.own_s = max(host.own_s, (policy.delay_ms or 0) / 1000)
            host.address_s = max(host.address_s, (policy.address_delay_ms or 0) / 1000)

    async def close(self) -> None:
        """Close all connections."""
        await self._handler.close()

    async def fetch(self, url: str) -> Visit:
        """Fetch `url` and follow its redirects; never raises for what the web does. OptOutsUnreadError."""
        captures: list[Capture] = []
        for _ in range(MOST_HOPS + 1):
            fetched, location = await self._step(url, captures)
            if not location:
                return Visit(fetched, tuple(captures))
            url = location
        return Visit(Fetched(url, 0, problem="too_many_redirects"), tuple(captures))

    async def _step(self, url: str, captures: list[Capture]) -> tuple[Fetched, str]:
        """One hop: what came, and where it leads on ("" when it is the answer)."""
        try:
            url = as_parsed(url)
        except ValueError:
            return Fetched(url, 0, problem="not_http"), ""
        home = str(authority(url))
        if self._opted_out.against(url):
            return Fetched(url, 0, problem="opted_out"), ""
        host = self._hosts[home]
        rules = await self._rules(home, host)
        if host.robots is not None and urlsplit(url).path == "/robots.txt":
            return host.robots, ""
        if host.delay_s > self._most_crawl_delay_s:  # for which its robots.txt may not have been asked, either
            return Fetched(url, 0, problem="crawl_delay_too_long"), ""
        if host.unread:
            return Fetched(url, 0, problem=host.unread), ""
        if not rules.allowed(url):
            return Fetched(url, 0, problem="robots_denied"), ""
        return await self._ask(url, host, captures)

    async def _rules(self, home: str, host: _Host) -> Rules:
        if host.rules is None or (host.rules.done() and uptime_s() >= host.again):
            host.rules = asyncio.ensure_future(self._fetch_rules(home, host))
        return await asyncio.shield(host.rules)

    async def _fetch_rules(self, home: str, host: _Host) -> Rules:
        """The rules of a host; redirects of robots.txt are followed politely, whatever the other host's rules say, but
        not to what has opted out."""
        url, there = f"{home}/robots.txt", host
        fetched, location = await self._ask(url, host, [], robots=True)
        for _ in range(MOST_HOPS):
            if not location:
                break
            try:
                there = self._hosts[str(authority(location))]
                fetched, location = await self._ask(location, there, [], robots=True)
            except ValueError:
                location = ""
        host.robots, record = fetched, answers.robots_record(fetched.status, fetched.body, whole=fetched.ok)
        no_answer = "" if fetched.status else fetched.problem
        host.unread = no_answer or "robots_unreachable" if record.kind == "disallow" else ""
        now = uptime_s()
        asks_to_wait = record.kind == "disallow" and there.told > now
        host.again = there.told if asks_to_wait else now + self._robots_age_s
        rules = Rules.of(record, self._token)
        is_own_there = fetched.url == f"{authority(fetched.url)}/robots.txt"
        if record.kind != "disallow":  # what cannot be had takes back no delay
            for one in (host, there) if is_own_there else (host,):
                one.delay_s = rules.crawl_delay() or 0.0
                one.due = max(one.due, now + one.delay_s)
        return rules

    async def _ask(
        self, url: str, host: _Host, captures: list[Capture], *, robots: bool = False
    ) -> tuple[Fetched, str]:
        async with host.lock:
            while (left_s := host.due - uptime_s()) > 0:  # rules read elsewhere may put it off meanwhile, also for long
                asked_s = min(host.delay_s, self._most_crawl_delay_s)
                if left_s > max(_LONGEST_WAIT_S, self._delay_s, asked_s, host.own_s):
                    return Fetched(url, 0, problem="resting"), ""
                await _wait_for(str(authority(url)), left_s, self.waiting)
            if self._opted_out.against(url):  # by now; or a robots.txt has moved there
                return Fetched(url, 0, problem="opted_out"), ""
            headers, meta = {"User-Agent": self._agent, "Accept": "*/*"}, {"robots": robots}
            request = Request(url, headers=headers, meta=meta, dont_filter=True)
            self._unpack.process_request(request)
            try:
                async with self._at_once, self._turn(request, host):
                    response = await self._handler.download_request(request)
                    rest_ms, now = answers.retry_after_ms(response), uptime_s()
                    host.told = now + answers.redirect_wait_ms(response) / 1000
                    own_ms = self._refused_ms(host, response.status)
                    if own_ms or rest_ms:
                        host.due = host.told = now + (own_ms if rest_ms is None else rest_ms) / 1000
                return self._read(request, response)
            except FetchError as error:
                return Fetched(url, 0, problem=error.outcome), ""
            except IgnoreRequest:  # unpacks to more than the limit
                return Fetched(url, response.status, problem="too_large"), ""
            finally:
                if (capture := request.meta.get("capture")) is not None and capture.answer is not None:
                    captures.append(capture)

    def _refused_ms(self, host: _Host, status: int) -> int:
        """For how long a host that is busy rests without a Retry-After; 0 for any other answer, which forgives."""
        if status not in BUSY:
            host.refusals = max(0, host.refusals - 1)
            return 0
        rule = row(f"http_{status}", self._retry_factor)
        before = forgiven(host.refusals, round(1000 * host.due), round(1000 * uptime_s()))
        host.refusals = before + 1
        return backoff_ms(rule.rest_base_ms, rule.rest_cap_ms, before, jitter=1)

    @contextlib.asynccontextmanager
    async def _turn(self, request: Request, host: _Host) -> AsyncIterator[None]:
        request.meta["grant"] = turn = Turn(self._addresses, self._opted_out, self.waiting)
        try:
            yield
        finally:
            turn.end(max(self._address_delay_s, host.address_s))
            host.due = max(host.due, uptime_s() + self._pause_s(host))

    def _pause_s(self, host: _Host) -> float:
        return max(self._delay_s, host.delay_s, host.own_s)

    def _read(self, request: Request, response: Response) -> tuple[Fetched, str]:
        result = answers.result_of(response)
        if result == "redirect" and (location := answers.location_of(response)):
            if answers.redirect_wait_ms(response):
                return Fetched(response.url, response.status, problem="resting"), ""
            return Fetched(response.url, response.status), location
        # Of rules that are too long the begin counts (RFC 9309 2.5), as in a crawl.
        begins = request.meta.get("robots") and not answers.lacks_rules(response)
        if result in ("too_large", "part") and not begins:
            return Fetched(response.url, response.status, problem=result), ""
        unpacked = self._unpack.process_response(request, response)
        assert isinstance(unpacked, Response)
        content_type = answers.header(unpacked, "Content-Type")
        return Fetched(response.url, response.status, unpacked.body, content_type), ""


class BlockingFetch:
    """A `seeds.survey.probe.Fetch`: a client for code that waits for each answer. Closes its connections on exit.

    `crawl` is the one it is for, if any; `before`: whose hosts it is to spare as its own, of the same process and
    settings. PreflightError, RedisUnreachableError.
    """

    def __init__(self, settings: Settings, crawl: str = "", before: BlockingFetch | None = None) -> None:
        self.opted_out = OptedOut(settings, crawl)
        self._runner = asyncio.Runner()
        self._client = PoliteClient(settings, self.opted_out)
        self._client.waiting = waiting
        if before is not None:
            self._client.go_on_from(before._client)

    def keep_to(self, policies: Mapping[str, HostPolicy]) -> None:
        """See :meth:`PoliteClient.keep_to`."""
        self._client.keep_to(policies)

    def __call__(self, url: str) -> Fetched:
        return self._runner.run(self._client.fetch(url)).fetched

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._runner.run(self._client.close())
        self._runner.close()
        self.opted_out.close()
