"""Opt-outs that hold for all crawls of a Redis: each crawl on both its own table and the one that all share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import redis

from frontier import Candidate, FrontierConfig, Outcome, RobotsRecord, redis_opt_outs
from frontier.errors import OptOutsDamaged, OptOutsElsewhere
from frontier.keys import OPT_OUTS_OF_ALL
from frontier.redis_opt_outs import RedisOptOuts
from frontier.scripts import SLOW_PARTS, script_text
from frontier.turns import TurnTakingFrontier
from tests.contract.frontier.conftest import Clock, Make

FREE = FrontierConfig(obey_robots=False)
A, B, C = "http://a.example", "http://b.example", "http://c.example"
URLS = [f"{A}/private/1", f"{A}/open", f"{B}/1", f"{B}/2"]
MakeSharing = Callable[[FrontierConfig], TurnTakingFrontier]


def crawl_of(make: Make | MakeSharing, urls: list[str]) -> TurnTakingFrontier:
    frontier = make(FREE)
    frontier.take_in(map(Candidate, urls))
    return frontier  # type: ignore[return-value]


def leased(frontier: TurnTakingFrontier) -> list[str]:
    """What may be sent; given back at once, so that no other crawl waits for it."""
    leases = frontier.lease(9).leases
    frontier.release([lease.token for lease in leases])
    return sorted(lease.url for lease in leases)


def test_one_table_holds_beside_the_other(make: Make) -> None:
    frontier = crawl_of(make, URLS)
    assert frontier.opt_out(["b.example"], all_crawls=True) == 4
    assert frontier.opt_out(["b.example"], all_crawls=True) == 0
    assert frontier.opt_out([f"{A}/private/"]) == 1
    assert leased(frontier) == [f"{A}/open"]
    assert frontier.status().results["opted_out"] == 3
    assert frontier.opted_out() == [f"{A}/private/"]
    assert frontier.opted_out(all_crawls=True)[0] == B
    assert frontier.opted_out_by(f"{A}/private/2") == f"{A}/private/"
    assert frontier.explain(f"{B}/3").refused == f"opted_out:{B}"


def test_what_was_said_of_all_is_withdrawn_of_all_and_nothing_else_is(make: Make, clock: Clock) -> None:
    frontier = crawl_of(make, [])
    frontier.opt_out(["b.example"])
    assert frontier.withdraw_opt_out("b.example", all_crawls=True) == 0
    frontier.opt_out(["b.example"], all_crawls=True)
    assert frontier.withdraw_opt_out("b.example") == 4
    assert frontier.opted_out_by(f"{B}/1") == B, "of all crawls"
    assert frontier.withdraw_opt_out("b.example", all_crawls=True) == 4
    assert frontier.opted_out_by(f"{B}/1") == ""
    frontier.take_in([Candidate(f"{B}/3")])
    clock.forward(10_000)
    assert leased(frontier) == [f"{B}/3"]


def test_of_many_hosts_each_table_is_asked_once(make_sharing: MakeSharing, server: redis.Redis) -> None:
    frontier = crawl_of(make_sharing, [])
    frontier.opt_out([f"{A}/private/", C])
    frontier.opt_out([f"{A}/more/", "b.example"], all_crawls=True)
    server.config_resetstat()
    assert frontier.wholly_opted_out([A, B, C]) == {B, C}
    calls = {name: stat["calls"] for name, stat in server.info("commandstats").items()}
    assert (calls["cmdstat_hmget"], "cmdstat_hget" in calls) == (2, False)
    assert frontier.wholly_opted_out([]) == set()


def test_it_holds_for_crawls_that_run_and_for_those_that_begin_later(make_sharing: MakeSharing) -> None:
    zulu, xhosa = crawl_of(make_sharing, URLS), crawl_of(make_sharing, URLS)
    zulu.opt_out([f"{A}/private/"])
    zulu.opt_out(["b.example"], all_crawls=True)
    later = crawl_of(make_sharing, [f"{B}/9", f"{A}/private/9"])
    assert leased(zulu) == [f"{A}/open"]
    assert leased(xhosa) == [f"{A}/private/1"]
    assert leased(later) == [f"{A}/private/9"]
    assert [one.status().results["opted_out"] for one in (zulu, xhosa, later)] == [3, 2, 1]


@pytest.mark.parametrize("all_crawls", [True, False])
def test_what_is_no_table_stops_the_crawl_and_loses_nothing(
    make_sharing: MakeSharing, server: redis.Redis, all_crawls: bool
) -> None:
    frontier = crawl_of(make_sharing, URLS)
    key = OPT_OUTS_OF_ALL if all_crawls else frontier.keys.opt_out
    server.set(key, "no hash")
    for call in (
        lambda: frontier.lease(9),
        lambda: frontier.opted_out_by(f"{A}/open"),
        lambda: frontier.explain(f"{A}/open"),
        lambda: frontier.opted_out(all_crawls=all_crawls),
        lambda: frontier.opt_out(["b.example"], all_crawls=all_crawls),
        lambda: frontier.withdraw_opt_out("b.example", all_crawls=all_crawls),
    ):
        with pytest.raises(OptOutsDamaged, match=rf"'{key}' of Redis is no table .* DEL '{key}'"):
            call()
    assert server.get(key) == b"no hash"
    server.delete(key)
    assert frontier.status().leased == 0
    assert leased(frontier) == [f"{A}/private/1", f"{B}/1"], "nothing was changed meanwhile"


@pytest.mark.parametrize("value", [b"\x93\xa2/a", b"", b"\x90", b"/private", b"\x81\xa1a\xa1b", b"\x91\x01", b"\xc0"])
def test_damaged_opt_outs_stop_the_crawl_and_lose_nothing(
    make_sharing: MakeSharing, server: redis.Redis, clock: Clock, value: bytes
) -> None:
    waiting = [*URLS, *(f"{A}/{'long' * 200}{number}" for number in range(5))]
    frontier = crawl_of(make_sharing, waiting)
    server.hset(OPT_OUTS_OF_ALL, B, value)
    for call in (
        lambda: frontier.lease(9),
        lambda: frontier.opted_out_by(f"{B}/1"),
        lambda: frontier.opted_out(all_crawls=True),
        lambda: frontier.opt_out(["b.example"], all_crawls=True),
        lambda: frontier.withdraw_opt_out("b.example", all_crawls=True),
    ):
        with pytest.raises(OptOutsDamaged, match=r"'http://b.example' in '{ulwembu}:optout'"):
            call()
    assert server.hgetall(OPT_OUTS_OF_ALL) == {B.encode(): value}
    assert frontier.status().leased == 0
    server.delete(OPT_OUTS_OF_ALL)
    found = []
    while leases := frontier.lease(9).leases:
        found += [lease.url for lease in leases]
        frontier.report([Outcome(lease.token, "ok") for lease in leases])
        clock.forward(60_000)
    assert sorted(found) == sorted(waiting)


def test_where_it_may_not_be_read_nothing_is_leased(make_sharing: MakeSharing, server: redis.Redis) -> None:
    frontier = crawl_of(make_sharing, URLS)
    server.acl_setuser("narrow", enabled=True, nopass=True, keys=["{test*"], categories=["+@all"])
    path = server.connection_pool.connection_kwargs["path"]
    try:
        with redis.Redis(unix_socket_path=path, username="narrow", password="any") as narrow:
            other = TurnTakingFrontier(narrow, frontier.crawl, FREE)
            with pytest.raises(redis.ResponseError):
                other.lease(9)
            with pytest.raises(redis.ResponseError):
                other.opted_out_by(f"{A}/open")
    finally:
        server.acl_deluser("narrow")
    assert frontier.status().leased == 0


def test_on_a_cluster_a_crawl_goes_on_by_itself(make_sharing: MakeSharing, server: redis.Redis) -> None:
    frontier = crawl_of(make_sharing, URLS)
    text = script_text("lease", FREE)
    asked = "redis.pcall('HLEN', SETTINGS.opt_outs_of_all)"
    assert asked in text
    says = "redis.error_reply('ERR Script attempted to access a non local key in a cluster node script: 1')"
    text = text.replace(asked, says).replace("call('HLEN', key)", "error('asked again')")
    frontier._scripts["lease"] = server.register_script(text)
    frontier.opt_out(["b.example"])
    assert leased(frontier) == [f"{A}/private/1"]


def test_a_redis_at_its_memory_limit_takes_an_opt_out(make_sharing: MakeSharing, server: redis.Redis) -> None:
    frontier = crawl_of(make_sharing, URLS)
    server.config_set("maxmemory", 1)
    try:
        with pytest.raises(redis.OutOfMemoryError):
            server.set("anything", "more")
        assert frontier.opt_out(["b.example"], all_crawls=True) == 4
        assert frontier.opt_out([f"{A}/private/"]) == 1
        assert frontier.withdraw_opt_out(f"{A}/private/") == 1
    finally:
        server.config_set("maxmemory", 0)
    assert leased(frontier) == [f"{A}/private/1"]


def test_on_a_cluster_what_cannot_be_said_is_refused(server: redis.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    def elsewhere(*_: object, **__: object) -> None:
        raise redis.exceptions.MovedError("11448 127.0.0.1:7001")

    monkeypatch.setattr(server, "execute_command", elsewhere)
    table = RedisOptOuts(server, "", of_all=True)
    for call in (lambda: table.add(["b.example"]), lambda: table.withdraw("b.example"), table.listed):
        with pytest.raises(OptOutsElsewhere, match="--crawl NAME"):
            call()


def test_a_long_list_is_said_in_parts(server: redis.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redis_opt_outs, "MOST_PREFIXES", 2)
    table = RedisOptOuts(server, "", of_all=True)
    names = [f"http://{host}.example/{path}" for path in "xy" for host in "abc"]
    steps: list[int] = []
    write = table._write

    def counted(**call: Any) -> object:
        steps.append(len(call["args"]))
        return write(**call)

    table._write = counted
    assert table.add(names) == 6
    assert steps == [6, 6, 6]
    assert table.listed() == sorted(names)
    with pytest.raises(ValueError, match="pattern"):
        table.add([*"defg", "*.example"])
    assert len(table.listed()) == 6, "all or nothing of what is wrong"


def test_two_who_speak_at_once_are_both_heard(server: redis.Redis) -> None:
    table, other = RedisOptOuts(server, "", of_all=True), RedisOptOuts(server, "", of_all=True)
    write = table._write
    said: list[int] = []

    def late(**call: object) -> object:
        if not said:
            said.append(other.add(["b.example/2"]))
        return write(**call)

    table._write = late
    assert table.add(["b.example/1"]) == 4
    assert len(table.listed()) == 8


def test_hosts_that_no_opt_out_names_stay_quick(make_sharing: MakeSharing, server: redis.Redis, clock: Clock) -> None:
    frontier = make_sharing(FrontierConfig())
    frontier.take_in(Candidate(url) for url in URLS)
    for number, lease in enumerate(frontier.lease(9).leases):
        frontier.bind(lease.token, f"192.0.2.{number}")
        assert frontier.report([Outcome(lease.token, "ok", robots=RobotsRecord("allow"))]) == [True]
    text = script_text("lease", frontier.config)
    begin = "local function define_slow_way()"
    assert "lease" in SLOW_PARTS
    assert begin in text
    frontier._scripts["lease"] = server.register_script(text.replace(begin, begin + " error('slow way')"))
    frontier.opt_out(["c.example"], all_crawls=True)
    frontier.opt_out(["d.example"])
    clock.forward(60_000)
    assert len(leased(frontier)) == 2
    assert len(leased(frontier)) == 2, "what was given back"
    frontier.opt_out(["a.example"], all_crawls=True)
    with pytest.raises(redis.ResponseError, match="slow way"):
        frontier.lease(9)
