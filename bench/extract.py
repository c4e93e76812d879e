"""`python -m bench.extract [PAGES]`: our main text beside that of its peers, in one run.

PAGES is a folder with packed HTML files and what their main text is, each an array of objects with the name of a file:
aeb_truth.json {file, text}, readability_truth.json {file, expected_html}, trafilatura_truth.json {file, with, without}:
pieces that must be in it and that must not. What is missing is not measured. Peers that are not installed are left out:
trafilatura, jusText. Printed per extractor: precision and recall, of texts over 4-word shingles (each as often as it
comes), means over pages, of pieces by their numbers; their F1, and pages a second of one processor.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import lxml.html

from bench.ending import end_with
from bench.table import Columns, Row, show, times
from corpus.selection import main_blocks
from relevance.pages.page import read_page

DATA = Path("../shared/data/pages")
SHINGLE = 4
_WORD = re.compile(r"\w+")
Shingles = Counter[tuple[str, ...]]
Extractor = Callable[[bytes], str]


class Article(NamedTuple):
    """A page and its text as people marked it."""

    html: bytes
    text: str


class Pieces(NamedTuple):
    """A page and what must be in its text, and must not, as people marked it."""

    html: bytes
    wanted: list[str]
    unwanted: list[str]


def extractors() -> dict[str, Callable[[], Extractor]]:
    """Makers by name; a maker raises ImportError where its package is missing."""
    return {
        "ulwembu": lambda: _ours,
        "ulwembu, no titles": lambda: lambda html: _ours(html, titles=False),
        "ulwembu, whole pages": lambda: lambda html: _ours(html, whole=True),
        "trafilatura": _trafilatura,
        "trafilatura, fast, no comments": lambda: _trafilatura(include_comments=False, fast=True),
        "jusText": _justext,
    }


def _ours(html: bytes, *, whole: bool = False, titles: bool = True) -> str:
    blocks = read_page(html, "").blocks
    chosen = main_blocks(blocks, whole=whole)
    if not titles:  # headings before the first paragraph: the truth has none
        first = next((place for place in chosen if blocks[place].kind != "heading"), 0)
        chosen = [place for place in chosen if place >= first]
    return "\n".join(blocks[place].text for place in chosen)


def _trafilatura(**options: Any) -> Extractor:
    import trafilatura

    return lambda html: trafilatura.extract(html, **options) or ""


def _justext() -> Extractor:
    import justext

    def extract(html: bytes) -> str:
        # Without a stop list, as it has none for the languages that this is for.
        parts = justext.justext(html, frozenset(), stopwords_low=0, stopwords_high=0)
        return "\n".join(part.text for part in parts if not part.is_boilerplate)

    return extract


def shingles(text: str) -> Shingles:
    """Runs of four words, in small letters; a shorter text is one."""
    words = _WORD.findall(text.lower())
    return Counter(zip(*(words[start:] for start in range(min(SHINGLE, len(words)))), strict=False))


def articles(folder: Path) -> list[Article]:
    """The pages of aeb_truth.json."""
    return [Article(_html(folder, one), one["text"]) for one in _truth(folder / "aeb_truth.json")]


def cleaned(folder: Path) -> list[Article]:
    """The pages of readability_truth.json; white space parts the texts of elements."""
    return [
        Article(_html(folder, one), "\n".join(map(str, lxml.html.fromstring(one["expected_html"]).itertext())))
        for one in _truth(folder / "readability_truth.json")
    ]


def pieces(folder: Path) -> list[Pieces]:
    """The pages of trafilatura_truth.json."""
    return [
        Pieces(_html(folder, one), one["with"], one["without"]) for one in _truth(folder / "trafilatura_truth.json")
    ]


def _truth(file: Path) -> list[dict[str, Any]]:
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else []


def _html(folder: Path, one: dict[str, Any]) -> bytes:
    return gzip.decompress((folder / one["file"]).read_bytes())


def measure(extract: Extractor, pages: Sequence[Article]) -> Row:
    """{precision, recall, f1, pages_s}: means over the pages."""
    texts, pages_s = _extracted(extract, [page.html for page in pages])
    precision = recall = 0.0
    for text, page in zip(texts, pages, strict=True):
        found, true = shingles(text), shingles(page.text)
        both = (found & true).total()
        precision += both / max(1, found.total()) / len(pages)
        recall += both / max(1, true.total()) / len(pages)
    return _row(precision, recall, pages_s)


def measure_pieces(extract: Extractor, pages: Sequence[Pieces]) -> Row:
    """{precision, recall, f1, pages_s}: of what is found the share that is wanted, of what is wanted that is found."""
    texts, pages_s = _extracted(extract, [page.html for page in pages])
    right = wrong = missed = 0
    for text, page in zip(texts, pages, strict=True):
        plain = _plain(text)
        found = sum(_plain(piece) in plain for piece in page.wanted)
        right += found
        missed += len(page.wanted) - found
        wrong += sum(_plain(piece) in plain for piece in page.unwanted)
    return _row(right / max(1, right + wrong), right / max(1, right + missed), pages_s)


def _extracted(extract: Extractor, pages: Sequence[bytes]) -> tuple[list[str], float]:
    start = time.process_time()
    texts = [extract(html) for html in pages]
    return texts, len(pages) / max(time.process_time() - start, 1e-9)


def _plain(text: str) -> str:
    return " ".join(text.split())


def _row(precision: float, recall: float, pages_s: float) -> Row:
    f1 = 2 * precision * recall / max(1e-9, precision + recall)
    return {"precision": precision, "recall": recall, "f1": f1, "pages_s": pages_s}


def main() -> None:
    shown = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="python -m bench.extract", description=__doc__, formatter_class=shown)
    parser.add_argument("pages", type=Path, nargs="?", default=DATA, help=f"default: {DATA}")
    given = parser.parse_args()
    if given.pages == DATA and not DATA.is_dir():
        print(f"nothing to measure on: no {DATA}")
        return
    folder = given.pages
    texts, clean, marked = articles(folder), cleaned(folder), pieces(folder)
    if not (texts or clean or marked):
        parser.error(f"no aeb_truth.json, readability_truth.json or trafilatura_truth.json in {folder}")
    if texts:
        compare(f"Main text of {len(texts)} pages of articles", lambda extract: measure(extract, texts))
    if clean:
        compare(f"of {len(clean)} pages that Readability is tested with", lambda extract: measure(extract, clean))
    if marked:
        compare(f"of {len(marked)} pages that trafilatura is tested with", lambda it: measure_pieces(it, marked))


def compare(title: str, measured: Callable[[Extractor], Row]) -> None:
    """Prints a row for each extractor that is installed."""
    rows: list[Row] = []
    for name, make in extractors().items():
        try:
            rows.append({"name": name, **measured(make())})
        except ImportError as error:
            print(f"{name}: not installed ({error}); pip install -e '.[extract-peers]'")
    columns: Columns = {
        "extractor": "name",
        "precision": lambda row: f"{row['precision']:.3f}",
        "recall": lambda row: f"{row['recall']:.3f}",
        "F1": lambda row: f"{row['f1']:.3f}",
        "pages/s": "pages_s",
        "speed": lambda row: times(row["pages_s"], rows[0]["pages_s"]),
    }
    show(title, columns, rows)


if __name__ == "__main__":
    end_with(main)
