"""What workers leave of their settings in Redis, and what the looking commands make of it."""

from __future__ import annotations

import argparse
import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
import redis
from scrapy.settings import Settings

from crawler.addon import Ulwembu
from crawler.commands.frontier import Command
from crawler.console.crawl_state import Action
from crawler.console.which_crawl import Taken, named_crawl, no_state, take_over
from crawler.errors import PreflightError
from crawler.state import run_record
from crawler.state.embedded_redis import EmbeddedRedis
from crawler.state.redis_link import RedisHome, RedisUnreachableError
from crawler.state.run_record import RECORDED, RUNS_MS, RunRecord, crawls_of, worker_record, workers
from crawler.state.state_format import ensure_format
from crawler.work.opening import open_frontier
from frontier.types import Candidate

SECRET = "oh-secret"


def given(**values: Any) -> Settings:
    settings = Settings()
    for name, value in values.items():
        settings.set(name, value, priority="cmdline")
    Ulwembu().update_settings(settings)
    return settings


@pytest.fixture
def start(url: str, tmp_path: Path) -> Iterator[Callable[..., RunRecord]]:
    """Begins a worker of a crawl."""
    with contextlib.ExitStack() as opened:

        def begin(crawl: str = "x", seeds: str = "", **values: Any) -> RunRecord:
            ensure_format(url, crawl)
            record = RunRecord(url, crawl, worker_record(given(**values), tmp_path, seeds))
            opened.callback(record.close)
            return record

        yield begin


def taken(url: str, folder: Path, **values: Any) -> tuple[Settings, Taken]:
    settings = given(**values)
    return settings, take_over(settings, *workers(url, "x"), folder)


def test_what_the_worker_was_given_counts_unless_the_command_line_says_otherwise(
    server: redis.Redis, url: str, start: Callable[..., RunRecord], tmp_path: Path
) -> None:
    start(FRONTIER_DELAY_S="0.7", ROBOTS_USER_AGENT="Own", RELEVANCE_OPTIONS=["words=3", "share=0.5"])
    settings, told = taken(url, tmp_path, FRONTIER_MAX_DEPTH=3)
    assert settings.getfloat("FRONTIER_DELAY_S") == 0.7
    assert (settings["ROBOTS_USER_AGENT"], settings.getint("FRONTIER_MAX_DEPTH")) == ("Own", 3)
    assert settings.getlist("RELEVANCE_OPTIONS") == ["words=3", "share=0.5"]
    assert told == Taken(tmp_path, "", "")
    settings, _ = taken(url, tmp_path, FRONTIER_DELAY_S="9")
    assert settings.getfloat("FRONTIER_DELAY_S") == 9
    settings = Settings({"FRONTIER_DELAY_S": 9}, priority="project")
    take_over(settings, *workers(url, "x"), tmp_path)
    assert settings.getfloat("FRONTIER_DELAY_S") == 0.7, "a project's own is what the worker had before its -s"


def test_the_instants_of_a_record_are_milliseconds_of_redis_clock(
    server: redis.Redis, url: str, start: Callable[..., RunRecord]
) -> None:
    begun_s = server.time()[0]
    start()
    (one,), now_ms = workers(url, "x")
    assert begun_s * 1000 <= one.started_ms <= one.seen_ms <= now_ms < (server.time()[0] + 1) * 1000


def test_files_that_a_worker_was_given_are_found_from_any_folder(
    server: redis.Redis, url: str, start: Callable[..., RunRecord], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("out", "x.toml"):
        (tmp_path / name).write_text("")
    monkeypatch.chdir(tmp_path)
    start(seeds="x.toml", FRONTIER_OPT_OUT_FILE="out")
    monkeypatch.chdir("/")
    settings, told = taken(url, tmp_path)
    assert (settings["FRONTIER_OPT_OUT_FILE"], told.seeds) == (str(tmp_path / "out"), str(tmp_path / "x.toml"))
    assert worker_record(given(), tmp_path, "").seeds == ""


def test_no_secret_is_left(server: redis.Redis, url: str, start: Callable[..., RunRecord]) -> None:
    start(
        REDIS_URL=f"redis://me:{SECRET}@127.0.0.1:9/0",
        HTTP_PROXY=f"http://me:{SECRET}@127.0.0.1:9",
        DEFAULT_REQUEST_HEADERS={"Authorization": SECRET},
        USER_AGENT=SECRET,
    )
    (left,) = server.hgetall("{x}:workers").values()
    assert SECRET.encode() not in left
    assert set(json.loads(left)["settings"]) == set(RECORDED)


def test_workers_that_differ_are_named_while_they_run(
    server: redis.Redis, url: str, start: Callable[..., RunRecord], tmp_path: Path
) -> None:
    first = start(FRONTIER_DELAY_S="0.7")
    assert not taken(url, tmp_path)[1].notes
    second = start(FRONTIER_DELAY_S="3")
    settings, told = taken(url, tmp_path)
    (note,) = told.notes
    assert note.startswith("workers of this crawl go by different FRONTIER_DELAY_S: 0.7 (")
    assert note.endswith("; taken here: 3.0")
    assert settings.getfloat("FRONTIER_DELAY_S") == 3
    second.close()
    settings, told = taken(url, tmp_path)
    assert (settings.getfloat("FRONTIER_DELAY_S"), told.notes) == (0.7, ()), "of those that run"
    first.close()
    settings, told = taken(url, tmp_path)
    assert (settings.getfloat("FRONTIER_DELAY_S"), told.notes) == (3, ()), "of the last that ran"


def test_of_a_worker_that_may_have_been_killed_the_age_of_its_last_sign_is_said(
    url: str, start: Callable[..., RunRecord], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_record, "_REFRESH_S", 0.0)
    monkeypatch.setattr(run_record, "_now_ms", lambda _: 1_000_000)
    killed, same, living = start(FRONTIER_DELAY_S="9"), start(FRONTIER_DELAY_S="3"), start(FRONTIER_DELAY_S="3")
    monkeypatch.setattr(run_record, "_now_ms", lambda _: 1_100_000)
    same.refresh()
    monkeypatch.setattr(run_record, "_now_ms", lambda _: 1_170_900)
    (note,) = taken(url, tmp_path)[1].notes
    assert f"9.0 ({killed._name}, last sign 170 s ago)" in note
    assert f"3.0 ({same._name}, last sign 70 s ago)" in note, "of those that agree the one seen last"
    assert living._name not in note


def test_the_next_start_clears_away_who_left_or_fell_silent(
    server: redis.Redis, url: str, start: Callable[..., RunRecord], monkeypatch: pytest.MonkeyPatch
) -> None:
    start().close()
    silent, living = start(), start()
    monkeypatch.setattr(run_record, "_REFRESH_S", 0.0)
    now_ms = run_record._now_ms(server)
    monkeypatch.setattr(run_record, "_now_ms", lambda _: now_ms + RUNS_MS + 1000)
    living.refresh()
    last = start()
    assert {one.worker for one in workers(url, "x")[0]} == {living._name, last._name}
    assert silent._name not in {one.worker for one in workers(url, "x")[0]}


def test_a_worker_that_leaves_does_not_begin_an_emptied_crawl_anew(
    server: redis.Redis, start: Callable[..., RunRecord]
) -> None:
    record = start()
    server.flushdb()
    record.close()
    assert not server.dbsize()


def test_what_others_wrote_there_is_passed_over(server: redis.Redis, url: str, start: Callable[..., RunRecord]) -> None:
    record = start()
    server.hset("{x}:workers", mapping={"a": "{", "b": "[]", "c": '{"later": 1}', "d": '{"host": 1}'})
    assert [one.worker for one in workers(url, "x")[0]] == [record._name]


@pytest.mark.parametrize(
    "wrong",
    [
        {"seen_ms": "now"},
        {"seen_ms": None},
        {"started_ms": []},
        {"folder": 3},
        {"seeds": 3},
        {"ended": "no"},
        {"settings": [["FRONTIER_DELAY_S", 1]]},
        "[" * 100_000,
    ],
)
def test_a_record_that_no_worker_would_write_stops_neither_a_worker_nor_a_command(
    wrong: Any, server: redis.Redis, url: str, start: Callable[..., RunRecord], tmp_path: Path
) -> None:
    first = start(FRONTIER_DELAY_S="0.7")
    (left,) = server.hvals("{x}:workers")
    other = wrong if isinstance(wrong, str) else json.dumps({**json.loads(left), **wrong})
    server.hset("{x}:workers", "wrong", other)
    second = start(FRONTIER_DELAY_S="0.7")
    assert {one.worker for one in workers(url, "x")[0]} == {first._name, second._name}
    assert taken(url, tmp_path)[0].getfloat("FRONTIER_DELAY_S") == 0.7


def test_recorded_settings_that_no_worker_could_have_are_not_taken(
    server: redis.Redis, url: str, start: Callable[..., RunRecord], tmp_path: Path
) -> None:
    start(FRONTIER_MAX_DEPTH="3")
    ((name, left),) = server.hgetall("{x}:workers").items()
    record = json.loads(left)
    record["settings"] |= {
        "FRONTIER_DELAY_S": "soon",
        "FRONTIER_IP_DELAY_S": -1.0,
        "FRONTIER_AUDIT": None,
        "FRONTIER_OPT_OUT_FILE": ["a"],
        "RELEVANCE_POLICY": "evil",
        "REDIS_URL": "redis://elsewhere",
    }
    server.hset("{x}:workers", name, json.dumps(record))
    settings, _ = taken(url, tmp_path)
    usual = given()
    for wrong in (*record["settings"].keys() - {"FRONTIER_MAX_DEPTH"},):
        assert settings[wrong] == usual[wrong], wrong
    assert settings.getint("FRONTIER_MAX_DEPTH") == 3
    start(FRONTIER_MAX_DEPTH="3")
    assert taken(url, tmp_path)[1].notes == (), "nor is what one does not say another value than the others'"


def test_paths_that_cannot_be_looked_at_are_passed_over(
    server: redis.Redis, url: str, start: Callable[..., RunRecord], tmp_path: Path
) -> None:
    """Another user's, or none of this machine's."""
    record = start(REDIS_URL=url)
    left = json.loads(server.hget("{x}:workers", record._name) or b"")
    too_long = "/" + "a" * 300
    left |= {"folder": too_long, "seeds": too_long}
    left["settings"] |= {"FRONTIER_OPT_OUT_FILE": too_long, "SIEVE_STORE": "disk"}
    server.hset("{x}:workers", record._name, json.dumps(left))
    settings, told = taken(url, tmp_path, REDIS_URL=url)
    assert (told, settings["FRONTIER_OPT_OUT_FILE"], settings["SIEVE_STORE"]) == (Taken(tmp_path, "", ""), "", "")


def test_files_and_stores_of_other_machines_are_not_taken(
    server: redis.Redis, url: str, start: Callable[..., RunRecord], tmp_path: Path
) -> None:
    here = tmp_path / "opt-outs.txt"
    here.write_text("")
    start(RELEVANCE_MODEL=str(tmp_path / "gone.model"), FRONTIER_OPT_OUT_FILE=str(here), SIEVE_STORE="disk")
    settings, told = taken(url, tmp_path)
    assert (settings["RELEVANCE_MODEL"], settings["FRONTIER_OPT_OUT_FILE"], settings["SIEVE_STORE"]) == (
        "",
        str(here),
        "",
    )
    assert "gone.model of this crawl is not on this machine" in told.notes[0]
    assert not taken(url, tmp_path, RELEVANCE_MODEL="own.model")[1].notes
    start(SIEVE_STORE="redis")
    assert taken(url, tmp_path)[0]["SIEVE_STORE"] == "redis"


def test_the_archive_is_where_the_worker_of_this_machine_wrote_it(
    server: redis.Redis,
    url: str,
    start: Callable[..., RunRecord],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seeds = tmp_path / "x.toml"
    seeds.write_text("")
    start(seeds=str(seeds))
    elsewhere = tmp_path / "elsewhere"
    assert taken(url, elsewhere, REDIS_URL=url)[1] == Taken(tmp_path, str(seeds), "")
    assert taken(url, elsewhere, REDIS_URL=url, DATA_DIR=str(elsewhere))[1].folder == elsewhere
    monkeypatch.setattr("socket.gethostname", lambda: "another")
    machine = workers(url, "x")[0][0].host
    assert taken(url, elsewhere, REDIS_URL=url)[1] == Taken(elsewhere, str(seeds), machine)
    assert taken(url, elsewhere, REDIS_URL=url, SEEDS_DIR=str(elsewhere))[1].seeds == ""
    seeds.unlink()
    assert taken(url, elsewhere, REDIS_URL=url)[1].seeds == ""


def test_the_only_crawl_of_a_redis_needs_no_name(
    server: redis.Redis, url: str, start: Callable[..., RunRecord]
) -> None:
    settings = given(REDIS_URL=url)
    with pytest.raises(PreflightError, match="no crawl is known in unix://"):
        named_crawl(settings, "", "")
    start("inanda")
    assert named_crawl(settings, "", "") == "inanda"
    start("umlazi")
    with pytest.raises(PreflightError, match=r"which crawl\? --crawl NAME; in .* there are: inanda, umlazi"):
        named_crawl(settings, "", "")
    assert named_crawl(settings, "umlazi", "") == "umlazi"
    server.delete("{inanda}:format")
    assert named_crawl(settings, "", "") == "umlazi", "its keys were deleted by hand"
    assert crawls_of(url) == ["umlazi"]


def test_the_only_crawl_of_the_data_folders_needs_no_name(tmp_path: Path) -> None:
    settings = given(DATA_DIR=f"{tmp_path}/[a]/{{crawl}}/data", REDIS_URL="")
    with pytest.raises(PreflightError, match="no crawl is known"):
        named_crawl(settings, "", "")
    for name in ("inanda", "umlazi"):
        (tmp_path / "[a]" / name / "data" / "state").mkdir(parents=True)
    (tmp_path / "[a]" / "inanda" / "data" / "state" / "redis").mkdir()
    assert named_crawl(settings, "", "") == "inanda"
    (tmp_path / "[a]" / "umlazi" / "data" / "state" / "crawl").write_text("copied")
    (tmp_path / "[a]" / "umlazi" / "data" / "state" / "redis").mkdir()
    assert named_crawl(settings, "", "") == "inanda", "a copy of another's folder would not be found by that name"
    (tmp_path / "[a]" / "umlazi" / "data" / "state" / "crawl").unlink()
    with pytest.raises(PreflightError, match="there are: inanda, umlazi"):
        named_crawl(settings, "", "")


def test_a_data_folder_without_a_name_in_its_path_has_one_crawl(tmp_path: Path) -> None:
    settings = given(DATA_DIR=str(tmp_path), REDIS_URL="")
    with EmbeddedRedis(tmp_path / "state" / "redis") as server:
        ensure_format(server.url, "spider")
        RunRecord(server.url, "spider", worker_record(settings, tmp_path, "")).close()
        assert named_crawl(settings, "", "") == "spider"
    (tmp_path / "state" / "crawl").write_text("inanda")
    assert named_crawl(settings, "", "") == "inanda"


def test_where_no_private_redis_was_none_is_started_to_look_for_a_crawl(tmp_path: Path) -> None:
    settings = given(DATA_DIR=str(tmp_path), REDIS_URL="")
    (tmp_path / "state").mkdir()
    for left in ("", "inanda"):  # a fleet's worker writes the name down, too
        (tmp_path / "state" / "crawl").write_text(left)
        with pytest.raises(PreflightError, match=rf"^no crawl is known in {tmp_path}; .* -s DATA_DIR=…"):
            named_crawl(settings, "", "")
    assert [path.name for path in (tmp_path / "state").iterdir()] == ["crawl"]


def test_a_crawl_of_which_no_worker_has_left_anything_goes_by_the_settings(
    server: redis.Redis, url: str, tmp_path: Path
) -> None:
    ensure_format(url, "x")
    settings, told = taken(url, tmp_path, FRONTIER_DELAY_S=9)
    assert (told, settings.getfloat("FRONTIER_DELAY_S")) == (Taken(tmp_path, "", ""), 9)


def test_a_seed_file_and_a_name_of_two_crawls_name_none(tmp_path: Path) -> None:
    """What was to be done to the one, `drop` or `opt-out`, was done to the other."""
    (seeds := tmp_path / "x.toml").write_text(
        '[crawl]\nname = "inanda"\nlanguage = "zul"\n[[site]]\nurl = "http://a.example/"\n'
    )
    assert named_crawl(given(), "inanda", str(seeds)) == "inanda"
    with pytest.raises(PreflightError, match=rf"^--crawl umlazi, but the crawl of --seeds {seeds} is 'inanda'$"):
        named_crawl(given(), "umlazi", str(seeds))


@pytest.mark.parametrize(("crawled", "private", "says"), [("x", False, True), ("y", False, False), ("x", True, False)])
def test_only_of_a_crawl_that_was_a_fleets_it_is_said(crawled: str, private: bool, says: bool, tmp_path: Path) -> None:
    (state := tmp_path / "x" / "state").mkdir(parents=True)
    (state / "crawl").write_text(crawled)
    if private:
        (state / "redis").mkdir()
    told = str(no_state(given(DATA_DIR=str(tmp_path / "{crawl}"), REDIS_URL=""), "x"))
    assert told.startswith(f"crawl 'x' has no state in {tmp_path / 'x'} (")
    assert ("it was crawled with a REDIS_URL" in told) == says


@pytest.fixture
def ask(url: str, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """``scrapy frontier`` with words, on the tests' Redis."""

    def call(*words: str, url: str = url) -> tuple[int, str, str]:
        command = Command()
        command.settings = Settings()
        command.settings.set("REDIS_URL", url, priority="cmdline")
        command.settings.set("SPIDER_LOADER_CLASS", "crawler.spiderloader.CrawlLoader")
        parser = argparse.ArgumentParser()
        command.add_options(parser)
        opts, args = parser.parse_known_args(words)
        command.run(args, opts)
        told = capsys.readouterr()
        return command.exitcode, told.out, told.err

    return call


def test_hosts_are_shown_with_the_delays_of_the_running_crawl(
    server: redis.Redis, url: str, start: Callable[..., RunRecord], ask: Callable[..., tuple[int, str, str]]
) -> None:
    start("nowhere-in-seeds", FRONTIER_DELAY_S="0.7")
    settings = given(FRONTIER_DELAY_S="0.7")
    with contextlib.closing(open_frontier(settings, RedisHome(url), "nowhere-in-seeds", None)) as frontier:
        frontier.take_in([Candidate("http://a.example/1"), Candidate("http://b.example/1")])
        frontier.lease(1)
    code, out, err = ask("hosts")
    assert (code, "its scope is not judged" in err) == (0, True)
    title, header, *rows = out.splitlines()
    assert title == "Hosts of nowhere-in-seeds"
    assert header.split() == "host queued parked pages words delay s failures state address".split()  # noqa: SIM905
    assert sorted((row.split()[0][:9], row.split()[5]) for row in rows) == [("http://a.", "0.7"), ("http://b.", "0.7")]
    assert all(len(row) < 100 for row in rows)
    assert [json.loads(row)["delay_ms"] for row in ask("hosts", "--json")[1].splitlines()] == [700, 700]


@pytest.mark.usefixtures("server")
def test_hosts_that_have_opted_out_are_shown_as_such(
    url: str, start: Callable[..., RunRecord], ask: Callable[..., tuple[int, str, str]]
) -> None:
    start("zulu")
    with contextlib.closing(open_frontier(given(), RedisHome(url), "zulu", None)) as frontier:
        frontier.take_in([Candidate("http://a.example/1"), Candidate("http://b.example/1")])
        frontier.opt_out(["a.example", "b.example/private/"])
    rows = [line.split() for line in ask("hosts")[1].splitlines()[2:]]
    assert {row[0]: " ".join(row[7:]) for row in rows} == {"http://a.example": "opted out", "http://b.example": "waits"}
    shown = [json.loads(line) for line in ask("hosts", "--json")[1].splitlines()]
    assert {row["authority"]: row["opted_out"] for row in shown} == {
        "http://a.example": True,
        "http://b.example": False,
    }


@pytest.mark.usefixtures("server")
def test_what_feeds_say_of_addresses_steers_no_terminal(
    url: str, start: Callable[..., RunRecord], ask: Callable[..., tuple[int, str, str]]
) -> None:
    start("zulu")
    odd, later = "http://a.example/\x1b[31m", 1 << 42
    with contextlib.closing(open_frontier(given(), RedisHome(url), "zulu", None)) as frontier:
        frontier.take_in([Candidate(odd), Candidate(f"{odd}/2", not_before_ms=later)])
    assert "http://a.example/\ufffd[31m\n" in ask("peek", "http://a.example")[1]
    assert ask("parked")[1].endswith("http://a.example/\ufffd[31m/2\n")


def test_looking_at_a_crawl_that_is_not_there_begins_none(
    server: redis.Redis, start: Callable[..., RunRecord], ask: Callable[..., tuple[int, str, str]]
) -> None:
    code, _, err = ask("status", "--crawl", "nothing")
    assert (code, "crawl 'nothing' has no state in unix://" in err) == (1, True)
    assert err.endswith("there is no other; scrapy crawl NAME begins one of those of scrapy list\n")
    assert not server.dbsize()
    start("inanda").close()
    code, _, err = ask("status", "--crawl", "zulu")
    assert (code, err.startswith("scrapy frontier: crawl 'zulu' has no state in unix://")) == (1, True)
    assert err.endswith("there are: inanda; scrapy crawl zulu begins it\n")
    assert not server.keys("{zulu}:*")


def test_an_acl_that_hides_the_crawls_is_named(
    server: redis.Redis, url: str, start: Callable[..., RunRecord], ask: Callable[..., tuple[int, str, str]]
) -> None:
    def seen(*keys: str) -> str:
        server.acl_setuser("blind", enabled=True, nopass=True, reset_keys=True, commands=["+@all"], keys=keys)
        try:
            return named_crawl(given(REDIS_URL=f"{url}&username=blind&password=x"), "", "")
        except RedisUnreachableError as error:
            return str(error).partition(" does not tell its crawls ({ulwembu}:crawls): ")[2]

    for name in ("inanda", "umlazi"):
        start(name)
    needed = "the ACL of this Redis must allow its user the keys {ulwembu}:* and {NAME}:* of its crawls"
    assert seen("{inanda}:*").endswith(needed)
    assert seen("{ulwembu}:*").endswith(needed)
    assert seen("{ulwembu}:*", "{inanda}:*") == "inanda", "the other one is not this user's"
    server.acl_setuser("blind", reset_keys=True, keys=["{ulwembu}:*", "{inanda}:format"], enabled=True)
    for name in ("inanda", "umlazi"):
        code, _, err = ask("status", "--crawl", name, url=f"{url}&username=blind&password=x")
        assert (code, err.count("\n"), needed in err) == (1, 1, True), err
    server.acl_deluser("blind")


def test_counts_are_shown_with_what_they_mean(
    server: redis.Redis, start: Callable[..., RunRecord], ask: Callable[..., tuple[int, str, str]]
) -> None:
    start("zulu")
    server.hset("{zulu}:f:results", "gave_up:dns", 3)
    lines = ask("status")[1].splitlines()
    assert lines[-1].split(maxsplit=3) == ["reported:", "gave_up:dns", "3", "given up, last: host's name not found"]
    start("zulu", FRONTIER_DELAY_S="9")
    assert "workers of this crawl go by different FRONTIER_DELAY_S: 5.0 (" in ask("status")[2]


def test_a_folder_that_is_another_users_is_one_plain_line(capsys: pytest.CaptureFixture[str]) -> None:
    class Refused(Action):
        def work(self, args: list[str], opts: argparse.Namespace) -> None:
            raise PermissionError(13, "Permission denied", "/theirs/state/redis")

    assert Refused(given(), "frontier").perform([], argparse.Namespace()) == 1
    assert capsys.readouterr().err == "scrapy frontier: /theirs/state/redis: Permission denied\n"


def test_a_worker_gives_a_sign_each_half_minute_and_no_oftener(
    url: str, start: Callable[..., RunRecord], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is asked to with each look of the intake, hundreds of times a second."""
    now, written = [100.0], Mock()
    monkeypatch.setattr(run_record, "time", SimpleNamespace(monotonic=lambda: now[0]))
    record = start()
    monkeypatch.setattr(record, "_write", written)
    for now[0] in (100.0, 129.0, 130.0, 130.0, 159.0, 161.0):
        record.refresh()
    assert written.call_count == 2
