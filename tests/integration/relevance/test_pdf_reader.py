"""The process that reads PDF documents: what it may die of, and what becomes of those who asked."""

from __future__ import annotations

import contextlib
import os
import pickle
import random
import re
import signal
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from relevance import Page, PdfError
from relevance.pdf import PdfReader, is_pdf
from relevance.pdf import reader as reader_module
from tests.web.pdf import Piece, Style, document

TEXT = "Umongameli wezwe uthe abantu bakithi kufanele basebenze ndawonye ukuze kuphele ububha emakhaya."
URL = "https://a.example/umbiko.pdf"
ROOT = Path(__file__).parents[3]


@pytest.fixture
def reader() -> Iterator[PdfReader]:
    with PdfReader() as made:
        yield made


def children() -> list[int]:
    """Processes of ours that read documents."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError, IndexError):
                parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
                if parent == os.getpid() and b"relevance.pdf.child" in (folder / "cmdline").read_bytes():
                    found.append(int(folder.name))
    return found


def long_document(sheets: int) -> bytes:
    return document([Piece(TEXT)] * (30 * sheets), Style())


def test_a_document_is_a_page(reader: PdfReader) -> None:
    body = document(
        [Piece("Umbiko", "h"), Piece(TEXT)], title="Umbiko 2026", language="zu", links=["https://b.example/"]
    )
    page = reader.read(body, URL)
    assert (page.url, page.title, page.html_lang, page.charset_source) == (URL, "Umbiko 2026", "zu", "pdf")
    assert [(block.text, block.kind) for block in page.blocks] == [("Umbiko", "heading"), (TEXT, "main")]
    assert [link.href for link in page.links] == ["https://b.example/"]


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("Umbiko 2026", "Umbiko 2026"),
        ("", "Isihloko"),
        ("Microsoft Word - Document1", "Isihloko"),
        ("umbiko final.docx", "Isihloko"),
        ("Izindaba.doc zethu", "Izindaba.doc zethu"),
    ],
)
def test_a_title_that_is_the_name_of_a_file_is_none(reader: PdfReader, said: str, title: str) -> None:
    assert reader.read(document([Piece("Isihloko", "h"), Piece(TEXT)], title=said), URL).title == title


def test_english_is_what_programs_say_that_nobody_told(reader: PdfReader) -> None:
    found = [
        reader.read(document([Piece(TEXT)], language=said), URL).html_lang for said in ("en-US", "EN", "af-ZA", "")
    ]
    assert found == ["", "", "af-ZA", ""]


def test_who_asks_does_not_load_what_may_crash() -> None:
    script = "import sys, relevance.pdf, corpus.extraction; print('pypdfium2' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"


def test_documents_are_known_by_type_or_beginning() -> None:
    assert is_pdf("application/pdf", b"")
    assert is_pdf("application/octet-stream", b"\n%PDF-1.4")
    assert is_pdf("", b"%PDF-1.4")
    assert not is_pdf("", b"<html>%PDX-1.4")
    assert not is_pdf("text/plain", b"%PDF-1.4")


def test_one_that_takes_too_long_costs_itself_only(reader: PdfReader) -> None:
    body = long_document(100)
    with pytest.raises(PdfError, match=f"{URL}: slow"):
        reader.read(body, URL, 0.01)
    assert reader.read(document([Piece(TEXT)]), URL).blocks
    assert reader.read(body, URL).blocks


def test_a_process_that_is_killed_costs_one_document(reader: PdfReader) -> None:
    body = long_document(30)
    with pytest.raises(PdfError, match="died"):
        _read_until_killed(reader, body)
    assert reader.read(document([Piece(TEXT)]), URL).blocks


def _read_until_killed(reader: PdfReader, body: bytes) -> None:
    """In a document: a signal that falls between two costs none, and is sent again."""
    while True:
        reader.read(document([Piece(TEXT)]), URL)
        timer = threading.Timer(0.02, os.kill, (*children(), signal.SIGKILL))
        timer.start()
        try:
            reader.read(body, URL)
        finally:
            timer.join()


def test_one_that_has_ended_for_want_of_work_begins_anew() -> None:
    with PdfReader(idle_s=0.05) as reader:
        for _ in range(3):
            assert reader.read(document([Piece(TEXT)]), URL).blocks
            while children():
                time.sleep(0.02)


def test_it_ends_with_its_reader_and_with_who_had_it(reader: PdfReader, tmp_path: Path) -> None:
    reader.read(document([Piece(TEXT)]), URL)
    assert children()
    reader.close()
    assert not children()
    script = (
        "import os, sys; from relevance.pdf import PdfReader; reader = PdfReader(); "
        "reader.read(open(sys.argv[1], 'rb').read(), ''); print(reader._process.pid, flush=True); "
        "os.kill(os.getpid(), 9)"
    )
    name = tmp_path / "umbiko.pdf"
    name.write_bytes(document([Piece(TEXT)]))
    ran = subprocess.run([sys.executable, "-c", script, name], cwd=ROOT, capture_output=True, check=False)
    orphan = int(ran.stdout)
    while _lives(orphan):  # else the test times out
        time.sleep(0.05)


def _lives(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # it may end while it is looked at
        return False


def test_damaged_documents_cost_themselves_only(reader: PdfReader) -> None:
    """Bytes that are changed, missing or doubled, at random."""
    rng = random.Random(5)
    body = document([Piece("Umbiko", "h"), Piece(TEXT), Piece(TEXT, "li")] * 9, Style(columns=2), links=[URL])
    read, reasons = 0, set()
    for _ in range(300):
        damaged = bytearray(body)
        for _ in range(rng.choice((1, 1, 3, 30))):
            at, size = rng.randrange(len(damaged)), rng.choice((0, 1, 1, 4, 64))
            damaged[at : at + size] = rng.randbytes(rng.choice((0, 1, 1, 4, 64)))
        try:
            page = reader.read(bytes(damaged), URL, 5.0)
        except PdfError as error:
            reasons.add(error.reason)
        else:
            assert isinstance(page, Page)
            read += 1
    assert read > 50
    assert reasons <= {"damaged", "password", "protected", "slow", "died"}
    assert reader.read(body, URL).blocks


def test_one_that_died_between_documents_costs_none(reader: PdfReader) -> None:
    """As when the kernel is short of memory, and takes who is idle."""
    for _ in range(3):
        assert reader.read(document([Piece(TEXT)]), URL).blocks
        [child] = children()
        os.kill(child, signal.SIGKILL)
        os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)


def test_signals_to_all_processes_are_for_who_asks(reader: PdfReader) -> None:
    """As systemd and hang-ups send them: the crawl ends when it has dealt with what it has."""
    reader.read(document([Piece(TEXT)]), URL)
    [child] = children()
    for meant_for_all in (signal.SIGTERM, signal.SIGHUP):
        os.kill(child, meant_for_all)
    assert reader.read(document([Piece(TEXT)]), URL).blocks
    assert children() == [child]


class Interrupted(BaseException):
    """What Ctrl-C does."""


def test_an_answer_that_nobody_waited_for_is_never_that_of_another(reader: PdfReader) -> None:
    def interrupt(*_: object) -> None:
        raise Interrupted

    reader.read(document([Piece(TEXT)]), URL)

    def read(body: bytes) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        reader.read(body, URL)

    long = long_document(100)
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with pytest.raises(Interrupted):
            read(long)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert len(reader.read(document([Piece(TEXT)]), URL).blocks) == 1


def test_closing_waits_for_no_document(reader: PdfReader, monkeypatch: pytest.MonkeyPatch) -> None:
    reader.read(document([Piece(TEXT)]), URL)
    [child] = children()
    reasons: list[str] = []
    tell, asked = reader_module._told, threading.Event()

    def told(*words: Any) -> bytes:
        asked.set()
        return tell(*words)

    def ask() -> None:
        try:
            reader.read(document([Piece(TEXT)]), URL)
        except PdfError as error:
            reasons.append(error.reason)

    monkeypatch.setattr(reader_module, "_told", told)
    os.kill(child, signal.SIGSTOP)  # it never answers
    thread = threading.Thread(target=ask)
    thread.start()
    assert asked.wait(60)
    reader.close()
    thread.join(60)
    assert reasons == ["died"]
    assert not children()


def test_an_answer_that_is_none_ends_its_process(reader: PdfReader, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that strangers' documents have corrupted may say anything."""
    monkeypatch.setattr("relevance.pdf.reader._CALL", "import sys; sys.stdout.buffer.write(b'\\x7f' * 64)")
    with pytest.raises(PdfError, match="died"):
        reader.read(document([Piece(TEXT)]), URL)


def test_one_that_takes_much_memory_costs_itself_only(reader: PdfReader) -> None:
    """A worker may have 1 GiB with all that it began (deploy)."""
    body = document([Piece(TEXT)])
    [stream] = re.findall(rb"stream\n(.*?)\nendstream", body, re.S)
    packed = zlib.compress(b"q " * 6_000_000)
    bomb = re.sub(rb"/Length \d+", b"/Length %d" % len(packed), body).replace(stream, packed)
    with pytest.raises(PdfError, match="died"):
        reader.read(bomb, URL)
    assert reader.read(body, URL).blocks


def test_what_was_set_aside_before_is_no_document_s(reader: PdfReader, monkeypatch: pytest.MonkeyPatch) -> None:
    """As libraries do for the threads of many processors."""
    begun = "import mmap; aside = mmap.mmap(-1, 3 << 30); from relevance.pdf.child import main; main()"
    monkeypatch.setattr("relevance.pdf.reader._CALL", begun)
    assert reader.read(long_document(100), URL).blocks


def test_a_bound_that_is_set_from_outside_holds(tmp_path: Path) -> None:
    name = tmp_path / "umbiko.pdf"
    name.write_bytes(document([Piece(TEXT)]))
    script = (
        "import resource, sys; from relevance.pdf import PdfReader; "
        "resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30)); "
        "print(len(PdfReader().read(open(sys.argv[1], 'rb').read(), '').blocks))"
    )
    ran = subprocess.run([sys.executable, "-c", script, name], cwd=ROOT, capture_output=True, check=False)
    assert ran.stdout == b"1\n", ran.stderr


def test_nothing_is_imported_from_the_folder_it_is_started_in(
    reader: PdfReader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit(3)")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(ROOT), *(place for place in sys.path if place)])
    assert reader.read(document([Piece(TEXT)]), URL).blocks


def test_threads_share_a_reader(reader: PdfReader) -> None:
    found: list[str] = []

    def ask(number: int) -> None:
        for _ in range(10):
            text = f"{TEXT} {number}"
            found.append("right" if reader.read(document([Piece(text)]), URL).blocks[0].text == text else "wrong")

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == ["right"] * 40
    assert len(children()) == 1


def test_a_pickled_reader_is_one_anew(reader: PdfReader) -> None:
    reader.read(document([Piece(TEXT)]), URL)
    with pickle.loads(pickle.dumps(reader)) as another:
        assert another.read(document([Piece(TEXT)]), URL).blocks
        assert len(children()) == 2
