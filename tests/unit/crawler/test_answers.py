import time
from dataclasses import replace
from email.utils import formatdate

import pytest
from scrapy.exceptions import IgnoreRequest
from scrapy.http import HtmlResponse, Request, Response

from crawler.fetch.errors import DnsError, NotGrantedError, OptedOutError, RefusedAddressError, StaleLeaseError
from crawler.pages import answers
from crawler.pages.answers import OutsideFrontierError, RobotsDeniedError, record_of
from frontier.errors import FrontierUnavailable, OptOutsDamaged
from frontier.outcomes import DAY, OUTCOMES, RETRY_AFTER_CAP_MS
from frontier.robots import LONGEST_BYTES, allowed
from frontier.types import Kind, Lease


def answer(status: int, flags: list[str] | None = None, **headers: str) -> Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response("http://a.test/x/y", status=status, headers=named, flags=flags or [])


def lease(kind: Kind = Kind.PAGE) -> Lease:
    return Lease("t", "http://a.test/", kind, "http://a.test", "", 0, 0)


@pytest.mark.parametrize("status", range(200, 600))
def test_every_status_has_a_row_in_the_table(status: int) -> None:
    assert answers.result_of(answer(status)) in OUTCOMES


@pytest.mark.parametrize(
    ("response", "result"),
    [
        (answer(200), "ok"),
        (answer(206), "part"),
        (answer(206, Content_Range="bytes 0-99/*"), "part"),
        (answer(206, Content_Range="bytes 0-99/200"), "part"),
        (answer(206, Content_Range="bytes 100-199/200"), "part"),
        (answer(206, Content_Range="bytes 0-199/200"), "ok"),
        (answer(304), "not_modified"),
        (answer(301, Location="/z"), "redirect"),
        (answer(302), "http_other"),
        (answer(404), "http_404"),
        (answer(410), "http_410"),
        (answer(403), "http_4xx"),
        (answer(429), "http_429"),
        (answer(500), "http_5xx"),
        (answer(503), "http_503"),
        (answer(200, ["truncated"]), "too_large"),
        (answer(206, ["truncated"], Content_Range="bytes 0-199/200"), "too_large"),
        (answer(301, ["truncated"], Location="/z"), "redirect"),
        (answer(404, ["truncated"]), "http_404"),
        (answer(429, ["truncated"]), "http_429"),
        (answer(503, ["truncated"]), "http_503"),
    ],
)
def test_results(response: Response, result: str) -> None:
    assert answers.result_of(response) == result


def test_retry_after_in_seconds() -> None:
    assert answers.retry_after_ms(answer(503, Retry_After="120")) == 120_000
    assert answers.retry_after_ms(answer(429, Retry_After=" 1 ")) == 1000
    assert answers.retry_after_ms(answer(429, Retry_After="²")) is None
    assert answers.retry_after_ms(answer(429, Retry_After="9" * 5000)) == RETRY_AFTER_CAP_MS
    assert answers.retry_after_ms(answer(429, Retry_After="0" * 5000 + "60")) == 60_000


def test_of_several_retry_afters_the_longest_holds() -> None:
    for values in (["3600", "60"], ["60", "3600"], ["3600", "0"], ["60, 3600"], ["3600,60"], ["soon", "3600"]):
        response = answer(429)
        response.headers.setlist("Retry-After", values)
        assert answers.retry_after_ms(response) == 3_600_000, values


def test_retry_after_as_a_date_is_read_against_the_servers_clock() -> None:
    now = time.time() - 86_400
    response = answer(503, Retry_After=formatdate(now + 90, usegmt=True), Date=formatdate(now, usegmt=True))
    assert answers.retry_after_ms(response) == 90_000


@pytest.mark.parametrize(
    "form",
    ["%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y", "%a, %d %b %Y %H:%M:%S +0000"],
)
def test_a_date_is_read_in_every_form_of_http_and_in_any_time_zone(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Africa/Johannesburg")
    time.tzset()
    try:
        wait_ms = answers.retry_after_ms(answer(503, Retry_After=time.strftime(form, time.gmtime(time.time() + 600))))
    finally:
        monkeypatch.undo()
        time.tzset()
    assert wait_ms is not None
    assert 500_000 < wait_ms <= 600_000


@pytest.mark.parametrize("value", ["0", "000", formatdate(0, usegmt=True)])
def test_busy_but_ask_at_once_says_nothing(value: str) -> None:
    assert answers.retry_after_ms(answer(503, Retry_After=value)) is None


@pytest.mark.parametrize("value", ["soon", "-5", "1.5", "", "Wed, 99 Foo 2020"])
def test_a_retry_after_that_is_none(value: str) -> None:
    assert answers.retry_after_ms(answer(503, Retry_After=value)) is None


@pytest.mark.parametrize("status", [403, 413, 500, 502, 504, 599])
def test_retry_after_of_any_other_refusal_holds_for_its_host_for_a_day_at_most(status: int) -> None:
    assert answers.retry_after_ms(answer(status, Retry_After="120")) == 120_000
    assert answers.retry_after_ms(answer(status, Retry_After="9999999")) == DAY
    assert answers.page_wait_ms(answer(status, Retry_After="9999999")) == RETRY_AFTER_CAP_MS
    assert answers.retry_after_ms(answer(status)) is None


@pytest.mark.parametrize("status", [404, 410])
def test_that_a_page_is_not_there_says_nothing_of_its_host(status: int) -> None:
    assert answers.retry_after_ms(answer(status, Retry_After="120")) is None
    assert answers.page_wait_ms(answer(status, Retry_After="120")) == 120_000


@pytest.mark.parametrize("status", [200, 301, 304])
def test_retry_after_of_what_is_no_refusal_is_not_the_hosts(status: int) -> None:
    assert answers.retry_after_ms(answer(status, Retry_After="120")) is None


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("noindex", {"noindex"}),
        ("NOINDEX, nofollow", {"noindex", "nofollow"}),
        ("ulwembu: nofollow", {"nofollow"}),
        ("noindex nofollow", {"noindex", "nofollow"}),
        ("ulwembu: noindex  nofollow, noarchive", {"noindex", "nofollow", "noarchive"}),
        ("otherbot: noindex nofollow", set()),
        ("otherbot: nofollow, *: noindex", {"noindex"}),
        ("robots: noindex, nofollow", {"noindex", "nofollow"}),
        ("otherbot: noindex", set()),
        ("otherbot: noindex, nofollow", set()),
        ("otherbot: nofollow, ulwembu: noindex, none", {"noindex", "none"}),
        ("ulwembu: noindex, otherbot: nofollow", {"noindex"}),
        (
            "unavailable_after: Tuesday, 25-Jun-30 15:00:00 GMT, noindex",
            {"unavailable_after:", "tuesday", "25-jun-30", "15:00:00", "gmt", "noindex"},
        ),
        ("noindex max-snippet:20, nofollow", {"noindex", "max-snippet:20", "nofollow"}),
        ("max-image-preview:large, noindex", {"max-image-preview:large", "noindex"}),
        ("max-image-preview: none noindex", {"max-image-preview:none", "noindex"}),
        ("ulwembu: max-image-preview: none, max-snippet:0", {"max-image-preview:none", "max-snippet:0"}),
        ("max-video-preview: -1, max-snippet: -1, none", {"max-video-preview:", "max-snippet:", "-1", "none"}),
        ("unavailable_after: 25 Jun 2030 15:00:00 GMT", {"unavailable_after:", "25", "jun", "2030", "15:00:00", "gmt"}),
    ],
)
def test_x_robots_tag(header: str, said: set[str]) -> None:
    assert answers.directives(answer(200, X_Robots_Tag=header), frozenset(), "Ulwembu") == said


def test_directives() -> None:
    assert answers.may_keep(frozenset({"nofollow"}))
    assert not answers.may_keep(frozenset({"noindex"}))
    assert not answers.may_follow(frozenset({"none"}))
    assert not answers.may_follow(frozenset({"nofollow", "index"}))
    assert answers.may_follow(frozenset({"noindex"}))
    assert not answers.may_keep(frozenset({"none"}))


def test_failures() -> None:
    named = {
        RobotsDeniedError("x"): "robots_denied",
        OptedOutError("x"): "opted_out",
        DnsError("x"): "dns",
        RefusedAddressError("x"): "refused_address",
        StaleLeaseError("x"): "released",
        FrontierUnavailable("zulu", "x"): "released",
        OptOutsDamaged("x"): "released",
        IgnoreRequest("x"): "too_large",
        OutsideFrontierError("x"): "protocol",
        ValueError("x"): "protocol",
    }
    for error, result in named.items():
        finding = answers.failure_finding(error, lease())
        assert finding is not None
        assert finding.result == result
    assert answers.failure_finding(NotGrantedError("x"), lease()) is None


def test_of_a_host_that_has_opted_out_before_its_robots_txt_was_read_the_frontier_forgets_all() -> None:
    own = answers.failure_finding(OptedOutError("x"), lease(Kind.ROBOTS))
    moved = answers.failure_finding(OptedOutError("x"), replace(lease(Kind.ROBOTS), hops=1))
    assert own is not None
    assert moved is not None
    assert (own.result, moved.result) == ("released", "opted_out")


def test_robots_on_a_refused_address_closes_the_host() -> None:
    finding = answers.failure_finding(RefusedAddressError("x"), lease(Kind.ROBOTS))
    assert finding is not None
    assert finding.result == "robots_unreachable"


def test_robots_records() -> None:
    body = b"User-agent: *\nDisallow: /private\n"
    found = record_of(Response("http://a.test/robots.txt", body=body), 1000)
    assert found is not None
    assert (found.kind, found.body, found.expires_in_ms) == ("rules", body, 1000)
    kinds = {
        status: record_of(answer(status), 1000) for status in (302, 399, 400, 404, 403, 401, 410, 429, 499, 500, 503)
    }
    assert {status: record.kind for status, record in kinds.items() if record} == {
        302: "disallow",
        399: "disallow",
        400: "allow",
        499: "allow",
        404: "allow",
        403: "allow",
        401: "allow",
        410: "allow",
        429: "disallow",
        500: "disallow",
        503: "disallow",
    }
    for said, kind in (("0-9/99", "disallow"), ("0-9/10", "rules")):
        found = record_of(answer(206, Content_Range=f"bytes {said}"), 1000)
        assert found is not None
        assert found.kind == kind
    assert record_of(answer(301, Location="/r"), 1000) is None
    refused = record_of(answer(400, Location="/r"), 1000)
    assert refused is not None
    assert refused.kind == "allow"


@pytest.mark.parametrize(("coding", "kind"), [("br", "disallow"), ("identity", "rules"), ("utf-8", "rules")])
def test_rules_that_nobody_has_unpacked_forbid(coding: str, kind: str) -> None:
    """Where COMPRESSION_ENABLED is off, servers may pack all the same."""
    response = Response("http://a.test/robots.txt", headers={"Content-Encoding": coding}, body=b"rules")
    record = record_of(response, 1000)
    assert record is not None
    assert record.kind == kind


@pytest.mark.parametrize(("length", "kind"), [(LONGEST_BYTES, "disallow"), (LONGEST_BYTES + 1, "rules")])
def test_rules_that_were_cut_before_what_counts_of_them_forbid(length: int, kind: str) -> None:
    """By a DOWNLOAD_MAXSIZE that is so small."""
    record = record_of(Response("http://a.test/robots.txt", body=b"#" * length, flags=["truncated"]), 1000)
    assert record is not None
    assert record.kind == kind


def test_the_line_in_which_a_long_robots_txt_is_cut_is_no_rule() -> None:
    start = b"User-agent: *\nDisallow: /\n"
    text = start + b"#" * (LONGEST_BYTES - len(start) - 10) + b"\nAllow: /open/\n" + b"#" * 99
    record = record_of(Response("http://a.test/robots.txt", body=text), 1000)
    assert record is not None
    assert text[:LONGEST_BYTES].endswith(b"\nAllow: /o")
    assert len(record.body) == LONGEST_BYTES + 1
    assert not allowed(record.body, "ulwembu", "http://a.test/other")


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("z", "http://a.test/x/z"),
        ("\\z", "http://a.test/z"),
        ("//b.test/z#part", "http://b.test/z"),
        ("/ifölda", "http://a.test/if%C3%B6lda"),
        ("http://büro.test/", "http://xn--bro-hoa.test/"),
        ("#part", "http://a.test/x/y"),
        ("http://[::1/", ""),
        ("javascript:alert(1)", ""),
        ("  ", ""),
    ],
)
def test_where_a_redirect_leads(location: str, target: str) -> None:
    base = b'<base href="http://elsewhere.test/">'
    response = HtmlResponse("http://a.test/x/y", 302, {"Location": location.encode()}, base)
    assert answers.location_of(response) == target


def test_a_redirect_in_latin_1_is_taken_for_that() -> None:
    assert answers.location_of(answer(302, Location="")) == ""
    response = Response("http://a.test/", 302, {"Location": "/ö".encode("latin-1")})
    assert answers.location_of(response) == "http://a.test/%C3%B6"


def test_what_a_spider_itself_calls_a_lease_is_none_of_the_frontier() -> None:
    assert answers.lease_of(Request("http://a.test/", meta={"lease": "of a flat"})) is None
    assert answers.lease_of(Request("http://a.test/", meta={"lease": lease()})) == lease()
