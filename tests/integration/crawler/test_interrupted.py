"""Ctrl-C while a Redis still reads its data, and before there is a reactor: one plain line, and no traceback."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingTCPServer
from typing import NoReturn

import pytest
from scrapy.settings import Settings

from crawler.console.terminal import INTERRUPTED
from crawler.state.embedded_redis import EmbeddedRedis
from crawler.state.redis_link import redis_home
from frontier.redis_frontier import RedisFrontier
from tests.integration.crawler.harness import QUICK, ROOT, environment, scrapy, wait_for
from tests.integration.crawler.serving import HostHandler, hosts, serving

GREETINGS = {b"HELLO": b"%1\r\n$5\r\nproto\r\n:3\r\n", b"CLIENT": b"+OK\r\n"}


class Loading(ThreadingTCPServer):
    """A Redis that reads its data for ever."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked = threading.Event()


class Handler(StreamRequestHandler):
    """Says so to all but a client's greeting. Of the format of the state, which a crawl waits for, it is asked by GET,
    and before that whether it runs scripts."""

    server: Loading

    def handle(self) -> None:
        while line := self.rfile.readline():
            words = [self._word() for _ in range(int(line[1:]))]
            self.wfile.write(GREETINGS.get(words[0], b"-LOADING Redis is loading the dataset in memory\r\n"))
            if words[0] in (b"EVALSHA", b"GET"):
                self.server.asked.set()

    def _word(self) -> bytes:
        return self.rfile.read(int(self.rfile.readline()[1:]) + 2)[:-2]


@pytest.fixture
def server() -> Iterator[Loading]:
    with Loading() as server, serving(server):
        yield server


@pytest.mark.parametrize(
    ("number", "words", "status", "said"),
    [
        (signal.SIGINT, ("crawl", "x", "-a"), 0, "scrapy crawl x: interrupted before it began"),
        (signal.SIGINT, ("frontier", "status", "--crawl", "x", "--seeds"), 130, "scrapy frontier: interrupted"),
        (signal.SIGTERM, ("frontier", "status", "--crawl", "x", "--seeds"), 130, "scrapy frontier: interrupted"),
    ],
)
def test_a_redis_that_is_waited_for(
    number: signal.Signals, words: tuple[str, ...], status: int, said: str, server: Loading, tmp_path: Path
) -> None:
    seeds = tmp_path / "x.toml"
    seeds.write_text(
        '[crawl]\nname = "x"\nlanguage = "zul"\ncontact = "me@a.test"\n[[site]]\nurl = "http://127.0.0.1:2/"\n'
    )
    last = f"seeds={seeds}" if words[0] == "crawl" else str(seeds)
    url = f"redis://127.0.0.1:{server.server_address[1]}/0"
    command = scrapy(*words, last, REDIS_URL=url, DATA_DIR=str(tmp_path / "data"))
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as begun:
        try:
            assert server.asked.wait(120)
            begun.send_signal(number)
            _, told = begun.communicate(timeout=120)
        finally:
            begun.kill()
    assert begun.returncode == status, told
    assert [line for line in told.splitlines() if "Waiting for Redis" not in line] == [said]


def test_a_signal_is_heard_that_comes_while_an_object_is_thrown_away() -> None:
    """As connections of the client are, all the time; Python drops what is raised there. Once it ends it is not heard
    any more: what is held is let go to the end."""
    program = """
import atexit, signal, sys, time
from crawler.commands.crawl import _leave_at_signals

class Gone:
    def __del__(self):
        signal.raise_signal(signal.SIGTERM)

def close():
    time.sleep(1)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.raise_signal(number)
    print("closed")

atexit.register(close)
_leave_at_signals("x", sys.exit)
Gone()
time.sleep(100)
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "closed\n"), done.stderr
    assert done.stderr.startswith("scrapy crawl x: interrupted before it began\nException ignored in:")
    assert done.stderr.count("interrupted") == 1


def interrupted_amid_imports(
    number: str, words: list[str], tmp_path: Path, module: str = "resiliparse"
) -> subprocess.CompletedProcess[str]:
    """A command of Scrapy's that a signal meets as it imports that module, when no reactor runs yet."""
    (tmp_path / "stopped.py").write_text(f"""
import importlib.abc, signal, sys
from scrapy.cmdline import execute

class Amid(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == {module!r}:
            try:
                signal.raise_signal(signal.{number})
            finally:
                print("it unwinds", file=sys.stderr)

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Amid())
execute({["scrapy", *words]!r})
""")
    command = [sys.executable, str(tmp_path / "stopped.py")]
    environ = environment() | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM"])
def test_a_signal_amid_the_import_of_the_crawler_ends_it_at_once(number: str, tmp_path: Path) -> None:
    """Nothing unwinds: amid the import of a module written in Rust that is a panic, with two tracebacks."""
    done = interrupted_amid_imports(number, ["crawl", "nosuch"], tmp_path)
    assert (done.returncode, done.stderr) == (0, "scrapy crawl nosuch: interrupted before it began\n")


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("resiliparse", ["seeds", "check", "zulu", "--offline"]),
        ("resiliparse", ["why", "http://a.test/"]),
        ("resiliparse", ["fetch", "http://127.0.0.1:2/", "-s", "CONTACT=me@a.test"]),
        ("crawler.spiderloader", ["list"]),
    ],
)
def test_ctrl_c_amid_the_import_of_a_command_ends_it_at_once(module: str, words: list[str], tmp_path: Path) -> None:
    done = interrupted_amid_imports("SIGINT", words, tmp_path, module)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, "")


@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM"])
def test_a_command_that_may_hold_a_redis_ends_without_a_traceback(number: str, tmp_path: Path) -> None:
    words = ["check", "-s", "CONTACT=me@a.test"]
    done = interrupted_amid_imports(number, words, tmp_path, "crawler.console.paced")
    assert done.returncode == INTERRUPTED
    assert done.stderr.endswith("it unwinds\n"), "what is held is let go"
    assert "Traceback" not in done.stderr


def test_a_private_redis_that_is_not_waited_for_any_longer_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[subprocess.Popen[bytes]] = []

    def interrupt(server: EmbeddedRedis, process: subprocess.Popen[bytes], log: Path) -> None:
        del log
        started.append(process)
        wait_for((server.folder / "redis.sock").exists)
        raise KeyboardInterrupt

    monkeypatch.setattr(EmbeddedRedis, "_await_start", interrupt)
    with pytest.raises(KeyboardInterrupt), EmbeddedRedis(tmp_path):
        pass
    assert started[0].poll() is not None
    assert not (tmp_path / "redis.sock").exists()
    assert not EmbeddedRedis(tmp_path).server_pid()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_whoever_interrupts_the_end_too_leaves_no_private_redis(
    number: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shut_down, asked = EmbeddedRedis._shut_down, signal.getsignal(number)

    def interrupted(server: EmbeddedRedis) -> None:
        signal.raise_signal(number)
        shut_down(server)

    def again(*_: object) -> NoReturn:
        raise RuntimeError("heard")

    monkeypatch.setattr(EmbeddedRedis, "_shut_down", interrupted)
    signal.signal(number, again)
    try:
        with redis_home(Settings({"REDIS_URL": ""}), tmp_path):
            pass
        assert signal.getsignal(number) is again
    finally:
        signal.signal(number, asked)
    assert not list(tmp_path.rglob("redis.sock"))


class Silent(HostHandler):
    """Has no robots.txt, and gives no page for a long time."""

    released = threading.Event()

    def asked(self) -> None:
        if self.path != "/robots.txt":
            self.released.wait(60)
        self.answer(404, b"")


def test_a_crawl_that_is_being_closed_is_closed_to_the_end(tmp_path: Path) -> None:
    seeds, log = tmp_path / "x.toml", tmp_path / "log"
    with hosts(Silent, ["127.71.5.1"]) as web:
        site = f'[[site]]\nurl = "http://127.71.5.1:{web.port}/"\n'
        seeds.write_text(f'[crawl]\nname = "x"\nlanguage = "zul"\ncontact = "me@a.test"\n{site}')
        settings = QUICK | {"DATA_DIR": str(tmp_path / "d"), "LOG_FILE": str(log), "CLOSESPIDER_TIMEOUT": "4"}
        words = scrapy("crawl", "x", "-a", f"seeds={seeds}", **settings)
        worker = subprocess.Popen(words, cwd=ROOT, env=environment())
        try:
            wait_for(lambda: log.exists() and "(closespider_timeout)" in log.read_text())
            worker.send_signal(signal.SIGTERM)
            assert worker.wait(60) == 0
        finally:
            Silent.released.set()
            worker.kill()
    assert "Spider closed (closespider_timeout)" in log.read_text()
    assert not list((tmp_path / "d").rglob("*.journal"))
    assert not list((tmp_path / "d").rglob("redis.sock")), "nothing was left running"
    # The page was asked for, so its host rests: another worker, or the next start, would ask again at once.
    with EmbeddedRedis(tmp_path / "d" / "state" / "redis") as server:
        frontier = RedisFrontier(server.url, "x")
        results = frontier.status().results
        frontier.close()
    assert results == {"robots:http_404": 1, "aborted": 1}
