"""PDF documents read back: paragraphs as they were set."""

from __future__ import annotations

import random
import re
import zlib
from collections import Counter
from collections.abc import Callable

import pytest

from relevance.pages.blocks import Block
from relevance.pdf.layout import blocks_of
from relevance.pdf.sheets import Line, NotReadError, Sheet, read_paper
from tests.web.pdf import Piece, Style, document
from tests.web.text import pool

STYLES = {
    "report": Style(head="Umbiko wonyaka"),
    "justified": Style(justified=True),
    "newspaper": Style(columns=2, size=9, justified=True, broken=True, apart=4, head="Iphephandaba likaHulumeni"),
    "indented": Style(columns=2, size=9, justified=True, indent=12, apart=4),
    "narrow": Style(columns=3, size=8, broken=True, indent=8),
    "tight": Style(apart=2.5),
}
WIDE = "Umongameli wezwe uthe abantu bakithi kufanele basebenze ndawonye"


def pieces(seed: int) -> list[Piece]:
    """Sections of isiZulu with headings, and some lists."""
    stock, rng = pool("zul", 3), random.Random(seed)
    found: list[Piece] = []
    for section in range(6):
        found.append(Piece(rng.choice(stock.anchors), "h"))
        found += [Piece(" ".join(rng.sample(stock.sentences, rng.randint(1, 6)))) for _ in range(rng.randint(2, 5))]
        if section % 3 == 1:
            found += [Piece(rng.choice(stock.anchors), "li") for _ in range(4)]
    return found


def line(text: str, left: float = 60, base: float = 700, *, right: float = 0, height: float = 12, **more: bool) -> Line:
    """Of letters that are half as wide as high."""
    return Line(text, left, right or left + 6.0 * len(text), base, height, 6.0 * len(text.split()[0]), **more)


def texts(*lines: Line) -> list[str]:
    return [block.text for block in blocks_of([Sheet(lines, 0, 842)])]


@pytest.mark.parametrize("name", STYLES)
def test_paragraphs_come_back_as_they_were_set(name: str) -> None:
    set_, exact, words = 0, 0, Counter[str]()
    for seed in range(4):
        wanted = pieces(seed)
        blocks = blocks_of(read_paper(document(wanted, STYLES[name])).sheets)
        found = Counter(block.text.removeprefix("\u2022 ") for block in blocks if block.kind != "nav")
        set_ += len(wanted)
        exact += (found & Counter(piece.text for piece in wanted)).total()
        words.update(word for piece in wanted for word in piece.text.split())
        words.subtract(word for text in found.elements() for word in text.split())
    # What ends with a column, and behind a sentence, may be taken for the beginning of what follows.
    assert exact >= 0.97 * set_
    # Each word is there, and no other; but for those that a printer's hyphen is part of.
    assert sum(map(abs, words.values())) <= 4


def test_headings_lists_and_running_heads_are_told_apart() -> None:
    wanted = [
        Piece("Isahluko sokuqala", "h"),
        Piece(f"{WIDE}. " * 9),
        Piece("Okokuqala", "li"),
        Piece("Okwesibili", "li"),
    ]
    blocks = blocks_of(read_paper(document(wanted * 8, Style(head="Umbiko"))).sheets)
    assert {block.kind for block in blocks if block.text == "Isahluko sokuqala"} == {"heading"}
    assert {block.kind for block in blocks if block.text.endswith("Okwesibili")} == {"list"}
    assert {block.kind for block in blocks if len(block.text) > 200} == {"main"}
    assert [block.text for block in blocks if block.kind == "nav"] == ["Umbiko", "1"]


def test_what_a_document_says_of_itself() -> None:
    paper = read_paper(document([Piece(WIDE)], title="Umbiko", language="zu", links=["https://a.example/(1)", "/b"]))
    assert (paper.title, paper.language, paper.links) == ("Umbiko", "zu", ["https://a.example/(1)", "/b"])
    assert read_paper(document([])).sheets == [Sheet((), 0, 842)]


def test_letters_beyond_the_first_65_536_are_letters() -> None:
    """PDFium gives them in halves, as UTF-16 has them. (Fulani in Adlam; a half without the other is none.)"""
    letters = b"3 beginbfchar <41> <D83ADD00> <42> <D83ADD01> <43> <D83A> endbfchar"
    ranges = b"begincmap 1 begincodespacerange <00> <FF> endcodespacerange " + letters + b" endcmap"
    body = document([Piece("ABBA CAB")]).replace(b"/Encoding /WinAnsiEncoding", b"/ToUnicode 99 0 R")
    head, _, rest = body.partition(b"1 0 obj")
    stream = b"99 0 obj\n<< /Length %d >>\nstream\n%s\nendstream\nendobj\n" % (len(ranges), ranges)
    paper = read_paper(head + stream + b"1 0 obj" + rest)
    assert [line.text for line in paper.sheets[0].lines] == [
        "\U0001e900\U0001e901\U0001e901\U0001e900 \U0001e900\U0001e901"
    ]


def test_of_a_document_without_end_the_beginning_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of one sheet or many, of long lines or short ones, each of which costs as much as a long one."""
    monkeypatch.setattr("relevance.pdf.sheets.MOST_LETTERS", 4000)
    for text, lines in (WIDE, 63), ("Yebo", 100):
        for style in Style(), Style(size=1, apart=0):
            sheets = read_paper(document([Piece(text)] * 300, style)).sheets
            assert lines - 2 <= sum(len(sheet.lines) for sheet in sheets) <= lines


def test_addresses_are_told_once_and_not_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relevance.pdf.sheets.MOST_LINKS", 3)
    links = ["https://a.example/", "https://a.example/", "/b", "/c", "/d"]
    assert read_paper(document([Piece(WIDE)], links=links)).links == ["https://a.example/", "/b", "/c"]


@pytest.mark.parametrize(("letters", "told"), [(4095, True), (4096, False)])
def test_an_address_that_is_too_long_is_none(letters: int, told: bool) -> None:
    links = ["https://a.example/".ljust(letters, "x"), "/b"]
    assert read_paper(document([Piece(WIDE)], links=links)).links == (links if told else ["/b"])


@pytest.mark.parametrize(("letters", "kind"), [(200, "heading"), (201, "main")])
def test_a_heading_has_so_many_letters_at_most(letters: int, kind: str) -> None:
    large = line("a" * letters, right=500, height=16)
    body = [line(WIDE, base=600 - 14 * n) for n in range(9)]
    assert blocks_of([Sheet((large, *body), 0, 842)])[0].kind == kind


@pytest.mark.parametrize(
    ("begun", "following", "joined"),
    [
        ("kwakukhona izi", "ndaba", "kwakukhona izindaba"),
        ("abe", "ANC", "abe-ANC"),
        ("angu", "60kW", "angu-60kW"),
        ("uyi", "inspector", "uyi-inspector"),
        ("upheka i", "albhamu", "upheka i-albhamu"),
    ],
)
def test_a_word_that_a_line_ends_in_is_one_word(begun: str, following: str, joined: str) -> None:
    below = line(following, base=686)
    assert texts(line(begun, broken=True), below) == [joined]
    assert texts(line(f"{begun}-"), below) == [joined]


def test_a_hyphen_between_figures_stays() -> None:
    assert texts(line(f"{WIDE} 1.92-"), line("1.97", base=686)) == [f"{WIDE} 1.92-1.97"]


def test_a_line_that_had_room_for_the_next_word_was_ended() -> None:
    last = line("ngoLwesithathu.", base=672)
    assert texts(line(WIDE), line(WIDE, base=686), last, line(WIDE, base=658)) == [
        f"{WIDE} {WIDE} ngoLwesithathu.",
        WIDE,
    ]


@pytest.mark.parametrize("height", [0.0, -12.0, 1e-30])
def test_letters_of_no_or_any_height_are_read(height: float) -> None:
    lines = [line(WIDE, base=700 - n, height=height) for n in range(3)]
    assert " ".join(texts(*lines)) == " ".join([WIDE] * 3)


def test_centred_lines_belong_together() -> None:
    middle = [line("Umongameli wezwe uthe", left=200, right=400), line("abantu bakithi", left=240, right=360, base=686)]
    assert texts(*middle) == ["Umongameli wezwe uthe abantu bakithi"]


def test_cells_of_a_row_stay_apart() -> None:
    assert texts(line("Igama", left=60), line("Isibongo", left=200)) == ["Igama", "Isibongo"]
    assert texts(line("Igama", left=60, right=90), line("Isibongo", left=96)) == ["Igama Isibongo"]


def test_the_number_of_a_footnote_ends_no_paragraph() -> None:
    begun, raised = line("Umongameli wezwe uthe", right=186), line("12", left=186, base=704, right=194, height=7)
    rest, below = line("abantu bakithi kufanele basebenze ndawonye", left=196, right=440), line(WIDE, base=686)
    assert texts(begun, raised, rest, below) == [
        f"Umongameli wezwe uthe12 abantu bakithi kufanele basebenze ndawonye {WIDE}"
    ]
    assert texts(line(WIDE), line("12", left=444, base=704, right=452, height=7)) == [f"{WIDE}12"]
    assert texts(line(WIDE), line("12", left=448, base=704, right=456, height=7)) == [f"{WIDE} 12"]


def test_a_letter_as_high_as_several_lines_is_the_first_of_the_text_beside_it() -> None:
    """Wherever among the lines it is drawn."""
    initial = line("U", base=672, right=90, height=44)
    beside = [line(WIDE[1:], left=94, base=700 - 14 * n, right=454) for n in range(3)]
    below = line(WIDE, base=658, right=454)
    for lines in (initial, *beside, below), (*beside, below, initial):
        assert texts(*lines) == [f"{WIDE} {WIDE[1:]} {WIDE[1:]} {WIDE}"]
    assert texts(line("U", base=720, height=44), line(WIDE, base=690)) == ["U", WIDE], "a heading above"


def test_a_letter_beside_a_higher_one_may_have_text_beside_it() -> None:
    high, low = line("N", base=600, right=90, height=100), line("g", left=92, base=620, right=120, height=40)
    beside = [line("eliny'ilanga", left=122, base=648 - 12 * n, right=300, height=10) for n in range(2)]
    for lines in (high, low, *beside), (low, *beside, high):
        assert texts(*lines) == ["Ngeliny'ilanga eliny'ilanga"]


@pytest.mark.parametrize("base", [820, 20], ids=["head", "foot"])
def test_what_runs_along_sheets_in_pieces_is_told_as_a_row(base: float) -> None:
    def sheet(number: int) -> Sheet:
        row = line("Umqulu wezindaba", base=base), line(f"No {number}", left=162, base=base)
        text = line(WIDE, base=600), line(WIDE, base=586)
        return Sheet((*row, *text) if base > 600 else (*text, *row), 0, 842)

    found = blocks_of([sheet(number) for number in range(3)])
    assert [block for block in found if block.kind == "nav"] == [Block("Umqulu wezindaba No 0", "nav")]
    assert all("Umqulu" not in block.text for block in found if block.kind != "nav")


@pytest.mark.parametrize(
    ("sheets", "with_head", "runs"), [(2, 2, 1), (3, 2, 0), (3, 3, 1), (9, 2, 0), (9, 3, 1), (1, 1, 0)]
)
def test_what_is_at_the_head_of_three_sheets_runs(sheets: int, with_head: int, runs: int) -> None:
    head, body = line("Umqulu wezindaba", base=820), line(WIDE, base=600)
    found = blocks_of([Sheet((head, body) if number < with_head else (body,), 0, 842) for number in range(sheets)])
    assert sum(block.kind == "nav" for block in found) == runs


def test_lines_that_hang_belong_to_the_first() -> None:
    """As the sections of acts and the entries of lists of books are set."""
    hangs = line(f"{WIDE} namhlanje"), line(WIDE, left=84, base=686, right=492), line("emakhaya.", left=84, base=672)
    assert texts(*hangs) == [f"{WIDE} namhlanje {WIDE} emakhaya."]


def test_lines_beside_a_picture_that_has_ended_go_on() -> None:
    narrow = [line(WIDE[:40], base=700 - 14 * n, right=302.2) for n in range(3)]
    wide = [line(WIDE, base=658 - 14 * n, right=500) for n in range(3)]
    assert texts(*narrow, *wide) == [" ".join((*[WIDE[:40]] * 3, *[WIDE] * 3))]


def test_cells_that_are_drawn_on_one_row_are_lines_of_their_own() -> None:
    """But words that a narrow column is filled with are none, however far apart."""

    def drawn(row: bytes) -> list[str]:
        changed = _changed(document([Piece(WIDE)]), lambda _: b"BT /F 11 Tf 1 0 0 1 60 700 Tm " + row + b" ET")
        return [line.text for line in read_paper(changed).sheets[0].lines]

    name, surname, home = b"(Igama lakho) Tj ", b"(Isibongo sakho) Tj ", b"(emakhaya) Tj "
    assert drawn(name + b"1 0 0 1 240 700 Tm " + surname) == ["Igama lakho", "Isibongo sakho"]
    assert drawn(name + b"1 0 0 1 124 700 Tm " + surname) == ["Igama lakho Isibongo sakho"]
    cells = name + b"1 0 0 1 200 700 Tm " + home + b"1 0 0 1 330 700 Tm " + surname
    assert drawn(cells) == ["Igama lakho", "emakhaya", "Isibongo sakho"]
    assert drawn(home + b"1 0 0 1 190 700 Tm " + home) == ["emakhaya emakhaya"]


def test_letters_of_a_heading_that_are_set_apart_are_words() -> None:
    words = b"-900".join(b"-350".join(b"(%c)" % letter for letter in word) for word in (b"ISAHLUKO", b"SESI", b"2"))
    apart = _changed(document([Piece(WIDE)]), lambda _: b"BT /F 11 Tf 60 700 Td [" + words + b"] TJ ET")
    assert [line.text for line in read_paper(apart).sheets[0].lines] == ["ISAHLUKO SESI 2"]
    few = _changed(document([Piece(WIDE)]), lambda _: b"BT /F 11 Tf 60 700 Td [(S)-350(E)-350(S)-350(I)] TJ ET")
    assert [line.text for line in read_paper(few).sheets[0].lines] == ["S E S I"], "that may be figures of a table"
    row = b"".join(b"1 0 0 1 %d 700 Tm (%d) Tj " % (60 + 40 * n, n) for n in range(7))
    table = _changed(document([Piece(WIDE)]), lambda _: b"BT /F 11 Tf " + row + b" ET")
    assert [line.text for line in read_paper(table).sheets[0].lines] == ["0 1 2 3 4 5 6"]


def test_a_paragraph_goes_on_in_the_next_column_and_sheet() -> None:
    first = [line(WIDE, base=80), line(WIDE, base=66)]
    then = [line("emakhaya nasemadolobheni.", left=400, base=700), line(WIDE, left=412, base=686)]
    column = [Sheet((*first, *then), 0, 842)]
    sheets = [Sheet(tuple(first), 0, 842), Sheet(tuple(then), 0, 842)]
    wanted = [f"{WIDE} {WIDE} emakhaya nasemadolobheni.", WIDE]
    assert [block.text for block in blocks_of(column)] == [block.text for block in blocks_of(sheets)] == wanted


def test_letters_of_another_size_begin_anew_and_small_ones_stand_apart() -> None:
    found = blocks_of(
        [Sheet((line(WIDE), line(WIDE, base=686), line("Isithombe: nguZondi", base=672, height=8)), 0, 842)]
    )
    assert found == [Block(f"{WIDE} {WIDE}", "main"), Block("Isithombe: nguZondi", "short", apart=True)]


def test_text_along_the_edge_of_a_sheet_is_read_in_its_direction() -> None:
    """A table set sideways: each letter turned by a quarter."""
    upright = document([Piece(WIDE), Piece(f"{WIDE} namhlanje")])
    sideways = _turned(upright)
    [sheet] = read_paper(sideways).sheets
    assert [block.text for block in blocks_of([sheet])] == [WIDE, f"{WIDE} namhlanje"]


def test_a_line_that_begins_with_raised_letters_stands_where_the_others_do() -> None:
    plain = document([Piece(f"12 {WIDE}")])
    raised = _changed(plain, lambda drawn: drawn.replace(b"(12 ", b"5 Ts (12) Tj 0 Ts ( "))
    [[of_plain], [of_raised]] = (read_paper(body).sheets[0].lines for body in (plain, raised))
    assert (of_raised.text, of_raised.base) == (of_plain.text, of_plain.base)


def _turned(body: bytes) -> bytes:
    """The document with its text from the foot to the head of the sheet."""
    places = re.compile(rb"1 0 0 1 (\S+) (\S+) Tm")
    return _changed(body, lambda drawn: places.sub(lambda m: b"0 1 -1 0 %g %s Tm" % (842 - float(m[2]), m[1]), drawn))


def _changed(body: bytes, change: Callable[[bytes], bytes]) -> bytes:
    """The document with its only sheet drawn otherwise; its table of objects no longer fits."""
    [stream] = re.findall(rb"stream\n(.*?)\nendstream", body, re.S)
    packed = zlib.compress(change(zlib.decompress(stream)))
    return re.sub(rb"/Length \d+", b"/Length %d" % len(packed), body).replace(stream, packed)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "damaged"),
        (b"%PDF-1.7\n", "damaged"),
        (b"<html>no document</html>", "damaged"),
        (document([Piece(WIDE)]).replace(b"/Info 4 0 R", b"/Encrypt << /Filter /Own >>"), "protected"),
    ],
)
def test_what_cannot_be_read_says_why(body: bytes, reason: str) -> None:
    with pytest.raises(NotReadError, match=reason):
        read_paper(body)
