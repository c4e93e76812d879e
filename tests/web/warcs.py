"""Compares a folder of WARC files with what the synthetic web served: each page, once, and byte for byte.

Reads with warcio over the standard library's decompressors, so with nothing of the project's own archive room.
"""

from __future__ import annotations

import gzip
import io
import lzma
import struct
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

import brotli
import zstandard
from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed

from tests.web.paths import Resource
from tests.web.verify import Findings
from tests.web.web import Web

_DICTIONARY_FRAME = 0x184D2A5D
SUFFIXES = (".warc", ".warc.gz", ".warc.xz", ".warc.zst")


def check_archive(folder: Path, findings: Findings, web: Web | None = None) -> Counter[str]:
    """Add to `findings.archive` what is wrong with the closed WARC files below `folder`; gives counts of record types.

    Without `web` only structure and repeats by URL are checked; with it also that a page is what was served, and that
    those are there, or a revisit of them, which by `findings` were fetched whole.
    """
    counts: Counter[str] = Counter()
    kept: Counter[str] = Counter()
    again: set[str] = set()
    files = sorted(path for path in folder.rglob("*") if path.name.endswith(SUFFIXES))
    if not files:
        findings.archive.append(f"{folder}: no WARC file")
    for path in files:
        try:
            for kind, url, status, payload in _responses(path):
                counts[kind] += 1
                if kind == "revisit":
                    again.add(_key(url, web))
                elif kind == "response" and status == 200:
                    kept[_key(url, web)] += 1
                    if web is not None:
                        findings.archive += _differences(url, payload, web)
        except (ArchiveLoadFailed, lzma.LZMAError, zlib.error, EOFError, OSError, ValueError) as error:
            findings.archive.append(f"{path.name}: {error or type(error).__name__}")
    findings.archive += [f"{url}: kept {n} times" for url, n in kept.items() if n > 1 and url]
    if web is not None:
        findings.archive += [f"{url}: fetched, but not kept" for url in sorted(findings.whole - kept.keys() - again)]
    return counts


def _responses(path: Path) -> Iterator[tuple[str, str, int, bytes]]:
    """(type, URL, status, decoded payload; b"" for others than responses) of each record."""
    with _plain(path) as stream:
        for record in ArchiveIterator(stream, check_digests="raise"):
            kind, url = str(record.rec_type), str(record.rec_headers.get_header("WARC-Target-URI") or "")
            if kind != "response" or record.http_headers is None:
                record.raw_stream.read()  # of a revisit there is nothing to decode, and warcio fails at "br"
                yield kind, url, 0, b""
                continue
            status = int(record.http_headers.get_statuscode() or 0)
            coding = str(record.http_headers.get_header("Content-Encoding") or "")
            truncated = record.rec_headers.get_header("WARC-Truncated")
            payload = record.raw_stream.read()
            yield kind, url, 0 if truncated else status, _decoded(payload, coding)


def _plain(path: Path) -> IO[bytes]:
    if path.name.endswith(".xz"):
        return cast("IO[bytes]", lzma.open(path))
    if path.name.endswith(".gz"):
        return cast("IO[bytes]", gzip.open(path))
    if path.name.endswith(".zst"):
        return _zstd(path.open("rb"))
    return path.open("rb")


def _zstd(file: IO[bytes]) -> IO[bytes]:
    """With the dictionary that a first, skippable frame may hold (IIPC's proposal)."""
    magic, size = struct.unpack("<II", file.read(8))
    words = file.read(size) if magic == _DICTIONARY_FRAME else b""
    if not words:
        file.seek(0)
    if words.startswith(zstandard.FRAME_HEADER):
        words = zstandard.ZstdDecompressor().decompressobj().decompress(words)
    unpacker = zstandard.ZstdDecompressor(dict_data=zstandard.ZstdCompressionDict(words) if words else None)
    return cast("IO[bytes]", unpacker.stream_reader(file, read_across_frames=True))


def _decoded(payload: bytes, coding: str) -> bytes:
    """The payload without its content-coding; as it is when the web served it damaged on purpose."""
    try:
        match coding:
            case "gzip":
                return gzip.GzipFile(fileobj=io.BytesIO(payload)).read()
            case "deflate":
                return zlib.decompress(payload)
            case "br":
                return bytes(brotli.decompress(payload))
    except (OSError, EOFError, zlib.error, brotli.error):
        return payload
    return payload


def _key(url: str, web: Web | None) -> str:
    """The plain URL of a page; "" for what may be kept more than once (robots.txt, feeds, sitemaps)."""
    if web is None:
        return "" if url.endswith("/robots.txt") or "/feed/" in url or "/sitemap" in url or "/go/robots" in url else url
    resource = web.read_url(url)
    return web.paths.url(resource) if resource and resource.kind in ("page", "item") else ""


def _differences(url: str, payload: bytes, web: Web) -> list[str]:
    resource = web.read_url(url)
    if resource is None:
        return [f"{url}: not of this web"]
    if resource.kind != "page" or _same(web, resource, payload):
        return []
    return [f"{url}: the archived payload ({len(payload)} bytes) is not what was served"]


def _same(web: Web, resource: Resource, payload: bytes) -> bool:
    return payload == web.answers.page_body(web.sites[resource.site], resource.n)
