"""``scrapy frontier opt-out`` and ``opt-outs`` on a Redis with several crawls."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pytest
import redis
from scrapy.settings import Settings

from crawler.actions import opt_outs
from crawler.actions.crawl import look_for_opt_outs
from crawler.actions.frontier import Frontier
from crawler.state.run_record import RunRecord, WorkerRecord
from crawler.state.state_format import ensure_format
from frontier.errors import OptOutsDamaged
from frontier.redis_frontier import RedisFrontier
from frontier.types import Candidate

PAGE = "http://a.example/1"


class Fleet:
    """A Redis with the crawls `zulu` and `xhosa`, and the command beside it."""

    def __init__(self, url: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.url, self.folder, self.capsys = url, folder, capsys
        for name in ("zulu", "xhosa"):
            ensure_format(url, name)
            RunRecord(url, name, WorkerRecord("elsewhere", str(folder), "")).close()

    def say(self, *words: str, crawl: str = "", withdraw: bool = False, as_json: bool = False) -> tuple[int, str]:
        """Exit status, and all that was printed."""
        settings = Settings({"REDIS_URL": self.url, "DATA_DIR": f"{self.folder}/{{crawl}}"})
        opts = argparse.Namespace(crawl=crawl, seeds="", json=as_json, limit=50, withdraw=withdraw)
        self.capsys.readouterr()
        status = Frontier(settings, "frontier").perform(list(words), opts)
        shown = self.capsys.readouterr()
        return status, shown.out + shown.err

    def refused(self, page: str = PAGE) -> dict[str, bool]:
        """Of each crawl, one that begins now, too, whether the page has opted out."""
        found = {}
        for name in ("zulu", "xhosa", "new"):
            frontier = RedisFrontier(self.url, name)
            found[name] = bool(frontier.opted_out_by(page))
            frontier.close()
        return found


@pytest.fixture
def fleet(url: str, server: redis.Redis, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Fleet:
    return Fleet(url, tmp_path, capsys)


def test_an_opt_out_holds_for_all_crawls_unless_one_is_named(fleet: Fleet) -> None:
    status, said = fleet.say("opt-out", "A.example.")
    assert (status, said.splitlines()[0]) == (0, "A.example.: opted out of all crawls of this Redis")
    assert "begins with http://a.example, http://www.a.example, https://a.example, https://www.a.example; other" in said
    assert fleet.refused() == {"zulu": True, "xhosa": True, "new": True}
    assert "was opted out already of all" in fleet.say("opt-out", "a.example")[1]
    assert "b.example: opted out of crawl zulu\n" in fleet.say("opt-out", "b.example", crawl="zulu")[1]
    assert fleet.refused("https://www.b.example/x") == {"zulu": True, "xhosa": False, "new": False}
    status, said = fleet.say("opt-out", "a.example/*")
    assert (status, "is a pattern" in said) == (1, True)


def test_a_redis_without_a_crawl_takes_it_for_those_to_come(
    url: str, server: redis.Redis, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = Fleet(url, tmp_path, capsys)
    server.flushdb()
    assert fleet.say("opt-out", "a.example")[0] == 0
    assert fleet.refused()["new"]


def test_who_may_see_no_crawl_may_opt_out_of_all(fleet: Fleet, server: redis.Redis) -> None:
    server.acl_setuser("blind", enabled=True, nopass=True, commands=["+@all"], keys=["{ulwembu}:*"])
    fleet.url += "&username=blind&password=x"
    status, said = fleet.say("opt-out", "a.example")
    server.acl_deluser("blind")
    assert (status, said.splitlines()[0]) == (0, "a.example: opted out of all crawls of this Redis")


def test_it_is_withdrawn_by_the_same_name_and_scope(fleet: Fleet) -> None:
    fleet.say("opt-out", "a.example")
    status, said = fleet.say("opt-out", "a.example", crawl="zulu", withdraw=True)
    assert (status, "of crawl zulu by just this name; of its host: none; of all crawls of this Redis it" in said) == (
        1,
        True,
    )
    fleet.say("opt-out", "a.example", crawl="zulu")
    status, said = fleet.say("opt-out", "a.example", withdraw=True)
    assert (status, "stays opted out of crawl zulu, where" in said) == (0, True)
    assert said.startswith("a.example: opt-out of all crawls of this Redis withdrawn, noted in ")
    assert fleet.refused() == {"zulu": True, "xhosa": False, "new": False}
    log = fleet.folder / "opt-outs.log"
    assert "Z withdrawn: a.example of all crawls of this Redis (http://a.example, " in log.read_text()
    status, said = fleet.say("opt-out", "a.example", withdraw=True)
    assert (status, "; of crawl zulu it has (--crawl says" in said) == (1, True)
    assert fleet.say("opt-out", "a.example", crawl="zulu", withdraw=True)[0] == 0
    assert not any(fleet.refused().values())
    status, said = fleet.say("opt-out", "a.example", withdraw=True)
    assert (status, said.rstrip().endswith("; of its host: none")) == (1, True), "nobody has it any more"


def test_what_cannot_be_written_down_stays(fleet: Fleet) -> None:
    fleet.say("opt-out", "a.example")
    (fleet.folder / "opt-outs.log").unlink()
    (fleet.folder / "opt-outs.log").mkdir()
    assert fleet.say("opt-out", "a.example", withdraw=True)[0] == 1
    assert all(fleet.refused().values())
    status, said = fleet.say("opt-out", "b.example")
    assert (status, "it holds, but could not be noted in " in said) == (0, True)
    assert all(fleet.refused("http://b.example/1").values())


def test_the_list_says_which_hold_for_all(fleet: Fleet) -> None:
    fleet.say("opt-out", PAGE)
    fleet.say("opt-out", "http://b.example/x", crawl="xhosa")
    fleet.say("opt-out", "http://c.example/", crawl="zulu")
    _, said = fleet.say("opt-outs", as_json=True)
    rows: list[dict[str, Any]] = [json.loads(line) for line in said.splitlines()]
    assert rows == [
        {"crawl": None, "prefix": PAGE},
        {"crawl": "xhosa", "prefix": "http://b.example/x"},
        {"crawl": "zulu", "prefix": "http://c.example"},
    ]
    _, said = fleet.say("opt-outs", crawl="zulu")
    assert "all crawls of this Redis  http://a.example/1" in said
    assert "crawl zulu                http://c.example" in said
    assert "b.example" not in said


@pytest.mark.parametrize(("crawl", "key"), [("", "{ulwembu}:optout"), ("zulu", "{zulu}:f:optout")])
def test_of_what_is_no_table_that_is_said(fleet: Fleet, server: redis.Redis, crawl: str, key: str) -> None:
    server.set(key, "no hash")
    for words, withdraw in ((("opt-out", PAGE), False), (("opt-out", PAGE), True), (("opt-outs",), False)):
        status, said = fleet.say(*words, crawl=crawl, withdraw=withdraw)
        assert (status, f"{key!r} of Redis is no table of opt-outs" in said) == (1, True)
    with pytest.raises(OptOutsDamaged, match=key):
        look_for_opt_outs(fleet.url, "zulu")
    server.delete(key)
    look_for_opt_outs(fleet.url, "zulu")


def test_on_a_cluster_it_is_said_who_does_not_hear_of_it(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opt_outs, "is_cluster", lambda server: True)
    assert "on its other nodes" in fleet.say("opt-out", "a.example")[1]
    assert "on its other nodes" not in fleet.say("opt-out", "a.example", crawl="zulu")[1]


def test_hosts_that_have_opted_out_are_told(fleet: Fleet, url: str) -> None:
    frontier = RedisFrontier(url, "zulu")
    frontier.take_in([Candidate(f"http://{name}.example/1") for name in "abc"])
    fleet.say("opt-out", "a.example")
    fleet.say("opt-out", "http://b.example/1", crawl="zulu")
    frontier.close()
    _, said = fleet.say("hosts", crawl="zulu", as_json=True)
    rows = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    assert {row["authority"]: row["opted_out"] for row in rows} == {
        "http://a.example": True,
        "http://b.example": False,
        "http://c.example": False,
    }
    _, said = fleet.say("hosts", crawl="zulu")
    assert [line.split()[0] for line in said.splitlines() if "opted out" in line] == ["http://a.example"]
