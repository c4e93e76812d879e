"""Against real and odd addresses of Wikipedia, labelled outside of this project; and real pages, in both ways to their
links."""

import gzip
import json
import re
from collections import Counter
from html import escape
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from corpus.cli import main
from corpus.wikilinks import is_article, target_of
from corpus.wikilinks.pages import may_link
from tests.integration.corpus.warcs import exchange, write

DATA = Path(__file__).parents[3].parent / "shared" / "data"
pytestmark = pytest.mark.skipif(not DATA.exists(), reason="the shared data is not here")

NOT_OURS = {
    "https://ka.wikipedia.org/wiki/%E1%83%90%E1%83%AE%E1%83%90%E1%83%9A%E1%83%98_%E1%83%96%E1%83%94%E1%83%9A%E1%83%90%E1"
    "%83%9C%E1%83%93%E1%83%98%E1%83%90": "Georgian titles have no capitals",
    "https://xmf.wikipedia.org/wiki/%E1%83%90%E1%83%AE%E1%83%90%E1%83%9A%E1%83%98_%E1%83%96%E1%83%94%E1%83%9A%E1%83%90"
    "%E1%83%9C%E1%83%93%E1%83%98%E1%83%90": "Mingrelian titles have no capitals",
    "https://jbo.wikipedia.org/wiki/zis._poi_cnino": "Lojban titles may begin with a small letter",
    "https://ru.wikipedia.org/w/index.php?oldid=70741439": "a version alone: which article it is of cannot be told",
    "https://web.archive.org/web/20140109030403/http://de.wikipedia.org/wiki/Antipode": "a copy is not on Wikipedia",
}
"""Labels that are not followed, and why."""


def cases() -> list[Any]:
    found: list[Any] = []
    for name in ("hrefs.json", "odd_shapes.json"):
        path = DATA / "wikilinks" / name
        found += json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    return [
        pytest.param(
            case["href"],
            case["expected"],
            marks=[pytest.mark.xfail(strict=True, reason=NOT_OURS[case["href"]])] if case["href"] in NOT_OURS else [],
            id=f"{number}",
        )
        for number, case in enumerate(found)
    ]


@pytest.mark.parametrize(("href", "expected"), cases())
def test_labelled_addresses(href: str, expected: dict[str, Any]) -> None:
    target = target_of(href)
    assert (target is not None) is expected["wikipedia"]
    if target is None:
        return
    assert may_link(f'<a href="{escape(href)}">'.encode())
    article = bool(target.page_id) or (bool(target.title) and is_article(target.title, target.edition))
    assert (target.edition, target.mobile, article) == (expected["lang"], expected["mobile"], expected["article"])
    assert target.title == expected.get("title", "")
    assert target.page_id == expected.get("curid", 0)
    assert target.fragment == expected.get("fragment", "")
    assert target.action == expected.get("action", "")
    assert target.variant == expected.get("variant", "")
    assert bool(target.revision) is bool({"oldid", "diff"} & set(expected))


_HREF = re.compile(rb"""(<a\s[^>]*?\bhref\s*=\s*)(?:"[^"]*"|'[^']*'|[^\s>"']+)""", re.I)


@pytest.fixture(scope="module")
def rewritten(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Real pages whose links all lead to real addresses of Wikipedia."""
    hrefs = cycle(
        case["href"].replace("&", "&amp;").replace('"', "%22").encode()
        for case in json.loads((DATA / "wikilinks" / "hrefs.json").read_text(encoding="utf-8"))
        if case["expected"].get("article") and case["href"].isascii()
    )
    bodies = [gzip.decompress(path.read_bytes()) for path in sorted((DATA / "pages" / "readability").glob("*.html.gz"))]
    linked = [_HREF.sub(lambda tag: tag[1] + b'"' + next(hrefs) + b'"', body) for body in bodies]
    pages = [exchange(str(number), body, "text/html") for number, body in enumerate(linked)]
    return write(tmp_path_factory.mktemp("warc"), pages)


def links(path: Path, out: Path, *options: str) -> list[dict[str, Any]]:
    assert main(["links", str(path), "-o", str(out), "-q", *options]) == 0
    return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]


def test_archives_and_vertical_files_agree(rewritten: Path, tmp_path: Path) -> None:
    vertical = tmp_path / "v.vert"
    for text, options in (("whole", ["--whole-pages"]), ("main", [])):
        assert main(["extract", str(rewritten), "-o", str(vertical), "--dedup-mib", "0", "-q", *options]) == 0
        pages = links(rewritten, tmp_path / "w.jsonl", "--text", text)
        tokens = links(vertical, tmp_path / "v.jsonl")
        same = ("article", "anchor", "before", "after", "document", "id", "title", "fragment", "language")
        assert [[row[key] for key in same] for row in pages] == [[row[key] for key in same] for row in tokens]
        assert len(pages) > 100
        plain = vertical.read_bytes()
        for row in tokens:
            assert plain.startswith(b'<link="', row["address_at"])
            assert row["anchor"].startswith(plain[row["anchor_at"] :].split(None, 1)[0].decode())


def test_offsets_lead_to_addresses_and_anchors(rewritten: Path, tmp_path: Path) -> None:
    from archive import record_at

    rows = links(rewritten, tmp_path / "w.jsonl")
    bodies: dict[str, bytes] = {}
    for row in rows:
        if row["place"] not in bodies:
            path, _, place = row["place"].rpartition(":")
            offset, _, inner = place.partition("+")
            reader, record = record_at(Path(path), int(offset), int(inner))
            with reader:
                bodies[row["place"]] = record.body()
        body = bodies[row["place"]]
        assert body.startswith(row["address"].replace("&", "&amp;").encode(), row["address_at"])
        assert body[row["anchor_at"] - 1 : row["anchor_at"]] == b">"
    assert Counter(row["kind"] for row in rows).keys() >= {"main", "nav", "links"}
    assert len(rows) > 500
