"""Lists, logs and outputs of the old collector's commands, without a web."""

from __future__ import annotations

import asyncio
import io
import lzma
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock, Mock

import pytest

from archive import Reader
from crawler.collector import (
    CollectorError,
    Log,
    _addresses,
    _each,
    _expect_writable,
    _Links,
    _settings,
    _write,
    link_collector,
    main,
    page_downloader,
)
from crawler.console.polite_client import Visit
from crawler.fetch.connection import Answer
from crawler.fetch.handler import Capture
from seeds.survey.probe import Fetched

A = "http://a.example"


def urls(*inputs: str | Path) -> list[str]:
    return _addresses(map(str, inputs), Log(io.StringIO()))


def test_lists_are_files_folders_patterns_lists_of_files_and_standard_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "lists"
    (folder / "inner").mkdir(parents=True)
    (folder / "b.txt").write_text(f"{A}/b\n")
    (folder / "a.txt").write_text(f"# ours\n{A}/a\n{A}/b\n")
    (folder / "c.xz").write_bytes(lzma.compress(f"{A}/c\n".encode()))
    (folder / "inner" / "d.txt").write_text(f"{A}/d\n")
    assert urls(folder) == [f"{A}/a", f"{A}/b", f"{A}/c"], "by name, each once"
    assert urls(folder / "?.txt") == [f"{A}/a", f"{A}/b"]
    assert urls(folder / "b.txt", folder / "a.txt") == [f"{A}/b", f"{A}/a"], "in the order that was said"
    (names := tmp_path / "names").write_text(f"{folder / 'inner'}\n@{tmp_path / 'more'}\n")
    (tmp_path / "more").write_text(f"{folder / 'c.xz'}")
    assert urls(f"@{names}") == [f"{A}/d", f"{A}/c"]
    assert urls(f"@{names}", f"@{names}") == [f"{A}/d", f"{A}/c"], "said twice, it does not name itself"
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(f"{A}/in\nnone\n".encode())))
    log = Log(io.StringIO())
    assert _addresses(["-"], log) == [f"{A}/in"]
    assert isinstance(log.stream, io.StringIO)
    assert log.stream.getvalue() == "-ERR standard input:2: not an address: 'none'\n"
    assert log.failed == 1


def test_a_list_of_files_that_names_itself_by_another_name_is_told(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("names")
    (tmp_path / "names").write_text(f"@{tmp_path / 'link'}")
    with pytest.raises(CollectorError, match="names itself"):
        urls(f"@{tmp_path / 'names'}")


def test_only_errors_are_failures_and_each_is_one_line() -> None:
    log = Log(io.StringIO())
    for marker in ("+OK", "-WARN", "-ERR"):
        log.say(marker, " of\n two  lines ")
    assert isinstance(log.stream, io.StringIO)
    assert log.stream.getvalue().splitlines() == [f"{marker} of two lines" for marker in ("+OK", "-WARN", "-ERR")]
    assert log.failed == 1


def test_addresses_of_a_host_are_asked_in_order_and_hosts_beside_one_another() -> None:
    """A host that is slow keeps no other waiting; whatever fails, the client is closed."""
    begun: list[str] = []
    gate = asyncio.Event()

    async def handle(url: str, client: Any) -> None:
        begun.append(url)
        if url == f"{A}/1":
            await gate.wait()
        if url == "http://b.example/2":
            gate.set()

    client: Any = Mock(close=AsyncMock())
    asyncio.run(_each([f"{A}/1", f"{A}/2", "http://b.example/1", "http://b.example/2"], handle, client))
    assert begun == [f"{A}/1", "http://b.example/1", "http://b.example/2", f"{A}/2"]
    client.close.assert_awaited_once_with()
    with pytest.raises(OSError, match="full"):
        asyncio.run(_each([f"{A}/1"], AsyncMock(side_effect=OSError("full")), client))
    assert client.close.await_count == 2


def rss(*paths: str) -> bytes:
    items = "".join(f"<item><link>{A}/{path}</link></item>" for path in paths)
    return f'<rss version="2.0"><channel>{items}</channel></rss>'.encode()


def collected(answers: dict[str, bytes | str], *sources: str, test_only: bool = False) -> tuple[list[str], list[str]]:
    """The links of sources, and the log; of a source that has no answer the problem is its value."""

    async def fetch(url: str) -> Visit:
        answer = answers[url]
        if isinstance(answer, bytes):
            return Visit(Fetched(url, 200, answer, "text/html"))
        return Visit(Fetched(url, 0, problem=answer))

    log = Log(io.StringIO())
    links = _Links(log, test_only, set())
    client: Any = Mock(fetch=fetch, close=AsyncMock())
    asyncio.run(_each(sources, links.read, client))
    assert isinstance(log.stream, io.StringIO)
    return [line.rstrip("\n") for line in links.lines(sources)], log.stream.getvalue().splitlines()


def test_links_come_in_the_order_of_the_sources_each_once() -> None:
    answers: dict[str, bytes | str] = {f"{A}/f1": rss("2", "1"), "http://b.example/f2": rss("3", "2")}
    assert collected(answers, "http://b.example/f2", f"{A}/f1") == (
        [f"{A}/3", f"{A}/2", f"{A}/1"],
        [f"+OK {A}/f1 rss20, 2 items", "+OK http://b.example/f2 rss20, 2 items"][::-1],
    )


def test_a_page_leads_to_the_first_five_of_its_feeds_and_what_fails_is_told() -> None:
    named = "".join(f'<link rel="alternate" type="application/rss+xml" href="/f{n}">' for n in range(7))
    answers: dict[str, bytes | str] = {f"{A}/f{n}": rss(f"{n}") for n in range(7)} | {f"{A}/f1": "timeout"}
    answers[f"{A}/"] = f"<html><head>{named}</head>".encode()
    found, log = collected(answers, f"{A}/")
    assert found == [f"{A}/{n}" for n in (0, 2, 3, 4)]
    assert [line for line in log if line.startswith("-ERR")] == [f"-ERR {A}/f1 timeout"]
    found, log = collected(answers, f"{A}/", test_only=True)
    assert (found, [line[:4] for line in log]) == ([], ["-ERR"]), "a page is no feed"
    answers = {f"{A}/x": b"<html><p>nothing", f"{A}/y": b"<rss"}
    found, log = collected(answers, *answers)
    assert (found, [line.split()[:2] for line in log]) == ([], [["-ERR", f"{A}/x"], ["-ERR", f"{A}/y"]])


def test_links_are_written_whole_or_added_behind_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "links"
    _write(str(path), ["a\n", "b\n"], append=True)
    assert path.read_text() == "a\nb\n"
    _write(str(path), ["c\n"], append=True)
    assert path.read_text() == "a\nb\nc\n"
    path.write_text("a\nb")
    _write(str(path), ["c\n"], append=True)
    assert path.read_text() == "a\nb\nc\n"
    _write(str(path), ["d\n"], append=False)
    assert path.read_text() == "d\n"
    assert [file.name for file in tmp_path.iterdir()] == ["links"]


def test_that_links_cannot_be_written_is_known_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is added to, and one that is no regular file, are written to as they are; else a new one is made, and
    that where a link leads."""
    kept, folder, link, pipe = (tmp_path / name for name in ("kept", "folder", "link", "pipe"))
    kept.write_text("")
    folder.mkdir()
    link.symlink_to("folder/links")
    os.mkfifo(pipe)

    def needed(path: Path, *, append: bool = False) -> list[Path]:
        """What this user must be able to write to, by when nothing may be."""
        asked: list[Path] = []
        monkeypatch.setattr(os, "access", lambda place, _: asked.append(place))
        with pytest.raises(CollectorError, match="cannot write"):
            _expect_writable(path, append=append)
        monkeypatch.undo()
        _expect_writable(path, append=append)
        return asked

    assert (needed(kept), needed(kept, append=True)) == ([tmp_path], [kept])
    assert (needed(tmp_path / "new"), needed(tmp_path / "new", append=True)) == ([tmp_path], [tmp_path])
    assert (needed(pipe), needed(pipe, append=True), needed(link)) == ([pipe], [pipe], [folder])
    for wrong, said in ((tmp_path, "is a folder"), (tmp_path / "none" / "links", f"cannot write in {tmp_path}/none")):
        with pytest.raises(CollectorError, match=said):
            _expect_writable(wrong, append=False)


@pytest.mark.parametrize(
    ("led", "said", "kept"),
    [
        ("| cat", "b\n", "a\n"),
        ("> links", "", "b\n"),
        (">> links", "", "a\nb\n"),
        ("| (exec <&-; cat links)", "a\n", "a\n"),
    ],
)
def test_links_go_where_a_shell_has_led_standard_output(led: str, said: str, kept: str, tmp_path: Path) -> None:
    """What a file has already stays, and a reader may leave."""
    (tmp_path / "links").write_text("a\n")
    code = "from crawler.collector import _write; _write('/dev/stdout', ['b\\n'], append=False)"
    shell = f'set -o pipefail; {sys.executable} -c "{code}" {led}'
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    done = subprocess.run(
        ["bash", "-c", shell], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, said, "")
    assert (tmp_path / "links").read_text() == kept


class Web:
    """Answers as a client of the collector would get them: a body, a status or a problem."""

    def __init__(self, *_: Any) -> None:
        self.asked: list[str] = []

    async def fetch(self, url: str) -> Visit:
        self.asked.append(url)
        answer = ANSWERS[url]
        if isinstance(answer, str):
            return Visit(Fetched(url, 0, problem=answer))
        status, body = (answer, b"") if isinstance(answer, int) else (200, answer)
        capture = Capture(url, "192.0.2.1", datetime(2026, 1, 1, tzinfo=UTC), b"GET / HTTP/1.1\r\n\r\n")
        capture.answer = Answer(status, head=b"HTTP/1.1 %d X\r\n\r\n" % status, body=bytearray(body))
        return Visit(Fetched(url, status, body, "text/xml"), (capture,))

    async def close(self) -> None:
        """Nothing is open."""


ANSWERS: dict[str, bytes | str | int] = {f"{A}/rss": rss("1", "2"), f"{A}/gone": 404, f"{A}/slow": "timeout"}
TOLD = [f"+OK {A}/rss", f"-ERR {A}/gone status 404", f"-ERR {A}/slow timeout"]


def test_pages_are_told_one_by_one_and_what_was_answered_is_archived(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("crawler.collector.PoliteClient", Web)
    (tmp_path / "list").write_text("\n".join(ANSWERS))
    words = ["pages", "-i", str(tmp_path / "list"), "-o", str(tmp_path / "x.warc.gz"), "--contact", "me@a.test"]
    assert main(words) == 1
    warning, *told = capsys.readouterr().err.splitlines()
    assert warning.startswith("-WARN no Redis was asked what has opted out (no REDIS_URL)")
    assert told == TOLD
    with Reader(tmp_path / "x.warc.gz") as reader:
        assert [record.url for record in reader if record.type == "response"] == [f"{A}/rss", f"{A}/gone"]
    (tmp_path / "list").write_text(f"{A}/rss")
    assert main([word.replace("x.warc.gz", "y.warc.gz") for word in words]) == 0


def test_what_a_run_that_was_killed_had_is_told_and_not_asked_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    web = Web()
    monkeypatch.setattr("crawler.collector.PoliteClient", lambda *_: web)
    (tmp_path / "list").write_text("\n".join(ANSWERS))
    words = ["pages", "-i", str(tmp_path / "list"), "-o", str(tmp_path / "x.warc.gz"), "--contact", "me@a.test"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("crawler.console.one_archive._publish", Mock(side_effect=OSError(28, "No space left on device")))
        assert main(words) == 2
    assert not (tmp_path / "x.warc.gz").exists()
    capsys.readouterr()
    assert main(words) == 1
    told = [line for line in capsys.readouterr().err.splitlines() if "WARN" not in line]
    assert told == [*(f"{line} (by the run before)" for line in TOLD[:2]), TOLD[2]]
    assert web.asked == [*ANSWERS, f"{A}/slow"], "of which nothing could be kept"


def test_links_are_written_when_all_have_been_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("crawler.collector.PoliteClient", Web)
    (tmp_path / "list").write_text("\n".join(ANSWERS))
    words = ["links", "-i", str(tmp_path / "list"), "--contact", "me@a.test"]
    assert main(words) == 1
    assert capsys.readouterr().out == f"{A}/1\n{A}/2\n"
    (output := tmp_path / "links").write_text(f"{A}/2\n{A}/0\n")
    assert main([*words, "-o", str(output), "-a"]) == 1
    assert output.read_text() == f"{A}/2\n{A}/0\n{A}/1\n", "those that are there are left out"
    assert main([*words, "-o", str(output)]) == 1
    assert output.read_text() == f"{A}/1\n{A}/2\n", "without -a a new file, all in it"
    assert main([*words, "-o", str(output), "-t"]) == 1
    assert output.read_text() == f"{A}/1\n{A}/2\n"


def options(**more: Any) -> Any:
    return SimpleNamespace(**{"set": [], "contact": "me@a.test", **more})


def test_settings_are_those_of_the_crawler_and_somebody_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = _settings(options(set=["FRONTIER_DELAY_S=7", "FETCH_HOSTS_FILE="]))
    assert (settings.getfloat("FRONTIER_DELAY_S"), settings["CONTACT"]) == (7, "me@a.test")
    assert "me@a.test" in settings["USER_AGENT"]
    for wrong, said in (
        ({"set": ["FRONTIER_DELAY_S"]}, "-s FRONTIER_DELAY_S: NAME=VALUE"),
        ({"set": ["FRONTIER_DELAI_S=1"]}, "FRONTIER_DELAI_S"),
        ({"contact": ""}, "no contact: --contact or"),
    ):
        with pytest.raises(CollectorError, match=said):
            _settings(options(**wrong))


def test_an_archive_that_is_there_is_left_as_it_is_and_nothing_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    client = Mock(side_effect=AssertionError)
    monkeypatch.setattr("crawler.collector.PoliteClient", client)
    (tmp_path / "list").write_text(f"{A}/\n")
    (output := tmp_path / "x.warc.gz").write_bytes(b"mine")
    words = ["-i", str(tmp_path / "list"), "-o", str(output), "--contact", "me@a.test"]
    assert page_downloader(words) == 2
    assert capsys.readouterr().err.splitlines()[-1] == f"-ERR -o {output}: exists"
    assert output.read_bytes() == b"mine"
    client.assert_not_called()


def test_links_that_could_not_be_written_are_not_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = Mock(return_value=Mock(close=AsyncMock()))
    monkeypatch.setattr("crawler.collector.PoliteClient", asked)
    (tmp_path / "list").write_text("# none\n")
    words = ["-i", str(tmp_path / "list"), "--contact", "me@a.test"]
    assert link_collector([*words, "-o", str(tmp_path / "none" / "links")]) == 2
    asked.assert_not_called()
    assert link_collector([*words, "-o", str(tmp_path / "none" / "links"), "-t"]) == 0, "which writes none"
    (tmp_path / "-").mkdir()
    monkeypatch.chdir(tmp_path)
    assert link_collector(words) == 0, "to standard output, whatever is called so here"
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("words", [["pages"], ["pages", "-o", "pages.zip"], ["links", "-p", "1"], ["pages", "-o"]])
def test_words_that_cannot_be_meant_are_a_mistake_in_usage(words: list[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(words)


@pytest.mark.parametrize(("words", "at_once"), [([], 1), (["-m", "0"], 1), (["-m", "3"], 4), (["-m", "-2"], 1)])
def test_what_is_asked_at_a_time_and_how_long_it_is_waited_for(
    words: list[str], at_once: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Mock(return_value=Mock(close=AsyncMock()))
    monkeypatch.setattr("crawler.collector.PoliteClient", made)
    (tmp_path / "list").write_text("# none\n")
    common = ["-i", str(tmp_path / "list"), "--contact", "me@a.test", *words]
    assert link_collector([*common, "-o", str(tmp_path / "links")]) == 0
    assert page_downloader([*common, "-o", str(tmp_path / "x.warc.gz"), "-w", "7", "-p", "2.5"]) == 0
    waits = [call.args[2:] for call in made.call_args_list]
    assert waits == [(1.0, None, at_once), (7.0, 2.5, at_once)], "links: as the settings have it"


def test_a_log_file_is_added_to_and_failures_are_the_exit_status(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "list").write_text("none\n")
    (log := tmp_path / "log").write_text("before\n")
    words = ["links", "-i", str(tmp_path / "list"), "-e", str(log), "--contact", "me@a.test"]
    assert main(words) == 1
    assert log.read_text().splitlines()[0] == "before"
    assert log.read_text().splitlines()[-1] == f"-ERR {tmp_path / 'list'}:1: not an address: 'none'"
    assert capsys.readouterr() == ("", "")
    assert main(["nonsense"]) == 2
    assert main([*words[:-2], "--contact", "nobody"]) == 2
