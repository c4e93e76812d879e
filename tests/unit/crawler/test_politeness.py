"""What hosts may be asked, and when, where there is no frontier: nothing is fetched here, nor waited for."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Coroutine
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast
from weakref import WeakSet

import pytest
from scrapy.http import Request, Response

from crawler.console import politeness
from crawler.console.opted_out import OptedOut
from crawler.console.politeness import Known, Politeness, RefusedError, Waiting
from crawler.fetch.errors import FetchError, OptedOutError
from tests.unit.crawler.test_opted_out import given

HOME, OTHER = "http://a.example", "http://b.example"
MONTH_S = 30 * 86_400.0
NOTHING_OUT = cast("OptedOut", SimpleNamespace(against=lambda _: ""))


@dataclass
class Clock:
    """Goes on by what is waited for only."""

    now: float = 1_000_000.0
    waited: list[tuple[str, float]] = field(default_factory=list)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()

    async def wait_for(name: str, left_s: float, _waiting: Waiting) -> None:
        made.waited.append((name, round(left_s, 6)))
        made.now += left_s

    monkeypatch.setattr(politeness, "uptime_s", lambda: made.now)
    monkeypatch.setattr(politeness, "_wait_for", wait_for)
    return made


@dataclass
class Web:
    """What there is at each address; else a page without rules."""

    answers: dict[str, Response | Exception] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    async def ask(self, url: str) -> Response:
        self.asked.append(url)
        answer = self.answers.get(url) or Response(url)
        if isinstance(answer, Exception):
            raise answer
        return answer


def run(work: Coroutine[Any, Any, None]) -> str:
    """Why it was refused, if it was."""
    try:
        asyncio.run(work)
    except FetchError as error:
        return error.outcome
    return ""


async def request(polite: Politeness, url: str, response: Response | None = None, address: str = "") -> None:
    async with polite.turn(url, NOTHING_OUT) as turn:
        if address:
            await turn.bind(address)
        polite.answered(url, response or Response(url))


def rules(url: str, *lines: str) -> Response:
    return Response(url, body="\n".join(("User-agent: *", *lines, "")).encode())


def test_of_the_delays_of_all_who_share_a_host_the_longest_counts(clock: Clock) -> None:
    known = Known()
    quick, slow = (Politeness(given(FRONTIER_DELAY_S=delay_s), known) for delay_s in (1, 10))
    for polite in (quick, slow, quick, quick):
        assert not run(request(polite, f"{HOME}/1"))
    assert clock.waited == [(HOME, 10), (HOME, 10), (HOME, 1)]


def test_hosts_of_one_address_wait_for_one_another(clock: Clock) -> None:
    polite = Politeness(given(FRONTIER_DELAY_S=5, FRONTIER_IP_DELAY_S=2), Known())
    for home in (HOME, OTHER):
        assert not run(request(polite, f"{home}/1", address="192.0.2.1"))
    assert clock.waited == [("192.0.2.1", 2)]


@pytest.mark.parametrize(
    ("status", "told", "again", "for_good"),
    [
        (429, {}, "", "resting"),  # a minute, as in a crawl
        (503, {"Retry-After": "3600"}, "resting", "resting"),
        (403, {"Retry-After": "3600"}, "resting", "resting"),
        (404, {"Retry-After": "3600"}, "", ""),  # says nothing of others
        (403, {}, "", ""),
    ],
)
def test_who_refuses_rests_or_is_left_alone_for_good(
    status: int, told: dict[str, str], again: str, for_good: str, clock: Clock
) -> None:
    for asks_again, said in ((True, again), (False, for_good)):
        polite = Politeness(given(), Known(), asks_again=asks_again)
        assert not run(request(polite, f"{HOME}/1", Response(f"{HOME}/1", status, headers=told)))
        assert run(request(polite, f"{HOME}/2")) == said
        clock.now += MONTH_S
        assert run(request(polite, f"{HOME}/3")) == ("" if asks_again else for_good)


def test_why_nobody_asks_is_said() -> None:
    known = Known()
    polite = Politeness(given(), known, asks_again=False)
    assert not run(request(polite, f"{HOME}/1", Response(f"{HOME}/1", 429)))
    with pytest.raises(RefusedError, match="the host has answered 429 and is not asked again"):
        asyncio.run(request(polite, f"{HOME}/2"))
    patient = Politeness(given(), Known())
    told = {"Retry-After": "3600"}
    assert not run(request(patient, f"{HOME}/1", Response(f"{HOME}/1", 429, headers=told)))
    with pytest.raises(RefusedError, match="the host rests for another 3600 s"):
        asyncio.run(request(patient, f"{HOME}/2"))


def test_a_robots_txt_is_read_once_by_all_of_one_name(clock: Clock) -> None:
    """Of the Crawl-delays that those of several names are asked for the longest counts."""
    known, web = Known(), Web()
    web.answers[f"{HOME}/robots.txt"] = Response(
        HOME, body=b"User-agent: ulwembu\nCrawl-delay: 20\nDisallow: /private\n\nUser-agent: *\nDisallow:\n"
    )
    of_us, too = (Politeness(given(), known) for _ in range(2))
    of_another = Politeness(given(ROBOTS_USER_AGENT="another"), known)

    async def together() -> None:
        await asyncio.gather(*(polite.allow(f"{HOME}/1", web.ask) for polite in (of_us, too, of_another)))

    assert not run(together())
    assert web.asked == [f"{HOME}/robots.txt"] * 2
    private = [run(polite.allow(f"{HOME}/private", web.ask)) for polite in (too, of_another)]
    assert private == ["robots_denied", ""]
    for polite in (of_another, of_another):
        assert not run(request(polite, f"{HOME}/1"))
    assert clock.waited == [(HOME, 20)]


def test_a_crawl_delay_counts_where_a_robots_txt_has_moved_to(clock: Clock) -> None:
    there = f"{OTHER}/robots.txt"
    moved = Response(f"{HOME}/robots.txt", 301, headers={"Location": there})
    web = Web({f"{HOME}/robots.txt": moved, there: rules(there, "Crawl-delay: 9")})
    reads, asks = (Politeness(given(FRONTIER_DELAY_S=1), known) for known in [Known()] * 2)
    assert not run(reads.allow(f"{HOME}/1", web.ask))
    for home in (HOME, HOME, OTHER, OTHER):
        assert not run(request(asks, f"{home}/1"))
    assert clock.waited == [(HOME, 9), (OTHER, 9)]


@pytest.mark.parametrize("answer", [Response(f"{HOME}/robots.txt", 500), FetchError("cut off")])
def test_what_cannot_be_had_forbids_for_a_day_or_until_a_person_asks_again(
    answer: Response | Exception, clock: Clock
) -> None:
    said = "cut" if isinstance(answer, Exception) else "robots_unreachable"
    for paced, times in ((True, 1), (False, 2)):
        web = Web({f"{HOME}/robots.txt": answer})
        polite = Politeness(given(), Known(), paced=paced)
        assert [run(polite.allow(f"{HOME}/{number}", web.ask)) for number in range(2)] == [said] * 2
        assert len(web.asked) == times
        web.answers.clear()
        clock.now += 86_401
        assert not run(polite.allow(f"{HOME}/2", web.ask))


def test_what_is_kept_of_many_hosts_holds_no_request() -> None:
    """Nor an error, in whose traceback there is one."""
    asked: WeakSet[Request] = WeakSet()

    async def ask(url: str) -> Response:
        asked.add(request := Request(url))
        if url.startswith(OTHER):
            raise FetchError("cut off")
        return Response(url, request=request)

    polite = Politeness(given(), Known())
    assert [run(polite.allow(f"{home}/1", ask)) for home in (HOME, OTHER)] == ["", "cut"]
    gc.collect()
    assert not asked


def test_a_crawl_delay_that_is_too_long_is_a_reason_for_who_keeps_one() -> None:
    web = Web({f"{HOME}/robots.txt": rules(HOME, "Crawl-delay: 121")})
    for paced, said in ((True, "crawl_delay_too_long"), (False, "")):
        assert run(Politeness(given(), Known(), paced=paced).allow(f"{HOME}/1", web.ask)) == said


def test_one_that_is_learnt_while_somebody_waits_is_not_waited_out(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As by what another spider reads."""
    polite = Politeness(given(FRONTIER_DELAY_S=5), known := Known())
    web = Web({f"{HOME}/robots.txt": rules(HOME, "Crawl-delay: 9999")})
    assert not run(request(polite, f"{HOME}/1"))

    async def learns(_name: str, left_s: float, _waiting: Waiting) -> None:
        clock.now += left_s
        await Politeness(given(), known).robots(HOME, web.ask)

    monkeypatch.setattr(politeness, "_wait_for", learns)
    assert run(request(polite, f"{HOME}/2")) == "resting"


def test_what_opts_out_while_its_host_is_waited_for_is_not_asked(clock: Clock) -> None:
    polite = Politeness(given(FRONTIER_DELAY_S=5), Known())
    assert not run(request(polite, f"{HOME}/1"))
    opted_out = cast("OptedOut", SimpleNamespace(against=lambda _: "a.example" if clock.waited else ""))

    async def turn() -> None:
        async with polite.turn(f"{HOME}/2", opted_out):
            raise AssertionError("nobody may ask")

    with pytest.raises(OptedOutError, match=r"a\.example has opted out"):
        asyncio.run(turn())
