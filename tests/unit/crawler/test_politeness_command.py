"""What ``scrapy politeness verify`` proves, of files and of a crawl in a real Redis."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import redis
from scrapy.exceptions import UsageError

from archive import WarcWriter, WriterConfig
from frontier.types import Candidate
from tests.unit.archive.pages import START, page
from tests.unit.crawler.looking import Begun, Looking

A, B = "http://a.example", "http://b.example"
Archive = Callable[..., str]


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    """Writes a file of pages of a host, each begun so many seconds after the end of the one before."""

    def write(*gaps_s: float, host: str = A, begun_s: float = 0.0, **frontier: int) -> str:
        folder = tmp_path / "warc"
        before = set(folder.glob("*.warc"))
        config = WriterConfig(warcinfo={"frontier": frontier} if frontier else {})
        with WarcWriter(folder, "x", "none", config=config) as writer:
            for number, gap_s in enumerate((0.0, *gaps_s)):
                begun_s += gap_s
                started = START + timedelta(seconds=begun_s)
                writer.write(page(number, url=f"{host}/{number}", started=started, fetch_ms=100))
                begun_s += 0.1
        (path,) = set(folder.glob("*.warc")) - before
        return str(path)

    return write


def proved(look: Looking, *words: str, status: int = 0, **values: object) -> dict[str, Any]:
    answer = look("politeness", "verify", *words, "--json", **values)
    assert answer.status == status, answer
    found: dict[str, Any] = json.loads(answer.out)
    return found


def test_files_are_held_against_the_settings_or_what_the_command_line_says(look: Looking, archive: Archive) -> None:
    path = archive(6, 3)
    found = proved(look, path, status=1)["archive"]
    assert (found["ok"], found["fetches"], found["gaps"], found["shortest_ms"]) == (False, 3, 4, 3000)
    (short,) = found["short"]
    assert (short["of"], short["gap_ms"], short["needed_ms"], found["too_short"]) == (A, 3000, 5000, 1)
    assert proved(look, str(Path(path).parent), path, status=1)["archive"] == found, "its folder, and no file twice"
    assert proved(look, path, FRONTIER_DELAY_S=3)["archive"]["ok"]
    assert proved(look, path, "--delay", "3")["archive"]["ok"]
    assert not proved(look, path, "--delay", "3.1", status=1)["archive"]["ok"]
    assert proved(look, path, "--delay", "3.1", "--tolerance-ms", "100")["archive"]["ok"]
    address = proved(look, path, "--delay", "0", "--ip-delay", "4", status=1)["archive"]
    assert [(gap["of"], gap["needed_ms"]) for gap in address["short"]] == [("@192.0.2.7", 4000)]


def test_of_one_fetch_nothing_is_proved(look: Looking, archive: Archive) -> None:
    path = archive()
    assert proved(look, path, status=1)["archive"] == {
        "ok": True,
        "fetches": 1,
        "gaps": 0,
        "shortest_ms": None,
        "too_short": 0,
        "short": [],
    }
    answer = look("politeness", "verify", path)
    assert (answer.status, "nothing to check" in answer.out, "held against" in answer.out) == (1, True, False)


def test_of_one_host_its_own_gaps_alone_count(look: Looking, archive: Archive) -> None:
    """Those of its address are between requests to whatever hosts it has."""
    paths = archive(6, 6), archive(6, host=B)
    both = proved(look, *paths, status=1)["archive"]
    assert (both["fetches"], {gap["of"] for gap in both["short"]}) == (5, {"@192.0.2.7"})
    one = proved(look, *paths, "--host", "a.example")["archive"]
    assert (one["fetches"], one["gaps"], one["shortest_ms"]) == (3, 2, 6000)
    answer = look("politeness", "verify", *paths, "--host", "c.example")
    assert answer.status == 1
    assert "no request to https://c.example or http://c.example; a host is named as" in answer.err


def test_delays_of_the_seed_file_count_where_it_is_named_and_the_command_line_says_none(
    look: Looking, archive: Archive, tmp_path: Path
) -> None:
    path, seeds = archive(6), tmp_path / "slow.toml"
    seeds.write_text(f'[crawl]\nname = "x"\nlanguage = "zul"\n[[site]]\nurl = "{A}/"\ndelay_s = 7\n')
    assert proved(look, path)["archive"]["ok"]
    (short,) = proved(look, path, "--seeds", str(seeds), status=1)["archive"]["short"]
    assert short["needed_ms"] == 7000
    assert proved(look, path, "--seeds", str(seeds), "--delay", "6")["archive"]["ok"]
    seeds.write_text(seeds.read_text().replace("delay_s = 7", "ip_delay_s = 8"))
    (short,) = proved(look, path, "--seeds", str(seeds), status=1)["archive"]["short"]
    assert (short["of"], short["needed_ms"]) == ("@192.0.2.7", 8000)


def test_people_are_shown_the_first_of_many_gaps_and_what_they_were_held_against(
    look: Looking, archive: Archive
) -> None:
    path = archive(*[2] * 12, 6)
    answer = look("politeness", "verify", path)
    lines = answer.out.splitlines()
    assert (answer.status, answer.err, lines[0]) == (1, "", "Delays between requests")
    assert lines[2].split() == ["archive", "14", "26", "2.000", "s", "12", "BROKEN"]
    shown = [line for line in lines if line.startswith(f"archive: {A}: 2000 ms between 2026-")]
    assert len(shown) == 10
    assert shown[0].endswith(f"Z {A}/0 and 2026-01-02T03:04:07.778Z {A}/1, 5000 needed")
    assert lines[-2] == "archive: 2 more (--json has all)"
    assert lines[-1].startswith("The archive was held against FRONTIER_DELAY_S=5 and FRONTIER_IP_DELAY_S=1; a crawl")
    good = look("politeness", "verify", path, "--delay", "2").out
    assert "holds" in good
    assert "more" not in good
    assert "held against" not in good, "whoever asks has said it"


def test_an_archive_is_held_against_what_each_file_says_it_was_written_with(
    look: Looking, archive: Archive, begun: Begun
) -> None:
    archive(3, delay_ms=3000, address_delay_ms=0)
    archive(6, host=B, begun_s=60, delay_ms=7000, address_delay_ms=0)
    found = proved(look, status=1)
    assert [(gap["of"], gap["needed_ms"]) for gap in found["archive"]["short"]] == [(B, 7000)]
    assert found["audit"]["fetches"] == 0
    lines = look("politeness", "verify").out.splitlines()
    assert lines[-1] == (
        "The archive was held against FRONTIER_DELAY_S=3, 7 and FRONTIER_IP_DELAY_S=0, as its files say they were "
        "written with"
    )
    assert "nothing to check (needs FRONTIER_AUDIT=1)" in lines[2]
    said = proved(look, FRONTIER_DELAY_S=4, FRONTIER_IP_DELAY_S=0, status=1)["archive"]["short"]
    assert [(gap["of"], gap["needed_ms"]) for gap in said] == [(A, 4000)]


def test_the_audit_of_a_crawl_is_proof_by_itself_and_for_each_host(
    look: Looking, url: str, server: redis.Redis, tmp_path: Path
) -> None:
    crawl = Begun(url, tmp_path, FRONTIER_AUDIT=True, FRONTIER_DELAY_S=0, FRONTIER_IP_DELAY_S=0)
    with contextlib.closing(crawl.frontier):
        crawl.frontier.take_in([Candidate(f"{host}/{n}", score=0.5) for host in (A, B) for n in range(2)])
        while crawl.fetched("http_404"):
            pass
    audit = proved(look)["audit"]
    assert (audit["ok"], audit["fetches"], audit["gaps"]) == (True, 6, 4)
    audit = proved(look, "--host", "a.example")["audit"]
    assert (audit["ok"], audit["fetches"], audit["gaps"]) == (True, 3, 2)
    for words in ((), ("--host", "a.example")):
        shown = look("politeness", "verify", *words)
        assert shown.status == 0
        assert "no request to" not in shown.err


def test_a_file_that_is_damaged_proves_nothing(look: Looking, archive: Archive) -> None:
    path = archive(6, 6)
    assert proved(look, path)["archive"]["ok"]
    Path(path).write_bytes(Path(path).read_bytes()[:-10])
    answer = look("politeness", "verify", path, "--json")
    assert (answer.status, json.loads(answer.out)["archive"]["ok"]) == (1, True), "as far as it can be read"
    assert answer.err.startswith(f"scrapy politeness: damage: {path}:")


def test_words_and_files_that_are_none_are_refused(look: Looking, tmp_path: Path) -> None:
    for words in ((), ("check",)):
        with pytest.raises(UsageError):
            look("politeness", *words)
    for path, said in ((tmp_path / "none.warc", "no such WARC file: "), (tmp_path, "no closed WARC files in ")):
        assert look("politeness", "verify", str(path)) == (1, "", f"scrapy politeness: {said}{path}\n")
