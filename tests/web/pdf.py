"""Sets text as a PDF document, as word processors and newspapers do: what it has to be read back as is known.

PDF 1.4 (ISO 32000-1) with the standard fonts, whose widths are Adobe's; letters of Windows-1252, others become "?". The
same input gives the same bytes.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

WIDTH, HEIGHT = 595.0, 842.0  # A4
_MARGIN = 60.0
_GUTTER = 18.0
_LEADING = 1.2
_HEADING = 1.5  # times the size of running text
_VOWELS = "aeiouAEIOU"
_LEAST_PART = 3
# Widths of the printable letters of ASCII in Helvetica, thousandths of the size; of others that of "n" is taken.
_WIDTHS = (
    278, 278, 355, 556, 556, 889, 667, 222, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556,
    556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833,
    722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 222, 556, 556, 500, 556,
    556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334,
    260, 334, 584,
)  # fmt: skip
_ESCAPED = re.compile(rb"([\\()])")


class Piece(NamedTuple):
    """Text that belongs together. `kind`: p, h (a heading) or li (an item of a list)."""

    text: str
    kind: str = "p"


@dataclass(frozen=True, slots=True)
class Style:
    """How text is set. `indent`: paragraphs begin so many points further in and follow closely; else they stand
    `apart`. `head`: what runs above each sheet, with the number of the sheet below it."""

    columns: int = 1
    size: float = 11.0
    justified: bool = False
    broken: bool = False  # words may be broken at the end of a line
    indent: float = 0.0
    apart: float = 6.0
    head: str = ""


@dataclass(slots=True)
class _Setter:
    """Fills columns with lines; `sheets`: the operators of each."""

    style: Style
    sheets: list[list[bytes]] = field(default_factory=list)
    _column: int = 0
    _y: float = 0.0

    @property
    def width(self) -> float:
        return (WIDTH - 2 * _MARGIN - (self.style.columns - 1) * _GUTTER) / self.style.columns

    def put(self, piece: Piece) -> None:
        """A piece, and the space below it."""
        style = self.style
        size = style.size * (_HEADING if piece.kind == "h" else 1.0)
        inset = {"li": 18.0, "p": style.indent}.get(piece.kind, 0.0)
        hangs = piece.kind == "li"
        lines = list(_lines(piece.text.split(), size, self.width - inset, self.width - inset * hangs, style.broken))
        for number, (words, is_last) in enumerate(lines):
            self._room(_LEADING * size)
            left = _MARGIN + self._column * (self.width + _GUTTER)
            if hangs and not number:
                self._show("\u2022", left, size, 0.0)
            at = inset if hangs or not number else 0.0
            text = " ".join(words)
            gaps = len(words) - 1
            filled = style.justified and not is_last and gaps
            space = (self.width - at - width_of(text, size)) / gaps if filled else 0.0
            self._show(text, left + at, size, space)
        self._y -= 0.0 if style.indent and piece.kind == "p" else style.apart

    def _room(self, height: float) -> None:
        if not self.sheets or self._y - height < _MARGIN:
            if not self.sheets or self._column == self.style.columns - 1:
                self.sheets.append([])
                self._column = 0
                if self.style.head:
                    self._y = HEIGHT - 36.0
                    self._show(self.style.head, _MARGIN, 9.0, 0.0)
                    self._y = 30.0
                    self._show(str(len(self.sheets)), WIDTH / 2, 9.0, 0.0)
            else:
                self._column += 1
            self._y = HEIGHT - _MARGIN
        self._y -= height

    def _show(self, text: str, x: float, size: float, space: float) -> None:
        letters = _ESCAPED.sub(rb"\\\1", text.encode("windows-1252", "replace"))
        place = f"/F {size:g} Tf {space:.3f} Tw 1 0 0 1 {x:.2f} {self._y:.2f} Tm (".encode()
        self.sheets[-1].append(place + letters + b") Tj\n")


def document(
    pieces: Iterable[Piece], style: Style = Style(), *, title: str = "", language: str = "", links: Sequence[str] = ()
) -> bytes:
    """The document. `links`: addresses that its first sheet leads to, in small boxes along the margin."""
    setter = _Setter(style)
    for piece in pieces:
        setter.put(piece)
    streams = [zlib.compress(b"BT\n" + b"".join(sheet) + b"ET", 6) for sheet in setter.sheets or [[]]]
    first, count = 5, len(streams)  # objects 1-4: catalog, pages, font, information; then each sheet and its stream
    notes = range(first + 2 * count, first + 2 * count + len(links))
    said = f" /Lang ({language})" if language else ""
    kids = " ".join(f"{first + 2 * n} 0 R" for n in range(count))
    objects = [
        f"<< /Type /Catalog /Pages 2 0 R{said} >>".encode(),
        f"<< /Type /Pages /Kids [{kids}] /Count {count} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        b"<< /Title " + _string(title) + b" >>",
    ]
    for number, stream in enumerate(streams):
        annotations = f" /Annots [{' '.join(f'{n} 0 R' for n in notes)}]" if notes and not number else ""
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {WIDTH:g} {HEIGHT:g}] /Resources << /Font << /F 3 0 R >> >> "
            f"/Contents {first + 2 * number + 1} 0 R{annotations} >>".encode()
        )
        head = f"<< /Length {len(stream)} /Filter /FlateDecode >>\nstream\n".encode()
        objects.append(head + stream + b"\nendstream")
    for place, link in enumerate(links):
        box = f"2 {2 + place % 400 * 2} 10 {3 + place % 400 * 2}"
        objects.append(
            f"<< /Type /Annot /Subtype /Link /Rect [{box}] /A << /S /URI /URI ".encode() + _string(link) + b" >> >>"
        )
    return _file(objects)


def _file(objects: Sequence[bytes]) -> bytes:
    parts, places, size = [b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n"], [], 15
    for number, content in enumerate(objects, 1):
        places.append(size)
        part = b"%d 0 obj\n%s\nendobj\n" % (number, content)
        parts.append(part)
        size += len(part)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    count = len(objects) + 1
    parts.append(b"xref\n0 %d\n0000000000 65535 f \n%s" % (count, table))
    parts.append(b"trailer\n<< /Size %d /Root 1 0 R /Info 4 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (count, size))
    return b"".join(parts)


def _string(text: str) -> bytes:
    return b"(" + _ESCAPED.sub(rb"\\\1", text.encode("latin-1", "replace")) + b")"


def width_of(text: str, size: float) -> float:
    """Points."""
    return size * sum(_WIDTHS[ord(c) - 32] if " " <= c <= "~" else 556 for c in text) / 1000


def _lines(
    words: list[str], size: float, first: float, others: float, broken: bool
) -> Iterator[tuple[list[str], bool]]:
    """The words of each line, and whether it is the last one."""
    line: list[str] = []
    room, space = first, width_of(" ", size)
    waiting = list(reversed(words))
    left = room
    while waiting:
        word = waiting.pop()
        needed = width_of(word, size) + (space if line else 0.0)
        if needed <= left:
            line.append(word)
            left -= needed
            continue
        if broken and (part := _begun(word, size, left - (space if line else 0.0))):
            line.append(part + "-")
            waiting.append(word[len(part) :])
        elif not line:  # wider than a line
            line.append(word)
        else:
            waiting.append(word)
        yield line, False
        line, left = [], others
    yield line, True


def _begun(word: str, size: float, room: float) -> str:
    """The longest beginning of a word that ends with a vowel before a consonant and fits with a hyphen."""
    for end in range(len(word) - _LEAST_PART, _LEAST_PART - 1, -1):
        syllable = word[end - 1] in _VOWELS and word[end].islower() and word[end] not in _VOWELS
        if syllable and width_of(word[:end] + "-", size) <= room:
            return word[:end]
    return ""
