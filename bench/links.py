"""`python -m bench.links [PAGES]`: links to Wikipedia out of archives, beside the plain way to them, in one run.

PAGES is a folder of packed HTML files (in every depth); without one nothing is measured. They are written to a WARC.gz
as they are, and to one with all their links leading to Wikipedia; a vertical file is made of each. The plain way reads
an archive with fastwarc, passes over pages without "wikipedia.org", parses the others with lxml, and takes the text
beside a link within its element; it has neither encodings nor navigation nor places. Printed: links, and pages a second
of one processor.
"""

from __future__ import annotations

import argparse
import gzip
import re
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import unquote

import lxml.html
from fastwarc.warc import ArchiveIterator, WarcRecordType

from archive import Exchange, WarcWriter
from bench.ending import end_with
from bench.table import Columns, Row, show, times
from corpus.extraction import Choice, Extraction
from corpus.vertical.writing import text_of
from corpus.wikilinks import Search

DATA = Path("../shared/data/pages")
_HREF = re.compile(rb"""(<a\s[^>]*?\bhref\s*=\s*)(?:"[^"]*"|'[^']*'|[^\s>"']+)""", re.I)
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
_ADDRESS = re.compile(r"(?:https?:)?//(?:www\.)?([a-z-]+)\.(?:m\.)?wikipedia\.org/wiki/([^?#:]+)", re.I)
_WORDS = 10


def archive(folder: Path, bodies: Sequence[bytes]) -> Path:
    with WarcWriter(folder, "bench", compression="gz") as writer:
        for number, body in enumerate(bodies):
            url, start = f"https://a.example/{number}", datetime(2024, 1, 1, tzinfo=UTC)
            writer.write(Exchange(url, "192.0.2.1", start, b"GET / HTTP/1.1\r\n\r\n", _HEAD, body))
    [path] = folder.glob("*.warc.gz")
    return path


def vertical(path: Path) -> Path:
    target = path.with_suffix(".vert")
    documents = Extraction(Choice(dedup_bytes=0, links=True, whole_pages=True)).documents([str(path)])
    target.write_text("".join(map(text_of, documents)), encoding="utf-8")
    return target


def ours(path: Path) -> int:
    return sum(1 for _ in Search().mentions([str(path)]))


def plain(path: Path) -> int:
    with path.open("rb") as file:
        records = ArchiveIterator(file, record_types=WarcRecordType.response)
        return sum(len(_plain_links(record.reader.read())) for record in records)


def _plain_links(body: bytes) -> list[tuple[str, ...]]:
    found = []
    for node in lxml.html.document_fromstring(body).iter("a") if b"wikipedia.org" in body else ():
        address, anchor = _ADDRESS.match(node.get("href", "")), " ".join("".join(map(str, node.itertext())).split())
        if address and anchor:
            last, parent = node.getprevious(), node.getparent()
            before = last.tail if last is not None else parent.text if parent is not None else ""
            words = (before or "").split()[-_WORDS:], (node.tail or "").split()[:_WORDS]
            found.append((f"{address[1]}:{unquote(address[2])}", anchor, *map(" ".join, words)))
    return found


def measure(find: Callable[[Path], int], path: Path, pages: int) -> tuple[int, float]:
    """Links, and pages a second."""
    start = time.process_time()
    links = find(path)
    return links, pages / max(time.process_time() - start, 1e-9)


def main() -> None:
    shown = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="python -m bench.links", description=__doc__, formatter_class=shown)
    parser.add_argument("pages", type=Path, nargs="?", default=DATA, help=f"default: {DATA}")
    given = parser.parse_args()
    if given.pages == DATA and not DATA.is_dir():
        print(f"nothing to measure on: no {DATA}")
        return
    bodies = [gzip.decompress(path.read_bytes()) for path in sorted(given.pages.rglob("*.html.gz"))]
    if not bodies:
        parser.error(f"no *.html.gz in {given.pages}")
    linked = [_HREF.sub(rb'\1"https://zu.wikipedia.org/wiki/IsiZulu"', body) for body in bodies]
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, some in (("as they are", bodies), ("all links to Wikipedia", linked)):
            path = archive(Path(folder, name), some)
            for kind, file, find in (("WARC.gz", path, plain), ("vertical", vertical(path), None)):
                links, speed = measure(ours, file, len(some))
                row = {"name": f"{name}, {kind}", "links": links, "pages_s": speed}
                if find is not None:
                    row["plain_links"], row["plain_pages_s"] = measure(find, file, len(some))
                rows.append(row)
    columns: Columns = {
        "pages": "name",
        "links": "links",
        "pages/s": "pages_s",
        "plain links": "plain_links",
        "plain pages/s": "plain_pages_s",
        "speed": lambda row: times(row["pages_s"], row.get("plain_pages_s", 0.0)),
    }
    size = sum(map(len, bodies)) // len(bodies) >> 10
    show(f"Links of {len(bodies)} pages of {size} KiB", columns, rows)


if __name__ == "__main__":
    end_with(main)
