"""`python -m bench.extract [PAGES]`: our main text beside that of its peers, in one run.

PAGES is a folder with pages of articles and their text: aeb_truth.json, an array of {file, url, text}, and the packed
HTML files that it names; without one nothing is measured. Peers that are not installed are left out: trafilatura,
jusText. Printed per extractor: precision and recall over 4-word shingles (each as often as it comes), means over pages,
their F1, and pages a second of one processor.
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

from bench.table import Columns, Row, show, times
from corpus.selection import main_blocks
from relevance.pages.page import read_page

DATA = Path("../shared/data/pages")
TRUTH = "aeb_truth.json"
SHINGLE = 4
_WORD = re.compile(r"\w+")
Shingles = Counter[tuple[str, ...]]
Extractor = Callable[[bytes], str]


class Article(NamedTuple):
    """A page and its text as people marked it."""

    html: bytes
    text: str


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
    """The pages that the truth of this folder names."""
    truth = json.loads((folder / TRUTH).read_text(encoding="utf-8"))
    return [Article(gzip.decompress((folder / one["file"]).read_bytes()), one["text"]) for one in truth]


def measure(extract: Extractor, pages: Sequence[Article]) -> Row:
    """{precision, recall, f1, pages_s}: means over the pages."""
    start = time.process_time()
    texts = [extract(page.html) for page in pages]
    seconds = max(time.process_time() - start, 1e-9)
    precision = recall = 0.0
    for text, page in zip(texts, pages, strict=True):
        found, true = shingles(text), shingles(page.text)
        both = (found & true).total()
        precision += both / max(1, found.total()) / len(pages)
        recall += both / max(1, true.total()) / len(pages)
    f1 = 2 * precision * recall / max(1e-9, precision + recall)
    return {"precision": precision, "recall": recall, "f1": f1, "pages_s": len(pages) / seconds}


def main() -> None:
    shown = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="python -m bench.extract", description=__doc__, formatter_class=shown)
    parser.add_argument("pages", type=Path, nargs="?", default=DATA, help=f"default: {DATA}")
    given = parser.parse_args()
    if given.pages == DATA and not DATA.is_dir():
        print(f"nothing to measure on: no {DATA}")
        return
    if not (given.pages / TRUTH).is_file():
        parser.error(f"no {TRUTH} in {given.pages}")
    pages = articles(given.pages)
    rows: list[Row] = []
    for name, make in extractors().items():
        try:
            rows.append({"name": name, **measure(make(), pages)})
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
    show(f"Main text of {len(pages)} pages", columns, rows)


if __name__ == "__main__":
    main()
