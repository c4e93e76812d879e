"""What is done at each limit, and just beyond it."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from archive import Reader, Record
from archive.messages.fields import record
from corpus import sources
from corpus.anchors import place_links
from corpus.children import ChildDied
from corpus.document import Document, Paragraph
from corpus.duplicates.table import KeyTable
from corpus.errors import CorpusError, FormatError
from corpus.languages import paragraph_languages
from corpus.parallel import _MOST_DEATHS, Readers
from corpus.records import Capture, Read, _is_binary, capture_of
from corpus.selection import LONG, main_blocks, without_markup
from corpus.sources import line_batches
from corpus.statistics import Row, shortened
from corpus.tagging.processes import AHEAD, tagged
from corpus.told import with_what_is_told
from corpus.vertical.reading import read_vertical
from corpus.wikilinks.address import title_of
from corpus.wikilinks.similarity import alike
from relevance import Block, Page, read_page
from relevance.pages.page import MAX_BODY, MAX_LINKS

URL = "https://a.example/izindaba/1"
FULL = "Umongameli uthe abantu bakithi kufanele basebenze ndawonye emakhaya nasemadolobheni."


def records(*each: tuple[str, dict[str, str], bytes]) -> list[Record]:
    made = (record("1.0", [("WARC-Type", kind), *fields.items()], block) for kind, fields, block in each)
    return list(Reader(io.BytesIO(b"".join(made))))


@pytest.mark.parametrize(("most", "names"), [(2, ["a", "b", "1 others"]), (3, ["a", "b", "c"]), (0, ["a", "b", "c"])])
def test_no_row_stands_for_none(most: int, names: list[str]) -> None:
    assert [name for name, _ in shortened([(name, Row(1, 1, 1)) for name in "abc"], most)] == names


@pytest.mark.parametrize(("short", "kept"), [(1, [0]), (3, [0, 1, 2]), (4, [1, 2]), (5, [2]), (6, [])], ids=str)
def test_a_short_line_is_text_with_a_full_one_among_three_before_and_behind(short: int, kept: list[int]) -> None:
    found = without_markup([FULL, *(f"Isihloko {n}" for n in range(short)), FULL])
    assert [place - 1 for place, block in enumerate(found) if block.kind == "short"] == kept


@pytest.mark.parametrize(("letters", "chosen"), [(LONG - 1, [0]), (LONG, [0, 1])])
def test_so_long_a_paragraph_is_text_wherever_it_stands(letters: int, chosen: list[int]) -> None:
    assert main_blocks([Block(FULL, "main"), Block("a" * letters, "main", apart=True)]) == chosen
    assert main_blocks([Block(FULL, "main"), Block("a", "main", apart=True)], whole=True) == [0, 1]


@pytest.mark.parametrize(("controls", "binary"), [(0, False), (5, False), (6, True)])
def test_more_than_a_twentieth_of_control_characters_is_no_text(controls: int, binary: bool) -> None:
    text = "\x01" * controls + "a" * (100 - controls)
    assert _is_binary(Page(URL, blocks=(Block(text, "main"),))) == binary
    assert not _is_binary(Page(URL))


@pytest.mark.parametrize("fields", [{}, {"Content-Type": "text/html"}], ids=["untold", "html"])
@pytest.mark.parametrize(("size", "notes"), [(MAX_BODY, ()), (MAX_BODY + 1, ("cut",))])
def test_a_page_is_cut_behind_8_mib_also_where_it_could_have_been_a_document(
    fields: dict[str, str], size: int, notes: tuple[str, ...]
) -> None:
    [found] = records(("resource", {"WARC-Target-URI": URL, **fields}, b"<html>".ljust(size, b"a")))
    capture = capture_of(found, pdf=True)
    assert isinstance(capture, Capture)
    assert (capture.media, capture.notes) == ("text/html", notes)


@pytest.mark.parametrize(("more", "notes"), [(0, ()), (1, ("cut",))])
def test_a_document_is_cut_behind_64_mib(more: int, notes: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("corpus.records.MAX_PDF", MAX_BODY + 2)  # 64 MiB would take the test long
    body = b"%PDF-1.7".ljust(MAX_BODY + 2 + more, b"a")
    [found] = records(("resource", {"WARC-Target-URI": URL, "Content-Type": "application/pdf"}, body))
    capture = capture_of(found, pdf=True)
    assert isinstance(capture, Capture)
    assert (capture.body, capture.notes) == (body, notes)


@pytest.mark.parametrize(("unended", "placed"), [(0, True), (16, True), (17, False)])
def test_links_of_a_page_are_placed_in_spite_of_some_tags_without_an_end(unended: int, placed: bool) -> None:
    body = b"<p>funda <a href=/1>izindaba</a></p>" + b"<a " * unended
    page = read_page(body, URL)
    places = place_links(body, None, page)
    assert (places is not None) == placed
    assert not places or places[0][0].url == "https://a.example/1"


def test_links_beyond_those_that_there_are_marks_for_spoil_no_others() -> None:
    body = b"<a href=/1>y " * 70_000
    page = read_page(body, URL)
    places = place_links(body, None, page)
    assert places is not None
    assert sum(map(len, places)) == MAX_LINKS


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("a" * 255, "A" + "a" * 254),
        ("a" * 256, ""),
        ("é" * 127 + "a", "É" + "é" * 126 + "a"),
        ("é" * 128, ""),
    ],
)
def test_a_title_has_255_bytes_at_most(text: str, title: str) -> None:
    assert title_of(text, "zu") == title


@pytest.mark.parametrize(
    ("anchor", "title", "like"),
    [
        ("abcde", "abcdf", True),
        ("abcd", "abce", False),
        ("abcd", "abcdef", True),
        ("abcd", "abcdefg", False),
        ("", "a", False),
    ],
)
def test_four_fifths_of_the_letters_make_an_anchor_like_a_title(anchor: str, title: str, like: bool) -> None:
    assert alike(anchor, title) == alike(title, anchor) == like


@pytest.mark.parametrize(("text", "language"), [("read more of the news", "eng"), ("read more of the", "und")])
def test_a_paragraph_is_judged_by_itself_from_five_words_on(text: str, language: str) -> None:
    assert paragraph_languages([text]) == [language]


def test_nothing_is_glued_to_the_beginning_of_a_sentence() -> None:
    rows = ["<doc>", "<p>", "<s>", "<g/>", "a", "<g/>", "b", "</s>", "<s>", "<g/>", "c", "</s>", "</p>", "</doc>"]
    [document] = read_vertical(rows)
    assert document.text == "ab c"
    assert [token.glued for sentence in document.paragraphs[0].sentences for token in sentence] == [False, True, False]


@pytest.mark.parametrize("size", [99, 100, 101, 1 << 22])
def test_of_a_line_that_is_too_long_no_more_is_kept_than_tells_so(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MAX_LINE", 100)
    faults: list[FormatError] = []
    file = io.BytesIO(b"a\n" + b"b" * size + b"\nc")
    found = [line for _, batch in line_batches("x", file, faults.append) for line in batch]
    assert (found[0], found[2:], faults) == (b"a", [b"c"], [])
    assert len(found[1]) == size if size <= 101 else 100 < len(found[1]) < 1000


def test_of_a_line_without_end_not_all_is_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MAX_LINE", 1 << 20)
    [(_, [line])] = line_batches("x", io.BytesIO(b"b" * (32 << 20)), lambda _: None)
    assert 1 << 20 < len(line) <= (2 << 20) + 1


@pytest.mark.parametrize("count", [2048, 2049, 4096, 5000])
def test_a_table_of_keys_has_room_for_those_that_are_sought(count: int) -> None:
    table = KeyTable()
    table.add(np.arange(1, count + 1, dtype=np.uint64))
    assert 2 * len(table) <= len(table._slots)
    assert not table.contains(np.arange(count + 1, 3 * count, dtype=np.uint64)).any()


@pytest.mark.parametrize(("between", "held"), [(0, True), (2, True), (3, False)])
def test_a_document_waits_for_what_is_told_behind_three_records(between: int, held: bool) -> None:
    told = {"WARC-Concurrent-To": "<urn:x>"}
    every = records(
        ("response", {"WARC-Record-ID": "<urn:x>"}, b""),
        *[("request", told, b"")] * between,
        ("metadata", told, b"feed-published: 2024-05-31\r\n"),
    )
    page = Document("x", URL, date="2024-06-01T00:00:00Z", paragraphs=(Paragraph(FULL),))
    found = list(with_what_is_told([(one, Read(page if one is every[0] else None)) for one in every]))
    assert [one for one, _ in found] == every
    assert found[0][1].document is not None
    assert (found[0][1].document.published == "2024-05-31") == held


class _Dying:
    """A process in place of a real one: dies of records that say so."""

    def __init__(self) -> None:
        self._given: list[list[Record]] = []

    def give(self, batch: list[Record]) -> None:
        self._given.append(batch)

    def take(self) -> list[Read]:
        batch = self._given.pop(0) if self._given else None
        if batch is None or any(one.url.endswith("/dies") for one in batch):
            raise ChildDied
        return [Read(reason="status") for _ in batch]

    def close(self) -> None:
        self._given.clear()


@pytest.mark.parametrize(
    ("last", "ends"),
    [
        ([True] * (_MOST_DEATHS - 1), False),
        ([True] * _MOST_DEATHS, True),
        ([True, True, False] * 3, False),
    ],
)
def test_only_deaths_without_a_record_between_them_end_a_run(
    last: list[bool], ends: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("corpus.parallel._BATCH_BYTES", 1)  # a record each
    fields = [{"WARC-Target-URI": f"https://a.example/{'dies' if dies else 'lives'}"} for dies in last]
    every = records(*(("resource", one, b"x") for one in fields))
    readers: Any = Readers(lambda _: Read(), 2)
    monkeypatch.setattr(Readers, "_begun", lambda _: _Dying())

    def read() -> Iterator[str]:
        return (found.reason for _, found in readers.read(every))

    if ends:
        with pytest.raises(CorpusError, match="have died one after another"):
            list(read())
    else:
        assert list(read()) == ["failed" if dies else "status" for dies in last]


def test_deaths_in_files_of_one_record_do_not_end_a_run_of_many(monkeypatch: pytest.MonkeyPatch) -> None:
    readers: Any = Readers(lambda _: Read(), 2)
    monkeypatch.setattr(Readers, "_begun", lambda _: _Dying())
    for name in ("dies", "lives") * (2 * _MOST_DEATHS):
        [(_, found)] = readers.read(records(("resource", {"WARC-Target-URI": f"https://a.example/{name}"}, b"x")))
        assert found.reason == ("failed" if name == "dies" else "status")


class _Echo:
    """A process in place of a real one that tags."""

    def __init__(self, _: Any) -> None:
        self._given: list[list[str]] = []
        self.give = self._given.append
        self.close = self._given.clear

    def take(self) -> list[str]:
        return self._given.pop(0)


@pytest.mark.parametrize("processes", [2, 3])
def test_few_documents_are_on_their_way_to_be_tagged(processes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("corpus.tagging.processes.Child", _Echo)
    read = 0

    def documents() -> Iterator[list[str]]:
        nonlocal read
        for read in range(1, 100):
            yield [str(read)]

    tagger: Any = type("Tagger", (), {"models": {}, "columns": ()})
    found: Iterator[Any] = tagged(documents(), tagger, processes)
    ahead = []
    for number, rows in enumerate(found, 1):
        assert rows == [str(number)]
        ahead.append(read - number)
    assert number == 99
    assert max(ahead) == AHEAD * processes
