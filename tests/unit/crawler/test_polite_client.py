"""What the client of the commands refuses before it asks anybody."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections import defaultdict
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import MagicMock, Mock
from urllib.parse import urlsplit

import pytest
from scrapy.settings import Settings

from crawler.addon import Ulwembu
from crawler.console import politeness
from crawler.console.opted_out import OptedOut, OptOutsUnreadError
from crawler.console.polite_client import BlockingFetch, PoliteClient
from crawler.console.politeness import MOST_HOPS
from frontier.clock_line import uptime_s
from frontier.robots import LONGEST_BYTES
from frontier.types import HostPolicy
from seeds.survey.probe import Fetched
from tests.unit.crawler.test_opted_out import answering, given


@pytest.mark.parametrize(
    "address",
    ["www.a.test/private/1", "www.a.test/%70rivate/1", "www.a.test/x/%2e%2e/private/1", "me@A.test:80/private/1"],
)
def test_an_opt_out_holds_however_the_address_is_spelled(address: str, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a.test/private/\n")
    settings = Settings({"FRONTIER_OPT_OUT_FILE": str(tmp_path / "out")})
    Ulwembu().update_settings(settings)
    with BlockingFetch(settings) as fetch:
        assert fetch(f"http://{address}").problem == "opted_out"


def test_what_opts_out_while_its_request_waits_for_the_address_is_not_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with answering(lambda _: b"") as (home, asked), BlockingFetch(given(FRONTIER_DELAY_S=0)) as fetch:
        bind = politeness.Turn.bind

        async def bind_late(turn: politeness.Turn, address: str) -> bool:
            if asked:
                monkeypatch.setattr(fetch.opted_out, "against", lambda _: "a.test")
            return await bind(turn, address)

        monkeypatch.setattr(politeness.Turn, "bind", bind_late)
        assert fetch(f"{home}/page").problem == "opted_out"
    assert asked == ["/robots.txt"]


@pytest.mark.parametrize(("status", "more"), [(403, {}), (301, {"Location": "/else"})])
def test_a_retry_after_is_obeyed_whatever_the_status(status: int, more: dict[str, str]) -> None:
    told = {"Retry-After": "3600", **more}
    with (
        answering(lambda path: (status, told) if path == "/page" else b"") as (home, asked),
        BlockingFetch(given(FRONTIER_DELAY_S=0)) as fetch,
    ):
        first = fetch(f"{home}/page")
        assert (first.status, first.problem) == (status, "resting" if status == 301 else "")
        assert (fetch(f"{home}/other").problem == "resting") == (status == 403)
    assert asked[:2] == ["/robots.txt", "/page"]
    assert "/else" not in asked


def test_rules_are_read_where_the_setting_for_packed_answers_is_off() -> None:
    rules = b"User-agent: *\nDisallow: /page\n"
    with (
        answering(lambda path: rules if path == "/robots.txt" else b"") as (home, _),
        BlockingFetch(given(FRONTIER_DELAY_S=0, COMPRESSION_ENABLED=False)) as fetch,
    ):
        assert fetch(f"{home}/page").problem == "robots_denied"


def test_only_a_redirect_leads_elsewhere() -> None:
    with (
        answering(lambda path: (404, {"Location": "/else"}) if path == "/page" else b"") as (home, asked),
        BlockingFetch(given(FRONTIER_DELAY_S=0)) as fetch,
    ):
        assert fetch(f"{home}/page").status == 404
    assert asked == ["/robots.txt", "/page"]


@pytest.mark.parametrize(
    ("status", "more", "seconds"),
    [
        (503, {"Retry-After": "3600"}, 3600),
        (503, {}, 60),
        (500, {"Retry-After": "3600"}, 3600),
        (302, {"Retry-After": "3600", "Location": "/moved.txt"}, 3600),
    ],
)
def test_a_robots_txt_that_asked_to_wait_is_asked_for_again_when_that_is_over(
    status: int, more: dict[str, str], seconds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = uptime_s()
    clock = SimpleNamespace(now=begun)
    monkeypatch.setattr(politeness, "uptime_s", lambda: clock.now)
    told = [(status, more)]

    def answer(path: str) -> bytes | tuple[int, dict[str, str]]:
        return told.pop() if path == "/robots.txt" and told else b""

    with answering(answer) as (home, asked), BlockingFetch(given(FRONTIER_DELAY_S=0)) as fetch:
        assert not fetch(f"{home}/page").ok
        clock.now = begun + seconds - 1
        assert not fetch(f"{home}/page").ok
        assert asked == ["/robots.txt"]
        clock.now = begun + seconds + 2
        assert fetch(f"{home}/page").ok
        assert fetch(f"{home}/other").ok
    assert asked == ["/robots.txt", "/robots.txt", "/page", "/other"]


def test_a_host_that_stays_busy_rests_longer_and_longer_as_in_a_crawl(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until the others of its addresses are not asked any more; an answer forgives, and so do ten minutes."""
    clock = SimpleNamespace(now=uptime_s())
    monkeypatch.setattr(politeness, "uptime_s", lambda: clock.now)
    statuses = iter((503, 429, 200, 503, 503, 503))

    def answer(path: str) -> bytes | tuple[int, dict[str, str]]:
        return b"" if path == "/robots.txt" else (next(statuses), {})

    with answering(answer) as (home, asked), BlockingFetch(given(FRONTIER_DELAY_S=0)) as fetch:
        for later_s, status in ((0, 503), (61, 429), (121, 200), (1, 503), (121, 503), (240 + 601, 503)):
            clock.now += later_s
            assert fetch(f"{home}/page").status == status
        clock.now += 240 - 121
        assert fetch(f"{home}/page").problem == "resting"
    assert len(asked) == 7


def test_who_is_waited_for_long_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A host, and an address that another host has as well; of the usual pauses nothing is said."""
    monkeypatch.setattr(politeness, "_SILENT_WAIT_S", 0.25)
    settings = given(FRONTIER_DELAY_S=0.01, FRONTIER_IP_DELAY_S=0)
    with (
        answering(lambda _: b"") as (home, _),
        answering(lambda _: b"") as (other, _),
        BlockingFetch(settings) as fetch,
    ):
        assert fetch(f"{home}/page").ok
        assert not capsys.readouterr().err
        fetch.keep_to({home: HostPolicy(delay_ms=1000, address_delay_ms=400)})
        assert all(fetch(url).ok for url in (f"{home}/1", f"{other}/page", f"{home}/2"))
    told = re.findall("waits until [-0-9]{10} [:0-9]{8}Z to ask (.*)\n", capsys.readouterr().err)
    assert told == [home, urlsplit(home).hostname, home], "what is learnt of delays counts at once"


@pytest.mark.parametrize(
    ("limit", "said"), [(LONGEST_BYTES + 1, ["", "robots_denied"]), (1000, ["robots_unreachable"] * 2)]
)
def test_a_robots_txt_beyond_the_limit_of_an_answer_counts_as_in_a_crawl(limit: int, said: list[str]) -> None:
    rules = b"User-agent: *\nDisallow: /private/\n" + b"#" * LONGEST_BYTES + b"\nDisallow: /\n"
    with (
        answering(lambda path: rules if path == "/robots.txt" else b"") as (home, _),
        BlockingFetch(given(FRONTIER_DELAY_S=0, FRONTIER_IP_DELAY_S=0, DOWNLOAD_MAXSIZE=limit)) as fetch,
    ):
        assert [fetch(f"{home}/{path}").problem for path in ("public", "private/")] == said


def test_a_robots_txt_that_only_failed_is_asked_for_again_a_day_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where it is read anew: that a machine was offline meanwhile ended a run of days for all of its hosts."""
    begun = uptime_s()
    told: list[bytes | tuple[int, dict[str, str]]] = [b"", (500, {}), b""]
    with (
        answering(lambda path: told.pop() if path == "/robots.txt" else b"") as (home, asked),
        BlockingFetch(given(FRONTIER_DELAY_S=0)) as fetch,
    ):
        for later_s, problem in (
            (0, ""),
            (86_401, "robots_unreachable"),
            (172_799, "robots_unreachable"),
            (172_802, ""),
        ):
            monkeypatch.setattr(politeness, "uptime_s", partial(float, begun + later_s))
            assert fetch(f"{home}/page").problem == problem
    assert asked == ["/robots.txt", "/page", "/robots.txt", "/robots.txt", "/page"]


def test_a_crawl_delay_holds_from_the_robots_txt_that_says_it_on() -> None:
    ended: list[float] = []

    def answer(path: str) -> bytes:
        ended.append(time.monotonic())
        return b"User-agent: *\nCrawl-delay: 0.5\n" if path == "/robots.txt" else b""

    with answering(answer) as (home, _), BlockingFetch(given(FRONTIER_DELAY_S=0)) as fetch:
        assert fetch(f"{home}/page").ok
        assert fetch(f"{home}/other").ok
    assert min(later - earlier for earlier, later in pairwise(ended)) >= 0.5


def test_a_crawl_delay_of_where_a_robots_txt_has_moved_to_holds_there() -> None:
    """Its own robots.txt comes next, and must not come sooner."""
    ended: list[float] = []

    def answer(_path: str) -> bytes:
        ended.append(time.monotonic())
        return b"User-agent: *\nCrawl-delay: 0.5\n"

    with (
        answering(answer) as (home, asked),
        answering(lambda path: (302, {"Location": home + path})) as (other, _),
        BlockingFetch(given(FRONTIER_DELAY_S=0)) as fetch,
    ):
        fetch(f"{other}/robots.txt")
        assert fetch(f"{home}/robots.txt").ok
    assert asked == ["/robots.txt", "/robots.txt"]
    assert ended[1] - ended[0] >= 0.5


@pytest.mark.parametrize(("seconds", "problem"), [(1, ""), (5000, "resting")])
def test_who_waits_for_a_host_goes_by_a_delay_that_is_learnt_meanwhile(seconds: int, problem: str) -> None:
    """As of one whose robots.txt has moved, while another's has moved there."""
    rules = f"User-agent: *\nCrawl-delay: {seconds}\n".encode()
    instants: list[float] = []

    def answer(path: str) -> bytes | tuple[int, dict[str, str]]:
        instants.append(time.monotonic())
        return 302, {"Location": there + path}

    with (
        answering(lambda _: rules) as (there, _),
        answering(answer) as (home, _),
        answering(lambda path: (302, {"Location": home + path})) as (other, _),
        OptedOut(settings := given(FRONTIER_DELAY_S=0.5, FRONTIER_IP_DELAY_S=0)) as opted_out,
    ):
        client = PoliteClient(settings, opted_out)

        async def fetched() -> list[str]:
            async with asyncio.timeout(20):
                visits = await asyncio.gather(*(client.fetch(f"{host}/robots.txt") for host in (home, other)))
            await client.close()
            return [visit.fetched.problem for visit in visits]

        assert asyncio.run(fetched()) == ["", problem]
    assert len(instants) == (1 if problem else 2)
    assert instants[-1] - instants[0] >= (0 if problem else 1)


def test_who_no_longer_waits_for_an_address_takes_back_none_of_its_delay() -> None:
    places: defaultdict[str, politeness.Place] = defaultdict(politeness.Place)
    places["192.0.2.1"].due = due = uptime_s() + 100
    turn = politeness.Turn(places, Mock(), MagicMock())

    async def cancelled() -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(turn.bind("192.0.2.1"), 0.01)
        turn.end(1.0)

    asyncio.run(cancelled())
    assert places["192.0.2.1"].due == due
    assert not places["192.0.2.1"].lock.locked()


def test_a_robots_txt_that_could_not_be_had_takes_back_no_crawl_delay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing but a robots.txt that has moved there is asked for meanwhile."""
    told: list[bytes | tuple[int, dict[str, str]]] = [
        b"",
        (302, {"Location": "/further.txt"}),
        (500, {}),
        b"User-agent: *\nCrawl-delay: 0.5\n",
    ]
    ended: list[float] = []

    def answer(_path: str) -> bytes | tuple[int, dict[str, str]]:
        ended.append(time.perf_counter())
        return told.pop()

    with (
        answering(answer) as (home, asked),
        answering(lambda _: (302, {"Location": f"{home}/moved.txt"})) as (other, _),
        BlockingFetch(given(FRONTIER_DELAY_S=0)) as fetch,
    ):
        assert fetch(f"{home}/robots.txt").ok
        monkeypatch.setattr(politeness, "uptime_s", lambda: uptime_s() + 86_402)
        assert fetch(f"{home}/page").problem == "robots_unreachable"
        fetch(f"{other}/page")
    assert asked == ["/robots.txt", "/robots.txt", "/moved.txt", "/further.txt"]
    assert min(later - earlier for earlier, later in pairwise(ended[1:])) >= 0.5


def test_a_robots_txt_is_relied_on_for_a_day(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = uptime_s()
    clock = SimpleNamespace(now=begun)
    monkeypatch.setattr(politeness, "uptime_s", lambda: clock.now)
    told = [b"User-agent: *\nDisallow: /\n", b""]
    with (
        answering(lambda path: told.pop() if path == "/robots.txt" else b"") as (home, asked),
        BlockingFetch(given(FRONTIER_DELAY_S=0)) as fetch,
    ):
        assert fetch(f"{home}/page").ok
        clock.now = begun + 86_399
        assert fetch(f"{home}/page").ok
        clock.now = begun + 86_401
        assert fetch(f"{home}/page").problem == "robots_denied"
    assert asked == ["/robots.txt", "/page", "/page", "/robots.txt"]


def test_hosts_of_one_address_are_asked_one_after_another_with_its_delay() -> None:
    instants: list[float] = []

    def answer(_path: str) -> bytes:
        instants.append(time.monotonic())
        return b""

    with (
        answering(answer) as (home, _),
        answering(answer) as (other, _),
        BlockingFetch(given(FRONTIER_DELAY_S=0.2, FRONTIER_IP_DELAY_S=0.2)) as fetch,
    ):
        assert fetch(f"{home}/page").ok
        assert fetch(f"{other}/page").ok
    assert len(instants) == 4
    assert min(later - earlier for earlier, later in pairwise(instants)) >= 0.2


@pytest.mark.parametrize(("hops", "problem"), [(MOST_HOPS, ""), (MOST_HOPS + 1, "too_many_redirects")])
def test_so_many_redirects_are_followed(hops: int, problem: str) -> None:
    def answer(path: str) -> bytes | tuple[int, dict[str, str]]:
        number = int(path[1:]) if path[1:].isdigit() else hops
        return b"" if number == hops else (302, {"Location": f"/{number + 1}"})

    with answering(answer) as (home, asked), BlockingFetch(given(FRONTIER_DELAY_S=0)) as fetch:
        assert fetch(f"{home}/0").problem == problem
    assert asked == ["/robots.txt", *(f"/{number}" for number in range(MOST_HOPS + 1))]


def test_who_wants_long_delays_waits_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are no rest of the host's, and the longest that a robots.txt may ask for does not bound them."""
    monkeypatch.setattr(politeness, "_LONGEST_WAIT_S", 0.1)
    settings = given(FRONTIER_DELAY_S=0.3, FRONTIER_IP_DELAY_S=0, FRONTIER_MAX_CRAWL_DELAY_S=0.2)
    with answering(lambda _: b"") as (home, asked), BlockingFetch(settings) as fetch:
        assert [fetch(f"{home}/{number}").problem for number in range(2)] == ["", ""]
    assert asked == ["/robots.txt", "/0", "/1"]


@pytest.mark.parametrize(("seconds", "problem"), [(2, ""), (3, "crawl_delay_too_long")])
def test_a_host_that_wants_longer_delays_than_we_wait_is_not_asked(seconds: int, problem: str) -> None:
    rules = f"User-agent: *\nCrawl-delay: {seconds}\n".encode()
    settings = given(FRONTIER_DELAY_S=0, FRONTIER_MAX_CRAWL_DELAY_S=2)
    with answering(lambda _: rules) as (home, asked), BlockingFetch(settings) as fetch:
        assert fetch(f"{home}/page").problem == problem
    assert asked == ["/robots.txt", "/page"][: 1 if problem else 2]


def test_a_robots_txt_that_leads_in_a_ring_is_given_up_and_denies_nothing() -> None:
    with (
        answering(lambda path: (302, {"Location": path})) as (home, asked),
        BlockingFetch(given(FRONTIER_DELAY_S=0)) as fetch,
    ):
        assert fetch(f"{home}/page") == Fetched(f"{home}/page", 0, problem="robots_unreachable")
    assert asked == ["/robots.txt"] * (1 + MOST_HOPS)


def test_opt_outs_that_can_be_read_again_hold_nobody_up(tmp_path: Path) -> None:
    """Rules that were not read for want of them are asked for then."""
    (out := tmp_path / "out").write_text("")

    def answer(_path: str) -> bytes | tuple[int, dict[str, str]]:
        if len(asked) > 1:
            return b""
        out.unlink()
        return 302, {"Location": "/moved.txt"}

    settings = given(FRONTIER_DELAY_S=0, FRONTIER_OPT_OUT_FILE=str(out))
    with answering(answer) as (home, asked), BlockingFetch(settings) as fetch:
        with pytest.raises(OptOutsUnreadError):
            fetch(f"{home}/page")
        out.write_text("")
        assert fetch(f"{home}/page").ok
    assert asked == ["/robots.txt", "/robots.txt", "/page"], "where it has moved to was not asked without them"


def test_where_nobody_answers_for_robots_txt_no_page_is_asked_for() -> None:
    with answering(lambda _: b"") as (home, _):
        pass
    with BlockingFetch(given(FRONTIER_DELAY_S=0)) as fetch:
        assert fetch(f"{home}/page") == Fetched(f"{home}/page", 0, problem="connect")
        assert fetch(f"{home}/robots.txt").problem == "connect"


def test_rules_that_have_moved_are_read_as_those_that_have_not() -> None:
    """Of what is too long the beginning counts there, too."""
    rules = b"User-agent: *\nDisallow: /private/\n" + b"#" * LONGEST_BYTES

    def answer(path: str) -> bytes | tuple[int, dict[str, str]]:
        return (301, {"Location": "/moved.txt"}) if path == "/robots.txt" else rules

    settings = given(FRONTIER_DELAY_S=0, FRONTIER_IP_DELAY_S=0, DOWNLOAD_MAXSIZE=LONGEST_BYTES + 1)
    with answering(answer) as (home, asked), BlockingFetch(settings) as fetch:
        assert fetch(f"{home}/private/").problem == "robots_denied"
        assert fetch(f"{home}/public").problem == "too_large"
    assert asked == ["/robots.txt", "/moved.txt", "/public"]


def test_a_long_crawl_delay_of_a_robots_txt_that_has_moved_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """As from http to https: that host's own robots.txt would come after it."""
    monkeypatch.setattr(politeness, "_LONGEST_WAIT_S", 0.1)
    settings = given(FRONTIER_DELAY_S=0, FRONTIER_MAX_CRAWL_DELAY_S=0.2)
    with (
        answering(lambda _: b"User-agent: *\nCrawl-delay: 60\n") as (home, asked),
        answering(lambda path: (302, {"Location": home + path})) as (other, _),
        BlockingFetch(settings) as fetch,
    ):
        begun = time.monotonic()
        assert [fetch(f"{host}/page").problem for host in (other, home)] == ["crawl_delay_too_long"] * 2
    assert time.monotonic() - begun < 60
    assert asked == ["/robots.txt"]


def test_a_file_behind_a_query_takes_back_no_crawl_delay() -> None:
    """It is not its host's robots.txt, be it that of another host's."""
    ended: list[float] = []

    def answer(path: str) -> bytes:
        ended.append(time.monotonic())
        return b"User-agent: *\nCrawl-delay: 0.5\n" if path == "/robots.txt" else b""

    with (
        answering(answer) as (home, asked),
        answering(lambda _: (302, {"Location": f"{home}/robots.txt?of=another"})) as (other, _),
        BlockingFetch(given(FRONTIER_DELAY_S=0)) as fetch,
    ):
        for url in (f"{home}/robots.txt", f"{other}/robots.txt", f"{home}/1", f"{home}/2"):
            fetch(url)
    assert asked == ["/robots.txt", "/robots.txt?of=another", "/1", "/2"]
    assert min(later - earlier for earlier, later in pairwise(ended)) >= 0.5
