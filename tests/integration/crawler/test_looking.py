"""``scrapy why`` and ``scrapy politeness verify`` after a crawl."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from archive import Reader
from archive.errors import ArchiveNotFound
from archive.index.access import find
from tests.integration.crawler.harness import QUICK, Crawl, run, run_here
from tests.web.server import serve
from tests.web.spec import WebSpec, calm
from tests.web.web import CRAWL_FILE

WEB = calm(WebSpec(hosts=2, pages=16, min_links=4, max_links=8, page_bytes=3000))


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawl]:
    folder = tmp_path_factory.mktemp("looking")
    with ExitStack() as opened:
        running = opened.enter_context(serve(WEB, folder / "web"))
        crawl = Crawl(running, folder / "crawl", {"FRONTIER_AUDIT": "1"})
        opened.callback(crawl.kill)
        crawl.start()
        assert crawl.wait() == [0]
        yield crawl


def look(crawl: Crawl, *words: str, seeds: str = "") -> subprocess.CompletedProcess[str]:
    """Without the crawl's settings, its name and, but for `seeds`, its seed file: it has left them."""
    return run_here(*words, *(("--seeds", seeds) if seeds else ()), DATA_DIR=str(crawl.folder))


def why(crawl: Crawl, url: str, seeds: str = "") -> dict[str, Any]:
    answered = look(crawl, "why", url, "--json", seeds=seeds)
    assert answered.returncode == 0, answered.stderr
    facts: dict[str, Any] = json.loads(answered.stdout)
    return facts


def test_why_finds_a_page_in_the_archive_and_the_page_that_led_to_it(crawl: Crawl) -> None:
    web = crawl.running.server.web
    page = next(web.paths.url(found) for found, known in web.truth.pages.items() if known.depth > 0)
    facts = why(crawl, page)
    assert facts["answer"].startswith("fetched 1 time"), facts
    assert (facts["place"], facts["refused"], facts["admitted"]) == ("not here", "", True)
    assert facts["robots"].startswith("allowed")
    assert facts["source_url"].startswith("http://127.")
    (fetch,) = facts["fetches"]
    with Reader(fetch["path"], offset=fetch["offset"]) as reader:
        record = next(record for record in reader if record.inner == fetch["inner_offset"])
        assert (record.type, record.url) == ("response", page)
    assert why(crawl, f"{page}?utm_source=x")["fetches"] == [fetch]
    shown = look(crawl, "why", page).stdout
    assert "verdict:" in shown
    assert Path(fetch["path"]).name[:12] in shown


def test_of_a_file_moved_away_that_is_said(crawl: Crawl, tmp_path: Path) -> None:
    """Operators move finished files; one that forgot the index is not told that a page was never there."""
    web = crawl.running.server.web
    page = next(web.paths.url(found) for found, known in web.truth.pages.items() if known.depth > 0)
    (fetch,) = why(crawl, page)["fetches"]
    away, path = tmp_path / "away", Path(fetch["path"])
    path.rename(away)
    try:
        assert f"{path}  at " in (shown := look(crawl, "why", page).stdout)
        assert "the file is not there any more, only its index" in shown
        with pytest.raises(ArchiveNotFound, match=f"{path.name} had one, by the index that lies here, and is gone"):
            find(path.parent, page, print)
        with pytest.raises(ArchiveNotFound, match=f"no capture of {page}x$"):
            find(path.parent, f"{page}x", print)
    finally:
        away.rename(path)


def test_a_damaged_line_of_an_index_ends_no_answer(crawl: Crawl) -> None:
    web = crawl.running.server.web
    page = next(web.paths.url(found) for found, known in web.truth.pages.items() if known.depth > 0)
    (fetch,) = why(crawl, page)["fetches"]
    index = Path(f"{fetch['path']}.cdxj")
    sound = index.read_bytes()
    (line,) = (line for line in sound.splitlines(keepends=True) if f'"url": "{page}"'.encode() in line)
    try:
        index.write_bytes(sound.replace(line, line + line.replace(b'"offset": "', b'"offset": "\\udc80')))
        answered = look(crawl, "why", page, "--json")
        assert (answered.returncode, json.loads(answered.stdout)["fetches"]) == (1, [fetch])
        assert f"scrapy why: {index} has a line that is none of an index: '" in answered.stderr
        index.write_bytes(sound.replace(line, line.replace(b'"status": "', b'"status": "\xff')))
        for form in ((), ("--json",)):
            assert look(crawl, "why", page, *form).returncode == 0
    finally:
        index.write_bytes(sound)


def test_why_shows_the_terms_of_a_waiting_urls_score(crawl: Crawl, tmp_path: Path) -> None:
    few = tmp_path / "few.toml"
    text = (crawl.running.folder / CRAWL_FILE).read_text(encoding="utf-8")
    few.write_text(text.replace("[crawl]", "[crawl]\nmax_pages = 3", 1), encoding="utf-8")
    settings = {**QUICK, "DATA_DIR": str(tmp_path / "few")}
    assert run("crawl", "zulu", "-a", f"seeds={few}", **settings).returncode == 0
    stopped = Crawl(crawl.running, tmp_path / "few")
    web = crawl.running.server.web
    for page in map(web.paths.url, web.truth.pages):
        facts = why(stopped, page, str(few))
        if facts["score_terms"]:
            break
    assert facts["place"] == "queued"
    assert {"all", "priority", "hub", "h:" + urlsplit(page).netloc.partition(":")[0]} <= set(facts["score_terms"])
    assert 0 <= facts["score_terms"]["priority"] <= 1
    assert "priority: 0." in look(stopped, "why", page, seeds=str(few)).stdout


def test_why_names_the_rule_that_refuses(crawl: Crawl, tmp_path: Path) -> None:
    seed = crawl.running.server.web.seeds[0]
    narrow = tmp_path / "zulu.toml"
    narrow.write_text(f'[crawl]\nname = "zulu"\nlanguage = "zul"\n[[site]]\nurl = "{seed}"\nscope = "host"\n')
    outside = why(crawl, "http://elsewhere.example/a/b", str(narrow))
    assert outside["refused"].startswith("scope:")
    assert outside["answer"].startswith("refused: scope")
    assert outside["admitted"] is False
    authority = why(crawl, seed)["host"]["authority"]
    trap = why(crawl, authority + "/a/b/a/b/a/b/a/b")
    assert trap["refused"] == "trap_repeated_segment"
    assert look(crawl, "frontier", "opt-out", authority + "/private/").returncode == 0
    assert why(crawl, authority + "/private/x")["refused"].startswith("opted_out")
    assert look(crawl, "why", "mailto:a@b").returncode == 1


def test_damage_proves_nothing(crawl: Crawl, tmp_path: Path) -> None:
    (whole,) = (crawl.folder / "warc").glob("*.warc.xz")
    cut = tmp_path / "cut.warc.xz"
    cut.write_bytes(whole.read_bytes()[:-100])
    answered = look(crawl, "politeness", "verify", str(whole), "--delay", "0", "--ip-delay", "0")
    assert (answered.returncode, answered.stderr) == (0, "")
    answered = look(crawl, "politeness", "verify", str(cut), "--delay", "0", "--ip-delay", "0")
    assert answered.returncode == 1
    assert answered.stderr.startswith(f"scrapy politeness: damage: {cut}:")
    assert answered.stderr.count("\n") == 1


def test_no_more_days_are_shown_than_there_are(crawl: Crawl) -> None:
    answered = look(crawl, "harvest", "status", "--days", "99999999999")
    assert answered.returncode == 2
    assert "--days 99999999999: from 1 to" in answered.stderr


def test_politeness_is_proved_from_audit_and_archive(crawl: Crawl) -> None:
    answered = look(crawl, "politeness", "verify", "--json")
    assert answered.returncode == 0, answered.stdout + answered.stderr
    proofs = json.loads(answered.stdout)
    for witness in ("audit", "archive"):
        assert proofs[witness]["ok"]
        assert proofs[witness]["gaps"] > 20
    authority = crawl.requests()[0].authority
    one = json.loads(look(crawl, "politeness", "verify", "--json", "--host", urlsplit(authority).netloc).stdout)
    for witness in ("audit", "archive"):
        assert 0 < one[witness]["fetches"] < proofs[witness]["fetches"]
        assert one[witness]["gaps"] == one[witness]["fetches"] - 1  # those of its address are not its own
        assert one[witness]["shortest_ms"] >= proofs[witness]["shortest_ms"] > 0
    strange = look(crawl, "politeness", "verify", "--host", "strange.example")
    assert (strange.returncode, "no request to https://strange.example or" in strange.stderr) == (1, True)
    files = [str(path) for path in (crawl.folder / "warc").glob("*.warc.xz")]
    twice = look(crawl, "politeness", "verify", "--json", str(crawl.folder / "warc"), *files)
    assert json.loads(twice.stdout)["archive"]["fetches"] == proofs["archive"]["fetches"]
    strict = look(crawl, "politeness", "verify", *files, "--delay", "5")
    assert strict.returncode == 1
    assert "BROKEN" in strict.stdout
    assert "audit" not in strict.stdout
    assert "held against" not in strict.stdout
    hosts = {request.authority for request in crawl.requests()}
    assert any(f"Z {host}/" in strict.stdout for host in hosts)  # a gap is told by instants and URLs: the first ten are
    assert "more (--json has all)" in strict.stdout
    unsaid = run_here("politeness", "verify", str(crawl.folder / "warc"))
    assert unsaid.returncode == 1
    assert "held against FRONTIER_DELAY_S=5 and FRONTIER_IP_DELAY_S=1" in unsaid.stdout


def test_hosts_are_named_whole_and_found_by_any_url_of_theirs(crawl: Crawl) -> None:
    listed = look(crawl, "frontier", "hosts")
    authority = crawl.requests()[0].authority
    assert authority in listed.stdout
    assert "…" not in listed.stdout
    for name in (authority, f"{authority}/any/page", urlsplit(authority).netloc):
        paused = look(crawl, "frontier", "pause", name)
        assert (paused.returncode, paused.stdout) == (0, f"{authority}: pause done\n")
        resumed = look(crawl, "frontier", "resume", name, "--json")
        assert json.loads(resumed.stdout) == {"authority": authority, "action": "resume", "urls": None}
    unknown = look(crawl, "frontier", "pause", "nowhere.example", "--json")
    assert (unknown.returncode, unknown.stdout) == (1, "")
    assert "knows no such host" in unknown.stderr


def test_an_opt_out_by_mistake_is_withdrawn_by_its_own_name(crawl: Crawl, tmp_path: Path) -> None:
    withdraw = ("frontier", "opt-out", "--withdraw")
    out = look(crawl, "frontier", "opt-out", "mistake.example/a", "--json")
    assert json.loads(out.stdout) == {"crawl": "zulu", "prefix": "mistake.example/a", "new": True}
    other = look(crawl, *withdraw, "mistake.example")
    assert (other.returncode, "has not opted out of crawl zulu by just this name" in other.stderr) == (1, True)
    assert "http://mistake.example/a, http://www.mistake.example/a" in other.stderr
    assert why(crawl, "http://mistake.example/a")["refused"].startswith("opted_out")

    log = crawl.folder / "reports" / "opt-outs.log"
    assert "Z opted out: mistake.example/a of crawl zulu (http://mistake.example/a, " in log.read_text()
    log.unlink()
    log.mkdir()
    unnoted = look(crawl, "frontier", "opt-out", "http://mistake.example/b")
    assert (unnoted.returncode, "it holds, but could not be noted" in unnoted.stderr) == (0, True)
    assert why(crawl, "http://mistake.example/b")["refused"].startswith("opted_out")
    blocked = look(crawl, *withdraw, "mistake.example/a")
    assert (blocked.returncode, "mistake.example/a stays opted out" in blocked.stderr) == (1, True)
    log.rmdir()
    listed = tmp_path / "opt-outs.txt"
    listed.write_text("https://mistake.example/a\n")
    still = look(crawl, *withdraw, "mistake.example/a", "-s", f"FRONTIER_OPT_OUT_FILE={listed}")
    assert (still.returncode, f"{listed} has mistake.example/a" in still.stderr) == (1, True)
    assert not log.exists()
    assert why(crawl, "http://mistake.example/a")["refused"].startswith("opted_out")

    done = look(crawl, *withdraw, "mistake.example/a")
    assert (done.returncode, "opt-out of crawl zulu withdrawn" in done.stdout) == (0, True)
    assert "Z withdrawn: mistake.example/a of crawl zulu (http://mistake.example/a, " in log.read_text()
    assert "opted_out" not in why(crawl, "http://mistake.example/a")["refused"]
    assert look(crawl, *withdraw, "mistake.example/a").returncode == 1
    assert look(crawl, "frontier", "drop", "mistake.example", "--withdraw").returncode == 2


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("opt-out", "not a host"), 1, "'not a host' is neither a host nor an http or https URL"),
        (("pause", "ftp://a.example/"), 1, "neither a host nor an http or https URL"),
        (
            ("drop", "nowhere.example"),
            1,
            "nowhere.example: this crawl knows no such host (name it as `scrapy frontier hosts` does, with its port)",
        ),
        (("hosts", "--limit", "0"), 2, "at least 1 row"),
        (("hosts", "--limit", "9" * 20), 0, "host"),
        (("nonsense",), 2, "scrapy frontier status|hosts"),
    ],
)
def test_wrong_words_are_answered_in_a_line(crawl: Crawl, words: tuple[str, ...], status: int, said: str) -> None:
    answered = look(crawl, "frontier", *words)
    assert answered.returncode == status
    assert said in answered.stdout + answered.stderr
    assert "Traceback" not in answered.stderr


def test_nothing_to_check_is_no_proof(crawl: Crawl, tmp_path: Path) -> None:
    (tmp_path / "empty.warc").write_bytes(b"")
    assert look(crawl, "politeness", "verify", str(tmp_path / "empty.warc")).returncode == 1
    assert "no such WARC" in look(crawl, "politeness", "verify", str(tmp_path / "none.warc")).stderr
    (tmp_path / "none").mkdir()
    assert "no closed WARC files in" in look(crawl, "politeness", "verify", str(tmp_path / "none")).stderr
    assert "'' is neither a host" in look(crawl, "politeness", "verify", "--host", "").stderr, "not all hosts"
