"""`python -m bench.pdf [FOLDER]`: the text of PDF documents beside that of peers, in one run.

Without FOLDER the documents are set by the synthetic web's typesetter in six ways, from reports in one column to
newspapers in three, with words broken at the ends of lines, indented paragraphs, lists and running heads. FOLDER has
documents of your own: NAME.pdf, and in NAME.txt its paragraphs, one a line. Peers that are not installed are left out:
pdfminer.six, pypdf. Printed per reader: F1 of words, and of whole paragraphs to the letter, over all documents (pypdf
tells no paragraphs), and sheets a second of one processor, without the process that keeps a crash apart.
"""

from __future__ import annotations

import argparse
import io
import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from bench.ending import end_with
from bench.table import Columns, Row, show, times
from relevance.pdf.layout import blocks_of
from relevance.pdf.sheets import read_paper
from tests.web.pdf import Piece, Style, document
from tests.web.text import pool

STYLES = (
    Style(head="Umbiko wonyaka"),
    Style(justified=True),
    Style(columns=2, size=9, justified=True, broken=True, apart=4, head="Iphephandaba likaHulumeni"),
    Style(columns=2, size=9, justified=True, indent=12, apart=4),
    Style(columns=3, size=8, broken=True, indent=8),
    Style(apart=2.5),
)
_EACH = 5
_BULLETS = "\u2022\u00b7 "
Reader = Callable[[bytes], list[str]]
"""From a document to its paragraphs."""


class Sample(NamedTuple):
    """A document, its paragraphs, and how many sheets it has."""

    body: bytes
    paragraphs: Sequence[str]
    sheets: int


def readers() -> dict[str, Callable[[], Reader]]:
    """Makers by name; a maker raises ImportError where its package is missing."""
    return {"ulwembu": lambda: _ours, "pdfminer.six": _pdfminer, "pypdf": _pypdf}


def _ours(body: bytes) -> list[str]:
    return [block.text for block in blocks_of(read_paper(body).sheets) if block.kind != "nav"]


def _pdfminer() -> Reader:
    from pdfminer.high_level import extract_pages
    from pdfminer.layout import LTTextBox

    def read(body: bytes) -> list[str]:
        return [
            box.get_text() for sheet in extract_pages(io.BytesIO(body)) for box in sheet if isinstance(box, LTTextBox)
        ]

    return read


def _pypdf() -> Reader:
    from pypdf import PdfReader

    return lambda body: [sheet.extract_text() for sheet in PdfReader(io.BytesIO(body)).pages]


def drawn() -> list[Sample]:
    """Documents of isiZulu in each style."""
    stock, rng = pool("zul", 3), random.Random(1)
    samples = []
    for style in STYLES * _EACH:
        pieces: list[Piece] = []
        for section in range(8):
            pieces.append(Piece(rng.choice(stock.anchors), "h"))
            sizes = [rng.randint(1, 6) for _ in range(rng.randint(2, 6))]
            pieces += [Piece(" ".join(rng.sample(stock.sentences, size))) for size in sizes]
            if section % 3 == 1:
                pieces += [Piece(rng.choice(stock.anchors), "li") for _ in range(4)]
        samples.append(_sample(document(pieces, style), [piece.text for piece in pieces]))
    return samples


def own(folder: Path) -> list[Sample]:
    """The documents of a folder that have their text beside them."""
    found = [(path.read_bytes(), path.with_suffix(".txt")) for path in sorted(folder.glob("*.pdf"))]
    return [_sample(body, text.read_text(encoding="utf-8").splitlines()) for body, text in found if text.is_file()]


def _sample(body: bytes, paragraphs: Sequence[str]) -> Sample:
    return Sample(body, [_plain(text) for text in paragraphs if text.strip()], len(read_paper(body).sheets))


def _plain(text: str) -> str:
    return " ".join(text.split()).lstrip(_BULLETS)


def measure(read: Reader, samples: Sequence[Sample]) -> Row:
    """{words, paragraphs, sheets_s}"""
    start = time.process_time()
    found = [read(sample.body) for sample in samples]
    seconds = max(time.process_time() - start, 1e-9)
    texts = [[plain for text in some if (plain := _plain(text))] for some in found]
    return {
        "words": _f1([" ".join(some).split() for some in texts], [" ".join(s.paragraphs).split() for s in samples]),
        "paragraphs": _f1(texts, [sample.paragraphs for sample in samples]),
        "sheets_s": sum(sample.sheets for sample in samples) / seconds,
    }


def _f1(found: Sequence[Sequence[str]], true: Sequence[Sequence[str]]) -> float:
    both = sum((Counter(some) & Counter(wanted)).total() for some, wanted in zip(found, true, strict=True))
    return 2 * both / max(1, sum(map(len, found)) + sum(map(len, true)))


def main() -> None:
    shown = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="python -m bench.pdf", description=__doc__, formatter_class=shown)
    parser.add_argument("folder", type=Path, nargs="?", help="documents of your own and their text")
    given = parser.parse_args()
    samples = own(given.folder) if given.folder else drawn()
    if not samples:
        parser.error(f"no NAME.pdf with a NAME.txt in {given.folder}")
    rows: list[Row] = []
    for name, make in readers().items():
        try:
            rows.append({"name": name, **measure(make(), samples)})
        except ImportError as error:
            print(f"{name}: not installed ({error}); pip install -e '.[pdf-peers]'")
    columns: Columns = {
        "reader": "name",
        "words": lambda row: f"{row['words']:.3f}",
        "paragraphs": lambda row: f"{row['paragraphs']:.3f}" if row["name"] != "pypdf" else "",
        "sheets/s": "sheets_s",
        "speed": lambda row: times(row["sheets_s"], rows[0]["sheets_s"]),
    }
    show(f"Text of {len(samples)} PDF documents of {sum(s.sheets for s in samples)} sheets", columns, rows)


if __name__ == "__main__":
    end_with(main)
