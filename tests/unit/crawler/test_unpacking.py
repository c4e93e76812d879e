"""A body that is not what its head says is read as far as it goes, but for the rules of a host."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable

import brotli
import pytest
import zstandard
from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import HtmlResponse, Request
from scrapy.settings import Settings
from scrapy.statscollectors import DummyStatsCollector

from crawler.fetch.errors import CutError
from crawler.fetch.unpacking import Unpacking

PLAIN = b"<html><body>" + bytes(range(32, 127)) * 40 + b"</body></html>"


def unpacked(body: bytes, coding: str, *, robots: bool = False, most: int = 100_000, status: int = 200) -> HtmlResponse:
    crawler = Crawler(Spider, Settings({"DOWNLOAD_MAXSIZE": most}))
    crawler.stats = DummyStatsCollector(crawler)
    request = Request("http://a.test/", meta={"robots": robots})
    headers = {"Content-Type": "text/html", "Content-Encoding": coding}
    found = Unpacking.from_crawler(crawler).process_response(request, HtmlResponse(request.url, status, headers, body))
    assert isinstance(found, HtmlResponse)
    return found


@pytest.mark.parametrize("coding", ["gzip", "br", "zstd", "x-gzip, gzip"])
def test_what_was_never_packed_is_as_it_came(coding: str) -> None:
    found = unpacked(PLAIN, coding)
    assert (found.body, found.headers.get("Content-Encoding")) == (PLAIN, None)
    with pytest.raises(CutError):
        unpacked(PLAIN, coding, robots=True)


@pytest.mark.parametrize(
    ("coding", "pack"), [("gzip", gzip.compress), ("br", brotli.compress), ("zstd", zstandard.compress)]
)
def test_what_follows_the_body_is_left(coding: str, pack: Callable[[bytes], bytes]) -> None:
    assert unpacked(pack(PLAIN) + b"and more", coding).body == PLAIN
    assert unpacked(pack(PLAIN), coding, robots=True).body == PLAIN


@pytest.mark.parametrize(
    ("coding", "pack"),
    [("gzip", gzip.compress), ("br", brotli.compress), ("zstd", zstandard.compress), ("deflate", zlib.compress)],
)
def test_rules_that_unpack_in_part_are_none(coding: str, pack: Callable[[bytes], bytes]) -> None:
    packed = pack(PLAIN)
    assert unpacked(packed, coding, robots=True).body == PLAIN
    for cut in (packed[: len(packed) // 2], packed[:-1]):
        with pytest.raises(CutError):
            unpacked(cut, coding, robots=True)
    assert unpacked(packed[: len(packed) // 2], coding, robots=True, status=404), "what is no rules may be anything"


def test_rules_in_an_unknown_coding_are_none() -> None:
    for coding in ("compress", "gzip, gzip", "lzma"):
        with pytest.raises(CutError):
            unpacked(PLAIN, coding, robots=True)
        assert unpacked(PLAIN, coding).body == PLAIN
    assert unpacked(b"", "gzip", robots=True).body == b""
    for none in ("identity", "UTF-8", "none", "iso-8859-1, identity"):
        assert unpacked(PLAIN, none, robots=True).body == PLAIN
    members = gzip.compress(PLAIN) + gzip.compress(b"more")
    assert unpacked(members, "gzip", robots=True).body == PLAIN + b"more"


@pytest.mark.parametrize("status", [301, 404, 429, 503])
def test_a_bomb_that_is_no_page_is_what_its_status_says(status: int) -> None:
    for robots in (False, True):
        found = unpacked(gzip.compress(bytes(1_000_000)), "gzip", status=status, robots=robots)
        assert (found.status, found.body, found.headers.get("Content-Encoding")) == (status, b"", None)


def test_a_bomb_is_refused_and_a_broken_one_bounded() -> None:
    bomb = gzip.compress(bytes(1_000_000))
    with pytest.raises(IgnoreRequest):
        unpacked(bomb, "gzip", most=1000)
    broken = zlib.compress(bytes(1_000_000))[:-4] + b"????"
    assert len(unpacked(broken, "deflate", most=2_000_000).body) <= 1_000_000
