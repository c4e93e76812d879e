"""Requests of a callback, on their way from its page to the scheduler."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

import pytest
from scrapy.http import Request, Response

from crawler.focus import FocusMiddleware
from crawler.pages.findings import Finding
from crawler.scheduler import FrontierScheduler
from frontier.types import Kind, Lease


def page(number: int) -> Response:
    """The answer to a lease, judged."""
    url = f"http://a.example/{number}"
    lease = Lease(f"{number}-0", url, Kind.PAGE, "http://a.example", "", 0, 1)
    return Response(url, request=Request(url, meta={"lease": lease, "finding": Finding(f"{number}")}))


def test_a_request_goes_with_its_page_and_no_page_with_that_of_another() -> None:
    first, second, crawler = page(1), page(2), Mock()
    focus: Any = FocusMiddleware.__new__(FocusMiddleware)
    focus._crawler, focus._worker = crawler, Mock()
    new, alone = Request("http://a.example/3"), Request("http://a.example/4", meta={"lease": first.meta["lease"]})
    assert first.request
    assert list(focus.process_spider_output(second, [new, alone, first.request, 7])) == [None, None, None, 7]
    handed_on = [call.args[0].meta["finding"] for call in crawler.engine.crawl.call_args_list]
    assert handed_on == [second.meta["finding"], second.meta["finding"], first.meta["finding"]]
    assert first.meta["finding"].result == "1", "what is reported of it"
    focus._worker.finish.assert_called_once_with(second.meta["lease"], second.meta["finding"], None)


@pytest.mark.parametrize(("priority", "score"), [(0, 0.5), (-37, 0.13), (50, 1.0), (51, 1.0), (-50, 0.0), (-9999, 0.0)])
def test_the_priority_of_a_request_is_its_score(priority: int, score: float) -> None:
    worker = Mock()
    assert FrontierScheduler(worker).enqueue_request(Request("http://a.example/3", priority=priority))
    (candidate,) = worker.enqueue.call_args.args
    assert candidate.score == pytest.approx(score)
