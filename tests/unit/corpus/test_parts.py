"""Duplicates, languages of paragraphs, main text, places of links, inputs and outputs, statistics."""

import errno
import fcntl
import gzip
import io
import json
import os
import stat
import subprocess
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archive.storage.unpack import Chunk, Unit
from corpus import sources
from corpus.anchors import place_links
from corpus.cli import main
from corpus.commands.common import expect_vertical
from corpus.document import Document, Paragraph, from_json, host_of, main_language, to_json
from corpus.duplicates.hashes import HashSet, text_hash
from corpus.duplicates.paragraphs import Deduplicator
from corpus.errors import FormatError, UsageFault
from corpus.extraction import Choice, Extraction
from corpus.forms import form_of
from corpus.inputs import expand, unpacked
from corpus.languages import paragraph_languages
from corpus.outputs import check_target, open_output
from corpus.report import Report, log_lines
from corpus.selection import main_blocks, without_markup
from corpus.statistics import Row, Statistics, month_of, shortened
from corpus.wikilinks.tables import _rows
from relevance import Block, read_page
from tests.integration.corpus.warcs import ENGLISH

LONG = "Lesi yisigaba eside esinamagama anele ukuba sibhekwe sodwa, singesinye sezindaba."
OTHER = "Nasi esinye isigaba eside esinamagama ahlukile, esibhekwa ngokwehlukile kwesokuqala."


def document(*texts: str, url: str = "https://a.example/", date: str = "2024-03-01T00:00:00Z") -> Document:
    return Document("id", url, "", date, "zul", tuple(Paragraph(text, "main", "zul") for text in texts))


# -- hashes and duplicates


@given(st.lists(st.integers(1, 40), max_size=200))
def test_hash_set_is_a_set(values: list[int]) -> None:
    ours, oracle = HashSet(0), set[int]()
    for value in values:
        assert (value in ours) == (value in oracle)
        assert ours.add(value) == (value not in oracle)
        oracle.add(value)


def test_hash_set_grows_and_forgets_the_oldest() -> None:
    hashes = HashSet(0)
    values = [text_hash(str(number)) for number in range(4 * hashes.capacity)]
    for place, value in enumerate(values):
        assert hashes.add(value)
        recent = values[max(0, place - hashes.capacity // 2)]
        assert recent in hashes
    assert hashes.forgotten
    assert values[0] not in hashes
    assert all(value in hashes for value in values[-hashes.capacity :])
    assert not any(hashes.add(value) for value in values[-hashes.capacity :])


def test_hash_set_of_an_enough_size_forgets_nothing() -> None:
    hashes = HashSet(1 << 20)
    values = [text_hash(str(number)) for number in range(40_000)]
    assert all(hashes.add(value) for value in values)
    assert not any(hashes.add(value) for value in values)
    assert not hashes.forgotten


def test_the_same_text_is_a_duplicate_whatever_its_url() -> None:
    dedup = Deduplicator()
    assert dedup(document(LONG)).document is not None
    assert dedup(document(LONG, url="https://b.example/")).document is None


def test_short_paragraphs_share_the_lot_of_the_long_one_after_them() -> None:
    dedup = Deduplicator()
    dedup(document("Isihloko", LONG, "Umbhali"))
    found = dedup(document("Isihloko", LONG, "Isihloko", OTHER, "Umbhali")).document
    assert found is not None
    assert [paragraph.text for paragraph in found.paragraphs] == ["Isihloko", OTHER, "Umbhali"]
    found = dedup(document("Isihloko sesithathu", OTHER + " Futhi.", LONG, "Okulandelayo")).document
    assert found is not None
    assert [paragraph.text for paragraph in found.paragraphs] == ["Isihloko sesithathu", OTHER + " Futhi."]


def test_a_document_of_short_paragraphs_is_judged_as_a_whole() -> None:
    dedup = Deduplicator()
    assert dedup(document("Yebo", "Cha")).document is not None
    assert dedup(document("Yebo", "Hhayi")).document is not None
    assert dedup(document("Yebo", "Cha")).document is None


def test_a_document_without_anything_new_is_a_duplicate() -> None:
    dedup = Deduplicator()
    dedup(document(LONG))
    dedup(document(OTHER))
    assert dedup(document(OTHER, LONG, "Umbhali")).document is None


def test_what_may_have_stayed_of_duplicates_is_told() -> None:
    """Of documents of short paragraphs only, half as many are remembered as of paragraphs."""
    said = io.StringIO()
    extraction = Extraction(Choice(dedup_bytes=1 << 20), Report(stream=said))
    first = extraction.keep(document("0"))
    last = 2 * (1 + (1 << 14) * 2 // 3)
    assert [extraction.keep(document(str(number))) is None for number in range(1, last)].count(True) == 0
    assert not list(extraction.documents([]))
    assert said.getvalue() == ""
    extraction.keep(document(str(last)))
    assert extraction.keep(document("0")) == first
    assert not list(extraction.documents([]))
    assert said.getvalue() == (
        "-WARN the memory for duplicates was full, the oldest were forgotten: documents that are the same and more "
        "than 10,922 apart, and paragraphs more than 21,845 apart, may have stayed\n"
    )


def test_a_document_has_the_language_of_what_is_left_of_it() -> None:
    dedup = Deduplicator()
    dedup(document(LONG))
    rest = Paragraph("The president said that our people must work together.", "main", "eng")
    both = Document("id", "https://b.example/", language="zul", paragraphs=(*document(LONG).paragraphs, rest))
    found = dedup(both).document
    assert found is not None
    assert (found.language, found.paragraphs) == ("eng", (rest,))


@given(st.text(alphabet="a \x1c\t\xa0\u2028\x85\u200b"))
def test_words_of_long_paragraphs_are_counted_alike(text: str) -> None:
    words = Paragraph(text).words
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("corpus.document._MANY_LETTERS", 0)
        assert Paragraph(text).words == words == len(text.split())


# -- languages


def test_short_paragraphs_take_the_language_of_their_neighbours() -> None:
    zulu = "Umongameli wezwe uthe abantu bakithi kufanele basebenze ndawonye ukuze kuphele ububha"
    english = "The president of the country said that our people must work together to end poverty"
    assert paragraph_languages(["Izindaba", zulu, "Bheka", zulu]) == ["zul"] * 4
    assert paragraph_languages([zulu, "Bheka", english, "See"]) == ["zul", "und", "eng", "eng"]
    assert paragraph_languages(["Bheka"]) == ["und"]
    assert paragraph_languages([]) == []


def test_of_five_words_a_paragraph_is_judged_by_itself() -> None:
    judged = Mock(side_effect=lambda texts: [Mock(language="eng") for _ in texts])
    assert paragraph_languages(["a b c d", "a b c d e"], judged) == ["eng", "eng"]
    judged.assert_called_once_with(["a b c d e"])


def test_a_document_of_just_the_fewest_words_is_kept() -> None:
    assert Extraction(Choice(min_words=2)).keep(document("a b")) is not None
    assert Extraction(Choice(min_words=3)).keep(document("a b")) is None


def test_the_main_language_is_that_of_most_words() -> None:
    assert main_language((Paragraph("a b c", "main", "zul"), Paragraph("a", "main", "eng"))) == "zul"
    assert main_language((Paragraph("a b c", "main", "und"), Paragraph("a", "main", "eng"))) == "eng"
    assert main_language((Paragraph("a b c", "main", "xho"), Paragraph("a", "main", "zul"))) == "xho"
    assert main_language((Paragraph("a b c"),)) == "und"
    assert main_language(()) == "und"


# -- main text


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        ("main short main", [0, 1, 2]),
        ("short main list", [1]),
        ("heading main", [0, 1]),
        ("heading short short main", [0, 3]),
        ("main heading short short short main", [0, 1, 2, 3, 4, 5]),
        ("heading short short short main", [4]),
        ("main heading links", [0]),
        ("heading links", []),
        ("main short links short main", [0, 4]),
        ("main short nav short main", [0, 4]),
        ("main list list main", [0, 1, 2, 3]),
        ("nav nav", []),
        ("", []),
    ],
)
def test_main_blocks(kinds: str, expected: list[int]) -> None:
    assert main_blocks([Block("x", kind) for kind in kinds.split()]) == expected


@pytest.mark.parametrize(("between", "kept"), [(0, 0), (1, 1), (3, 3), (4, 0), (5, 0)])
def test_of_lines_without_markup_up_to_three_short_ones_are_text(between: int, kept: int) -> None:
    full = ENGLISH[0]
    lines = ["Ekhaya", full, *["Ezemidlalo"] * between, full, "Xhumana"]
    blocks = without_markup(lines)
    assert [blocks[place].text for place in main_blocks(blocks)] == [full, *["Ezemidlalo"] * kept, full]


def test_what_stands_apart_is_main_text_only_where_it_is_long() -> None:
    comment = Block(LONG, "main", apart=True)
    blocks = [Block("x", "main"), Block("Comments", "heading", True), comment, Block("ok", "short", True), comment]
    assert main_blocks(blocks) == [0]
    assert main_blocks(blocks, whole=True) == [0, 1, 2, 3, 4]
    assert main_blocks([*blocks, Block(LONG * 9, "main", apart=True)]) == [0, 5]
    assert main_blocks([Block(LONG * 9, "heading", apart=True), *blocks]) == [1]
    assert [main_blocks([Block("a" * letters, "main", apart=True)]) for letters in (699, 700)] == [[], [0]]


def test_what_stands_apart_parts_no_title_from_its_text_and_no_list_from_what_is_before_it() -> None:
    apart = [Block("x", kind, apart=True) for kind in ("short", "links", "list", "main")]
    title, text, entry, menu = (Block("x", kind) for kind in ("heading", "main", "list", "links"))
    assert main_blocks([title, *apart, text, *apart, entry, *apart, text, *apart, entry, menu]) == [0, 5, 10, 15]


# -- links


def placed(html: str, url: str = "https://a.example/dir/") -> list[tuple[str, str]]:
    body = html.encode()
    page = read_page(body, url)
    places = place_links(body, None, page)
    assert places is not None
    return [
        (block.text[link.start : link.end], link.url)
        for block, links in zip(page.blocks, places, strict=True)
        for link in links
    ]


def test_links_are_placed_by_mark_and_not_by_their_words() -> None:
    html = (
        "<p>The house is red. See <a href='/x'> house </a>, <a href=y>here</a> and here.</p><p><a href='y'>here</a></p>"
    )
    page = read_page(html.encode(), "https://a.example/dir/")
    places = place_links(html.encode(), None, page)
    assert places is not None
    assert page.blocks[0].text.index("house", 10) == places[0][0].start
    assert placed(html) == [
        ("house", "https://a.example/x"),
        ("here", "https://a.example/dir/y"),
        ("here", "https://a.example/dir/y"),
    ]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<base href='https://b.example/'><p>a <a href='c d\"e'>f</a>", [("f", "https://b.example/c%20d%22e")]),
        ("<p><a href='mailto:x@y'>m</a> <a href='javascript:void(0)'>j</a> <a>n</a> <a name=x>o</a>", []),
        ("<p><a href=/i><img src=x></a> <a title='a>b' href=/t>yebo</a>", [("yebo", "https://a.example/t")]),
        ("<p><a href=/u>open <b>and</b> shut", [("open and shut", "https://a.example/u")]),
        ("<!-- <a href=/c>x</a> --><script>'<a href=/s>'</script><p><a href=/r>r</a>", [("r", "https://a.example/r")]),
        ("<p>x <a href='http://[bad'>bad</a>", []),
        ("<p>x <a href=/1>one <a href=/2>two</a>", [("one", "https://a.example/1"), ("two", "https://a.example/2")]),
        ("<p>x <a href=/c><div><h3>Head</h3>y</div></a><p>z", [("Head", "https://a.example/c")]),
        ("<p>x <a href=/i><img src=x></a><p>y <a href=/j></a><p>z", []),
        ("<p>x <a title=it's href=/o>o</a/> it's", [("o", "https://a.example/o")]),
        ("<p>x <a href='/d''>d</a b> it's", [("d", "https://a.example/d")]),
        ("<p>x <a href='/&eacute;?a=1&amp;b=2'>e</a>", [("e", "https://a.example/%C3%A9?a=1&b=2")]),
    ],
)  # fmt: skip
def test_which_links_are_placed(html: str, expected: list[tuple[str, str]]) -> None:
    assert placed(html) == expected


def test_links_that_cannot_be_placed_are_not() -> None:
    body = "<p>\U000f0001 <a href=/x>y</a>".encode()
    assert place_links(body, None, read_page(body, "https://a.example/")) is None


def test_links_of_xhtml_have_their_places() -> None:
    body, kind = f"<html><title/><body><p><a href='/x'>y</a> {LONG}</p></body></html>".encode(), "application/xhtml+xml"
    places = place_links(body, kind, read_page(body, "https://a.example/", kind))
    assert places is not None
    assert [link.url for link in places[0]] == ["https://a.example/x"]


@pytest.mark.parametrize(("unended", "placed"), [(16, True), (17, False)])
def test_of_tags_without_an_end_a_page_may_have_a_few(unended: int, placed: bool) -> None:
    body = f"<p><a href=/x>y</a> {LONG}</p>{'<a ' * unended}".encode()
    assert (place_links(body, None, read_page(body, "https://a.example/")) is not None) == placed


# -- documents as JSON


@given(st.lists(st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"])), max_size=4))
def test_json_round_trip(texts: list[str]) -> None:
    made = document(*texts)
    line = to_json(made)
    assert "\n" not in line
    assert from_json(line) == made


def test_a_document_of_one_paragraph_without_text_comes_back() -> None:
    made = Document("1", "https://a.example/", paragraphs=(Paragraph(""),))
    assert from_json(to_json(made)) == made


def test_json_of_other_tools_and_of_later_ones() -> None:
    found = from_json('{"text": "a b\\nc", "language": "zul", "score": 3}')
    assert [paragraph.language for paragraph in found.paragraphs] == ["zul", "zul"]
    assert json.loads(to_json(found))["score"] == 3
    [silent] = from_json('{"text": "a", "paragraphs": [{"language": null, "kind": null}]}').paragraphs
    assert silent == Paragraph("a", "main", "und")
    numbered = from_json('{"text": "a", "id": 0, "title": null, "truncated": false}')
    assert (numbered.id, numbered.title, numbered.truncated) == ("0", "", "")
    for bad in ("[]", "{}", '{"text": 1}', '{"text": "a", "paragraphs": []}', "x"):
        with pytest.raises(ValueError, match=r"."):
            from_json(bad)


def test_publication_in_json() -> None:
    made = replace(document("a"), published="2024-05-31", author='N "D"\nDube', site="S", licence="CC BY 4.0")
    assert from_json(to_json(made)) == made
    assert from_json(to_json(fed := replace(made, published_from="feed"))) == fed
    assert json.loads(to_json(document("a")))["author"] == ""
    assert "published_from" not in json.loads(to_json(made))
    # A key of another tool that is no text goes through as it is.
    others = {"text": "a", "author": ["N", "S"], "licence": None, "site": {"name": "S"}}
    found = from_json(json.dumps(others))
    assert (found.author, found.licence, found.site) == ("", "", "")
    assert others.items() <= json.loads(to_json(found)).items()


# -- files


@pytest.mark.parametrize("pattern", ["", "*.warc.xz"])
def test_an_archive_that_is_still_being_written_is_named_where_there_is_no_other(tmp_path: Path, pattern: str) -> None:
    with pytest.raises(UsageFault) as caught:
        expand([str(tmp_path / pattern)])
    assert ".open" not in str(caught.value)
    if not pattern:
        (tmp_path / "a.journal").touch()
        with pytest.raises(UsageFault, match=r"but a \.journal: the crawl writes what that has when it is stopped"):
            expand([str(tmp_path)])
    (tmp_path / "a.warc.xz.open").touch()
    with pytest.raises(UsageFault, match=r"still being written \(\.open\): stop the crawl, or name that file"):
        expand([str(tmp_path / pattern)])


@given(st.lists(st.sampled_from([b"a", b"aa", b"aaaa", b"aaaaaa", b"\n", b"a\na", b""]), max_size=12))
def test_a_line_is_whole_or_told_wherever_a_file_is_cut_for_reading(pieces: list[bytes]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources, "MAX_LINE", 4)
        patch.setattr(sources, "unpacked", lambda *_: (Chunk(piece, Unit(0, 0), 0) for piece in pieces))
        found = list(sources.lines("x", io.BytesIO(), lambda error: pytest.fail(str(error))))
    expected = b"".join(pieces).split(b"\n") if pieces else []
    assert [line if len(line) <= 4 else b"long" for line in found] == [
        line if len(line) <= 4 else b"long" for line in expected
    ]


def test_what_must_lack_no_line_refuses_one_that_is_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MAX_LINE", 4)
    path = tmp_path / "x"
    path.write_bytes(b"a\naaaa\naaaa")
    assert [line for _, line in sources.sound_lines(str(path))] == [b"a", b"aaaa", b"aaaa"]
    path.write_bytes(b"a\naaaaa\n")
    with pytest.raises(FormatError, match="x:2: a line of more than"):
        list(sources.sound_lines(str(path)))


class _Breaking(io.BytesIO):
    """A file on a disk that fails behind these bytes."""

    def read(self, size: int | None = -1, /) -> bytes:
        if data := super().read(size):
            return data
        raise OSError(errno.EIO, "Input/output error")


def test_damage_is_told_of_a_file_that_cannot_be_read_to_its_end() -> None:
    said = io.StringIO()
    extraction = Extraction(Choice(dedup_bytes=0), Report(stream=said))
    with pytest.raises(OSError, match="Input"):
        list(extraction.read("-", _Breaking(b"junk\n" + b"WARC/1.0\r\nContent-Length: 1\r\n\r\nx\r\n\r\n")))
    assert "-WARN damage: <stream>:0: no record begins with b'junk" in said.getvalue()
    assert extraction.tally.damages == 1


def test_a_line_of_vertical_text_that_is_too_long_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("corpus.sources.MAX_LINE", 200)
    path = tmp_path / "a.vert"
    path.write_text(f"<doc>\n<p>\n{'w' * 201}\nSawubona\n</p>\n</doc>\n", encoding="utf-8")
    assert main(["stats", str(path)]) == 1
    told = capsys.readouterr()
    assert f"{path}:3: a line of more than 64 MiB, cut off there" in told.err
    assert "\t1\t" in told.out, "the document is read all the same"
    assert main(["train-tagger", str(path), "-o", str(tmp_path / "m"), "-q"]) == 2
    assert f"{path}:3: a line of more than 64 MiB" in capsys.readouterr().err
    with pytest.raises(FormatError, match=r"a\.vert:3: a line of more than 64 MiB"):
        list(_rows(str(path)))


@pytest.mark.parametrize("coding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("words", [["stats"], ["dedup", "-o", "-"]], ids=["stats", "dedup"])
def test_json_lines_in_utf_16_are_told_as_what_they_are(
    words: list[str], coding: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "Sawubona mhlaba"}\n' * 3, encoding=coding)
    assert main([*words, str(path)]) == 1
    assert capsys.readouterr().err.count(f"{path}:1: UTF-16; only UTF-8 is read: iconv -f UTF-16") == 1


def test_expand(tmp_path: Path) -> None:
    for name in ("b.warc.gz", "a.warc.xz", "sub/c.warc", "x.cdxj", "d.warc.xz.open"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    names = [Path(name).name for name in expand([str(tmp_path)])]
    assert names == ["a.warc.xz", "b.warc.gz", "c.warc"]
    assert [Path(name).name for name in expand([str(tmp_path / "*.gz")])] == ["b.warc.gz"]
    (tmp_path / "list").write_text("# mine\nb.warc.gz\n\nsub\n", encoding="utf-8")
    assert [Path(name).name for name in expand([f"@{tmp_path / 'list'}", "-"])] == ["b.warc.gz", "c.warc", "-"]


def test_folders_that_links_lead_to_are_looked_into_once(tmp_path: Path) -> None:
    folder, disk = tmp_path / "in", tmp_path / "disk" / "2"
    for name in (folder / "m" / "a.warc", disk / "b.warc", disk / "deep" / "c.warc"):
        name.parent.mkdir(parents=True, exist_ok=True)
        name.touch()
    for link, target in (("a", "m"), ("disk", disk), ("twice", disk), ("m/back", folder)):
        (folder / link).symlink_to(target)
    (disk / "other").symlink_to(folder / "disk")
    found = [str(Path(name).relative_to(folder)) for name in expand([str(folder)])]
    assert found == ["disk/b.warc", "disk/deep/c.warc", "m/a.warc"]


def test_lists_of_odd_names(tmp_path: Path) -> None:
    folder = tmp_path / "[zulu]"
    folder.mkdir()
    names = [b"caf\xe9.warc", "a\u2028b.warc".encode(), b"x.warc"]
    for name in names:
        (folder / os.fsdecode(name)).touch()
    (folder / "list").write_bytes(b"\xef\xbb\xbf" + b"\r\n".join(names) + b"\r\nx*\r\n")
    found = [os.fsencode(Path(name).name) for name in expand([f"@{folder / 'list'}"])]
    assert found == [*names, b"x.warc"]


@pytest.mark.parametrize("name", ["none", "*.none", "@none", "empty", "@bad", "@lists", ""])
def test_names_that_mean_no_file(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "bad").write_bytes(b"\n#\n")
    (tmp_path / "lists").write_text("@lists", encoding="utf-8")
    with pytest.raises(UsageFault):
        expand([name])


def test_a_link_that_leads_nowhere_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    archive, out = tmp_path / "in", tmp_path / "out.jsonl"
    archive.mkdir()
    (archive / "a.warc").symlink_to("nowhere")
    (archive / "b.warc").write_bytes(b"WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n\r\n\r\n")
    out.touch()
    assert main(["extract", str(archive), "-o", str(out)]) == 1
    err = capsys.readouterr().err
    assert f"-ERR {archive / 'a.warc'}: cannot be read on: [Errno 2] No such file" in err
    assert "from 1 records of 2 files" in err
    assert main(["extract", str(archive), "-o", ""]) == 2
    assert "an empty name of a file to write" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        *(["dedup", "x.jsonl", "-o", "y.jsonl", option, ""] for option in ("--state", "--dropped")),
        ["select", "x.jsonl", "-o", "y.jsonl", "--ids", ""],
        ["stats", "x.jsonl", "--plot", ""],
        ["extract", "x.warc", "-o", "y.jsonl", "--model", ""],
        ["manatee", "x.vert", "-o", "y.vert", "--registry", ""],
        ["train-tagger", "x.txt", "-o", "y.udpipe", "--heldout", ""],
    ],
)
def test_an_empty_name_is_neither_the_folder_one_is_in_nor_nothing_asked_for(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As of a variable that is not set: without --ids all would be selected, the state would be any folder's."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.jsonl").write_text('{"id": "1", "url": "http://a.example/", "text": "a"}\n')
    assert main(words) == 2
    assert capsys.readouterr().err.endswith(f"argument {words[-2]}: an empty name\n")
    assert [path.name for path in tmp_path.iterdir()] == ["x.jsonl"]


def test_a_list_of_names_that_is_none_is_told_in_few_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.warc.gz").write_bytes(gzip.compress(b"WARC/1.0\r\n" * 9, mtime=0))
    assert main(["extract", f"@{tmp_path / 'a.warc.gz'}", "-o", str(tmp_path / "out.jsonl")]) == 2
    assert capsys.readouterr().err == f"corpus: {tmp_path / 'a.warc.gz'}: is no list of names, one a line\n"


def test_a_folder_that_cannot_be_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "closed").mkdir()
    (tmp_path / "x.warc").touch()
    scan = os.scandir

    def refuse(path: str) -> object:
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr("os.scandir", refuse)  # root may read everything
    with pytest.raises(UsageFault, match="closed: cannot look into"):
        expand([str(tmp_path)])


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz", ".zst"])
def test_outputs_are_compressed_by_suffix_and_read_by_their_first_bytes(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"out.jsonl{suffix}"
    with open_output(str(path)) as out:
        out.write(b"one\n" * 1000)
        assert not path.exists()
    magic = {".gz": b"\x1f\x8b", ".xz": b"\xfd7zXZ", ".zst": b"\x28\xb5\x2f\xfd"}.get(suffix, b"one")
    assert path.read_bytes().startswith(magic)
    renamed = path.rename(tmp_path / "no-suffix")
    with renamed.open("rb") as file:
        assert b"".join(chunk.data for chunk in unpacked(file, "x", [])) == b"one\n" * 1000
    assert [path.name for path in tmp_path.iterdir()] == ["no-suffix"]


def test_a_gz_file_says_neither_when_it_was_written_nor_how_it_was_called(tmp_path: Path) -> None:
    path = tmp_path / "x.gz"
    with open_output(str(path)) as file:
        file.write(b"a")
    assert path.read_bytes()[3:8] == bytes(5)


def test_a_failed_run_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "out.xz"
    path.write_bytes(b"old")
    with pytest.raises(KeyError), open_output(str(path)) as out:
        out.write(b"new" + dict[int, bytes]()[0])
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_what_a_killed_run_left_of_a_file_goes_with_the_next(tmp_path: Path) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    path = tmp_path / "[out].jsonl"
    left, locked = (
        tmp_path / f".[out].jsonl.{pid}.tmp" for pid in (gone.pid, gone.pid + (1 << 22))
    )  # no such processes
    others = [
        tmp_path / name for name in (f".[out].jsonl.{os.getppid()}.tmp", ".[out].jsonl.mine.tmp", ".out.jsonl.1.tmp")
    ]
    for one in (left, locked, *others):
        one.write_bytes(b"half")
    with locked.open("rb") as elsewhere:  # on another machine, which has other processes
        fcntl.flock(elsewhere, fcntl.LOCK_EX)
        with open_output(str(path)) as out:
            out.write(b"one\n")
            (hidden,) = tmp_path.glob(f".?out].jsonl.*.{os.getpid()}.tmp")
            with hidden.open("rb") as file, pytest.raises(BlockingIOError):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    assert sorted(tmp_path.iterdir()) == sorted([path, locked, *others])


def test_two_runs_of_one_number_write_one_file_each_by_itself(tmp_path: Path) -> None:
    """As in two containers, where both are process 1."""
    path = tmp_path / "out.txt"
    left = tmp_path / f".out.txt.{os.getpid()}.tmp"
    left.write_bytes(b"half")  # of one that was killed
    with open_output(str(path)) as long:
        long.write(b"first\n" * 9000)
        assert not left.exists()
        with open_output(str(path)) as short:
            short.write(b"second")
        assert path.read_bytes() == b"second"
        long.write(b"end")
    assert path.read_bytes() == b"first\n" * 9000 + b"end"
    assert list(tmp_path.iterdir()) == [path]


def test_links_stay_and_what_is_no_file_is_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "far").mkdir()
    link, pipe = tmp_path / "link.txt", tmp_path / "pipe"
    link.symlink_to("far/real.txt")
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    for target in (link, pipe):
        check_target(str(target))
        with open_output(str(target)) as out:
            out.write(b"new")
    assert os.read(reader, 9) == b"new"
    opened = ExitStack()
    opened.enter_context(open_output(str(pipe))).write(b"new")
    os.close(reader)
    with pytest.raises(BrokenPipeError) as broken:
        opened.close()
    assert broken.value.filename == str(pipe)
    monkeypatch.setattr("corpus.commands.extract.run", Mock(side_effect=broken.value))
    assert main(["extract", "x", "-o", str(pipe)]) == 2
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert link.is_symlink()
    assert (tmp_path / "far" / "real.txt").read_bytes() == b"new"


def test_a_run_without_memory_is_not_taken_for_one_with_an_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text('{"text": "Sawubona"}\n', encoding="utf-8")
    monkeypatch.setattr("corpus.duplicates.kept.KeyTable.contains", Mock(side_effect=MemoryError))
    assert main(["dedup", str(source), "-o", str(out)]) == 2
    assert "corpus: out of memory; no file was written" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [source]


def test_targets_are_checked_before_the_work(tmp_path: Path) -> None:
    check_target("-")
    check_target(str(tmp_path / "new"))
    for bad in (tmp_path, tmp_path / "no" / "file"):
        with pytest.raises(UsageFault):
            check_target(str(bad))
    for other in ("x.jsonl.bz2", "x.jsonl.XZ", "x.vert.zstd"):
        with pytest.raises(UsageFault, match=r"\.xz, \.gz, \.zst can"):
            check_target(str(tmp_path / other))
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    check_target(str(loop))


def test_form_by_name() -> None:
    names = ["a.jsonl", "a.vert.xz", "a.txt.gz", "a", "-", "a.jsonl.zst"]
    assert [form_of(name) for name in names] == ["jsonl", "vertical", "text", "jsonl", "jsonl", "jsonl"]


@pytest.mark.parametrize("command", ["extract", "links"])
def test_a_name_that_promises_another_form_is_refused(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "begun.warc"
    source.write_bytes(b"WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n\r\n\r\n")
    for name in ("zulu.csv", "zulu.CSV.xz", "zulu.html"):
        assert main([command, str(source), "-o", str(tmp_path / name), "-q"]) == 2
        assert "is not written; only .json" in capsys.readouterr().err
        assert not (tmp_path / name).exists()
    assert main([command, str(source), "-o", str(tmp_path / "zulu.csv"), "-q", "--format", "jsonl"]) == 0
    for name in ("zulu", "zulu.2024", "ZULU.TXT", "zulu.jsonl.gz"):
        assert main([command, str(source), "-o", str(tmp_path / name), "-q"]) == 0
    assert [form_of(name) for name in ("A.TXT", "a.Vert.xz")] == ["text", "vertical"]


def test_rows_are_written_to_no_name_of_another_form_nor_over_themselves(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "a.tsv"
    table.write_text("a\tb\n", encoding="utf-8")
    for name in ("b.jsonl", "b.vert.xz", "b.csv", "b.warc"):
        assert main(["dedup", str(table), "--columns", "1", "-o", str(tmp_path / name)]) == 2
        assert "is not written; only .text, .tsv, .txt" in capsys.readouterr().err
    for name in ("c.tsv.xz", "c.txt", "c"):
        assert main(["dedup", str(table), "--columns", "1", "-o", str(tmp_path / name)]) == 0
    with table.open() as stdin, pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", stdin)
        assert main(["dedup", "-", "--columns", "1", "-o", str(table)]) == 2
    assert f"{table}: is one of the files to read" in capsys.readouterr().err


def test_a_name_that_promises_what_was_not_read_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows, tokens = tmp_path / "a.jsonl", tmp_path / "a.vert"
    rows.write_text('{"text": "Sawubona mhlaba"}\n', encoding="utf-8")
    tokens.write_text("<doc>\n<p>\nSawubona\n</p>\n</doc>\n", encoding="utf-8")
    for source, name, said in (
        (tokens, "b.jsonl.xz", "a.vert: vertical, but the output is named as jsonl"),
        (rows, "b.vert", "a.jsonl: jsonl, but the output is named as vertical"),
        (rows, "b.csv", "b.csv: .csv is not written; only .json, .jsonl, .prevert, .vert"),
    ):
        assert main(["dedup", str(source), "-o", str(tmp_path / name)]) == 2
        assert said in capsys.readouterr().err
    for command in (["tag", "--model", "none.udpipe"], ["manatee"]):
        assert main([*command, str(tokens), "-o", str(tmp_path / "b.txt")]) == 2
        assert "b.txt: .txt is not written; only .vert" in capsys.readouterr().err
    for name, said in (("b.csv", ".csv is not written; only .png"), ("b.png.xz", "a picture is packed already")):
        assert main(["stats", str(rows), "--plot", str(tmp_path / name)]) == 2
        assert said in capsys.readouterr().err
    assert sorted(tmp_path.iterdir()) == [rows, tokens]
    for source, name in ((tokens, "b.prevert.gz"), (tokens, "b.out"), (rows, "b.json"), (rows, "b.2024")):
        assert main(["dedup", str(source), "-o", str(tmp_path / name)]) == 0


@pytest.mark.parametrize("command", [["tag", "--model", "none.udpipe"], ["manatee"]])
def test_json_lines_are_no_vertical_text(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "zulu.jsonl"
    source.write_text('{"id": "1"}\n', encoding="utf-8")
    assert main([*command, str(source), "-o", str(tmp_path / "out.vert")]) == 2
    assert "zulu.jsonl: JSON lines, no vertical text" in capsys.readouterr().err
    expect_vertical([str(tmp_path / "named.vert"), "-", str(tmp_path / "missing")])


# -- report and statistics


def test_log_lines() -> None:
    assert log_lines("ok", "a\nb") == ["+OK a b"]
    assert log_lines("warn", "a", ["x", "+OK y"]) == ["-WARN a", "-WARN_STAR", "x", " +OK y", "-WARN_END"]


def test_a_report_that_nobody_reads_stops_nothing() -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    with io.TextIOWrapper(io.FileIO(write_end, "w"), write_through=True) as stream:
        report = Report(stream=stream)
        report.warn("one")
        report.warn("two")


def test_no_line_of_a_report_steers_a_terminal() -> None:
    stream = io.StringIO()
    Report(stream=stream).line("a\tb\x1b[2J\rc\ud800\x85")
    assert stream.getvalue() == "a\tb\ufffd[2J\ufffdc\ufffd\ufffd\n"


def test_a_quiet_report_still_warns() -> None:
    stream = io.StringIO()
    report = Report(quiet=True, stream=stream)
    report.ok("yes")
    report.warn("[red]no\udcff")
    assert stream.getvalue() == "-WARN [red]no\ufffd\n"


def test_statistics() -> None:
    statistics = Statistics()
    statistics.add(document("a b", "c", url="https://A.example:8080/x"))
    two = (Paragraph("x y z é", "main", "eng"), Paragraph("u", "main", "zul"))
    statistics.add(Document("", "https://b.example/", "", "20240402000000", "eng", two))
    assert statistics.total == Row(2, 8, 4 + 8 + 1)
    assert statistics.ranked("language") == [("eng", Row(1, 4, 8)), ("zul", Row(1, 4, 5))]
    assert statistics.ranked("host") == [("b.example", Row(1, 5, 9)), ("a.example", Row(1, 3, 4))]
    assert statistics.ranked("month") == [("2024-03", Row(1, 3, 4)), ("2024-04", Row(1, 5, 9))]
    assert list(shortened(statistics.ranked("host"), 2)) == statistics.ranked("host")
    assert list(shortened(statistics.ranked("host"), 1)) == [("b.example", Row(1, 5, 9)), ("1 others", Row(1, 3, 4))]


def test_dates_and_hosts_that_are_none() -> None:
    none = ("", "2024", "2024-13-01", "2024031", "20241301000000", "yesterday")
    assert {month_of(date) for date in none} == {"-"}
    assert month_of("20240315") == "2024-03"
    assert [host_of(url) for url in ("", "urn:x", "http://[bad")] == [""] * 3
