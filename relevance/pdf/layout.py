"""From lines on sheets to blocks of text: what a paragraph is, by where its lines stand.

Guarantees: each letter of the lines is in one block, but for what runs along the head or foot of sheets, which is there
once; blocks come in the order of the lines; a word that was broken at the end of a line is one word again; a paragraph
goes on in the next column or sheet.

Two lines belong together that stand one below the other as closely as most lines of the sheet do, in letters of one
size, unless the second is indented, begins with the sign of a list, or its first word would have had room on the first:
then somebody ended that line. Pure functions; the figures are shares of the height of a line, and were set on documents
whose paragraphs are known (`bench/pdf.py`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from statistics import median

from relevance.pages.blocks import Block, is_running, running
from relevance.pdf.sheets import Line, Sheet

_SAME_SIZE = 0.15
_SAME_ROW = 0.35  # by which the base lines of one row may differ
_RAISED = 0.6  # at most, small letters as the number of a footnote
_TOUCHES = 0.12  # of white space that is none
_ROW_GAP = 1.5  # between words of one row; beyond it is another cell
_INDENT = 0.6
_FILLED = 0.1  # by which the ends of lines may differ that are set to fill their column
_CENTRED = 0.2  # by which twice the middles of centred lines may differ
_CLOSE = 1.12  # times the usual distance of lines
_USUAL = 1.2  # distance, where a sheet has too few lines to tell
_NEIGHBOURS = 15  # lines before and behind that show how wide a column is
_SAME_EDGE = (-5.0, 2.5)  # where they begin, left and right of the line
_SPACE = 0.3  # of white space between words, at least
_HEADING = 1.15  # times the height of running text
_LONGEST_HEADING = 200
_SMALL = 0.85
_INITIAL = 0.6  # of the height of a letter that reaches over several lines: what stands beside it
_MOST_INITIALS = 20  # of a sheet; each is compared with all lines
_MARGIN = 0.09  # of the sheet, above and below, where heads and feet run
_LEAST_RUNS = 3  # sheets that have it; of fewer sheets in all, two
_ITEM = re.compile(r"(?:[•‣◦▪●○■□➢✓\uf0b7\uf0a7]|\(?(?:\d{1,3}|[a-z]|[ivx]{1,4})[.)])\s")
_DASHED = re.compile(r"[–—*·-]\s")  # an item, or a dash within a sentence
_NUMBERS = re.compile(r"\d+")
_PAGE_NUMBER = re.compile(r"\W*(?:#|[ivxlc]+)(?:\W+(?:\w{1,6}\W+)?#)?\W*")  # as _folded has it: "- # -", "iv", "# of #"
_ENDS = re.compile(r"[.!?:;…。।]['\"”’»)\]]*$")
_TWINS = frozenset(("aa", "ee", "ii", "oo", "uu"))
_QUOTES = "\"'“”‘’« "
_HYPHENS = ("-", "\u2010", "\u00ad")


@dataclass(frozen=True, slots=True)
class _Placed:
    """A line with the number of its sheet; `edge`: how far to the right lines of its column reach; `near`: how far
    below it the next line of a paragraph may stand; `indented`: the line below it begins further to the left."""

    line: Line
    sheet: int
    edge: float
    near: float
    indented: bool

    def has_room_for(self, following: Line) -> bool:
        """Whether the first word of the next line could have stood here, too: then somebody has ended this line."""
        return self.edge - self.line.right > _SPACE * self.line.height + following.word


@dataclass(frozen=True, slots=True)
class _Paragraph:
    """Lines that belong together."""

    lines: list[_Placed]

    def text(self) -> str:
        lines = [placed.line for placed in self.lines]
        joined = [_joint(line, following.text.lstrip()) for line, following in pairwise(lines)]
        return running("".join((*joined, lines[-1].text)))


def blocks_of(sheets: Sequence[Sheet]) -> list[Block]:
    """Running heads, feet and page numbers are blocks of kind ``nav``, at the end."""
    every = [list(_placed(sheet, number)) for number, sheet in enumerate(sheets)]
    heads = _running(sheets, every)
    found: list[_Paragraph] = []
    asides: dict[str, str] = {}
    for sheet, lines in zip(sheets, every, strict=True):
        for placed in lines:
            folded = _folded(placed.line)
            if _is_in_margin(placed.line, sheet) and (folded in heads or _PAGE_NUMBER.fullmatch(folded)):
                asides.setdefault(folded, placed.line.text)
            elif found and _goes_on(found[-1], placed):
                found[-1].lines.append(placed)
            else:
                found.append(_Paragraph([placed]))
    body = _body_height(line for sheet in sheets for line in sheet.lines)
    blocks = [block for paragraph in found if (block := _block(paragraph, body)) is not None]
    texts = map(running, asides.values())
    return blocks + [Block(text, "nav") for text in texts if text]


def _block(paragraph: _Paragraph, body: float) -> Block | None:
    text = paragraph.text()
    if not text:
        return None
    height = median(placed.line.height for placed in paragraph.lines)
    if height >= _HEADING * body and len(text) <= _LONGEST_HEADING:
        return Block(text, "heading")
    kind = "main" if is_running(text) else "list" if _ITEM.match(text) or _DASHED.match(text) else "short"
    return Block(text, kind, apart=height < _SMALL * body)


def _goes_on(paragraph: _Paragraph, placed: _Placed) -> bool:
    """Whether a line is the next one of the paragraph."""
    above, line = paragraph.lines[-1], placed.line
    last = above.line
    height = max(last.height, line.height)
    if abs(last.height - line.height) > _SAME_SIZE * height:
        return False
    down = last.base - line.base
    if placed.sheet != above.sheet or down < -_SAME_ROW * height:  # another sheet or column
        return last.broken or not (above.has_room_for(line) or placed.indented or _ITEM.match(line.text))
    if down <= _SAME_ROW * height:
        return last.broken
    if down > above.near or line.left >= last.right or line.right <= last.left:
        return False
    return last.broken or not _is_new(paragraph, line, height)


def _is_new(paragraph: _Paragraph, line: Line, height: float) -> bool:
    """Whether a line that stands closely below a paragraph begins another one."""
    if _ITEM.match(line.text):
        return True
    above, first = paragraph.lines[-1], len(paragraph.lines) == 1
    last = above.line
    centres = (placed.line.left + placed.line.right for placed in paragraph.lines[-3:])
    centred = all(abs(line.left + line.right - centre) < _CENTRED * height for centre in centres)
    if centred and last.left > line.left + height:  # the last line of centred text, or one of them
        return _ENDS.search(last.text.rstrip()) is not None
    indent = line.left - last.left
    goes_on = not _ENDS.search(last.text.rstrip())
    hangs = first and (_ITEM.match(last.text) or _DASHED.match(last.text) or (goes_on and not above.has_room_for(line)))
    if not centred and ((indent > _INDENT * height and not hangs) or (indent < -_INDENT * height and not first)):
        return True
    filled = not first and abs(last.right - paragraph.lines[-2].line.right) < _FILLED * height
    if goes_on and (filled or abs(last.right - line.right) < _INDENT * height):
        return False  # as beside a picture, where the column is narrower
    return above.has_room_for(line)


def _joint(line: Line, following: str) -> str:
    """The text of a line, as it stands before the text of the next one of its paragraph."""
    text = line.text.strip()
    if not line.broken and not (text.endswith(_HYPHENS) and text[-2:-1].isalnum()):
        return text + " "
    begun = text if line.broken else text[:-1]
    return begun + ("-" if _is_own_hyphen(begun, following) else "")


def _is_own_hyphen(begun: str, following: str) -> bool:
    """Whether the hyphen at the end of a line is the word's own ("i-ANC", "i-albhamu", "re-enter"): no word is broken
    before a capital or a figure, behind a single letter, or between two equal vowels."""
    word = begun.rsplit(maxsplit=1)[-1:]
    single = bool(word) and len(word[0]) == 1
    twins = begun[-1:].lower() + following[:1] in _TWINS
    return single or twins or not (begun[-1:].isalpha() and following[:1].islower())


def _placed(sheet: Sheet, number: int) -> Iterator[_Placed]:
    lines = list(_rows(_with_initials([line for line in sheet.lines if line.text.strip()])))
    usual = _usual_distance(lines)
    for at, line in enumerate(lines):
        around = lines[max(0, at - _NEIGHBOURS) : at + _NEIGHBOURS + 1]
        least, most = (line.left + share * line.height for share in _SAME_EDGE)
        column = [one for one in around if least <= one.left <= most] or [line]
        near = _CLOSE * usual * line.height
        alike = [one.right for one in column if abs(one.height - line.height) <= _SAME_SIZE * line.height]
        edge = max(alike if len(alike) > 3 else (one.right for one in column))
        below = lines[at + 1] if at + 1 < len(lines) else line
        indented = 0 < line.base - below.base < near and below.left < line.left - _INDENT * line.height
        yield _Placed(line, number, edge, near, indented)


def _with_initials(lines: list[Line]) -> list[Line]:
    """A letter as high as several lines is the first of the text beside it, which begins where the letter does."""
    alone = (at for at, line in enumerate(lines) if len(line.text.strip()) <= 2 and line.text.strip(_QUOTES).isalpha())
    gone: set[int] = set()
    for own in list(islice(alone, _MOST_INITIALS)):
        initial = lines[own]  # a higher one may have become part of it
        beside = [at for at, line in enumerate(lines) if at not in gone and _is_beside(line, initial)]
        if not beside:
            continue
        highest = max(beside, key=lambda at: lines[at].base)
        for at in beside:
            line, text = lines[at], initial.text.strip() if at == highest else ""
            word = line.word + (line.left - initial.left) * bool(text)
            lines[at] = replace(line, text=text + line.text.lstrip(), left=initial.left, word=word)
        gone.add(own)
    return [line for at, line in enumerate(lines) if at not in gone]


def _is_beside(line: Line, initial: Line) -> bool:
    low, high = initial.base - line.height, initial.base + initial.height
    near = -_INDENT * line.height < line.left - initial.right < line.height
    return near and low < line.base < high and line.height < _INITIAL * initial.height


def _rows(lines: Iterable[Line]) -> Iterator[Line]:
    """The lines, whose pieces on one base line, or raised above it, are put together."""
    last: Line | None = None
    for line in lines:
        if last is None:
            last = line
        elif _is_behind(line, last):
            space = " " * (line.left - last.right > _TOUCHES * max(line.height, last.height))
            text = last.text + space + line.text  # "21st", "4 000 m2"
            last = replace(last, text=text, right=max(last.right, line.right), broken=line.broken)
        else:
            yield last
            last = line
    if last is not None:
        yield last


def _is_behind(line: Line, last: Line) -> bool:
    """Whether a piece of a row follows another closely."""
    height, up = max(line.height, last.height), line.base - last.base
    if last.broken or not -_SAME_ROW * height < line.left - last.right <= _ROW_GAP * height:
        return False
    if abs(line.height - last.height) <= _SAME_SIZE * height:
        return abs(up) <= _SAME_ROW * height
    return 0 < up < _RAISED * height and line.height < _SMALL * height


def _usual_distance(lines: Sequence[Line]) -> float:
    """Of lines of a paragraph, in heights."""
    found = []
    for above, below in pairwise(lines):
        down = (above.base - below.base) / max(above.height, below.height, 1.0)
        if below.left < above.right and below.right > above.left and _SAME_ROW < down < 2.5:
            found.append(down)
    return median(found) if len(found) >= 5 else _USUAL


def _body_height(lines: Iterable[Line]) -> float:
    """What most letters have, in quarters of a point."""
    heights: Counter[float] = Counter()
    for line in lines:
        heights[round(4 * line.height) / 4] += len(line.text)
    return max(heights, key=heights.__getitem__, default=0.0)


def _folded(line: Line) -> str:
    return _NUMBERS.sub("#", line.text.strip().lower())


def _is_in_margin(line: Line, sheet: Sheet) -> bool:
    margin = _MARGIN * (sheet.top - sheet.bottom)
    return line.base < sheet.bottom + margin or line.base + line.height > sheet.top - margin


def _running(sheets: Sequence[Sheet], every: Sequence[Sequence[_Placed]]) -> frozenset[str]:
    """What stands at the head or foot of several sheets, the same but for numbers. `every`: the lines of each."""
    counts: Counter[str] = Counter()
    for sheet, lines in zip(sheets, every, strict=True):
        counts.update({_folded(placed.line) for placed in lines if _is_in_margin(placed.line, sheet)})
    least = min(_LEAST_RUNS, max(2, len(sheets)))
    return frozenset(name for name, count in counts.items() if count >= least)
