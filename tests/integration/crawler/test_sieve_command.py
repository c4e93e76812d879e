"""``scrapy sieve`` as a user calls it, right and wrong."""

from __future__ import annotations

import argparse
import contextlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from scrapy.utils.project import get_project_settings

from crawler.commands.sieve import Command
from crawler.console.terms import SIEVE
from crawler.state.embedded_redis import EmbeddedRedis
from crawler.state.state_format import ensure_format
from frontier import Candidate
from frontier.redis_frontier import RedisFrontier
from sieve import open_sieve

MORE: dict[str, str] = {}
"""Settings of the commands, beside the folder."""
Run = Callable[..., tuple[int, str, str]]
URLS = [f"http://host{number % 3}.example/{number}" for number in range(40)]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def run(data: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*args: str) -> tuple[int, str, str]:
        command = Command()
        command.settings = get_project_settings()
        command.settings.setdict({"DATA_DIR": str(data), **MORE}, priority="cmdline")
        parser = argparse.ArgumentParser()
        command.add_options(parser)
        parser.set_defaults(crawl="zulu")
        opts, words = parser.parse_known_args(args)
        command.run(words, opts)
        told = capsys.readouterr()
        return command.exitcode, told.out, told.err

    return call


@pytest.fixture
def crawled(data: Path) -> Path:
    """A crawl that knows all of URLS; the frontier has the last ten."""
    with EmbeddedRedis(data / "state" / "redis") as server:
        ensure_format(server.url, "zulu")
        sieve = open_sieve(f"{server.url}&crawl=zulu&dir={data / 'state' / 'sieve'}")
        sieve.enqueue(URLS)
        sieve.flush()
        sieve.drain()
        sieve.close()
        frontier = RedisFrontier(server.url, "zulu")
        frontier.take_in([Candidate(url) for url in URLS[30:]])
        frontier.close()
    return data


def lose_the_sieve(data: Path) -> None:
    with EmbeddedRedis(data / "state" / "redis") as server:
        frontier = RedisFrontier(server.url, "zulu")
        for name in frontier._redis.keys("{zulu}:*"):
            if not name.startswith((b"{zulu}:f:", b"{zulu}:format")):
                frontier._redis.delete(name)
        frontier.close()
    for path in (data / "state" / "sieve").iterdir():
        path.unlink()


def test_looking(crawled: Path, run: Run) -> None:
    assert run("check") == (0, f"0 faults in {crawled / 'state' / 'sieve'}\n", "")
    code, out, _ = run("stats", "--json")
    found = json.loads(out)
    assert (code, found["seen"], found["disk_stored"], found["disk_runs"]) == (0, 40, 40, 1)
    assert set(found) <= set(SIEVE), "each has a meaning"
    lines = {line.split()[0]: line for line in run("stats")[1].splitlines()[2:]}
    assert list(lines) == list(found)
    assert lines["disk_stored"].split(maxsplit=2)[1:] == ["40", SIEVE["disk_stored"]]
    assert "  epoch " in lines["disk_facts"]
    assert run("contains", URLS[3].upper().replace("/3", "/3#x")) == (0, "known\n", "")
    assert run("contains", "http://other.example/") == (1, "not known\n", "")
    assert run("check", "--json") == (0, "", "")
    code, out, _ = run("contains", "http://other.example/", "--json")
    assert (code, json.loads(out)) == (1, {"url": "http://other.example/", "known": False})


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("contains", "not a url"), "scrapy sieve contains: not a URL: 'not a url'"),
        (("rebuild", "nowhere.cdxj"), "scrapy sieve rebuild: no file nowhere.cdxj"),
        (("rebuild", "tests"), "scrapy sieve rebuild: no file tests"),
        (("stats", "--crawl", "nothing"), "scrapy sieve: crawl 'nothing' has no state in "),
    ],
)
@pytest.mark.usefixtures("crawled")
def test_what_is_wrong_is_said_in_one_line(run: Run, args: tuple[str, ...], message: str) -> None:
    code, out, err = run(*args)
    assert (code, out) == (1, "")
    assert err.startswith(message)
    assert err.count("\n") == 1


def test_a_crawl_that_never_ran_has_no_stats(run: Run, data: Path) -> None:
    assert run("stats")[0] == 1
    assert not data.exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [((), "40 known URLs were forgotten and may be fetched again\n"), (("--json",), '"lost_keys": 40}\n')],
)
def test_a_damaged_run_is_named_and_repaired(crawled: Path, run: Run, words: tuple[str, ...], said: str) -> None:
    (path,) = (crawled / "state" / "sieve").glob("*.run")
    content = bytearray(path.read_bytes())
    content[100] ^= 1
    path.write_bytes(content)
    code, out, _ = run("check")
    assert code == 1
    assert "checksum of block 0" in out
    code, out, _ = run("check", "--json")
    assert (code, json.loads(out)["path"]) == (1, str(path))
    code, out, _ = run("repair", *words)
    assert code == 0
    assert out.endswith(said)
    assert run("check")[0] == 0


def test_rebuilding_from_files_and_the_frontier(crawled: Path, run: Run, tmp_path: Path) -> None:
    lose_the_sieve(crawled)
    cdxj = tmp_path / "a.warc.xz.cdxj"
    lines = [f"example,host)/{url} 20260101000000 {json.dumps({'url': url, 'mime': 'text/html'})}" for url in URLS[:20]]
    cdxj.write_text("\n".join([*lines, 'example) 2026 {"url": broken', ""]))
    plain = tmp_path / "list.txt"
    plain.write_bytes("\n".join([*URLS[20:30], "", "http://host.example/{x}", "mailto:a@b"]).encode() + b"\n\xff\xfe\n")
    code, out, err = run("rebuild", str(cdxj), str(plain))
    assert (code, out) == (1, "44 URLs read, 41 known now, 3 refused\n"), "whoever waits for it is told of what is lost"
    assert err.count("scrapy sieve: refused: ") == 3
    assert "refused: neither http nor https: 'mailto:a@b'" in err
    assert run("contains", URLS[35])[0] == 0
    assert run("contains", "http://host.example/{x}")[0] == 0


def test_rebuilding_from_a_damaged_file_is_told(run: Run, tmp_path: Path) -> None:
    """What it had is not known, and will be fetched again."""
    bad, plain = tmp_path / "a.warc", tmp_path / "urls.txt"
    bad.write_bytes(b"WARC/1.0\r\nWARC-Type: response\r\nContent-")
    plain.write_bytes(b'\xef\xbb\xbfhttp://127.0.0.1/x\n{"url":' + b"[" * 100_000 + b"\n")
    code, out, err = run("rebuild", str(bad), str(plain))
    assert (code, out) == (1, "2 URLs read, 1 known now, 1 refused\n")
    assert f"scrapy sieve: damage: {bad}:0: " in err


def test_rebuilding_when_all_state_is_lost(run: Run, tmp_path: Path) -> None:
    plain = tmp_path / "list.txt"
    plain.write_text("nothing here\n")
    assert run("rebuild", str(plain))[:2] == (1, "1 URLs read, 0 known now, 1 refused\n")
    assert json.loads(run("rebuild", str(plain), "--json")[1]) == {"read": 1, "known": 0, "refused": 1}
    plain.write_text("\n".join(f"nothing {number}" for number in range(1010)))
    told = run("rebuild", str(plain))[2].splitlines()
    assert (len(told), told[-1]) == (6, "scrapy sieve: refused: and 1,005 more")
    plain.write_text("\n".join(URLS))
    assert run("rebuild", str(plain))[:2] == (0, "40 URLs read, 40 known now, 0 refused\n")
    assert run("contains", URLS[0])[0] == 0


def test_an_older_copy_of_the_table_is_told_and_made_again(crawled: Path, run: Run, tmp_path: Path) -> None:
    """What was seen since would be new once more; it is in the archive or waits."""
    folder = crawled / "state" / "sieve"
    copy = shutil.copytree(folder, tmp_path / "copy")
    later = [f"http://later.example/{number}" for number in range(5)]
    with EmbeddedRedis(crawled / "state" / "redis") as server:
        with contextlib.closing(open_sieve(f"{server.url}&crawl=zulu&dir={folder}")) as sieve:
            sieve.enqueue(later)
            sieve.flush()
            sieve.drain()
        with contextlib.closing(RedisFrontier(server.url, "zulu")) as frontier:
            frontier.take_in([Candidate(url) for url in later[3:]])
    shutil.rmtree(folder)
    copy.rename(folder)
    code, out, err = run("contains", later[0])
    assert (code, out) == (1, "")
    assert "scrapy sieve rebuild" in err
    archived = tmp_path / "list.txt"
    archived.write_text("\n".join(later[:2]))
    assert run("rebuild", str(archived)) == (0, "14 URLs read, 44 known now, 0 refused\n", "")
    assert [run("contains", url)[0] for url in [URLS[0], *later]] == [0, 0, 0, 1, 0, 0]
    archived.write_text(later[2])
    assert run("rebuild", str(archived)) == (0, "13 URLs read, 45 known now, 0 refused\n", "")
    assert run("contains", later[2])[0] == 0


@pytest.mark.parametrize("store", ["disk", "redis"])
def test_a_rebuild_from_the_wrong_file_is_repeated_with_the_right_one(
    crawled: Path, run: Run, tmp_path: Path, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lose_the_sieve(crawled)
    monkeypatch.setattr("tests.integration.crawler.test_sieve_command.MORE", {"SIEVE_STORE": store})
    wrong, right = tmp_path / "wrong", tmp_path / "right"
    wrong.write_text("what is this\n")
    right.write_text("\n".join(URLS[:30]))
    assert run("rebuild", str(wrong))[:2] == (1, "11 URLs read, 10 known now, 1 refused\n")
    assert run("contains", URLS[0])[0] == 1
    assert run("rebuild", str(right))[:2] == (0, "40 URLs read, 40 known now, 0 refused\n")
    assert [run("contains", url)[0] for url in (URLS[0], URLS[39], "http://other.example/")] == [0, 0, 1]
    assert json.loads(run("stats", "--json")[1])["ready_elements"] == 0, "none of them comes out"


def test_a_table_whose_manifest_was_made_again_is_no_older_copy(crawled: Path, run: Run) -> None:
    (crawled / "state" / "sieve" / "MANIFEST").write_bytes(b"no manifest")
    code, out, err = run("contains", URLS[0])
    assert (code, out) == (1, "")
    assert "MANIFEST is damaged" in err, "not that a worker had the table"
    assert run("repair")[0] == 0
    assert [run("contains", url)[0] for url in (URLS[0], "http://other.example/")] == [0, 1]


@pytest.mark.parametrize("way", ["repair", "rebuild"])
def test_a_table_without_its_manifest_is_refused_until_it_is_made_again(
    crawled: Path, run: Run, tmp_path: Path, way: str
) -> None:
    folder = crawled / "state" / "sieve"
    (folder / "MANIFEST").unlink()
    archived = tmp_path / "list.txt"
    archived.write_text("\n".join(URLS[:30]))
    for _ in range(2):
        code, out, err = run("contains", URLS[0])
        assert (code, out) == (1, "")
        assert f"{folder} has runs of seen URLs, but no MANIFEST" in err
        assert "`scrapy sieve rebuild FILE…`" in err
        assert list(folder.glob("*.run"))
    assert run("check")[:2] == (1, f"{folder / 'MANIFEST'}: it is missing\n1 faults in {folder}\n")
    assert run(way, *([str(archived)] if way == "rebuild" else []))[0] == 0
    assert [run("contains", url)[0] for url in (URLS[0], URLS[39], "http://other.example/")] == [0, 0, 1]
