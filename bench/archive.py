"""Archives against their peers, all in one run: ``python -m bench.archive [--pages 1200] [--json]``.

Writing: warcio's ``.warc.gz`` (a member a record, level 6) against our ``.warc.xz``, ``.gz`` and ``.zst`` with journal,
index and digests, on pages as a crawl meets them (the synthetic web, hosts in turn) and on unrelated pages
(``../shared/data/pages``, when they are there). Reading: warcio and fastwarc against ours, payload of every record; our
``.warc.xz`` against liblzma alone. Random access by the index. What the crawling thread spends a page. Times are CPU
seconds of the process, the best of a few runs; every figure with a limit says whether it is kept; exit code 1: one is
not.
"""

from __future__ import annotations

import argparse
import gc
import gzip
import io
import json
import lzma
import random
import tempfile
import time
import zlib
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from fastwarc.warc import ArchiveIterator as FastIterator
from warcio import warcwriter
from warcio.archiveiterator import ArchiveIterator

from archive import Exchange, Reader, WarcWriter, WriterConfig, record_at
from archive.index.cdxj import lookup
from bench.ending import end_with
from tests.web import WebSpec
from tests.web.answer import HTML, Answer, head
from tests.web.paths import Resource
from tests.web.web import Web

PAGES = Path(__file__).parents[2] / "shared" / "data" / "pages"
REQUEST = "GET {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: ulwembu/0.1 (+http://e.org)\r\nAccept: text/html\r\n\r\n"
RUNS = 3


class Level6(warcwriter.GzippingWrapper):  # type: ignore[misc]
    """warcio has level 9 built in."""

    def __init__(self, out: io.BufferedIOBase) -> None:
        self.compressor = zlib.compressobj(6, zlib.DEFLATED, zlib.MAX_WBITS + 16)
        self.out = out


def exchange(url: str, body: bytes) -> Exchange:
    scheme, _, rest = url.partition("://")
    host, _, path = rest.partition("/")
    return Exchange(
        url=url,
        ip="192.0.2.10",
        started=datetime.now(UTC),
        request_bytes=REQUEST.format(path="/" + path, host=host).encode(),
        response_head=head(Answer(200, body, (("Content-Type", HTML),)), time.time()),
        payload=body,
        protocol="http/1.1",
        metadata={"via": f"{scheme}://{host}/", "depth": 2, "languages": "zul", "charset": "utf-8", "words": 731},
        fetch_ms=41,
    )


def crawl_pages(count: int) -> list[Exchange]:
    """Pages of the synthetic web in the order of a polite crawl: the hosts in turn."""
    web = Web(WebSpec(seed=5, hosts=12, pages=count, port=8400))
    found = []
    for i in range(max(site.pages for site in web.sites)):
        for site in web.sites:
            if i < site.pages:
                url = web.paths.url(Resource(site.index, "page", i))
                found.append(exchange(url, web.answers.page_body(site, i)))
    return found[:count]


def unrelated_pages() -> list[Exchange]:
    """Pages of as many sites."""
    files = sorted(PAGES.glob("*/*.html.gz"))
    bodies = [gzip.decompress(path.read_bytes()) for path in files]
    return [
        exchange(f"https://site{n}.example/{path.name}", body)
        for n, (path, body) in enumerate(zip(files, bodies, strict=True))
    ]


def cpu(work: Callable[[], object], runs: int = RUNS) -> float:
    best = float("inf")
    for _ in range(runs):
        gc.collect()
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def write_warcio(path: Path, pages: list[Exchange]) -> None:
    warcwriter.GzippingWrapper = Level6
    with path.open("wb") as file:
        writer = warcwriter.WARCWriter(file, gzip=True, warc_version="1.1")
        writer.write_record(writer.create_warcinfo_record(path.name, {"software": "bench"}))
        for page in pages:
            block = io.BytesIO(page.response_head + page.payload)
            response = writer.create_warc_record(page.url, "response", payload=block)
            request = writer.create_warc_record(page.url, "request", payload=io.BytesIO(page.request_bytes))
            writer.write_request_response_pair(request, response)
            fields = "".join(f"{name}: {value}\r\n" for name, value in page.metadata.items()).encode()
            writer.write_record(
                writer.create_warc_record(
                    page.url, "metadata", payload=io.BytesIO(fields), warc_content_type="application/warc-fields"
                )
            )


def write_ours(folder: Path, pages: list[Exchange], kind: str) -> tuple[Path, float]:
    """The file, and the CPU seconds a page of the calling thread."""
    writer = WarcWriter(folder, "bench", kind, config=WriterConfig(reserve_bytes=0, seen_capacity=0))
    spent = 0.0
    for start in range(0, len(pages), 50):
        tokens = [f"t{n}" for n in range(start, min(start + 50, len(pages)))]
        began = time.thread_time()
        for token, page in zip(tokens, pages[start : start + 50], strict=True):
            writer.write(page, token)
        writer.sync()
        writer.settle(tokens)
        spent += time.thread_time() - began
    writer.close()
    return writer.finished[0], spent / len(pages)


class Report:
    """Figures with their limits."""

    def __init__(self, *, quiet: bool) -> None:
        self.rows: list[dict[str, object]] = []
        self._quiet = quiet

    def add(self, name: str, value: float, unit: str, limit: str = "") -> None:
        kept = True
        if limit:
            bound = float(limit[2:])
            kept = value <= bound if limit.startswith("<=") else value >= bound
        self.rows.append({"name": name, "value": round(value, 4), "unit": unit, "limit": limit, "kept": kept})
        mark = "" if not limit else ("ok" if kept else "MISSED")
        if not self._quiet:
            print(f"{name:<58} {value:>10.3f} {unit:<6} {limit:<8} {mark}", flush=True)


def payload_bytes(path: Path) -> int:
    """Of all answers in a file."""
    return sum(len(record.payload()) for record in Reader(path, types=["response"]))


def writing(report: Report, folder: Path, name: str, pages: list[Exchange], limit: str) -> dict[str, Path]:
    """Sizes and speeds of one set of pages; returns the files."""
    plain = sum(len(page.payload) + len(page.response_head) + len(page.request_bytes) for page in pages)
    peer = folder / f"{name}.warcio.warc.gz"
    peer_s = cpu(lambda: write_warcio(peer, pages), 2)
    peer_bytes = peer.stat().st_size
    wanted = sum(len(page.payload) for page in pages)
    assert payload_bytes(peer) == wanted
    report.add(f"{name}: {len(pages)} pages", plain / 1e6, "MB")
    report.add(f"{name}: warcio gz -6", peer_bytes / 1e6, "MB")
    report.add(f"{name}: warcio gz -6 speed", plain / 1e6 / peer_s, "MB/s")
    files = {"warcio": peer}
    for kind in ("xz", "gz", "zst"):

        def write(kind: str = kind) -> None:
            files[kind] = write_ours(folder / name / kind, pages, kind)[0]

        spent_s = cpu(write, 2)
        assert payload_bytes(files[kind]) == wanted, "pages are lost"
        size = files[kind].stat().st_size
        report.add(f"{name}: {kind} bytes / warcio gz", size / peer_bytes, "x", limit if kind == "xz" else "")
        report.add(f"{name}: {kind} speed / warcio gz", peer_s / spent_s, "x", ">=0.25" if kind == "xz" else "")
    return files


def reading(report: Report, files: dict[str, Path]) -> None:
    def with_warcio() -> int:
        with files["gz"].open("rb") as file:
            return sum(len(record.content_stream().read()) for record in ArchiveIterator(file))

    def with_fastwarc() -> int:
        return sum(len(record.reader.read()) for record in FastIterator(str(files["gz"])))

    def with_ours(kind: str) -> Callable[[], int]:
        return lambda: sum(len(record.payload()) for record in Reader(files[kind]))

    def listing() -> None:
        for _ in Reader(files["xz"]):
            pass

    def liblzma() -> None:
        lzma.decompress(files["xz"].read_bytes())

    read = {with_warcio(), with_fastwarc(), *(with_ours(kind)() for kind in ("xz", "gz", "zst"))}
    assert len(read) == 1, f"not all read the same: {read} bytes"
    peer = cpu(with_warcio)
    report.add("read gz, payloads: fastwarc / warcio", peer / cpu(with_fastwarc), "x")
    report.add("read gz, payloads: ours / warcio", peer / cpu(with_ours("gz"), 5), "x", ">=2")
    report.add("read zst, payloads: ours / warcio on gz", peer / cpu(with_ours("zst")), "x")
    ratios = sorted(cpu(listing, 2) / cpu(liblzma, 2) for _ in range(5))
    report.add("read xz, all records: time / liblzma alone", ratios[2], "x", "<=1.10")
    ratios = sorted(cpu(with_ours("xz"), 2) / cpu(liblzma, 2) for _ in range(3))
    report.add("read xz, payloads taken out, too", ratios[1], "x")


def random_access(report: Report, files: dict[str, Path], pages: list[Exchange]) -> None:
    rng = random.Random(1)
    for kind in ("xz", "gz", "zst"):
        index = files[kind].with_name(files[kind].name + ".cdxj")
        times = []
        for page in rng.sample(pages, min(200, len(pages))):
            start = time.perf_counter()
            row = lookup(index, page.url)[0]
            reader, record = record_at(files[kind], int(row["offset"]), int(row.get("inner_offset", 0)))
            same = record.payload() == page.payload
            reader.close()
            times.append((time.perf_counter() - start) * 1000)
            assert same
        times.sort()
        report.add(f"random access by URL, {kind}: median", times[len(times) // 2], "ms", "<=15")
        report.add(f"random access by URL, {kind}: 95 %", times[len(times) * 95 // 100], "ms")


def calling_thread(report: Report, folder: Path, pages: list[Exchange]) -> None:
    best = min(write_ours(folder / f"thread{run}", pages, "xz")[1] for run in range(3))
    report.add("the crawling thread's share of archiving, a page", best * 1e6, "us", "<=60")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.archive", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pages", type=int, default=1200, help="pages of the synthetic web (default 1200)")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    options = parser.parse_args()
    report = Report(quiet=options.json)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pages = crawl_pages(options.pages)
        files = writing(report, folder, "crawl", pages, "<=0.75")
        reading(report, files)
        random_access(report, files, pages)
        calling_thread(report, folder, pages)
        if PAGES.exists():
            writing(report, folder, "unrelated", unrelated_pages(), "<=0.88")
    if options.json:
        print(json.dumps(report.rows))
    return 0 if all(row["kept"] for row in report.rows) else 1


if __name__ == "__main__":
    end_with(main)
