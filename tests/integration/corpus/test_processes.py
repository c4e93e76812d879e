"""Pages read by several processes: the same as by one, whatever becomes of the processes."""

import json
import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from archive import ArchiveError, Reader, Record
from corpus.children import Child, Work
from corpus.cli import main
from corpus.errors import CorpusError
from corpus.parallel import Readers
from corpus.records import Read, Reading
from tests.integration.corpus.warcs import ENGLISH, ZULU, exchange, page, write
from tests.integration.crawler.harness import wait_for

REPO = Path(__file__).parents[3]


@dataclass(frozen=True, slots=True)
class Deadly(Reading):
    """Dies of records whose type and URL have these words."""

    words: str = "response https://a.example/deadly"

    def __call__(self, record: Record) -> Read:
        if self.words in f"{record.type} {record.url}":
            os._exit(7)
        return Reading.__call__(self, record)


def pages(*names: str) -> list[tuple[str, str]]:
    """A name each with a text of its own."""
    return [(name, page(f"{name} {ZULU[place % 3]}")) for place, name in enumerate(names)]


def test_the_result_is_that_of_one_process(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    exchanges = [exchange(str(n), page(ZULU[n % 3], ENGLISH[n % 2], f"{n} {ZULU[1]}").encode()) for n in range(40)]
    exchanges.insert(20, exchange("large", page(ZULU[0]).encode() + bytes(17 << 20)))  # not in memory
    exchanges.insert(30, exchange("image", b"\x89PNG" * (1 << 19), "image/png"))  # more than a batch
    whole = write(tmp_path / "w", exchanges, "none").read_bytes()
    path = tmp_path / "damaged.warc"
    path.write_bytes(whole[:50_000] + b"nothing of a WARC\r\n\r\n" + whole[50_000:-100])
    text = page(f"ARC {ZULU[2]}").encode()
    arc = tmp_path / "old.arc"
    lines = b"filedesc://x 1.1.1.1 20200101000000 text/plain 0\n\nhttp://h/1 1.1.1.1 20200101000000 text/html %d\n%b\n"
    answer = b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n" + text
    arc.write_bytes(lines % (len(answer), answer))
    found = []
    for processes in ("1", "3"):
        out = tmp_path / f"{processes}.vert"
        files = [str(path), str(arc), str(path)]
        assert main(["extract", *files, "-o", str(out), "--json", "--processes", processes]) == 1
        said = capsys.readouterr().err.splitlines()
        found.append((out.read_bytes(), said[:-1], {**json.loads(said[-1]), "output": ""}))
    assert found[0] == found[1]
    assert found[0][2]["documents"] > 30
    assert b"ARC" in found[0][0]


def test_a_page_that_a_process_dies_of_is_lost_alone(tmp_path: Path) -> None:
    names = ["a", "b", "deadly", "c", "d", "deadly-too", "deadly-again", "e"]  # as many as would end it in a row
    path = write(tmp_path / "w", [exchange(name, text.encode()) for name, text in pages(*names)])
    with closing(Readers(Deadly(), 2)) as readers, Reader(path) as records:
        found = {
            record.url.rpartition("/")[2]: read for record, read in readers.read(records) if record.type == "response"
        }
    assert list(found) == names
    assert [name for name, read in found.items() if read.reason] == ["deadly", "deadly-too", "deadly-again"]
    assert found["deadly"] == Read(reason="failed", why="a process died of it")
    assert found["e"].document is not None


def test_processes_that_cannot_live_end_the_run(tmp_path: Path) -> None:
    path = write(tmp_path / "w", [exchange(name, text.encode()) for name, text in pages(*"abcd")])
    with (
        closing(Readers(Deadly(words=""), 2)) as readers,
        Reader(path) as records,
        pytest.raises(CorpusError, match="3 reading processes have died one after another"),
    ):
        list(readers.read(records))


@contextmanager
def no_file_can_be_opened() -> Iterator[None]:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    least = os.dup(0)
    os.close(least)
    resource.setrlimit(resource.RLIMIT_NOFILE, (least, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def test_processes_that_cannot_be_started_are_no_fault_of_the_archive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = write(tmp_path / "w", [exchange("1", page(*ZULU).encode())]), tmp_path / "out.jsonl"
    out.write_text("before", encoding="utf-8")

    def starved(make: Callable[[], Work[list[Record], list[Read]]]) -> Child[list[Record], list[Read]]:
        with no_file_can_be_opened():
            return Child(make)

    monkeypatch.setattr("corpus.parallel.Child", starved)
    assert main(["extract", str(path), "-o", str(out), "--processes", "2"]) == 2
    assert "corpus: a process that works for the run cannot be started: [Errno 24]" in capsys.readouterr().err
    assert out.read_text(encoding="utf-8") == "before"


def test_what_was_read_before_a_fault_is_given(tmp_path: Path) -> None:
    path = write(tmp_path / "w", [exchange(name, text.encode()) for name, text in pages(*"abc")])

    def broken(records: Reader) -> Iterator[Record]:
        yield from records
        raise ArchiveError("no more")

    given: list[str] = []
    with (
        closing(Readers(Reading(), 2)) as readers,
        Reader(path) as records,
        pytest.raises(ArchiveError, match="no more"),
    ):
        given.extend(record.type for record, _ in readers.read(broken(records)))
    assert given.count("response") == 3


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_no_process_is_left_behind(tmp_path: Path, how: signal.Signals) -> None:
    one = write(tmp_path / "w", [exchange(name, text.encode()) for name, text in pages("a")], "none").read_bytes()
    endless, out = tmp_path / "endless.warc", tmp_path / "out.jsonl"
    os.mkfifo(endless)
    command = [sys.executable, "-m", "corpus", "extract", str(endless), "-o", str(out), "--processes", "2"]
    run = subprocess.Popen(command, cwd=REPO, stderr=subprocess.DEVNULL, start_new_session=True)
    feeder = threading.Thread(target=feed, args=(endless, one * 100))
    feeder.start()
    wait_for(lambda: len(children(run.pid)) > 2)
    left = children(run.pid)
    run.send_signal(how)
    assert run.wait(30) == {signal.SIGINT: 130, signal.SIGKILL: -9}[how]
    wait_for(lambda: not any(map(lives, left)))
    feeder.join(30)
    assert not out.exists()


def feed(pipe: Path, data: bytes) -> None:
    """Until nobody reads it."""
    with suppress(BrokenPipeError), pipe.open("wb", buffering=0) as file:
        while True:
            file.write(data)


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def lives(pid: int) -> bool:
    """Does this process run? One that has ended may still be there until it has been asked for."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
