"""PDF documents on their way through Scrapy: read, or a reason why not."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import Mock

import pytest
from scrapy.exceptions import NotConfigured
from scrapy.http import Request, Response
from scrapy.settings import Settings
from scrapy.signalmanager import SignalManager

from crawler.addon import Ulwembu
from crawler.focus import FocusMiddleware
from crawler.pages.findings import Finding
from crawler.pdf_documents import PdfDocuments
from frontier.clock_line import uptime_s
from frontier.types import Kind, Lease
from relevance import Page, PdfError
from relevance.pages.blocks import Block

HOME = "https://a.example"
URL = f"{HOME}/umbiko"
BODY = b"%PDF-1.4 ..."
PAGE = Page(URL, blocks=(Block("Umongameli wezwe uthe abantu bakithi.", "main"),))


def crawler(**changed: object) -> Any:
    settings = Settings()
    Ulwembu().update_settings(settings)
    settings.update(changed)
    return SimpleNamespace(settings=settings, signals=SignalManager(), stats=Mock())


def passed(
    given: Page | Exception, *, kind: Kind = Kind.PAGE, left_s: float = 100.0, status: int = 200, body: bytes = BODY
) -> tuple[Mapping[str, Any], Mock]:
    """The meta of a request whose answer has come, and the reader."""
    documents = PdfDocuments.from_crawler(crawler())
    documents._reader = reader = Mock()
    reader.read.side_effect = [given]
    lease = Lease("t", URL, kind, HOME, "", 0, 0)
    request = Request(URL, meta={"lease": lease, "grant": SimpleNamespace(ends=uptime_s() + left_s)})
    answer = Response(URL, status=status, body=body, headers={"Content-Type": "application/octet-stream"})
    assert asyncio.run(documents.process_response(request, answer)) is answer
    return request.meta, reader


def test_a_document_is_read_for_the_focus_middleware() -> None:
    meta, reader = passed(PAGE)
    assert meta["pdf_read"] is PAGE
    [(body, url, most_s)] = [call.args for call in reader.read.call_args_list]
    assert (body, url, most_s) == (BODY, URL, 20.0)


def test_no_document_is_read_for_longer_than_its_lease_lasts() -> None:
    _, reader = passed(PAGE, left_s=8)
    assert 3.5 < reader.read.call_args.args[2] <= 4.0
    meta, reader = passed(PAGE, left_s=-1)
    assert meta["pdf_read"].reason == "late"
    reader.read.assert_not_called()


@pytest.mark.parametrize(("left_s", "reason"), [(8, "late"), (100, "slow")])
def test_one_that_had_less_than_its_time_is_not_called_slow(left_s: float, reason: str) -> None:
    meta, _ = passed(PdfError(URL, "slow"), left_s=left_s)
    assert meta["pdf_read"].reason == reason
    assert passed(PdfError(URL, "damaged"), left_s=left_s)[0]["pdf_read"].reason == "damaged"


@pytest.mark.parametrize(
    "other",
    [
        *({"kind": Kind.ROBOTS}, {"kind": Kind.FEED}, {"status": 404}, {"status": 301}, {"status": 206}),
        {"body": b"GIF89a"},
    ],
)
def test_what_is_no_document_passes(other: dict[str, Any]) -> None:
    meta, reader = passed(PAGE, **other)
    assert "pdf_read" not in meta
    reader.read.assert_not_called()


def test_it_can_be_switched_off() -> None:
    with pytest.raises(NotConfigured):
        PdfDocuments.from_crawler(crawler(RELEVANCE_PDF=False))


def read(kind: str, body: bytes, **meta: object) -> tuple[Page | None, Finding]:
    """What the focus middleware makes of an answer."""
    focus = FocusMiddleware(crawler(), cast("Any", None))
    answer = Response(URL, body=body, headers={"Content-Type": kind}, request=Request(URL, meta=meta))
    finding = Finding("ok")
    return focus._page(answer, finding), finding


def test_the_focus_middleware_takes_what_was_read() -> None:
    assert read("application/pdf", BODY, pdf_read=PAGE) == (PAGE, Finding("ok"))
    page, finding = read("application/pdf", BODY, pdf_read=PdfError(URL, "password"))
    assert (page, finding.metadata) == (None, {"unread": "password"})


@pytest.mark.parametrize("kind", ["application/pdf", ""])
def test_a_document_is_never_read_as_html(kind: str) -> None:
    assert read(kind, BODY)[0] is None


def test_what_a_spider_calls_its_own_stays_its_own() -> None:
    page, _ = read("text/html", b"<p>Umongameli wezwe</p>", pdf_read="no page of ours")
    assert page is not None
    assert page.text() == "Umongameli wezwe"
