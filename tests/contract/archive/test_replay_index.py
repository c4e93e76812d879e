"""What replay tools rely on in an index, as pywb 2.10 was seen to use it: the lines, their fields, and digests."""

from __future__ import annotations

import gzip
import json
import lzma
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from archive import WarcWriter, record_at
from archive.index.cdxj import index_file, lookup
from archive.writing.exchange import RevisitTarget
from tests.unit.archive.pages import page

URL = "http://example.com/"
PAYLOAD = b"<p>Umuntu ngumuntu ngabantu."
CHECKSUM = "FUZ6BAWKTNBBO3OGHA2DIBAPI2DN6MEA"
HTTP = b"HTTP/1.0 200 OK\r\nContent-Type: Text/HTML\r\n\r\n" + PAYLOAD
LINE = re.compile(rb'(\S+) (\d{14}) (\{"url": .+\})\n')
NOT_MODIFIED = b"HTTP/1.1 304 Not Modified\r\n\r\n"


def test_lines_are_as_replay_tools_want_them(tmp_path: Path) -> None:
    long = b"<p>" + b"izulu " * 99
    first = page(1, payload=long)
    same = page(2, payload=long)
    kept = RevisitTarget(first.url, "2026-01-02T03:04:06.678901Z", "<urn:uuid:x>")
    unchanged = page(3, payload=b"", response_head=NOT_MODIFIED, not_modified=kept)
    with WarcWriter(tmp_path, "crawl", "gz") as writer:
        for exchange in (first, same, unchanged, page(4, url="http://ü.example/ü?b&A=1")):
            writer.write(exchange)
            writer.sync()
    (path,) = writer.finished
    lines = path.with_name(path.name + ".cdxj").read_bytes().splitlines(keepends=True)
    assert lines == sorted(lines)
    rows = {}
    for line in lines:
        match = LINE.fullmatch(line)
        assert match is not None
        row = json.loads(match[3])
        order = ["url", "mime", "status", "digest", "languages", "length", "offset", "filename"]
        assert list(row) == [name for name in order if name in row]
        assert all(isinstance(value, str) for value in row.values())
        assert row["filename"] == path.name
        rows[row["url"]] = row, match[1]
    original, repeat, not_modified = (rows[exchange.url][0] for exchange in (first, same, unchanged))
    assert (original["mime"], repeat["mime"], not_modified["mime"]) == ("text/html", "warc/revisit", "warc/revisit")
    assert repeat["digest"] == original["digest"]
    assert "digest" not in not_modified
    # docs/archive.md leaves these out with grep.
    assert [line for line in lines if b'"status": "304"' in line] == [lines[0]]
    assert rows["http://%C3%BC.example/%C3%BC?b&A=1"][1] == b"example,xn--tda)/%c3%bc?a=1&b"


def _arc(folder: Path) -> Path:
    head = b"1 0 test\nURL IP-address Archive-date Content-type Archive-length\n"
    lines = [b"filedesc://x.arc 0.0.0.0 20140102030405 text/plain %d" % len(head), head]
    lines += [b"%s 192.0.2.1 20140102030405 text/html %d" % (URL.encode(), len(HTTP)), HTTP, b""]
    path = folder / "x.arc"
    path.write_bytes(b"\n".join(lines))
    return path


def _warc(folder: Path, response: bytes = HTTP) -> Path:
    def record(kind: str, block: bytes) -> bytes:
        head = f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:uuid:{kind}>\r\nWARC-Target-URI: {URL}\r\n"
        head += "WARC-Date: 2014-01-02T03:04:05Z\r\nContent-Type: application/http;msgtype=response\r\n"
        return f"{head}Content-Length: {len(block)}\r\n\r\n".encode() + block + b"\r\n\r\n"

    path = folder / "x.warc"
    path.write_bytes(record("response", response) + record("revisit", NOT_MODIFIED))
    return path


@pytest.mark.parametrize("make", [_arc, _warc])
def test_a_digest_that_is_not_in_the_record_is_computed(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    path = make(tmp_path)
    assert index_file(path) == []
    first, *others = lookup(path.with_name(path.name + ".cdxj"), URL)
    assert (first["mime"], first["status"], first["digest"]) == ("text/html", "200", CHECKSUM)
    assert all("digest" not in row for row in others), "the payload of a revisit is not there"


def test_no_digest_is_computed_of_what_is_too_large_for_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("archive.reading.reader._IN_MEMORY", 50_000)
    path = _warc(tmp_path, HTTP + bytes(400_000))
    assert index_file(path) == []
    first, *_ = lookup(path.with_name(path.name + ".cdxj"), URL)
    assert first["status"] == "200"
    assert "digest" not in first


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress, zstandard.compress])
@pytest.mark.parametrize("split", [None, b"", b"\n"])
def test_an_arc_record_is_found_at_its_place(
    tmp_path: Path, pack: Callable[[bytes], bytes], split: bytes | None
) -> None:
    path = _arc(tmp_path)
    head, line, rest = path.read_bytes().partition(URL.encode())
    path.write_bytes(pack(head + line + rest) if split is None else pack(head) + pack(split + line + rest))
    assert index_file(path) == []
    (row,) = lookup(path.with_name(path.name + ".cdxj"), URL)
    reader, record = record_at(path, int(row["offset"]), int(row.get("inner_offset", 0)))
    with reader:
        assert (record.url, record.body(), record.damage) == (URL, PAYLOAD, None)
