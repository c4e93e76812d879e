"""Near-duplicates against outside cases: labelled pairs of pages and of articles."""

import json
import lzma
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from corpus.duplicates.deduplication import Deduplication, Rules
from corpus.duplicates.kept import Kept
from corpus.report import Report
from corpus.selection import main_blocks
from relevance.pages.page import read_page

DATA = Path(__file__).parents[3].parent / "shared" / "data" / "neardup"
pytestmark = pytest.mark.skipif(not DATA.exists(), reason="the shared data is not here")


def _lines(name: str) -> list[Any]:
    return [json.loads(line) for line in lzma.decompress((DATA / name).read_bytes()).splitlines()]


def _gone(folder: Path, texts: list[str]) -> list[float]:
    """How much of each text goes, 0 to 1."""
    path, told = folder / "in.jsonl", list[str]()
    rows = [json.dumps({"id": str(number), "text": text}) for number, text in enumerate(texts)]
    path.write_text("\n".join(rows))
    dedup = Deduplication(Rules(near=0.5), Kept(), Report(quiet=True), told.append)
    assert len(list(dedup.results([str(path)]))) == dedup.counts.kept
    letters = Counter[int]()
    for one in map(json.loads, told):
        letters[int(one["id"])] += len(one["text"].replace("\n", ""))
    return [letters[number] / len(text.replace("\n", "")) for number, text in enumerate(texts)]


def test_pairs_of_pages(tmp_path: Path) -> None:
    """Of a near-duplicate nearly all goes, of another page of the same site nearly nothing."""
    texts = {}
    for page in _lines("wikipedia_variants/pages.jsonl.xz"):
        blocks = read_page(page["html"].encode(), page["url"]).blocks
        texts[page["id"]] = "\n".join(blocks[place].text for place in main_blocks(blocks))
    pairs = json.loads((DATA / "wikipedia_variants" / "pairs.json").read_text())
    shares = [(pair["near_duplicate"], _gone(tmp_path, [texts[pair["a"]], texts[pair["b"]]])[1]) for pair in pairs]
    assert len(shares) == 150
    assert min(share for near, share in shares if near) > 0.78
    assert max(share for near, share in shares if not near) < 0.01


def test_copied_articles(tmp_path: Path) -> None:
    articles = _lines("mccormick/articles_1000.jsonl.xz")
    numbers = {article["id"]: number for number, article in enumerate(articles)}
    pairs = json.loads((DATA / "mccormick" / "articles_1000_pairs.json").read_text())
    later = {max(numbers[pair["a"]], numbers[pair["b"]]) for pair in pairs if pair["near_duplicate"]}
    shares = _gone(tmp_path, [article["text"] for article in articles])
    assert {number for number, share in enumerate(shares) if share} == later
