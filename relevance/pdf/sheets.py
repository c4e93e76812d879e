"""A PDF document as sheets of lines: which letters stand where, and nothing yet of what belongs together.

By PDFium, the engine of Chromium, which reads damaged files, too, puts spaces where glyphs stand apart, and gives text
in the order in which the document draws it: as a rule that in which it is read, column by column. Called without
pypdfium2's helpers, since a letter must cost less than a microsecond. To be used in a process that may crash
(:mod:`relevance.pdf.child`).
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from statistics import median
from typing import Any

import pypdfium2.raw as pdfium

MOST_SHEETS = 5000
MOST_LETTERS = 4 << 20
"""Of a document; what follows is not read. A line counts for `_LEAST_LINE` at least, since it costs as much."""
MOST_LINKS = 3000
"""Different ones."""
_LEAST_LINE = 40
_MOST_BYTES = 4096  # of a title or an address
_CELL_GAP = 3.0  # between cells of a row, in heights of a letter,
_UNLIKE = 3.0  # and times the least gap of the row;
_LONE_GAP = 12.0  # where it is the only one: long words are set far apart, too, to fill a column
_LEAST_HEIGHT = 0.01
_LEAST_SPREAD = 5  # letters that are set apart,
_SPREAD = 1.5  # and times the gaps between them what is between words
_LINE_ENDS = (0x0A, 0x0D)
_BREAKS = (0x02, 0xFFFE)  # what PDFium has in place of a hyphen that breaks a word
_WHY = {pdfium.FPDF_ERR_PASSWORD: "password", pdfium.FPDF_ERR_SECURITY: "protected"}

Box = tuple[float, float, float, float]
"""left, right, bottom, top"""


class NotReadError(Exception):
    """A document that cannot be read; the message is the reason, a word."""


@dataclass(frozen=True, slots=True)
class Line:
    """Letters on one base line. Lengths in points from the lower left corner of the sheet, which is turned so that its
    text runs from left to right. `height`: from the lowest to the highest that letters of the font reach. `word`: how
    wide the first word is. `broken`: the last word goes on in the next line; its hyphen is not in `text`."""

    text: str
    left: float
    right: float
    base: float
    height: float
    word: float
    broken: bool = False


@dataclass(frozen=True, slots=True)
class Sheet:
    """Lines in the order in which they were drawn, and where the sheet ends below and above."""

    lines: tuple[Line, ...]
    bottom: float = 0.0
    top: float = 0.0


@dataclass(slots=True)
class Paper:
    """A document. `title` and `language` as it says them itself; `links`: addresses of its links into the web."""

    title: str = ""
    language: str = ""
    sheets: list[Sheet] = field(default_factory=list)
    links: list[str] = field(default_factory=list)


def read_paper(body: bytes) -> Paper:
    """NotReadError. A sheet that is damaged is left out."""
    pdfium.FPDF_InitLibrary()
    document = pdfium.FPDF_LoadMemDocument64(body, len(body), None)
    if not document:
        raise NotReadError(_WHY.get(pdfium.FPDF_GetLastError(), "damaged"))
    paper, links = Paper(_title(document), _language(document)), dict[str, None]()
    room = MOST_LETTERS
    for number in range(min(pdfium.FPDF_GetPageCount(document), MOST_SHEETS)):
        page = pdfium.FPDF_LoadPage(document, number)
        if not page:
            continue
        sheet, letters = _sheet(page, room)
        paper.sheets.append(sheet)
        _find_links(document, page, links)
        pdfium.FPDF_ClosePage(page)
        room -= letters
        if room <= 0:
            break
    pdfium.FPDF_CloseDocument(document)
    paper.links = list(links)
    return paper


def _title(document: Any) -> str:
    buffer = ctypes.create_string_buffer(_MOST_BYTES)
    size = pdfium.FPDF_GetMetaText(document, b"Title", buffer, _MOST_BYTES)
    return _utf16(buffer.raw) if size <= _MOST_BYTES else ""


def _language(document: Any) -> str:
    buffer = ctypes.create_string_buffer(_MOST_BYTES)
    units = ctypes.cast(buffer, ctypes.POINTER(pdfium.FPDF_WCHAR))
    size = pdfium.FPDFCatalog_GetLanguage(document, units, _MOST_BYTES)
    return _utf16(buffer.raw) if size <= _MOST_BYTES else ""


def _utf16(raw: bytes) -> str:
    return raw.decode("utf-16-le", "replace").partition("\0")[0].strip()


def _sheet(page: Any, room: int) -> tuple[Sheet, int]:
    """Of what is written in several directions, what most letters are; and how much of the `room` for letters it took:
    not much more than there is."""
    letters = pdfium.FPDFText_LoadPage(page)
    if not letters:
        return Sheet(()), 0
    found: list[list[Line]] = [[], [], [], []]
    taken = 0
    for line, turn in _lines(letters, room):
        found[turn].append(line)
        taken += max(_LEAST_LINE, len(line.text))
        if taken >= room:
            break
    pdfium.FPDFText_ClosePage(letters)
    sizes = [sum(len(line.text) for line in lines) for lines in found]
    turn = sizes.index(max(sizes))
    edges = pdfium.FS_RECTF()
    pdfium.FPDF_GetPageBoundingBox(page, ctypes.byref(edges))
    _, _, bottom, top = _turned((edges.left, edges.right, edges.bottom, edges.top), turn)
    return Sheet(tuple(found[turn]), bottom, top), taken


def _lines(letters: Any, most: int) -> Iterator[tuple[Line, int]]:
    """Each line of the first letters, and how often its sheet is to be turned by a quarter, clockwise, to be read."""
    letter_at, is_added = pdfium.FPDFText_GetUnicode, pdfium.FPDFText_IsGenerated
    text: list[str] = []
    seen: list[int] = []  # places of the letters that are no white space
    gaps = False  # whether PDFium has added a space
    for at in range(min(pdfium.FPDFText_CountChars(letters), most)):
        code = letter_at(letters, at)
        if 0xD800 <= code < 0xE000:
            code = _whole(code, letter_at(letters, at + 1))
        breaks = code in _BREAKS
        if breaks or code in _LINE_ENDS:
            yield from _cells(letters, "".join(text), seen, breaks, gaps)
            text, seen, gaps = [], [], False
        elif 0 < code < 0x110000:
            text.append(letter := chr(code))
            if not letter.isspace():
                seen.append(at)
            elif not gaps:
                gaps = is_added(letters, at) == 1
    yield from _cells(letters, "".join(text), seen, False, gaps)


def _whole(half: int, following: int) -> int:
    """A letter beyond the first 65,536, at the place of its first half, as UTF-16 has it; 0: it is no first half."""
    if half < 0xDC00 <= following < 0xE000:
        return 0x10000 + ((half - 0xD800) << 10) + following - 0xDC00
    return 0


def _cells(letters: Any, text: str, seen: list[int], broken: bool, gaps: bool) -> Iterator[tuple[Line, int]]:
    """The line, or the lines that are drawn on one row, far apart: cells of a table, or what runs above a sheet left
    and right. Words of one line are as far apart as one another."""
    words = text.split() if gaps else []
    if len(words) < 2:
        if seen:
            yield _line(letters, text, seen, broken)
        return
    ends = list(accumulate(map(len, words)))
    wide = [_apart(_box(letters, seen[end - 1]), _box(letters, seen[end])) for end in ends[:-1]]
    if len(words) >= _LEAST_SPREAD and len(words) == ends[-1] and "".join(words).isupper():
        usual = _SPREAD * median(wide)  # a heading whose letters are set apart: "I S A H L U K O"
        joined = "".join(" " * (gap > usual) + word for gap, word in zip((-math.inf, *wide), words, strict=True))
        yield _line(letters, joined, seen, broken)
        return
    least = max(_CELL_GAP, _UNLIKE * min(wide)) if len(wide) > 1 else _LONE_GAP
    begun = 0
    for number, gap in enumerate((*wide, math.inf), 1):
        if gap > least:
            first, end = ends[begun] - len(words[begun]), ends[number - 1]
            last = number == len(words)
            yield _line(letters, " ".join(words[begun:number]), seen[first:end], broken and last)
            begun = number


def _apart(one: Box, other: Box) -> float:
    """How far letters stand apart, in whatever direction, in heights of a letter."""
    (left, right, bottom, top), (left_, right_, bottom_, top_) = one, other
    gap = max(left_ - right, left - right_, bottom_ - top, bottom - top_)
    return gap / max(right - left, top - bottom, _LEAST_HEIGHT)


def _line(letters: Any, text: str, seen: list[int], broken: bool) -> tuple[Line, int]:
    turn = -round(math.degrees(pdfium.FPDFText_GetCharAngle(letters, seen[0])) / 90) % 4
    begins, ends = (_turned(_box(letters, at), turn) for at in (seen[0], seen[-1]))
    left, right = min(begins[0], ends[0]), max(begins[1], ends[1])
    word = _turned(_box(letters, seen[len(text.split(maxsplit=1)[0]) - 1]), turn)[1] - left
    height = max(begins[3] - begins[2], ends[3] - ends[2])
    base = min(_turned(_origin(letters, at), turn)[2] for at in (seen[0], seen[-1]))  # one of them may be raised
    return Line(text, left, right, base, height, word, broken), turn


def _box(letters: Any, at: int) -> Box:
    box = pdfium.FS_RECTF()
    pdfium.FPDFText_GetLooseCharBox(letters, at, ctypes.byref(box))
    return box.left, box.right, box.bottom, box.top


def _origin(letters: Any, at: int) -> Box:
    x, y = ctypes.c_double(), ctypes.c_double()
    pdfium.FPDFText_GetCharOrigin(letters, at, ctypes.byref(x), ctypes.byref(y))
    return x.value, x.value, y.value, y.value


def _turned(box: Box, turn: int) -> Box:
    """The box on a sheet that is turned by so many quarters, clockwise."""
    for _ in range(turn):
        left, right, bottom, top = box
        box = bottom, top, -right, -left
    return box


def _find_links(document: Any, page: Any, found: dict[str, None]) -> None:
    """Add the addresses that a sheet leads to."""
    place, link = ctypes.c_int(0), pdfium.FPDF_LINK()
    buffer = ctypes.create_string_buffer(_MOST_BYTES)
    while len(found) < MOST_LINKS and pdfium.FPDFLink_Enumerate(page, ctypes.byref(place), ctypes.byref(link)):
        action = pdfium.FPDFLink_GetAction(link)
        if action and pdfium.FPDFAction_GetType(action) == pdfium.PDFACTION_URI:
            size = pdfium.FPDFAction_GetURIPath(document, action, buffer, _MOST_BYTES)
            if 1 < size <= _MOST_BYTES:
                found[buffer.raw[: size - 1].decode("utf-8", "replace").strip()] = None
