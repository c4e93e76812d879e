"""The old collector's commands: flags, log lines, exit statuses, and an archive that reads."""

from __future__ import annotations

import errno
import lzma
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from archive import Reader
from crawler.collector import link_collector, main, page_downloader
from crawler.console.one_archive import own_folder
from sieve.urls import authority
from tests.web.requestlog import read_log
from tests.web.server import Running, serve
from tests.web.spec import FeedSpec, WebSpec, calm
from tests.web.verify import Expectations, verify

SPEC = calm(WebSpec(hosts=3, pages=12, feeds=(FeedSpec(3, "rss", 3600, 6), FeedSpec(1, "atom", 3600, 6))))
REPO = Path(__file__).parents[3]
POLITE = [
    "--contact",
    "me@a.test",
    "-s",
    "FETCH_ALLOWED_NETWORKS=127.70.0.0/16",
    "-s",
    "FRONTIER_IP_DELAY_S=0",
    "-w",
    "60",
]


@pytest.fixture
def web(tmp_path: Path) -> Iterator[Running]:
    with serve(SPEC, tmp_path / "web") as running:
        yield running


def test_links_then_pages(web: Running, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sources, links, log = tmp_path / "cs_media.txt", tmp_path / "links.txt", tmp_path / "log"
    feeds = [feed.site.authority + feed.path for feed in web.web.feeds.all]
    sources.write_text("\n".join([*feeds[1:], web.web.seeds[0], web.web.seeds[0] + "feed/99"]) + "\n")
    quick = ["-s", "FRONTIER_DELAY_S=0.05", "-e", str(log)]
    assert link_collector(["-i", str(sources), "-o", str(links), "-m", "3", *quick, *POLITE]) == 1
    found = links.read_text().split()
    assert len(found) == len(set(found)) == 4 * 6  # the home page names the feed that the list does not
    lines = log.read_text().splitlines()
    assert sum(line.startswith("+OK ") for line in lines) == 5  # a feed that is listed and named is asked twice
    assert [line for line in lines if line.startswith("-ERR")] == [f"-ERR {web.web.seeds[0]}feed/99 status 404"]
    links.write_text("\n".join([*found[:3], "http://not.ended.example/"]))
    time.sleep(0.05)  # one run knows nothing of the next
    assert link_collector(["-i", str(sources), "-o", str(links), "-a", *quick, *POLITE]) == 1
    assert sorted(links.read_text().split()) == sorted([*found, "http://not.ended.example/"])
    links.write_text("\n".join(found))
    time.sleep(0.05)

    output = tmp_path / "2018-04-10.warc.xz"
    words = ["-i", str(links), "-o", str(output), "-p", "0.05", "-m", "5", *POLITE]
    assert page_downloader(words) == 0
    assert capsys.readouterr().err.count("+OK ") == 24
    with Reader(output) as reader:
        responses = [record.url for record in reader if record.type == "response"]
    assert sorted(responses) == sorted(found)
    assert output.with_name(output.name + ".cdxj").read_text().count(output.name) >= 24
    assert {path.name for path in tmp_path.iterdir()} == {
        "web", "cs_media.txt", "links.txt", "log", output.name, output.name + ".cdxj"
    }  # fmt: skip
    assert page_downloader(words) == 2  # exists
    findings = verify(read_log(web.log), web.web, Expectations(0.05, 0.0, refetches=100))
    assert not [*findings.too_fast, *findings.robots_denied, *findings.robots_unasked, *findings.overlaps]


def test_an_archive_that_came_meanwhile_is_not_overwritten(web: Running, tmp_path: Path) -> None:
    listing, output = tmp_path / "list", tmp_path / "x.warc.gz"
    listing.write_text(web.web.seeds[0] + "\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "exists", lambda path: False)  # it was not there when the work began
        output.write_bytes(b"another's")
        assert page_downloader(["-i", str(listing), "-o", str(output), *POLITE]) == 2
    assert output.read_bytes() == b"another's"
    [kept] = tmp_path.glob(".x.warc.gz.*/*.warc.gz")
    with Reader(kept) as reader:
        assert any(record.type == "response" for record in reader)


def run_and_kill_at(step: str, words: list[str]) -> None:
    """Run it in a process of its own, which dies at its first call of `step` that is no warning."""
    code = f"""
import os, sys
from crawler import collector
from crawler.console import one_archive
{step} = lambda *words: "-WARN" in words or os.kill(os.getpid(), 9)
collector.page_downloader(sys.argv[1:])
"""
    done = subprocess.run([sys.executable, "-c", code, *words], cwd=REPO, check=False, timeout=240)
    assert done.returncode == -signal.SIGKILL


def full_device(_: Path) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("suffix", [".warc.xz", ".warc.zst"])
def test_what_a_killed_run_had_downloaded_is_in_the_next_ones_archive(
    web: Running, tmp_path: Path, suffix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / f"x{suffix}"
    urls = [web.web.seeds[0], *(feed.site.authority + feed.path for feed in web.web.feeds.all)][:3]
    lists = [tmp_path / f"list{number}" for number in range(3)]
    for path, url in zip(lists, urls, strict=True):
        path.write_text(url + "\n")
    words = [["-i", str(path), "-o", str(output), *POLITE] for path in lists]
    run_and_kill_at("collector.Log.say", words[0])
    run_and_kill_at("one_archive._publish", words[1])
    run_and_kill_at("one_archive.index_file", words[2])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("crawler.console.one_archive.index_file", full_device)
        assert page_downloader(words[2]) == 2
        assert "-ERR [Errno 28] No space left on device" in capsys.readouterr().err
    assert page_downloader(words[2]) == 2  # is there already; what the last one left undone is done
    with Reader(output) as reader:
        assert [record.url for record in reader if record.type == "response"] == urls
        assert not reader.damages
    index = output.with_name(output.name + ".cdxj")
    assert index.read_text().count(output.name) >= 3
    assert {path.name for path in tmp_path.iterdir()} == {
        "web",
        *(path.name for path in lists),
        output.name,
        index.name,
    }


def test_a_killed_run_goes_on_where_it_was(web: Running, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    listing, output = tmp_path / "list", tmp_path / "x.warc.xz"
    home = web.web.seeds[0]
    urls = [home + "feed/99", home, *(feed.site.authority + feed.path for feed in web.web.feeds.all)][:5]
    listing.write_text("\n".join(urls[:3]) + "\n")
    run_and_kill_at("one_archive._publish", ["-i", str(listing), "-o", str(output), *POLITE])
    listing.write_text("\n".join(urls) + "\n")
    run_and_kill_at("one_archive.WarcWriter.settle", ["-i", str(listing), "-o", str(output), *POLITE])
    asked = web.server.requests
    assert page_downloader(["-i", str(listing), "-o", str(output), *POLITE]) == 1
    told = capsys.readouterr().err.splitlines()
    assert [line for line in told if line.endswith("(by the run before)")] == [
        f"-ERR {urls[0]} status 404 (by the run before)",
        *(f"+OK {url} (by the run before)" for url in urls[1:3]),
    ]
    with Reader(output) as reader:
        assert sorted(record.url for record in reader if record.type == "response") == sorted(urls)
        assert not reader.damages
    hosts = {authority(url) for url in urls[3:]}
    assert web.server.requests - asked == len(hosts) + 2, "robots.txt and what was left"


def test_two_downloaders_of_one_archive_keep_apart(
    web: Running, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    listing, output = tmp_path / "list", tmp_path / "x.warc.gz"
    listing.write_text(web.web.seeds[0] + "\n")
    with own_folder(output):
        assert page_downloader(["-i", str(listing), "-o", str(output), *POLITE]) == 2
    assert "another page_downloader is writing it" in capsys.readouterr().err
    assert page_downloader(["-i", str(listing), "-o", str(output), *POLITE]) == 0


def test_a_line_that_is_no_address_is_told_and_the_rest_is_done(
    web: Running, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    listing, links, output = tmp_path / "list", tmp_path / "links.txt", tmp_path / "x.warc.gz"
    feed = next(feed.site.authority + feed.path for feed in web.web.feeds.all)
    listing.write_text(f"# feeds\nwww.example.org/feed\n{feed}\nhttp://a.example:99999/\n")
    wrong = [
        f"-ERR {listing}:2: not an address: 'www.example.org/feed'",
        f"-ERR {listing}:4: not an address: 'http://a.example:99999/'",
    ]
    assert link_collector(["-i", str(listing), "-o", str(links), *POLITE]) == 1
    told = capsys.readouterr().err.splitlines()
    assert [line for line in told if line.startswith("-ERR")] == wrong
    assert links.read_text().count("\n") == 6
    assert page_downloader(["-i", str(listing), "-o", str(output), *POLITE]) == 1
    told = capsys.readouterr().err.splitlines()
    assert [line for line in told if line.startswith("-ERR")] == wrong
    assert any(line.startswith(f"+OK {feed}") for line in told)
    with Reader(output) as reader:
        assert feed in [record.url for record in reader if record.type == "response"]


@pytest.mark.parametrize("wait", ["soon", "0", "-1", "nan", "3600"])
def test_a_time_that_is_none_is_named(wait: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["links", f"--wait={wait}"])
    assert f"argument -w/--wait: {wait} is no number of seconds above 0" in capsys.readouterr().err


def test_usage_and_refusals(web: Running, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    listing = tmp_path / "list"
    listing.write_text(f"http://127.0.0.1:2/feed\n{web.web.seeds[0]}\n")
    assert main(["links", "-t", "-i", str(listing), "-s", "FRONTIER_DELAY_S=0.05", *POLITE]) == 1
    errors = capsys.readouterr().err
    assert "-ERR http://127.0.0.1:2/feed refused_address" in errors
    assert f"-ERR {web.web.seeds[0]} html" in errors
    assert main([]) == 2
    assert main(["links", "-i", str(listing)]) == 2
    assert "no contact" in capsys.readouterr().err
    assert main(["links", "-i", str(tmp_path / "none"), *POLITE]) == 2
    (tmp_path / "cut.xz").write_bytes(lzma.compress(b"http://a.example/\n")[:-9])
    assert main(["links", "-i", str(tmp_path / "cut.xz"), *POLITE]) == 2
    (tmp_path / "latin").write_bytes(b"caf\xe9\n")
    assert main(["links", "-i", f"@{tmp_path / 'latin'}", *POLITE]) == 2
    (tmp_path / "one").write_text(f"@{tmp_path / 'two'}\n")
    (tmp_path / "two").write_text(f"{listing}\n@{tmp_path / 'one'}\n")
    capsys.readouterr()
    assert main(["links", "-i", f"@{tmp_path / 'one'}", *POLITE]) == 2
    assert capsys.readouterr().err.splitlines()[-1] == f"-ERR @{tmp_path / 'one'}: this list of files names itself"
    assert main(["links", "-i", str(listing), "--contact", "somebody"]) == 2
    assert "neither a web address nor" in capsys.readouterr().err
    asked = web.server.requests
    mistyped = ("FRONTIER_DELAY_S=-1", "FRONTIER_DELAI_S=9", "DOWNLOAD_MAXSIZE=x", "ADDONS={", "FETCH_CA_FILE=/nowhere")
    for wrong in mistyped:
        assert main(["links", "-i", str(listing), *POLITE, "-s", wrong]) == 2
        error = capsys.readouterr().err
        assert error.startswith("-ERR ")
        assert wrong.partition("=")[0] in error
    assert main(["links", "-i", str(listing), "-o", str(tmp_path / "no" / "links"), *POLITE]) == 2
    assert f"cannot write in {tmp_path / 'no'}" in capsys.readouterr().err
    assert web.server.requests == asked, "told before anything was fetched"
    with pytest.raises(SystemExit, match="2"):
        page_downloader(["-i", str(listing), "-o", "pages.zip", *POLITE])


@pytest.fixture
def listing(web: Running, tmp_path: Path) -> Path:
    """A list with one feed of six items."""
    feed = next(feed.site.authority + feed.path for feed in web.web.feeds.all)
    (tmp_path / "list").write_text(f"{feed}\n")
    return tmp_path / "list"


@pytest.mark.parametrize("words", [[], ["-a"]])
def test_what_is_no_regular_file_is_written_to_as_it_is(listing: Path, tmp_path: Path, words: list[str]) -> None:
    """Whoever may do so would have put a file into the place of /dev/null."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert link_collector(["-i", str(listing), "-o", str(pipe), *words, *POLITE]) == 0
        assert os.read(reader, 1 << 16).count(b"\n") == 6
    finally:
        os.close(reader)
    assert pipe.is_fifo()


def test_a_link_to_a_file_stays_one(listing: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "links").symlink_to("elsewhere/links")
    assert link_collector(["-i", str(listing), "-o", str(tmp_path / "links"), *POLITE]) == 0
    assert (tmp_path / "links").is_symlink()
    assert (tmp_path / "elsewhere" / "links").read_text().count("\n") == 6


@pytest.mark.parametrize("words", [[], ["-a"]])
def test_of_links_for_which_there_is_no_room_the_file_is_named_and_none_is_left_half(
    listing: Path, tmp_path: Path, words: list[str]
) -> None:
    links = tmp_path / "links"
    links.write_text("http://a.test/\n")
    command = [sys.executable, "-m", "crawler.collector", "links", "-i", str(listing), "-o", str(links)]
    shell = ["bash", "-c", f"ulimit -f 0; exec {shlex.join([*command, *words, *POLITE])}"]
    done = subprocess.run(shell, cwd=REPO, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (2, f"-ERR {links}: File too large")
    assert links.read_text() == "http://a.test/\n"
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["links", "list"]


@pytest.mark.parametrize(
    ("ending", "status", "told"),
    [
        ("| true", 0, ["+OK"]),  # a reader that has seen enough
        (">&-", 2, ["+OK", "-ERR standard output: is closed"]),
        (">/dev/full", 2, ["+OK", "-ERR standard output: No space left on device"]),
        ("2>&-", 0, []),
        ("2>/dev/full", 0, []),
    ],
)
def test_links_that_nobody_reads_and_a_log_that_nobody_reads(
    listing: Path, ending: str, status: int, told: list[str]
) -> None:
    words = shlex.join([sys.executable, "-m", "crawler.collector", "links", "-i", str(listing), *POLITE])
    shell = ["bash", "-c", f"{words} {ending}; exit ${{PIPESTATUS[0]}}"]
    done = subprocess.run(shell, cwd=REPO, capture_output=True, text=True, timeout=120)
    assert done.returncode == status
    lines = [line for line in done.stderr.splitlines() if not line.startswith("-WARN")]
    assert [line[: len(said)] for line, said in zip(lines, told, strict=True)] == told
    assert done.stdout.count("http://") == (6 if ending.startswith("2") else 0), "no line of the log among them"
    assert len(done.stdout.splitlines()) == done.stdout.count("http://")


def test_a_list_that_is_not_there_is_named_as_everywhere(capsys: pytest.CaptureFixture[str]) -> None:
    assert link_collector(["-i", "/nowhere", *POLITE]) == 2
    assert capsys.readouterr().err.splitlines()[-1] == "-ERR /nowhere: No such file or directory"
