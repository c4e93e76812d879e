"""A spider's own request comes back as it was made, or is refused."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import Spider
from scrapy.http import Request, Response

from crawler.fetch.handler import request_head
from crawler.pages.link_memo import NO_LINK, OWN_MARK, read_link_memo
from crawler.pages.own_requests import is_on_site, is_own, pack_request, request_of, without_secrets
from frontier.types import LONGEST_MEMO_BYTES, Kind, Lease


class Own(Spider):
    """With callbacks."""

    name = "own"

    def parse_item(self, response: Response, **_: Any) -> None:
        """Nothing."""

    def failed(self, failure: Any) -> None:
        """Nothing."""


SPIDER = Own()
URL = "http://a.test/x"


def leased(memo: bytes) -> Lease:
    return Lease("t", URL, Kind.PAGE, "http://a.test", "", 0, 0, memo=memo)


def test_all_of_it_comes_back() -> None:
    made = Request(
        URL,
        SPIDER.parse_item,
        errback=SPIDER.failed,
        cb_kwargs={"name": "Nkosi ünd \ud800", "n": 3},
        meta={"cat": [1, {"a": None}], "lease": object(), "pdf_read": object(), "depth": 3, "download_timeout": 900},
        headers={"X-Own": ["1", "é"], "Accept": "text/html"},
        cookies={"sid": "1"},
        flags=["f"],
    )
    memo = pack_request(made, SPIDER)
    back = request_of(leased(memo), SPIDER)
    assert is_own(leased(memo))
    assert (back.url, back.callback, back.errback) == (URL, SPIDER.parse_item, SPIDER.failed)
    assert (back.cb_kwargs, back.cookies, back.flags) == (made.cb_kwargs, made.cookies, made.flags)
    assert back.headers == made.headers
    assert back.meta == {"cat": [1, {"a": None}]}, "what is of one fetch only is left out"
    assert read_link_memo(memo) is NO_LINK, "it is a first fetch"


def test_a_url_alone_takes_nothing_along() -> None:
    assert pack_request(Request(URL, meta={"depth": 2}, priority=3, dont_filter=True), SPIDER) == b""
    assert request_of(leased(b""), SPIDER).callback is None


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"meta": {"loader": object()}}, "meta of its request"),
        ({"meta": {"pair": (1, 2)}}, "meta of its request"),
        ({"cb_kwargs": {"by_number": {1: 2}}}, "cb_kwargs of its request"),
        ({"callback": lambda _response: None}, "is no method of the spider"),
        ({"meta": {"text": "x" * LONGEST_MEMO_BYTES}}, "bytes beside the URL"),
    ],
)
def test_what_would_not_come_back_as_it_was_is_refused(more: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        pack_request(Request(URL, **more), SPIDER)


def test_a_callback_that_is_gone_is_said() -> None:
    memo = pack_request(Request(URL, SPIDER.parse_item), SPIDER)
    with pytest.raises(ValueError, match="parse_item"):
        request_of(leased(memo), Spider("other"))


@pytest.mark.parametrize(
    "said",
    [
        b"{",
        b"\xff",
        b"[" * 7000,
        b"[]",
        b'{"meta": 1}',
        b'{"headers": {"\xc4\x80": ["1"]}}',
        b'{"headers": {"X": 1}}',
        b'{"callback": "name"}',
        b'{"cookies": 1, "callback": {}}',
    ],
)
def test_a_memo_of_anothers_hand_is_refused(said: bytes) -> None:
    with pytest.raises(ValueError, match=URL):
        request_of(leased(OWN_MARK + said), SPIDER)


def test_of_a_memo_of_anothers_hand_only_what_we_keep_is_taken() -> None:
    memo = OWN_MARK + b'{"_class": "os.system", "method": "POST", "body": "x", "url": "http://b.test/",'
    found = request_of(leased(memo + b'"meta": {"capture": 1, "finding": 2, "own": 3}}'), SPIDER)
    assert (type(found), found.method, found.body, found.url, found.meta) == (Request, "GET", b"", URL, {"own": 3})
    feed = Lease("t", URL, Kind.FEED, "http://a.test", "", 0, 0, memo=memo)
    assert not is_own(feed), "a feed's memo is its own"


def test_secrets_stay_with_their_host() -> None:
    headers = {"Authorization": "Basic x", "Cookie": "a=1", "X-Own": "1"}
    memo = pack_request(Request(URL, SPIDER.parse_item, headers=headers, cookies={"sid": "1"}), SPIDER)
    for there in ("http://a.test/y", "https://a.test/x"):
        assert without_secrets(memo, URL, there) == memo
    for asked, there in ((URL, "http://b.test/x"), (URL, "http://a.test:8080/x"), ("https://a.test/x", URL)):
        found = request_of(leased(without_secrets(memo, asked, there)), SPIDER)
        assert (found.headers, found.cookies, found.callback) == ({b"X-Own": [b"1"]}, {}, SPIDER.parse_item)
    assert without_secrets(b"\x00link", URL, "http://b.test/") == b"\x00link"
    alone = pack_request(Request(URL, cookies={"sid": "1"}), SPIDER)
    assert without_secrets(alone, URL, "http://b.test/") == b""


def test_allowed_domains() -> None:
    assert is_on_site(Own(allowed_domains=["a.test", None]), URL)
    spider = Own(allowed_domains=["A.test"])
    sites = ["http://a.test:8/", "http://x.a.test/", "http://ba.test/", "http:///"]
    assert [is_on_site(spider, url) for url in sites] == [True, True, False, False]
    assert is_on_site(SPIDER, "http://ba.test/")


def test_a_header_is_one_line() -> None:
    made = Request("http://a.test/x", headers={"X-Own": "1\r\nX-Two: 2\r\n\r\nGET /smuggled HTTP/1.1", "X-B\nC": "d"})
    assert request_head(made).split(b"\r\n") == [
        b"GET /x HTTP/1.1",
        b"Host: a.test",
        b"X-Own: 1 X-Two: 2  GET /smuggled HTTP/1.1",
        b"X-B C: d",
        b"",
        b"",
    ]
